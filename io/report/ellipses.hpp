// SPDX-License-Identifier: Apache-2.0
// Small on purpose: maps and sections draw the same ellipses.
#pragma once

#include "engine/core/words.hpp"
#include "io/report/axes.hpp"
#include "io/report/survey_places.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"

#include <vector>

namespace lodestone::io::report {

/// The meaning of the colours of ellipses: the skew β, or the smallest phase.
enum class EllipseFill { skew, min_phase };
constexpr auto words(EllipseFill) {
  using enum EllipseFill;
  return core::Words<EllipseFill>{{skew, "skew"}, {min_phase, "min_phase"}};
}

/// The colours of ellipses with the values that were drawn in them.
class EllipseColours {
 public:
  explicit EllipseColours(EllipseFill fill) : fill_(fill) {}
  /// Draws a phase tensor as an ellipse. Its larger half axis has this length and points to an azimuth on
  /// the paper, clockwise from its top; the other one is in proportion. source: Caldwell et al. 2004.
  void draw(Canvas& canvas, Point at, double radius, const physics::mt::PhaseTensor& tensor,
            double azimuth_deg);
  void draw_bar(Canvas& canvas, const Box& box) const;

 private:
  EllipseFill fill_;
  double least_ = physics::mt::not_given, most_ = physics::mt::not_given;
};

/// Returns the phase tensor of a station at a period, interpolated between measured ones; nothing beyond
/// these. Rows must be sorted, highest frequency first.
[[nodiscard]] std::optional<physics::mt::PhaseTensor> tensor_at(const physics::mt::StationData& station,
                                                                double period_s);

/// Draws the phase tensors along a line: distance against period, north up. `stations`: with x to the north.
[[nodiscard]] Canvas ellipse_section(const std::vector<physics::mt::StationData>& stations,
                                     const SurveyLine& line, EllipseFill fill);

}  // namespace lodestone::io::report
