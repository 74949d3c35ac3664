// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/study/network.hpp"

#include "apps/mt_invert/config/train.hpp"
#include "apps/mt_invert/selftest/data.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/log.hpp"
#include "io/hdf5/file.hpp"
#include "io/model/network.hpp"
#include "io/run/folder.hpp"
#include "io/text/text_file.hpp"
#include "models/vae/train_vae.hpp"

namespace lodestone::mt_invert::study {

models::vae::TrainedVae synthetic_network(const SyntheticOptions& options,
                                          const std::filesystem::path& folder) {
  if (!options.network_path.empty()) return io::model::read_trained_network(options.network_path);
  std::vector<std::string> assignments;
  if (options.quick) assignments = {"training.draws=4000", "training.epochs=8"};
  const config::TrainConfig config =
      config::read_train_config(selftest::data_file("benchmarks/vae_synthetic_prior.toml"), assignments);
  const auto path = folder / fmt::format("network_{}.h5", io::text::digest_of(config.toml + core::version()));
  if (!std::filesystem::exists(path)) {
    core::log::info("training the network of vae_synthetic_prior.toml: {} draws, {} epochs",
                    config.setup.recipe.n_draws, config.setup.recipe.epochs);
    models::vae::VaeTraining training =
        models::vae::train_vae(config.prior, config.setup, {.data = config.data});
    io::run::make_folder(folder);
    io::hdf5::Hdf5Sink sink(path);
    training.vae->save(sink);
    sink.commit();
  }
  models::vae::TrainedVae vae = io::model::read_trained_network(path.string());
  core::log::info("network {}: {} codes for {} cells, reconstruction {:.3f} decades rms", path.string(),
                  vae.options().n_codes, vae.options().n_cells(), vae.statistics().rms);
  return vae;
}

}  // namespace lodestone::mt_invert::study
