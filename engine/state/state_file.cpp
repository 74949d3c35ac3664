// SPDX-License-Identifier: Apache-2.0
#include "engine/state/state_file.hpp"

#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/tensor_io.hpp"

namespace lodestone::engine {
namespace {

constexpr const char* format = "lodestone state";
constexpr const char* format_version = "1";

/// Ours must be a state of this version; what another program wrote is taken as it is.
void check_format(const core::ArraySource& source) {
  const std::string found = source.has_attribute("", "format") ? source.attribute("", "format") : "";
  if (found.starts_with("lodestone") && found != format) {
    throw core::FormatError("engine::read_state#wrong_format",
                            "{}: expected a {}, got a {}; is it the right file?", source.location(), format,
                            found);
  }
  const std::string version = found == format ? source.attribute("", "format_version") : format_version;
  if (version != format_version) {
    throw core::FormatError("engine::read_state#wrong_version",
                            "{}: expected format_version {}, got {}; read it with the version that wrote it",
                            source.location(), format_version, version);
  }
}

}  // namespace

void write_state(core::ArraySink& sink, const NamedTensors& state) {
  Tensors all;
  for (const auto& [name, tensor] : state) all.push_back(tensor);
  eval(all);
  sink.attribute("", "format", format);
  sink.attribute("", "format_version", format_version);
  sink.attribute("", "engine_version", core::version());
  for (const auto& [name, tensor] : state) {
    sink.write(name, {tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()}}, tensor.bytes());
  }
}

NamedTensors read_state(const core::ArraySource& source, Device device) {
  check_format(source);
  NamedTensors state;
  for (const std::string& name : source.names()) state.emplace(name, read_tensor(source, name, device));
  return state;
}

void save_state(const std::filesystem::path& path, const NamedTensors& state) {
  SafetensorsSink sink(path);
  write_state(sink, state);
  sink.commit();
}

NamedTensors read_state(const std::filesystem::path& path, Device device) {
  return read_state(SafetensorsSource(path), device);
}

void save_state(const std::filesystem::path& path, const Stateful& from) { save_state(path, from.state()); }

void load_state(const std::filesystem::path& path, const Stateful& into) {
  NamedTensors state = read_state(path);
  for (const auto& [name, variable] : into.variables()) {
    const auto found = state.find(name);
    if (found == state.end() || found->second.device() == variable.aval().device) continue;
    Aval there = found->second.aval();
    there.device = variable.aval().device;
    found->second = Tensor::from_bytes(found->second.bytes(), there);
  }
  try {
    into.load_state(state);
  } catch (const core::InvalidArgument& error) {
    std::string_view text = error.what();
    if (const auto component = text.find("] "); component != std::string_view::npos)
      text.remove_prefix(component + 2);
    throw core::FormatError("engine::load_state#state_of_another_network", "{}: {}", path.string(), text);
  }
}

}  // namespace lodestone::engine
