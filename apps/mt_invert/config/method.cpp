// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/method.hpp"

#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/words.hpp"

#include <fmt/format.h>

#include <utility>
#include <variant>

namespace lodestone::mt_invert::config {

/// The methods of [inversion].
enum class Algorithm { gauss_newton, alternating, nlcg, lbfgs };
constexpr auto words(Algorithm) {
  using enum Algorithm;
  return core::Words<Algorithm>{
      {gauss_newton, "gauss_newton"}, {alternating, "alternating"}, {nlcg, "nlcg"}, {lbfgs, "lbfgs"}};
}
/// The rules for λ of Gauss–Newton, in the order of its options.
enum class LambdaStrategy { occam, cooling };
constexpr auto words(LambdaStrategy) {
  using enum LambdaStrategy;
  return core::Words<LambdaStrategy>{{occam, "occam"}, {cooling, "cooling"}};
}

namespace {

using inversion::optimize::AlternatingOptions;
using inversion::optimize::Cooling;
using inversion::optimize::DescentMethod;
using inversion::optimize::DescentOptions;
using inversion::optimize::GaussNewtonOptions;
using inversion::optimize::Occam;
using inversion::uncertainty::EnsembleOptions;
using inversion::uncertainty::InvestigationOptions;

constexpr const char* of_jacobian = "algorithm = \"gauss_newton\" or \"alternating\"";
constexpr const char* of_pairs = "algorithm = \"alternating\"";
constexpr const char* of_descent = "algorithm = \"nlcg\" or \"lbfgs\"";

struct AlgorithmForm {
  Algorithm algorithm = Algorithm::gauss_newton;
};

Rows<AlgorithmForm> algorithm_rows() {
  return {row("algorithm", &AlgorithmForm::algorithm, "the method, see below")};
}

template <class Options>
Rows<Options> common_rows() {
  using Stop = decltype(Options::stop);
  return {row("max_iterations", at(&Options::stop, &Stop::max_iterations), within(0, 10'000),
              "of each stage; of \"alternating\" pairs"),
          row("target_rms", at(&Options::stop, &Stop::target_rms), positive(1e6), "over kept real data"),
          row("lambda_start", &Options::lambda_start, weights(),
              "first trade-off parameter; 0: from the size of the sensitivities"),
          row("max_halvings", &Options::max_halvings, within(0, 100), "of the step when it does not help"),
          row("min_rms_drop", at(&Options::stop, &Stop::min_rms_drop), within(0.0, 1.0),
              "relative; a smaller drop counts as stagnation"),
          row("patience", at(&Options::stop, &Stop::patience), within(1, 10'000),
              "stagnated iterations before the run stops")};
}

/// `way`: the member or the path to it.
template <class Way>
auto factor_row(Way way) {
  return row("lambda_factor", std::move(way), factors(),
             "bracket step of the search for λ; of NLCG and L-BFGS what λ is divided by when the rms stalls");
}

/// Returns the way to a member of a rule for λ. Options with the other rule get this one and its defaults,
/// which the page shows; such a row is not read.
template <class Rule, class V>
Path<GaussNewtonOptions, V> of_rule(V Rule::*member) {
  return {[member](GaussNewtonOptions& from) -> V& {
    if (!std::holds_alternative<Rule>(from.lambda)) from.lambda = Rule{};
    return std::get<Rule>(from.lambda).*member;
  }};
}

/// Makes the row of the key that chooses the rule for λ, with its defaults.
Row<GaussNewtonOptions> lambda_strategy_row() {
  struct Choice {
    LambdaStrategy strategy = LambdaStrategy::occam;
  };
  const Row<Choice> word = row("lambda_strategy", &Choice::strategy,
                               "a search for λ in every iteration, or one λ per iteration, from large to "
                               "small");
  const auto chosen = [](const GaussNewtonOptions& options) {
    return Choice{std::holds_alternative<Occam>(options.lambda) ? LambdaStrategy::occam
                                                                : LambdaStrategy::cooling};
  };
  const auto read = [word, chosen](ConfigTable& table, const Row<GaussNewtonOptions>&,
                                   GaussNewtonOptions& to) {
    Choice choice = chosen(to);
    word.read(table, word, choice);
    if (choice.strategy == chosen(to).strategy) return;
    if (choice.strategy == LambdaStrategy::occam)
      to.lambda = Occam{};
    else
      to.lambda = Cooling{};
  };
  return {word.key, word.kind, word.meaning, read,
          [word, chosen](const GaussNewtonOptions& from) { return word.value(chosen(from)); }};
}

Rows<GaussNewtonOptions> gauss_newton_rows() {
  using O = GaussNewtonOptions;
  const char *occam = "lambda_strategy = \"occam\"", *cooling = "lambda_strategy = \"cooling\"";
  const auto searches = [](const O& options) { return std::holds_alternative<Occam>(options.lambda); };
  using Inner = inversion::optimize::InnerSteps;
  using inversion::optimize::SystemSpace;
  const auto is_automatic = [](const O& options) { return options.space == SystemSpace::automatic; };
  const auto may_be_free = [](const O& options) {
    return options.space == SystemSpace::automatic || options.space == SystemSpace::matrix_free;
  };
  const auto cools = [](const O& options) { return std::holds_alternative<Cooling>(options.lambda); };
  return joined(
      common_rows<O>(),
      needing(
          of_jacobian, nullptr,
          row("space", &O::space,
              "system of a step: the cheaper one where its memory suffices, of data or model size (the same "
              "result), or products without a Jacobian"),
          lambda_strategy_row()),
      needing("space = \"auto\" or \"matrix_free\"", may_be_free,
              row("max_inner_steps", at(&O::inner, &Inner::max_steps), within(1, 1000),
                  "without a Jacobian: directions of an iteration, two products each"),
              row("forcing", at(&O::inner, &Inner::forcing),
                  {.least = 0.0, .most = 1.0, .above_least = true, .below_most = true},
                  "without a Jacobian: largest share of the gradient that a solve leaves")),
      needing(
          "space = \"auto\"", is_automatic,
          row("jacobian_memory_bytes", &O::jacobian_bytes, within(0.0, 1e15),
              "of each rank, for the Jacobian and its system; more: no Jacobian; 0: half its share of the "
              "machine's memory")),
      needing(
          occam, searches, factor_row(of_rule(&Occam::factor)),
          row("lambda_tolerance_log10", of_rule(&Occam::tolerance), within(1e-6, 10.0),
              "of the search at the target"),
          row("max_lambda_trials", of_rule(&Occam::max_trials), within(1, 1000), "forward runs per search"),
          row("sufficient_drop", of_rule(&Occam::sufficient_drop), share(),
              "above the target a first trial that lowers the rms by this share is taken at once; 1: never"),
          row("raise_target", of_rule(&Occam::raise_target),
              "where the rms hardly falls above the target, that becomes 1.05 × the least rms, see below")
              .usually("`true` without `target_rms`"),
          row("smooth_at_target", of_rule(&Occam::smooth_at_target),
              "go on at the target while the roughness falls; `false`: the first model there is the last"),
          row("min_roughness_drop", of_rule(&Occam::min_roughness_drop), within(0.0, 1.0),
              "relative, at the target; a smaller drop ends the run")),
      needing(cooling, cools,
              row("cooling_factor", of_rule(&Cooling::factor), factors(), "λ is divided by it …"),
              row("cooling_rate", of_rule(&Cooling::rate), within(1, 1000), "… after so many iterations")));
}

Rows<AlternatingOptions> pair_rows() {
  return needing(of_pairs, nullptr,
                 row("pixel_lambda", &AlternatingOptions::pixel_lambda, weights(),
                     "λ of the first step of the cells; 0: from the size of the sensitivities"),
                 row("code_lambda", &AlternatingOptions::code_lambda, weights(), "likewise, of the codes"),
                 row("lambda_decay", &AlternatingOptions::decay, share(), "of λ/rms from pair to pair"));
}

Rows<DescentOptions> descent_rows() {
  using O = DescentOptions;
  const auto remembers = [](const O& options) { return options.method == DescentMethod::lbfgs; };
  return joined(common_rows<O>(), needing(of_descent, nullptr, factor_row(&O::lambda_factor)),
                needing("algorithm = \"lbfgs\"", remembers,
                        row("memory", &O::memory, within(1, 1000), "steps that are remembered")));
}

/// Both stages of "alternating" share their rules of stopping, whose defaults are those of the pairs.
GaussNewtonOptions usual_polish() { return {.stop = AlternatingOptions{}.stop}; }

/// Without a target of the user's, that is 1 or what the data allow.
GaussNewtonOptions read_gauss_newton(const ConfigTable& table, GaussNewtonOptions usual) {
  refuse(table, descent_rows(), "algorithm = \"lbfgs\"", gauss_newton_rows());
  if (!table.has("target_rms")) usual.lambda = Occam{.raise_target = true};
  return read(table, gauss_newton_rows(), usual);
}

/// Reads once what both stages have in common; the other keys of Gauss–Newton are those of the polish.
AlternatingConfig read_alternating(const ConfigTable& table) {
  AlternatingConfig config{.polish = read_gauss_newton(table, usual_polish())};
  config.stop = config.polish.stop;
  config.pairs = read(table, pair_rows(), config.pairs);
  config.pairs.max_halvings = config.polish.max_halvings;
  return config;
}

/// The table [uncertainty] as it is written. There are no samples unless they are asked for.
struct UncertaintyForm {
  UncertaintyConfig config;
  EnsembleOptions samples{.n_samples = 0};
  [[nodiscard]] bool has_samples() const { return samples.n_samples > 0; }
  [[nodiscard]] bool has_any() const { return config.posterior || has_samples(); }
};

Rows<UncertaintyForm> uncertainty_rows() {
  using Form = UncertaintyForm;
  const char *any = "posterior or samples", *samples = "samples", *posterior = "posterior = true";
  const auto has_posterior = [](const Form& form) { return form.config.posterior; };
  return joined(
      Rows<Form>{row("posterior", at(&Form::config, &UncertaintyConfig::posterior),
                     "the normal distribution around the final model, see below"),
                 row("samples", at(&Form::samples, &EnsembleOptions::n_samples), within(0, 100'000),
                     "models drawn from data and prior, see below; not with `misfit.huber_threshold`")},
      needing(
          any, &Form::has_any,
          row("scale_errors", at(&Form::config, &UncertaintyConfig::scale_errors),
              "a final rms above 1 scales the errors, and λ with them; `false`: errors as stated"),
          row("widen_prior", at(&Form::config, &UncertaintyConfig::widen_prior),
              "λ is lowered until the codes' prior is as wide as it was trained; `false`: the λ of the run")),
      needing(samples, &Form::has_samples,
              row("seed", at(&Form::samples, &EnsembleOptions::seed), at_least(0), "of the samples"),
              row("max_iterations", at(&Form::samples, &EnsembleOptions::max_iterations), within(1, 1000),
                  "Gauss–Newton steps of a sample; the first needs no Jacobian of its own")),
      needing(
          posterior, has_posterior,
          row("seen_share",
              at(&Form::config, &UncertaintyConfig::investigation, &InvestigationOptions::share),
              {.least = 0.0, .most = 1.0, .above_least = true, .below_most = true},
              "a cell is seen where the deviation after the data is at most this share of the one before, …"),
          row("largest_prior_decades",
              at(&Form::config, &UncertaintyConfig::investigation, &InvestigationOptions::largest_prior),
              within(1e-6, 100.0), "… or of so many decades where that is wider")));
}

Rows<ForwardConfig> forward_rows() {
  return {
      row("iteration_accuracy", &ForwardConfig::iteration, "meshes of the iterations, see below"),
      row("iteration_coarsen", &ForwardConfig::iteration_coarsen, within(0.25, 4.0),
          "sizes of the iterations' cells over those of `iteration_accuracy`, below 1 finer"),
      row("iteration_meshes", &ForwardConfig::iteration_meshes,
          "with `--dim 3`: by the rules of `iteration_accuracy`, or the grid of the model itself, see below"),
      row("final_accuracy", &ForwardConfig::final_accuracy,
          "meshes on which the final responses and rms are recomputed, and the last steps taken where they "
          "miss the target"),
      row("max_nodes", &ForwardConfig::max_nodes, Limits{.least = 1000.0, .most = 1e7, .or_zero = true},
          "nodes up to which meshes of the final responses are refined where these miss `final_accuracy` by "
          "an estimate; 0 makes none")
          .otherwise("sections: 240000; volumes: 0"),
      row("max_check_runs", &ForwardConfig::max_check_runs, within(1.5, 1000.0),
          "work of that estimate and its refinements, in final runs without them; meshes with the largest "
          "errors come first")
          .otherwise("`6`")
          .needs("`max_nodes` above 0",
                 [](const ForwardConfig& forward) { return forward.max_nodes.value_or(1) > 0; }),
      row("redesign", &ForwardConfig::redesign, "when meshes are made anew for the model, see below")
          .otherwise("sections: `\"each_iteration\"`; volumes: `\"as_rms_falls\"`"),
      row("near_target", &ForwardConfig::near_target, within(1.0, 100.0),
          "near is an rms of at most this times `inversion.target_rms`")
          .needs("redesign = \"until_near_target\"",
                 [](const ForwardConfig& forward) {
                   return forward.redesign == Redesigning::until_near_target;
                 }),
      row("certificate", &ForwardConfig::certificate,
          "error of the meshes for half-space, layers, refinement and padding, of the final model"),
      row("solver", &ForwardConfig::solver, "factorization of the 2-D systems, see below"),
      row("edge_solver", &ForwardConfig::edge_solver,
          "of the 3-D systems: \"multigrid\", \"direct\" (MUMPS), \"ams\" (hypre, slow), or by estimated "
          "time and "
          "memory")};
}

}  // namespace

InversionConfig read_inversion(ConfigTable table) {
  const Algorithm algorithm = read(table, algorithm_rows(), AlgorithmForm{}).algorithm;
  if (algorithm == Algorithm::alternating) return {read_alternating(table)};
  refuse(table, pair_rows(), of_pairs);
  if (algorithm == Algorithm::gauss_newton) return {read_gauss_newton(table, {})};
  refuse(table, gauss_newton_rows(), of_jacobian, descent_rows());
  const auto method = algorithm == Algorithm::nlcg ? DescentMethod::nlcg : DescentMethod::lbfgs;
  return {read(table, descent_rows(), DescentOptions{.method = method})};
}

std::optional<UncertaintyConfig> read_uncertainty(ConfigTable table) {
  UncertaintyForm form = read(table, uncertainty_rows(), UncertaintyForm{});
  if (form.samples.n_samples == 1)
    table.refuse("samples", "out_of_range", "expected 0 or at least 2, got 1: one sample has no spread");
  if (!form.has_any()) return {};
  if (form.has_samples()) form.config.ensemble = form.samples;
  return form.config;
}

ForwardConfig read_forward(ConfigTable table) { return read(table, forward_rows(), ForwardConfig{}); }

void describe_method(Page& page) {
  page.add("invert [inversion]", algorithm_rows());
  page.add("invert [inversion]", gauss_newton_rows());
  page.add("invert [inversion]", common_rows<GaussNewtonOptions>(), usual_polish(), of_pairs);
  page.add("invert [inversion]", pair_rows());
  page.add("invert [inversion]", descent_rows(), DescentOptions{}, of_descent);
  page.add("invert [uncertainty]", uncertainty_rows());
  page.add("invert [forward]", forward_rows());
}

}  // namespace lodestone::mt_invert::config
