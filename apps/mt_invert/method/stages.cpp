// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/stages.hpp"

#include "engine/core/log.hpp"
#include "inversion/optimize/redesign.hpp"

#include <utility>

namespace lodestone::mt_invert::method {
namespace {

constexpr const char *cells = "cells", *features = "features", *polish = "polish";

std::vector<physics::mt::StaticShiftKey> shifts_of(const config::Config& config,
                                                   const physics::mt::Survey2D& survey) {
  if (!config.static_shift) return {};
  auto shifts = physics::mt::static_shift_keys(survey, config.static_shift->modes);
  core::log::info("static shifts: {} unknowns, {:g} decades wide", shifts.size(),
                  config.static_shift->sigma_decades);
  return shifts;
}

/// A transform cannot hold a model outside its bounds.
void warn_if_moved(const ModelSpace& space, const char* which, const Eigen::VectorXd& log10_resistivity) {
  const Eigen::VectorXd inside = space.to_log10(space.from_log10(log10_resistivity));
  const auto n_moved = ((inside - log10_resistivity).array().abs() > 0.05).count();
  if (n_moved > 0)
    core::log::warning(
        "{} cells of the {} model lie outside [bounds] and were moved inside; widen the bounds", n_moved,
        which);
}

double near_rms(const config::Config& config) {
  return config.forward.near_target * config.inversion.target_rms();
}

/// Whether meshes stay those that the features ended on.
bool keeps_meshes(const config::Config& config,
                  const std::optional<inversion::optimize::InversionSummary>& before) {
  return before && config.forward.redesign == config::Redesigning::until_near_target &&
         inversion::optimize::was_near(before->history, near_rms(config));
}

}  // namespace

inversion::optimize::StagedHistory Stage::history() const {
  if (!features) return {name};
  return {name, inversion::optimize::StagedHistory{method::features}.with(features->history)};
}

inversion::optimize::Redesign Stage::redesign(const config::Config& config) const {
  const inversion::objective::Design design = [this](const Eigen::VectorXd& model) {
    return physics.forward_for(physics.space().to_log10(model));
  };
  switch (config.forward.redesign) {
    case config::Redesigning::never:
      break;
    case config::Redesigning::each_iteration:
      return inversion::optimize::redesign_each_iteration(design);
    case config::Redesigning::until_near_target:
      if (!keeps_meshes(config, features))
        return inversion::optimize::redesign_until_near(near_rms(config), design);
  }
  return {};
}

Stage first_stage(MPI_Comm comm, const config::Config& config, const Earth& earth,
                  const physics::mt::Survey2D& survey) {
  auto subdomains = cut_subdomains(config.learned_prior, earth);
  auto shifts = shifts_of(config, survey);
  std::optional<ModelSpace> codes;
  if (subdomains) codes.emplace(earth, std::nullopt, shifts, std::move(subdomains));
  const ModelSpace space =
      codes && !config.inversion.alternates() ? *codes : ModelSpace(earth, config.bounds, std::move(shifts));
  Stage stage{codes ? features : cells, earth, PhysicsSetup(comm, earth, survey, space, config.forward), {}};
  stage.start = codes ? codes->unshifted(earth.start_log10) : space.unshifted(earth.start_log10);
  if (codes) stage.earth.start_log10 = codes->to_log10(stage.start);
  if (codes && !space.coded()) stage.start = space.unshifted(stage.earth.start_log10);
  stage.codes = std::move(codes);
  if (config.bounds) {
    warn_if_moved(space, "start", earth.start_log10);
    warn_if_moved(space, "reference", earth.reference_log10);
  }
  return stage;
}

bool needs_polish(const config::Config& config, const inversion::optimize::InversionSummary& of_features) {
  using enum inversion::optimize::StopReason;
  if (!config.learned_prior || config.learned_prior->polish == config::Polish::never) return false;
  if (of_features.reason == interrupted || of_features.reason == time_limit || of_features.reason == failed)
    return false;
  return config.learned_prior->polish == config::Polish::always || of_features.reason != target_reached;
}

Stage polish_stage(const config::Config& config, const Stage& first,
                   inversion::optimize::InversionSummary of_features) {
  const ModelSpace& before = first.physics.space();
  Earth earth = first.earth;
  earth.start_log10 = earth.reference_log10 = before.to_log10(of_features.model);
  const ModelSpace space(earth, {}, before.shift_keys());
  Eigen::VectorXd start = space.unshifted(earth.start_log10);
  start.tail(space.n_shifts()) = before.shifts_of(of_features.model);
  core::log::info("polish: from rms {:.4f} on in {} cells, damped toward the model of the features",
                  of_features.rms, space.n_free());
  PhysicsSetup physics(first.physics.comm(), earth, first.physics.survey(), space, config.forward);
  Stage stage{polish, std::move(earth), std::move(physics), std::move(start), {}, std::move(of_features)};
  if (keeps_meshes(config, stage.features)) {
    const Eigen::VectorXd& designed_for = stage.features->design_model;
    stage.design_log10 = designed_for.size() > 0 ? before.to_log10(designed_for) : first.earth.start_log10;
  }
  return stage;
}

}  // namespace lodestone::mt_invert::method
