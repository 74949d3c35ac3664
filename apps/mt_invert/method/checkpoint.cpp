// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/checkpoint.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/text/text_file.hpp"

#include <cmath>
#include <cstring>
#include <map>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;
constexpr const char* format_name = "lodestone checkpoint";
constexpr const char* format_version = "1";

/// Dotted key → value text of TOML as `core::Options::to_toml` writes it.
std::map<std::string, std::string> flattened(const std::string& toml) {
  std::map<std::string, std::string> result;
  std::map<std::string, int> counts;
  std::string table;
  for (const std::string_view line : io::text::split_lines(toml)) {
    if (line.starts_with("[[")) {
      const std::string name(line.substr(2, line.size() - 4));
      table = fmt::format("{}[{}].", name, counts[name]++);
    } else if (line.starts_with("[")) {
      table = std::string(line.substr(1, line.size() - 2)) + ".";
    } else if (const auto equals = line.find(" = "); equals != std::string_view::npos) {
      result[table + std::string(line.substr(0, equals))] = line.substr(equals + 3);
    }
  }
  return result;
}

bool may_differ(const std::string& key) {
  return key == "run.title" || key == "inversion.max_iterations" || key.starts_with("output.") ||
         key.starts_with("uncertainty.");
}

std::string value_or_absent(const std::map<std::string, std::string>& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "(absent)" : found->second;
}

/// Where each datum stands, as three integers per key.
std::vector<std::int64_t> key_numbers(const mt::Survey2D& survey) {
  std::vector<std::int64_t> numbers;
  for (const auto& key : survey.keys)
    numbers.insert(numbers.end(), {static_cast<int>(key.quantity), key.frequency, key.station});
  return numbers;
}

std::vector<double> station_places(const mt::Survey2D& survey) {
  std::vector<double> places;
  for (const auto& station : survey.stations) places.push_back(station.y_m);
  return places;
}

std::vector<std::uint8_t> mask_bytes(const mt::ObservedData& data) {
  std::vector<std::uint8_t> bytes;
  for (const auto reason : data.mask) bytes.push_back(static_cast<std::uint8_t>(reason));
  return bytes;
}

/// Bitwise, so that NaN equals NaN.
bool same(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

void write_data(core::ArraySink& sink, const mt::ObservedData& data) {
  core::write_vector(sink, "data/keys", key_numbers(data.survey));
  core::write_vector(sink, "data/station_y_m", station_places(data.survey));
  core::write_vector(sink, "data/frequency_hz", data.survey.frequencies_hz);
  core::write_vector(sink, "data/value", span_of(data.value));
  core::write_vector(sink, "data/sigma", span_of(data.sigma));
  core::write_vector(sink, "data/mask", mask_bytes(data));
}

/// The summary of a stage that is over, as a state of its own beside what a state does not say.
void write_summary(core::ArraySink& sink, const inversion::optimize::InversionSummary& summary) {
  inversion::optimize::InversionState state;
  state.iteration = summary.history.back().iteration;
  state.lambda = summary.lambda;
  state.model = summary.model;
  state.history = summary.history;
  state.design_model = summary.design_model;
  inversion::optimize::write_state(sink, state, "stage_before");
  core::write_vector(sink, "stage_before/stop_reason",
                     std::vector<std::int64_t>{static_cast<std::int64_t>(summary.reason)});
  sink.attribute("stage_before", "stop_message", summary.message);
}

inversion::optimize::InversionSummary read_summary(const core::ArraySource& source) {
  const inversion::optimize::InversionState state = inversion::optimize::read_state(source, "stage_before");
  const auto reason = core::read_integers(source, "stage_before/stop_reason");
  if (reason.size() != 1 || reason[0] < 0 ||
      reason[0] > static_cast<std::int64_t>(inversion::optimize::StopReason::failed))
    throw core::FormatError("mt_invert",
                            "{}: expected one known reason in stage_before/stop_reason; the file is damaged",
                            source.location());
  return {.reason = static_cast<inversion::optimize::StopReason>(reason[0]),
          .message = source.attribute("stage_before", "stop_message"),
          .model = state.model,
          .predicted = {},
          .rms = state.history.back().rms,
          .roughness = state.history.back().roughness,
          .lambda = state.lambda,
          .history = state.history,
          .design_model = state.design_model};
}

/// What differs between the data of a checkpoint and those of now; empty when nothing does.
std::string data_difference(const core::ArraySource& source, const mt::ObservedData& data) {
  if (core::read_integers(source, "data/keys") != key_numbers(data.survey))
    return "the set of data (stations, frequencies or quantities)";
  if (!same(core::read_doubles(source, "data/station_y_m"), station_places(data.survey)))
    return "positions of stations";
  if (!same(core::read_doubles(source, "data/frequency_hz"), data.survey.frequencies_hz))
    return "frequencies";
  if (!same(core::read_doubles(source, "data/value"), span_of(data.value))) return "values of data";
  if (!same(core::read_doubles(source, "data/sigma"), span_of(data.sigma))) return "errors of data";
  if (core::read_bytes(source, "data/mask") != mask_bytes(data)) return "masks";
  return {};
}

}  // namespace

