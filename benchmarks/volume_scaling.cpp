// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/volume_scaling.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "physics/mt/d3/cost.hpp"
#include "physics/mt/d3/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace lodestone::bench {
namespace {

using namespace physics;

/// Returns 24 × 24 × 16 cells of 1 km and more: conductors of 5 and 20 ohm m in 100 ohm m.
mesh::Model volume() {
  std::vector<double> aside_m;
  for (int i = -12; i <= 12; ++i) aside_m.push_back(1000.0 * i);
  mesh::TensorGrid grid(
      mesh::Edges{.x_m = aside_m, .y_m = aside_m, .z_m = mesh::geometric_edges_m(100.0, 1.3, 16)});
  Eigen::VectorXd resistivity = Eigen::VectorXd::Constant(grid.n_cells(), 100.0);
  for (int iz = 4; iz < 10; ++iz) {
    for (int i = 6; i < 12; ++i) {
      for (int j = 4; j < 10; ++j) {
        resistivity[grid.index(iz, i, j)] = 5.0;
        resistivity[grid.index(iz, i + 6, j + 10)] = 20.0;
      }
    }
  }
  return mesh::resistivity_model({std::move(grid)}, std::move(resistivity));
}

/// Returns impedances and tippers of 64 stations at eight frequencies, 30 to 0.01 Hz, or so many times as
/// many, close to these.
mt::Survey survey(int times) {
  std::vector<mt::Station> stations;
  for (int i = 0; i < 64; ++i) {
    mt::Station& each = stations.emplace_back();
    each.name = std::to_string(i);
    each.x_m = 2500.0 * (i % 8) - 8700.0;
    each.y_m = 2500.0 * (i / 8) - 8700.0;
  }
  std::vector<double> frequencies_hz;
  for (int f = 0; f < 8 * times; ++f)
    frequencies_hz.push_back(30.0 * std::pow(3000.0, -(f / times) / 7.0) * (1.0 + 0.001 * (f % times)));
  using mt::datum;
  const std::vector<mt::Datum> data{datum("zxx_re"), datum("zxx_im"), datum("zxy_re"), datum("zxy_im"),
                                    datum("zyx_re"), datum("zyx_im"), datum("zyy_re"), datum("zyy_im"),
                                    datum("tzx_re"), datum("tzx_im"), datum("tzy_re"), datum("tzy_im")};
  return mt::full_survey(std::move(stations), std::move(frequencies_hz), data);
}

/// Returns the meshes of iterations.
mt::d3::MeshSet meshes_of(const mesh::Model& model, const mt::Survey& of) {
  return mt::d3::design_meshes(model, of, mt::d3::design_options(mt::d3::Accuracy::iteration));
}

void measure(Results& results, MPI_Comm comm, const std::string& name, int times) {
  const mesh::Model model = volume();
  const mt::Survey of = survey(times);
  const auto map = mt::d3::data_map(comm, model.earth, of, meshes_of(model, of),
                                    mt::d3::solving_options(mt::d3::Accuracy::iteration));
  const Eigen::VectorXd& x = model.values;
  results.add({name, "forward", "s", seconds_together(comm, [&] { (void)map->value(x); }), {}, {}, {}});
  const auto linear = map->linearize(x);
  const Eigen::VectorXd down = Eigen::VectorXd::Ones(map->size_in()),
                        up = Eigen::VectorXd::Ones(map->size_out());
  const auto products = [&] {
    (void)linear->jvp(down);
    (void)linear->vjp(up);
  };
  results.add({name,
               "a product with J and one with its transpose",
               "s",
               seconds_together(comm, products),
               {},
               {},
               {}});
}

/// Adds what more ranks could gain at most: the work of all over that of the rank with most of it.
void predict(Results& results) {
  const mesh::Model model = volume();
  const mt::Survey of = survey(1);
  const mt::d3::MeshSet meshes = meshes_of(model, of);
  const double whole = mt::d3::shares_of(meshes, of, 1)[0].work;
  for (const int n_ranks : {2, 4, 8, 16}) {
    const auto shares = mt::d3::shares_of(meshes, of, n_ranks);
    results.add({"volume, one survey",
                 fmt::format("predicted gain of {} ranks by their edges", n_ranks),
                 "",
                 whole / std::ranges::max(shares, {}, &mt::d3::RankShare::work).work,
                 {},
                 {},
                 {}});
  }
}

}  // namespace

double seconds_together(MPI_Comm comm, const std::function<void()>& work) {
  constexpr int n_repeats = 5;
  std::vector<double> seconds;
  for (int i = 0; i < n_repeats; ++i) {
    MPI_Barrier(comm);
    const auto begin = std::chrono::steady_clock::now();
    work();
    double here = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_DOUBLE, MPI_MAX, comm);
    seconds.push_back(here);
  }
  std::nth_element(seconds.begin(), seconds.begin() + n_repeats / 2, seconds.end());
  return seconds[n_repeats / 2];
}

void measure_volume_scaling(Results& results, MPI_Comm comm) {
  measure(results, comm, "volume, one survey", 1);
  measure(results, comm, "volume, a survey per worker", core::size_of(comm) * core::threads());
  predict(results);
}

}  // namespace lodestone::bench
