// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "apps/mt_invert/config/train.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/model/network.hpp"
#include "io/run/inspection.hpp"
#include "models/vae/vae_step.hpp"

#include <tuple>

namespace lodestone::mt_invert::commands {
namespace {

/// Looks at the step of a training, and returns what there is to say and the path of its numbers.
std::pair<std::string, std::string> inspected(const cli::InspectArguments& arguments) {
  const config::TrainConfig config = config::read_train_config(arguments.path, arguments.assignments);
  const models::vae::VaeStep step = models::vae::first_step(config.prior, config.setup);
  if (!arguments.network_path.empty())
    step.net.load_state(io::model::read_trained_network(arguments.network_path).net().state());
  if (!arguments.checkpoint_path.empty()) models::vae::load_checkpoint(step, arguments.checkpoint_path);
  const std::filesystem::path folder = output_folder(arguments.output_folder, arguments.path);
  const auto arrays = arguments.arrays ? io::run::DumpedArrays::all : io::run::DumpedArrays::none;
  const std::string title = "A training step of " + config.title;
  return {io::run::write_inspection(folder, {title, step.f, step.batch, step.cells}, arrays,
                                    dry_run_options(arguments.times)),
          folder / "values.h5"};
}

}  // namespace

int run_inspect(MPI_Comm comm, const cli::InspectArguments& arguments) {
  core::on_rank_zero(comm, [&] {
    std::string text, values = arguments.path;
    if (!arguments.path.ends_with(".h5")) std::tie(text, values) = inspected(arguments);
    if (!arguments.other_path.empty()) text += io::run::compare_values(values, arguments.other_path);
    core::log::print_out(text);
  });
  return 0;
}

}  // namespace lodestone::mt_invert::commands
