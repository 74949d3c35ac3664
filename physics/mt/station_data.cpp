// SPDX-License-Identifier: Apache-2.0
// Symbols: B directions of two channels in the new frame (rows), M the factors of the elements of a row, C
// covariance of the elements.
#include "physics/mt/station_data.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <Eigen/LU>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace lodestone::physics::mt {
namespace {

constexpr int n_of_row = static_cast<int>(n_elements);
using Factors = Eigen::Matrix<double, n_of_row, n_of_row>;
constexpr double negligible = 1e-14;  // factors that are zero up to rounding do not spread a missing value

/// Returns the cosine of an angle in degrees, exact at and beside multiples of 90.
double cos_deg(double angle_deg) {
  const double inside = std::abs(std::remainder(angle_deg, 360.0)), quarters = std::round(inside / 90.0);
  if (std::abs(inside - 90.0 * quarters) < same_azimuth_deg) return 1.0 - quarters;
  return std::cos(inside / deg_per_rad);
}
double sin_deg(double angle_deg) { return cos_deg(angle_deg - 90.0); }

Eigen::Matrix2d directions(double first_deg, double second_deg, double azimuth_deg) {
  const double a = first_deg - azimuth_deg, b = second_deg - azimuth_deg;
  return Eigen::Matrix2d{{cos_deg(a), sin_deg(a)}, {cos_deg(b), sin_deg(b)}};
}

Eigen::Matrix2d inverse_of(const Eigen::Matrix2d& b, double frequency_hz) {
  constexpr double least_sine = 1e-3;
  if (const double sine = b.determinant(); !(std::abs(sine) > least_sine)) {
    throw core::InvalidArgument(
        "mt::rotated#parallel_channels",
        "at {:.6g} Hz the two channels of a field are parallel (sine of their angle {:.2g}"
        "); correct their azimuths in the file",
        frequency_hz, sine);
  }
  return b.inverse();
}

/// Writes the factors of T' = L T R for the four elements of a tensor, the first of which is given.
void set_tensor(Element first, const Eigen::Matrix2d& left, const Eigen::Matrix2d& right, Factors& m) {
  const auto at = static_cast<int>(index_of(first));
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      for (int k = 0; k < 2; ++k) {
        for (int l = 0; l < 2; ++l) m(at + 2 * i + j, at + 2 * k + l) = left(i, k) * right(l, j);
      }
    }
  }
}

/// Returns M with f' = M f, for the elements in their order.
Factors rotation_of(const StationRow& row, double azimuth_deg) {
  const ChannelAzimuths& at = row.azimuths;
  const auto basis = [&](double x_deg, double y_deg) { return directions(x_deg, y_deg, azimuth_deg); };
  const auto inverse = [&](const Eigen::Matrix2d& b) { return inverse_of(b, row.frequency_hz); };
  const Eigen::Matrix2d h = basis(at.hx_deg, at.hy_deg), t = basis(at.tipper_hx_deg, at.tipper_hy_deg),
                        r = basis(at.reference_hx_deg, at.reference_hy_deg);
  for (const Eigen::Matrix2d& of_input : {h, t, r}) (void)inverse(of_input);
  Factors m = Factors::Zero();
  set_tensor(Element::zxx, inverse(basis(at.ex_deg, at.ey_deg)), h, m);
  set_tensor(Element::mxx, inverse(basis(at.local_hx_deg, at.local_hy_deg)), r, m);
  m.block<2, 2>(4, 4) = t.transpose();
  return m.unaryExpr([](double factor) { return std::abs(factor) < negligible ? 0.0 : factor; });
}

/// Returns the estimates of fields in another frame; nothing where impedance and tipper have inputs of their
/// own.
std::optional<SignalAndNoise> rotated_estimates(const StationRow& row, double azimuth_deg) {
  const ChannelAzimuths& at = row.azimuths;
  if (!row.estimates || at.hx_deg != at.tipper_hx_deg || at.hy_deg != at.tipper_hy_deg) return {};
  const Eigen::Matrix2d h = directions(at.hx_deg, at.hy_deg, azimuth_deg);
  const Eigen::Matrix2d e = inverse_of(directions(at.ex_deg, at.ey_deg, azimuth_deg), row.frequency_hz);
  SignalAndNoise out = *row.estimates;
  out.inverse_signal = h.transpose() * out.inverse_signal * h;
  // Block by block: a channel that is missing stays missing alone.
  out.noise.topLeftCorner<2, 2>() = e * row.estimates->noise.topLeftCorner<2, 2>() * e.transpose();
  out.noise.topRightCorner<2, 1>() = e * row.estimates->noise.topRightCorner<2, 1>();
  out.noise.bottomLeftCorner<1, 2>() = row.estimates->noise.bottomLeftCorner<1, 2>() * e.transpose();
  return out;
}