std::string config_difference(const std::string& old_toml, const std::string& new_toml) {
  const auto before = flattened(old_toml), now = flattened(new_toml);
  std::map<std::string, std::string> all = before;
  all.insert(now.begin(), now.end());
  std::string text;
  for (const auto& [key, ignored] : all) {
    const std::string old_value = value_or_absent(before, key), new_value = value_or_absent(now, key);
    if (may_differ(key) || old_value == new_value) continue;
    text += fmt::format("{}{}: {} → {}", text.empty() ? "" : "; ", key, old_value, new_value);
  }
  return text;
}

void write_checkpoint(const std::string& path, const RunInputs& inputs, const RunState& run) {
  io::hdf5::Hdf5Sink sink(path);
  sink.attribute("", "format", format_name);
  sink.attribute("", "version", format_version);
  sink.attribute("", "configuration", inputs.config_toml);
  write_data(sink, inputs.data);
  core::write_vector(sink, "start", span_of(inputs.start));
  if (!inputs.networks.empty()) sink.attribute("", "networks", inputs.networks);
  inversion::optimize::write_state(sink, run.state);
  if (run.before) write_summary(sink, *run.before);
  sink.commit();
}

RunState read_checkpoint(const std::string& path, const RunInputs& inputs) {
  const io::hdf5::Hdf5Source source(path);
  if (!source.has_attribute("", "format") || source.attribute("", "format") != format_name) {
    throw core::FormatError(
        "mt_invert", "{}: expected a checkpoint, got another HDF5 file; give the folder of a run", path);
  }
  if (const auto version = source.attribute("", "version"); version != format_version) {
    throw core::FormatError(
        "mt_invert",
        "{}: expected version {} of the checkpoint, got {}; resume with the program that wrote it", path,
        format_version, version);
  }
  std::string difference = config_difference(source.attribute("", "configuration"), inputs.config_toml);
  if (difference.empty()) difference = data_difference(source, inputs.data);
  const std::string networks = source.has_attribute("", "networks") ? source.attribute("", "networks") : "";
  if (difference.empty() && networks != inputs.networks)
    difference = fmt::format("a network of the learned prior: {}then, {}now", networks, inputs.networks);
  if (difference.empty() && !same(core::read_doubles(source, "start"), span_of(inputs.start)))
    difference = "the start model";
  if (!difference.empty()) {
    throw core::ConfigError(
        "mt_invert",
        "{}: the run was started with something else: {}; restore it, or start a new run with -o", path,
        difference);
  }
  RunState run{inversion::optimize::read_state(source)};
  if (source.contains("stage_before/model")) run.before = read_summary(source);
  return run;
}

}  // namespace lodestone::mt_invert::method
