// SPDX-License-Identifier: Apache-2.0
#include "inversion/checkpoint.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

namespace lodestone::inversion {
namespace {

constexpr const char* format_name = "lodestone checkpoint";
constexpr const char* format_version = "2";
constexpr const char *group_before = "stage_before", *group_iterated = "stage_iterations";

/// Returns dotted keys and values of TOML as `core::Options::to_toml` writes it.
std::map<std::string, std::string> flattened(const std::string& toml) {
  std::map<std::string, std::string> result;
  std::map<std::string, int> counts;
  std::string table;
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("[[")) {
      const std::string name = line.substr(2, line.size() - 4);
      table = fmt::format("{}[{}].", name, counts[name]++);
    } else if (line.starts_with("[")) {
      table = line.substr(1, line.size() - 2) + ".";
    } else if (const auto equals = line.find(" = "); equals != std::string::npos) {
      result[table + line.substr(0, equals)] = line.substr(equals + 3);
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

/// Compares bits, so that NaN equals NaN.
bool same(std::span<const double> a, std::span<const double> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

/// Writes the summary of a finished stage: a state of its own, with reason and message.
void write_summary(core::ArraySink& sink, const std::string& group,
                   const optimize::InversionSummary& summary) {
  optimize::InversionState state;
  state.iteration = summary.history.back().iteration;
  state.lambda = summary.lambda;
  state.model = summary.model;
  state.history = summary.history;
  state.design_model = summary.design_model;
  optimize::write_state(sink, state, group);
  core::write_vector(sink, group + "/stop_reason",
                     std::vector<std::int64_t>{static_cast<std::int64_t>(summary.reason)});
  sink.attribute(group, "stop_message", summary.message);
  core::write_number(sink, group + "/target_rms", summary.target_rms, "1");
}

optimize::InversionSummary read_summary(const core::ArraySource& source, const std::string& group) {
  const optimize::InversionState state = optimize::read_state(source, group);
  const auto reason = core::read_integers(source, group + "/stop_reason");
  if (reason.size() != 1 || reason[0] < 0 ||
      reason[0] > static_cast<std::int64_t>(optimize::StopReason::failed))
    throw core::FormatError("inversion::checkpoint#unknown_reason",
                            "{}: expected one known reason in {}/stop_reason; the file is damaged",
                            source.location(), group);
  return {.reason = static_cast<optimize::StopReason>(reason[0]),
          .message = source.attribute(group, "stop_message"),
          .model = state.model,
          .predicted = {},
          .rms = state.history.back().rms,
          .roughness = state.history.back().roughness,
          .lambda = state.lambda,
          .target_rms = core::read_number(source, group + "/target_rms"),
          .history = state.history,
          .design_model = state.design_model};
}

/// A difference between a checkpoint and the inputs of now; its id is empty where there is none.
struct Difference {
  std::string id, text;
};

Difference data_difference(const core::DataSet& before, const core::DataSet& now) {
  if (before == now) return {};
  if (!(before.key() == now.key()))
    return {"other_data", "the set of data (stations, frequencies or quantities)"};
  if (before.reason() != now.reason()) return {"other_masks", "masks"};
  return before.sigma().size() == now.sigma().size() && (before.sigma().array() != now.sigma().array()).any()
             ? Difference{"other_sigma", "errors of data"}
             : Difference{"other_values", "values of data"};
}

}  // namespace

std::string describe_checkpoint(const core::ArraySource& source) {
  const optimize::InversionState state = optimize::read_state(source);
  return fmt::format("after iteration {}, rms {:.3f}", state.iteration, state.history.back().rms);
}

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

void write_checkpoint(core::ArraySink& sink, const RunInputs& inputs, const RunState& run) {
  sink.attribute("", "format", format_name);
  sink.attribute("", "version", format_version);
  sink.attribute("", "configuration", inputs.configuration);
  core::write(sink, "data", inputs.data);
  core::write_vector(sink, "start", span_of(inputs.start));
  if (!inputs.decoders.empty()) sink.attribute("", "networks", inputs.decoders);
  if (!inputs.earth.empty()) sink.attribute("", "earth", inputs.earth);
  optimize::write_state(sink, run.state);
  if (run.before) write_summary(sink, group_before, *run.before);
  if (run.iterated) write_summary(sink, group_iterated, *run.iterated);
}

namespace {

std::string attribute_or_none(const core::ArraySource& source, const std::string& name) {
  return source.has_attribute("", name) ? source.attribute("", name) : "";
}

/// Returns the lines of a text that another lacks, separated by commas.
std::string lines_missing_in(const std::string& other, const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (("\n" + other).find("\n" + line + "\n") == std::string::npos)
      result += (result.empty() ? "" : ", ") + line;
  }
  return result;
}

Difference first_difference(const core::ArraySource& source, const RunInputs& inputs) {
  if (std::string keys = config_difference(source.attribute("", "configuration"), inputs.configuration);
      !keys.empty())
    return {"other_configuration", std::move(keys)};
  if (Difference data = data_difference(core::read_data_set(source, "data"), inputs.data); !data.id.empty())
    return data;
  if (const std::string earth = attribute_or_none(source, "earth"); earth != inputs.earth)
    return {"other_earth",
            fmt::format("the content of a file that gives the ground or the prior: {} then, {} "
                        "now (checksums)",
                        lines_missing_in(inputs.earth, earth), lines_missing_in(earth, inputs.earth))};
  const std::string networks = attribute_or_none(source, "networks");
  if (networks != inputs.decoders)
    return {"other_networks",
            fmt::format("a network of the learned prior: {}then, {}now", networks, inputs.decoders)};
  if (!same(core::read_doubles(source, "start"), span_of(inputs.start)))
    return {"other_start", "the start model"};
  return {};
}

}  // namespace

RunState read_checkpoint(const core::ArraySource& source, const RunInputs& inputs) {
  const std::string path = source.location();
  if (!source.has_attribute("", "format") || source.attribute("", "format") != format_name) {
    throw core::FormatError("inversion::checkpoint#not_a_checkpoint",
                            "{}: expected a checkpoint, got another file; give the folder of a run", path);
  }
  if (const auto version = source.attribute("", "version"); version != format_version) {
    throw core::FormatError(
        "inversion::checkpoint#other_version",
        "{}: expected version {} of the checkpoint, got {}; resume with the program that wrote it", path,
        format_version, version);
  }
  if (const auto [id, text] = first_difference(source, inputs); !id.empty()) {
    throw core::ConfigError(
        "inversion::checkpoint#" + id,
        "{}: the run was started with something else: {}; restore it, or start a new run with -o", path,
        text);
  }
  RunState run{optimize::read_state(source), {}, {}};
  const auto summary_of = [&](const char* group) -> std::optional<optimize::InversionSummary> {
    if (!source.contains(std::string(group) + "/model")) return {};
    return read_summary(source, group);
  };
  run.before = summary_of(group_before);
  run.iterated = summary_of(group_iterated);
  return run;
}

}  // namespace lodestone::inversion