ElementCovariance rotated(const ElementCovariance& c, const Factors& m) {
  ElementCovariance out = ElementCovariance::Zero();
  for (int a = 0; a < n_of_row; ++a) {
    for (int b = 0; b < n_of_row; ++b) {
      for (int k = 0; k < n_of_row; ++k) {
        for (int l = 0; l < n_of_row; ++l) {
          if (m(a, k) != 0.0 && m(b, l) != 0.0) out(a, b) += m(a, k) * c(k, l) * m(b, l);
        }
      }
    }
  }
  return out;
}

/// Scales √f out of impedances, so that what is interpolated is flat over a half-space.
double scale_at(double frequency_hz, Element element) {
  return is_impedance(element) ? std::sqrt(frequency_hz) : 1.0;
}

/// Puts one element at the frequency of `out` from its rows.
void interpolate(const std::vector<StationRow>& rows, Element element, StationRow& out) {
  constexpr std::ptrdiff_t largest_step = 2;  // neighbours, or one missing frequency between them
  const double f = out.frequency_hz;
  std::ptrdiff_t above = -1;
  for (std::ptrdiff_t i = 0; i < std::ssize(rows); ++i) {
    const StationRow& row = rows[static_cast<std::size_t>(i)];
    if (row.is_missing(element)) continue;
    if (std::abs(row.frequency_hz / f - 1.0) <= same_frequency) {
      out.values[element] = row.values[element];
      out.errors[element] = row.errors[element];
      return;
    }
    if (row.frequency_hz > f) {
      above = i;
      continue;
    }
    if (above < 0 || i - above > largest_step) return;
    const StationRow& upper = rows[static_cast<std::size_t>(above)];
    const double weight = std::log(f / row.frequency_hz) / std::log(upper.frequency_hz / row.frequency_hz);
    const double low = (1.0 - weight) * scale_at(f, element) / scale_at(row.frequency_hz, element);
    const double high = weight * scale_at(f, element) / scale_at(upper.frequency_hz, element);
    out.values[element] = low * row.values[element] + high * upper.values[element];
    // An interpolated value is no better known than the two it comes from.
    out.errors[element] = low * row.errors[element] + high * upper.errors[element];
    return;
  }
}

/// Takes one element out of a row, with its errors and correlations.
void remove(StationRow& row, Element element) {
  row.values[element] = {not_given, not_given};
  row.errors[element] = not_given;
  if (!row.covariance) return;
  const auto k = static_cast<Eigen::Index>(index_of(element));
  row.covariance->row(k).setConstant(Complex(not_given, 0.0));
  row.covariance->col(k).setConstant(Complex(not_given, 0.0));
}

int n_elements_of(const StationRow& row) {
  return static_cast<int>(
      std::ranges::count_if(all_elements, [&](Element element) { return !row.is_missing(element); }));
}

}  // namespace

std::string TurnLoss::in_words(double azimuth_deg) const {
  return fmt::format(
      "{} elements of {} stations are lost in the turn to x along {:g} degrees, which is one by {:.3g} "
      "degrees "
      "for station {}: an impedance turns with all four elements alone, a tipper with both",
      n_elements, n_stations, azimuth_deg, turn_deg, station);
}

ChannelAzimuths ChannelAzimuths::along(double x_deg) {
  const double y_deg = x_deg + 90.0;
  return {x_deg, y_deg, x_deg, y_deg, x_deg, y_deg, x_deg, y_deg, x_deg, y_deg};
}

Elements::Values StationRow::missing_values() {
  Elements::Values values;
  values.numbers.fill({not_given, not_given});
  return values;
}

Elements::Errors StationRow::missing_errors() {
  Elements::Errors errors;
  errors.numbers.fill(not_given);
  return errors;
}

bool StationRow::is_missing(Element element) const {
  const Complex value = values[element];
  return !(std::isfinite(value.real()) && std::isfinite(value.imag()));
}

bool StationRow::is_masked(Element element) const {
  return with_masked && is_missing(element) && !with_masked->is_missing(element);
}

