// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/memory_pieces.hpp"

#include "engine/core/error.hpp"
#include "engine/core/markup.hpp"
#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace lodestone::engine {
namespace {

bool is_in_block(const Source& source) { return source.in == Source::In::block; }

/// Follows the arrays of blocks from launch to launch.
class Pieces {
 public:
  void read(const Source& source, std::uint32_t launch) {
    const auto at = holder(source);
    if (at != living_.end()) pieces_[at->second].last = launch;
  }
  void write(const Source& source, std::size_t bytes, std::uint32_t launch, std::string what) {
    const auto offset = static_cast<std::size_t>(source.bytes);
    const auto is_covered = [&](const auto& each) {
      const PlacedPiece& piece = pieces_[each.second];
      return piece.block == source.of && piece.offset < offset + bytes && offset < piece.offset + piece.bytes;
    };
    std::erase_if(living_, is_covered);
    living_[{source.of, offset}] = pieces_.size();
    pieces_.push_back({source.of, offset, bytes, launch, launch, std::move(what)});
  }
  void add_workspace(const Source& source, std::size_t bytes, std::uint32_t launch, std::string what) {
    const auto offset = static_cast<std::size_t>(source.bytes);
    pieces_.push_back({source.of, offset, bytes, launch, launch, std::move(what)});
  }
  [[nodiscard]] std::vector<PlacedPiece> all() && { return std::move(pieces_); }

 private:
  using Living = std::map<std::pair<std::uint32_t, std::size_t>, std::size_t>;
  /// Returns the piece in which a byte lies.
  [[nodiscard]] Living::const_iterator holder(const Source& source) const {
    const auto offset = static_cast<std::size_t>(source.bytes);
    auto at = living_.upper_bound({source.of, offset});
    if (at == living_.begin()) return living_.end();
    const PlacedPiece& piece = pieces_[(--at)->second];
    const bool is_inside =
        piece.block == source.of && offset < piece.offset + std::max<std::size_t>(piece.bytes, 1);
    return is_inside ? at : living_.end();
  }
  std::vector<PlacedPiece> pieces_;
  Living living_;  ///< by block and offset
};

}  // namespace

std::vector<PlacedPiece> placed_pieces(const Lowered& plan) {
  Pieces pieces;
  for (std::uint32_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    const auto operands = plan.operands_of(launch);
    for (const Access& each : operands.first(launch.n_in)) {
      if (is_in_block(each.source)) pieces.read(each.source, i);
    }
    for (const Access& each : operands.subspan(launch.n_in)) {
      if (is_in_block(each.source))
        pieces.write(each.source, each.aval->bytes(), i,
                     fmt::format("{} of {} {}", launch.op->title_of(launch.attrs), each.aval->text(),
                                 at_line(launch.where)));
    }
    const std::size_t scratch = Scratch::bytes_of(launch.workspace, plan.n_threads);
    if (scratch > 0 && is_in_block(launch.scratch))
      pieces.add_workspace(
          launch.scratch, scratch, i,
          fmt::format("workspace of {} {}", launch.op->title_of(launch.attrs), at_line(launch.where)));
  }
  // Views of arrays that functions take keep no address here: their pieces end at the last launch.
  return std::move(pieces).all();
}

std::string memory_picture(const Lowered& plan, std::uint32_t block) {
  constexpr double width = 960.0, height = 320.0;
  static constexpr std::array colours{"#4e79a7", "#f28e2b", "#59a14f", "#b07aa1",
                                      "#edc948", "#76b7b2", "#e15759"};
  const double per_launch = width / static_cast<double>(std::max<std::size_t>(plan.launches.size(), 1));
  const double per_byte = height / static_cast<double>(std::max<std::size_t>(plan.blocks[block].bytes, 1));
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#f6f6f4\"/>\n",
      width, height);
  std::size_t n = 0;
  for (const PlacedPiece& each : placed_pieces(plan)) {
    if (each.block != block) continue;
    const double tall = per_byte * static_cast<double>(each.bytes);
    text += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" fill-opacity=\"0.8\">"
        "<title>{}: {} bytes at {}, launches {} to {}</title></rect>\n",
        per_launch * each.first, height - per_byte * static_cast<double>(each.offset) - tall,
        per_launch * (each.last - each.first + 1), tall, colours[n++ % colours.size()],
        core::escaped(each.what), each.bytes, each.offset, each.first, each.last);
  }
  return text + "</svg>\n";
}

}  // namespace lodestone::engine
