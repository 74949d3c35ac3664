// SPDX-License-Identifier: Apache-2.0
#include "io/report/tables.hpp"

#include "io/report/axes.hpp"
#include "io/report/html.hpp"
#include "io/run/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::report {

namespace mt = physics::mt;

namespace {

constexpr int n_reasons = static_cast<int>(mt::MaskReason::bad_error) + 1;
using Rows = std::vector<std::vector<std::string>>;

std::string percent(double part, double whole) {
  return whole > 0.0 ? fmt::format("{:.1f} %", 100.0 * part / whole) : "–";
}

std::string number_or_dash(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : "–";
}

/// What an iteration column shows where λ or the step does not exist (start model).
std::string positive_or_dash(double value) { return value > 0.0 ? fmt::format("{:.3g}", value) : "–"; }

std::string extent_text(const std::vector<double>& edges) {
  const LengthUnit unit = length_unit(edges.back() - edges.front());
  return fmt::format("{:.6g} to {:.6g} {}", edges.front() / unit.metres, edges.back() / unit.metres,
                     unit.name);
}

std::string period_text(const mt::Survey& survey) {
  if (survey.frequencies_hz.empty()) {
    return "none";
  }
  const auto [low, high] = std::minmax_element(survey.frequencies_hz.begin(), survey.frequencies_hz.end());
  return fmt::format("{} from {:.3g} to {:.3g} s", survey.frequencies_hz.size(), 1.0 / *high, 1.0 / *low);
}

void add_profile_rows(const run::InversionResult& result, Rows& rows) {
  const run::ProfileGeometry& profile = result.profile;
  rows.push_back(
      {"Profile", fmt::format("azimuth {:.1f}° (y), strike x along {:.1f}°; distances {}",
                              profile.azimuth_deg, std::fmod(profile.azimuth_deg + 270.0, 360.0),
                              profile.distance == "running_sum" ? "are running sums between stations"
                                                                : "projected on the line")});
  if (!profile.projection.empty()) {
    rows.push_back(
        {"Origin", fmt::format("latitude {:.4f}°, longitude {:.4f}° ({})", profile.origin_latitude_deg,
                               profile.origin_longitude_deg, profile.projection)});
  }
  double widest = 0.0;
  for (const double offset : profile.offset_m) {
    widest = std::max(widest, std::abs(offset));
  }
  if (!profile.offset_m.empty()) {
    rows.push_back(
        {"Largest distance of a station from the line", fmt::format("{:.2f} km", widest / 1000.0)});
  }
}

}  // namespace

std::string summary_table(const run::InversionResult& result) {
  const mt::ObservedData& data = result.data;
  const auto n = static_cast<double>(data.survey.keys.size());
  const auto kept = static_cast<double>(std::count(data.mask.begin(), data.mask.end(), mt::MaskReason::kept));
  const auto interpolated = std::count(data.interpolated.begin(), data.interpolated.end(), 1);
  Rows rows{{"Misfit", fmt::format("rms {:.3f} over {:.0f} real data (target {:.3g})", result.rms, kept,
                                   result.target_rms)},
            {"Stopped because", result.stop_message.empty()
                                    ? result.stop_reason
                                    : fmt::format("{}: {}", result.stop_reason, result.stop_message)},
            {"Iterations", result.history.empty() ? "0" : std::to_string(result.history.back().iteration)},
            {"Unknowns", fmt::format("{} ({} columns × {} rows)", result.earth.grid.n_cells(),
                                     result.earth.grid.n_y(), result.earth.grid.n_z())},
            {"Section",
             fmt::format("{} along the profile, depth {}, {}", extent_text(result.earth.grid.y_edges_m()),
                         extent_text(result.earth.grid.z_edges_m()),
                         result.earth.grid.reference() == physics::mesh::DepthReference::surface
                             ? "measured from the surface"
                             : "measured from the datum")},
            {"Surface", result.earth.surface.is_flat()
                            ? fmt::format("flat at z = {:.6g} m", result.earth.surface.z_at(0.0, 0.0))
                            : "follows the topography"},
            {"Stations", std::to_string(data.survey.stations.size())},
            {"Periods", period_text(data.survey)},
            {"Data", fmt::format("{:.0f}, of which {:.0f} masked ({})", n, n - kept, percent(n - kept, n))}};
  if (interpolated > 0) {
    rows.push_back({"Interpolated on request", fmt::format("{} data", interpolated)});
  }
  rows.push_back(
      {"Error floors", fmt::format("{:.3g} % of |Z|; {:.3g} in log10 ρₐ; {:.3g}° in phase; {:.3g} in tipper",
                                   100.0 * result.floors.impedance_relative, result.floors.log10_rho,
                                   result.floors.phase_deg, result.floors.tipper_absolute)});
  add_profile_rows(result, rows);
  return html_table({}, rows);
}