void StationRow::mask(Element element) {
  if (is_missing(element)) return;
  if (!with_masked) with_masked = StationRow(*this);
  remove(*this, element);
}

void StationRow::unmask(Element element) {
  if (!is_masked(element)) return;
  StationRow back = *with_masked;
  const bool others =
      std::ranges::any_of(all_elements, [&](Element each) { return each != element && is_masked(each); });
  for (const Element each : all_elements)
    if (each != element && is_masked(each)) remove(back, each);
  if (others) back.with_masked = std::move(with_masked);
  *this = std::move(back);
}

ElementCovariance StationRow::full_covariance() const {
  if (covariance) return *covariance;
  ElementCovariance c = ElementCovariance::Zero();
  for (int k = 0; k < n_of_row; ++k) {
    const double s = errors.numbers[static_cast<std::size_t>(k)];
    c(k, k) = 2.0 * s * s;
  }
  return c;
}

void StationRow::set_estimates(const SignalAndNoise& known) {
  estimates = known;
  const auto has_noise = [&](int output) { return known.noise(output, output).real() > 0.0; };
  ElementCovariance c = full_covariance();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (i == j && !has_noise(i)) continue;
      const bool both = has_noise(i) && has_noise(j);
      for (int k = 0; k < 2; ++k)
        for (int l = 0; l < 2; ++l)
          c(2 * i + k, 2 * j + l) = both ? known.noise(i, j) * known.inverse_signal(k, l) : Complex(0.0, 0.0);
    }
    for (int k = 0; k < 2 && has_noise(i); ++k)  // half of a complex variance falls on each part
      errors.numbers[static_cast<std::size_t>(2 * i + k)] = std::sqrt(0.5 * c(2 * i + k, 2 * i + k).real());
  }
  covariance = c;
}

bool LocalFrame::is_same(const LocalFrame& other) const {
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return same(latitude_deg, other.latitude_deg) && same(longitude_deg, other.longitude_deg) &&
         azimuth_deg == other.azimuth_deg;
}

std::string StationData::name_in_file() const {
  const auto remark = std::ranges::find(remarks, RemarkKind::renamed, &Remark::kind);
  return remark == remarks.end() ? site.name : remark->stated;
}

bool StationData::has_name(const std::string& name) const {
  return site.name == name || std::find(other_names.begin(), other_names.end(), name) != other_names.end();
}

bool StationData::has_value() const {
  return !readings.empty() || std::ranges::any_of(rows, [](const StationRow& row) {
    return std::ranges::any_of(all_elements, [&](Element element) { return !row.is_missing(element); });
  });
}

int StationData::n_masked() const {
  auto n = std::ssize(masked_readings);
  for (const StationRow& row : rows)
    n += std::ranges::count_if(all_elements, [&](Element element) { return row.is_masked(element); });
  return static_cast<int>(n);
}

StationRow& StationData::row_at(double frequency_hz) {
  const auto found = std::find_if(rows.begin(), rows.end(), [frequency_hz](const StationRow& row) {
    return row.frequency_hz == frequency_hz;
  });
  if (found != rows.end()) return *found;
  rows.emplace_back().frequency_hz = frequency_hz;
  return rows.back();
}

bool StationData::add(const Reading& reading) {
  const bool is_there = std::any_of(readings.begin(), readings.end(), [&](const Reading& has) {
    return has.datum == reading.datum && has.frequency_hz == reading.frequency_hz;
  });
  if (!is_there) readings.push_back(reading);
  return !is_there;
}

void StationData::sort() {
  const auto higher = [](const auto& a, const auto& b) { return a.frequency_hz > b.frequency_hz; };
  std::stable_sort(rows.begin(), rows.end(), higher);
  std::stable_sort(readings.begin(), readings.end(), higher);
  std::stable_sort(masked_readings.begin(), masked_readings.end(), higher);
}

void StationData::drop_zero_tippers() {
  constexpr std::array tippers{Element::tzx, Element::tzy};
  const auto is_of_tipper = [&](const Reading& reading) {
    return all_tippers.contains(rule_of(reading.datum).needs);
  };
  int n_zero = 0;
  for (const StationRow& row : rows) {
    for (const Element element : tippers) {
      if (row.is_missing(element)) continue;
      if (row.values[element] != Complex(0.0, 0.0)) return;
      n_zero += 2;
    }
  }
  for (const Reading& reading : readings) {
    if (!is_of_tipper(reading) || std::isnan(reading.value)) continue;
    if (reading.value != 0.0) return;
    ++n_zero;
  }
  if (n_zero == 0) return;
  for (StationRow& row : rows) {
    for (const Element element : tippers) {
      row.values[element] = StationRow::missing_values()[element];
      row.errors[element] = StationRow::missing_errors()[element];
    }
  }
  std::erase_if(readings, is_of_tipper);
  zero_tippers = remark_on_zero_tippers(path, site.name, n_zero);
}

