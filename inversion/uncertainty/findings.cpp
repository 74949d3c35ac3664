// SPDX-License-Identifier: Apache-2.0
#include "inversion/uncertainty/findings.hpp"

#include "engine/core/array_io.hpp"
#include "engine/core/error.hpp"
#include "engine/core/median.hpp"
#include "physics/mesh/earth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace lodestone::inversion::uncertainty {
namespace {

void check(const char* name, const Eigen::VectorXd& values, Eigen::Index n_cells) {
  if (values.size() != n_cells)
    throw core::ShapeError("inversion::Uncertainty#wrong_size", "expected {} values in {}, got {}", n_cells,
                           name, values.size());
}

using core::median;

/// Returns the lower edge of the deepest cell of each column that is seen, the median over the columns; depth
/// as the grid counts it.
double usual_depth_m(const physics::mesh::TensorGrid& grid, const Eigen::VectorXd& investigated) {
  const std::vector<double>& z_m = grid.z_edges_m();
  const auto n_columns = static_cast<std::size_t>(grid.n_columns());
  std::vector<double> depth_m(n_columns, z_m.front());
  for (std::size_t cell = 0; cell < static_cast<std::size_t>(grid.n_cells()); ++cell) {  // layer by layer
    if (investigated[static_cast<Eigen::Index>(cell)] > 0.5)
      depth_m[cell % n_columns] = z_m[cell / n_columns + 1];
  }
  return median(std::move(depth_m));
}

constexpr double clearly_narrower = 0.9;  // than trained

/// Describes errors that count larger than stated, and a prior that counts narrower than trained.
std::string on_counting(const Counting& counting) {
  std::string text;
  if (counting.error_scale != 1.0)
    text = fmt::format(
        " Errors count {:.2f} times the stated ones, to agree with the rms; spreads are wider by this "
        "factor.",
        counting.error_scale);
  if (counting.codes_in_run >= clearly_narrower) return text;
  text +=
      fmt::format(" The λ of the run made the prior of the codes {:.1f} times narrower than it was trained;",
                  1.0 / counting.codes_in_run);
  return text + (counting.codes < clearly_narrower ? " so it is here, and spreads are too small."
                                                   : " here it counts as trained.");
}

std::string on_posterior(const PosteriorSpread& posterior, const physics::mesh::TensorGrid& grid) {
  std::vector<double> seen;
  for (Eigen::Index i = 0; i < posterior.investigated.size(); ++i) {
    if (posterior.investigated[i] > 0.5 && posterior.prior_deviation_decades[i] > 0.0)
      seen.push_back(posterior.deviation_decades[i]);
  }
  const std::string text =
      fmt::format("{:.0f} data determine {:.1f} of {:.0f} unknowns ({}) around the final model.",
                  posterior.n_data, posterior.degrees_of_freedom, posterior.n_unknowns, posterior.unknowns);
  if (seen.empty()) return text + " They determine no cell: the model is that of its prior.";
  const double share =
      100.0 * static_cast<double>(seen.size()) / static_cast<double>(posterior.investigated.size());
  return text +
         fmt::format(
             " They determine {:.0f} % of the cells, down to {:.3g} km in the median column; there log10 "
             "resistivity is known to {:.2f} "
             "decades (one standard deviation, the median).",
             share, 1e-3 * usual_depth_m(grid, posterior.investigated), median(std::move(seen)));
}

std::string on_fit(Fitting fitting, double target_rms) {
  switch (fitting) {
    case Fitting::all:
      return fmt::format(" All of them fit the data (target {:g}).", target_rms);
    case Fitting::some:
      return fmt::format(" Not all of them fit the data: some miss the target {:g} by more than 20 %.",
                         target_rms);
    case Fitting::none:
      break;
  }
  return fmt::format(
      " None of them fits the data: all miss the target {:g} by more than 20 %. Their spread shows how "
      "firmly "
      "the run holds its model, not what the data determine.",
      target_rms);
}

std::string on_ensemble(const EnsembleSpread& ensemble, double target_rms) {
  std::string text = fmt::format(
      "{} models drawn from data and prior (seed {}) have rms {:.3f} to {:.3f} and differ by {:.2f} decades "
      "(one standard deviation, the median cell).",
      ensemble.n_samples, ensemble.seed, ensemble.smallest_rms, ensemble.largest_rms,
      median({ensemble.deviation_decades.begin(), ensemble.deviation_decades.end()}));
  text += on_fit(ensemble.fitting(target_rms), target_rms);
  if (ensemble.n_failed > 0)
    text += fmt::format(" {} more failed and are left out: the true spread is larger.", ensemble.n_failed);
  if (ensemble.n_unconverged > 0)
    text += fmt::format(" {} ran out of steps; more of them (max_iterations) may change the spread.",
                        ensemble.n_unconverged);
  if (ensemble.n_samples < EnsembleSpread::fewest)
    text += fmt::format(" So few samples give no percentiles: p5 and p95 are the extremes; {} give them.",
                        EnsembleSpread::fewest);
  return text;
}

}  // namespace

