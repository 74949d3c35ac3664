// SPDX-License-Identifier: Apache-2.0
// These rules look at the numbers of a station by themselves.
#include "engine/core/median.hpp"
#include "physics/mt/analysis/check_rules.hpp"
#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/analysis/layered_bound.hpp"
#include "physics/mt/conventions.hpp"
#include "physics/mt/units.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace lodestone::physics::mt {
namespace {

using core::median;
using Kind = FindingKind;

constexpr std::ptrdiff_t enough = 5;      // values of a vote
constexpr double most_of_them = 2.0 / 3;  // of the votes
constexpr double least_rho_ohm_m = 1e-2, largest_rho_ohm_m = 1e6;
constexpr double most_off_decades = 1.0;   // of a station beside its survey, once its units are mended
constexpr std::size_t least_stations = 4;  // of a survey that tells what is usual
constexpr double least_relative_error = 1e-4, largest_relative_error = 0.5;
constexpr double largest_tipper = 1.5;
// A sensor that is tilted by 0.06 degrees puts as much of the horizontal field into Hz.
constexpr double least_share_of_dead = 1.0 / 3;
constexpr double scatter_over_error = 3.0;
constexpr double gap_over_usual = 4.0;
constexpr double relative_floor_of_bound = 0.05, largest_rms_of_bound = 3.0;

/// Shares of the values of an off-diagonal element in the quadrant that a layered earth gives, and in the
/// opposite one.
struct Quadrants {
  int n = 0;
  double expected = 0.0, opposite = 0.0;
  std::vector<double> outside_s{};  ///< periods of those that are not where they are expected
};

Quadrants quadrants_of(const StationData& station, Element element) {
  const double sign = element == Element::zyx ? -1.0 : 1.0;
  int n = 0, expected = 0, opposite = 0;
  std::vector<double> outside_s;
  for (const StationRow& row : station.rows) {
    if (row.is_missing(element)) continue;
    const Complex z = sign * row.values[element];
    ++n;
    if (z.real() > 0.0 && z.imag() > 0.0)
      ++expected;
    else
      outside_s.push_back(1.0 / row.frequency_hz);
    opposite += z.real() < 0.0 && z.imag() < 0.0;
  }
  const double all = std::max(n, 1);
  return {n, expected / all, opposite / all, std::move(outside_s)};
}

FilePart part_of(Element element) { return element == Element::zxy ? FilePart::zxy : FilePart::zyx; }

bool is_plausible(double rho_ohm_m) { return rho_ohm_m >= least_rho_ohm_m && rho_ohm_m <= largest_rho_ohm_m; }

/// Makes numbers of e^{−iωt} those of e^{+iωt}.
void conjugate(StationData& station) {
  for (StationRow& row : station.rows) {
    for (Complex& value : row.values.numbers) value = std::conj(value);
    if (row.covariance) row.covariance = row.covariance->conjugate().eval();
    if (row.estimates) {
      row.estimates->inverse_signal = row.estimates->inverse_signal.conjugate().eval();
      row.estimates->noise = row.estimates->noise.conjugate().eval();
    }
  }
}

/// Turns the polarity of E_x (0) or E_y (1).
void reverse_output(StationData& station, int output) {
  const Eigen::Index first = 2 * output;  // the elements of an output lie side by side
  for (StationRow& row : station.rows) {
    for (const Eigen::Index k : {first, first + 1}) {
      row.values.numbers[static_cast<std::size_t>(k)] *= -1.0;
      if (!row.covariance) continue;
      row.covariance->row(k) *= -1.0;
      row.covariance->col(k) *= -1.0;
    }
    if (!row.estimates) continue;
    row.estimates->noise.row(output) *= -1.0;
    row.estimates->noise.col(output) *= -1.0;
  }
}

void scale_impedances(StationData& station, double factor) {
  for (StationRow& row : station.rows) {
    for (std::size_t k = 0; k < 4; ++k) {  // the impedances are the first four elements
      row.values.numbers[k] *= factor;
      row.errors.numbers[k] *= factor;
    }
    if (row.covariance) {
      row.covariance->topRows<4>() *= factor;
      row.covariance->leftCols<4>() *= factor;
    }
    if (!row.estimates) continue;
    row.estimates->noise.topRows<2>() *= factor;
    row.estimates->noise.leftCols<2>() *= factor;
  }
}

/// Returns the factor on impedances whose change of units gives a resistivity of the earth; nothing where
/// none or either does.
std::optional<double> factor_to_plausible(double rho_ohm_m) {
  constexpr double to_ohm = ohm_per_field_unit, to_field = 1.0 / ohm_per_field_unit;
  const bool as_ohm = is_plausible(rho_ohm_m * to_ohm * to_ohm),
             as_field = is_plausible(rho_ohm_m * to_field * to_field);
  if (as_ohm == as_field) return {};
  return as_ohm ? to_ohm : to_field;
}

class CurveCheck {
 public:
  CurveCheck(const StationData& station, double usual_ohm_m, StationFindings& findings)
      : station_(station), usual_ohm_m_(usual_ohm_m), findings_(findings) {}

