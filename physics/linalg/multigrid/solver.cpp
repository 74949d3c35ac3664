// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/linalg/multigrid/krylov.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

using namespace multigrid;

constexpr double flattest_single = 500.0;  // width of a cell over its height

double flattest_cell(const fem::EdgeGrid& grid) {
  const auto least = [&grid](int axis) {
    return *std::min_element(grid.widths_m(axis).begin(), grid.widths_m(axis).end());
  };
  return std::min(least(0), least(1)) / least(2);
}

/// A method of the chain of fallbacks.
struct Method {
  std::string_view name;
  CycleReal real;
  Ending (*iterate)(const Cycle&, const EdgeSolveOptions&, Iteration&, int&);
};
constexpr std::array<Method, 3> chain{{{"single", CycleReal::single, conjugate_gradients},
                                       {"double", CycleReal::twice, conjugate_gradients},
                                       {"gmres", CycleReal::twice, flexible_gmres}}};

class MultigridEdgeSolver final : public EdgeSolver {
 public:
  explicit MultigridEdgeSolver(EdgeSystem given)
      : EdgeSolver(std::move(given)), operator_(make_pair_operator(system())) {}

  [[nodiscard]] std::string name() const override { return "multigrid"; }
  [[nodiscard]] std::size_t bytes() const override {
    const std::lock_guard lock(mutex_);
    std::size_t total = operator_->bytes() + bytes_on_relief(system());
    for (const auto* made : {single_.get(), double_.get()}) total += made == nullptr ? 0 : made->bytes();
    return total;
  }

 private:
  /// One column after the other on all threads; columns in threads where there is one for each.
  void do_solve(PairBlock& x, const PairBlock& b, const EdgeSolveOptions& options,
                std::vector<EdgeSolveReport>& reports) const override {
    const auto one = [&](std::ptrdiff_t column) {
      reports[static_cast<std::size_t>(column)] = solve_column(x, b, column, options);
    };
    if (b.edges.cols() >= core::threads()) {
      core::parallel_for(b.edges.cols(), one);
    } else {
      for (Eigen::Index column = 0; column < b.edges.cols(); ++column) one(column);
    }
  }
  EdgeSolveReport solve_column(PairBlock& x, const PairBlock& b, Eigen::Index column,
                               const EdgeSolveOptions& options) const {
    if (b.edges.col(column).isZero(0.0)) return {};  // u = 0
    const core::ScopedTimer timer("edge solver/iterate");
    Field<double> right(operator_->layout());
    read_pair(*system().grid, b, column, right);
    Iteration state(*operator_, right);
    EdgeSolveReport report;
    const bool is_single = options.real == CycleReal::automatic
                               ? flattest_cell(*system().grid) <= flattest_single
                               : options.real == CycleReal::single;
    for (std::size_t i = is_single ? 0 : 1; i < chain.size(); ++i) {
      const Method& method = chain[i];
      if (i > (is_single ? 0U : 1U)) {
        if (!report.fallback.empty()) report.fallback += ", ";
        report.fallback += method.name;
      }
      restart_where_useless(state);
      report.ending = method.iterate(cycle(method.real), options, state, report.iterations);
      state.renew();
      if (report.ending == Ending::converged) break;
    }
    write_pair(*system().grid, state.x, column, x);
    return report;
  }

  /// Begins from zero again where a method left something worse.
  static void restart_where_useless(Iteration& state) {
    if (state.size().edges <= 1.0) return;
    state.x = Field<double>(state.op.layout());
    state.renew();
  }

  const Cycle& cycle(CycleReal real) const {
    const std::lock_guard lock(mutex_);
    auto& made = real == CycleReal::single ? single_ : double_;
    if (made == nullptr) {
      const core::ScopedTimer timer("edge solver/set up");
      made = real == CycleReal::single ? make_cycle<float>(system()) : make_cycle<double>(system());
    }
    return *made;
  }

  std::unique_ptr<const PairOperator> operator_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<Cycle> single_, double_;  ///< made when first wanted
};

}  // namespace

std::unique_ptr<EdgeSolver> make_multigrid_edge_solver(EdgeSystem system) {
  for (int axis = 0; axis < 3; ++axis) {
    if (system.grid->n(axis) < 2)
      throw core::InvalidArgument("linalg::make_multigrid_edge_solver#too_few_cells",
                                  "expected at least two cells along each axis, got {} along {}",
                                  system.grid->n(axis), "xyz"[axis]);
  }
  return std::make_unique<MultigridEdgeSolver>(std::move(system));
}

}  // namespace lodestone::physics::linalg
