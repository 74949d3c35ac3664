// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/conventions.hpp"

#include "engine/core/median.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double ohm_over_field_rho = 1.0 / (ohm_per_field_unit * ohm_per_field_unit);

/// Counts the values of one element in the quadrant of e^{+iωt} (Zxy: first, Zyx: third) and in its
/// conjugate.
struct Votes {
  int plus = 0, minus = 0;
  [[nodiscard]] int count() const { return plus + minus; }
  [[nodiscard]] int of(TimeFactor sign) const { return sign == TimeFactor::minus ? minus : plus; }
};

/// Returns the votes of one off-diagonal element, multiplied by `sign` so that it lies in the right half
/// plane.
Votes votes_of(const std::vector<StationRow>& rows, Element element, double sign) {
  Votes votes;
  for (const StationRow& row : rows) {
    const Complex z = sign * row.values[element];
    if (z.real() > 0.0 && z.imag() > 0.0) ++votes.plus;
    if (z.real() > 0.0 && z.imag() < 0.0) ++votes.minus;
  }
  return votes;
}

bool has_impedance(const StationRow& row) {
  return std::ranges::any_of(
      all_elements, [&](Element element) { return is_impedance(element) && !row.is_missing(element); });
}

const char* text_of(TimeFactor sign) {
  return sign == TimeFactor::minus ? "exp(-i omega t)" : "exp(+i omega t)";
}

void conjugate(std::vector<StationRow>& rows) {
  for (StationRow& row : rows) {
    for (Complex& value : row.values.numbers) value = std::conj(value);
    if (row.covariance) row.covariance = row.covariance->conjugate().eval();
    if (!row.estimates) continue;
    row.estimates->inverse_signal = row.estimates->inverse_signal.conjugate().eval();
    row.estimates->noise = row.estimates->noise.conjugate().eval();
  }
}

void scale_impedances(std::vector<StationRow>& rows, double factor) {
  for (StationRow& row : rows) {
    for (const Element element : all_elements) {
      if (!is_impedance(element)) continue;
      const auto k = static_cast<Eigen::Index>(index_of(element));
      row.values[element] *= factor;
      row.errors[element] *= factor;
      if (!row.covariance) continue;
      row.covariance->row(k) *= factor;
      row.covariance->col(k) *= factor;
    }
    if (!row.estimates) continue;
    row.estimates->noise.topRows<2>() *= factor;
    row.estimates->noise.leftCols<2>() *= factor;
    row.set_estimates(*row.estimates);  // to the last bit what follows from these
  }
}

void convert_sign(StationData& station, TimeFactor chosen, TimeFactor stated, std::vector<Remark>& remarks) {
  const std::optional<TimeFactor> voted = voted_time_factor(station.rows);
  TimeFactor sign = chosen != TimeFactor::vote ? chosen : stated;
  if (sign == TimeFactor::vote) sign = voted.value_or(TimeFactor::plus);
  const bool is_free = chosen == TimeFactor::vote, is_stated = stated != TimeFactor::vote;
  if (is_free && !is_stated && voted == TimeFactor::minus) {
    remarks.emplace_back(
        "quadrants of Zxy and Zyx show that the time factor is exp(-i omega t); all values were conjugated",
        RemarkKind::conjugated);
  } else if (is_free && is_stated && voted && stated != *voted) {
    remarks.push_back(fmt::format(
        "the file states {}, but the quadrants of Zxy and Zyx contradict; read as stated", text_of(stated)));
  } else if (is_free && !is_stated && std::ranges::none_of(station.rows, has_impedance)) {
    remarks.emplace_back(
        "tippers alone do not show the time factor, and the file does not state it; exp(+i omega t) is "
        "assumed");
  }
  station.open.sign = is_free && !is_stated;
  station.sign_in_file = sign == TimeFactor::minus ? "-" : "+";
  if (sign == TimeFactor::minus) conjugate(station.rows);
}