std::vector<Remark> StationData::all_remarks() const {
  std::vector<Remark> all = remarks;
  if (!zero_tippers.empty()) all.emplace_back(zero_tippers);
  return all;
}

std::string remark_on_zero_tippers(const std::string& where, const std::string& station, int n) {
  return fmt::format("{}: station {}: all {} numbers of the tipper are exactly 0; it counts as not measured",
                     where, station, n);
}

Remark impossible_angle(const std::string& named, std::string_view what, double value_deg,
                        double largest_deg) {
  return {fmt::format("{} is beyond {:g} degrees, which is impossible; taken as unknown", named, largest_deg),
          what == "latitude" ? RemarkKind::impossible_latitude : RemarkKind::impossible_longitude,
          fmt::format("{}", value_deg)};
}

std::string remark_on_negative_errors(const std::string& path, int n) {
  return fmt::format(
      "{}: {} data have a negative standard error, which counts as none: the error floors alone count there "
      "(floors of 0 mask them as bad_error)",
      path, n);
}

StationRow rotated(const StationRow& row, double azimuth_deg) {
  const Factors m = rotation_of(row, azimuth_deg);
  StationRow out = row;
  out.azimuths = ChannelAzimuths::along(azimuth_deg);
  if (row.with_masked) out.with_masked = rotated(*row.with_masked, azimuth_deg);
  if (m == Factors::Identity()) return out;
  for (int a = 0; a < n_of_row; ++a) {
    Complex& value = out.values.numbers[static_cast<std::size_t>(a)] = 0.0;
    for (int k = 0; k < n_of_row; ++k) {
      if (m(a, k) != 0.0) value += m(a, k) * row.values.numbers[static_cast<std::size_t>(k)];
    }
  }
  out.estimates = rotated_estimates(row, azimuth_deg);
  out.covariance = rotated(row.full_covariance(), m);
  for (int k = 0; k < n_of_row; ++k)
    out.errors.numbers[static_cast<std::size_t>(k)] = std::sqrt(0.5 * (*out.covariance)(k, k).real());
  return out;
}

void rotate_rows(StationData& station, double azimuth_deg) {
  try {
    for (StationRow& row : station.rows) row = rotated(row, azimuth_deg);
  } catch (const core::InvalidArgument& error) {
    throw core::InvalidArgument(core::Worded{
        fmt::format("{}: station {}: {}", station.path, station.site.name, error.what()), error.place()});
  }
}

void rotate_rows(StationData& station, double azimuth_deg, TurnLoss& loss) {
  const std::vector<StationRow> before = station.rows;
  rotate_rows(station, azimuth_deg);
  int n_lost = 0;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const int n = n_elements_of(before[k]) - n_elements_of(station.rows[k]);
    if (n > 0 && n_lost == 0 && !loss.is_any()) {
      loss.station = station.site.name;
      loss.turn_deg = std::remainder(azimuth_deg - before[k].azimuths.hx_deg, 360.0);
    }
    n_lost += std::max(n, 0);
  }
  loss.n_elements += n_lost;
  loss.n_stations += n_lost > 0 ? 1 : 0;
}

std::vector<StationRow> interpolated(const std::vector<StationRow>& rows,
                                     const std::vector<double>& frequencies_hz) {
  std::vector<double> list = frequencies_hz;
  std::sort(list.begin(), list.end(), std::greater<>());
  std::vector<StationRow> out;
  for (const double f : list) {
    if (!(f > 0.0) || !std::isfinite(f))
      throw core::InvalidArgument("mt::interpolated#wrong_frequency",
                                  "expected positive frequencies, got {} Hz; correct the list of frequencies",
                                  f);
    StationRow& row = out.emplace_back();
    row.frequency_hz = f;
    if (!rows.empty()) row.azimuths = rows.front().azimuths;
    for (const Element element : all_elements) interpolate(rows, element, row);
  }
  return out;
}

}  // namespace lodestone::physics::mt
