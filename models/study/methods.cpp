// SPDX-License-Identifier: Apache-2.0
#include "models/study/methods.hpp"

#include "engine/core/map_algebra.hpp"
#include "inversion/mt/soundings.hpp"
#include "inversion/objective/metrics.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/optimize/redesign.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "models/vae/vae_decoder.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

namespace lodestone::models::study {
namespace {

namespace mt = physics::mt;
using Eigen::VectorXd;
using inversion::optimize::InversionSummary;
using inversion::prior::SubdomainMap;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr int published_iterations = 4,
              published_jacobians = 8;  // a published iteration is a pair of half-steps, a Jacobian each

/// Notes c and what it cost after each iteration, over several minimizations.
class NoteMisfit final : public inversion::optimize::Directive {
 public:
  explicit NoteMisfit(const SyntheticData& data) : data_(data) {}
  void on_iteration(const inversion::optimize::IterationView& view) override {
    const inversion::optimize::IterationRecord& record = view.record;
    if (record.kind == inversion::optimize::StepKind::start && iterations_ > 0)
      return;  // a polish starts where the codes ended
    if (record.kind != inversion::optimize::StepKind::start) ++iterations_;
    jacobians_ += record.n_jacobian;
    const double c = data_.relative_misfit(view.predicted);
    if (iterations_ <= published_iterations) after_iterations = std::min(after_iterations, c);
    if (jacobians_ <= published_jacobians) after_jacobians = std::min(after_jacobians, c);
    if (record.rms <= 1.0 && std::isnan(to_target)) to_target = iterations_;
  }
  double after_iterations = std::numeric_limits<double>::infinity(), after_jacobians = after_iterations,
         to_target = nan;

 private:
  const SyntheticData& data_;
  int iterations_ = 0, jacobians_ = 0;
};

/// Simulations on meshes made for a model, behind whatever sets the model; it counts what they solve.
class ForwardMaps {
 public:
  ForwardMaps(const Problem& problem, const Settings& settings) : problem_(problem) {
    rules_ = mt::d2::design_options(mt::d2::Accuracy::iteration);
    rules_.coarsen = settings.mesh_coarsen;
  }
  core::MapPtr at(const VectorXd& model, const core::MapPtr& sets_model) {
    const physics::mesh::Model section = problem_.domain->section(model);
    const mt::Survey& survey = problem_.data.survey;
    auto made = std::make_unique<const mt::d2::Simulation>(
        MPI_COMM_SELF, section.earth, mt::needed_responses(survey), survey.stations, survey.frequencies_hz,
        mt::d2::design_meshes(section, survey, rules_));
    const auto count_and_drop = [solves = solves_](const mt::d2::Simulation* simulation) {
      *solves += simulation->counts().right_hand_sides;
      delete simulation;
    };
    const std::shared_ptr<const mt::d2::Simulation> simulation(made.release(), count_and_drop);
    return core::compose(mt::d2::data_map(simulation, survey),
                         core::compose(inversion::objective::exp10_map(model.size()), sets_model));
  }
  /// Counts the right-hand sides of all simulations that were deleted.
  [[nodiscard]] long solves() const { return *solves_; }