  void run() {
    check_sign_and_order();
    check_units();
    for (const Element element : {Element::zxy, Element::zyx}) {
      check_errors(element);
      check_scatter(element);
      check_consistency(element);
    }
    check_tipper();
    check_periods();
  }

 private:
  void check_sign_and_order() {
    const Quadrants xy = quadrants_of(station_, Element::zxy), yx = quadrants_of(station_, Element::zyx);
    if (std::max(xy.n, yx.n) < enough) return;
    const bool xy_opposite = xy.n >= enough && xy.opposite > most_of_them;
    const bool yx_opposite = yx.n >= enough && yx.opposite > most_of_them;
    if (!xy_opposite && !yx_opposite && voted_time_factor(station_.rows) == TimeFactor::minus)
      return add(
          Kind::time_factor,
          "Zxy and Zyx lie in the quadrants of exp(-i omega t), though the file was read as exp(+i omega t)",
          {.part = FilePart::zxy, .mend = conjugate});
    const std::string shares = fmt::format(
        "{:.0f} % of Zxy and {:.0f} % of Zyx lie opposite to the quadrants of a "
        "layered earth",
        100.0 * xy.opposite, 100.0 * yx.opposite);
    const bool both_lean = xy.opposite > xy.expected && yx.opposite > yx.expected;
    if ((xy_opposite || yx_opposite) && both_lean)
      add(Kind::swapped_components, shares + ": x and y are swapped, or both fields of one kind reversed",
          {.part = FilePart::zxy});
    else if (xy_opposite || yx_opposite)
      add(Kind::reversed_channel,
          shares + fmt::format(": {} or its magnetic channel is reversed", xy_opposite ? "Ex" : "Ey"),
          {.part = xy_opposite ? FilePart::zxy : FilePart::zyx,
           .mend = [output = xy_opposite ? 0 : 1](StationData& station) {
             reverse_output(station, output);
           }});
    else if (const bool of_xy = xy.n >= enough && xy.expected < most_of_them;
             of_xy || (yx.n >= enough && yx.expected < most_of_them))
      add_out_of_quadrant(xy, yx, of_xy);
  }

  void add_out_of_quadrant(const Quadrants& xy, const Quadrants& yx, bool of_xy) {
    std::vector<double> periods_s = xy.outside_s;
    for (const double each : yx.outside_s)
      if (std::ranges::find(periods_s, each) == periods_s.end()) periods_s.push_back(each);
    add(Kind::out_of_quadrant,
        fmt::format(
            "only {:.0f} % of Zxy and {:.0f} % of Zyx lie in the quadrants of a layered earth, others at {}",
            100.0 * xy.expected, 100.0 * yx.expected, periods_in_words(periods_s)),
        {.part = of_xy ? FilePart::zxy : FilePart::zyx, .periods_s = periods_s});
  }

  /// Mends units only where that brings the station near the others of its survey.
  void check_units() {
    const double middle = median_resistivity(station_);
    if (!std::isfinite(middle) || is_plausible(middle)) return;
    std::string text = fmt::format("the median apparent resistivity is {:.3g} ohm m, read as {}", middle,
                                   station_.units_in_file);
    const std::optional<double> factor = factor_to_plausible(middle);
    if (!factor) return add(Kind::unclear_units, text, {.part = FilePart::zxy});
    const double mended = middle * *factor * *factor;
    text += fmt::format("; impedances times {:.4g} make it {:.3g}", *factor, mended);
    if (std::isfinite(usual_ohm_m_) && std::abs(std::log10(mended / usual_ohm_m_)) > most_off_decades)
      return add(Kind::unclear_units,
                 text + fmt::format(", which the {:.3g} ohm m of its survey do not confirm", usual_ohm_m_),
                 {.part = FilePart::zxy});
    add(Kind::units, text,
        {.part = FilePart::zxy,
         .filled_in = *factor > 1.0 ? "ohm" : "field",
         .mend = [by = *factor](StationData& station) { scale_impedances(station, by); }});
  }

