// SPDX-License-Identifier: Apache-2.0
#include "io/report/roses.hpp"

#include "io/report/axes.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr double cell_width = 200.0, left_margin = 14.0, radius = 66.0, title_height = 40.0;
constexpr double rose_height = 2.0 * radius + 62.0, legend_height = 46.0;
constexpr int most_in_row = 5;
constexpr double step_deg = 10.0, half_turn_deg = 180.0, quarter_deg = 90.0;
constexpr int n_steps = 18;  // of a half turn

constexpr Color first_shade{0.16, 0.42, 0.66}, second_shade{0.68, 0.80, 0.91}, tipper_shade{0.86, 0.55, 0.36};

/// Numbers of stations by azimuth, from 0 to 180°.
using Counts = std::array<int, n_steps>;

void count(Counts& counts, double azimuth_deg) {
  const double inside = azimuth_deg - half_turn_deg * std::floor(azimuth_deg / half_turn_deg);
  ++counts[static_cast<std::size_t>(std::min(n_steps - 1, static_cast<int>(inside / step_deg)))];
}

Point towards(Point centre, double azimuth_deg, double length) {
  return {centre.x + length * std::sin(azimuth_deg / mt::deg_per_rad),
          centre.y - length * std::cos(azimuth_deg / mt::deg_per_rad)};
}

/// Draws petals whose area counts, on both sides of the centre.
void draw_petals(Canvas& canvas, Point centre, const Counts& counts, int most, const Color& colour) {
  for (std::size_t k = 0; k < counts.size(); ++k) {
    if (counts[k] == 0) continue;
    const double length = radius * std::sqrt(static_cast<double>(counts[k]) / most);
    for (const double side : {0.0, half_turn_deg}) {
      std::vector<Point> corners{centre};
      for (double part = 0.0; part <= 1.0; part += 0.25)
        corners.push_back(towards(centre, side + step_deg * (static_cast<double>(k) + part), length));
      canvas.polygon(corners, {colour, Stroke{{1.0, 1.0, 1.0}, 0.6, {}}});
    }
  }
}

void draw_ring(Canvas& canvas, Point centre) {
  canvas.circle(centre, radius, {Color{0.975, 0.975, 0.975}, Stroke{grey, 0.8, {}}});
  for (double azimuth = 0.0; azimuth < 360.0; azimuth += 30.0)
    canvas.line(towards(centre, azimuth, radius - 3.0), towards(centre, azimuth, radius), {grey, 0.8, {}});
  const TextStyle style{.size = 10.0, .horizontal = Align::middle, .vertical = Align::middle};
  for (const auto& [name, azimuth] : {std::pair{"N", 0.0}, {"E", 90.0}, {"S", 180.0}, {"W", 270.0}})
    canvas.text(towards(centre, azimuth, radius + 9.0), name, style);
}

void draw_axis(Canvas& canvas, Point centre, double azimuth_deg, const Stroke& stroke) {
  canvas.line(towards(centre, azimuth_deg, radius), towards(centre, azimuth_deg + half_turn_deg, radius),
              stroke);
}

void write_below(Canvas& canvas, Point centre, const std::string& first, const std::string& second) {
  const TextStyle style{.size = 10.0, .horizontal = Align::middle, .vertical = Align::start};
  canvas.text({centre.x, centre.y + radius + 18.0}, first, style);
  canvas.text({centre.x, centre.y + radius + 32.0}, second, style);
}

