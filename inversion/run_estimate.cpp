// SPDX-License-Identifier: Apache-2.0
#include "inversion/run_estimate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <fstream>
#include <unistd.h>

namespace lodestone::inversion {
namespace {

constexpr double usual_trials = 4.0;  // forward runs of a λ search
constexpr double descent_runs =
    3.0;  // a redesign, a trial, and the products of a descent at the cost of another run
constexpr double linearizations = 2.0;  // held at a time: of the best trial so far and of the present one
constexpr double of_files = 0.1e9;   // bytes of the libraries that write results, and of the threads' heaps
constexpr double dense_rate = 2e10;  // flop/s of one core in BLAS-3, a cautious figure

/// Dense algebra of a Gauss–Newton step, in the smaller of data and model space as by default.
struct DenseEstimate {
  double system_s, factor_s;  ///< making the system, factorizing it for one λ
  double bytes;               ///< size of Jacobian, system and work space
  double posterior_bytes;     ///< further memory for deviations
};

DenseEstimate dense_estimate(double n_unknowns, double n_data, int n_ranks) {
  const double side = std::min(n_unknowns, n_data), other = std::max(n_unknowns, n_data),
               rate = core::threads() * dense_rate;
  return {other * side * side / (rate * n_ranks), side * side * side / (3.0 * rate),
          8.0 * (2.0 * n_unknowns * n_data + 2.0 * side * side), 8.0 * n_unknowns * side};
}

/// The parts of one iteration.
struct IterationEstimate {
  double jacobian_s, trials, forward_s, dense_s, redesign_s;
  [[nodiscard]] double seconds() const { return jacobian_s + trials * forward_s + dense_s + redesign_s; }
};

std::string text_of_unknowns(const physics::mesh::TensorGrid& grid, const Unknowns& unknowns) {
  const auto held = grid.n_cells() - unknowns.n_free(), shifts = unknowns.n_further();
  const std::string along_x = grid.n_x() > 1 ? fmt::format("{} × ", grid.n_x()) : "";
  return fmt::format("unknowns:             {}{} × {} = {}{}{}\n", along_x, grid.n_y(), grid.n_z(),
                     grid.n_cells(), held > 0 ? fmt::format(", less {} in fixed regions", held) : "",
                     shifts > 0 ? fmt::format(", and {} further unknowns", shifts) : "");
}

/// Regions and the unknowns that take the place of their cells; "" without a learned prior.
std::string text_of_regions(const Stage& first) {
  if (!first.codes) return {};
  const Unknowns& codes = *first.codes;
  std::string text;
  for (const prior::CutRegion& each : codes.regions()->regions())
    text += fmt::format(
        "learned prior:        {}: columns {} to {}, rows {} to {} (from 0), {} subdomains by {} codes each, "
        "{}\n",
        each.options.name, each.first_column, each.first_column + each.n_columns - 1, each.first_row,
        each.first_row + each.n_rows - 1, each.subdomains.size(), each.decoder().n_codes(),
        each.decoder().name());
  return text + fmt::format("                      {} codes and {} cells outside {} {} cells\n",
                            codes.coded()->n_codes(), codes.coded()->outside().size(),
                            first.alternates() ? "take turns with" : "instead of", codes.n_free());
}

IterationEstimate iteration_estimate(const Method& method, const ForwardCost& time,
                                     const DenseEstimate& dense, bool redesigns) {
  const double redesign_s = redesigns ? time.redesign_s : 0.0;
  if (!needs_jacobian(method)) return {0.0, descent_runs, time.forward_s, 0.0, redesign_s};
  const double n_jacobians = alternates(method) ? 2.0 : 1.0;
  return {n_jacobians * time.jacobian_s, usual_trials, time.forward_s,
          dense.system_s + usual_trials * dense.factor_s, redesign_s};
}

/// Memory that the process holds now, with its libraries and data.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double all = 0.0, resident = 0.0;
  file >> all >> resident;
  return file ? resident * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0.0;
}

/// Returns the largest memory of a rank: of the iterations, of the assessment or of what follows them.
double run_bytes(const Inversion& run, const ForwardCost& cost, const DenseEstimate& dense) {
  const std::optional<AssessmentOptions>& assessment = run.assessment();
  double bytes = linearizations * cost.bytes;
  if (needs_jacobian(run.method()) || assessment) bytes += dense.bytes;
  if (assessment && assessment->posterior) bytes += dense.posterior_bytes;
  return std::max({bytes, cost.results_bytes, cost.certificate_bytes});
}

std::string duration(double seconds) {
  return seconds < 120.0 ? fmt::format("{:.{}f} s", seconds, seconds < 10.0 ? 1 : 0)
                         : fmt::format("{:.1f} min", seconds / 60.0);
}

/// Returns the least and the most time that [uncertainty] takes, of the meshes of the start model.
std::pair<double, double> uncertainty_s(const std::optional<AssessmentOptions>& wanted,
                                        const ForwardCost& time, const DenseEstimate& dense) {
  const double linear_s = time.jacobian_s + dense.system_s + dense.factor_s;
  std::pair<double, double> sum{0.0, 0.0};
  if (wanted && wanted->posterior) sum = {linear_s, linear_s};
  if (!wanted || !wanted->ensemble) return sum;
  const auto [least, most] = uncertainty::cost_of(*wanted->ensemble);
  sum.first += least.forward * time.forward_s + least.jacobian * linear_s;
  sum.second += most.forward * time.forward_s + most.jacobian * linear_s;
  return sum;
}

/// Returns the time of what follows the last iteration, in words; "" where the maps do not state it.
std::string text_of_the_end(const ForwardCost& cost) {
  if (!(cost.results_s > 0.0)) return {};
  std::string text = fmt::format("final responses:      about {}, {:.2g} GB\n", duration(cost.results_s),
                                 cost.results_bytes / 1e9);
  if (cost.certificate_s > 0.0)
    text += fmt::format("certificate:          about {}, {:.2g} GB\n", duration(cost.certificate_s),
                        cost.certificate_bytes / 1e9);
  return text;
}

/// Returns the time that [uncertainty] takes, in words; "" without that table.
std::string text_of_uncertainty(const std::optional<AssessmentOptions>& wanted, const ForwardCost& time,
                                const DenseEstimate& dense) {
  const double linear_s = time.jacobian_s + dense.system_s + dense.factor_s;
  std::string text;
  if (wanted && wanted->ensemble) {
    const auto takes = [&](const uncertainty::RunCounts& runs) {
      return duration(runs.forward * time.forward_s + runs.jacobian * linear_s);
    };
    const auto [least, most] = uncertainty::cost_of(*wanted->ensemble);
    text += fmt::format(
        "{:<22}from {} ({} forward runs, {} Jacobian) to {} ({} and {}, where every sample takes {} "
        "step(s))\n",
        fmt::format("{} samples:", wanted->ensemble->n_samples), takes(least), least.forward, least.jacobian,
        takes(most), most.forward, most.jacobian, wanted->ensemble->max_iterations);
  }
  if (wanted && wanted->posterior)
    text += fmt::format("posterior:            about {}\n", duration(linear_s));
  return text.empty() ? text
                      : text +
                            "                      or up to three times that, as the meshes of the final "
                            "model are larger\n";
}

/// Returns the cost as the forward side states it, else times a run and a Jacobian of the first map.
ForwardCost forward_cost(const Stage& first) {
  const Forward& forward = first.problem->forward;
  if (forward.cost) return forward.cost(first.unknowns, first.start_model);
  const auto [forward_s, jacobian_s] = timed(*first.first_forward(), first.start);
  return {.forward_s = forward_s, .jacobian_s = jacobian_s};
}

}  // namespace