void convert_units(StationData& station, ImpedanceUnits chosen, ImpedanceUnits stated,
                   std::vector<Remark>& remarks) {
  constexpr double least_rho = 1e-2, largest_rho = 1e6;
  const double as_field = median_rho_as_field(station.rows), as_ohm = as_field * ohm_over_field_rho;
  const bool is_free = chosen == ImpedanceUnits::vote && stated == ImpedanceUnits::vote;
  ImpedanceUnits units = chosen != ImpedanceUnits::vote ? chosen : stated;
  if (units == ImpedanceUnits::vote)
    units = looks_like_ohm(station.rows) ? ImpedanceUnits::ohm : ImpedanceUnits::field;
  const bool is_ohm = units == ImpedanceUnits::ohm;
  const double median = is_ohm ? as_ohm : as_field;
  if (is_free && is_ohm) {
    remarks.emplace_back(
        fmt::format(
            "the size of the impedances (median apparent resistivity {:.3g} ohm m as mV/km/nT, {:.3g} "
            "as ohm) shows that they are in ohm",
            as_field, as_ohm),
        RemarkKind::ohm);
  } else if (median < least_rho || median > largest_rho) {
    remarks.push_back(fmt::format("median apparent resistivity is {:.3g} ohm m; are the units {}?", median,
                                  is_ohm ? "ohm" : "mV/km/nT"));
  }
  station.open.units = is_free;
  station.units_in_file = is_ohm ? "ohm" : "mV/km/nT";
  if (!is_ohm) scale_impedances(station.rows, ohm_per_field_unit);
}

}  // namespace

std::optional<TimeFactor> time_factor_in(std::string_view text) {
  std::string packed;
  for (const char c : text) {
    if (c != ' ' && c != '\t') packed += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  const auto has = [&](const char* part) { return packed.find(part) != std::string::npos; };
  if (has("exp(-i")) return TimeFactor::minus;
  if (has("exp(+i") || has("exp(i")) return TimeFactor::plus;
  return {};
}

std::optional<TimeFactor> voted_time_factor(const std::vector<StationRow>& rows) {
  constexpr int enough = 5;
  const Votes xy = votes_of(rows, Element::zxy, 1.0), yx = votes_of(rows, Element::zyx, -1.0);
  if (std::max(xy.count(), yx.count()) < enough) return {};
  for (const TimeFactor sign : {TimeFactor::plus, TimeFactor::minus}) {
    const auto agrees = [sign](const Votes& votes) {
      return votes.count() == 0 || votes.of(sign) > 2 * (votes.count() - votes.of(sign));
    };
    if (agrees(xy) && agrees(yx)) return sign;
  }
  return {};
}

double median_rho_as_field(const std::vector<StationRow>& rows) {
  std::vector<double> rho;
  for (const StationRow& row : rows) {
    for (const Element element : {Element::zxy, Element::zyx}) {
      if (!row.is_missing(element)) rho.push_back(0.2 * std::norm(row.values[element]) / row.frequency_hz);
    }
  }
  return core::median(std::move(rho));
}

bool looks_like_ohm(const std::vector<StationRow>& rows) {
  constexpr double implausible_rho = 1e-3;  // no site has a median below; bad ones come near
  const double as_field = median_rho_as_field(rows), as_ohm = as_field * ohm_over_field_rho;
  return as_field < implausible_rho && as_ohm > 1e-1 && as_ohm < 1e6;
}

double in_field_units(double ohm) {
  const double guess = ohm / ohm_per_field_unit;
  if (!std::isfinite(guess)) return guess;
  // Files state few digits: of numbers that become this one, the shortest is what they said.
  constexpr int fewest_digits = 5, most_digits = 17;
  for (int digits = fewest_digits; digits <= most_digits; ++digits) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), guess,
                                   std::chars_format::scientific, digits - 1);
    double rounded = 0.0;
    std::from_chars(text.data(), end.ptr, rounded);
    if (rounded * ohm_per_field_unit == ohm) return rounded;
  }
  return preimage(ohm, ohm / ohm_per_field_unit, [](double field) { return field * ohm_per_field_unit; });
}

double variance_of_complex(double sigma_of_part, double unit) {
  const double sigma = sigma_of_part / unit;
  return preimage(sigma_of_part, 2.0 * sigma * sigma,
                  [unit](double variance) { return std::sqrt(0.5 * variance) * unit; });
}

double in_squared_field_units(double squared_ohm) {
  return preimage(squared_ohm, squared_ohm / (ohm_per_field_unit * ohm_per_field_unit),
                  [](double field) { return field * ohm_per_field_unit * ohm_per_field_unit; });
}

std::vector<Remark> convert(StationData& station, const Conventions& chosen, const Conventions& stated) {
  std::vector<Remark> remarks;
  convert_sign(station, chosen.sign, stated.sign, remarks);
  convert_units(station, chosen.units, stated.units, remarks);
  return remarks;
}

}  // namespace lodestone::physics::mt