void check(const Uncertainty& uncertainty, Eigen::Index n_cells) {
  if (uncertainty.posterior) {
    const PosteriorSpread& p = *uncertainty.posterior;
    check("prior_deviation_decades", p.prior_deviation_decades, n_cells);
    check("deviation_decades", p.deviation_decades, n_cells);
    check("variance_reduction", p.variance_reduction, n_cells);
    check("resolution", p.resolution, n_cells);
    check("investigated", p.investigated, n_cells);
  }
  if (!uncertainty.ensemble) return;
  const EnsembleSpread& e = *uncertainty.ensemble;
  check("p5_log10_resistivity", e.p5_log10_resistivity, n_cells);
  check("p50_log10_resistivity", e.p50_log10_resistivity, n_cells);
  check("p95_log10_resistivity", e.p95_log10_resistivity, n_cells);
  check("deviation_decades", e.deviation_decades, n_cells);
}

std::string in_words(const Uncertainty& uncertainty, const physics::mesh::TensorGrid& grid,
                     double target_rms) {
  const auto& [posterior, ensemble] = uncertainty;
  std::string text;
  if (posterior) text = on_posterior(*posterior, grid);
  if (posterior && ensemble) text += ' ';
  if (ensemble) text += on_ensemble(*ensemble, target_rms);
  return text + on_counting(posterior  ? posterior->counting
                            : ensemble ? ensemble->counting
                                       : Counting{});  // the same in both
}

