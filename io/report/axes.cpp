// SPDX-License-Identifier: Apache-2.0
#include "io/report/axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::io::report {

namespace {

constexpr double tick_length = 5.0;
constexpr double label_gap = 4.0;
constexpr double station_text_size = 9.5;
constexpr double triangle_height = 9.0;

std::string superscript(int exponent) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char c : std::to_string(std::abs(exponent))) {
    text += digits[c - '0'];
  }
  return text;
}

double fraction(const Axis& axis, double value) {
  if (axis.scale == Scale::linear) {
    return (value - axis.first) / (axis.last - axis.first);
  }
  return value > 0.0 ? std::log10(value / axis.first) / std::log10(axis.last / axis.first) : std::nan("");
}

constexpr std::ptrdiff_t least_labels = 2;  // of an axis: one number tells no scale

std::ptrdiff_t n_labels(const std::vector<Tick>& ticks) {
  return std::ranges::count_if(ticks, [](const Tick& tick) { return !tick.label.empty(); });
}

/// Returns a round step near this one.
double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double mantissa = rough / power;
  return power * (mantissa < 1.5 ? 1.0 : mantissa < 3.5 ? 2.0 : mantissa < 7.5 ? 5.0 : 10.0);
}

/// Returns the multiples of a step on an axis.
std::vector<Tick> multiples(double step, double low, double high) {
  std::vector<Tick> result;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) {
    result.push_back({k * step, tick_label(k == 0.0 ? 0.0 : k * step)});
  }
  return result;
}

std::vector<Tick> linear_ticks(const Axis& axis) {
  const double low = std::min(axis.first, axis.last), high = std::max(axis.first, axis.last);
  if (!(high > low) || !std::isfinite(high - low)) return {};
  int n = std::max(1, axis.n_ticks);
  std::vector<Tick> result = multiples(axis.step > 0.0 ? axis.step : round_step((high - low) / n), low, high);
  while (n_labels(result) < least_labels && n <= 2 * axis.n_ticks + 2)
    result = multiples(round_step((high - low) / n++), low, high);
  return result;
}

/// Returns the ticks of an axis from 10^low to 10^high, with a label at every so many decades.
std::vector<Tick> decades(double low, double high, int every) {
  const bool few_decades = high - low < 2.0;
  std::vector<Tick> result;
  for (int decade = static_cast<int>(std::floor(low)); decade <= static_cast<int>(std::ceil(high));
       ++decade) {
    for (int digit = 1; digit <= 9; ++digit) {
      const double at = decade + std::log10(digit);
      if (at < low - 1e-9 || at > high + 1e-9 || (digit > 1 && high - low > 12.0)) {
        continue;
      }
      const bool labelled = digit == 1 ? decade % every == 0 : few_decades && (digit == 2 || digit == 5);
      result.push_back({std::pow(10.0, at), labelled ? tick_label(std::pow(10.0, at)) : ""});
    }
  }
  return result;
}

/// Returns decades with minor ticks. Where fewer than two of them have a label, they are those of a linear
/// axis.
std::vector<Tick> log_ticks(const Axis& axis) {
  const double low = std::log10(std::min(axis.first, axis.last)),
               high = std::log10(std::max(axis.first, axis.last));
  if (!std::isfinite(low) || !std::isfinite(high)) return {};
  int every = std::max(1, static_cast<int>(std::ceil((high - low) / (axis.n_ticks + 1.0))));
  std::vector<Tick> result = decades(low, high, every);
  while (n_labels(result) < least_labels && every > 1) result = decades(low, high, --every);
  return n_labels(result) < least_labels ? linear_ticks(axis) : result;
}

}  // namespace

std::string tick_label(double value) {
  if (value < 0.0) {
    return "−" + tick_label(-value);
  }
  const double size = std::abs(value);
  if (size == 0.0 || (size >= 0.9e-3 && size < 0.9e5)) {
    return fmt::format("{:.6g}", value);
  }
  const int exponent = static_cast<int>(std::floor(std::log10(size) + 1e-9));
  const double mantissa = value / std::pow(10.0, exponent);
  return std::abs(mantissa - 1.0) < 1e-6 ? "10" + superscript(exponent)
                                         : fmt::format("{:.3g}·10{}", mantissa, superscript(exponent));
}

