// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/synthetic_network.hpp"

#include "apps/mt_invert/benchmark_data.hpp"
#include "apps/mt_invert/config_train.hpp"
#include "apps/mt_invert/digest.hpp"
#include "apps/mt_invert/subdomains.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/log.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/result/output_folder.hpp"
#include "models/vae/train_vae.hpp"

namespace lodestone::mt_invert {

models::TrainedVae synthetic_network(const SyntheticOptions& options, const std::filesystem::path& folder) {
  if (!options.network_path.empty()) return read_network(options.network_path);
  std::vector<std::string> assignments;
  if (options.quick) assignments = {"training.draws=4000", "training.epochs=8"};
  const TrainConfig config = read_train_config(data_file("benchmarks/vae_synthetic_prior.toml"), assignments);
  const auto path = folder / fmt::format("network_{}.h5", digest_of(config.toml + core::version()));
  if (!std::filesystem::exists(path)) {
    core::log::info("training the network of vae_synthetic_prior.toml: {} draws, {} epochs",
                    config.setup.recipe.n_draws, config.setup.recipe.epochs);
    models::VaeTraining training = models::train_vae(config.prior, config.setup, {.data = config.data});
    io::make_folder(folder);
    io::Hdf5Sink sink(path);
    training.vae->save(sink);
    sink.commit();
  }
  models::TrainedVae vae = read_network(path.string());
  core::log::info("network {}: {} codes for {} cells, reconstruction {:.3f} decades rms", path.string(),
                  vae.options().n_codes, vae.options().n_cells(), vae.statistics().rms);
  return vae;
}

}  // namespace lodestone::mt_invert
