// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/data.hpp"
#include "apps/mt_invert/selftest/models.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/error.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/station_data.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace lodestone::mt_invert::selftest {
namespace {

namespace mt = physics::mt;

/// Sites and frequencies of the rows with one definition of the fields.
mt::Survey survey_of(const BenchmarkTable& table, mt::Definition definition) {
  std::set<double> y_m, periods_s;
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.text(i, "definition") != core::word(definition)) continue;
    y_m.insert(table.number(i, "y_m"));
    periods_s.insert(table.number(i, "period_s"));
  }
  std::vector<mt::Station> stations;
  for (const double y : y_m) {
    mt::Station station;
    station.name = fmt::format("y{:g}", y);
    station.y_m = y;
    station.definition = definition;
    stations.push_back(station);
  }
  std::vector<double> frequencies_hz;
  for (const double period : periods_s) frequencies_hz.push_back(1.0 / period);
  return mt::response_survey(std::move(stations), std::move(frequencies_hz));
}

std::vector<mt::Response> respond(MPI_Comm comm, const BenchmarkModel& model, const mt::Survey& survey,
                                  mt::d2::Accuracy accuracy) {
  const auto meshes = mt::d2::design_meshes(model.section, survey, mt::d2::design_options(accuracy));
  const auto simulation = mt::d2::data_map(comm, model.section.earth, survey, meshes);
  return mt::responses_from(survey, simulation->value(resistivity_ohm_m(model.section)),
                            std::vector<double>(survey.stations.size(), 0.0));
}

const mt::Response& find(const std::vector<mt::Response>& responses, mt::Mode mode, double period_s,
                         double y_m) {
  const auto found = std::ranges::find_if(responses, [&](const mt::Response& r) {
    return r.mode == mode && std::abs(r.frequency_hz * period_s - 1.0) < mt::same_frequency && r.y_m == y_m;
  });
  if (found == responses.end())
    throw core::ShapeError("mt_invert#no_response", "no response at {} s, y = {} m", period_s, y_m);
  return *found;
}

void compare_tipper(const BenchmarkModel& model, const std::string& what, mt::Complex reference,
                    mt::Complex tipper, SelftestReport& report) {
  const auto rows = tipper_rows(what, reference, tipper, model.tipper_limit);
  report.rows.insert(report.rows.end(), rows.begin(), rows.end());
}

void compare(const BenchmarkModel& model, const BenchmarkTable& table, mt::Definition definition,
             const std::vector<mt::Response>& responses, SelftestReport& report) {
  for (std::size_t i = 0; i < table.n_rows(); ++i) {
    if (table.text(i, "definition") != core::word(definition)) continue;
    const double period_s = table.number(i, "period_s"), y_m = table.number(i, "y_m");
    const std::string& mode = table.text(i, "mode");
    const mt::Response& ours = find(responses, mode == "TE" ? mt::Mode::te : mt::Mode::tm, period_s, y_m);
    const std::string along = definition == mt::Definition::slope_parallel ? "along slope " : "";
    const std::string what = fmt::format("{} {:g} s y = {:g} m {}", mode, period_s, y_m, along);
    const mt::Complex reference(table.number(i, "Z_re_ohm"), table.number(i, "Z_im_ohm"));
    const double rho_reference = table.number(i, "rho_a_ohm_m"),
                 rho = mt::apparent_resistivity_ohm_m(ours.impedance_ohm, ours.frequency_hz);
    const bool judged = !model.is_at_contact(y_m);
    report.rows.push_back({what + "rho_a", "ohm m", rho_reference, rho, model.rho_limit_percent,
                           100.0 * (rho / rho_reference - 1.0), "%", judged});
    const double turn_deg = mt::phase_deg(ours.impedance_ohm / reference);
    report.rows.push_back({what + "phase", "deg", mt::phase_deg(reference), mt::phase_deg(ours.impedance_ohm),
                           model.phase_limit_deg, turn_deg, "°", judged});
    if (ours.mode == mt::Mode::te && definition == mt::Definition::horizontal && model.tipper_limit > 0.0)
      compare_tipper(model, what, {table.number(i, "Tzy_re"), table.number(i, "Tzy_im")}, ours.tipper,
                     report);
  }
}

}  // namespace

std::vector<SelftestRow> tipper_rows(const std::string& what, mt::Complex reference, mt::Complex ours,
                                     double limit) {
  return {
      {what + "Re Tzy", "1", reference.real(), ours.real(), limit, ours.real() - reference.real(), "", true},
      {what + "Im Tzy", "1", reference.imag(), ours.imag(), limit, ours.imag() - reference.imag(), "", true}};
}

SelftestReport selftest_commemi(MPI_Comm comm, mt::d2::Accuracy accuracy, const std::string& name) {
  const BenchmarkModel model = benchmark_model(name, accuracy);
  const BenchmarkTable table(data_file("benchmarks/" + name + ".csv"));
  SelftestReport report;
  for (const auto definition : {mt::Definition::horizontal, mt::Definition::slope_parallel}) {
    const mt::Survey survey = survey_of(table, definition);
    if (!survey.stations.empty())
      compare(model, table, definition, respond(comm, model, survey, accuracy), report);
  }
  if (!model.contacts_m.empty())
    report.note =
        "not judged: sites within 2 % of a body's width from a contact or a kink of the surface, where TM "
        "jumps";
  return report;
}

}  // namespace lodestone::mt_invert::selftest
