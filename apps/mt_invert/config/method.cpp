// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/method.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::mt_invert::config {
namespace {

using inversion::optimize::DescentMethod;
using inversion::optimize::DescentOptions;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::LambdaStrategy;
using inversion::optimize::SystemSpace;

constexpr std::initializer_list<const char*> of_pairs{"pixel_lambda", "code_lambda", "lambda_decay"};

/// A key that the chosen method would ignore is a mistake.
void refuse_keys(const ConfigTable& table, const std::vector<const char*>& keys, std::string_view only_for) {
  for (const char* key : keys) {
    if (table.has(key))
      table.refuse(key, fmt::format("applies to {} only; remove this key or choose that", only_for));
  }
}

double factor(ConfigTable& table, std::string_view key, double fallback) {
  const double value = table.real(key, fallback);
  if (!(value > 1.0)) table.refuse(key, fmt::format("expected more than 1, got {}", value));
  return value;
}

double share(ConfigTable& table, std::string_view key, double fallback) {
  const double value = table.positive(key, fallback);
  if (value > 1.0) table.refuse(key, fmt::format("expected at most 1, got {}", value));
  return value;
}

template <class Options>
void read_common(ConfigTable& table, Options& options) {
  options.max_iterations = table.integer("max_iterations", options.max_iterations, 0);
  options.target_rms = table.positive("target_rms", options.target_rms);
  options.lambda_start = table.not_negative("lambda_start", options.lambda_start);
  options.max_halvings = table.integer("max_halvings", options.max_halvings, 0);
  options.min_rms_drop = table.not_negative("min_rms_drop", options.min_rms_drop);
  options.patience = table.integer("patience", options.patience, 1);
}

void read_occam(ConfigTable& table, GaussNewtonOptions& options) {
  refuse_keys(table, {"cooling_factor", "cooling_rate"}, "lambda_strategy = \"cooling\"");
  options.lambda_factor = factor(table, "lambda_factor", options.lambda_factor);
  options.lambda_tolerance = table.positive("lambda_tolerance_log10", options.lambda_tolerance);
  options.max_lambda_trials = table.integer("max_lambda_trials", options.max_lambda_trials, 1);
  options.sufficient_drop = share(table, "sufficient_drop", options.sufficient_drop);
  options.smooth_at_target = table.flag("smooth_at_target", options.smooth_at_target);
  options.min_roughness_drop = table.not_negative("min_roughness_drop", options.min_roughness_drop);
}

void read_cooling(ConfigTable& table, GaussNewtonOptions& options) {
  refuse_keys(table,
              {"lambda_factor", "lambda_tolerance_log10", "max_lambda_trials", "min_roughness_drop",
               "smooth_at_target", "sufficient_drop"},
              "lambda_strategy = \"occam\"");
  options.cooling_factor = factor(table, "cooling_factor", options.cooling_factor);
  options.cooling_rate = table.integer("cooling_rate", options.cooling_rate, 1);
}

GaussNewtonOptions read_gauss_newton(ConfigTable& table, GaussNewtonOptions options = {}) {
  refuse_keys(table, {"memory"}, "algorithm = \"lbfgs\"");
  read_common(table, options);
  const std::string space = table.choice("space", {"auto", "data", "model"}, "auto");
  options.space = space == "data"    ? SystemSpace::data
                  : space == "model" ? SystemSpace::model
                                     : SystemSpace::automatic;
  const std::string strategy = table.choice("lambda_strategy", {"occam", "cooling"}, "occam");
  options.lambda_strategy = strategy == "cooling" ? LambdaStrategy::cooling : LambdaStrategy::occam;
  options.lambda_strategy == LambdaStrategy::cooling ? read_cooling(table, options)
                                                     : read_occam(table, options);
  return options;
}

/// What both stages have in common is read once; the other keys of Gauss–Newton are those of the polish.
AlternatingConfig read_alternating(ConfigTable& table) {
  AlternatingConfig config;
  config.polish = read_gauss_newton(table, {.max_iterations = config.pairs.max_iterations});
  config.pairs.max_iterations = config.polish.max_iterations;
  config.pairs.target_rms = config.polish.target_rms;
  config.pairs.max_halvings = config.polish.max_halvings;
  config.pairs.min_rms_drop = config.polish.min_rms_drop;
  config.pairs.patience = config.polish.patience;
  config.pairs.pixel_lambda = table.not_negative("pixel_lambda", config.pairs.pixel_lambda);
  config.pairs.code_lambda = table.not_negative("code_lambda", config.pairs.code_lambda);
  config.pairs.decay = share(table, "lambda_decay", config.pairs.decay);
  return config;
}

DescentOptions read_descent(ConfigTable& table, DescentMethod method) {
  refuse_keys(table,
              {"space", "lambda_strategy", "cooling_factor", "cooling_rate", "lambda_tolerance_log10",
               "max_lambda_trials", "min_roughness_drop", "smooth_at_target", "sufficient_drop"},
              "algorithm = \"gauss_newton\"");
  DescentOptions options{.method = method};
  read_common(table, options);
  options.lambda_factor = factor(table, "lambda_factor", options.lambda_factor);
  if (method == DescentMethod::lbfgs)
    options.memory = table.integer("memory", options.memory, 1);
  else
    refuse_keys(table, {"memory"}, "algorithm = \"lbfgs\"");
  return options;
}

}  // namespace

InversionConfig read_inversion(ConfigTable table) {
  const std::string algorithm =
      table.choice("algorithm", {"gauss_newton", "alternating", "nlcg", "lbfgs"}, "gauss_newton");
  if (algorithm == "alternating") return {read_alternating(table)};
  refuse_keys(table, of_pairs, "algorithm = \"alternating\"");
  if (algorithm == "gauss_newton") return {read_gauss_newton(table)};
  return {read_descent(table, algorithm == "nlcg" ? DescentMethod::nlcg : DescentMethod::lbfgs)};
}

}  // namespace lodestone::mt_invert::config