  void check_errors(Element element) {
    std::vector<double> relative, missing_s, small_s, large_s;
    std::size_t n = 0;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(element)) continue;
      ++n;
      const double error = row.errors[element] / std::abs(row.values[element]),
                   period_s = 1.0 / row.frequency_hz;
      error > 0.0 ? relative.push_back(error) : missing_s.push_back(period_s);
      if (error < least_relative_error) small_s.push_back(period_s);
      if (error > largest_relative_error) large_s.push_back(period_s);
    }
    if (n < static_cast<std::size_t>(enough)) return;
    const std::string_view name = rule_of(element).name;
    if (2 * missing_s.size() > n)
      add(Kind::no_errors,
          fmt::format("{} of {} values of {} have no error, at {}", missing_s.size(), n, name,
                      periods_in_words(missing_s)),
          {.part = part_of(element), .periods_s = missing_s});
    const double middle = median(relative);
    if (middle < least_relative_error)
      add(Kind::errors_too_small,
          fmt::format("the median error of {} is {:.1e} of |Z|, smaller than instruments are: at {}", name,
                      middle, periods_in_words(small_s)),
          {.part = part_of(element), .periods_s = small_s});
    if (middle > largest_relative_error)
      add(Kind::errors_too_large,
          fmt::format("the median error of {} is {:.0f} % of |Z|, with more than {:.0f} % at {}", name,
                      100.0 * middle, 100.0 * largest_relative_error, periods_in_words(large_s)),
          {.part = part_of(element), .periods_s = large_s});
  }

  /// Sets what each value differs by from the line through its neighbours beside its error.
  void check_scatter(Element element) {
    std::vector<double> logs, errors, places, scattered_s;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(element) || !(row.errors[element] > 0.0)) continue;
      const double size = std::abs(row.values[element]);
      logs.push_back(std::log(size / std::sqrt(row.frequency_hz)));
      errors.push_back(row.errors[element] / size);
      places.push_back(std::log(row.frequency_hz));
    }
    if (std::ssize(logs) < enough + 2) return;
    std::vector<double> differences, expected;
    for (std::size_t k = 1; k + 1 < logs.size(); ++k) {
      const double w = (places[k] - places[k - 1]) / (places[k + 1] - places[k - 1]);
      differences.push_back(std::abs(logs[k] - (1.0 - w) * logs[k - 1] - w * logs[k + 1]));
      expected.push_back(std::hypot(errors[k], (1.0 - w) * errors[k - 1], w * errors[k + 1]));
    }
    for (std::size_t k = 0; k < differences.size(); ++k)
      if (differences[k] > scatter_over_error * expected[k]) scattered_s.push_back(std::exp(-places[k + 1]));
    constexpr double median_over_deviation = 0.6745;  // of the size of a normal number
    const double scatter = median(differences) / median_over_deviation, error = median(expected);
    if (scatter > scatter_over_error * error)
      add(Kind::scatter,
          fmt::format(
              "|{}| scatters from period to period by {:.2g} %, its errors say {:.2g} %; by more than {:g} "
              "errors at {}",
              rule_of(element).name, 100.0 * scatter, 100.0 * error, scatter_over_error,
              periods_in_words(scattered_s)),
          {.part = part_of(element),
           .periods_s = scattered_s,
           .filled_in = fmt::format("{:.2g}", std::min(scatter, 1.0))});
  }

  /// Sets the curve beside the best that any layered earth has.
  void check_consistency(Element element) {
    const double sign = element == Element::zyx ? -1.0 : 1.0;
    std::vector<CurvePoint> curve;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(element) || row.values[element] == 0.0) continue;
      const double floor = relative_floor_of_bound * std::abs(row.values[element]);
      curve.push_back({row.frequency_hz, sign * row.values[element], std::fmax(row.errors[element], floor)});
    }
    if (std::ssize(curve) < enough) return;
    const LayeredBound bound = layered_bound(curve);
    if (bound.rms > largest_rms_of_bound) {
      std::vector<double> missed_s;
      for (std::size_t k = 0; k < curve.size(); ++k)
        if (bound.residual[k] > largest_rms_of_bound) missed_s.push_back(1.0 / curve[k].frequency_hz);
      add(Kind::inconsistent_curve,
          fmt::format("no layered earth has the curve of {}: the best misses it by an rms of {:.2g} with "
                      "errors of at least {:g} %, mostly at {}, so that rho and phase belong to volumes or "
                      "do not fit",
                      rule_of(element).name, bound.rms, 100.0 * relative_floor_of_bound,
                      periods_in_words(missed_s)),
          {.part = part_of(element), .periods_s = missed_s});
    }
    if (bound.outliers.empty()) return;
    std::vector<double> periods_s;
    for (const std::size_t k : bound.outliers) periods_s.push_back(1.0 / curve[k].frequency_hz);
    add(Kind::outliers,
        fmt::format("{} of {} periods of {} lie off the curve that a layered earth can have: {}",
                    periods_s.size(), curve.size(), rule_of(element).name, periods_in_words(periods_s)),
        {.part = part_of(element), .periods_s = periods_s});
  }

  void check_tipper() {
    std::vector<double> sizes, dead_periods_s, large_s;
    for (const StationRow& row : station_.rows) {
      if (row.is_missing(Element::tzx) || row.is_missing(Element::tzy)) continue;
      sizes.push_back(std::sqrt(std::norm(row.values[Element::tzx]) + std::norm(row.values[Element::tzy])));
      if (sizes.back() < least_recorded_tipper) dead_periods_s.push_back(1.0 / row.frequency_hz);
      if (sizes.back() > largest_tipper) large_s.push_back(1.0 / row.frequency_hz);
    }
    if (std::ssize(sizes) < enough) return;
    if (median(sizes) > largest_tipper)
      add(Kind::large_tipper,
          fmt::format("the median size of the tipper is {:.2g}, and it is above {:g} at {}", median(sizes),
                      largest_tipper, periods_in_words(large_s)),
          {.part = FilePart::tipper, .periods_s = large_s});
    const auto n_dead = static_cast<double>(dead_periods_s.size());
    if (std::ssize(dead_periods_s) < enough ||
        n_dead < least_share_of_dead * static_cast<double>(sizes.size()))
      return;
    const auto [shortest_s, longest_s] = std::ranges::minmax(dead_periods_s);
    add(Kind::dead_tipper,
        fmt::format("the size of the tipper is below {:g} at {} of {} periods, of {:.3g} to {:.3g} s: Hz was "
                    "not recorded there, as a tilt of 0.06 degrees alone gives more",
                    least_recorded_tipper, dead_periods_s.size(), sizes.size(), shortest_s, longest_s),
        {.part = FilePart::tipper, .periods_s = dead_periods_s});
  }

  void check_periods() {
    std::vector<double> frequencies_hz;  // of rows that hold a value
    for (const StationRow& row : station_.rows) {
      if (std::ranges::any_of(all_elements, [&](Element each) { return !row.is_missing(each); }))
        frequencies_hz.push_back(row.frequency_hz);
    }
    if (std::ssize(frequencies_hz) < enough) return;
    std::vector<double> steps;
    for (std::size_t k = 0; k + 1 < frequencies_hz.size(); ++k)
      steps.push_back(std::log(frequencies_hz[k] / frequencies_hz[k + 1]));
    const double least = std::fmax(gap_over_usual * median(steps), std::numbers::ln10);
    std::vector<std::string> gaps;
    std::vector<double> ends_s;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (steps[k] <= least) continue;
      ends_s.insert(ends_s.end(), {1.0 / frequencies_hz[k], 1.0 / frequencies_hz[k + 1]});
      gaps.push_back(fmt::format("{:.3g} to {:.3g} s", 1.0 / frequencies_hz[k], 1.0 / frequencies_hz[k + 1]));
    }
    if (!gaps.empty())
      add(Kind::gap, fmt::format("no periods from {}", fmt::join(gaps, " and from ")),
          {.periods_s = std::move(ends_s)});
  }

  void add(FindingKind kind, std::string text, FindingDetails details) {
    findings_.add(kind, std::move(text), std::move(details));
  }

  const StationData& station_;
  double usual_ohm_m_;
  StationFindings& findings_;
};

}  // namespace

double median_resistivity(const StationData& station) {
  std::vector<double> rho;
  for (const StationRow& row : station.rows)
    for (const Element element : {Element::zxy, Element::zyx})
      if (!row.is_missing(element))
        rho.push_back(apparent_resistivity_ohm_m(row.values[element], row.frequency_hz));
  return median(rho);
}

double usual_resistivity(const std::vector<StationData>& stations) {
  std::vector<double> medians;
  for (const StationData& station : stations)
    if (const double middle = median_resistivity(station); is_plausible(middle)) medians.push_back(middle);
  return medians.size() < least_stations ? not_given : median(medians);
}

void check_curves(const StationData& station, double usual_ohm_m, StationFindings& findings) {
  CurveCheck(station, usual_ohm_m, findings).run();
}

}  // namespace lodestone::physics::mt
