// SPDX-License-Identifier: Apache-2.0
// A network is trained through a 2-D simulation: the weights set the resistivity of every cell, the misfit of
// the data changes the weights.
#include "engine/core/map_checks.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/function_map.hpp"
#include "engine/transform/variables.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <numeric>

using namespace lodestone;
using namespace lodestone::engine;
using namespace lodestone::physics;

namespace {

mesh::TensorGrid grid() {
  std::vector<double> y_edges_m;
  for (int i = 0; i <= 28; ++i) y_edges_m.push_back(-7000.0 + 500.0 * i);
  return mesh::TensorGrid::section(std::move(y_edges_m), mesh::geometric_edges_m(60.0, 1.2, 18));
}

mt::Survey survey() {
  using mt::Datum;
  return mt::full_survey({{"a", -4000.0}, {"b", -1500.0}, {"c", 300.0}, {"d", 2200.0}}, {30.0, 3.0, 0.3},
                         {Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
}

/// Returns 100 ohm m with a conductor in the left half, 300 to 1500 m deep.
Eigen::VectorXd earth(const mesh::TensorGrid& cells) {
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(cells.n_cells(), 100.0);
  for (int iz = 0; iz < cells.n_z(); ++iz) {
    for (int iy = 0; iy < cells.n_y(); ++iy) {
      const bool inside =
          std::abs(cells.z_centre_m(iz) - 900.0) < 600.0 && std::abs(cells.y_centre_m(iy) + 2000.0) < 2000.0;
      if (inside) resistivity[cells.index(iz, iy)] = 10.0;
    }
  }
  return resistivity;
}

core::MapPtr simulation(MPI_Comm comm) {
  const mesh::Model section = mesh::resistivity_model({grid()}, earth(grid()));
  const auto meshes =
      mt::d2::design_meshes(section, survey(), mt::d2::design_options(mt::d2::Accuracy::iteration));
  return mt::d2::data_map(comm, section.earth, survey(), meshes);
}

/// Position of a cell → log10 of its resistivity around that of 100 ohm m.
class Painter : public Module {
 public:
  explicit Painter(InitialValues& initial)
      : first_(add("first", Linear(2, 32, initial))),
        second_(add("second", Linear(32, 32, initial))),
        last_(add("last", Linear(32, 1, initial))) {}
  Tensor operator()(const Tensor& positions) const {
    return 2.0 + squeeze(last_(tanh(second_(tanh(first_(positions))))), -1);
  }

 private:
  Linear first_, second_, last_;
};

/// Everything between weights and misfit.
struct Chain {
  explicit Chain(MPI_Comm comm) : map(simulation(comm)), initial(11, DType::f64), painter(initial) {
    const mesh::TensorGrid cells = grid();
    std::vector<double> numbers;
    for (int iz = 0; iz < cells.n_z(); ++iz) {
      for (int iy = 0; iy < cells.n_y(); ++iy)
        numbers.insert(numbers.end(),
                       {cells.y_centre_m(iy) / 3000.0, std::log(cells.z_centre_m(iz) / 700.0)});
    }
    positions = Tensor::from(numbers, {cells.n_cells(), 2});
    const Eigen::VectorXd data = map->value(earth(cells));
    observed = Tensor::from(std::span(data.data(), static_cast<std::size_t>(data.size())), {data.size()});
  }
  [[nodiscard]] Tensor predicted() const { return external(map, exp(std::log(10.0) * painter(positions))); }
  [[nodiscard]] Tensor misfit() const { return mean(square((predicted() - observed) / 0.03)); }
  core::MapPtr map;
  InitialValues initial;
  Painter painter;
  Tensor positions, observed;
};

std::int64_t count(const Variables& variables) {
  return std::accumulate(variables.begin(), variables.end(), std::int64_t{0},
                         [](std::int64_t n, const Variable& each) { return n + each.aval().count(); });
}

/// The data as a map of all weights in one vector.
core::MapPtr data_of_weights(const Chain& chain) {
  const Variables weights = chain.painter.parameters();
  const auto f = [&chain, weights](const Tensor& all) {
    Tensors values;
    Dim first = 0;
    for (const Variable& each : weights) {
      values.push_back(reshape(slice(all, 0, first, first + each.aval().count()), each.aval().shape));
      first += each.aval().count();
    }
    return function_of(weights, [&chain]() -> Tensors { return {chain.predicted()}; })(values)[0];
  };
  return function_map(
      f,
      {.name = "weights to data", .n_in = count(weights), .communicator_id = chain.map->communicator_id()});
}

Eigen::VectorXd weights_of(const Chain& chain) {
  std::vector<double> all;
  for (const Variable& each : chain.painter.parameters()) {
    const auto values = each.value().to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return Eigen::Map<const Eigen::VectorXd>(all.data(), std::ssize(all));
}

}  // namespace

TEST_CASE(
    "through the physics: training a network on data of a simulation brings the misfit down tenfold, the "
    "same on every rank",
    "[engine][physics]") {
  const Chain chain(MPI_COMM_WORLD);
  const Variables weights = chain.painter.parameters();
  CHECK(count(weights) >= 1000);
  CHECK(chain.map->size_in() >= 500);
  const Adam adam(chain.painter, {.learning_rate = 0.01});
  const double first = chain.misfit().item<double>();
  double last = first;
  int n_steps = 0;
  while (last > first / 10.0 && n_steps < 100) {
    const auto [value, gradients] = value_and_grad([&] { return chain.misfit(); }, weights);
    last = value.item<double>();
    adam.step(gradients);
    eval(values_of(weights));
    ++n_steps;
  }
  last = chain.misfit().item<double>();
  INFO("misfit " << first << " to " << last << " in " << n_steps << " steps");
  CHECK(last <= first / 10.0);
  Eigen::VectorXd everywhere = weights_of(chain);
  core::sum_in_rank_order(MPI_COMM_WORLD, everywhere);
  CHECK((everywhere / core::size_of(MPI_COMM_WORLD) - weights_of(chain)).cwiseAbs().maxCoeff() < 1e-14);
}

TEST_CASE(
    "through the physics: from weights to data the Taylor remainder falls with second order, and the reverse "
    "is the adjoint",
    "[engine][physics]") {
  const Chain chain(MPI_COMM_WORLD);
  const core::MapPtr map = data_of_weights(chain);
  const Eigen::VectorXd at = weights_of(chain);
  const core::MapCheckResult derivative = core::check_derivative(*map, at, {.n_directions = 1}),
                             adjoint = core::check_adjoint(*map, at, {.n_directions = 1});
  INFO(derivative.report << adjoint.report);
  CHECK(derivative.passed);
  CHECK(adjoint.passed);
}

TEST_CASE("through the physics: the gradient does not depend on the number of ranks", "[engine][physics]") {
  const auto slope = [](MPI_Comm comm) {
    const Chain chain(comm);
    return value_and_grad([&] { return chain.misfit(); }, chain.painter.parameters())
        .gradients[0]
        .to_vector<double>();
  };
  const auto together = slope(MPI_COMM_WORLD), alone = slope(MPI_COMM_SELF);
  for (std::size_t i = 0; i < together.size(); ++i)
    CHECK(together[i] == Approx(alone[i]).epsilon(1e-8).margin(1e-10));
}