std::string plain_number(double value, int digits) {
  const double size = std::abs(value);
  if (size == 0.0 || !(size >= 1e-6 && size < 1e7)) return fmt::format("{:.{}g}", value, digits);
  const int decimals = digits - 1 - static_cast<int>(std::floor(std::log10(size) + 1e-9));
  std::string text = fmt::format("{:.{}f}", value, std::max(0, decimals));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string period_text(double period_s) { return plain_number(period_s, 3) + " s"; }

std::vector<Tick> ticks(const Axis& axis) {
  return axis.scale == Scale::linear ? linear_ticks(axis) : log_ticks(axis);
}

double Frame::x(double value) const { return box_.x + fraction(x_, value) * box_.width; }
double Frame::y(double value) const { return box_.y + fraction(y_, value) * box_.height; }

void Frame::draw_grid(Canvas& canvas) const {
  const Stroke stroke{faint, 0.7, {}};
  for (const Tick& tick : ticks(x_)) {
    if (!tick.label.empty()) {
      canvas.line({x(tick.value), box_.y}, {x(tick.value), box_.y + box_.height}, stroke);
    }
  }
  for (const Tick& tick : ticks(y_)) {
    if (!tick.label.empty()) {
      canvas.line({box_.x, y(tick.value)}, {box_.x + box_.width, y(tick.value)}, stroke);
    }
  }
}

void Frame::draw(Canvas& canvas) const {
  const Stroke stroke{ink, 1.0, {}};
  canvas.rectangle(box_, {{}, stroke});
  const double bottom = box_.y + box_.height;
  for (const Tick& tick : ticks(x_)) {
    const double length = tick.label.empty() ? 0.55 * tick_length : tick_length;
    canvas.line({x(tick.value), bottom}, {x(tick.value), bottom + length}, stroke);
    if (x_.tick_labels == TickLabels::shown) {
      canvas.text({x(tick.value), bottom + tick_length + label_gap}, tick.label,
                  {.horizontal = Align::middle, .vertical = Align::start});
    }
  }
  double widest = 0.0;
  for (const Tick& tick : ticks(y_)) {
    const double length = tick.label.empty() ? 0.55 * tick_length : tick_length;
    canvas.line({box_.x - length, y(tick.value)}, {box_.x, y(tick.value)}, stroke);
    if (y_.tick_labels == TickLabels::shown) {
      canvas.text({box_.x - tick_length - label_gap, y(tick.value)}, tick.label,
                  {.horizontal = Align::end, .vertical = Align::middle});
      widest = std::max(widest, text_width(tick.label, {}));
    }
  }
  canvas.text({box_.x + 0.5 * box_.width, bottom + tick_length + 2.0 * label_gap + 10.0}, x_.label,
              {.size = 12.0, .horizontal = Align::middle, .vertical = Align::start});
  canvas.text({box_.x - tick_length - widest - 3.0 * label_gap, box_.y + 0.5 * box_.height}, y_.label,
              {.size = 12.0, .horizontal = Align::middle, .rotation_deg = 90.0});
}

Clipped Clipped::of(double least, double most, double low, double high) {
  const double rounding = 1e-6 * std::abs(high - low);
  return {least<low - rounding, most> high + rounding};
}

void draw_colour_bar(Canvas& canvas, const Box& box, const ColourMap& map, const Axis& axis,
                     const Clipped& clipped) {
  constexpr int n_steps = 96;
  for (int k = 0; k < n_steps; ++k) {
    const double top = box.y + box.height * k / n_steps, bottom = box.y + box.height * (k + 1) / n_steps;
    // The map's 0 belongs to the smaller value.
    const double part = (k + 0.5) / n_steps;
    canvas.cell({{box.x, top}, {box.x + box.width, top}, {box.x + box.width, bottom}, {box.x, bottom}},
                map.at(axis.first < axis.last ? part : 1.0 - part));
  }
  const Stroke stroke{ink, 1.0, {}};
  canvas.rectangle(box, {{}, stroke});
  const bool upwards = axis.first > axis.last;  // the largest value at the top
  const auto end = [&](double y, double tip) {
    const Color color = map.at((tip < y) == upwards ? 1.0 : 0.0);
    canvas.polygon({{box.x, y}, {box.x + 0.5 * box.width, tip}, {box.x + box.width, y}}, {color, stroke});
  };
  if (upwards ? clipped.above : clipped.below) end(box.y, box.y - triangle_height);
  if (upwards ? clipped.below : clipped.above) end(box.y + box.height, box.y + box.height + triangle_height);
  const Frame scale(box, {}, axis);
  double widest = 0.0;
  const double right = box.x + box.width;
  for (Tick tick : ticks(axis)) {
    const auto is_end = [&](double value) { return std::abs(tick.value - value) < 1e-6 * std::abs(value); };
    if (is_end(axis.first) || is_end(axis.last)) tick.label = tick_label(tick.value);
    canvas.line({right, scale.y(tick.value)},
                {right + (tick.label.empty() ? 0.55 : 1.0) * tick_length, scale.y(tick.value)}, stroke);
    canvas.text({right + tick_length + label_gap, scale.y(tick.value)}, tick.label,
                {.vertical = Align::middle});
    widest = std::max(widest, text_width(tick.label, {}));
  }
  canvas.text({right + tick_length + widest + 3.0 * label_gap, box.y + 0.5 * box.height}, axis.label,
              {.size = 12.0, .horizontal = Align::middle, .vertical = Align::start, .rotation_deg = 90.0});
}

void draw_marker(Canvas& canvas, Point at, const MarkerStyle& style) {
  const Paint paint{style.hollow ? Color{1.0, 1.0, 1.0} : style.color, Stroke{style.color, 1.0, {}}};
  if (style.marker == Marker::circle) {
    canvas.circle(at, style.radius, paint, style.hint);
  } else {
    const double half = 0.88 * style.radius;
    canvas.rectangle({at.x - half, at.y - half, 2.0 * half, 2.0 * half}, paint);
  }
}

LengthUnit length_unit(double range_m) { return range_m >= 5000.0 ? LengthUnit{1000.0, "km"} : LengthUnit{}; }

std::string length_text(double metres, int digits) {
  const LengthUnit unit = length_unit(std::abs(metres));
  return fmt::format("{} {}", plain_number(metres / unit.metres, digits), unit.name);
}

double station_label_height(const std::vector<std::string>& names) {
  double widest = 0.0;
  for (const std::string& name : names) {
    widest = std::max(widest, text_width(name, {.size = station_text_size}));
  }
  return names.empty() ? 0.0 : widest + triangle_height + 4.0;
}

void draw_stations(Canvas& canvas, const StationLabels& stations) {
  std::vector<std::size_t> order(stations.names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return stations.x[a] < stations.x[b]; });
  double last_label = -1e9;
  for (const std::size_t k : order) {
    const double x = stations.x[k], tip = stations.surface_y[k];
    if (tip - triangle_height > stations.top + 8.0) {
      canvas.line({x, stations.top + 3.0}, {x, tip - triangle_height}, {{0.7, 0.7, 0.7}, 0.6, {}});
    }
    canvas.polygon({{x, tip}, {x - 4.0, tip - triangle_height + 1.0}, {x + 4.0, tip - triangle_height + 1.0}},
                   {ink, {}});
    if (x - last_label >= station_text_size + 0.5) {
      canvas.text({x, stations.top}, stations.names[k],
                  {.size = station_text_size,
                   .horizontal = Align::start,
                   .vertical = Align::middle,
                   .rotation_deg = 90.0});
      last_label = x;
    }
  }
}

}  // namespace lodestone::io::report
