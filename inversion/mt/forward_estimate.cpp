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

/// Wall times per unit of `mt::d2::work_of`, on all ranks and threads.
struct Pace {
  double forward_s = 0.0, jacobian_s = 0.0;
  [[nodiscard]] MapCost of(double work, double bytes) const {
    return {.forward_s = forward_s * work, .jacobian_s = jacobian_s * work, .bytes = bytes};
  }
};

/// Times the frequency in the middle of the list on one thread; nothing where it has no datum.
std::optional<Pace> pace_of(const Simulations& simulations, const mt::d2::MeshSet& all,
                            const mt::Survey& survey, const Unknowns& unknowns,
                            const Eigen::VectorXd& model) {
  const int frequency = static_cast<int>(survey.frequencies_hz.size() / 2);
  mt::Survey one = survey_of(survey, frequency);
  const mt::d2::MeshSet meshes = mt::d2::meshes_at(all, {frequency});
  const double work = mt::d2::work_of(meshes, one);
  if (one.keys.empty() || !(work > 0.0)) return {};
  const int n_threads = core::threads();
  core::set_threads(1);
  const auto map =
      unknowns.behind(mt::d2::data_map(MPI_COMM_SELF, simulations.earth(), std::move(one), meshes));
  const auto [forward_s, jacobian_s] = timed(*map, unknowns.from_cells(model));
  core::set_threads(n_threads);
  const double shared_work = work * core::size_of(simulations.comm()) * n_threads;
  return Pace{forward_s / shared_work, jacobian_s / shared_work};
}

}  // namespace

std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations> simulations, mt::Survey survey,
    std::function<std::optional<Eigen::VectorXd>()> expected) {
  return [simulations = std::move(simulations), survey = std::move(survey), expected = std::move(expected)](
             const Unknowns& unknowns, const Eigen::VectorXd& model) {
    const auto guess = expected ? expected() : std::nullopt;
    const Eigen::VectorXd last_model = guess ? *guess : model;
    const core::ScopedTimer timer("dry run/redesign");
    const auto at_last = simulations->of_iterations(last_model, survey);
    ForwardCost cost{.redesign_s = timer.seconds(),
                     .meshes = at_last->meshes().summary(),
                     .is_guess_of_end = guess.has_value()};
    const auto at_first = simulations->of_iterations(model, survey),
               at_end = simulations->of_results(last_model, survey);
    cost.responses_bytes = core::threads() * mt::d2::largest_factor_bytes(at_end->meshes());
    const Pace pace = pace_of(*simulations, at_last->meshes(), survey, unknowns, last_model).value_or(Pace{});
    const auto work = [&](const auto& simulation) { return mt::d2::work_of(simulation->meshes(), survey); };
    cost.iterations = pace.of(0.5 * (work(at_first) + work(at_last)),
                              std::max(at_first->estimated_bytes(), at_last->estimated_bytes()));
    cost.at_final_accuracy = pace.of(work(at_end), at_end->estimated_bytes());
    for (const CertificatePart& part :
         certificate_parts(*simulations, last_model, survey, 2.0 * cost.iterations.bytes)) {
      cost.certificate_s += pace.forward_s * part.cost.work;
      cost.certificate_bytes = std::max(cost.certificate_bytes, part.cost.bytes);
    }
    return cost;
  };
}

}  // namespace lodestone::inversion::mt
