// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/distortion.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/sparse_linearization.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <map>
#include <memory>
#include <utility>

namespace lodestone::physics::mt {
namespace {

bool has_shift(Datum quantity) {
  const FloorKind kind = rule_of(quantity).floor;
  return kind == FloorKind::log10_rho || kind == FloorKind::impedance;
}

}  // namespace

std::vector<StaticShiftKey> static_shift_keys(const Survey& survey, const std::vector<Mode>& modes) {
  std::vector<StaticShiftKey> result;
  for (const Mode mode : modes) {
    std::vector<bool> shifted(survey.stations.size(), false);
    for (const DatumKey& key : survey.keys) {
      if (has_shift(key.quantity) && mode_of(key.quantity) == mode)
        shifted[static_cast<std::size_t>(key.station)] = true;
    }
    for (std::size_t station = 0; station < shifted.size(); ++station) {
      if (shifted[station]) result.push_back({mode, static_cast<int>(station)});
    }
  }
  return result;
}

Distortion::Distortion(const ResponseLayout& layout, const std::vector<StaticShiftKey>& keys)
    : n_shifts_(std::ssize(keys)) {
  std::map<std::pair<Mode, int>, Eigen::Index> shifts;
  for (const StaticShiftKey& key : keys) {
    const auto next = static_cast<Eigen::Index>(shifts.size());
    if (!shifts.emplace(std::pair(key.mode, key.station), next).second)
      throw core::InvalidArgument(
          "mt::Distortion#repeated_shift",
          "expected each mode of a station once, but mode {} of station {} is repeated", core::word(key.mode),
          key.station);
  }
  for (const auto& [element, frequency, station] : layout.keys()) {
    const auto found = is_tipper(element) ? shifts.end() : shifts.find({rule_of(element).mode, station});
    shift_of_.push_back(found == shifts.end() ? -1 : found->second);
  }
}

Eigen::VectorXd Distortion::factors(const core::ConstVectorRef& x) const {
  return Eigen::VectorXd::NullaryExpr(std::ssize(shift_of_), [&](Eigen::Index k) {
    const Eigen::Index shift = shift_of_[static_cast<std::size_t>(k)];
    return shift < 0 ? 1.0 : std::pow(10.0, 0.5 * x[size_out() + shift]);
  });
}

Eigen::VectorXd Distortion::do_value(const core::ConstVectorRef& x) const {
  const Eigen::VectorXd factor = factors(x);
  Eigen::VectorXd value(size_out());
  for (Eigen::Index k = 0; k < factor.size(); ++k) value.segment<2>(2 * k) = factor[k] * x.segment<2>(2 * k);
  return value;
}

std::unique_ptr<core::Linearization> Distortion::do_linearize(const core::ConstVectorRef& x) const {
  const Eigen::VectorXd factor = factors(x), value = do_value(x);
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index row = 0; row < size_out(); ++row) {
    const int at = static_cast<int>(row);
    const Eigen::Index shift = shift_of_[static_cast<std::size_t>(row / 2)];
    entries.emplace_back(at, at, factor[row / 2]);
    if (shift >= 0) entries.emplace_back(at, static_cast<int>(size_out() + shift), 0.5 * ln10 * value[row]);
  }
  core::SparseRows jacobian(size_out(), size_in());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return std::make_unique<SparseLinearization>(value, std::move(jacobian));
}

}  // namespace lodestone::physics::mt
