// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/timer.hpp"
#include "physics/linalg/edge_solver.hpp"
#include "physics/linalg/multigrid/auxiliary_space.hpp"
#include "physics/linalg/multigrid/krylov.hpp"

#include <algorithm>
#include <array>
#include <list>
#include <mutex>
#include <optional>
#include <utility>

namespace lodestone::physics::linalg {

namespace {

using namespace multigrid;

constexpr double flattest_single = 500.0;  // width of a cell over its height
constexpr double tallest_single = 4000.0;  // height over width; its square is what 24 bits hold

/// Returns true where the cells are neither too flat nor too tall for a cycle in single precision.
bool suits_single(const fem::EdgeGrid& grid) {
  const auto least = [&grid](int axis) { return std::ranges::min(grid.widths_m(axis)); };
  const double width = std::min(least(0), least(1));
  return width <= flattest_single * least(2) && std::ranges::max(grid.widths_m(2)) <= tallest_single * width;
}

std::unique_ptr<Cycle> single_cycle(const EdgeSystem& system) { return make_cycle<float>(system); }
std::unique_ptr<Cycle> double_cycle(const EdgeSystem& system) { return make_cycle<double>(system); }

/// A method of the chain of fallbacks: iterations around a cycle. Methods of one `cycle` share it.
struct Method {
  std::string_view name;
  std::unique_ptr<Cycle> (*cycle)(const EdgeSystem&);
  Ending (*iterate)(const Cycle&, const EdgeSolveOptions&, Iteration&, int&);
};
constexpr std::array<Method, 4> chain{{{"single", single_cycle, conjugate_gradients},
                                       {"double", double_cycle, conjugate_gradients},
                                       {"gmres", double_cycle, flexible_gmres},
                                       {"ams", make_auxiliary_space, patient_gmres}}};
constexpr std::size_t first_double = 1, algebraic = chain.size() - 1;

class MultigridEdgeSolver final : public EdgeSolver {
 public:
  /// `first`: the method of the chain to begin with; absent: by precision.
  MultigridEdgeSolver(EdgeSystem given, std::optional<std::size_t> first)
      : EdgeSolver(std::move(given)), operator_(make_pair_operator(system())), first_(first) {}

  [[nodiscard]] std::string name() const override { return first_ == algebraic ? "ams" : "multigrid"; }
  [[nodiscard]] std::size_t bytes() const override {
    const std::lock_guard lock(mutex_);
    std::size_t total = operator_->bytes() + bytes_on_relief(system());
    for (const auto& [make, made] : cycles_) total += made->bytes();
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
    const std::size_t first = first_method(options);
    for (std::size_t i = first; i < chain.size(); ++i) {
      if (i > first) {
        if (!report.fallback.empty()) report.fallback += ", ";
        report.fallback += chain[i].name;
        if (i == algebraic && !has_memory_for_algebraic()) {
          report.fallback += " left out for want of memory";
          break;
        }
      }
      restart_where_useless(state);
      report.ending = chain[i].iterate(cycle(chain[i].cycle), options, state, report.iterations);
      state.renew();
      if (report.ending == Ending::converged) break;
    }
    write_pair(*system().grid, state.x, column, x);
    return report;
  }

  /// Asks whether the machine has memory for the algebraic multigrid.
  [[nodiscard]] bool has_memory_for_algebraic() const {
    const bool has_relief = system().relief != nullptr;
    return fits_machine(cost_of(EdgeSolverKind::ams, *system().grid, 1, has_relief),
                        static_cast<double>(core::machine_memory_bytes()));
  }

  /// Begins from zero again where a method left something worse.
  static void restart_where_useless(Iteration& state) {
    if (state.size().edges <= 1.0) return;
    state.x = Field<double>(state.op.layout());
    state.renew();
  }

  [[nodiscard]] std::size_t first_method(const EdgeSolveOptions& options) const {
    if (first_) return *first_;
    const bool is_single = options.real == CycleReal::automatic ? suits_single(*system().grid)
                                                                : options.real == CycleReal::single;
    return is_single ? 0 : first_double;
  }

  const Cycle& cycle(decltype(Method::cycle) make) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [other, made] : cycles_) {
      if (other == make) return *made;
    }
    const core::ScopedTimer timer("edge solver/set up");
    return *cycles_.emplace_back(make, make(system())).second;
  }

  std::unique_ptr<const PairOperator> operator_;
  std::optional<std::size_t> first_;
  mutable std::mutex mutex_;
  /// Made when first wanted; a list, so that they stay where they are.
  mutable std::list<std::pair<decltype(Method::cycle), std::unique_ptr<Cycle>>> cycles_;
};

/// Makes either solver. errors: InvalidArgument on fewer than two cells along an axis.
std::unique_ptr<EdgeSolver> make(EdgeSystem system, std::optional<std::size_t> first) {
  for (int axis = 0; axis < 3; ++axis) {
    if (system.grid->n(axis) < 2)
      throw core::InvalidArgument("linalg::make_multigrid_edge_solver#too_few_cells",
                                  "expected at least two cells along each axis, got {} along {}",
                                  system.grid->n(axis), "xyz"[axis]);
  }
  return std::make_unique<MultigridEdgeSolver>(std::move(system), first);
}

}  // namespace

std::unique_ptr<EdgeSolver> make_multigrid_edge_solver(EdgeSystem system) {
  return make(std::move(system), {});
}
std::unique_ptr<EdgeSolver> make_algebraic_edge_solver(EdgeSystem system) {
  return make(std::move(system), algebraic);
}

}  // namespace lodestone::physics::linalg
