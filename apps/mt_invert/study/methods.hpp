// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/study/data.hpp"
#include "apps/mt_invert/study/domain.hpp"
#include "engine/core/words.hpp"
#include "inversion/optimize/optimizer.hpp"
#include "inversion/prior/roughness.hpp"
#include "models/vae/trained_vae.hpp"

#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::mt_invert::study {

enum class SyntheticMethod {
  pixel,     ///< all cells
  gaussian,  ///< codes of the normal distribution of the draws the network was trained on, cells outside
  feature,   ///< codes of the network, cells outside
};
constexpr auto words(SyntheticMethod) {
  using enum SyntheticMethod;
  return core::Words<SyntheticMethod>{{pixel, "pixel"}, {gaussian, "Gaussian"}, {feature, "feature"}};
}

inline constexpr double usual_between_epsilon = 0.05;

/// The weights of one method. λ is not among them: in every method it is Occam's.
struct MethodWeights {
  double horizontal = 0.1;  ///< w_h of the roughness, beside a vertical weight of 1
  double depth_exponent = 1.0,
         horizontal_depth_exponent = 0.0;  ///< weights grow with depth, z0 = 50 m (`RoughnessOptions`)
  // Unused without codes (`CodedRoughnessOptions`):
  double code = 0.1;     ///< weight of the codes' prior
  double between = 1.0;  ///< weight of the roughness between subdomains
  double between_epsilon =
      0.0;  ///< jumps beyond it, in decades, count by their height, not its square; 0: all by the square
};

/// The settings that all methods share. The rule for weights, λ and start: docs/theory/learned_prior.md.
struct ContestSettings {
  MethodWeights pixel{}, gaussian{.code = 1.0, .between = 0.2},
      feature{.between_epsilon = usual_between_epsilon};
  double half_space_log10 = 2.0;  ///< start and reference, log10 of ohm m
  double mesh_coarsen = 0.6;      ///< `coarsen` of the meshes of accuracy `iteration`
  double near_rms = 1.5;          ///< rms of a model whose meshes are the last
  int max_iterations = 20, max_polish_iterations = 10;
  [[nodiscard]] const MethodWeights& weights_of(SyntheticMethod method) const;
};

/// The start model of a run. The reference is the half-space in all of them.
enum class SyntheticStart {
  half_space,
  decoded,    ///< the network's model nearest to the half-space
  soundings,  ///< layered earths under the stations that fit to 10 %, interpolated along the profile
};
constexpr auto words(SyntheticStart) {
  using enum SyntheticStart;
  return core::Words<SyntheticStart>{
      {half_space, "half-space"}, {decoded, "decoded"}, {soundings, "soundings"}};
}

/// The figures of one run; NaN where it has none.
struct SyntheticFigures {
  double c = 0.0, floor = 0.0;                       ///< relative data misfit; of the data without noise
  double c_4_iterations = 0.0, c_8_jacobians = 0.0;  ///< smallest c up to then
  double chi_rms = 0.0,
         chi_rms_before_polish = 0.0;             ///< the target is 1; the second without a polish: the first
  double error_domain = 0.0, error_region = 0.0;  ///< ‖m − m_true‖/‖m_true‖ of log10 resistivity
  double similarity_region = 0.0;                 ///< SSIM
  double iterations = 0.0, iterations_to_target = 0.0;  ///< including those of a polish
  double jacobians = 0.0, forward_runs = 0.0,
         solves = 0.0;    ///< `solves`: right-hand sides of all frequencies and modes
  double seconds = 0.0;   ///< wall time
  double polished = 0.0;  ///< 1: the codes did not reach the target, cells went on
};
struct FigureName {
  const char* name;
  double SyntheticFigures::*figure;
};
/// Returns all members with their names, in order.
[[nodiscard]] const std::vector<FigureName>& figure_names();

/// Data and the truth behind them.
struct SyntheticProblem {
  const SyntheticDomain* domain = nullptr;
  SyntheticData data;
  Eigen::VectorXd truth;  ///< log10 of ohm m in the cells of the domain's grid
};

struct SyntheticRun {
  SyntheticFigures figures;
  Eigen::VectorXd model;  ///< log10 of ohm m
};

/// The decoders of one prior on the domain.
class SyntheticPrior {
 public:
  /// Makes the decoders of a network. errors: InvalidArgument for a network of other cells.
  SyntheticPrior(const SyntheticDomain& domain, const models::vae::TrainedVae& vae);
  /// Codes of the region's subdomains and the cells outside; without a decoder the cells alone.
  [[nodiscard]] std::shared_ptr<const inversion::prior::SubdomainMap> map(SyntheticMethod method) const;
  /// Returns the network's model nearest to another.
  [[nodiscard]] Eigen::VectorXd decoded(const Eigen::VectorXd& model) const;

 private:
  std::shared_ptr<const inversion::prior::SubdomainMap> cells_, gaussian_, feature_;
};

/// Gauss–Newton with Occam's λ to chi rms 1 on this rank alone; where codes do not reach it, on in cells from
/// the decoded model, by the roughness of the deviation.
[[nodiscard]] SyntheticRun run_method(const SyntheticProblem& problem, const SyntheticPrior& prior,
                                      SyntheticMethod method, SyntheticStart start,
                                      const ContestSettings& settings);

}  // namespace lodestone::mt_invert::study
