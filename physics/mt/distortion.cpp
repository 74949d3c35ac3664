// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/distortion.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/sparse_linearization.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
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

int row_of(Element impedance) { return static_cast<int>(index_of(impedance)) / 2; }
int column_of(Element impedance) { return static_cast<int>(index_of(impedance)) % 2; }
Element impedance(int row, int column) { return static_cast<Element>(2 * row + column); }

/// Returns C_ij of an unknown p.
double entry_of(DistortionKind kind, bool is_diagonal, double p) {
  if (kind == DistortionKind::static_shift) return std::pow(10.0, 0.5 * p);
  return is_diagonal ? 1.0 + p : p;
}

/// Returns the place of each key, and checks them.
std::map<DistortionKey, Eigen::Index> places_of(const DistortionUnknowns& unknowns) {
  std::map<DistortionKey, Eigen::Index> places;
  for (const DistortionKey& key : unknowns.keys) {
    if (unknowns.kind == DistortionKind::static_shift && key.row != key.column)
      throw core::InvalidArgument("mt::Distortion#beside_diagonal",
                                  "expected static shifts on the diagonal, got row {} and column {} of "
                                  "station {}; full matrices have the others",
                                  key.row, key.column, key.station);
    if (!places.emplace(key, std::ssize(places)).second)
      throw core::InvalidArgument("mt::Distortion#repeated_entry",
                                  "expected each entry of a station once, but row {} and column {} of "
                                  "station {} are repeated",
                                  key.row, key.column, key.station);
  }
  return places;
}

}  // namespace

DistortionUnknowns static_shifts(const Survey& survey, const std::vector<Mode>& modes) {
  DistortionUnknowns out{DistortionKind::static_shift, {}};
  for (const Mode mode : modes) {
    std::vector<bool> shifted(survey.stations.size(), false);
    for (const DatumKey& key : survey.keys) {
      if (has_shift(key.quantity) && mode_of(rule_of(key.quantity)) == mode)
        shifted[static_cast<std::size_t>(key.station)] = true;
    }
    for (std::size_t station = 0; station < shifted.size(); ++station) {
      if (shifted[station]) out.keys.push_back({static_cast<int>(station), row_of(mode), row_of(mode)});
    }
  }
  return out;
}

/// A real matrix in front of Z drops out of X⁻¹Y, and out of the phase of det Z.
bool is_distorted(Datum quantity) {
  const DatumRule& rule = rule_of(quantity);
  return all_impedances.contains(rule.needs) && rule.floor != FloorKind::phase_tensor &&
         quantity != datum("phase_det");
}

DistortionUnknowns full_distortion(const Survey& survey) {
  DistortionUnknowns out{DistortionKind::full, {}};
  std::vector<bool> changed(survey.stations.size(), false);
  for (const DatumKey& key : survey.keys) {
    if (is_distorted(key.quantity)) changed[static_cast<std::size_t>(key.station)] = true;
  }
  for (std::size_t station = 0; station < changed.size(); ++station) {
    if (!changed[station]) continue;
    for (const int row : {0, 1}) {
      for (const int column : {0, 1}) out.keys.push_back({static_cast<int>(station), row, column});
    }
  }
  return out;
}

std::vector<std::pair<int, Eigen::Matrix2d>> distortion_matrices(const DistortionUnknowns& unknowns,
                                                                 const Eigen::VectorXd& p) {
  std::map<int, Eigen::Matrix2d> matrices;
  for (std::size_t k = 0; k < unknowns.keys.size(); ++k) {
    const auto& [station, row, column] = unknowns.keys[k];
    Eigen::Matrix2d& c = matrices.try_emplace(station, Eigen::Matrix2d::Identity()).first->second;
    c(row, column) = entry_of(unknowns.kind, row == column, p[static_cast<Eigen::Index>(k)]);
  }
  return {matrices.begin(), matrices.end()};
}

