// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/axes.hpp"
#include "physics/mesh/slice.hpp"

#include <functional>
#include <limits>
#include <vector>

namespace lodestone::io::report {

/// The meaning of the colours of a section: log10 of its resistivities, or standard deviations in decades.
enum class SectionQuantity { resistivity, deviation };

/// The choices of pictures of sections and slices that are left to the data unless they are made.
struct PictureChoices {
  double low = std::numeric_limits<double>::quiet_NaN(),
         high = std::numeric_limits<double>::quiet_NaN();  ///< ends of the colours, of `values_in_picture`
  bool contours = false;                                   ///< lines of equal values
};

/// A cut of a model and the part of it that a picture shows, in the coordinates of the slice.
struct SliceView {
  const physics::mesh::Model* model;
  physics::mesh::Slice slice;
  physics::mesh::Interval u_m{}, v_m{};
  const Eigen::VectorXd* investigated = nullptr;  ///< cells below ½ do not set the colours; null: none
  /// Returns true for pieces that lie in the part, at least with a corner.
  [[nodiscard]] bool shows(const physics::mesh::SlicePiece& piece) const;
};

/// The scale of colours that the slices of a picture, or of several ones, share.
struct CellColours {
  SectionQuantity quantity = SectionQuantity::resistivity;
  physics::mesh::Property property{};
  double low = 0.0, high = 4.0;  ///< ends of the scale, of `values_in_picture`
  double least = std::numeric_limits<double>::quiet_NaN(),
         most = std::numeric_limits<double>::quiet_NaN();  ///< values that are seen; NaN: none
  bool gaps = false;                                       ///< cells without a value are seen

  [[nodiscard]] const ColourMap& map() const;
  [[nodiscard]] Color at(double value) const { return map().at((value - low) / (high - low)); }
  [[nodiscard]] Axis axis() const;
  [[nodiscard]] Clipped clipped() const { return Clipped::of(least, most, low, high); }
};

/// Returns a scale from the 2nd to the 98th percentile of the cells that are in the views and investigated;
/// of all in the views if none is. Logarithms are widened to 1 or 3 times a power of ten, which have ticks,
/// and to about one decade at least. An end that is finite in `low` or `high` replaces that of the cells.
[[nodiscard]] CellColours colours_of(const std::vector<SliceView>& views, SectionQuantity quantity,
                                     double low, double high);

/// Returns the place of a point of a slice in the picture.
using PlaceOfSlice = std::function<Point(const physics::mesh::Flat&)>;

/// Draws the cells and the water of a slice; cells without a value stay white.
void draw_slice(Canvas& canvas, const SliceView& view, const CellColours& colours, const PlaceOfSlice& place);

/// Draws lines of equal values between the centres of the pieces of a slice: each half decade of logarithms,
/// with numbers at the full ones, or eight over the range of other values.
void draw_slice_contours(Canvas& canvas, const SliceView& view, const Box& box, const PlaceOfSlice& place);

/// Hatches the pieces whose cells have a number below ½, and draws the border between them and others. `box`:
/// the lines of the hatch start at its corner. shapes: investigated (n_cells).
void draw_unseen(Canvas& canvas, const SliceView& view, const Eigen::VectorXd& investigated, const Box& box,
                 const PlaceOfSlice& place);

}  // namespace lodestone::io::report
