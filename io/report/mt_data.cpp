// SPDX-License-Identifier: Apache-2.0
#include "io/report/mt_data.hpp"

#include "engine/core/data_set.hpp"
#include "engine/core/error.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lodestone::io::report {

namespace mt = physics::mt;
using mt::Datum;

namespace {

constexpr double missing = mt::not_given;

constexpr double turn_deg = 360.0;

/// The values on an axis of their own.
enum class Kind { rho, phase, plain };

/// A row of what is shown: its names, the datum that holds it, and that whose rule makes it of the parts of
/// an impedance. Apparent resistivity and phase of xx and yy are no data, and are made by the rules of xy.
struct Row {
  const char *title, *slug;
  Kind kind;
  std::optional<Datum> direct;
  Datum rule, real, imaginary;
};

/// Returns a row of a datum that is shown as it is, not made of parts.
constexpr Row single(const char* title, const char* slug, Kind kind, Datum datum) {
  return {title, slug, kind, datum, datum, datum, datum};
}

constexpr Row plain(const char* title, const char* slug, Datum datum) {
  return single(title, slug, Kind::plain, datum);
}

/// In the order of `Shown`.
constexpr std::array rows{
    Row{"TE apparent resistivity", "te_apparent_resistivity", Kind::rho, Datum::log10_rho_xy,
        Datum::log10_rho_xy, Datum::zxy_re, Datum::zxy_im},
    Row{"TE phase", "te_phase", Kind::phase, Datum::phase_xy, Datum::phase_xy, Datum::zxy_re, Datum::zxy_im},
    Row{"TM apparent resistivity", "tm_apparent_resistivity", Kind::rho, Datum::log10_rho_yx,
        Datum::log10_rho_yx, Datum::zyx_re, Datum::zyx_im},
    Row{"TM phase", "tm_phase", Kind::phase, Datum::phase_yx, Datum::phase_yx, Datum::zyx_re, Datum::zyx_im},
    plain("Tipper, real part", "tipper_real", Datum::tzy_re),
    plain("Tipper, imaginary part", "tipper_imaginary", Datum::tzy_im),
    Row{"xx apparent resistivity",
        "xx_apparent_resistivity",
        Kind::rho,
        {},
        Datum::log10_rho_xy,
        mt::datum("zxx_re"),
        mt::datum("zxx_im")},
    Row{"xx phase", "xx_phase", Kind::phase, {}, Datum::phase_xy, mt::datum("zxx_re"), mt::datum("zxx_im")},
    Row{"yy apparent resistivity",
        "yy_apparent_resistivity",
        Kind::rho,
        {},
        Datum::log10_rho_xy,
        mt::datum("zyy_re"),
        mt::datum("zyy_im")},
    Row{"yy phase", "yy_phase", Kind::phase, {}, Datum::phase_xy, mt::datum("zyy_re"), mt::datum("zyy_im")},
    plain("Tzx, real part", "tzx_real", mt::datum("tzx_re")),
    plain("Tzx, imaginary part", "tzx_imaginary", mt::datum("tzx_im")),
    plain("Phase tensor, xx", "phase_tensor_xx", mt::datum("phase_tensor_xx")),
    plain("Phase tensor, xy", "phase_tensor_xy", mt::datum("phase_tensor_xy")),
    plain("Phase tensor, yx", "phase_tensor_yx", mt::datum("phase_tensor_yx")),
    plain("Phase tensor, yy", "phase_tensor_yy", mt::datum("phase_tensor_yy")),
    single("Apparent resistivity of the determinant", "determinant_apparent_resistivity", Kind::rho,
           mt::datum("log10_rho_det")),
    single("Phase of the determinant", "determinant_phase", Kind::phase, mt::datum("phase_det"))};
static_assert(rows.size() == all_shown.size());

const Row& row_of(Shown shown) { return rows[static_cast<std::size_t>(shown)]; }
const mt::DatumRule& rule_of(Shown shown) { return mt::rule_of(row_of(shown).rule); }
bool has_impedance_source(Shown shown) { return row_of(shown).kind != Kind::plain; }

double folded_deg(double degrees, Shown shown) {
  const double branch_rad = branch_of(rule_of(shown)).value_or(0.0);
  return core::wrapped(degrees + branch_rad * mt::deg_per_rad, turn_deg);
}

void add_residual(ShownDatum& datum, Shown shown) {
  const double difference = datum.observed - datum.predicted;
  datum.residual =
      datum.kept ? core::wrapped(difference, rule_of(shown).turn * mt::deg_per_rad) / datum.sigma : missing;
}

}  // namespace

