// SPDX-License-Identifier: Apache-2.0
// The solver of edge elements in three dimensions: seconds and memory of grids of 34 k to 6 million edges,
// and iterations over period, air, contrast, aspect and layers. Sample run: bench_physics_mt3d        (a
// minute)
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "tests/support/edge_problem.hpp"

#include <fmt/format.h>

using namespace lodestone;
using namespace lodestone::physics;

namespace {

using tests::EdgeProblemShape;
using Kind = EdgeProblemShape::Kind;

constexpr EdgeProblemShape middle{.n_side = 40, .n_pad = 12, .n_earth = 22, .n_air = 8};

void iterations_row(bench::Results& results, const std::string& name, const EdgeProblemShape& shape) {
  const auto problem = tests::edge_problem(shape);
  linalg::PairBlock x;
  const auto report = linalg::make_multigrid_edge_solver(problem.system)->solve(x, problem.right).front();
  results.add({"edge solver, " + name, "iterations", "", static_cast<double>(report.iterations), {}, {}, {}});
  if (!report.fallback.empty())
    results.add({"edge solver, " + name, "fallback to " + report.fallback, "", 1.0, {}, {}, {}});
}

void size_rows(bench::Results& results, const EdgeProblemShape& shape, std::optional<double> target_s) {
  const auto problem = tests::edge_problem(shape);
  const auto n_edges = static_cast<double>(problem.system.grid->n_inner_edges());
  const std::string relief =
      shape.slope_deg < 0.0 ? "" : fmt::format("relief up to {:g}°, ", shape.slope_deg);
  const std::string name = fmt::format("edge solver, {}{:.0f} k edges", relief, 1e-3 * n_edges);
  linalg::PairBlock x;
  linalg::EdgeSolveReport report;
  double bytes = 0.0;
  const double seconds = bench::best_cpu_seconds(3, [&] {
    const auto solver = linalg::make_multigrid_edge_solver(problem.system);
    report = solver->solve(x, problem.right).front();
    bytes = static_cast<double>(solver->bytes());
  });
  results.add({name, "edges", "", n_edges, {}, {}, {}});
  results.add({name, "set-up and solve to 1e-8", "s CPU", seconds, target_s, {}, {}});
  results.add({name, "iterations", "", static_cast<double>(report.iterations), {}, {}, {}});
  results.add({name, "factors and masses", "B/edge", bytes / n_edges, {}, {}, {}});
}

EdgeProblemShape changed(const std::function<void(EdgeProblemShape&)>& change) {
  EdgeProblemShape shape = middle;
  change(shape);
  return shape;
}

void iterations_rows(bench::Results& results) {
  for (const double period : {1e-3, 0.1, 1.0, 10.0, 100.0, 1e3, 1e4})
    iterations_row(results, fmt::format("period {:g} s", period),
                   changed([&](auto& s) { s.period_s = period; }));
  for (const double air : {1e-6, 1e-8, 1e-12, 1e-16})
    iterations_row(results, fmt::format("air of {:g} S/m", air), changed([&](auto& s) { s.air = air; }));
  for (const double contrast : {10.0, 1e3, 1e4})
    iterations_row(results, fmt::format("bodies of contrast {:g} and 1/{:g}", contrast, contrast),
                   changed([&](auto& s) { s.contrast = contrast; }));
  for (const double ratio : {2.0, 4.0, 8.0, 20.0})
    iterations_row(results, fmt::format("cells 1 : {:g} in plan", ratio),
                   changed([&](auto& s) { s.cell_y_over_x = ratio; }));
  for (const double layer : {0.1, 1.0, 100.0})
    iterations_row(results, fmt::format("first layer of {:g} m", layer),
                   changed([&](auto& s) { s.first_layer_m = layer; }));
  iterations_row(results, "sea beside a resistive plate, 100 s", changed([](auto& s) {
                   s.kind = Kind::sea;
                   s.period_s = 100.0;
                 }));
  for (const double slope : {0.0, 30.0, 45.0, 60.0}) {
    for (const double period : {0.1, 10.0, 1e3})
      iterations_row(results, fmt::format("relief up to {:g}°, period {:g} s", slope, period),
                     changed([&](auto& s) {
                       s.slope_deg = slope;
                       s.period_s = period;
                     }));
  }
  iterations_row(results, "random cells over four decades", changed([](auto& s) { s.kind = Kind::random; }));
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    bench::Results results;
    size_rows(results, {.n_side = 24, .n_pad = 8, .n_earth = 16, .n_air = 6}, 0.06);
    size_rows(results, middle, 0.5);
    size_rows(results, {.n_side = 60, .n_pad = 18, .n_earth = 38, .n_air = 12}, 2.0);
    size_rows(results, {.n_side = 84, .n_pad = 22, .n_earth = 52, .n_air = 15}, {});
    size_rows(results, {.n_side = 136, .n_pad = 32, .n_earth = 85, .n_air = 24}, 30.0);
    auto steep = middle;
    steep.slope_deg = 45.0;
    size_rows(results, steep, {});
    iterations_rows(results);
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=physics3d");
    return 0;
  });
}
