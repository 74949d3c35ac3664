// SPDX-License-Identifier: Apache-2.0
// Symbols: f responses, a slope of a datum, d value = Re Σ a df = Σ (Re a dRe f − Im a dIm f).
#include "physics/mt/transform.hpp"

#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/sparse_linearization.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <memory>
#include <numeric>

namespace lodestone::physics::mt {

Transform::Transform(const Survey& survey, const ResponseLayout& layout) : size_in_(layout.size()) {
  survey.validate();
  for (const DatumKey& key : survey.keys) {
    const auto frequency = static_cast<std::size_t>(key.frequency);
    Row row{&rule_of(key.quantity), omega(survey.frequencies_hz[frequency]), {}};
    for (const Element element : all_elements) {
      if (!row.rule->needs.contains(element)) continue;
      row.at[element] = layout.find({element, key.frequency, key.station});
      if (row.at[element] < 0 && !layout.is_zero(element)) {
        throw core::InvalidArgument("mt::Transform#not_predicted",
                                    "{} at station {} and {:.6g} Hz is made of {}, which the simulation does "
                                    "not predict; mask the datum",
                                    row.rule->name,
                                    survey.stations[static_cast<std::size_t>(key.station)].name,
                                    survey.frequencies_hz[frequency], rule_of(element).name);
      }
    }
    rows_.push_back(row);
  }
}

Elements::Values Transform::values_of(const Row& row, const core::ConstVectorRef& responses) {
  Elements::Values f;
  for (const Element element : all_elements) {
    if (!row.rule->needs.contains(element)) continue;
    const Eigen::Index at = 2 * row.at[element];
    if (at >= 0) f[element] = {responses[at], responses[at + 1]};
  }
  return f;
}

Eigen::VectorXd Transform::do_value(const core::ConstVectorRef& responses) const {
  Eigen::VectorXd value(size_out());
  for (std::size_t i = 0; i < rows_.size(); ++i)
    value[static_cast<Eigen::Index>(i)] =
        rows_[i].rule->value(values_of(rows_[i], responses), rows_[i].omega);
  return value;
}

std::unique_ptr<core::Linearization> Transform::do_linearize(const core::ConstVectorRef& responses) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    const Elements::Values a = row.rule->slope(values_of(row, responses));
    for (const Element element : all_elements) {
      if (!row.rule->needs.contains(element) || row.at[element] < 0) continue;
      const int datum = static_cast<int>(i), at = static_cast<int>(2 * row.at[element]);
      entries.emplace_back(datum, at, a[element].real());
      entries.emplace_back(datum, at + 1, -a[element].imag());
    }
  }
  core::SparseRows jacobian(size_out(), size_in());
  jacobian.setFromTriplets(entries.begin(), entries.end());
  return std::make_unique<SparseLinearization>(do_value(responses), std::move(jacobian));
}

std::vector<Eigen::Index> predictable_rows(const Survey& survey, Elements predicted) {
  std::vector<Eigen::Index> rows;
  for (std::size_t k = 0; k < survey.keys.size(); ++k) {
    if (determines(predicted, rule_of(survey.keys[k].quantity))) rows.push_back(static_cast<Eigen::Index>(k));
  }
  return rows;
}

Survey survey_of(const Survey& survey, const std::vector<Eigen::Index>& rows) {
  Survey out{survey.stations, survey.frequencies_hz, {}};
  for (const Eigen::Index row : rows) out.keys.push_back(survey.keys[static_cast<std::size_t>(row)]);
  return out;
}

void require_predictable(const Survey& survey, Elements predicted) {
  for (const DatumKey& key : survey.keys) {
    const DatumRule& rule = rule_of(key.quantity);
    if (determines(predicted, rule)) continue;
    std::string needs, available;
    for (const Element element : all_elements) {
      if (rule.needs.contains(element)) needs += fmt::format(" {}", rule_of(element).name);
      if (predicted.contains(element)) available += fmt::format(" {}", rule_of(element).name);
    }
    throw core::InvalidArgument("mt::require_predictable#not_predicted",
                                "expected data that are made of{}, got {}, which is made of{}; select other "
                                "data, or mask it",
                                available, rule.name, needs);
  }
}

core::MapPtr data_map(core::MapPtr responses, const ResponseLayout& layout, const Survey& survey,
                      const DistortionUnknowns& distortion) {
  const auto transform = std::make_shared<Transform>(survey, layout);
  if (distortion.empty()) return core::compose(transform, std::move(responses));
  const Eigen::Index n = distortion.size(), n_in = responses->size_in() + n;
  std::vector<Eigen::Index> all(distortion.keys.size()), last(distortion.keys.size());
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  std::iota(last.begin(), last.end(), responses->size_in());
  const core::MapPtr distorted =
      core::compose(std::make_shared<Distortion>(layout, distortion),
                    core::parallel({std::move(responses), core::select(n, std::move(all))}));
  return core::stack({core::compose(transform, distorted), core::select(n_in, std::move(last))});
}

}  // namespace lodestone::physics::mt
