// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/distortion.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/sparse_linearization.hpp"
#include "physics/mt/units.hpp"

#include <array>
#include <cmath>
#include <memory>
#include <set>

namespace lodestone::physics::mt {
namespace {

constexpr const char* component = "mt::Distortion";
constexpr std::array<std::array<Element, 2>, 2> tensor{
    {{Element::zxx, Element::zxy}, {Element::zyx, Element::zyy}}};

/// Row and column of an impedance in its tensor.
std::size_t row_of(Element element) { return index_of(element) / 2; }
std::size_t column_of(Element element) { return index_of(element) % 2; }

/// Returns the first parameter of each station. errors: InvalidArgument when a station is repeated.
std::map<int, Eigen::Index> parameters_by_station(const std::vector<int>& stations) {
  constexpr Eigen::Index per_station = 4;
  std::map<int, Eigen::Index> first;
  for (const int station : stations) {
    if (!first.emplace(station, per_station * static_cast<Eigen::Index>(first.size())).second)
      throw core::InvalidArgument(component, "expected each station once, but station {} is repeated",
                                  station);
  }
  return first;
}

}  // namespace

Distortion::Distortion(Eigen::Index n_simulated, Eigen::Index n_distorted, Eigen::Index n_parameters,
                       Factor factor)
    : n_simulated_(n_simulated), n_distorted_(n_distorted), n_parameters_(n_parameters), factor_(factor) {}

core::MapPtr Distortion::static_shifts(const ResponseLayout& layout,
                                       const std::vector<StaticShiftKey>& keys) {
  std::map<std::pair<Mode, int>, Eigen::Index> parameter;
  for (const StaticShiftKey& key : keys) {
    if (!parameter.emplace(std::pair(key.mode, key.station), static_cast<Eigen::Index>(parameter.size()))
             .second)
      throw core::InvalidArgument(
          component, "expected each mode of a station once, but station {} is repeated", key.station);
  }
  const std::shared_ptr<Distortion> map(
      new Distortion(layout.size(), layout.size(), std::ssize(keys), Factor::power_of_ten));
  for (std::size_t k = 0; k < layout.keys().size(); ++k) {
    const auto& [element, frequency, station] = layout.keys()[k];
    const auto found =
        is_tipper(element) ? parameter.end() : parameter.find({rule_of(element).mode, station});
    const auto at = static_cast<Eigen::Index>(k);
    map->terms_.push_back({at, at, found == parameter.end() ? -1 : found->second, 1.0});
  }
  return map;
}

core::MapPtr Distortion::matrices(const ResponseLayout& simulated, const ResponseLayout& distorted,
                                  const std::vector<int>& stations) {
  const auto first = parameters_by_station(stations);
  const std::shared_ptr<Distortion> map(new Distortion(
      simulated.size(), distorted.size(), 4 * static_cast<Eigen::Index>(first.size()), Factor::sum));
  for (std::size_t k = 0; k < distorted.keys().size(); ++k) {
    const auto& [element, frequency, station] = distorted.keys()[k];
    const auto at = static_cast<Eigen::Index>(k);
    const auto matrix = is_tipper(element) ? first.end() : first.find(station);
    bool has_source = false;
    const auto add = [&, f = frequency, s = station](Element source, Eigen::Index parameter, double unit) {
      const Eigen::Index from = simulated.find({source, f, s});
      if (from >= 0) map->terms_.push_back({at, from, parameter, unit});
      has_source = has_source || from >= 0;
    };
    if (matrix == first.end()) {
      add(element, -1, 1.0);
    } else {
      for (std::size_t row = 0; row < 2; ++row) {
        const auto entry = static_cast<Eigen::Index>(2 * row_of(element) + row);
        add(tensor[row][column_of(element)], matrix->second + entry, row == row_of(element) ? 1.0 : 0.0);
      }
    }
    if (!has_source) {
      throw core::InvalidArgument(component,
                                  "{} of station {} has no simulated response that it could come from; mask "
                                  "the data that need it",
                                  rule_of(element).name, station);
    }
  }
  return map;
}

double Distortion::factor_of(const Term& term, const core::ConstVectorRef& x) const {
  if (term.parameter < 0) return term.unit;
  const double s = x[n_simulated_ + term.parameter];
  return factor_ == Factor::power_of_ten ? std::pow(10.0, 0.5 * s) : term.unit + s;
}

double Distortion::slope_of(const Term& term, const core::ConstVectorRef& x) const {
  if (term.parameter < 0) return 0.0;
  return factor_ == Factor::power_of_ten ? 0.5 * ln10 * factor_of(term, x) : 1.0;
}

Eigen::VectorXd Distortion::do_value(const core::ConstVectorRef& x) const {
  Eigen::VectorXd value = Eigen::VectorXd::Zero(size_out());
  for (const Term& term : terms_)
    value.segment<2>(2 * term.distorted) += factor_of(term, x) * x.segment<2>(2 * term.simulated);
  return value;
}

std::unique_ptr<core::Linearization> Distortion::do_linearize(const core::ConstVectorRef& x) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (const Term& term : terms_) {
    const double factor = factor_of(term, x), slope = slope_of(term, x);
    for (Eigen::Index part = 0; part < 2; ++part) {
      const auto row = static_cast<int>(2 * term.distorted + part),
                 column = static_cast<int>(2 * term.simulated + part);
      entries.emplace_back(row, column, factor);
      if (term.parameter >= 0)
        entries.emplace_back(row, static_cast<int>(n_simulated_ + term.parameter), slope * x[column]);
    }
  }
  Eigen::SparseMatrix<double> jacobian(size_out(), size_in());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return std::make_unique<SparseLinearization>(do_value(x), std::move(jacobian));
}

}  // namespace lodestone::physics::mt
