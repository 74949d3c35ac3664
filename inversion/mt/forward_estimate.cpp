// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/forward_estimate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"
#include "inversion/mt/certificate.hpp"
#include "inversion/run_estimate.hpp"
#include "physics/mt/d2/checked_responses.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d3/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
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

/// Wall times per unit of the work of meshes, on all ranks and threads.
struct Pace {
  double forward_s = 0.0, jacobian_s = 0.0;
  [[nodiscard]] MapCost of(double work, double bytes) const {
    return {.forward_s = forward_s * work, .jacobian_s = jacobian_s * work, .bytes = bytes};
  }
};

/// Returns the wall times of a run and of a Jacobian, of sections by timing both.
MapTimes timed_map(Sections, const core::DifferentiableMap& map, const Eigen::VectorXd& x,
                   const mt::Survey&) {
  return timed(map, x);
}

/// Returns a model beside this one with contrasts between neighbours. Over layers the sources of the
/// secondary field vanish, and a solve takes no time.
Eigen::VectorXd roughened(Eigen::VectorXd x) {
  constexpr double amplitude = 0.2;  // decades
  for (Eigen::Index i = 0; i < x.size(); ++i) x[i] += i % 2 == 0 ? amplitude : -amplitude;
  return x;
}

/// Returns those of volumes by timing a run: a Jacobian needs five right-hand sides per station and
/// frequency, a run has two.
MapTimes timed_map(Volumes, const core::DifferentiableMap& map, const Eigen::VectorXd& x,
                   const mt::Survey& survey) {
  constexpr double functionals = 5.0, polarizations = 2.0;
  const Eigen::VectorXd rough = roughened(x);
  const core::ScopedTimer timer("dry run/forward");
  (void)map.value(rough);
  const double forward_s = timer.seconds();
  return {forward_s,
          forward_s * (1.0 + functionals / polarizations * static_cast<double>(survey.stations.size()))};
}

/// Returns how the time of a survey grows because ranks have unlike shares of it: 1 where they are equal.
/// Sections are taken to be shared well.
double load_imbalance(Sections, const Sections::MeshSet&, const mt::Survey&, int) { return 1.0; }
double load_imbalance(Volumes, const Volumes::MeshSet& meshes, const mt::Survey& survey, int n_ranks) {
  double most = 0.0, sum = 0.0;
  for (const mt::d3::RankShare& each : mt::d3::shares_of(meshes, survey, n_ranks)) {
    most = std::max(most, each.work);
    sum += each.work;
  }
  return sum > 0.0 ? n_ranks * most / sum : 1.0;
}

/// Returns a table of what ranks solve, where volumes have several ranks.
std::string text_of_ranks(Sections, const Sections::MeshSet&, const mt::Survey&, int) { return {}; }
std::string text_of_ranks(Volumes, const Volumes::MeshSet& meshes, const mt::Survey& survey, int n_ranks) {
  if (n_ranks == 1) return {};
  const auto shares = mt::d3::shares_of(meshes, survey, n_ranks);
  double sum = 0.0;
  for (const auto& each : shares) sum += each.work;
  std::string text = "rank  (frequency, polarization) pairs      edges  of all work\n";
  for (std::size_t rank = 0; rank < shares.size(); ++rank)
    text += fmt::format("{:>4}  {:>31}  {:>9.0f}  {:>9.1f} %\n", rank, shares[rank].n_units,
                        shares[rank].work, 100.0 * shares[rank].work / sum);
  return text;
}

/// Times the frequency in the middle of the list on one thread; nothing where it has no datum.
template <class Dimension>
std::optional<Pace> pace_of(const Simulations<Dimension>& simulations, const typename Dimension::MeshSet& all,
                            const mt::Survey& survey, const Unknowns& unknowns,
                            const Eigen::VectorXd& model) {
  const int frequency = static_cast<int>(survey.frequencies_hz.size() / 2);
  const mt::Survey one = survey_of(survey, frequency);
  const typename Dimension::MeshSet meshes = meshes_at(all, {frequency});
  const double work = work_of(meshes, one);
  if (one.keys.empty() || !(work > 0.0)) return {};
  const int n_threads = core::threads();
  core::set_threads(1);
  const auto map =
      unknowns.behind(data_map(simulation_of(MPI_COMM_SELF, simulations.earth(), one, meshes), one));
  const auto [forward_s, jacobian_s] = timed_map(Dimension{}, *map, unknowns.from_cells(model), one);
  core::set_threads(n_threads);
  const int n_ranks = core::size_of(simulations.comm());
  const double shared_work = work * n_ranks * n_threads / load_imbalance(Dimension{}, all, survey, n_ranks);
  return Pace{forward_s / shared_work, jacobian_s / shared_work};
}

}  // namespace

template <class Dimension>
std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations<Dimension>> simulations, mt::Survey survey,
    std::function<std::optional<Eigen::VectorXd>()> expected) {
  return [simulations = std::move(simulations), survey = std::move(survey), expected = std::move(expected)](
             const Unknowns& unknowns, const Eigen::VectorXd& model) {
    const auto guess = expected ? expected() : std::nullopt;
    const Eigen::VectorXd last_model = guess ? *guess : model;
    const core::ScopedTimer timer("dry run/redesign");
    const auto at_last = simulations->of_iterations(last_model, survey);
    ForwardCost cost{
        .redesign_s = timer.seconds(),
        .meshes = at_last->meshes().summary() +
                  text_of_ranks(Dimension{}, at_last->meshes(), survey, core::size_of(simulations->comm())),
        .is_guess_of_end = guess.has_value()};
    const auto at_first = simulations->of_iterations(model, survey),
               at_end = simulations->of_results(last_model, survey);
    cost.responses_bytes = run_bytes(at_end->meshes());
    cost.may_refine = simulations->checks_results();
    if (cost.may_refine) cost.final_runs = mt::d2::least_check_runs;
    const Pace pace = pace_of(*simulations, at_last->meshes(), survey, unknowns, last_model).value_or(Pace{});
    const auto work = [&](const auto& simulation) { return work_of(simulation->meshes(), survey); };
    cost.iterations = pace.of(0.5 * (work(at_first) + work(at_last)),
                              std::max(at_first->estimated_bytes(), at_last->estimated_bytes()));
    cost.at_final_accuracy = pace.of(work(at_end), at_end->estimated_bytes());
    for (const auto& part :
         certificate_parts(*simulations, last_model, survey, 2.0 * cost.iterations.bytes)) {
      cost.certificate_s += pace.forward_s * part.cost.work;
      cost.certificate_bytes = std::max(cost.certificate_bytes, part.cost.bytes);
    }
    return cost;
  };
}

template std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations<Sections>>, mt::Survey,
    std::function<std::optional<Eigen::VectorXd>()>);
template std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost_of(
    std::shared_ptr<const Simulations<Volumes>>, mt::Survey, std::function<std::optional<Eigen::VectorXd>()>);

}  // namespace lodestone::inversion::mt
