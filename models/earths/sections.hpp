// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"
#include "physics/mesh/earth.hpp"

#include <string>
#include <vector>

namespace lodestone::models::earths {

/// A section somebody made: a model, an inversion's result. It goes on downwards without end as its lowest
/// row, and upwards as its uppermost.
struct Section {
  std::string name;                   ///< for messages
  std::vector<double> depth_m;        ///< interfaces below the surface, increasing
  std::vector<double> y_m;            ///< edges of the columns, increasing
  Eigen::MatrixXd log10_resistivity;  ///< (n_z, n_y)
};

/// Returns a model as a section: depths from its level surface, without what lies above it.
/// errors: InvalidArgument, with the name, where the surface is not level unless the grid's depths count from
/// it.
[[nodiscard]] Section section_of(const physics::mesh::Model& model, std::string name);

/// Returns its columns with their centres within a range along the profile, as without the wide ones at the
/// sides of a grid. errors: InvalidArgument, with the name, for none.
[[nodiscard]] Section columns_within(const Section& section, const Range& y_m);

struct SectionsOptions {
  std::vector<Section> sections;
  bool mirrored = false;  ///< half of the pieces are turned round left to right
};

/// Pieces of given sections, cut at random places and resampled on the grid by the overlap of cells. Wide
/// sections are cut more often: each place of the left edge of a piece, in all sections, is as likely as any
/// other.
class Sections final : public Generator {
 public:
  /// Checks the sections. errors: InvalidArgument, ShapeError with the section's name (none, edges, shapes,
  /// values that are not finite).
  explicit Sections(SectionsOptions options);
  [[nodiscard]] std::string kind() const override { return "sections"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const override;
  /// Checks the widths. errors: InvalidArgument when a section is narrower than the grid.
  void check_grid(const TensorGrid& grid) const override;

 private:
  SectionsOptions options_;
};

/// Returns the means over the cells of the grid placed with its left edge at y_m of the section. shapes: →
/// (n_z, n_y).
[[nodiscard]] Eigen::MatrixXd piece_of(const Section& section, const TensorGrid& grid, double y_m);

}  // namespace lodestone::models::earths
