// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/report/canvas.hpp"

#include <array>
#include <string_view>
#include <vector>

namespace lodestone::io::report {

/// Colour in the OKLab space, where distances are about perceived differences. source: Ottosson 2020, "A
/// perceptual color space for image processing"
struct OkLab {
  double lightness = 0.0, a = 0.0, b = 0.0;
};
[[nodiscard]] OkLab to_oklab(const Color& color);
[[nodiscard]] Color to_srgb(const OkLab& color);

/// Colours from 0 to 1 at equal perceived steps: a path through anchor colours, straight in OKLab and
/// parametrized by its length.
class ColourMap {
 public:
  /// Anchors as 0xRRGGBB.
  explicit ColourMap(std::initializer_list<unsigned> anchors);
  /// Clamped to 0…1; a value that is not finite gives light grey.
  [[nodiscard]] Color at(double value) const;

 private:
  static constexpr int n_levels = 128;  // fewer colours make smaller SVG files; the eye sees no steps
  std::array<Color, n_levels> levels_;
};

/// Conductive = red, resistive = blue, lightest in the middle; both arms fall evenly in lightness.
[[nodiscard]] const ColourMap& resistivity_colours();
/// Dark blue over green to yellow, lightness rising evenly.
[[nodiscard]] const ColourMap& phase_colours();
/// Purple (negative) over white to green (positive).
[[nodiscard]] const ColourMap& residual_colours();

}  // namespace lodestone::io::report
