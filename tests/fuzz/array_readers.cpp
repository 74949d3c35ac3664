// SPDX-License-Identifier: Apache-2.0
// Readers of options, of named arrays with their attributes, and of checkpoints.
#include "engine/core/data_set.hpp"
#include "engine/core/options.hpp"
#include "engine/state/safetensors.hpp"
#include "inversion/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/text/text_file.hpp"
#include "io/toml/options.hpp"
#include "tests/fuzz/hdf5_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <complex>

namespace lodestone::tests::fuzz {
namespace {

using io::survey::FileKind;

constexpr std::int64_t kibi = 1024;

/// Reads a file as options, and its first line as an assignment of the command line on top of them.
void read_toml(const std::string& path) {
  core::Options options = io::toml::read_options_toml(path);
  const std::string text = io::text::read_text(path);
  io::toml::set_option(options, text.substr(0, text.find('\n')));
  static_cast<void>(options.to_toml());
}

void read_arrays(const core::ArraySource& source) {
  for (const std::string& name : source.names()) {
    const core::ArrayInfo info = source.info(name);
    std::vector<std::byte> bytes(static_cast<std::size_t>(info.count()) * core::size_of(info.dtype));
    source.read(name, 0, bytes);
    if (info.count() > 2) source.read(name, 1, std::span(bytes).first(core::size_of(info.dtype)));
    if (source.has_attribute(name, "units")) static_cast<void>(source.attribute(name, "units"));
  }
  if (source.has_attribute("", "format")) static_cast<void>(source.attribute("", "format"));
}

void read_safetensors(const std::string& path) {
  const engine::SafetensorsSource source(path);
  read_arrays(source);
  source.verify();
}

/// Reads all arrays, and attributes as texts and numbers, where there are some of these names.
void read_hdf5(const std::string& path) {
  const io::hdf5::Hdf5Source source(path);
  for (const char* object : {"", "a", "g", "g/b"}) {
    for (const char* key : {"format", "units", "k"}) {
      static_cast<void>(source.number(object, key));
      if (source.has_text(object, key)) static_cast<void>(source.attribute(object, key));
    }
  }
  for (const std::string& name : source.names()) static_cast<void>(source.info(name));
  read_arrays(source);
}

/// Reads a checkpoint for the inputs that it states itself.
void read_checkpoint(const std::string& path) {
  const io::hdf5::Hdf5Source source(path);
  static_cast<void>(inversion::describe_checkpoint(source));
  const std::vector<double> start = core::read_doubles(source, "start");
  const auto stated = [&](const char* name) {
    return source.has_attribute("", name) ? source.attribute("", name) : std::string();
  };
  static_cast<void>(
      inversion::read_checkpoint(source, {.configuration = source.attribute("", "configuration"),
                                          .data = core::read_data_set(source, "data"),
                                          .start = Eigen::VectorXd::Map(start.data(), std::ssize(start)),
                                          .decoders = stated("networks"),
                                          .earth = stated("earth")}));
}

std::vector<std::string> safetensors_file() {
  const TemporaryFolder folder;
  engine::SafetensorsSink sink(folder / "x.safetensors");
  core::write_vector(sink, "net/weight", std::vector<double>{1.0, 2.0, 3.0});
  core::write_vector(sink, "net/spectrum", std::vector<std::complex<double>>{{1.0, -1.0}});
  core::write_texts(sink, "names", {"a", "bc"});
  sink.attribute("net/weight", "units", "ohm m");
  sink.commit();
  return {text_of_file(folder / "x.safetensors")};
}

std::vector<std::string> checkpoint_file() {
  namespace optimize = inversion::optimize;
  core::DataSetParts parts{.observed = Eigen::Vector2d(1.0, 2.0), .sigma = Eigen::Vector2d(0.1, 0.1)};
  parts.key.add_texts("site", {"a", "b"});
  parts.key.add_numbers("period_s", "s", {1.0, 2.0});
  optimize::InversionState state;
  state.iteration = 1;
  state.lambda = 0.125;
  state.model = Eigen::Vector3d(1.0, 1.5, -2.0);
  state.memory = Eigen::MatrixXd::Ones(3, 2);
  state.history = {{.iteration = 0, .rms = 5.0}, {.iteration = 1, .rms = 2.0}};
  const optimize::InversionSummary summary{.reason = optimize::StopReason::stagnated,
                                           .message = "no better",
                                           .model = Eigen::Vector2d(0.1, 0.2),
                                           .predicted = {},
                                           .rms = 1.5,
                                           .history = state.history};
  const TemporaryFolder folder;
  io::hdf5::Hdf5Sink sink(folder / "c.h5");
  inversion::write_checkpoint(sink,
                              {.configuration = "[inversion]\ntarget_rms = 1.0\n",
                               .data = core::DataSet(std::move(parts)),
                               .start = Eigen::Vector3d(2.0, 2.0, 2.0),
                               .earth = "a 1\n"},
                              {state, summary, {}});
  sink.commit();
  return {text_of_hdf5(folder / "c.h5")};
}

}  // namespace

std::vector<Reader> array_readers() {
  return {
      {.name = "toml", .read = read_toml, .beside_bytes = 128 * kibi, .kinds = {FileKind::toml}},
      {.name = "safetensors",
       .read = read_safetensors,
       .beside_bytes = 128 * kibi,
       .more_seeds = safetensors_file},
      {.name = "hdf5", .read = read_hdf5, .beside_bytes = 3072 * kibi, .is_hdf5 = true},
      {.name = "checkpoint",
       .read = read_checkpoint,
       .beside_bytes = 3072 * kibi,
       .is_hdf5 = true,
       .more_seeds = checkpoint_file},
  };
}

}  // namespace lodestone::tests::fuzz
