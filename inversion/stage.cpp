// SPDX-License-Identifier: Apache-2.0
#include "inversion/stage.hpp"

#include "engine/core/log.hpp"
#include "inversion/optimize/redesign.hpp"

#include <utility>

namespace lodestone::inversion {
namespace {

constexpr const char *cells = "cells", *of_codes = "features", *polish = "polish", *final_steps = "final";

/// Warns of cells that the bounds move, since a transform cannot hold a model outside them.
void warn_if_moved(const Unknowns& unknowns, const char* which, const Eigen::VectorXd& model) {
  const Eigen::VectorXd inside = unknowns.to_cells(unknowns.from_cells(model));
  const auto n_moved = ((inside - model).array().abs() > 0.05).count();
  if (n_moved > 0)
    core::log::warning(
        core::log::Id("inversion::Stage#cells_moved"),
        "{} cells of the {} model lie outside [bounds] and were moved inside; widen the bounds", n_moved,
        which);
}

constexpr double fallen_by_a_third = 2.0 / 3.0;

double near_rms(const Problem& problem, double target_rms) {
  return problem.forward.near_target * target_rms;
}

/// Returns true if maps stay those that the stage before ended with.
bool keeps_maps(const Problem& problem, const std::optional<optimize::InversionSummary>& before,
                double target_rms) {
  return before && problem.forward.redesign == Redesigning::until_near_target &&
         optimize::was_near(before->history, near_rms(problem, target_rms));
}

Unknowns unknowns_of(const Problem& problem, Eigen::VectorXd held, std::optional<Bounds> bounds,
                     std::shared_ptr<const prior::Regions> regions = nullptr) {
  return {{problem.free_cells, std::move(held)},
          scale_between(problem),
          bounds,
          problem.further.n,
          std::move(regions)};
}

std::shared_ptr<const prior::Regions> cut(const Problem& problem) {
  if (!problem.prior) return nullptr;
  auto regions = std::make_shared<const prior::Regions>(*problem.prior, problem.earth, problem.free_cells);
  regions->log();
  return regions;
}

}  // namespace

optimize::StagedHistory Stage::history() const {
  if (is_final()) return {name, rows_before};
  if (!features) return {name};
  return {name, optimize::StagedHistory{of_codes}.with(features->history)};
}

core::MapPtr Stage::forward_for(const Eigen::VectorXd& model, const Unknowns& of) const {
  const DataMaps& maps = is_final() ? problem->forward.last_steps : problem->forward.iterations;
  core::MapPtr map = of.behind(maps.design(model));
  return of.n_further() > 0 ? maps.with_further(std::move(map)) : map;
}

optimize::Redesign Stage::redesign(double target_rms) const {
  const objective::Design design = [this](const Eigen::VectorXd& at) {
    return forward_for(unknowns.to_cells(at), unknowns);
  };
  if (is_final()) return optimize::redesign_each_iteration(design);  // as the results are judged
  switch (problem->forward.redesign) {
    case Redesigning::never:
      break;
    case Redesigning::each_iteration:
      return optimize::redesign_each_iteration(design);
    case Redesigning::as_rms_falls:
      return optimize::redesign_as_rms_falls(fallen_by_a_third, design);
    case Redesigning::until_near_target:
      if (!keeps_maps(*problem, features, target_rms))
        return optimize::redesign_until_near(near_rms(*problem, target_rms), design);
  }
  return {};
}

Stage first_stage(ProblemPtr problem, const Method& method) {
  const Problem& p = *problem;
  std::optional<Unknowns> codes;
  if (auto regions = cut(p)) codes = unknowns_of(p, p.reference, std::nullopt, std::move(regions));
  const Unknowns unknowns = codes && !alternates(method) ? *codes : unknowns_of(p, p.reference, p.bounds);
  Stage stage{codes ? of_codes : cells, std::move(problem), unknowns, {}, p.start, p.reference};
  stage.start = codes ? codes->with_zeros(p.start) : unknowns.with_zeros(p.start);
  if (codes) stage.start_model = codes->to_cells(stage.start);
  if (codes && !unknowns.coded()) stage.start = unknowns.with_zeros(stage.start_model);
  stage.codes = std::move(codes);
  if (p.bounds) {
    warn_if_moved(unknowns, "start", p.start);
    warn_if_moved(unknowns, "reference", p.reference);
  }
  return stage;
}

bool needs_polish(const Problem& problem, const optimize::InversionSummary& features) {
  using enum optimize::StopReason;
  if (!problem.prior || problem.prior->polish == prior::Polish::never) return false;
  if (features.reason == interrupted || features.reason == time_limit || features.reason == failed)
    return false;
  return problem.prior->polish == prior::Polish::always || features.reason != target_reached;
}

Stage polish_stage(const Stage& first, optimize::InversionSummary features, double target_rms) {
  const Unknowns& before = first.unknowns;
  const Problem& problem = *first.problem;
  const Eigen::VectorXd model = before.to_cells(features.model);
  const Unknowns unknowns = unknowns_of(problem, model, std::nullopt);
  Eigen::VectorXd start = unknowns.with_zeros(model);
  start.tail(unknowns.n_further()) = before.further_of(features.model);
  core::log::info(
      "polish: the rms of the features is {:.4f} on the iterations' meshes; {} cells go on, damped toward "
      "the model of the features",
      features.rms, unknowns.n_free());
  Stage stage{polish, first.problem, unknowns, std::move(start), model, model, {}, std::move(features)};
  if (keeps_maps(problem, stage.features, target_rms)) {
    const Eigen::VectorXd& designed_for = stage.features->design_model;
    stage.design_model = designed_for.size() > 0 ? before.to_cells(designed_for) : first.start_model;
  }
  return stage;
}

Stage final_stage(const Stage& before, optimize::InversionSummary iterated) {
  Stage stage = before;
  stage.name = final_steps;
  stage.start = iterated.model;
  stage.start_model = before.unknowns.to_cells(iterated.model);
  stage.design_model.resize(0);
  stage.rows_before = before.history().with(iterated.history);
  stage.iterated = std::move(iterated);
  return stage;
}

}  // namespace lodestone::inversion