std::string title_of(Shown shown) { return row_of(shown).title; }
std::string slug_of(Shown shown) { return row_of(shown).slug; }
bool is_phase(Shown shown) { return row_of(shown).kind == Kind::phase; }
bool is_rho(Shown shown) { return row_of(shown).kind == Kind::rho; }

ShownData::ShownData(mt::Observations data, Eigen::VectorXd predicted, Places places)
    : data_(std::move(data)),
      predicted_(std::move(predicted)),
      places_(places),
      n_frequencies_(static_cast<int>(data_.survey.frequencies_hz.size())),
      n_stations_(static_cast<int>(data_.survey.stations.size())) {
  const auto n = std::ssize(data_.survey.keys);
  if (data_.value.size() != n || data_.sigma.size() != n || std::ssize(data_.reason) != n ||
      predicted_.size() != n) {
    throw core::ShapeError("io::report#wrong_size",
                           "expected {} values, errors, masks and predictions, got {}, {}, {}, {}", n,
                           data_.value.size(), data_.sigma.size(), data_.reason.size(), predicted_.size());
  }
  keys_.assign(mt::n_datum_rows * static_cast<std::size_t>(n_frequencies_ * n_stations_), -1);
  for (std::size_t k = 0; k < data_.survey.keys.size(); ++k) {
    const mt::DatumKey& at = data_.survey.keys[k];
    keys_[static_cast<std::size_t>(
        (static_cast<int>(at.quantity) * n_frequencies_ + at.frequency) * n_stations_ + at.station)] =
        static_cast<int>(k);
  }
}

int ShownData::key(Datum quantity, int frequency, int station) const {
  return keys_[static_cast<std::size_t>(
      (static_cast<int>(quantity) * n_frequencies_ + frequency) * n_stations_ + station)];
}

bool ShownData::has(Shown shown) const {
  const Row& row = row_of(shown);
  return std::ranges::any_of(data_.survey.keys, [&](const mt::DatumKey& at) {
    return at.quantity == row.direct || (has_impedance_source(shown) && at.quantity == row.real);
  });
}

ShownDatum ShownData::at(Shown shown, int frequency, int station) const {
  const Row& row = row_of(shown);
  const int direct_key = row.direct ? key(*row.direct, frequency, station) : -1;
  if (direct_key >= 0) return direct(direct_key, shown);
  const int real = key(row.real, frequency, station), imaginary = key(row.imaginary, frequency, station);
  if (has_impedance_source(shown) && real >= 0 && imaginary >= 0)
    return from_impedance(real, imaginary, shown, frequency);
  return {missing, missing, missing, false, false, missing};
}

ShownDatum ShownData::direct(int key, Shown shown) const {
  const mt::Observations& data = data_;
  const auto at = static_cast<std::size_t>(key);
  ShownDatum datum{data.value[key],
                   data.sigma[key],
                   predicted_[key],
                   data.reason[at] == mt::MaskReason::kept,
                   at < data.interpolated.size() && data.interpolated[at] != 0,
                   missing};
  if (is_phase(shown)) {
    datum.observed = folded_deg(datum.observed * mt::deg_per_rad, shown);
    datum.predicted = folded_deg(datum.predicted * mt::deg_per_rad, shown);
    datum.sigma *= mt::deg_per_rad;
  }
  add_residual(datum, shown);
  return datum;
}

