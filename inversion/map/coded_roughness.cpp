// SPDX-License-Identifier: Apache-2.0
#include "inversion/map/coded_roughness.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace lodestone::inversion {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;
constexpr const char* component = "inversion::CodedRoughness";

/// What the cells of a row of the operator have to do with the subdomains.
enum class Place : std::uint8_t { none, inside_one, between, partly_outside };

std::vector<Place> places_of(const SparseMatrix& roughness, const std::vector<int>& subdomain_of) {
  std::vector<Place> places(static_cast<std::size_t>(roughness.rows()), Place::none);
  std::vector<int> first(places.size());
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    const int subdomain = subdomain_of[static_cast<std::size_t>(cell)];
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry) {
      const auto row = static_cast<std::size_t>(entry.row());
      Place& place = places[row];
      if (subdomain < 0 || place == Place::partly_outside) {
        place = Place::partly_outside;
      } else if (place == Place::none) {
        place = Place::inside_one;
        first[row] = subdomain;
      } else if (first[row] != subdomain) {
        place = Place::between;
      }
    }
  }
  return places;
}

double weight_of(Place place, const CodedRoughnessOptions& options) {
  if (place == Place::inside_one) return 0.0;
  return place == Place::between ? options.between_weight : 1.0;
}

/// Rows that the decoder rules are left out, those between subdomains weighted.
SparseMatrix outside_and_between(const SparseMatrix& roughness, const std::vector<int>& subdomain_of,
                                 const CodedRoughnessOptions& options) {
  const std::vector<Place> places = places_of(roughness, subdomain_of);
  std::vector<int> new_row(places.size(), -1);
  int n_rows = 0;
  for (std::size_t row = 0; row < places.size(); ++row) {
    if (weight_of(places[row], options) > 0.0) new_row[row] = n_rows++;
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry) {
      const auto row = static_cast<std::size_t>(entry.row());
      if (new_row[row] >= 0)
        entries.emplace_back(new_row[row], static_cast<int>(cell), std::sqrt(weight_of(places[row], options)) * entry.value());
    }
  }
  SparseMatrix result(n_rows, roughness.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// [above; weight · I of the first n columns].
SparseMatrix with_codes(const SparseMatrix& above, Eigen::Index n_codes, double weight) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(static_cast<std::size_t>(above.nonZeros() + n_codes));
  for (Eigen::Index column = 0; column < above.cols(); ++column) {
    for (SparseMatrix::InnerIterator entry(above, column); entry; ++entry)
      entries.emplace_back(static_cast<int>(entry.row()), static_cast<int>(column), entry.value());
    if (column < n_codes) entries.emplace_back(static_cast<int>(above.rows() + column), static_cast<int>(column), weight);
  }
  SparseMatrix result(above.rows() + n_codes, above.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

}  // namespace

struct CodedRoughness::Impl {
  std::shared_ptr<const SubdomainMap> map;
  SparseMatrix roughness;  ///< of the rows that count
  Eigen::VectorXd reference;
  double code_weight;

  [[nodiscard]] double cost(const core::ConstVectorRef& unknowns) const {
    return (roughness * (map->value(unknowns) - reference)).squaredNorm() + code_weight * unknowns.head(map->n_codes()).squaredNorm();
  }
};

CodedRoughness::CodedRoughness(std::shared_ptr<const SubdomainMap> map, SparseMatrix roughness, Eigen::VectorXd reference,
                               CodedRoughnessOptions options) {
  if (!(options.code_weight > 0.0) || !std::isfinite(options.code_weight) || !(options.between_weight >= 0.0) ||
      !std::isfinite(options.between_weight))
    throw core::InvalidArgument(component, "expected code_weight > 0 and between_weight ≥ 0, got {} and {}", options.code_weight,
                                options.between_weight);
  if (roughness.cols() != map->size_out() || reference.size() != map->size_out())
    throw core::ShapeError(component, "expected an operator and a reference of {} cells, got {} and {}", map->size_out(), roughness.cols(),
                           reference.size());
  SparseMatrix counted = outside_and_between(roughness, map->subdomain_of(), options);
  impl_ = std::make_shared<const Impl>(Impl{std::move(map), std::move(counted), std::move(reference), options.code_weight});
}

double CodedRoughness::cost(const core::ConstVectorRef& unknowns) const { return impl_->cost(unknowns); }

/// M(u') ≈ M(u) + M' (u' − u): A = [R M'; √w], b = [R (m_ref − M(u) + M' u); 0].
std::shared_ptr<const Regularization> CodedRoughness::at(const core::ConstVectorRef& unknowns) const {
  const SubdomainMap& map = *impl_->map;
  const SparseMatrix derivative = map.derivative(unknowns);
  const SparseMatrix product = impl_->roughness * derivative;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(product.rows() + map.n_codes());
  b.head(product.rows()) = impl_->roughness * (impl_->reference - map.value(unknowns) + derivative * unknowns);
  return std::make_shared<Regularization>(with_codes(product, map.n_codes(), std::sqrt(impl_->code_weight)), b,
                                          [impl = impl_](const core::ConstVectorRef& u) { return impl->cost(u); });
}

Reweigh CodedRoughness::reweigh() const {
  return [self = *this](const core::ConstVectorRef& unknowns) { return self.at(unknowns); };
}

}  // namespace lodestone::inversion
