// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/study.hpp"

#include "apps/mt_invert/config/train.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/hdf5/file.hpp"
#include "io/model/network.hpp"
#include "io/text/text_file.hpp"
#include "models/study/results.hpp"
#include "models/vae/train_vae.hpp"

namespace lodestone::mt_invert::commands {
namespace {

namespace study = models::study;

/// Returns the network of `--network`, or the one that data/benchmarks/vae_synthetic_prior.toml trains. The
/// latter is kept in `folder` under a name that changes with everything the training depends on. On one rank.
/// errors: those of the files, of the configuration and of the training.
models::vae::TrainedVae study_network(const cli::StudyArguments& arguments,
                                      const std::filesystem::path& folder) {
  if (!arguments.network_path.empty()) return io::model::read_trained_network(arguments.network_path);
  std::vector<std::string> assignments;
  if (arguments.options.quick) assignments = {"training.draws=4000", "training.epochs=8"};
  const config::TrainConfig config =
      config::read_train_config(selftest::data_file("benchmarks/vae_synthetic_prior.toml"), assignments);
  const auto path = folder / fmt::format("network_{}.h5", io::text::digest_of(config.toml + core::version()));
  if (!std::filesystem::exists(path)) {
    core::log::info("training the network of vae_synthetic_prior.toml: {} draws, {} epochs",
                    config.setup.recipe.n_draws, config.setup.recipe.epochs);
    const models::vae::VaeTraining training =
        models::vae::train_vae(config.prior, config.setup, {.data = config.data});
    core::make_folder(folder);
    io::hdf5::Hdf5Sink sink(path);
    training.vae->save(sink);
    sink.commit();
  }
  models::vae::TrainedVae vae = io::model::read_trained_network(path.string());
  core::log::info("network {}: {} codes for {} cells, reconstruction {:.3f} decades rms", path.string(),
                  vae.options().n_codes, vae.options().n_cells(), vae.statistics().rms);
  return vae;
}

std::string case_model(const char* name) {
  return io::text::read_bytes(selftest::data_file(fmt::format("benchmarks/vae_synthetic_{}.toml", name)));
}

}  // namespace

selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm, const cli::StudyArguments& arguments) {
  const std::filesystem::path folder =
      arguments.output_folder.empty() ? "out/vae-synthetic" : arguments.output_folder;
  core::on_rank_zero(
      comm, [&] { (void)study_network(arguments, folder); });  // trained once; then all ranks read the file
  const models::vae::TrainedVae network = study_network(arguments, folder);
  const study::Files files = study_files(folder);
  std::vector<study::Entry> entries;
  for (const study::Part& part : study::plan(arguments.options, {case_model("a"), case_model("b")})) {
    const auto more = study::run(comm, part, network, files);
    entries.insert(entries.end(), more.begin(), more.end());
  }
  return {
      .rows = study::targets(entries, !arguments.options.quick),
      .note = fmt::format("models, data, pictures: {}; what the figures mean: docs/theory/learned_prior.md{}",
                          folder.string(), arguments.options.quick ? "; --quick judges the fit alone" : ""),
      .tables = study::tables_in_text(entries),
      .runs = study::entry_table(entries)};
}

}  // namespace lodestone::mt_invert::commands
