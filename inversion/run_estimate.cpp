// SPDX-License-Identifier: Apache-2.0
#include "inversion/run_estimate.hpp"

#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/team.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/process_memory.hpp"
#include "engine/core/timer.hpp"
#include "inversion/optimize/system.hpp"

#include <algorithm>

namespace lodestone::inversion {
namespace {

constexpr double usual_trials = 4.0;  // forward runs of a λ search
constexpr double descent_runs =
    3.0;  // a redesign, a trial, and the products of a descent at the cost of another run
constexpr int usual_iterations = 7;  // until the target is reached; docs/results/lines.md has runs
constexpr int usual_descents = 40;   // the same
constexpr double usual_last_steps = 3.0;
constexpr double files_s = 0.7;      // of reports and figures
constexpr double of_files = 0.15e9;  // bytes of the libraries that write results, and of the threads' heaps
constexpr double dense_rate = 2e10;  // flop/s of one core in BLAS-3, a cautious figure

constexpr double usual_inner_steps = 8.0;  // of Gauss–Newton without a Jacobian; the same

/// The way in which a Gauss–Newton run solves its steps.
struct StepsEstimate {
  bool matrix_free = false;
  optimize::SystemBytes bytes{};
  std::string text{};  ///< a sentence; "" for other methods
};

/// The numbers that decide on memory.
struct ProblemSize {
  double n_unknowns, n_data;
  double n_cells;  ///< cells that codes set; 0 where unknowns are cells
};

ProblemSize size_of(const Unknowns& unknowns, const core::DataSet& data) {
  return {static_cast<double>(unknowns.size()), static_cast<double>(data.n_used()),
          unknowns.coded() ? static_cast<double>(unknowns.n_free()) : 0.0};
}

/// Returns the options by which steps are solved; none of a descent.
const optimize::GaussNewtonOptions* options_of_steps(const Method& method) {
  if (const auto* both = std::get_if<AlternatingOptions>(&method)) return &both->polish;
  return std::get_if<optimize::GaussNewtonOptions>(&method);
}

StepsEstimate steps_estimate(const Inversion& run, const ProblemSize& size) {
  const Method method = with_price(run.method(), run.problem().forward.jacobian_products);
  const auto* options = options_of_steps(method);
  if (options == nullptr) return {};
  const core::Team team(run.comm());
  const optimize::SystemBytes bytes =
      optimize::system_bytes(size.n_unknowns, size.n_data, options->inner, size.n_cells);
  const bool matrix_free = optimize::is_matrix_free(team, *options, bytes);
  return {
      matrix_free, bytes,
      optimize::choice_in_words(matrix_free, bytes, optimize::jacobian_allowance(team, *options), *options)};
}

/// Returns the linearizations held at a time: of the model, and of the best trial or of both ends of a line
/// search. Without a Jacobian that of the model stays while trials are made.
double linearizations(const Method& method, bool matrix_free) {
  return needs_jacobian(method) && !matrix_free ? 2.0 : 3.0;
}

/// Dense algebra of a Gauss–Newton step, in the smaller of data and model space as by default.
struct DenseEstimate {
  double system_s, factor_s;  ///< making the system, factorizing it for one λ
  double bytes;               ///< size of Jacobian, system and work space
  double posterior_bytes;     ///< further memory for deviations
};

DenseEstimate dense_estimate(const ProblemSize& size, int n_ranks) {
  const auto [n_unknowns, n_data, n_cells] = size;
  const double side = std::min(n_unknowns, n_data), other = std::max(n_unknowns, n_data),
               rate = core::threads() * dense_rate;
  return {other * side * side / (rate * n_ranks), side * side * side / (3.0 * rate),
          optimize::system_bytes(n_unknowns, n_data, {}, n_cells).with_jacobian, 8.0 * n_unknowns * side};
}

/// The parts of one iteration.
struct IterationEstimate {
  double jacobian_s, trials, forward_s, dense_s, redesign_s;
  double products = 0.0, product_s = 0.0;
  [[nodiscard]] double seconds() const {
    return jacobian_s + trials * forward_s + dense_s + redesign_s + products * product_s;
  }
  [[nodiscard]] std::string parts() const {
    const std::string derivatives = products > 0.0
                                        ? fmt::format("{:.0f} products of {:.1f} s", products, product_s)
                                        : fmt::format("Jacobian {:.1f} s", jacobian_s);
    return fmt::format("{}, {:.0f} forward runs of {:.1f} s, dense algebra {:.1f} s, redesign {:.1f} s",
                       derivatives, trials, forward_s, dense_s, redesign_s);
  }
};

std::string text_of_unknowns(const physics::mesh::TensorGrid& grid, const Unknowns& unknowns) {
  const auto held = grid.n_cells() - unknowns.n_free(), shifts = unknowns.n_further();
  const std::string along_x = grid.n_x() > 1 ? fmt::format("{} × ", grid.n_x()) : "";
  return fmt::format("unknowns:             {}{} × {} = {}{}{}\n", along_x, grid.n_y(), grid.n_z(),
                     grid.n_cells(), held > 0 ? fmt::format(", less {} in fixed regions", held) : "",
                     shifts > 0 ? fmt::format(", and {} further unknowns", shifts) : "");
}

/// Returns the regions and the unknowns that take the place of their cells; "" without a learned prior.
std::string text_of_regions(const Stage& first) {
  if (!first.codes) return {};
  const Unknowns& codes = *first.codes;
  std::string text;
  const bool is_volume = first.problem->earth.grid.has(physics::mesh::Axis::x);
  for (const prior::CutRegion& each : codes.regions()->regions()) {
    const std::string columns =
        is_volume ? fmt::format("columns {} to {} along x and {} to {} along y", each.x.first,
                                each.x.end() - 1, each.y.first, each.y.end() - 1)
                  : fmt::format("columns {} to {}", each.y.first, each.y.end() - 1);
    text += fmt::format(
        "learned prior:        {}: {}, rows {} to {} (from 0), {} subdomains by {} codes each, {}\n",
        each.options.name, columns, each.z.first, each.z.end() - 1, each.subdomains.size(),
        each.decoder().n_codes(), each.decoder().name());
  }
  return text + fmt::format("                      {} codes and {} cells outside {} {} cells\n",
                            codes.coded()->n_codes(), codes.coded()->outside().size(),
                            first.alternates() ? "take turns with" : "instead of", codes.n_free());
}

IterationEstimate iteration_estimate(const Method& method, const MapCost& time, const DenseEstimate& dense,
                                     bool matrix_free, double redesign_s) {
  if (matrix_free)
    return {0.0,
            usual_trials,
            time.forward_s,
            0.0,
            redesign_s,
            (alternates(method) ? 2.0 : 1.0) * (1.0 + 2.0 * usual_inner_steps),
            time.product_s > 0.0 ? time.product_s : time.forward_s};
  if (!needs_jacobian(method)) return {0.0, descent_runs, time.forward_s, 0.0, redesign_s};
  const double n_jacobians = alternates(method) ? 2.0 : 1.0;
  return {n_jacobians * time.jacobian_s, usual_trials, time.forward_s,
          dense.system_s + usual_trials * dense.factor_s, redesign_s};
}

/// Memory and time of a rank beside those of single steps.
struct RunEstimate {
  double bytes;             ///< the largest of iterations, assessment and what follows them
  double last_steps_bytes;  ///< memory of steps at the final accuracy; 0 where a run takes none
  double last_steps_s;      ///< time of the usual number of them
};

/// Returns whether a run takes steps at the final accuracy if these alone miss the target.
bool may_take_last_steps(const Inversion& run) {
  return run.problem().forward.last_steps.design != nullptr && target_rms(run.method()) > 0.0;
}

/// Returns the bytes of the matrices of steps.
double bytes_of_steps(const Inversion& run, const DenseEstimate& dense, const StepsEstimate& how) {
  if (how.matrix_free) return how.bytes.matrix_free;
  return needs_jacobian(run.method()) ? dense.bytes : 0.0;
}
/// Returns the bytes of all matrices beside the linearizations: of steps or, if more, of an assessment.
double beside_linearizations(const Inversion& run, const DenseEstimate& dense, const StepsEstimate& how) {
  const double of_steps = bytes_of_steps(run, dense, how);
  const std::optional<AssessmentOptions>& assessment = run.assessment();
  if (!assessment) return of_steps;
  return std::max(of_steps, dense.bytes + (assessment->posterior ? dense.posterior_bytes : 0.0));
}

RunEstimate run_estimate(const Inversion& run, const ForwardCost& cost, const DenseEstimate& dense,
                         const StepsEstimate& how, double held_before) {
  const double of_steps = bytes_of_steps(run, dense, how);
  const double n_linearizations = linearizations(run.method(), how.matrix_free);
  const double steps = n_linearizations * cost.iterations.bytes + beside_linearizations(run, dense, how);
  RunEstimate all{held_before + std::max({steps, cost.responses_bytes, cost.certificate_bytes}), 0.0, 0.0};
  if (!may_take_last_steps(run) || !(cost.at_final_accuracy.bytes > 0.0)) return all;
  all.last_steps_bytes = held_before + n_linearizations * cost.at_final_accuracy.bytes + of_steps;
  all.last_steps_s =
      usual_last_steps *
      iteration_estimate(run.method(), cost.at_final_accuracy, dense, how.matrix_free, 0.0).seconds();
  return all;
}

std::string duration(double seconds) {
  return seconds < 120.0 ? fmt::format("{:.{}f} s", seconds, seconds < 10.0 ? 1 : 0)
                         : fmt::format("{:.1f} min", seconds / 60.0);
}

/// Returns the least and the most time that [uncertainty] takes.
std::pair<double, double> uncertainty_s(const std::optional<AssessmentOptions>& wanted, const MapCost& time,
                                        const DenseEstimate& dense) {
  if (!wanted) return {0.0, 0.0};
  const double linear_s = time.jacobian_s + dense.system_s + dense.factor_s,
               posterior_s = wanted->posterior ? linear_s : 0.0;
  if (!wanted->ensemble) return {posterior_s, posterior_s};
  const auto [least, most] = uncertainty::cost_of(*wanted->ensemble);
  const auto seconds = [&](const uncertainty::RunCounts& runs) {
    return posterior_s + runs.forward * time.forward_s + runs.jacobian * linear_s;
  };
  return {seconds(least), seconds(most)};
}

/// Returns how much the machine has, where its ranks take more; else "".
std::string share_in_words(const core::Team& team, double bytes_of_rank) {
  const auto machine = static_cast<double>(core::machine_memory_bytes());
  const int n_ranks = team.on_machine();
  if (!(machine > 0.0 && bytes_of_rank * n_ranks > machine)) return {};
  return fmt::format("; too much for {} rank(s) on a machine of {:.1f} GB", n_ranks, machine / 1e9);
}

/// Returns the time of what follows the last iteration, in words; "" where the maps do not state it.
std::string text_of_the_end(const ForwardCost& cost, const RunEstimate& all) {
  if (!(cost.at_final_accuracy.forward_s > 0.0)) return {};
  std::string text =
      fmt::format("final responses:      {} {}, {:.2g} GB{}\n", cost.may_refine ? "at least" : "about",
                  duration(cost.final_runs * cost.at_final_accuracy.forward_s), cost.responses_bytes / 1e9,
                  cost.may_refine ? ", more where meshes must be refined" : "");
  if (all.last_steps_s > 0.0)
    text += fmt::format(
        "last steps:           about {} at the final accuracy, if the target is reached and missed there\n",
        duration(all.last_steps_s));
  if (cost.certificate_s > 0.0)
    text += fmt::format("certificate:          about {}, {:.2g} GB\n", duration(cost.certificate_s),
                        cost.certificate_bytes / 1e9);
  return text;
}

/// Returns the time that [uncertainty] takes, in words; "" without that table.
std::string text_of_uncertainty(const std::optional<AssessmentOptions>& wanted, const MapCost& time,
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
  return text;
}

/// Times one linearization and one product.
MapCost timed_by_products(const core::DifferentiableMap& map, const Eigen::VectorXd& x) {
  MapCost cost;
  const core::ScopedTimer forward("dry run/forward");
  const auto linearization = map.linearize(x);
  cost.forward_s = forward.seconds();
  const core::ScopedTimer product("dry run/product");
  static_cast<void>(linearization->vjp(Eigen::VectorXd::Ones(map.size_out())));
  cost.product_s = product.seconds();
  return cost;
}

/// Returns the cost as the forward side states it, else times a run and a Jacobian, or a
/// product, of the first map.
ForwardCost forward_cost(const Stage& first, bool by_products) {
  const Forward& forward = first.problem->forward;
  if (forward.cost) return forward.cost(first.unknowns, first.start_model);
  const core::MapPtr map = first.first_forward();
  if (by_products) return {.iterations = timed_by_products(*map, first.start)};
  const auto [forward_s, jacobian_s] = timed(*map, first.start);
  return {.iterations = {.forward_s = forward_s, .jacobian_s = jacobian_s}};
}

}  // namespace

void require_memory(const Inversion& run, double machine_bytes) {
  const core::Team team(run.comm());
  const ProblemSize size = size_of(run.first().unknowns, run.problem().data);
  const StepsEstimate how = steps_estimate(run, size);
  const DenseEstimate dense = dense_estimate(size, core::size_of(run.comm()));
  const double bytes = beside_linearizations(run, dense, how);
  const int n_ranks = team.on_machine();
  if (!team.any(machine_bytes > 0.0 && bytes * n_ranks > machine_bytes)) return;
  throw core::InvalidArgument(
      "inversion::require_memory#too_large",
      "the matrices of {} unknowns and {} data take {:.1f} GB on each of {} rank(s) of this machine, which "
      "has {:.1f} GB; take fewer cells or data, {}or a larger machine",
      size.n_unknowns, size.n_data, bytes / 1e9, n_ranks, machine_bytes / 1e9,
      run.assessment()  ? "leave out the uncertainty, "
      : how.matrix_free ? ""
                        : "steps without a Jacobian (inversion.space = \"matrix_free\"), ");
}

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
  const double resident = core::process_memory().resident;
  const StepsEstimate how = steps_estimate(run, size_of(first.unknowns, data));
  const ForwardCost cost = forward_cost(first, how.matrix_free);
  const int n_ranks = core::size_of(run.comm());
  const auto dense_of = [&](const Unknowns& unknowns) {
    return dense_estimate(size_of(unknowns, data), n_ranks);
  };
  const DenseEstimate dense = dense_of(first.unknowns),
                      dense_of_samples = dense_of(first.codes ? *first.codes : first.unknowns);
  const bool redesigns = run.problem().forward.redesign != Redesigning::never;
  const IterationEstimate iteration = iteration_estimate(run.method(), cost.iterations, dense,
                                                         how.matrix_free, redesigns ? cost.redesign_s : 0.0);
  const RunEstimate all = run_estimate(run, cost, dense, how, resident + of_files);
  std::string text = text_of_unknowns(run.problem().earth.grid, first.unknowns) + text_of_regions(first) +
                     fmt::format("data:                 {} of {} used\n", data.n_used(), data.size());
  if (!cost.meshes.empty())
    text += fmt::format("meshes {}:\n{}\n",
                        cost.is_guess_of_end ? "at the end, as the soundings show it" : "of the start model",
                        cost.meshes);
  text += fmt::format("memory per rank:      about {:.2f} GB{}{}\n", all.bytes / 1e9,
                      all.last_steps_bytes > all.bytes
                          ? fmt::format(", {:.2f} GB in last steps", all.last_steps_bytes / 1e9)
                          : "",
                      share_in_words(core::Team(run.comm()), std::max(all.bytes, all.last_steps_bytes)));
  if (!how.text.empty()) text += fmt::format("method:               {}\n", how.text);
  text += fmt::format("time per iteration:   about {:.1f} s, on {} rank(s) of {} thread(s) ({})\n",
                      iteration.seconds(), n_ranks, core::threads(), iteration.parts());
  const int most = max_iterations(run.method()),
            usual = std::min(needs_jacobian(run.method()) ? usual_iterations : usual_descents, most);
  text += fmt::format(
      "{:<22}about {}{}\n", fmt::format("{} iterations:", usual), duration(usual * iteration.seconds()),
      most > usual ? fmt::format(", all {} about {}", most, duration(most * iteration.seconds())) : "");
  text += text_of_the_end(cost, all) + text_of_uncertainty(assessment, cost.iterations, dense_of_samples);
  const auto [least_s, most_s] = uncertainty_s(assessment, cost.iterations, dense_of_samples);
  const double end_s = cost.final_runs * cost.at_final_accuracy.forward_s + cost.certificate_s + files_s;
  return text + fmt::format("all together:         about {}, at most {}\n",
                            duration(usual * iteration.seconds() + end_s + least_s),
                            duration(most * iteration.seconds() + all.last_steps_s + end_s + most_s));
}

}  // namespace lodestone::inversion