MapTimes timed(const core::DifferentiableMap& map, const Eigen::VectorXd& x) {
  MapTimes times;
  {
    const core::ScopedTimer timer("dry run/forward");
    static_cast<void>(map.value(x));
    times.forward_s = timer.seconds();
  }
  const core::ScopedTimer timer("dry run/jacobian");
  static_cast<void>(map.linearize(x)->local_jacobian());
  times.jacobian_s = timer.seconds();
  return times;
}

std::string cost_in_words(const Inversion& run) {
  const Stage& first = run.first();
  const core::DataSet& data = run.problem().data;
  const std::optional<AssessmentOptions>& assessment = run.assessment();
  const double resident = resident_bytes();
  const ForwardCost time = forward_cost(first);
  const int n_ranks = core::size_of(run.comm());
  const auto dense_of = [&](const Unknowns& unknowns) {
    return dense_estimate(static_cast<double>(unknowns.size()), static_cast<double>(data.n_used()), n_ranks);
  };
  const DenseEstimate dense = dense_of(first.unknowns),
                      dense_of_samples = dense_of(first.codes ? *first.codes : first.unknowns);
  const IterationEstimate iteration =
      iteration_estimate(run.method(), time, dense, run.problem().forward.redesign != Redesigning::never);
  const double bytes = resident + of_files + run_bytes(run, time, dense);
  std::string text = text_of_unknowns(run.problem().earth.grid, first.unknowns) + text_of_regions(first) +
                     fmt::format("data:                 {} of {} used\n", data.n_used(), data.size());
  if (!time.meshes.empty()) text += fmt::format("meshes:\n{}\n", time.meshes);
  text += fmt::format("memory per rank:      about {:.2f} GB\n", bytes / 1e9);
  text += fmt::format(
      "time per iteration:   about {:.1f} s at first, on {} rank(s) of {} thread(s) (Jacobian {:.1f} s, "
      "{:.0f} "
      "forward runs of {:.1f} s, dense algebra {:.1f} s, redesign {:.1f} s)\n",
      iteration.seconds(), n_ranks, core::threads(), iteration.jacobian_s, iteration.trials,
      iteration.forward_s, iteration.dense_s, iteration.redesign_s);
  const int n_iterations = max_iterations(run.method());
  text +=
      fmt::format("{:<22}from {} to three times that: meshes grow with the contrasts of the model\n",
                  fmt::format("{} iterations:", n_iterations), duration(n_iterations * iteration.seconds()));
  text += text_of_the_end(time) + text_of_uncertainty(assessment, time, dense_of_samples);
  const auto [least_s, most_s] = uncertainty_s(assessment, time, dense_of_samples);
  const double steps_s = n_iterations * iteration.seconds(), end_s = time.results_s + time.certificate_s;
  return text + fmt::format("all together:         from {} to {}\n", duration(steps_s + end_s + least_s),
                            duration(3.0 * (steps_s + end_s + most_s)));
}

}  // namespace lodestone::inversion