Survey with_mixed_responses(Survey survey, const DistortionUnknowns& unknowns) {
  if (unknowns.kind != DistortionKind::full || unknowns.empty()) return survey;
  const ResponseLayout layout = needed_responses(survey);
  for (const auto& [element, frequency, station] : layout.keys()) {
    if (!is_impedance(element)) continue;
    const Element other = impedance(1 - row_of(element), column_of(element));
    if (layout.find({other, frequency, station}) < 0)
      survey.keys.push_back({real_part_of(other), frequency, station});
  }
  return survey;
}

GroomBaileyFactors groom_bailey(const Eigen::Matrix2d& c) {
  // The columns of T S A point along arctan t + arctan e from x, and along arctan e − arctan t from y to x.
  const double of_x = std::atan2(c(1, 0), c(0, 0)), of_y = std::atan2(c(0, 1), c(1, 1));
  const double norm_x = c.col(0).norm(), norm_y = c.col(1).norm();
  return {.gain = c.norm() / std::numbers::sqrt2,
          .twist_deg = 0.5 * (of_x - of_y) * 180.0 / std::numbers::pi,
          .shear_deg = 0.5 * (of_x + of_y) * 180.0 / std::numbers::pi,
          .anisotropy = (norm_x - norm_y) / (norm_x + norm_y)};
}

Distortion::Distortion(const ResponseLayout& layout, const DistortionUnknowns& unknowns)
    : kind_(unknowns.kind), n_unknowns_(unknowns.size()) {
  const std::map<DistortionKey, Eigen::Index> places = places_of(unknowns);
  for (const auto& [element, frequency, station] : layout.keys()) {
    std::vector<Term>& sum = sums_.emplace_back();
    if (!is_impedance(element)) {
      sum.push_back({std::ssize(sums_) - 1, -1, true});
      continue;
    }
    const int row = row_of(element);
    for (const int column : {0, 1}) {
      const auto place = places.find({station, row, column});
      const bool is_unknown = place != places.end();
      if (!is_unknown && row != column) continue;
      const Element source = impedance(column, column_of(element));
      const Eigen::Index response = layout.find({source, frequency, station});
      if (response < 0)
        throw core::InvalidArgument("mt::Distortion#not_predicted",
                                    "expected {} beside {} of station {} among the responses, which its "
                                    "matrix mixes; make the layout of with_mixed_responses",
                                    rule_of(source).name, rule_of(element).name, station);
      sum.push_back({response, is_unknown ? place->second : -1, row == column});
    }
  }
}

double Distortion::entry(const Term& term, const core::ConstVectorRef& x) const {
  return term.unknown < 0 ? 1.0 : entry_of(kind_, term.is_diagonal, x[size_out() + term.unknown]);
}

Eigen::VectorXd Distortion::do_value(const core::ConstVectorRef& x) const {
  Eigen::VectorXd value = Eigen::VectorXd::Zero(size_out());
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    auto out = value.segment<2>(2 * static_cast<Eigen::Index>(k));
    for (const Term& term : sums_[k]) out += entry(term, x) * x.segment<2>(2 * term.response);
  }
  return value;
}

std::unique_ptr<core::Linearization> Distortion::do_linearize(const core::ConstVectorRef& x) const {
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](Eigen::Index row, Eigen::Index column, double value) {
    entries.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
  };
  for (std::size_t k = 0; k < sums_.size(); ++k) {
    for (const Term& term : sums_[k]) {
      const double c = entry(term, x);
      for (const Eigen::Index part : {0, 1}) {
        const Eigen::Index row = 2 * static_cast<Eigen::Index>(k) + part, from = 2 * term.response + part;
        add(row, from, c);
        if (term.unknown < 0) continue;
        const double slope = kind_ == DistortionKind::full ? x[from] : 0.5 * ln10 * (c * x[from]);
        add(row, size_out() + term.unknown, slope);
      }
    }
  }
  core::SparseRows jacobian(size_out(), size_in());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return std::make_unique<SparseLinearization>(do_value(x), std::move(jacobian));
}

}  // namespace lodestone::physics::mt