 private:
  const Problem& problem_;
  mt::d2::MeshDesignOptions rules_;
  std::shared_ptr<long> solves_ = std::make_shared<long>(0);
};

/// Returns layered earths under the stations. Errors of 10 % at least: the ground is not layered, and what
/// noise does to single soundings would stay in the section.
VectorXd stitched_soundings(const Problem& problem) {
  constexpr double least_error = 0.1;
  const SyntheticData& data = problem.data;
  const double phase_error = data.sigma.maxCoeff();  // that of log10 ρₐ is 0.87 of it
  const mt::Observations observed{
      .survey = data.survey,
      .value = data.observed,
      .sigma = data.sigma * std::max(1.0, least_error / std::numbers::sqrt2 / phase_error),
      .reason = std::vector<mt::MaskReason>(data.survey.keys.size(), mt::MaskReason::kept),
      .interpolated = {},
  };
  const physics::mesh::TensorGrid& grid = problem.domain->grid();
  return inversion::mt::stitched(
      inversion::mt::invert_soundings({.mode = mt::SoundingMode::te}, observed, grid), data.survey.stations,
      grid, physics::mesh::SurfaceLine());
}

inversion::prior::RoughnessNormOptions norm_between(const MethodWeights& weights) {
  if (weights.between_epsilon == 0.0) return {};
  return {.norm = inversion::prior::RoughnessNorm::l1, .epsilon = weights.between_epsilon};
}

struct Minimization {
  std::shared_ptr<const SubdomainMap> map;
  VectorXd start, reference;  ///< models
  MethodWeights weights;
  int max_iterations;
  double near_rms;
};

/// Returns its summary, the model of cells instead of the unknowns in it.
InversionSummary minimize(const Minimization& what, const Problem& problem, ForwardMaps& forward,
                          const std::shared_ptr<NoteMisfit>& notes) {
  const inversion::prior::RoughnessOptions roughness{
      .horizontal_weight = what.weights.horizontal,
      .depth_weight_exponent = what.weights.depth_exponent,
      .horizontal_depth_exponent = what.weights.horizontal_depth_exponent,
      .depth_weight_z0_m = 50.0};
  const inversion::prior::CodedRoughness coded(
      what.map, inversion::prior::roughness_operator(problem.domain->grid(), roughness), what.reference,
      {.code_weight = what.weights.code,
       .between_weight = what.weights.between,
       .between_norm = norm_between(what.weights)});
  VectorXd start = what.map->encode(what.start);
  const inversion::optimize::GaussNewton method(MPI_COMM_SELF,
                                                {.stop = {.max_iterations = what.max_iterations}});
  const auto redesign = [&](const VectorXd& unknowns) {
    return forward.at(what.map->value(unknowns), what.map);
  };
  InversionSummary summary = method.minimize(
      {forward.at(what.map->value(start), what.map), problem.data.misfit(), coded.at(start)}, start,
      {.directives = {notes},
       .redesign = inversion::optimize::redesign_until_near(what.near_rms, redesign),
       .reweigh = coded.reweigh()});
  summary.model = what.map->value(summary.model);
  return summary;
}

void add_counts(const InversionSummary& summary, Figures& to) {
  for (const inversion::optimize::IterationRecord& row : summary.history) {
    to.jacobians += row.n_jacobian;
    to.forward_runs += row.n_forward;
  }
  to.iterations += summary.history.back().iteration;
}

void add_errors(const Problem& problem, const InversionSummary& summary, Figures& to) {
  const Domain& domain = *problem.domain;
  to.c = problem.data.relative_misfit(summary.predicted);
  to.floor = problem.data.floor();
  to.chi_rms = summary.rms;
  to.error_domain = inversion::objective::relative_error(summary.model, problem.truth, domain.domain_cells());
  to.error_region = inversion::objective::relative_error(summary.model, problem.truth, domain.region_cells());
  to.similarity_region = inversion::objective::structural_similarity(domain.image_of_region(summary.model),
                                                                     domain.image_of_region(problem.truth));
}

}  // namespace

PriorMaps::PriorMaps(const Domain& domain, const vae::TrainedVae& vae) {
  vae.check_grid(domain.region_depths_m(), "the region of interest");
  const Eigen::Index n = domain.grid().n_cells();
  const auto map_of = [&](inversion::prior::DecoderPtr decoder) {
    return std::make_shared<const SubdomainMap>(
        n, std::vector{domain.subdomains(vae.grid(), std::move(decoder))});
  };
  cells_ = std::make_shared<const SubdomainMap>(n, std::vector<inversion::prior::Region>{});
  gaussian_ = map_of(inversion::prior::gaussian_decoder(vae.statistics().mean, vae.statistics().covariance));
  feature_ = map_of(vae::vae_decoder(vae));
}

std::shared_ptr<const SubdomainMap> PriorMaps::map(Method method) const {
  return method == Method::pixel ? cells_ : method == Method::gaussian ? gaussian_ : feature_;
}

VectorXd PriorMaps::decoded(const VectorXd& model) const { return feature_->value(feature_->encode(model)); }

Run run_method(const Problem& problem, const PriorMaps& prior, Method method, Start start,
               const Settings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const VectorXd half_space = VectorXd::Constant(problem.domain->grid().n_cells(), settings.half_space_log10);
  const auto notes = std::make_shared<NoteMisfit>(problem.data);
  ForwardMaps forward(problem, settings);
  const VectorXd first = start == Start::decoded     ? prior.decoded(half_space)
                         : start == Start::soundings ? stitched_soundings(problem)
                                                     : half_space;
  InversionSummary summary = minimize({prior.map(method), first, half_space, settings.weights_of(method),
                                       settings.max_iterations, settings.near_rms},
                                      problem, forward, notes);
  Run run;
  add_counts(summary, run.figures);
  run.figures.chi_rms_before_polish = summary.rms;
  if (method != Method::pixel && summary.rms > 1.0) {
    run.figures.polished = 1.0;
    const VectorXd decoded = summary.model;
    summary = minimize({prior.map(Method::pixel), decoded, decoded, settings.pixel,
                        settings.max_polish_iterations, settings.near_rms},
                       problem, forward, notes);
    add_counts(summary, run.figures);
  }
  add_errors(problem, summary, run.figures);
  run.figures.c_4_iterations = notes->after_iterations;
  run.figures.c_8_jacobians = notes->after_jacobians;
  run.figures.iterations_to_target = notes->to_target;
  run.figures.solves = static_cast<double>(forward.solves());
  run.figures.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  run.model = std::move(summary.model);
  return run;
}

}  // namespace lodestone::models::study
