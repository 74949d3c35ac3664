// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/rates_file.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/file_lock.hpp"
#include "engine/core/log.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/private_folder.hpp"
#include "engine/core/regular_file.hpp"
#include "engine/inspect/calibration.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>

namespace lodestone::engine {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using core::log::Id;

/// Counts changes of a record. Records of other versions are left as they are.
constexpr int version = 2;
constexpr const char* list_key = "machines";
constexpr const char* complete_key = "complete";
constexpr std::string_view id_of_damage = "engine::read_rates#damaged";

// ---- Records ---------------------------------------------------------------------------------------------

Json json_of(const KernelRates& rates) {
  Json result{{"levels", Json::array()}, {"rates", Json::object()}, {"kinds", rates.kinds}};
  for (const auto& [bytes, bytes_per_s] : rates.levels) result["levels"].push_back({bytes, bytes_per_s});
  for (const auto& [name, list] : rates.rates) {
    Json& points = result["rates"][name] = Json::array();
    for (const auto& [per_byte, per_s] : list) points.push_back({per_byte, per_s});
  }
  return result;
}

Json json_of(const MachineRates& rates) {
  const MachineKey& machine = rates.machine;
  Json result{{"version", version},           {"processor", machine.processor},
              {"threads", machine.n_threads}, {"instructions", machine.instructions},
              {"build", machine.build},       {"launch_s", rates.launch_s},
              {"wake_s", rates.wake_s},       {"alone", json_of(rates.alone)}};
  if (machine.n_threads > 1) result["shared"] = json_of(rates.shared);
  if (!rates.is_complete) result[complete_key] = false;
  return result;
}

/// Reads one record; every error names the file.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  [[nodiscard]] MachineRates rates(const Json& json) const {
    MachineRates result;
    result.machine = key(json);
    result.launch_s = not_negative(json, "launch_s");
    result.wake_s = not_negative(json, "wake_s");
    result.alone = kernel_rates(json.at("alone"));
    if (result.machine.n_threads > 1) result.shared = kernel_rates(json.at("shared"));
    result.is_complete = json.value(complete_key, true);
    return result;
  }
  template <class Expected, class Got>
  [[noreturn]] void fail(const Expected& expected, const Got& got) const {
    throw core::FormatError(id_of_damage,
                            "{}: expected {}, got {}; the file is damaged, or holds no rates of machines: "
                            "write it again on that machine",
                            path_, expected, got);
  }

 private:
  [[nodiscard]] MachineKey key(const Json& json) const {
    MachineKey key;
    key.processor = json.at("processor").get<std::string>();
    const auto n_threads = json.at("threads").get<std::int64_t>();
    if (n_threads < 1 || n_threads > core::most_threads)
      fail(fmt::format("1 … {} threads", core::most_threads), n_threads);
    key.n_threads = static_cast<int>(n_threads);
    key.instructions = json.at("instructions").get<std::string>();
    key.build = json.at("build").get<std::string>();
    return key;
  }
  [[nodiscard]] double not_negative(const Json& json, const char* name) const {
    const auto value = json.at(name).get<double>();
    if (value < 0.0) fail(fmt::format("{} of 0 or more", name), value);
    return value;
  }
  [[nodiscard]] double positive(double value, const std::string& name) const {
    if (!(value > 0.0)) fail(fmt::format("a positive rate of \"{}\"", name), value);
    return value;
  }
  /// Returns pairs of a number and a rate, the numbers in rising order; at least one.
  template <class Pair>
  [[nodiscard]] std::vector<Pair> pairs(const Json& json, const std::string& name) const {
    std::vector<Pair> result;
    for (const auto& [x, rate] : json.get<std::vector<std::pair<double, double>>>())
      result.push_back({x, positive(rate, name)});
    const auto is_rising = [](const Pair& a, const Pair& b) {
      const auto& [x, rate_of_x] = a;
      const auto& [y, rate_of_y] = b;
      return x < y;
    };
    if (result.empty() || std::ranges::adjacent_find(result, std::not_fn(is_rising)) != result.end())
      fail(fmt::format("rates of \"{}\" in rising order", name), json.dump());
    return result;
  }
  [[nodiscard]] KernelRates kernel_rates(const Json& json) const {
    KernelRates rates;
    rates.levels = pairs<KernelRates::Level>(json.at("levels"), "levels");
    for (const auto& [name, list] : json.at("rates").items())
      rates.rates[name] = pairs<KernelRates::Rate>(list, name);
    for (const auto& [name, rate] : json.at("kinds").items())
      rates.kinds[name] = positive(rate.get<double>(), name);
    return rates;
  }

  const std::string& path_;
};

