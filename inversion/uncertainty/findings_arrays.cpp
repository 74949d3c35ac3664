// SPDX-License-Identifier: Apache-2.0
#include "engine/core/array_io.hpp"
#include "engine/core/error.hpp"
#include "inversion/uncertainty/findings.hpp"
#include "physics/mesh/earth.hpp"

#include <array>

namespace lodestone::inversion::uncertainty {
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
