// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "io/report/slice.hpp"

#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// Largest depth of pictures in lengths of the line, or of the map: a body changes the data of sites as far
/// to both sides as it is deep.
inline constexpr double deepest_part = 0.5;

/// Returns the indices of the cells of a layer whose centres lie within an area; its depths do not count.
[[nodiscard]] std::vector<Eigen::Index> cells_in(const physics::mesh::TensorGrid& grid,
                                                 const physics::mesh::Box& area, int layer);
/// Returns the z of the grid at which the earth begins: its first edge where it is draped, else the mean z of
/// the surface at the corners of the area.
[[nodiscard]] double top_of(const physics::mesh::Earth& earth, const physics::mesh::Box& area);

/// Returns the shortest and the longest period of the data used; nothing where data have no periods.
[[nodiscard]] std::optional<physics::mesh::Interval> used_periods(const core::DataSet& data);

/// Returns the depth below `top_m` at which a plane wave has fallen by a factor e^−n, n in skin depths, in
/// metres. Each layer has the mean of log10 resistivity within the area.
[[nodiscard]] double skin_depths_m(const physics::mesh::Model& model, const physics::mesh::Box& area,
                                   double top_m, double period_s, double n);

/// Returns the centre of the deepest layer that a posterior finds investigated in a tenth of its cells, in
/// metres below the top. There is nothing without a posterior, or where it finds no such layer.
[[nodiscard]] std::optional<double> investigated_depth_m(const inversion::Outcome& outcome,
                                                         const physics::mesh::Box& area, double top_m);

/// Returns how deep data see, in metres below the top: what the posterior finds investigated, else one skin
/// depth of the longest period used. There is nothing without periods or resistivities.
[[nodiscard]] std::optional<double> seen_depth_m(const inversion::Outcome& outcome,
                                                 const physics::mesh::Box& area, double top_m);

/// The part of a section that pictures show, and how deep data see.
struct SectionPart {
  physics::mesh::Interval y_m{};
  double max_depth_m = 0.0;        ///< z of the grid at the lower end
  std::optional<double> seen_m{};  ///< depth to which data see, below the top
  bool sees_whole = false;         ///< data see to the lower end of the grid at least
  bool ends_above_seen = false;    ///< data see deeper than the picture shows
  /// Returns these ends for a picture, with a remark where it ends above what data see.
  [[nodiscard]] SectionPictureOptions picture() const;
  /// Returns how deep data see, with two digits: "about 45 km"; empty where that is not known.
  [[nodiscard]] std::string seen_text() const;
};

/// Chooses the part of the final section of an outcome that pictures show. Along the profile it is that of
/// the sites and the regions of a learned prior, with a margin of 15 %. It is a fifth deeper than data see.
///
/// It has at most the depth of `deepest_part`, but five layers at least. The depth is rounded up. `depth_m`:
/// wanted depth below the top; 0 leaves it to the program. errors: InvalidArgument unless the model is a
/// section.
[[nodiscard]] SectionPart shown_part(const inversion::Outcome& outcome, double depth_m = 0.0);

}  // namespace lodestone::io::report
