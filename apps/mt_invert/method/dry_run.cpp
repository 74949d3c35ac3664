// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/dry_run.hpp"

#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/timer.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;

constexpr double cost_exponent =
    1.25;  // of factorization and solves in the number of nodes, measured between 1e4 and 1e5
constexpr double usual_trials = 4.0;  // forward runs of a λ search
constexpr double descent_runs =
    3.0;  // a redesign, a trial, and the products of a descent at the cost of another run
constexpr double dense_rate = 2e10;  // flop/s of one core in BLAS-3, a cautious figure

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

/// The estimated wall time of one forward run and of one Jacobian.
struct TimeEstimate {
  double forward_s = 0.0, jacobian_s = 0.0;
};

/// Dense algebra of a Gauss–Newton step, in the smaller of data and model space as by default.
struct DenseEstimate {
  double system_s, factor_s;  ///< making the system, factorizing it for one λ
  double bytes;               ///< of Jacobian, system and work space
  double posterior_bytes;     ///< what deviations need beside
};

DenseEstimate dense_estimate(double n_unknowns, double n_data, int n_ranks) {
  const double side = std::min(n_unknowns, n_data), other = std::max(n_unknowns, n_data),
               rate = core::threads() * dense_rate;
  return {other * side * side / (rate * n_ranks), side * side * side / (3.0 * rate),
          8.0 * (2.0 * n_unknowns * n_data + 2.0 * side * side), 8.0 * n_unknowns * side};
}

/// The parts of one iteration.
struct IterationEstimate {
  double jacobian_s, trials, forward_s, dense_s;
  [[nodiscard]] double seconds() const { return jacobian_s + trials * forward_s + dense_s; }
};

/// Times the frequency in the middle of the list on this machine and scales to all of them, shared by
/// `n_workers`. Local: every rank times the same frequency.
TimeEstimate time_on_one_thread(const inversion::Stage& stage, const mt::Survey& all,
                                const mt::d2::MeshSet& meshes, int n_workers) {
  const int frequency = static_cast<int>(all.frequencies_hz.size() / 2);
  mt::Survey survey = survey_of(all, frequency);
  if (survey.keys.empty()) return {};
  const auto map = stage.unknowns.behind(std::make_shared<mt::d2::Simulation>(
      MPI_COMM_SELF, stage.problem->earth, std::move(survey), meshes_of(meshes, frequency)));
  const Eigen::VectorXd model = stage.unknowns.from_cells(stage.start_model);
  TimeEstimate time;
  const double share = relative_work(meshes, frequency) / n_workers;
  {
    const core::ScopedTimer timer("dry run/forward");
    static_cast<void>(map->value(model));
    time.forward_s = share * timer.seconds();
  }
  const core::ScopedTimer timer("dry run/jacobian");
  static_cast<void>(map->linearize(model)->local_jacobian());
  time.jacobian_s = share * timer.seconds();
  return time;
}

TimeEstimate estimate_time(MPI_Comm comm, const inversion::Stage& stage, const mt::Survey& survey,
                           const mt::d2::MeshSet& meshes) {
  const int n_threads = core::threads();
  core::set_threads(1);
  const TimeEstimate time = time_on_one_thread(stage, survey, meshes, core::size_of(comm) * n_threads);
  core::set_threads(n_threads);
  return time;
}

std::string text_of_unknowns(const physics::mesh::TensorGrid& grid, const inversion::Unknowns& unknowns) {
  const auto held = grid.n_cells() - unknowns.n_free(), shifts = unknowns.n_further();
  return fmt::format("unknowns:             {} × {} = {}{}{}\n", grid.n_y(), grid.n_z(), grid.n_cells(),
                     held > 0 ? fmt::format(", less {} in fixed regions", held) : "",
                     shifts > 0 ? fmt::format(", and {} static shifts", shifts) : "");
}

