// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"
#include "io/run/result.hpp"

#include <limits>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// What the colours of a section say: log10 of its resistivities, or these as standard deviations in decades.
enum class SectionQuantity { resistivity, deviation };

/// Colour scale and extent shared by the panels of a section picture.
struct SectionPictureOptions {
  SectionQuantity quantity = SectionQuantity::resistivity;
  double min_log10 = std::numeric_limits<double>::quiet_NaN();  ///< of the colour scale; NaN: from the model
                                                                ///< (2nd and 98th percentile, half decades)
  double max_log10 = std::numeric_limits<double>::quiet_NaN();
  double max_depth_m = 0.0;             ///< 0: the whole grid
  double y_min_m = 0.0, y_max_m = 0.0;  ///< equal: the whole grid
  double vertical_exaggeration = 0.0;   ///< 0: what fills the picture's height
  double mask_below_m = 0.0;            ///< depths below are veiled (no longer resolved); 0: none
  double width = 1000.0;                ///< of the picture
};

/// A box drawn around cells, in the coordinates of the grid.
struct NamedBox {
  std::string name;
  physics::mesh::Box box;
};

/// One section with the stations drawn on its surface.
struct SectionPanel {
  std::string title;
  physics::mesh::Model section;  ///< cells that are not finite stay white
  std::vector<std::string> station_names;
  std::vector<double> station_y_m;
  std::vector<NamedBox> frames{};
  Eigen::VectorXd investigated{};  ///< cells below ½ are hatched; empty: none
};

enum class Sites { shown, hidden };
/// Values of the cells in the grid of a result, with its sites, the regions of its learned prior and its
/// depth of investigation.
[[nodiscard]] SectionPanel panel_of(const run::InversionResult& result, std::string title,
                                    const Eigen::VectorXd& log10_values, Sites sites);

/// Sections one above the other with the same scales. Triangles at the colour bar: there are values beyond
/// it. A note says that white cells have no value.
[[nodiscard]] Canvas sections_picture(const std::vector<SectionPanel>& panels,
                                      const SectionPictureOptions& options = {});
/// The final section of a result (the title says when only its upper part is shown) with its sites and the
/// regions of a learned prior.
[[nodiscard]] Canvas section_picture(const run::InversionResult& result,
                                     const SectionPictureOptions& options = {});
/// The same above the nearest section of its learned prior.
[[nodiscard]] Canvas prior_picture_of(const run::InversionResult& result);

}  // namespace lodestone::io::report