// ---- Files -----------------------------------------------------------------------------------------------

/// Calls f, and says of what JSON refuses which file it is in.
template <class F>
auto told_with_file(const std::string& path, F&& f) {
  try {
    return f();
  } catch (const Json::exception& error) {
    Reader(path).fail("rates of machines as JSON", std::string_view(error.what()));
  }
}

std::string text_at(const std::string& path) {
  core::require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 4096> part{};
  while (file.read(part.data(), part.size()) || file.gcount() > 0)
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad())
    throw core::FileError("engine::read_rates#not_read", "{}: cannot be read ({})", path,
                          std::strerror(errno));
  return text;
}

/// Returns the content of a file, with a list of records.
Json document_at(const std::string& path) {
  return told_with_file(path, [&, text = text_at(path)] {
    Json document = Json::parse(text);
    if (!document.at(list_key).is_array()) Reader(path).fail("a list of machines", "something else");
    return document;
  });
}

/// Returns the rates in a record of a file; none where it is of another version.
std::optional<MachineRates> rates_in(const Json& record, const std::string& path) {
  return told_with_file(path, [&]() -> std::optional<MachineRates> {
    if (record.at("version") != version) return {};
    return Reader(path).rates(record);
  });
}

/// Adds a record to a document, in the place of one for the same machine.
void put(Json& document, const MachineRates& rates) {
  Json record = json_of(rates), others = Json::array();
  const auto is_same = [&](const Json& other) {
    return std::ranges::all_of(
        std::array{"version", "processor", "threads", "instructions", "build"},
        [&](const char* name) { return other.contains(name) && other[name] == record[name]; });
  };
  for (const Json& each : document[list_key])
    if (!is_same(each)) others.push_back(each);
  others.push_back(std::move(record));
  document[list_key] = std::move(others);
}

Json empty_document() { return {{list_key, Json::array()}}; }

void write_document(const std::string& path, const Json& document) {
  core::write_file(path, document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// The file of a folder that keeps rates for one user.
class RatesFolder {
 public:
  explicit RatesFolder(const fs::path& folder)
      : path_(folder / "machine.json"), lock_path_(folder / "machine.lock") {
    core::make_private_folder(folder);
  }

  /// Returns the rates of a machine, if they are there. What is damaged, or may be another's, is left out.
  [[nodiscard]] std::optional<MachineRates> find(const MachineKey& machine) {
    document_ = empty_document();
    left_out_.clear();
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path_, ignored))) return {};
    if (const std::string why = core::objection_to(path_); !why.empty()) {
      left_out_.push_back(fmt::format("{}: {}", path_, why));
      return {};
    }
    std::optional<MachineRates> found;
    const auto add = [&](Json&& record) {
      auto rates = rates_in(record, path_);
      document_[list_key].push_back(std::move(record));
      if (rates && rates->machine == machine) found = std::move(rates);
    };
    unless_damaged([&] {
      Json document = document_at(path_);
      for (Json& each : document[list_key]) unless_damaged([&] { add(std::move(each)); });
    });
    return found;
  }
  /// Says what was left out, once it is to be replaced.
  void warn() const {
    for (const std::string& each : left_out_)
      core::log::warning(Id("engine::kept_rates#measured_again"),
                         "{}; this is left out, and the rates of this machine are measured", each);
  }
  /// Writes rates beside those that were found.
  void keep(const MachineRates& rates) {
    put(document_, rates);
    std::error_code ignored;
    if (!core::objection_to(path_).empty()) fs::remove_all(path_, ignored);  // neither a folder nor a link
    write_document(path_, document_);
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write, ignored);
  }
  /// Returns the right to measure and write, unless somebody else has it.
  [[nodiscard]] std::optional<core::FileLock> lock_at_once() const {
    return core::FileLock::take(lock_path_);
  }
  /// Returns it once nobody else has it. errors: FileError where that takes too long.
  [[nodiscard]] core::FileLock lock(std::chrono::milliseconds most_wait) const {
    using namespace std::chrono_literals;
    using Clock = std::chrono::steady_clock;
    const double most_s = std::chrono::duration<double>(most_wait).count();
    core::log::info("another process measures the rates of a machine, and is waited for, {:g} s at most",
                    most_s);
    for (const auto end = Clock::now() + most_wait; Clock::now() < end; std::this_thread::sleep_for(10ms)) {
      if (auto lock = lock_at_once()) return *std::move(lock);
    }
    throw core::FileError("engine::kept_rates#locked",
                          "{}: another process has held the lock for {:g} s; see whether it was stopped",
                          lock_path_, most_s);
  }

 private:
  /// Calls f; what is not as it should be counts as left out.
  template <class F>
  void unless_damaged(F&& f) {
    try {
      f();
    } catch (const core::FormatError& error) {
      left_out_.emplace_back(error.what());
    }
  }

  std::string path_, lock_path_;
  Json document_ = empty_document();
  std::vector<std::string> left_out_;  ///< and why
};

}  // namespace

