// SPDX-License-Identifier: Apache-2.0
#include "io/report/colour_map.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::io::report {

namespace {

double linear(double srgb) { return srgb <= 0.04045 ? srgb / 12.92 : std::pow((srgb + 0.055) / 1.055, 2.4); }
double gamma_encoded(double light) {
  const double inside = std::clamp(light, 0.0, 1.0);
  return inside <= 0.0031308 ? 12.92 * inside : 1.055 * std::pow(inside, 1.0 / 2.4) - 0.055;
}

OkLab from_hex(unsigned rgb) {
  return to_oklab({static_cast<double>((rgb >> 16U) & 255U) / 255.0,
                   static_cast<double>((rgb >> 8U) & 255U) / 255.0, static_cast<double>(rgb & 255U) / 255.0});
}

double distance(const OkLab& p, const OkLab& q) {
  return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

OkLab between(const OkLab& p, const OkLab& q, double part) {
  return {std::lerp(p.lightness, q.lightness, part), std::lerp(p.a, q.a, part), std::lerp(p.b, q.b, part)};
}

}  // namespace

// The matrices are those of the source.
OkLab to_oklab(const Color& color) {
  const double r = linear(color.red), g = linear(color.green), b = linear(color.blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Color to_srgb(const OkLab& color) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(color.lightness + 0.3963377774 * color.a + 0.2158037573 * color.b);
  const double m = cube(color.lightness - 0.1055613458 * color.a - 0.0638541728 * color.b);
  const double s = cube(color.lightness - 0.0894841775 * color.a - 1.2914855480 * color.b);
  return {gamma_encoded(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
          gamma_encoded(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
          gamma_encoded(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

ColourMap::ColourMap(std::initializer_list<unsigned> anchors) {
  std::vector<OkLab> points;
  std::vector<double> length;
  for (const unsigned anchor : anchors) {
    points.push_back(from_hex(anchor));
    length.push_back(length.empty() ? 0.0
                                    : length.back() + distance(points[points.size() - 2], points.back()));
  }
  for (int level = 0; level < n_levels; ++level) {
    const double at = length.back() * level / (n_levels - 1);
    const auto above = std::upper_bound(length.begin() + 1, length.end() - 1, at);
    const auto k = static_cast<std::size_t>(above - length.begin());
    levels_[static_cast<std::size_t>(level)] =
        to_srgb(between(points[k - 1], points[k], (at - length[k - 1]) / (length[k] - length[k - 1])));
  }
}

Color ColourMap::at(double value) const {
  if (!std::isfinite(value)) {
    return {0.88, 0.88, 0.88};
  }
  return levels_[static_cast<std::size_t>(std::lround(std::clamp(value, 0.0, 1.0) * (n_levels - 1)))];
}

const ColourMap& resistivity_colours() {
  static const ColourMap map{0x7d0a25, 0xc52f2c, 0xec7f35, 0xf7c25c, 0xf6f2b9,
                             0xb3dfb4, 0x5db7b8, 0x2f7fb6, 0x2c3f8e};
  return map;
}

const ColourMap& phase_colours() {
  static const ColourMap map{0x2b1b5a, 0x2f4f8f, 0x257f8e, 0x3da878, 0x96cb52, 0xf5e85a};
  return map;
}

const ColourMap& residual_colours() {
  static const ColourMap map{0x4b1d6b, 0x8f66ad, 0xcdb5dc, 0xf7f6f7, 0xb5d9b0, 0x57a463, 0x0f5a2d};
  return map;
}

}  // namespace lodestone::io::report