/// Regions and the unknowns that take the place of their cells; "" without a learned prior.
std::string text_of_regions(const inversion::Stage& first) {
  if (!first.codes) return {};
  const inversion::Unknowns& codes = *first.codes;
  std::string text;
  for (const inversion::prior::CutRegion& each : codes.regions()->regions())
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

IterationEstimate iteration_estimate(const config::InversionConfig& inversion, const TimeEstimate& time,
                                     const DenseEstimate& dense) {
  if (!inversion.needs_jacobian()) return {0.0, descent_runs, time.forward_s, 0.0};
  const double n_jacobians = inversion.alternates() ? 2.0 : 1.0;
  return {n_jacobians * time.jacobian_s, usual_trials, time.forward_s,
          dense.system_s + usual_trials * dense.factor_s};
}

std::string duration(double seconds) {
  return seconds < 120.0 ? fmt::format("{:.{}f} s", seconds, seconds < 10.0 ? 1 : 0)
                         : fmt::format("{:.1f} min", seconds / 60.0);
}

/// Returns the time that [uncertainty] takes, in words; "" without that table.
std::string text_of_uncertainty(const std::optional<config::UncertaintyConfig>& wanted,
                                const TimeEstimate& time, const DenseEstimate& dense) {
  const double linear_s = time.jacobian_s + dense.system_s + dense.factor_s;
  std::string text;
  if (wanted && wanted->ensemble) {
    const auto takes = [&](const inversion::uncertainty::RunCounts& runs) {
      return duration(runs.forward * time.forward_s + runs.jacobian * linear_s);
    };
    const auto [least, most] = inversion::uncertainty::cost_of(*wanted->ensemble);
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

}  // namespace

int print_dry_run(const inversion::Inversion& run, const inversion::mt::Simulations& simulations,
                  const config::Config& config, const Observations& observations) {
  const MPI_Comm comm = simulations.comm();
  const inversion::Stage& first = run.first();
  const mt::Survey survey = observations.data.kept().survey;
  const auto simulation = simulations.of_iterations(first.start_model, survey);
  const TimeEstimate time = estimate_time(comm, first, survey, simulation->meshes());
  const int n_ranks = core::size_of(comm);
  const auto dense_of = [&](const inversion::Unknowns& unknowns) {
    return dense_estimate(static_cast<double>(unknowns.size()),
                          static_cast<double>(observations.data.n_kept()), n_ranks);
  };
  const DenseEstimate dense = dense_of(first.unknowns),
                      dense_of_samples = dense_of(first.codes ? *first.codes : first.unknowns);
  const IterationEstimate iteration = iteration_estimate(config.inversion, time, dense);
  double bytes = simulation->estimated_bytes();
  if (config.inversion.needs_jacobian() || config.uncertainty) bytes += dense.bytes;
  if (config.uncertainty && config.uncertainty->posterior) bytes += dense.posterior_bytes;
  core::on_rank_zero(comm, [&] {
    core::log::print_out(text_of_unknowns(run.problem().earth.grid, first.unknowns) + text_of_regions(first));
    core::log::print_out(fmt::format("data:                 {} of {} used\n", observations.data.n_kept(),
                                     observations.data.value.size()));
    core::log::print_out(fmt::format("meshes:\n{}\n", simulation->meshes().summary()));
    core::log::print_out(fmt::format("memory per rank:      about {:.2f} GB\n", bytes / 1e9));
    core::log::print_out(
        fmt::format("time per iteration:   about {:.1f} s at first, on {} rank(s) of {} thread(s) (Jacobian "
                    "{:.1f} s, {:.0f} forward runs of {:.1f} s, "
                    "dense algebra {:.1f} s)\n",
                    iteration.seconds(), n_ranks, core::threads(), iteration.jacobian_s, iteration.trials,
                    iteration.forward_s, iteration.dense_s));
    core::log::print_out(
        fmt::format("{:<22}from {} to three times that: meshes grow with the contrasts of the model\n",
                    fmt::format("{} iterations:", config.inversion.max_iterations()),
                    duration(config.inversion.max_iterations() * iteration.seconds())));
    core::log::print_out(text_of_uncertainty(config.uncertainty, time, dense_of_samples));
  });
  return 0;
}

}  // namespace lodestone::mt_invert::method
