// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/forward_estimate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "inversion/run_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mt = physics::mt;

constexpr double cost_exponent =
    1.25;  // of factorization and solves in the number of nodes, measured between 1e4 and 1e5

/// The mesh and keys of one frequency alone.
mt::d2::MeshSet meshes_of(const mt::d2::MeshSet& all, int frequency) {
  for (const auto& band : all.bands) {
    if (std::ranges::find(band.frequencies, frequency) != band.frequencies.end()) {
      mt::d2::BandMesh one = band;
      one.frequencies = {0};
      return {{std::move(one)}, all.solver};
    }
  }
  return {};
}

mt::Survey survey_of(const mt::Survey& all, int frequency) {
  mt::Survey one{all.stations, {all.frequencies_hz[static_cast<std::size_t>(frequency)]}, {}};
  for (const auto& key : all.keys) {
    if (key.frequency == frequency) one.keys.push_back({key.quantity, 0, key.station});
  }
  return one;
}

/// Σ over frequencies of nodes^exponent, in units of one frequency's.
double relative_work(const mt::d2::MeshSet& meshes, int frequency) {
  double all = 0.0, one = 1.0;
  for (const auto& band : meshes.bands) {
    const double work = std::pow(band.mesh.n_nodes(), cost_exponent);
    all += work * static_cast<double>(band.frequencies.size());
    if (std::ranges::find(band.frequencies, frequency) != band.frequencies.end()) one = work;
  }
  return all / one;
}

}  // namespace

std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations> simulations, mt::Survey survey) {
  return [simulations = std::move(simulations), survey = std::move(survey)](const Unknowns& unknowns,
                                                                            const Eigen::VectorXd& model) {
    const auto simulation = simulations->of_iterations(model, survey);
    ForwardCost cost{.bytes = simulation->estimated_bytes(), .meshes = simulation->meshes().summary()};
    const int frequency = static_cast<int>(survey.frequencies_hz.size() / 2);
    mt::Survey one = survey_of(survey, frequency);
    if (one.keys.empty()) return cost;
    const MPI_Comm comm = simulations->comm();
    const int n_threads = core::threads();
    const double share = relative_work(simulation->meshes(), frequency) / (core::size_of(comm) * n_threads);
    core::set_threads(1);
    const auto map = unknowns.behind(mt::d2::data_map(MPI_COMM_SELF, simulations->earth(), std::move(one),
                                                      meshes_of(simulation->meshes(), frequency)));
    const auto [forward_s, jacobian_s] = timed(*map, unknowns.from_cells(model));
    core::set_threads(n_threads);
    cost.forward_s = share * forward_s;
    cost.jacobian_s = share * jacobian_s;
    return cost;
  };
}

}  // namespace lodestone::inversion::mt
