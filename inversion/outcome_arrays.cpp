// SPDX-License-Identifier: Apache-2.0
// Arrays of an outcome, in the layout of docs/result-file.md.
#include "engine/core/error.hpp"
#include "inversion/outcome.hpp"

#include <functional>
#include <span>
#include <utility>

namespace lodestone::inversion {
namespace {

using optimize::StagedRecord;
using physics::mesh::Scale;

core::Table pair_table(const core::Facts& facts) {
  core::Table::Texts names, values;
  for (const auto& [name, value] : facts) {
    names.push_back(name);
    values.push_back(value);
  }
  core::Table table;
  table.add_texts("name", std::move(names));
  table.add_texts("value", std::move(values));
  return table;
}

core::Table warning_table(const std::vector<core::log::KeptWarnings::Warning>& warnings) {
  core::Table::Texts ids, texts;
  for (const auto& [id, text] : warnings) {
    ids.push_back(id);
    texts.push_back(text);
  }
  core::Table table;
  table.add_texts("id", std::move(ids));
  table.add_texts("text", std::move(texts));
  return table;
}

/// Reads the warnings of a run; none from files without them.
std::vector<core::log::KeptWarnings::Warning> read_warnings(const core::ArraySource& source) {
  constexpr const char* group = "provenance/warnings";
  std::vector<core::log::KeptWarnings::Warning> warnings;
  if (!source.has_attribute(group, "columns")) return warnings;
  const core::Table table = core::read_table(source, group);
  for (std::size_t row = 0; row < table.n_rows(); ++row)
    warnings.push_back({table.texts("id")[row], table.texts("text")[row]});
  return warnings;
}

core::Facts read_facts(const core::ArraySource& source, const std::string& group) {
  const core::Table table = core::read_table(source, group);
  core::Facts facts;
  for (std::size_t row = 0; row < table.n_rows(); ++row)
    facts.emplace_back(table.texts("name")[row], table.texts("value")[row]);
  return facts;
}

void write_about(core::ArraySink& sink, const About& about) {
  sink.attribute("", "title", about.title);
  core::write_texts(sink, "configuration/toml", {about.configuration});
  core::write(sink, "facts", pair_table(about.facts));
  const core::Provenance& provenance = about.provenance;
  core::write_texts(sink, "provenance/command_line", {provenance.command_line});
  sink.attribute("provenance", "version", provenance.version);
  sink.attribute("provenance", "started_utc", provenance.started_utc);
  sink.attribute("provenance", "finished_utc", provenance.finished_utc);
  core::write(sink, "provenance/build", pair_table(provenance.build));
  core::write(sink, "provenance/host", pair_table(provenance.host));
  if (!about.warnings.empty()) core::write(sink, "provenance/warnings", warning_table(about.warnings));
}

std::string one_text(const core::ArraySource& source, const std::string& name) {
  const std::vector<std::string> texts = core::read_texts(source, name);
  if (texts.size() != 1)
    throw core::FormatError("inversion::read_outcome#not_one_text",
                            "{}: expected one text in \"{}\", but it holds {}", source.location(), name,
                            texts.size());
  return texts.front();
}

About read_about(const core::ArraySource& source) {
  return {.title = source.attribute("", "title"),
          .configuration = one_text(source, "configuration/toml"),
          .facts = read_facts(source, "facts"),
          .provenance = {.version = source.attribute("provenance", "version"),
                         .build = read_facts(source, "provenance/build"),
                         .command_line = one_text(source, "provenance/command_line"),
                         .started_utc = source.attribute("provenance", "started_utc"),
                         .finished_utc = source.attribute("provenance", "finished_utc"),
                         .host = read_facts(source, "provenance/host")},
          .warnings = read_warnings(source)};
}

/// The numbers of a row of the history, in the order of the columns.
struct NumberColumn {
  const char *name, *units;
  std::function<double(const StagedRecord&)> get;
  std::function<void(StagedRecord&, double)> set;
};

template <class T>
NumberColumn number(const char* name, const char* units, T optimize::IterationRecord::*member) {
  return {name, units, [member](const StagedRecord& row) { return static_cast<double>(row.*member); },
          [member](StagedRecord& row, double value) { row.*member = static_cast<T>(value); }};
}

const std::vector<NumberColumn>& number_columns() {
  using Record = optimize::IterationRecord;
  static const std::vector<NumberColumn> columns{number("iteration", "", &Record::iteration),
                                                 number("lambda", "", &Record::lambda),
                                                 number("rms", "1", &Record::rms),
                                                 number("roughness", "", &Record::roughness),
                                                 number("step", "1", &Record::step),
                                                 number("rms_at_start", "1", &Record::rms_at_start),
                                                 number("n_forward", "", &Record::n_forward),
                                                 number("n_jacobian", "", &Record::n_jacobian),
                                                 number("seconds", "s", &Record::seconds)};
  return columns;
}

core::Table history_table(const std::vector<StagedRecord>& history) {
  core::Table table;
  for (const NumberColumn& column : number_columns()) {
    core::Table::Numbers values;
    for (const StagedRecord& row : history) values.push_back(column.get(row));
    table.add_numbers(column.name, column.units, std::move(values));
  }
  core::Table::Texts kind, stage;
  for (const StagedRecord& row : history) {
    kind.emplace_back(core::word(row.kind));
    stage.push_back(row.stage);
  }
  table.add_texts("kind", std::move(kind));
  table.add_texts("stage", std::move(stage));
  return table;
}

std::vector<StagedRecord> read_history(const core::ArraySource& source) {
  const core::Table table = core::read_table(source, "history");
  std::vector<StagedRecord> history(table.n_rows());
  for (const NumberColumn& column : number_columns()) {
    for (std::size_t row = 0; row < history.size(); ++row)
      column.set(history[row], table.numbers(column.name)[row]);
  }
  for (std::size_t row = 0; row < history.size(); ++row) {
    history[row].kind = core::parse<optimize::StepKind, core::FormatError>(
        table.texts("kind")[row], fmt::format("{}: history/kind, row {}", source.location(), row));
    history[row].stage = table.texts("stage")[row];
  }
  return history;
}

std::string start_name(const physics::mesh::Property& property) {
  return "model/start_" + std::string(property.scale == Scale::log10 ? "log10_" : "") + property.name;
}

void write_tables(core::ArraySink& sink, const std::vector<NamedTable>& tables) {
  core::Table::Texts names;
  for (const NamedTable& each : tables) {
    const std::string group = "tables/" + each.name;
    core::write(sink, group, each.table);
    sink.attribute(group, "title", each.title);
    sink.attribute(group, "note", each.note);
    sink.attribute(group, "own_file", each.own_file ? "yes" : "no");
    names.push_back(each.name);
  }
  core::write_texts(sink, "tables/names", names);
}

std::vector<NamedTable> read_tables(const core::ArraySource& source) {
  std::vector<NamedTable> tables;
  for (const std::string& name : core::read_texts(source, "tables/names")) {
    const std::string group = "tables/" + name;
    tables.push_back({.name = name,
                      .title = source.attribute(group, "title"),
                      .note = source.attribute(group, "note"),
                      .table = core::read_table(source, group),
                      .own_file = source.attribute(group, "own_file") == "yes"});
  }
  return tables;
}

Eigen::VectorXd read_vector(const core::ArraySource& source, const std::string& name) {
  const std::vector<double> values = core::read_doubles(source, name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

}  // namespace

void write(core::ArraySink& sink, const Outcome& outcome) {
  check(outcome);
  write_about(sink, outcome.about);
  core::write(sink, "data", outcome.data);
  core::write_vector(sink, "data/predicted", span_of(outcome.predicted));
  const Eigen::VectorXd residual = normalized_residuals(outcome.data, outcome.predicted);
  core::write_vector(sink, "data/normalized_residual", span_of(residual));
  sink.attribute("data/normalized_residual", "units", "1");
  if (outcome.sites.n_columns() > 0) core::write(sink, "sites", outcome.sites);
  physics::mesh::write(sink, outcome.frame);
  physics::mesh::write(sink, outcome.model);
  sink.attribute("model", "property", outcome.model.property.name);
  physics::mesh::write_cells(sink, start_name(outcome.model.property), outcome.model.earth.grid,
                             outcome.start, units_in_scale(outcome.model.property));
  core::write_vector(sink, "model/further", span_of(outcome.further));
  if (outcome.findings.prior) prior::write(sink, *outcome.findings.prior, outcome.model.earth.grid);
  if (outcome.findings.uncertainty)
    uncertainty::write(sink, *outcome.findings.uncertainty, outcome.model.earth.grid);
  write_tables(sink, outcome.tables);
  core::write(sink, "history", history_table(outcome.history));
  core::write_number(sink, "summary/rms", outcome.ending.rms, "1");
  core::write_number(sink, "summary/target_rms", outcome.ending.target_rms, "1");
  sink.attribute("summary", "stop_reason", std::string(core::word(outcome.ending.reason)));
  sink.attribute("summary", "stop_message", outcome.ending.message);
}

Outcome read_outcome(const core::ArraySource& source) {
  Outcome outcome;
  outcome.about = read_about(source);
  outcome.data = core::read_data_set(source, "data");
  outcome.predicted = read_vector(source, "data/predicted");
  if (source.has_attribute("sites", "columns")) outcome.sites = core::read_table(source, "sites");
  outcome.frame = physics::mesh::read_frame(source);
  outcome.model = physics::mesh::read_model(source, source.attribute("model", "property"));
  outcome.start =
      physics::mesh::read_cells(source, start_name(outcome.model.property), outcome.model.earth.grid);
  outcome.further = read_vector(source, "model/further");
  outcome.findings.prior = prior::read_findings(source, outcome.model.earth.grid);
  outcome.findings.uncertainty = uncertainty::read_findings(source, outcome.model.earth.grid);
  outcome.tables = read_tables(source);
  outcome.history = read_history(source);
  outcome.ending.rms = core::read_number(source, "summary/rms");
  outcome.ending.target_rms = core::read_number(source, "summary/target_rms");
  outcome.ending.reason = core::parse<optimize::StopReason, core::FormatError>(
      source.attribute("summary", "stop_reason"), source.location() + ": summary@stop_reason");
  outcome.ending.message = source.attribute("summary", "stop_message");
  return outcome;
}

}  // namespace lodestone::inversion