namespace {

constexpr const char *posterior_group = "uncertainty/posterior", *ensemble_group = "uncertainty/ensemble";
constexpr const char* decades = "log10(ohm m)";

struct Scalar {
  const char* name;
  double* value;
};
struct Cells {
  const char *name, *units;
  Eigen::VectorXd* values;
};

std::array<Cells, 5> cells_of(PosteriorSpread& p) {
  return {{{"prior_deviation_decades", decades, &p.prior_deviation_decades},
           {"deviation_decades", decades, &p.deviation_decades},
           {"variance_reduction", "1", &p.variance_reduction},
           {"resolution", "1", &p.resolution},
           {"investigated", "1", &p.investigated}}};
}

std::array<Scalar, 9> scalars_of(PosteriorSpread& p) {
  return {{{"seen_share", &p.seen_share},
           {"largest_prior_decades", &p.largest_prior_decades},
           {"lambda", &p.lambda},
           {"error_scale", &p.counting.error_scale},
           {"codes_scale_in_run", &p.counting.codes_in_run},
           {"codes_scale", &p.counting.codes},
           {"degrees_of_freedom", &p.degrees_of_freedom},
           {"n_unknowns", &p.n_unknowns},
           {"n_data", &p.n_data}}};
}

std::array<Cells, 4> cells_of(EnsembleSpread& e) {
  return {{{"p5_log10_resistivity", decades, &e.p5_log10_resistivity},
           {"p50_log10_resistivity", decades, &e.p50_log10_resistivity},
           {"p95_log10_resistivity", decades, &e.p95_log10_resistivity},
           {"deviation_decades", decades, &e.deviation_decades}}};
}

std::array<Scalar, 6> scalars_of(EnsembleSpread& e) {
  return {{{"lambda", &e.lambda},
           {"error_scale", &e.counting.error_scale},
           {"codes_scale_in_run", &e.counting.codes_in_run},
           {"codes_scale", &e.counting.codes},
           {"smallest_rms", &e.smallest_rms},
           {"largest_rms", &e.largest_rms}}};
}

template <class Spread>
void write_spread(core::ArraySink& sink, const std::string& group, Spread spread,
                  const physics::mesh::TensorGrid& grid) {
  for (const Cells& each : cells_of(spread))
    physics::mesh::write_cells(sink, group + "/" + each.name, grid, *each.values, each.units);
  for (const Scalar& each : scalars_of(spread))
    core::write_number(sink, group + "/" + each.name, *each.value);
  sink.attribute(group, "unknowns", spread.unknowns);
}

template <class Spread>
Spread read_spread(const core::ArraySource& source, const std::string& group,
                   const physics::mesh::TensorGrid& grid) {
  Spread spread;
  for (const Cells& each : cells_of(spread))
    *each.values = physics::mesh::read_cells(source, group + "/" + each.name, grid);
  for (const Scalar& each : scalars_of(spread))
    *each.value = core::read_number(source, group + "/" + each.name);
  spread.unknowns = source.attribute(group, "unknowns");
  return spread;
}

}  // namespace

void write(core::ArraySink& sink, const Uncertainty& uncertainty, const physics::mesh::TensorGrid& grid) {
  if (uncertainty.posterior) write_spread(sink, posterior_group, *uncertainty.posterior, grid);
  if (!uncertainty.ensemble) return;
  const EnsembleSpread& ensemble = *uncertainty.ensemble;
  write_spread(sink, ensemble_group, ensemble, grid);
  const std::array<std::int64_t, 4> counts{ensemble.n_samples, ensemble.n_failed, ensemble.n_unconverged,
                                           static_cast<std::int64_t>(ensemble.seed)};
  const std::string name = std::string(ensemble_group) + "/counts";
  core::write_vector(sink, name, std::span<const std::int64_t>(counts));
  sink.attribute(name, "meaning",
                 "samples with a model, samples that failed, samples whose steps ran out, seed");
}

std::optional<Uncertainty> read_findings(const core::ArraySource& source,
                                         const physics::mesh::TensorGrid& grid) {
  Uncertainty uncertainty;
  if (source.contains(std::string(posterior_group) + "/lambda"))
    uncertainty.posterior = read_spread<PosteriorSpread>(source, posterior_group, grid);
  const std::string name = std::string(ensemble_group) + "/counts";
  if (source.contains(name)) {
    EnsembleSpread& ensemble =
        uncertainty.ensemble.emplace(read_spread<EnsembleSpread>(source, ensemble_group, grid));
    const auto counts = core::read_integers(source, name);
    if (counts.size() != 4)
      throw core::FormatError("inversion::uncertainty::read_findings#wrong_size",
                              "array '{}': expected 4 entries, got {}", name, counts.size());
    ensemble.n_samples = static_cast<int>(counts[0]);
    ensemble.n_failed = static_cast<int>(counts[1]);
    ensemble.n_unconverged = static_cast<int>(counts[2]);
    ensemble.seed = static_cast<std::uint64_t>(counts[3]);
  }
  if (!uncertainty.posterior && !uncertainty.ensemble) return std::nullopt;
  return uncertainty;
}

}  // namespace lodestone::inversion::uncertainty