ShownDatum ShownData::from_impedance(int real, int imaginary, Shown shown, int frequency) const {
  const mt::Observations& data = data_;
  const auto at_re = static_cast<std::size_t>(real), at_im = static_cast<std::size_t>(imaginary);
  const double frequency_hz = data.survey.frequencies_hz[static_cast<std::size_t>(frequency)];
  const mt::Complex observed(data.value[real], data.value[imaginary]),
      predicted(predicted_[real], predicted_[imaginary]);
  const mt::DatumRule& rule = rule_of(shown);
  const double sigma =
      0.5 * (data.sigma[real] + data.sigma[imaginary]) * std::abs(mt::slope_of(rule, observed));
  ShownDatum datum{missing,
                   missing,
                   missing,
                   data.reason[at_re] == mt::MaskReason::kept && data.reason[at_im] == mt::MaskReason::kept,
                   at_re < data.interpolated.size() && data.interpolated[at_re] != 0,
                   missing};
  if (is_rho(shown)) {
    datum.observed = mt::value_of(rule, observed, mt::omega(frequency_hz));
    datum.predicted = mt::value_of(rule, predicted, mt::omega(frequency_hz));
    datum.sigma = sigma;
  } else {
    datum.observed =
        folded_deg(mt::value_of(rule, observed, mt::omega(frequency_hz)) * mt::deg_per_rad, shown);
    datum.predicted =
        folded_deg(mt::value_of(rule, predicted, mt::omega(frequency_hz)) * mt::deg_per_rad, shown);
    datum.sigma = sigma * mt::deg_per_rad;
  }
  add_residual(datum, shown);
  return datum;
}

double ShownData::rms(int station) const {
  inversion::RmsSum sum;
  for (std::size_t k = 0; k < data_.survey.keys.size(); ++k) {
    const mt::DatumKey& at = data_.survey.keys[k];
    const auto row = static_cast<Eigen::Index>(k);
    if (at.station == station && data_.reason[k] == mt::MaskReason::kept)
      sum.add(mt::difference(mt::rule_of(at.quantity), data_.value[row], predicted_[row]) / data_.sigma[row]);
  }
  return sum.rms();
}

std::vector<int> ShownData::frequencies_by_period() const {
  std::vector<int> order(static_cast<std::size_t>(n_frequencies_));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return period_s(a) < period_s(b); });
  return order;
}

std::vector<int> ShownData::used_frequencies() const {
  std::vector<bool> is_used(static_cast<std::size_t>(n_frequencies_), false);
  for (std::size_t k = 0; k < data_.survey.keys.size(); ++k) {
    if (data_.reason[k] == mt::MaskReason::kept)
      is_used[static_cast<std::size_t>(data_.survey.keys[k].frequency)] = true;
  }
  const std::vector<int> all = frequencies_by_period();
  const auto used = [&](int frequency) { return is_used[static_cast<std::size_t>(frequency)]; };
  const auto first = std::ranges::find_if(all, used);
  if (first == all.end()) return all;
  return {first, std::find_if(all.rbegin(), all.rend(), used).base()};
}

std::vector<int> ShownData::stations_along() const {
  const auto& stations = data_.survey.stations;
  std::vector<int> order(stations.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return stations[static_cast<std::size_t>(a)].y_m < stations[static_cast<std::size_t>(b)].y_m;
  });
  return order;
}

double ShownData::period_s(int frequency) const {
  return 1.0 / data_.survey.frequencies_hz[static_cast<std::size_t>(frequency)];
}

std::optional<ShownData> shown_data(const inversion::Outcome& outcome) {
  std::optional<mt::Observations> data = inversion::mt::observations(outcome.data, outcome.sites);
  if (!data || data->survey.stations.empty() || data->survey.frequencies_hz.empty()) return {};
  const bool on_map = outcome.model.earth.grid.dimension() == 3;
  return ShownData(std::move(*data), outcome.predicted, on_map ? Places::map : Places::line);
}

}  // namespace lodestone::io::report
