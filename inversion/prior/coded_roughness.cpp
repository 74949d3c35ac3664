// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/coded_roughness.hpp"

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::prior {
namespace {

using Eigen::MatrixXd;
using SparseMatrix = Eigen::SparseMatrix<double>;

/// The position of the cells of a row of the operator relative to the subdomains.
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
  if (place == Place::inside_one) return options.inside_weight;
  return place == Place::between ? options.between_weight : 1.0;
}

/// Returns the rows of these places, each times the root of its weight; of weight 0: left out.
template <class WeightOf>
SparseMatrix weighted_rows(const SparseMatrix& roughness, const std::vector<Place>& places,
                           WeightOf&& weight_of) {
  std::vector<int> new_row(places.size(), -1);
  int n_rows = 0;
  for (std::size_t row = 0; row < places.size(); ++row) {
    if (weight_of(places[row]) > 0.0) new_row[row] = n_rows++;
  }
  std::vector<Eigen::Triplet<double>> entries;
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry) {
      const auto row = static_cast<std::size_t>(entry.row());
      if (new_row[row] >= 0)
        entries.emplace_back(new_row[row], static_cast<int>(cell),
                             std::sqrt(weight_of(places[row])) * entry.value());
    }
  }
  SparseMatrix result(n_rows, roughness.cols());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Returns the factors that make the difference of its two cells from a row of the operator: 1/|entry| for
/// faces between two subdomains, else 0.
Eigen::VectorXd scales_between(const SparseMatrix& roughness, const std::vector<int>& subdomain_of) {
  const std::vector<Place> places = places_of(roughness, subdomain_of);
  Eigen::VectorXd largest = Eigen::VectorXd::Zero(roughness.rows());
  for (Eigen::Index cell = 0; cell < roughness.cols(); ++cell) {
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry)
      largest[entry.row()] = std::max(largest[entry.row()], std::abs(entry.value()));
  }
  for (std::size_t row = 0; row < places.size(); ++row) {
    double& scale = largest[static_cast<Eigen::Index>(row)];
    scale = places[row] == Place::between && scale > 0.0 ? 1.0 / scale : 0.0;
  }
  return largest;
}

/// Returns ‖R m‖² summed over draws m of some cells, by the rows of R that these cells have: a volume has
/// thousands of subdomains. `place`: −1 for every row. shape: draws (n_draws, n_cells).
double image_squares(const SparseMatrix& roughness, const std::vector<Eigen::Index>& cells,
                     const MatrixXd& draws, std::vector<Eigen::Index>& place) {
  std::vector<std::size_t> rows;
  for (const Eigen::Index cell : cells) {
    for (SparseMatrix::InnerIterator entry(roughness, cell); entry; ++entry) {
      Eigen::Index& at = place[static_cast<std::size_t>(entry.row())];
      if (at >= 0) continue;
      at = std::ssize(rows);
      rows.push_back(static_cast<std::size_t>(entry.row()));
    }
  }
  MatrixXd images = MatrixXd::Zero(draws.rows(), std::ssize(rows));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (SparseMatrix::InnerIterator entry(roughness, cells[i]); entry; ++entry)
      images.col(place[static_cast<std::size_t>(entry.row())]) +=
          entry.value() * draws.col(static_cast<Eigen::Index>(i));
  }
  for (const std::size_t row : rows) place[row] = -1;
  return images.squaredNorm();
}

/// Returns the mean of ‖R (m − mean m)‖² over draws of the prior in a region alone, for each of its codes; R:
/// the rows inside single subdomains.
double roughness_per_code(const SparseMatrix& inside, const SubdomainMap& map, std::size_t region) {
  constexpr Eigen::Index n_draws = 64;
  const Region& r = map.regions()[region];
  const core::Philox random(0x10de);
  const MatrixXd codes =
      MatrixXd::NullaryExpr(r.decoder->n_codes(), n_draws, [&](Eigen::Index i, Eigen::Index j) {
        return random.normal(static_cast<std::uint64_t>(j * r.decoder->n_codes() + i));
      });
  MatrixXd draws = r.decoder->decode(codes).transpose();
  draws.rowwise() -= draws.colwise().mean().eval();
  std::vector<Eigen::Index> place(static_cast<std::size_t>(inside.rows()), -1);
  double sum = 0.0;
  for (const auto& subdomain : r.subdomains) sum += image_squares(inside, subdomain, draws, place);
  return sum / static_cast<double>(n_draws * r.decoder->n_codes() * std::ssize(r.subdomains));
}

/// Returns [above; weights on the diagonal of the first columns].
SparseMatrix with_codes(const SparseMatrix& above, const Eigen::VectorXd& weights) {
  SparseMatrix result(above.rows() + weights.size(), above.cols());
  result.reserve(above.nonZeros() + weights.size());
  for (Eigen::Index column = 0; column < above.cols(); ++column) {
    result.startVec(column);
    for (SparseMatrix::InnerIterator entry(above, column); entry; ++entry)
      result.insertBack(entry.row(), column) = entry.value();
    if (column < weights.size())
      result.insertBack(above.rows() + column, column) = std::sqrt(weights[column]);
  }
  result.finalize();
  return result;
}

}  // namespace

struct CodedRoughness::Impl {
  std::shared_ptr<const SubdomainMap> map;
  SparseMatrix roughness;  ///< the rows that count
  Eigen::VectorXd reference;
  std::vector<double> code_weights;  ///< one per region
  Eigen::VectorXd weights;           ///< one per code
  RoughnessNormOptions between_norm;
  Eigen::VectorXd
      scales;  ///< scale of the jump between subdomains per row, 0 for other rows; empty where the norm is l2

