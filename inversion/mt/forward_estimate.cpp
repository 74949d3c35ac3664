// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/forward_estimate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "inversion/mt/certificate.hpp"
#include "inversion/run_estimate.hpp"
#include "physics/mt/d2/cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mt = physics::mt;

mt::Survey survey_of(const mt::Survey& all, int frequency) {
  mt::Survey one{all.stations, {all.frequencies_hz[static_cast<std::size_t>(frequency)]}, {}};
  for (const auto& key : all.keys) {
    if (key.frequency == frequency) one.keys.push_back({key.quantity, 0, key.station});
  }
  return one;
}

/// Wall time per unit of `mt::d2::work_of`, on all ranks and threads.
double seconds_per_work(const mt::d2::MeshSet& meshes, const mt::Survey& survey, double seconds) {
  const double work = mt::d2::work_of(meshes, survey);
  return work > 0.0 ? seconds / work : 0.0;
}

/// Adds what comes after the iterations: the run at the final accuracy and the certificate.
void add_the_end(ForwardCost& cost, const Simulations& simulations, const mt::Survey& survey,
                 const Eigen::VectorXd& model, double work_s) {
  const mt::d2::MeshSet meshes = simulations.meshes_of_results(model, survey);
  cost.results_s = work_s * mt::d2::work_of(meshes, survey);
  cost.results_bytes = core::threads() * mt::d2::largest_factor_bytes(meshes);
  for (const CertificatePart& part : certificate_parts(simulations, model, survey)) {
    cost.certificate_s += work_s * part.cost.work;
    cost.certificate_bytes = std::max(cost.certificate_bytes, part.cost.bytes);
  }
}

}  // namespace

std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations> simulations, mt::Survey survey) {
  return [simulations = std::move(simulations), survey = std::move(survey)](const Unknowns& unknowns,
                                                                            const Eigen::VectorXd& model) {
    const core::ScopedTimer timer("dry run/redesign");
    const auto simulation = simulations->of_iterations(model, survey);
    ForwardCost cost{.redesign_s = timer.seconds(),
                     .bytes = simulation->estimated_bytes(),
                     .meshes = simulation->meshes().summary()};
    const int frequency = static_cast<int>(survey.frequencies_hz.size() / 2);
    mt::Survey one = survey_of(survey, frequency);
    if (one.keys.empty()) return cost;
    const MPI_Comm comm = simulations->comm();
    const int n_threads = core::threads();
    const mt::d2::MeshSet meshes = mt::d2::meshes_at(simulation->meshes(), {frequency});
    core::set_threads(1);
    const auto map =
        unknowns.behind(mt::d2::data_map(MPI_COMM_SELF, simulations->earth(), mt::Survey(one), meshes));
    const auto [forward_s, jacobian_s] = timed(*map, unknowns.from_cells(model));
    core::set_threads(n_threads);
    const double n_shares = core::size_of(comm) * n_threads,
                 work_s = seconds_per_work(meshes, one, forward_s / n_shares),
                 work = mt::d2::work_of(simulation->meshes(), survey);
    cost.forward_s = work_s * work;
    cost.jacobian_s = seconds_per_work(meshes, one, jacobian_s / n_shares) * work;
    add_the_end(cost, *simulations, survey, model, work_s);
    return cost;
  };
}

}  // namespace lodestone::inversion::mt
