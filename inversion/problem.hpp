// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/data_set.hpp"
#include "engine/core/words.hpp"
#include "inversion/objective/misfit.hpp"
#include "inversion/objective/regularization.hpp"
#include "inversion/outcome.hpp"
#include "inversion/prior/regions.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/prior/roughness_norm.hpp"
#include "inversion/unknowns.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace lodestone::inversion {

/// The data maps of one accuracy, as functions of the model that they suit.
struct DataMaps {
  /// Makes the map from all cells to the data for a model. shape: (n_cells).
  objective::Design design{};
  /// Puts further unknowns behind those of the cells: makes of a map x → data the map [x; further] →
  /// [data; further]. Empty without further unknowns.
  std::function<core::MapPtr(core::MapPtr)> with_further{};
};

/// The rule by which the maps follow the model. `as_rms_falls`: once the rms has fallen by a third since the
/// last map was made.
enum class Redesigning : std::uint8_t { each_iteration, until_near_target, never, as_rms_falls };
constexpr auto words(Redesigning) {
  using enum Redesigning;
  return core::Words<Redesigning>{{each_iteration, "each_iteration"},
                                  {as_rms_falls, "as_rms_falls"},
                                  {until_near_target, "until_near_target"},
                                  {never, "never"}};
}

/// The estimated cost of runs of maps, shared by all ranks and threads.
struct MapCost {
  double forward_s = 0.0, jacobian_s = 0.0;  ///< wall time of one run and of one Jacobian
  double bytes = 0.0;                        ///< memory of a linearization on each rank
  double product_s = 0.0;                    ///< wall time of one product with J or Jᵀ; 0: as a run
};
/// The estimated cost of the maps of a run.
struct ForwardCost {
  MapCost iterations{};          ///< on the way from the start model to the final one
  double redesign_s = 0.0;       ///< wall time of one redesign of the maps
  std::string meshes{};          ///< a table in words; "" without
  bool is_guess_of_end = false;  ///< the meshes, and the memory, are those of a guess of the final model
  MapCost at_final_accuracy{};   ///< 0 where the maps do not state it
  double final_runs = 1.0;       ///< runs at it that the final responses take at least
  bool may_refine = false;       ///< the final responses may take more
  double responses_bytes = 0.0;  ///< memory of the final responses, which keep no linearization
  double certificate_s = 0.0, certificate_bytes = 0.0;  ///< the certificate; 0 without one
};

/// The terms on which a certificate is made.
struct CertificateTerms {
  std::function<bool()> stop{};  ///< runs between its parts; true ends it. collective
  double results_s = 0.0;        ///< wall time of the run at the final accuracy, to estimate by; 0: unknown
  double free_bytes = 0.0;       ///< memory of this rank that the run has held and gave back; 0: unknown
};

/// The errors of the maps of a problem at a model, as far as they were measured.
struct Certified {
  std::optional<NamedTable> table{};  ///< named "certificate"; empty when stopped or not measured at all
  std::string note{};                 ///< the parts that were not measured, and why; "" when all were
  bool stopped = false;
};

/// The forward side of a problem.
struct Forward {
  DataMaps iterations{};  ///< for the steps
  DataMaps results{};     ///< at the final accuracy; they return also data that are not used
  /// Maps at the final accuracy that return what those of the iterations do: a run whose target is missed at
  /// that accuracy alone takes its last steps with them. Empty: it takes none.
  DataMaps last_steps{};
  /// Rows of the data that the maps of the results return; empty: all. The others have no prediction (NaN).
  std::vector<Eigen::Index> result_rows{};
  /// Scale in which the maps take the cells: `linear` for the quantity itself.
  physics::mesh::Scale takes = physics::mesh::Scale::log10;
  bool used_only = false;  ///< the maps of the iterations return the used data alone
  /// Products with J or Jᵀ that cost as much as all rows of J; 0: hardly more than a run.
  double jacobian_products = 0.0;
  Redesigning redesign = Redesigning::never;
  double near_target = 1.5;  ///< rms over the target below which until_near_target keeps the maps
  std::string remedy{};      ///< advice on how the iterations see the responses of the results
  /// Makes tables for the outcome from the final model and the further unknowns; empty: none. collective.
  std::function<std::vector<NamedTable>(const Eigen::VectorXd&, const Eigen::VectorXd&)> tables{};
  /// Measures the errors of the maps at a model; empty: there is no such rule. It takes no more time than
  /// three runs at the final accuracy, and no more memory than the run. collective.
  std::function<Certified(const Eigen::VectorXd&, const CertificateTerms&)> certificate{};
  /// Estimates the cost from a model, a map of unknowns in front; empty: a run and a Jacobian are timed.
  std::function<ForwardCost(const Unknowns&, const Eigen::VectorXd&)> cost{};
};
/// Returns the forward side of one map for every model and accuracy.
[[nodiscard]] Forward fixed(core::MapPtr map, physics::mesh::Scale takes = physics::mesh::Scale::log10);

/// Unknowns beside the cells, each 0 ± sigma before the data, such as static shifts.
struct FurtherUnknowns {
  Eigen::Index n = 0;
  double sigma = 1.0;
};

/// An inverse problem in any dimension: the earth, the data, the maps between them, and what is known before.
struct Problem {
  /// Makes a problem without learned prior, bounds or further unknowns: all cells are free.
  Problem(physics::mesh::Earth earth, core::DataSet data, Forward forward);

  physics::mesh::Earth earth;
  core::DataSet data;
  Forward forward;
  physics::mesh::Property property{};
  Eigen::VectorXd start, reference;      ///< (n_cells), in the scale of the property; zero at first
  std::vector<Eigen::Index> free_cells;  ///< in order; the others keep their reference
  std::optional<Bounds> bounds{};
  FurtherUnknowns further{};
  prior::RoughnessOptions roughness{};
  prior::RoughnessNormOptions norm{};
  std::optional<prior::LearnedPriorOptions> prior{};
  double huber_threshold = 0.0;  ///< in errors of the data; 0: least squares
  About about{};                 ///< texts for the outcome; the run adds its provenance
  core::Table sites{};           ///< as in `Outcome`
  physics::mesh::Frame frame{};

  /// Checks that the parts fit each other. errors: ShapeError, InvalidArgument.
  void check() const;
};

/// Returns what a resumed run must find again: for grid, surface, reference, cells held, and areas a line
/// with a checksum of their numbers, which files beside the configuration may give.
[[nodiscard]] std::string identity(const Problem& problem);

/// Returns the scale step between the model and what its maps take: log10 when those take the quantity.
[[nodiscard]] physics::mesh::Scale scale_between(const Problem& problem);

/// Returns the misfit of the iterations, of the data that their maps return, and below them of the further
/// unknowns against their prior.
[[nodiscard]] objective::DataMisfit misfit_of_iterations(const Problem& problem);
/// Returns the misfit of all data, and below them of the further unknowns.
[[nodiscard]] objective::DataMisfit misfit_of_results(const Problem& problem);

/// Returns predictions of all data from those of the used ones; NaN elsewhere.
[[nodiscard]] Eigen::VectorXd spread_over_all(const core::DataSet& data, const Eigen::VectorXd& of_used);

}  // namespace lodestone::inversion
