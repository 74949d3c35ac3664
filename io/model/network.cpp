// SPDX-License-Identifier: Apache-2.0
#include "io/model/network.hpp"

#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "io/hdf5/file.hpp"
#include "io/text/text_file.hpp"
#include "models/vae/vae_decoder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace lodestone::io::model {
namespace {

using inversion::prior::DecoderCard;
using inversion::prior::DecoderPtr;
using models::vae::TrainedVae;

/// Returns the training that made the network, in the words of its card.
std::string origin_of(const TrainedVae& vae) {
  const auto card = nlohmann::json::parse(vae.card(), nullptr, false);
  const auto fact = [&](const char* place) {
    const nlohmann::json::json_pointer pointer(place);
    return card.contains(pointer) ? card[pointer].dump() : std::string("?");
  };
  const std::string along_x =
      vae.options().kind == models::vae::VaeKind::volume ? fmt::format(" × {}", vae.options().cells_x) : "";
  return fmt::format("{} × {}{} cells; prior of seed {}, training of seed {}, {} draws, best epoch {}",
                     vae.options().cells_z, vae.options().cells_y, along_x, fact("/prior/seed"),
                     fact("/training/seed"), fact("/training/draws"), fact("/scores/best_epoch"));
}

inversion::prior::DecoderScores scores_of(const TrainedVae& vae, DecoderKind kind,
                                          const DecoderPtr& decoder) {
  const models::vae::VaeStatistics& statistics = vae.statistics();
  if (kind == DecoderKind::gaussian) return scores_of_gaussian(*decoder, statistics.rms);
  return {statistics.rms, statistics.reduced_chi_square, statistics.n_active()};
}

}  // namespace

TrainedVae read_trained_network(const std::string& path) {
  std::error_code other;  // reported when the file is opened
  if (std::filesystem::status(path, other).type() == std::filesystem::file_type::not_found)
    throw core::FileError("io::model::read_network#missing",
                          "{}: expected the file of a trained network, but there is none; make it with "
                          "`mt_invert train`",
                          path);
  if (path.ends_with(".safetensors")) return TrainedVae::load(engine::SafetensorsSource(path));
  return TrainedVae::load(hdf5::Hdf5Source(path));
}

DecoderPtr read_network(const std::string& path, DecoderKind kind, std::string name) {
  if (name.empty()) name = path;
  const TrainedVae vae = read_trained_network(path);
  const DecoderPtr decoder =
      kind == DecoderKind::gaussian
          ? inversion::prior::gaussian_decoder(vae.statistics().mean, vae.statistics().covariance)
          : models::vae::vae_decoder(vae, name);
  return with_card(decoder, {.patch = vae.grid(),
                             .scores = scores_of(vae, kind, decoder),
                             .kind = std::string(core::word(kind)),
                             .file = std::move(name),
                             .digest = text::digest_of_file(path),
                             .origin = origin_of(vae)});
}

}  // namespace lodestone::io::model
