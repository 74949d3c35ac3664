// SPDX-License-Identifier: Apache-2.0
#include "inversion/outcome.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <limits>

namespace lodestone::inversion {
namespace {

void check_size(const char* what, Eigen::Index n, Eigen::Index expected) {
  if (n != expected)
    throw core::ShapeError("inversion::Outcome#wrong_size", "expected {} values in the {}, but it has {}",
                           expected, what, n);
}

}  // namespace

const NamedTable* Outcome::table(const std::string& name) const {
  const auto found = std::ranges::find(tables, name, &NamedTable::name);
  return found == tables.end() ? nullptr : &*found;
}

void check(const Outcome& outcome) {
  const Eigen::Index n_cells = outcome.model.earth.grid.n_cells();
  check_size("final model", outcome.model.values.size(), n_cells);
  check_size("start model", outcome.start.size(), n_cells);
  check_size("predicted data", outcome.predicted.size(), outcome.data.size());
  if (outcome.findings.prior) check(*outcome.findings.prior, n_cells);
  if (outcome.findings.uncertainty) check(*outcome.findings.uncertainty, n_cells);
}

Eigen::VectorXd normalized_residuals(const core::DataSet& data, const Eigen::VectorXd& predicted) {
  Eigen::VectorXd residual = data.difference(predicted);
  for (Eigen::Index row = 0; row < residual.size(); ++row)
    residual[row] =
        data.is_used(row) ? residual[row] / data.sigma()[row] : std::numeric_limits<double>::quiet_NaN();
  return residual;
}

}  // namespace lodestone::inversion
