// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/check_report.hpp"

#include "io/text/counted.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>

namespace lodestone::mt_invert::commands {
namespace {

using io::text::counted;
using nlohmann::json;
using physics::mt::Dimensionality;
using physics::mt::Finding;
using physics::mt::Severity;
using physics::mt::SoundingBand;
using physics::mt::StrikeBand;

/// Findings of one kind.
struct Group {
  std::string kind{};
  std::vector<const Finding*> findings;
};

/// Returns a text with "#" for each number, and without the name of a station and the place in a file.
std::string without_numbers(std::string text, const Finding& finding) {
  for (const std::string& name : {finding.place, finding.station}) {
    if (name.empty()) continue;
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
      text.replace(at, name.size(), "#");
  }
  std::string out;
  const auto is_digit = [&](std::size_t k) {
    return k < text.size() && std::isdigit(static_cast<unsigned char>(text[k])) != 0;
  };
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const bool is_of_number = is_digit(k) || (c == '-' && is_digit(k + 1));
    if (!is_of_number)
      out.push_back(c);
    else if (out.empty() || out.back() != '#')
      out.push_back('#');
  }
  return out;
}

/// Returns what findings of one kind share. Texts of readers tell of different things under one id.
std::string kind_of(const Finding& finding) {
  using enum physics::mt::FindingKind;
  constexpr std::array of_readers{remark, damaged_file, unreadable_file};
  const bool is_of_reader = std::ranges::find(of_readers, finding.kind) != of_readers.end();
  return fmt::format("{} {} {}", core::word(finding.severity), finding.id,
                     without_numbers(is_of_reader ? finding.text : finding.remedy, finding));
}

/// Returns the kinds in the order of their first findings, the gravest first.
std::vector<Group> grouped(const std::vector<Finding>& findings) {
  std::vector<Group> groups;
  for (const Finding& each : findings) {
    const std::string kind = kind_of(each);
    auto group = std::ranges::find(groups, kind, &Group::kind);
    if (group == groups.end()) group = groups.insert(groups.end(), Group{kind, {}});
    group->findings.push_back(&each);
  }
  std::ranges::stable_sort(groups, std::greater<>(),
                           [](const Group& group) { return group.findings.front()->severity; });
  return groups;
}

/// Returns the first names of the stations, and how many more there are.
std::string stations_of(const Group& group) {
  constexpr std::size_t n_named = 5;
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const Finding* each : group.findings) {
    add(each->station);
    std::ranges::for_each(each->others, add);
  }
  const std::size_t n_more = names.size() - std::min(names.size(), n_named);
  names.resize(std::min(names.size(), n_named));
  return fmt::format("{}{}", fmt::join(names, ", "), n_more > 0 ? fmt::format(" and {} more", n_more) : "");
}

/// Returns " (a.edi:12)" where the line is known, and "" where not.
std::string line_in_file(const Finding& finding) {
  const std::size_t colon = finding.place.rfind(':');
  const bool is_line = colon != std::string::npos && colon + 1 < finding.place.size() &&
                       finding.place.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  return is_line ? fmt::format(" ({})", finding.place) : "";
}

std::string line_of(const Finding& each) {
  std::string text = fmt::format("{} {}{}: {} [{}]\n", core::word(each.severity),
                                 stations_of({.findings = {&each}}), line_in_file(each), each.text, each.id);
  if (!each.remedy.empty()) text += fmt::format("        {}\n", each.remedy);
  return text;
}

std::string line_of(const Group& group) {
  const Finding& first = *group.findings.front();
  std::string text = fmt::format("{} {}: {} findings like that of {}{}: {} [{}]\n",
                                 core::word(first.severity), stations_of(group), group.findings.size(),
                                 first.station, line_in_file(first), first.text, first.id);
  if (!first.remedy.empty()) text += fmt::format("        {}\n", first.remedy);
  return text;
}

/// Returns a length in km with two digits, or all before the point.
std::string in_km(double length_m) {
  constexpr double with_fraction_km = 9.95;
  const double km = 1e-3 * length_m;
  return km < with_fraction_km ? fmt::format("{:.2g}", km) : fmt::format("{:.0f}", km);
}

/// Returns a number; null for one that is not finite.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

json json_of(const StrikeBand& band) {
  json out{{"min_period_s", band.min_period_s},
           {"max_period_s", band.max_period_s},
           {"n_tensors", band.dimension.n_determined()},
           {"share_1d", band.dimension.share(Dimensionality::layered)},
           {"share_2d", band.dimension.share(Dimensionality::section)},
           {"share_3d", band.dimension.share(Dimensionality::volume)},
           {"median_skew_deg", number(band.dimension.median_skew_deg)}};
  if (band.strike)
    out["strike"] = {{"azimuth_deg", band.strike->azimuth_deg},
                     {"or_deg", band.strike->azimuth_deg + 90.0},
                     {"error_deg", band.strike->error_deg},
                     {"is_determined", band.strike->is_determined()},
                     {"rms", band.strike->rms},
                     {"worst_rms", band.strike->worst_rms}};
  if (band.tipper)
    out["tipper"] = {{"azimuth_deg", band.tipper->azimuth_deg}, {"share_along", band.tipper->share_along}};
  return out;
}