void draw_impedances(Canvas& canvas, Point centre, const mt::StrikeBand& band) {
  Counts first{}, second{};
  for (const mt::Strike& each : band.of_stations) {
    count(first, each.azimuth_deg);
    count(second, each.azimuth_deg + quarter_deg);
  }
  draw_ring(canvas, centre);
  const int most = std::max(1, std::max(std::ranges::max(first), std::ranges::max(second)));
  draw_petals(canvas, centre, second, most, second_shade);
  draw_petals(canvas, centre, first, most, first_shade);
  if (!band.strike) return write_below(canvas, centre, "no complete impedance", "");
  if (band.strike->is_determined()) {
    draw_axis(canvas, centre, band.strike->azimuth_deg, {ink, 1.8, {}});
    draw_axis(canvas, centre, band.strike->azimuth_deg + quarter_deg, {ink, 1.2, {4.0, 3.0}});
  }
  const std::string words = band.strike->is_determined() ? mt::in_words(band.strike) + "°" : "any azimuth";
  write_below(canvas, centre, words,
              fmt::format("rms {:.2g}, {} station{}", band.strike->rms, band.of_stations.size(),
                          band.of_stations.size() == 1 ? "" : "s"));
}

void draw_tippers(Canvas& canvas, Point centre, const mt::StrikeBand& band) {
  Counts counts{};
  for (const mt::TipperStrike& each : band.tippers_of_stations) count(counts, each.azimuth_deg);
  draw_ring(canvas, centre);
  draw_petals(canvas, centre, counts, std::max(1, std::ranges::max(counts)), tipper_shade);
  if (!band.tipper) return write_below(canvas, centre, "no tipper", "");
  draw_axis(canvas, centre, band.tipper->azimuth_deg, {ink, 1.8, {}});
  write_below(
      canvas, centre,
      fmt::format("{:.0f}°, {:.0f} % along it", band.tipper->azimuth_deg, 100.0 * band.tipper->share_along),
      fmt::format("{} station{}", band.tippers_of_stations.size(),
                  band.tippers_of_stations.size() == 1 ? "" : "s"));
}

/// Explains the shades below all roses.
void draw_legend(Canvas& canvas, double top, bool with_tippers) {
  double x = left_margin + 6.0;
  const auto entry = [&](const Color& colour, const std::string& text) {
    canvas.rectangle({x, top, 14.0, 10.0}, {colour, {}});
    canvas.text({x + 20.0, top + 5.0}, text, {.size = 10.0, .vertical = Align::middle});
    x += 20.0 + text_width(text, {.size = 10.0}) + 22.0;
  };
  entry(first_shade, "strike of stations, 0 to 90°");
  entry(second_shade, "the same turned by 90°, as likely");
  if (with_tippers) entry(tipper_shade, "strike of their tippers");
}

}  // namespace

Canvas strike_roses(const std::vector<mt::StrikeBand>& bands) {
  const bool with_tippers = std::ranges::any_of(bands, [](const mt::StrikeBand& b) { return !!b.tipper; });
  const double band_height = title_height + (with_tippers ? 2.0 : 1.0) * rose_height;
  const int n = static_cast<int>(bands.size()), n_rows = (n + most_in_row - 1) / most_in_row;
  const double width = std::max(640.0, 2.0 * left_margin + cell_width * std::min(n, most_in_row));
  Canvas canvas(width, 26.0 + n_rows * (band_height + 12.0) + legend_height);
  canvas.text({left_margin, 18.0}, "Strike by decade of periods", {.size = 14.0, .weight = Weight::bold});
  for (int k = 0; k < n; ++k) {
    const mt::StrikeBand& band = bands[static_cast<std::size_t>(k)];
    const double top = 26.0 + (k / most_in_row) * (band_height + 12.0);
    Point centre{left_margin + cell_width * (k % most_in_row + 0.5), top + title_height + radius};
    canvas.text({centre.x, top + 20.0},
                fmt::format("{} to {}", plain_number(band.min_period_s), period_text(band.max_period_s)),
                {.size = 12.0, .horizontal = Align::middle, .weight = Weight::bold});
    draw_impedances(canvas, centre, band);
    centre.y += rose_height;
    if (with_tippers) draw_tippers(canvas, centre, band);
  }
  draw_legend(canvas, canvas.height() - legend_height + 18.0, with_tippers);
  return canvas;
}

}  // namespace lodestone::io::report
