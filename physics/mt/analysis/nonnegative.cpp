// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/nonnegative.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <limits>
#include <vector>

namespace lodestone::physics::mt {
namespace {

/// The columns whose unknowns are free, and the least squares over them, by the normal equations.
class Passive {
 public:
  Passive(const Eigen::MatrixXd& gram, const Eigen::VectorXd& right) : gram_(gram), right_(right) {}

  void add(Eigen::Index column) { columns_.push_back(column); }
  [[nodiscard]] bool has(Eigen::Index column) const {
    return std::ranges::find(columns_, column) != columns_.end();
  }
  [[nodiscard]] std::size_t size() const { return columns_.size(); }

  /// Moves x towards the solution until that is reached or an unknown is 0. Those at 0 leave the set.
  /// returns: false when one left.
  bool move(Eigen::VectorXd& x) {
    const Eigen::VectorXd goal =
        Eigen::MatrixXd(gram_(columns_, columns_)).ldlt().solve(Eigen::VectorXd(right_(columns_)));
    double step = 1.0;
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      const double from = x[columns_[k]], to = goal[static_cast<Eigen::Index>(k)];
      if (to <= 0.0) step = std::min(step, from / (from - to));
    }
    for (std::size_t k = 0; k < columns_.size(); ++k)
      x[columns_[k]] += step * (goal[static_cast<Eigen::Index>(k)] - x[columns_[k]]);
    if (step == 1.0) return true;
    constexpr double relative_zero = 1e-14;
    const double zero = relative_zero * x.maxCoeff();
    std::erase_if(columns_, [&](Eigen::Index column) {
      if (x[column] > zero) return false;
      x[column] = 0.0;
      return true;
    });
    return false;
  }

 private:
  const Eigen::MatrixXd& gram_;
  const Eigen::VectorXd& right_;
  std::vector<Eigen::Index> columns_;
};

}  // namespace

Eigen::VectorXd nonnegative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  constexpr double relative_tolerance = 1e-9;
  const Eigen::VectorXd norms = a.colwise().norm().cwiseMax(std::numeric_limits<double>::min());
  const Eigen::MatrixXd scaled = a * norms.cwiseInverse().asDiagonal();
  const Eigen::MatrixXd gram = scaled.transpose() * scaled;
  const Eigen::VectorXd right = scaled.transpose() * b;
  const double tolerance = relative_tolerance * b.norm();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(a.cols());
  Passive passive(gram, right);
  for (Eigen::Index round = 0; round < 3 * a.cols(); ++round) {
    Eigen::VectorXd slope = right - gram * x;
    for (Eigen::Index k = 0; k < slope.size(); ++k)
      if (passive.has(k)) slope[k] = 0.0;
    Eigen::Index best = 0;
    if (slope.maxCoeff(&best) <= tolerance || static_cast<Eigen::Index>(passive.size()) == a.rows()) break;
    passive.add(best);
    while (!passive.move(x)) {
    }
  }
  return x.cwiseQuotient(norms);
}

}  // namespace lodestone::physics::mt
