// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/sounding.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace lodestone::physics::mt {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Number {
  double value = nan, sigma = nan;
  [[nodiscard]] bool is_given() const { return std::isfinite(value); }
};

/// Data of one mode at one frequency.
struct ModeData {
  Number re, im, log10_rho, phase;
};

Number& slot(ModeData& data, Datum quantity) {
  const bool second = is_second_of_pair(quantity);
  if (rule_of(quantity).floor == FloorKind::impedance) return second ? data.im : data.re;
  return second ? data.phase : data.log10_rho;
}

/// Returns whether a sounding has the datum: apparent resistivity, phase and parts of Zxy and Zyx, and of the
/// determinant or the sum of squares, which stand for both.
bool is_of_sounding(Datum quantity) { return determines({Element::zxy, Element::zyx}, rule_of(quantity)); }

/// Makes apparent resistivity and phase of an impedance, with errors to first order.
void convert(ModeData& data, double frequency_hz) {
  if (!data.re.is_given() || !data.im.is_given()) return;
  const std::complex<double> z(data.re.value, data.im.value);
  const double of_part = std::hypot(data.re.sigma, data.im.sigma) / std::numbers::sqrt2;
  const auto as = [&](Datum datum) {
    const DatumRule& rule = rule_of(datum);
    return Number{value_of(rule, z, omega(frequency_hz)), std::abs(slope_of(rule, z)) * of_part};
  };
  data.log10_rho = as(Datum::log10_rho_xy);
  data.phase = as(Datum::phase_xy);
}

/// Folds a phase into the branch of Zxy on a layered earth.
void fold(Number& phase) {
  phase.value = difference(rule_of(Datum::phase_xy), phase.value, -*branch_of(rule_of(Datum::phase_yx)));
}

/// Returns the mean of what is given.
Number mean_of(const std::array<Number, 2>& numbers) {
  double sum = 0.0, variance = 0.0, n = 0.0;
  for (const Number& number : numbers) {
    if (!number.is_given()) continue;
    sum += number.value;
    variance += number.sigma * number.sigma;
    n += 1.0;
  }
  return n > 0.0 ? Number{sum / n, std::sqrt(variance) / n} : Number{};
}

}  // namespace

Eigen::Index Sounding::n_kept() const { return std::count(kept.begin(), kept.end(), std::uint8_t{1}); }

core::DataSet Sounding::data_set() const {
  const std::size_t n = frequencies_hz.size();
  core::DataSetParts parts{.observed = value,
                           .sigma = sigma,
                           .turn = Eigen::VectorXd(value.size()),
                           .reasons = {"used", "masked"}};
  core::Table::Texts quantity;
  core::Table::Numbers period_s;
  for (std::size_t row = 0; row < 2 * n; ++row) {
    const DatumRule& rule = rule_of(row < n ? Datum::log10_rho_xy : Datum::phase_xy);
    parts.turn[static_cast<Eigen::Index>(row)] = rule.turn;
    parts.reason.push_back(kept[row] != 0 ? 0 : 1);
    quantity.emplace_back(rule.name);
    period_s.push_back(1.0 / frequencies_hz[row % n]);
  }
  parts.key.add_texts("quantity", std::move(quantity));
  parts.key.add_numbers("period_s", "s", std::move(period_s));
  return core::DataSet(std::move(parts));
}

Sounding sounding_of(const Observations& data, int station, SoundingMode mode) {
  const Survey& survey = data.survey;
  if (station < 0 || station >= static_cast<int>(survey.stations.size()))
    throw core::ShapeError("mt::sounding_of#wrong_station", "expected a station below {}, got {}",
                           survey.stations.size(), station);
  const std::size_t n = survey.frequencies_hz.size();
  std::vector<std::array<ModeData, 2>> measured(n);
  std::vector<ModeData> effective(n);
  for (std::size_t k = 0; k < survey.keys.size(); ++k) {
    const DatumKey& key = survey.keys[k];
    if (key.station != station || data.reason[k] != MaskReason::kept || !is_of_sounding(key.quantity))
      continue;
    const auto of_mode = mode_of(rule_of(key.quantity));
    const auto f = static_cast<std::size_t>(key.frequency);
    const auto i = static_cast<Eigen::Index>(k);
    slot(of_mode ? measured[f][static_cast<std::size_t>(*of_mode)] : effective[f], key.quantity) = {
        data.value[i], data.sigma[i]};
  }
  Sounding sounding{
      survey.frequencies_hz, Eigen::VectorXd::Constant(2 * static_cast<Eigen::Index>(n), nan), {}, {}};
  sounding.sigma = sounding.value;
  sounding.kept.assign(2 * n, 0);
  for (std::size_t f = 0; f < n; ++f) {
    auto& [te, tm] = measured[f];
    convert(te, survey.frequencies_hz[f]);
    convert(tm, survey.frequencies_hz[f]);
    fold(tm.phase);
    if (mode == SoundingMode::te) tm = {};
    if (mode == SoundingMode::tm) te = {};
    std::array both{mean_of({te.log10_rho, tm.log10_rho}), mean_of({te.phase, tm.phase})};
    if (effective[f].log10_rho.is_given()) both[0] = effective[f].log10_rho;
    if (effective[f].phase.is_given()) both[1] = effective[f].phase;
    for (std::size_t part = 0; part < 2; ++part) {
      const std::size_t row = part * n + f;
      sounding.value[static_cast<Eigen::Index>(row)] = both[part].value;
      sounding.sigma[static_cast<Eigen::Index>(row)] = both[part].sigma;
      sounding.kept[row] = both[part].is_given() ? 1 : 0;
    }
  }
  return sounding;
}

}  // namespace lodestone::physics::mt