void write_rates(const std::string& path, const MachineRates& rates) {
  Json document = empty_document();
  put(document, rates);
  write_document(path, document);
}

std::vector<MachineRates> read_rates(const std::string& path) {
  std::vector<MachineRates> all;
  const Json document = document_at(path);
  for (const Json& each : document.at(list_key))
    if (auto rates = rates_in(each, path)) all.push_back(*std::move(rates));
  return all;
}

MachineRates rates_for_threads(const std::string& path, int n_threads) {
  std::vector<MachineRates> all = read_rates(path);
  std::string found;
  for (const MachineRates& each : all) found += (found.empty() ? "" : "; ") + each.machine.text();
  std::erase_if(all, [&](const MachineRates& each) { return each.machine.n_threads != n_threads; });
  const auto is_of_this_build = [build = MachineKey::of_process().build](const MachineRates& each) {
    return each.machine.build == build;
  };
  if (std::ranges::any_of(all, is_of_this_build)) std::erase_if(all, std::not_fn(is_of_this_build));
  if (all.size() == 1) return std::move(all[0]);
  throw core::InvalidArgument(
      "engine::rates_for_threads#not_one_machine",
      "{}: expected the rates of one machine for {} thread(s), got {}: {}; {}", path, n_threads,
      all.empty() ? "none" : "several",
      found.empty() ? "the file has no record that this program reads" : found,
      all.empty() ? "set the number of threads to that of a record, or measure with this one on the machine"
                  : "write a file of one machine");
}

MachineRates kept_rates(const fs::path& folder, const MachineKey& machine,
                        const std::function<MachineRates()>& measure, Kept which,
                        std::chrono::milliseconds most_wait) {
  std::optional<RatesFolder> kept;
  std::optional<core::FileLock> lock;
  const auto with_files = [&](const auto& f) {
    try {
      f();
    } catch (const core::FileError& error) {
      core::log::warning(Id("engine::kept_rates#not_kept"),
                         "{}; the rates of this machine are not kept for other processes", error.what());
      kept.reset();
    }
  };
  std::optional<MachineRates> found;
  const auto is_found = [&] { return (found = kept->find(machine)) && which == Kept::used; };
  with_files([&] {
    kept.emplace(folder);
    lock = kept->lock_at_once();
    if (!lock && is_found()) return;  // files are replaced as a whole
    if (!lock) lock = kept->lock(most_wait);
    if (!is_found()) kept->warn();
  });
  if (found && which == Kept::used) return *std::move(found);
  MachineRates measured = measure();
  if (!measured.is_complete) {
    core::log::warning(Id("engine::kept_rates#incomplete"),
                       "the time for measuring the rates of {} ended before all was measured once; they are "
                       "not kept: measure them while the machine does nothing else",
                       machine.text());
  } else if (kept) {
    with_files([&] { kept->keep(measured); });
  }
  return measured;
}

MachineRates rates_of_this_machine(Kept which) {
  static std::mutex mutex;
  static std::map<MachineKey, MachineRates> measured;  // here, in case nothing can be kept
  const std::lock_guard lock(mutex);
  const MachineKey machine = MachineKey::of_process();
  if (const auto known = measured.find(machine); known != measured.end() && which == Kept::used)
    return known->second;
  const auto measure = [&] {
    const CalibrationOptions options;
    core::log::info("the rates of {} are measured once, within {:g} s", machine.text(), options.most_s);
    return measured[machine] = calibrated_rates(options);
  };
  return kept_rates(core::cache_folder(), machine, measure, which);
}

}  // namespace lodestone::engine
