// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/responses.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/station_data.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::physics::mt::benchmarks {
namespace {

/// The columns of a table of responses.
struct Columns {
  explicit Columns(const core::Table& table)
      : mode(table.texts("mode")),
        definition(table.texts("definition")),
        period_s(table.numbers("period_s")),
        y_m(table.numbers("y_m")),
        rho_ohm_m(table.numbers("rho_a_ohm_m")),
        impedance_re(table.numbers("Z_re_ohm")),
        impedance_im(table.numbers("Z_im_ohm")),
        tipper_re(table.numbers("Tzy_re")),
        tipper_im(table.numbers("Tzy_im")) {}
  [[nodiscard]] std::size_t n_rows() const { return mode.size(); }
  const core::Table::Texts &mode, &definition;
  const core::Table::Numbers &period_s, &y_m, &rho_ohm_m, &impedance_re, &impedance_im, &tipper_re,
      &tipper_im;
};

/// Returns the sites and frequencies of the rows with one definition of the fields.
Survey survey_of(const Columns& table, Definition definition) {
  std::set<double> y_m, periods_s;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.definition[i] != core::word(definition)) continue;
    y_m.insert(table.y_m[i]);
    periods_s.insert(table.period_s[i]);
  }
  std::vector<Station> stations;
  for (const double y : y_m) {
    Station station;
    station.name = fmt::format("y{:g}", y);
    station.y_m = y;
    station.definition = definition;
    stations.push_back(station);
  }
  std::vector<double> frequencies_hz;
  for (const double period : periods_s) frequencies_hz.push_back(1.0 / period);
  return response_survey(std::move(stations), std::move(frequencies_hz));
}

std::vector<Response> respond(MPI_Comm comm, const PublishedModel& model, const Survey& survey,
                              d2::Accuracy accuracy) {
  const auto meshes = d2::design_meshes(model.section, survey, d2::design_options(accuracy));
  const auto simulation = d2::data_map(comm, model.section.earth, survey, meshes);
  return responses_from(survey, simulation->value(resistivity_ohm_m(model.section)),
                        std::vector<double>(survey.stations.size(), 0.0));
}

const Response& find(const std::vector<Response>& responses, Mode mode, double period_s, double y_m) {
  const auto found = std::ranges::find_if(responses, [&](const Response& r) {
    return r.mode == mode && std::abs(r.frequency_hz * period_s - 1.0) < same_frequency && r.y_m == y_m;
  });
  if (found == responses.end())
    throw core::ShapeError("mt::benchmarks#no_response", "no response at {} s, y = {} m", period_s, y_m);
  return *found;
}

void compare(const PublishedModel& model, const Columns& table, Definition definition,
             const std::vector<Response>& responses, std::vector<core::Comparison>& result) {
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.definition[i] != core::word(definition)) continue;
    const double period_s = table.period_s[i], y_m = table.y_m[i];
    const Response& ours = find(responses, table.mode[i] == "TE" ? Mode::te : Mode::tm, period_s, y_m);
    const std::string along = definition == Definition::slope_parallel ? "along slope " : "";
    const std::string what = fmt::format("{} {:g} s y = {:g} m {}", table.mode[i], period_s, y_m, along);
    const Complex reference(table.impedance_re[i], table.impedance_im[i]);
    const double rho_reference = table.rho_ohm_m[i],
                 rho = apparent_resistivity_ohm_m(ours.impedance_ohm, ours.frequency_hz);
    const bool judged = !model.is_at_contact(y_m);
    result.push_back({what + "rho_a", "ohm m", rho_reference, rho, model.rho_limit_percent,
                      100.0 * (rho / rho_reference - 1.0), "%", judged});
    const double turn_deg = phase_deg(ours.impedance_ohm / reference);
    result.push_back({what + "phase", "deg", phase_deg(reference), phase_deg(ours.impedance_ohm),
                      model.phase_limit_deg, turn_deg, "°", judged});
    if (ours.mode == Mode::te && definition == Definition::horizontal && model.tipper_limit > 0.0) {
      const auto rows =
          compare_tipper(what, {table.tipper_re[i], table.tipper_im[i]}, ours.tipper, model.tipper_limit);
      result.insert(result.end(), rows.begin(), rows.end());
    }
  }
}

}  // namespace

std::vector<core::Comparison> compare_tipper(const std::string& what, Complex reference, Complex ours,
                                             double limit) {
  return {
      {what + "Re Tzy", "1", reference.real(), ours.real(), limit, ours.real() - reference.real(), "", true},
      {what + "Im Tzy", "1", reference.imag(), ours.imag(), limit, ours.imag() - reference.imag(), "", true}};
}

std::vector<core::Comparison> compare_responses(MPI_Comm comm, const PublishedModel& model,
                                                const core::Table& reference, d2::Accuracy accuracy) {
  const Columns table(reference);
  std::vector<core::Comparison> result;
  for (const auto definition : {Definition::horizontal, Definition::slope_parallel}) {
    const Survey survey = survey_of(table, definition);
    if (!survey.stations.empty())
      compare(model, table, definition, respond(comm, model, survey, accuracy), result);
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
