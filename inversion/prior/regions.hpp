// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "physics/mesh/earth.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion::prior {

/// The rule by which cells follow the codes in a stage of their own.
enum class Polish : std::uint8_t {
  never,
  when_needed,  ///< only if the codes stop above the target
  always,
};
constexpr auto words(Polish) {
  using enum Polish;
  return core::Words<Polish>{{when_needed, "when_needed"}, {always, "always"}, {never, "never"}};
}

/// The axis of a volume along which patches of a section stand.
enum class Along : std::uint8_t { y, x };
constexpr auto words(Along) { return core::Words<Along>{{Along::y, "y"}, {Along::x, "x"}}; }

/// A part of the earth for which there is prior knowledge.
struct RegionOptions {
  std::string name = "region 1";
  DecoderPtr decoder{};                          ///< must have a card
  physics::mesh::Interval y_m{};                 ///< columns whose centres lie inside
  std::optional<physics::mesh::Interval> x_m{};  ///< likewise in a volume; absent: all
  std::optional<physics::mesh::Interval> z_m{};  ///< rows, below the surface; absent: those of the decoder
  int overlap = 0;                               ///< columns that neighbouring patches share
  int together = 1;  ///< columns side by side, along either axis of a volume, that share their codes
  Along along{};     ///< direction of patches of a section in a volume
  std::optional<int> n_codes{};  ///< codes of the decoder; absent: any number
  std::string place{};           ///< place of the region in the configuration, for messages
};

/// A learned prior: its regions, and how their codes weigh against the roughness.
struct LearnedPriorOptions {
  std::vector<RegionOptions> regions{};
  CodedRoughnessOptions weights{};
  double encode_sigma_decades = EncodeOptions{}.sigma_decades;
  Polish polish = Polish::when_needed;
};

/// Cells side by side along an axis of a grid.
struct CellRange {
  int first = 0, count = 0;
  [[nodiscard]] int end() const { return first + count; }
};

/// A region on the grid of a problem.
struct CutRegion {
  RegionOptions options;        ///< those given; the decoder has the cells of a subdomain
  CellRange x{0, 1}, y{}, z{};  ///< its cells; along x those of a section are one
  int n_left_out = 0;           ///< subdomains of a volume that held cells keep out of the region
  std::vector<std::vector<Eigen::Index>> subdomains{};  ///< cells of the grid, in the decoder's order
  Eigen::VectorXd taper{};                              ///< empty: subdomains do not overlap

  [[nodiscard]] const Decoder& decoder() const { return *options.decoder; }
  [[nodiscard]] const DecoderCard& card() const { return *options.decoder->card(); }
};

/// The regions of a problem, cut into subdomains.
class Regions {
 public:
  /// Cuts the grid of a section or a volume. In a volume, subdomains with a held cell are left out, as at a
  /// coast. errors: ConfigError with the place of a region: the grid or the decoder does not fit it, or it
  /// overlaps one of another decoder. Likewise when it holds fixed cells in a section, or nothing else in a
  /// volume. InvalidArgument for a decoder without a card, and for regions of an earth without columns.
  Regions(LearnedPriorOptions options, const physics::mesh::Earth& earth,
          std::vector<Eigen::Index> free_cells);

  [[nodiscard]] const std::vector<CutRegion>& regions() const { return regions_; }
  [[nodiscard]] const LearnedPriorOptions& options() const { return options_; }
  [[nodiscard]] EncodeOptions encoding() const { return {.sigma_decades = options_.encode_sigma_decades}; }
  /// Returns the map [codes; free cells outside; further] → [free cells; further].
  [[nodiscard]] std::shared_ptr<const SubdomainMap> map(Eigen::Index n_further = 0) const;
  /// Returns the number of the subdomain of each cell of the grid, −1 outside. shape: (n_cells).
  [[nodiscard]] Eigen::VectorXd numbers() const;
  /// Returns what a resumed run must find again: a line per region with sizes and the digest of its decoder.
  [[nodiscard]] std::string identity() const;
  /// Logs the size of each region.
  void log() const;

 private:
  LearnedPriorOptions options_;
  std::vector<CutRegion> regions_;
  std::vector<Eigen::Index> free_cells_;
  Eigen::Index n_cells_;
};

}  // namespace lodestone::inversion::prior