std::string data_table(const run::InversionResult& result) {
  const mt::ObservedData& data = result.data;
  std::array<std::array<long, n_reasons>, mt::n_datum_rows> counts{};
  std::array<run::RmsSum, mt::n_datum_rows> misfit;
  const Eigen::VectorXd residual = run::normalized_residuals(data, result.predicted);
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k) {
    const auto quantity = static_cast<std::size_t>(data.survey.keys[k].quantity);
    ++counts[quantity][static_cast<std::size_t>(data.mask[k])];
    misfit[quantity].add(residual[static_cast<Eigen::Index>(k)]);
  }
  std::vector<std::string> head{"Type of datum", "Unit", "rms"};
  for (int reason = 0; reason < n_reasons; ++reason) {
    std::string name(core::word(static_cast<mt::MaskReason>(reason)));
    std::replace(name.begin(), name.end(), '_', ' ');
    head.push_back(reason == 0 ? "used" : "masked: " + name);
  }
  head.emplace_back("masked");
  Rows rows;
  for (std::size_t q = 0; q < counts.size(); ++q) {
    long all = 0;
    for (const long count : counts[q]) {
      all += count;
    }
    if (all == 0) {
      continue;
    }
    const auto quantity = static_cast<mt::Quantity>(q);
    std::vector<std::string> row{std::string(mt::name_of(quantity)), std::string(mt::units_of(quantity)),
                                 number_or_dash(misfit[q].rms(), 2)};
    for (const long count : counts[q]) {
      row.push_back(std::to_string(count));
    }
    row.push_back(percent(static_cast<double>(all - counts[q][0]), static_cast<double>(all)));
    rows.push_back(std::move(row));
  }
  return html_table(head, rows);
}

std::string certificate_table(const run::InversionResult& result) {
  if (result.certificate.rows.empty()) {
    return {};
  }
  Rows rows;
  for (const mt::d2::CertificateRow& row : result.certificate.rows) {
    rows.push_back({row.check, number_or_dash(row.worst.rho_a_percent, 3) + " %",
                    number_or_dash(row.worst.phase_deg, 3) + "°", row.where,
                    row.passed ? "passed" : "not passed"});
  }
  return html_table({"Check", "worst in ρₐ", "worst in phase", "where",
                     fmt::format("tolerance {:.3g} %, {:.3g}°", result.certificate.tolerance.rho_a_percent,
                                 result.certificate.tolerance.phase_deg)},
                    rows);
}

std::string static_shift_table(const run::InversionResult& result) {
  if (result.static_shifts.empty()) return {};
  std::vector<std::array<double, 2>> shifts(result.data.survey.stations.size(), {std::nan(""), std::nan("")});
  std::array<double, 2> sum{}, n{};
  for (const run::StaticShift& shift : result.static_shifts) {
    const auto mode = static_cast<std::size_t>(shift.mode);
    shifts[static_cast<std::size_t>(shift.station)][mode] = shift.decades;
    sum[mode] += shift.decades;
    n[mode] += 1.0;
  }
  Rows rows;
  for (std::size_t station = 0; station < shifts.size(); ++station) {
    rows.push_back({result.data.survey.stations[station].name, number_or_dash(shifts[station][0], 3),
                    number_or_dash(shifts[station][1], 3)});
  }
  rows.push_back({"mean", number_or_dash(sum[0] / n[0], 3), number_or_dash(sum[1] / n[1], 3)});
  return html_table({"Site", "TE", "TM"}, rows);
}

