// SPDX-License-Identifier: Apache-2.0
#include "engine/core/chrome_trace.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/json_text.hpp"
#include "engine/core/log.hpp"

#include <array>
#include <iterator>
#include <unordered_map>

namespace lodestone::core {
namespace {

/// The words for a kind of events and for their numbers; empty where there is none.
struct Words {
  std::string_view kind, first, second;
};

Words words_of(Timeline::Kind kind) {
  static constexpr std::array<Words, 7> words{{{"region", "", ""},
                                               {"step", "number", ""},
                                               {"pass", "instructions before", "instructions after"},
                                               {"op", "bytes", ""},
                                               {"launch", "position", "bytes"},
                                               {"function", "", ""},
                                               {"memory", "bytes in use", ""}}};
  return words[static_cast<std::size_t>(kind)];
}

std::string numbers_of(const Timeline::Event& event) {
  const Words words = words_of(event.kind);
  std::string text;
  if (!words.first.empty()) text = fmt::format("\"{}\":{}", words.first, event.first);
  if (!words.second.empty()) text += fmt::format(",\"{}\":{}", words.second, event.second);
  return text;
}

/// Makes the text of events.
class Writer {
 public:
  explicit Writer(int rank) : rank_(rank) {
    line(R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"args":{{"name":"rank {0}"}}}})", rank);
  }
  void add(const Timeline::Thread& thread) {
    if (thread.events.empty()) return;
    line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"thread {}"}}}})", rank_,
         thread.number, thread.number);
    for (const Timeline::Event& each : thread.events) add(each, thread.number);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    if (!text_.empty()) text_ += ",\n";
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  void add(const Timeline::Event& event, int thread) {
    const double begin = scale_.microseconds(event.begin);
    const std::string numbers = numbers_of(event);
    const std::string_view kind = words_of(event.kind).kind;
    if (event.kind == Timeline::Kind::memory)
      line(R"({{"ph":"C","name":{},"pid":{},"ts":{:.3f},"args":{{{}}}}})", quoted(event.name), rank_, begin,
           numbers);
    else
      line(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
           kind, quoted(event.name), rank_, thread, begin, scale_.microseconds(event.end) - begin, numbers);
  }
  /// Returns a text as a JSON string, which is made once.
  const std::string& quoted(const std::string* text) {
    const auto [at, is_new] = quoted_.try_emplace(text);
    if (is_new) at->second = json_quoted(*text);
    return at->second;
  }

  int rank_;
  Timeline::Scale scale_;
  std::string text_;
  std::unordered_map<const std::string*, std::string> quoted_;
};

}  // namespace

std::string chrome_trace(const std::vector<Timeline::Thread>& threads, int rank) {
  Writer writer(rank);
  std::uint64_t n_lost = 0;
  for (const Timeline::Thread& each : threads) {
    writer.add(each);
    n_lost += each.n_lost;
  }
  return fmt::format(
      "{{\"displayTimeUnit\":\"ms\",\"otherData\":{{\"lost events\":{}}},\"traceEvents\":[\n{}\n]}}\n",
      n_lost, writer.text());
}

void write_chrome_trace(const std::string& path, int rank) {
  const std::vector<Timeline::Thread> threads = Timeline::events();
  write_file(path, chrome_trace(threads, rank));
  for (const Timeline::Thread& each : threads) {
    if (each.n_lost == 0) continue;
    log::warning(log::Id("core::chrome_trace#lost_events"),
                 "{} has the last {} events of thread {}, {} before them were not kept", path,
                 each.events.size(), each.number, each.n_lost);
  }
}

void traced(const std::string& path, int rank, const std::function<void()>& f) {
  constexpr std::size_t room = std::size_t{1} << 20;  // for a short run
  const std::string own = rank == 0 ? path : fmt::format("{}.{}", path, rank);
  check_room(own, room);
  Timeline::clear();
  Timeline::record(true);
  try {
    f();
  } catch (...) {
    Timeline::record(false);
    try {
      write_chrome_trace(own, rank);
    } catch (const Error& error) {
      log::warning(log::Id("core::chrome_trace#not_written"), "{}",
                   error.what());  // the failure of f is the one to report
    }
    throw;
  }
  Timeline::record(false);
  write_chrome_trace(own, rank);
}

}  // namespace lodestone::core