json json_of(const SoundingBand& band) {
  json weaver = json::array();
  for (const double each : band.weaver) weaver.push_back(number(each));
  return {{"min_period_s", band.min_period_s},
          {"max_period_s", band.max_period_s},
          {"n_tensors", band.n_tensors},
          {"rho_det_ohm_m", number(band.rho_det_ohm_m)},
          {"phase_det_deg", number(band.phase_det_deg)},
          {"rho_ssq_ohm_m", number(band.rho_ssq_ohm_m)},
          {"phase_ssq_deg", number(band.phase_ssq_deg)},
          {"shallow_m", number(band.shallow_m)},
          {"deep_m", number(band.deep_m)},
          {"swift_skew", number(band.swift_skew)},
          {"bahr_skew", number(band.bahr_skew)},
          {"weaver_i", weaver}};
}

}  // namespace

std::size_t count_of(const std::vector<Finding>& findings, Severity severity) {
  return static_cast<std::size_t>(std::ranges::count(findings, severity, &Finding::severity));
}

std::string text_of(const std::vector<Finding>& findings, std::size_t n_stations) {
  constexpr std::size_t most_of_a_kind = 3;
  std::string text;
  bool some_are_grouped = false;
  for (const Group& group : grouped(findings)) {
    const bool is_grouped = group.findings.size() > most_of_a_kind;
    some_are_grouped |= is_grouped;
    if (is_grouped) text += line_of(group);
    for (const Finding* each : is_grouped ? std::vector<const Finding*>() : group.findings)
      text += line_of(*each);
  }
  text += fmt::format("{}: {}, {}, {}\n", counted(n_stations, "station"),
                      counted(count_of(findings, Severity::error), "error"),
                      counted(count_of(findings, Severity::warning), "warning"),
                      counted(count_of(findings, Severity::note), "note"));
  if (some_are_grouped) text += "--json lists each finding on its own\n";
  return text;
}

std::string text_of(const std::vector<StrikeBand>& bands) {
  if (bands.empty()) return "";
  constexpr const char* row = "{:<16} {:>6} {:>6} {:>6} {:>6}  {:<16} {:>6}  {}\n";
  std::string text =
      "\nDimension of the tensors and strike, clockwise from north; two strikes serve the impedances "
      "alike\n" +
      fmt::format(row, "periods in s", "1-D", "2-D", "3-D", "skew", "strike", "rms", "strike of tippers");
  for (const StrikeBand& band : bands) {
    const auto percent = [&](Dimensionality d) {
      return band.dimension.n_determined() > 0 ? fmt::format("{:.0f} %", 100.0 * band.dimension.share(d))
                                               : "";
    };
    text += fmt::format(
        row, fmt::format("{:g} to {:g}", band.min_period_s, band.max_period_s),
        percent(Dimensionality::layered), percent(Dimensionality::section), percent(Dimensionality::volume),
        std::isfinite(band.dimension.median_skew_deg) ? fmt::format("{:.1f}°", band.dimension.median_skew_deg)
                                                      : "",
        physics::mt::in_words(band.strike), band.strike ? fmt::format("{:.2g}", band.strike->rms) : "",
        band.tipper ? fmt::format("{:.0f}, {:.0f} % along it", band.tipper->azimuth_deg,
                                  100.0 * band.tipper->share_along)
                    : "");
  }
  return text;
}

std::string text_of(const std::vector<SoundingBand>& bands) {
  if (bands.empty()) return "";
  constexpr const char* row = "{:<16} {:>8} {:>10} {:>6} {:>10} {:>6}  {:<16} {:>6} {:>6}\n";
  std::string text =
      "\nMedians of all impedances: determinant, sum of squares (SSQ), skews; depths by Niblett and "
      "Bostick, a tenth each beyond\n" +
      fmt::format(row, "periods in s", "tensors", "rho det", "phase", "rho SSQ", "phase", "depth in km",
                  "Swift", "Bahr");
  for (const SoundingBand& band : bands)
    text +=
        fmt::format(row, fmt::format("{:g} to {:g}", band.min_period_s, band.max_period_s), band.n_tensors,
                    fmt::format("{:.3g}", band.rho_det_ohm_m), fmt::format("{:.0f}°", band.phase_det_deg),
                    fmt::format("{:.3g}", band.rho_ssq_ohm_m), fmt::format("{:.0f}°", band.phase_ssq_deg),
                    in_km(band.shallow_m) + " to " + in_km(band.deep_m),
                    fmt::format("{:.2f}", band.swift_skew), fmt::format("{:.2f}", band.bahr_skew));
  return text;
}

std::string json_of(const std::vector<Finding>& findings, const std::vector<StrikeBand>& bands,
                    const std::vector<SoundingBand>& soundings) {
  json list = json::array(), of_bands = json::array(), of_soundings = json::array();
  for (const Finding& each : findings)
    list.push_back({{"severity", core::word(each.severity)},
                    {"id", each.id},
                    {"station", each.station},
                    {"others", each.others},
                    {"place", each.place},
                    {"text", each.text},
                    {"periods_s", each.periods_s},
                    {"remedy", each.remedy},
                    {"can_be_mended", static_cast<bool>(each.mend)}});
  for (const StrikeBand& band : bands) of_bands.push_back(json_of(band));
  for (const SoundingBand& band : soundings) of_soundings.push_back(json_of(band));
  const json all{{"findings", list}, {"bands", of_bands}, {"soundings", of_soundings}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace lodestone::mt_invert::commands