  /// Returns R with the weights that the norm has for this model.
  [[nodiscard]] SparseMatrix roughness_at(const Eigen::VectorXd& model) const {
    return scales.size() == 0 ? roughness
                              : reweighted(roughness, (roughness * model).cwiseProduct(scales), between_norm);
  }
  /// Returns [R (M(u) − m_ref); √w v].
  [[nodiscard]] Eigen::VectorXd residual(const SparseMatrix& at_model,
                                         const core::ConstVectorRef& unknowns) const {
    Eigen::VectorXd result(at_model.rows() + map->n_codes());
    result << at_model * (map->value(unknowns) - reference),
        weights.cwiseSqrt().cwiseProduct(unknowns.head(map->n_codes()));
    return result;
  }
};

CodedRoughness::CodedRoughness(std::shared_ptr<const SubdomainMap> map, SparseMatrix roughness,
                               Eigen::VectorXd reference, CodedRoughnessOptions options) {
  const auto is_weight = [](double weight) { return weight >= 0.0 && std::isfinite(weight); };
  if (!(options.code_weight > 0.0) || !is_weight(options.code_weight) || !is_weight(options.between_weight) ||
      !is_weight(options.inside_weight))
    throw core::InvalidArgument(
        "inversion::CodedRoughness#wrong_weights",
        "expected code_weight > 0, between_weight ≥ 0 and inside_weight ≥ 0, got {}, {} and {}",
        options.code_weight, options.between_weight, options.inside_weight);
  if (const double epsilon = options.between_norm.epsilon; !(epsilon > 0.0 && std::isfinite(epsilon)))
    throw core::InvalidArgument("inversion::CodedRoughness#wrong_epsilon",
                                "expected a positive epsilon of the norm between subdomains, got {}",
                                epsilon);
  if (roughness.cols() != map->size_out() || reference.size() != map->size_out())
    throw core::ShapeError("inversion::CodedRoughness#wrong_size",
                           "expected an operator and a reference of {} cells, got {} and {}", map->size_out(),
                           roughness.cols(), reference.size());
  const std::vector<Place> places = places_of(roughness, map->subdomain_of());
  const SparseMatrix inside =
      weighted_rows(roughness, places, [](Place place) { return place == Place::inside_one ? 1.0 : 0.0; });
  Impl impl{std::move(map),
            weighted_rows(roughness, places, [&](Place place) { return weight_of(place, options); }),
            std::move(reference),
            {},
            {},
            options.between_norm,
            {}};
  if (options.between_norm.norm != RoughnessNorm::l2)
    impl.scales = scales_between(impl.roughness, impl.map->subdomain_of());
  impl.weights.resize(impl.map->n_codes());
  Eigen::Index first = 0;
  for (std::size_t r = 0; r < impl.map->regions().size(); ++r) {
    const Region& region = impl.map->regions()[r];
    impl.code_weights.push_back(options.code_weight * roughness_per_code(inside, *impl.map, r));
    const Eigen::Index n = region.decoder->n_codes() * std::ssize(region.subdomains);
    impl.weights.segment(first, n).setConstant(impl.code_weights.back());
    first += n;
  }
  impl_ = std::make_shared<const Impl>(std::move(impl));
}

double CodedRoughness::cost(const core::ConstVectorRef& unknowns) const {
  return impl_->residual(impl_->roughness_at(impl_->map->value(unknowns)), unknowns).squaredNorm();
}
const std::vector<double>& CodedRoughness::code_weights() const { return impl_->code_weights; }

/// Returns the quadratic part by M(u') ≈ M(u) + M' (u' − u): A = [R M'; √w], b = [R (m_ref − M(u) + M' u);
/// 0].
std::shared_ptr<const objective::Regularization> CodedRoughness::at(
    const core::ConstVectorRef& unknowns) const {
  const SubdomainMap& map = *impl_->map;
  const SparseMatrix derivative = map.derivative(unknowns);
  const core::ScopedTimer timer("codes/roughness");
  const Eigen::VectorXd model = map.value(unknowns);
  const SparseMatrix roughness = impl_->roughness_at(model), product = roughness * derivative;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(product.rows() + map.n_codes());
  b.head(product.rows()) = roughness * (impl_->reference - model + derivative * unknowns);
  return std::make_shared<objective::Regularization>(
      with_codes(product, impl_->weights), b,
      [impl = impl_, roughness](const core::ConstVectorRef& u) { return impl->residual(roughness, u); });
}

/// Returns the quadratic part by M(v', o) ≈ M(v, o) + M'_v (v' − v): as above with the columns of the codes.
std::shared_ptr<const objective::Regularization> CodedRoughness::of_codes(
    const core::ConstVectorRef& unknowns) const {
  const SubdomainMap& map = *impl_->map;
  const SparseMatrix derivative = map.derivative(unknowns).leftCols(map.n_codes());
  const Eigen::VectorXd model = map.value(unknowns);
  const SparseMatrix roughness = impl_->roughness_at(model), product = roughness * derivative;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(product.rows() + map.n_codes());
  b.head(product.rows()) = roughness * (impl_->reference - model + derivative * unknowns.head(map.n_codes()));
  const auto residual = [impl = impl_, roughness,
                         outside = Eigen::VectorXd(unknowns.tail(std::ssize(map.outside())))](
                            const core::ConstVectorRef& codes) {
    return impl->residual(roughness,
                          (Eigen::VectorXd(codes.size() + outside.size()) << codes, outside).finished());
  };
  return std::make_shared<objective::Regularization>(with_codes(product, impl_->weights), b, residual);
}

const SubdomainMap& CodedRoughness::map() const { return *impl_->map; }

objective::Reweigh CodedRoughness::reweigh() const {
  return [self = *this](const core::ConstVectorRef& unknowns) { return self.at(unknowns); };
}

}  // namespace lodestone::inversion::prior
