// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dist/pipeline/schedules.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace lodestone::engine {
namespace {

constexpr std::array<std::string_view, 4> names_of_passes{"F", "B", "W", "BW"};
constexpr std::array<std::string_view, 3> marks_of_actions{"", ">", "<"};

/// Reads a line from its beginning on.
class LineReader {
 public:
  LineReader(std::string_view line, std::size_t number) : line_(line), rest_(line), number_(number) {}

  [[nodiscard]] bool is_at_end() const { return rest_.empty(); }
  /// Skips a text if it comes next. Returns whether it did.
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void expect(std::string_view text) {
    if (!skip(text)) fail(fmt::format("\"{}\"", text));
  }
  int number() {
    int value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    // No sign, no zero in front: texts that differ are schedules that differ.
    const bool is_plain =
        error == std::errc() && rest_.front() != '-' && (rest_.front() != '0' || end == rest_.data() + 1);
    if (!is_plain) fail("a number");
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  PipelineItem item() {
    PipelineItem item;
    if (skip(">"))
      item.action = PipelineAction::send;
    else if (skip("<"))
      item.action = PipelineAction::receive;
    if (skip("BW"))
      item.pass = PipelinePass::both;
    else if (skip("B"))
      item.pass = PipelinePass::backward;
    else if (skip("W"))
      item.pass = PipelinePass::weights;
    else
      expect("F");
    item.chunk = number();
    expect(".");
    item.leaf = number();
    return item;
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw core::InvalidArgument("schedule_from#wrong_text",
                                "expected {} in line {}, column {}, of a schedule, got \"{}\"", expected,
                                number_, line_.size() - rest_.size() + 1, rest_.substr(0, 20));
  }

 private:
  std::string_view line_, rest_;
  std::size_t number_;
};

/// Reads the line of a rank, and the number of leaves that it names.
std::pair<RankSchedule, int> rank_from(std::string_view line, std::size_t rank) {
  LineReader reader(line, rank + 1);
  RankSchedule schedule;
  reader.expect(fmt::format("rank {}, chunks", rank));
  while (reader.skip(" ")) schedule.chunks.push_back(reader.number());
  reader.expect(", leaves ");
  const int n_leaves = reader.number();
  reader.expect(":");
  while (reader.skip(" ")) schedule.items.push_back(reader.item());
  if (!reader.is_at_end()) reader.fail("a space or the end");
  return {schedule, n_leaves};
}

}  // namespace

std::string text_of(const PipelineItem& item) {
  return fmt::format("{}{}{}.{}", marks_of_actions[static_cast<std::size_t>(item.action)],
                     names_of_passes[static_cast<std::size_t>(item.pass)], item.chunk, item.leaf);
}

std::string text_of(const PipelineSchedule& schedule) {
  std::string text;
  for (std::size_t rank = 0; rank < schedule.ranks.size(); ++rank) {
    text += fmt::format("rank {}, chunks", rank);
    for (const int chunk : schedule.ranks[rank].chunks) text += fmt::format(" {}", chunk);
    text += fmt::format(", leaves {}:", schedule.n_leaves);
    for (const PipelineItem& item : schedule.ranks[rank].items) text += fmt::format(" {}", text_of(item));
    text += "\n";
  }
  return text;
}

PipelineSchedule schedule_from(std::string_view text) {
  PipelineSchedule schedule;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto [rank, n_leaves] = rank_from(text.substr(0, end), schedule.ranks.size());
    if (schedule.ranks.empty()) schedule.n_leaves = n_leaves;
    if (n_leaves != schedule.n_leaves)
      throw core::InvalidArgument("schedule_from#other_leaves",
                                  "expected {} leaves in line {} of a schedule as in the first, got {}",
                                  schedule.n_leaves, schedule.ranks.size() + 1, n_leaves);
    schedule.ranks.push_back(rank);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return schedule;
}

}  // namespace lodestone::engine
