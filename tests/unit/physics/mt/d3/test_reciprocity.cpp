// SPDX-License-Identifier: Apache-2.0
// Source and receiver change places: for rows a, b of fields at two stations, A u = a and A v = b, the field
// b of the source a is the field a of the source b, bᵀu = aᵀv, since A = Aᵀ.
#include "physics/fem/edge_operator.hpp"
#include "physics/mt/d3/simulation_impl.hpp"
#include "tests/support/small_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;

namespace {

enum class Ground { flat, cells, relief, island };
const char* name_of(Ground ground) {
  constexpr const char* names[] = {"flat", "flat, meshes of cells", "relief", "island in a sea"};
  return names[static_cast<int>(ground)];
}

/// `small_volume`, level, under a hill with a saddle, or with that as an island in a sea 300 m deep.
mesh::Model volume_with(Ground ground) {
  auto model = tests::small_volume();
  if (ground == Ground::flat || ground == Ground::cells) return model;
  Eigen::MatrixXd z(4, 4);
  z << 300, 300, 300, 300, 300, -200, 80, 300, 300, -50, 200, 300, 300, 300, 300, 300;
  model.earth.surface = mesh::Surface({-2500, -800, 700, 2500}, {-2500, -700, 800, 2500}, z);
  if (ground == Ground::island) model.earth.sea = mesh::Sea{0.0, 0.3};
  return model;
}

bool is_electric(int channel) { return channel < static_cast<int>(d3::Channel::h_x); }

/// Largest |bᵀu − aᵀv| over |bᵀu| of pairs of channels.
struct Gaps {
  double e_e = 0.0, e_h = 0.0, h_h = 0.0;
  void add(int a, int b, Complex there, Complex back) {
    double& gap = is_electric(a) != is_electric(b) ? e_h : is_electric(a) ? e_e : h_h;
    gap = std::max(gap, std::abs(there - back) / std::abs(there));
  }
};

/// Solves for the rows of all channels of a receiver.
linalg::PairBlock fields_of(const d3::Simulation::Impl& impl, const d3::Job& job, const d3::Receiver& source,
                            const linalg::EdgeSolver& solver) {
  const fem::EdgeGrid& lines = *impl.band_of(job).grid;
  linalg::PairBlock rows(lines, d3::n_channels);
  for (int c = 0; c < d3::n_channels; ++c) {
    Eigen::VectorXcd row = Eigen::VectorXcd::Zero(lines.n_edges());
    source.add_row(static_cast<d3::Channel>(c), impl.omega_of(job.frequency), 1.0, row);
    fem::clear_boundary_edges(lines, row);
    rows.edges.col(c) = row;
    if (!is_electric(c)) continue;  // loops have no divergence
    Eigen::VectorXcd divergence = fem::gradient_transposed(lines, row);
    fem::clear_boundary_nodes(lines, divergence);
    rows.nodes.col(c) = divergence;
  }
  return impl.solve(job, solver, rows, impl.options.divergence_tolerance);
}

}  // namespace

TEST_CASE("3-D reciprocity: source and receiver change places, electric and magnetic, from 0.1 s to 1e4 s",
          "[physics][mt]") {
  const auto ground = GENERATE(Ground::flat, Ground::cells, Ground::relief, Ground::island);
  const auto model = volume_with(ground);
  std::vector<Station> stations{{"a", -400.0}, {"b", 1700.0}};
  stations[0].x_m = -600.0;
  stations[1].x_m = 1800.0;
  const std::vector<double> frequencies_hz{10.0, 1.0, 0.01, 1e-4};
  auto design = tests::coarse_design();
  design.only_cells = ground == Ground::cells;
  const d3::Simulation::Impl impl(
      MPI_COMM_SELF, model.earth, tests::full_layout(4, 2), stations, frequencies_hz,
      d3::design_meshes(model, {stations, frequencies_hz, {}}, design),
      {.tolerance = 1e-11, .divergence_tolerance = 1e-11, .solver = linalg::EdgeSolverKind::multigrid});
  const auto models = impl.band_models(model.values);
  Gaps gaps;
  for (const d3::Job& job : impl.own_jobs) {
    const auto& receivers = impl.band_of(job).receivers;
    const auto solver = impl.solver_of(job, models.at(job.band), d3::n_channels);
    const auto of_first = fields_of(impl, job, receivers[0], *solver),
               of_second = fields_of(impl, job, receivers[1], *solver);
    const auto field = [&](int station, int channel, const linalg::PairBlock& solution, int column) {
      return receivers[station].measure(static_cast<d3::Channel>(channel), impl.omega_of(job.frequency),
                                        linalg::circulation(*impl.band_of(job).grid, solution, column));
    };
    for (int a = 0; a < d3::n_channels; ++a) {
      for (int b = 0; b < d3::n_channels; ++b)
        gaps.add(a, b, field(1, b, of_first, a), field(0, a, of_second, b));
    }
  }
  INFO(fmt::format("{}: E-E {:.1e}, E-H {:.1e}, H-H {:.1e}", name_of(ground), gaps.e_e, gaps.e_h, gaps.h_h));
  CHECK(gaps.e_e < 1e-8);
  CHECK(gaps.e_h < 1e-8);
  CHECK(gaps.h_h < 1e-8);
}
