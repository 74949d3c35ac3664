// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_card.hpp"

#include "engine/core/build_info.hpp"
#include "engine/core/json_text.hpp"

#include <fmt/ranges.h>

namespace lodestone::models::vae {
namespace {

/// A key with its value, text in quotes.
struct Fact {
  std::string key, value;
};
using Facts = std::vector<Fact>;

std::string list_of(const std::vector<engine::Dim>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
std::string list_of(const Eigen::VectorXd& values) {
  std::vector<std::string> texts;
  for (const double each : values) texts.push_back(fmt::format("{:.4g}", each));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

Facts network_facts(const VaeOptions& network) {
  Facts facts{{"kind", core::json_quoted(core::word(network.kind))},
              {"cells_z", std::to_string(network.cells_z)},
              {"cells_y", std::to_string(network.cells_y)},
              {"n_codes", std::to_string(network.n_codes)},
              {"channels", list_of(network.channels)},
              {"centre", network.centre ? "true" : "false"}};
  if (network.kind == VaeKind::volume) facts.push_back({"cells_x", std::to_string(network.cells_x)});
  return facts;
}

Facts loss_facts(const VaeLossOptions& loss) {
  return {{"layer_weights", core::json_quoted(core::word(loss.layer_weights))},
          {"similarity", fmt::format("{}", loss.similarity)},
          {"divergence", fmt::format("{}", loss.divergence)},
          {"divergence_of", core::json_quoted(core::word(loss.divergence_of))}};
}

Facts recipe_facts(const VaeRecipe& recipe) {
  Facts facts{{"draws", std::to_string(recipe.n_draws)},
              {"validation_share", fmt::format("{}", recipe.validation_share)},
              {"epochs", std::to_string(recipe.epochs)},
              {"batch_size", std::to_string(recipe.batch_size)},
              {"learning_rate", fmt::format("{}", recipe.learning_rate)},
              {"schedule", core::json_quoted(core::word(recipe.schedule))},
              {"patience", std::to_string(recipe.patience)},
              {"seed", std::to_string(recipe.seed)}};
  if (recipe.shards > 1) facts.push_back({"shards", std::to_string(recipe.shards)});
  return facts;
}

std::string lines_of(const std::string& table, const Facts& facts) {
  std::string result;
  for (const auto& [key, value] : facts) result += fmt::format("{}.{} = {}\n", table, key, value);
  return result;
}

std::string object_of(const Facts& facts) {
  std::string result;
  for (const auto& [key, value] : facts)
    result += fmt::format("{}\n    \"{}\": {}", result.empty() ? "" : ",", key, value);
  return "{" + result + "\n  }";
}

}  // namespace

std::string setup_text(const earths::Prior& prior, const VaeSetup& setup, const std::string& data) {
  Facts recipe = recipe_facts(setup.recipe);
  std::erase_if(recipe, [&](const Fact& fact) {
    return fact.key == "patience" ||
           (fact.key == "epochs" && setup.recipe.schedule == RateSchedule::constant);
  });
  const physics::mesh::TensorGrid& grid = prior.grid();
  const std::vector<double>& x_m = grid.edges_m(physics::mesh::Axis::x);
  return lines_of("network", network_facts(setup.network)) + lines_of("loss", loss_facts(setup.loss)) +
         lines_of("training", recipe) +
         fmt::format("grid.depth_m = {}\ngrid.y_m = {}\nprior.seed = {}\n", fmt::join(grid.z_edges_m(), " "),
                     fmt::join(grid.y_edges_m(), " "), prior.seed()) +
         (x_m.empty() ? "" : fmt::format("grid.x_m = {}\n", fmt::join(x_m, " "))) + data;
}

std::string card_of(const earths::Prior& prior, const VaeSetup& setup, const std::string& data,
                    const VaeStatistics& statistics, const VaeScores& scores) {
  const physics::mesh::TensorGrid& grid = prior.grid();
  const Facts depth{{"from_m", fmt::format("{}", grid.z_edges_m().front())},
                    {"to_m", fmt::format("{}", grid.z_edges_m().back())}};
  const Facts reached{{"best_epoch", std::to_string(scores.best_epoch)},
                      {"validation_loss", fmt::format("{:.6g}", scores.best_loss)},
                      {"epochs", std::to_string(scores.n_epochs)},
                      {"steps", std::to_string(scores.n_steps)},
                      {"ended_because", core::json_quoted(scores.why_stopped)},
                      {"reconstruction_rms_decades", fmt::format("{:.4g}", statistics.rms)},
                      {"reconstruction_rms_decades_of_cells", list_of(statistics.cell_rms)},
                      {"codes_used", std::to_string(statistics.n_active())},
                      {"codes_divergence", list_of(statistics.code_divergence)}};
  return fmt::format(
      "{{\n  \"format\": \"lodestone vae card\",\n  \"lodestone_version\": {},\n  \"network\": {},\n  "
      "\"loss\": {},\n  \"training\": {},\n "
      " \"grid\": {},\n"
      "  \"prior\": {{\n    \"seed\": {},\n    \"text\": {}\n  }},\n  \"scores\": {}\n}}\n",
      core::json_quoted(core::version()), object_of(network_facts(setup.network)),
      object_of(loss_facts(setup.loss)), object_of(recipe_facts(setup.recipe)), object_of(depth),
      prior.seed(), core::json_quoted(data), object_of(reached));
}

}  // namespace lodestone::models::vae
