// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_keeper.hpp"

#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/state_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

namespace lodestone::models::vae {
namespace {

using namespace engine;

Tensor bytes_of(const std::string& text) {
  return Tensor::from(std::vector<std::uint8_t>(text.begin(), text.end()), {static_cast<Dim>(text.size())});
}
Tensor whole(std::int64_t value) { return Tensor::from(std::vector<std::int64_t>{value}, {}); }
Tensor number(double value) { return Tensor::from(std::vector<double>{value}, {}); }

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

/// Returns a line in the words of a configuration: checkpoints have one key under the name it has in the
/// program.
std::string in_words(const std::string& line) {
  constexpr std::string_view codes = "network.n_codes = ";
  return line.starts_with(codes) ? "network.codes = " + line.substr(codes.size()) : line;
}

/// Returns the lines of one text that the other one lacks; without those that repeat the end of another, as
/// the seed does that the data's text holds as well.
std::string lines_missing(const std::string& from, const std::string& in) {
  const auto lines = lines_of(in);
  const std::set<std::string> known(lines.begin(), lines.end());
  std::vector<std::string> missing = lines_of(from);
  std::erase_if(missing, [&](const std::string& each) { return known.contains(each); });
  std::string result;
  for (const std::string& each : missing) {
    const bool is_repeated =
        std::ranges::any_of(missing, [&](const std::string& other) { return other.ends_with("." + each); });
    if (!is_repeated) result += (result.empty() ? "" : "; ") + in_words(each);
  }
  return result.empty() ? "nothing in their place" : result;
}

}  // namespace

VaeKeeper::VaeKeeper(const VaeOptions& network, Options options)
    : options_(std::move(options)),
      best_([&] {
        InitialValues initial(0);
        return add("best", Vae(network, initial));
      }()),
      epoch_(add_state("best_epoch", whole(0))),
      loss_(add_state("best_loss", number(std::numeric_limits<double>::infinity()))) {
  add_state("setup", bytes_of(options_.setup));
}

void VaeKeeper::after_epoch(Training& training) {
  const double loss = training.figure("validation_loss");
  if (!(loss < best_loss())) return;
  loss_.assign(number(loss));
  epoch_.assign(whole(training.n_epochs()));
  best_.load_state(training.net().state());
}

void VaeKeeper::save(Training& training, Moment moment) {
  const bool is_last =
      moment == Moment::epoch && (training.n_epochs() >= options_.epochs || training.is_stopped());
  const bool stops = options_.stop && !is_last && training.any_rank(options_.stop());
  if (!options_.checkpoint.empty() && (moment == Moment::epoch || stops) && training.is_writer())
    save_state(options_.checkpoint, training);
  if (!stops) return;
  was_stopped_ = true;
  training.stop("stopped on request");
}

std::int64_t VaeKeeper::best_epoch() const { return epoch_.value().item<std::int64_t>(); }
double VaeKeeper::best_loss() const { return loss_.value().item<double>(); }

void check_same_setup(const std::filesystem::path& checkpoint, const std::string& setup) {
  const SafetensorsSource source(checkpoint);
  std::string name;
  for (const std::string& each : source.names()) {
    if (each.starts_with("callback_") && each.ends_with(".setup")) name = each;
  }
  if (name.empty())
    throw core::FormatError("models::train_vae#not_a_vae_checkpoint",
                            "{}: expected the checkpoint of a training of a VAE, got another file of arrays",
                            checkpoint.string());
  const auto bytes = core::read_bytes(source, name);
  const std::string begun(bytes.begin(), bytes.end());
  if (begun != setup)
    throw core::ConfigError("models::train_vae#other_training",
                            "{}: expected the training that was begun there, with {}; got {}; take these "
                            "back, or train anew in another folder",
                            checkpoint.string(), lines_missing(begun, setup), lines_missing(setup, begun));
}

}  // namespace lodestone::models::vae
