// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/problem.hpp"

#include "engine/core/log.hpp"
#include "io/model/network.hpp"

#include <utility>

namespace lodestone::mt_invert::method {
namespace {

std::vector<physics::mt::StaticShiftKey> shifts_of(const config::Config& config,
                                                   const physics::mt::Survey& survey) {
  if (!config.static_shift) return {};
  auto shifts = physics::mt::static_shift_keys(survey, config.static_shift->modes);
  core::log::info("static shifts: {} unknowns, {:g} decades wide", shifts.size(),
                  config.static_shift->sigma_decades);
  return shifts;
}

inversion::prior::RegionOptions region_of(const config::LearnedRegionConfig& config) {
  return {.name = config.name,
          .decoder = io::model::read_network(config.network, config.decoder, config.network_as_written),
          .y_m = {config.y.from_m, config.y.to_m},
          .z_m = config.z ? std::optional(physics::mesh::Interval{config.z->from_m, config.z->to_m})
                          : std::nullopt,
          .overlap = config.overlap,
          .n_codes = config.n_codes,
          .place = config.place};
}

std::optional<inversion::prior::LearnedPriorOptions> prior_of(
    const std::optional<config::LearnedPriorConfig>& config) {
  if (!config) return {};
  inversion::prior::LearnedPriorOptions prior{.weights = config->weights,
                                              .encode_sigma_decades = config->encode_sigma_decades,
                                              .polish = config->polish};
  for (const config::LearnedRegionConfig& each : config->regions) prior.regions.push_back(region_of(each));
  return prior;
}

}  // namespace

Setup make_setup(MPI_Comm comm, const config::Config& config, const Earth& earth,
                 const physics::mt::ObservedData& data) {
  auto prior = prior_of(config.learned_prior);
  auto simulations = std::make_shared<const inversion::mt::Simulations>(comm, earth, config.forward);
  auto shifts = shifts_of(config, data.kept().survey);
  inversion::Problem problem(earth, data_set(data), inversion::mt::forward(simulations, data, shifts));
  problem.start = earth.start_log10;
  problem.reference = earth.reference_log10;
  problem.free_cells = earth.free_cells;
  if (config.bounds) problem.bounds = {config.bounds->lower_log10, config.bounds->upper_log10};
  problem.further.n = static_cast<Eigen::Index>(shifts.size());
  if (config.static_shift) problem.further.sigma = config.static_shift->sigma_decades;
  problem.roughness = config.regularization.roughness;
  problem.norm = config.regularization.norm;
  problem.prior = std::move(prior);
  problem.huber_threshold = config.huber_threshold;
  return {std::move(simulations), std::move(shifts), std::move(problem)};
}

}  // namespace lodestone::mt_invert::method