std::string learned_prior_table(const inversion::prior::PriorFindings& prior) {
  Rows rows;
  for (std::size_t r = 0; r < prior.regions.size(); ++r) {
    const inversion::prior::RegionFindings& region = prior.regions[r];
    const inversion::prior::PriorFindings::Deviation deviation = prior.deviation(static_cast<int>(r));
    rows.push_back({region.name, region.network,
                    region.decoder == "gaussian" ? "normal distribution of its draws" : region.decoder,
                    region.origin, std::to_string(region.codes.cols()), std::to_string(region.codes.size()),
                    fmt::format("{:.3f}", region.reconstruction_rms_decades),
                    fmt::format("{:.2f}", region.mean_square_code()),
                    prior.polished
                        ? fmt::format("{:.2f} rms, {:.2f} at most", deviation.rms, deviation.largest)
                        : "none: no polish"});
  }
  return html_table({"Region", "network", "decoder", "origin", "subdomains", "codes",
                     "reconstruction rms (decades)", "mean square of the codes", "deviation (decades)"},
                    rows);
}

std::string coverage_table(const inversion::prior::PriorFindings& prior) {
  Rows rows;
  for (const inversion::prior::RegionFindings& region : prior.regions) {
    for (std::size_t s = 0; s < region.coverage.size(); ++s) {
      const inversion::prior::SubdomainCoverage& row = region.coverage[s];
      rows.push_back({region.name, std::to_string(s), fmt::format("{:.3f}", row.distance_decades),
                      fmt::format("{:.2f}", row.relative_distance), fmt::format("{:.2f}", row.chi_square),
                      fmt::format("{:.2g}", row.tail),
                      number_or_dash(row.data_share.value_or(std::nan("")), 2),
                      std::string(core::word(row.verdict))});
    }
  }
  if (rows.empty()) return {};
  return html_table(
      {"Region", "subdomain", "distance (decades)", "of the network's own",
       "mean square of the code (draws: 1)", "draws with a longer one", "share of the data", "verdict"},
      rows);
}

std::string history_table(const run::InversionResult& result) {
  const bool has_stages = std::any_of(result.history.begin(), result.history.end(),
                                      [](const auto& row) { return row.stage != "cells"; });
  Rows rows;
  for (const inversion::optimize::StagedRecord& row : result.history) {
    rows.push_back(
        {std::to_string(row.iteration), std::string(core::word(row.kind)), fmt::format("{:.4f}", row.rms),
         positive_or_dash(row.lambda), fmt::format("{:.4g}", row.roughness), positive_or_dash(row.step),
         std::to_string(row.n_forward), std::to_string(row.n_jacobian), fmt::format("{:.1f}", row.seconds)});
    if (has_stages) rows.back().push_back(row.stage);
  }
  std::vector<std::string> head{"Iteration",     "step",         "rms",       "λ",      "roughness",
                                "share of step", "forward runs", "Jacobians", "seconds"};
  if (has_stages) head.emplace_back("stage");
  return html_table(head, rows);
}

std::string provenance_table(const run::InversionResult& result) {
  const run::Provenance& provenance = result.provenance;
  Rows rows{{"Version", provenance.version},
            {"Command", provenance.command_line},
            {"Started", provenance.started_utc},
            {"Finished", provenance.finished_utc}};
  for (const auto* facts : {&provenance.host, &provenance.build}) {
    for (const auto& [name, value] : *facts) {
      rows.push_back({name, value});
    }
  }
  return html_table({}, rows);
}

}  // namespace lodestone::io::report
