// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_step.hpp"

#include "engine/core/error.hpp"
#include "engine/record/tuple.hpp"
#include "engine/state/state_file.hpp"
#include "engine/transform/variables.hpp"
#include "models/vae/vae_step_parts.hpp"

#include <cmath>

namespace lodestone::models::vae {

using namespace engine;

namespace {

constexpr std::string_view adam_prefix = "adam.";  // of the optimizer's cells

/// Returns the number of draws of which the training part has one batch.
std::int64_t draws_for_a_batch(const VaeRecipe& recipe) {
  constexpr std::int64_t for_validation = 4;
  const double share = 1.0 - recipe.validation_share;
  const auto n = static_cast<std::int64_t>(std::ceil(static_cast<double>(recipe.batch_size + 1) / share));
  return std::max(n, static_cast<std::int64_t>(std::ceil(for_validation / recipe.validation_share)));
}

/// Returns the number of draws that are trained on.
std::int64_t n_trained_on(const VaeRecipe& recipe) {
  return recipe.n_draws - std::llround(static_cast<double>(recipe.n_draws) * recipe.validation_share);
}

std::int64_t steps_per_epoch(const VaeRecipe& recipe) {
  return n_trained_on(recipe) / recipe.batch_size;  // a smaller last batch is dropped
}

}  // namespace

VaeStep first_step(const earths::Prior& prior, const VaeSetup& setup) {
  check_run(prior, setup, {});
  const VaeDraws draws = make_draws(prior, draws_for_a_batch(setup.recipe), setup.recipe.validation_share);
  Vae net = new_net(setup, draws);
  const auto adam = std::make_shared<const Adam>(adam_of(net, setup, steps_per_epoch(setup.recipe)));
  const BatchLoss loss = loss_of(net, prior, setup, draws);
  const NamedTensors batch = *training_loader(draws, setup).next();
  const Function f = [loss, adam](const Tensors& in) {
    auto [value, gradients, terms] = value_and_grad_with_more(
        [&] {
          return loss.values({{"cells", in[0]}, {"noise", in[1]}});
        },
        adam->trained());
    adam->step(gradients);
    terms.insert(terms.begin(), value);
    return terms;
  };
  std::vector<NamedVariable> cells = net.variables();
  for (const NamedVariable& each : adam->variables())
    cells.push_back({std::string(adam_prefix) + each.name, each.variable});
  return {net, f, {batch.at("cells"), batch.at("noise")}, std::move(cells)};
}

void load_checkpoint(const VaeStep& step, const std::filesystem::path& checkpoint) {
  const NamedTensors state = read_state(checkpoint);
  for (const NamedVariable& each : step.cells) {
    const bool is_of_adam = each.name.starts_with(adam_prefix);
    const std::string name =
        is_of_adam ? "optimizer." + each.name.substr(adam_prefix.size()) : "net." + each.name;
    const auto found = state.find(name);
    if (found == state.end() || !(found->second.aval() == each.variable.aval()))
      throw core::FormatError("models::load_checkpoint#other_training",
                              "{}: expected \"{}\" of {}, got {}; give the checkpoint of a training with "
                              "this configuration",
                              checkpoint.string(), name, each.variable.aval().text(),
                              found == state.end() ? "no such array" : found->second.aval().text());
    each.variable.assign(found->second);
  }
}

std::string announced_training(const earths::Prior& prior, const VaeSetup& setup,
                               const DryRunOptions& options) {
  const VaeStep step = first_step(prior, setup);
  const DryRun needs = dry_run(step.f, avals_of(step.batch), options);
  const VaeRecipe& recipe = setup.recipe;
  const std::int64_t n_steps = steps_per_epoch(recipe) * recipe.epochs;
  const double draws = 4.0 * static_cast<double>(recipe.n_draws * step.batch[0].dim(1));
  return fmt::format(
      "network:       {} parameters\n"
      "draws:         {}, {:.3g} MB\n"
      "steps:         {} of {} draws each in {} epochs, about {:.3g} s\n"
      "a step:\n{}",
      step.net.n_parameters(), recipe.n_draws, 1e-6 * draws, n_steps, recipe.batch_size, recipe.epochs,
      needs.seconds() * static_cast<double>(n_steps), needs.text());
}

}  // namespace lodestone::models::vae
