// SPDX-License-Identifier: Apache-2.0
#include "engine/core/json_text.hpp"
#include "io/info/info.hpp"
#include "io/text/scan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::info {
namespace {

std::string number_or_null(double value) { return std::isfinite(value) ? io::text::shortest(value) : "null"; }

std::string json_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(core::json_quoted(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string json_of(const io::info::SiteInfo& site) {
  return fmt::format(
      R"({{"name": {}, "latitude_deg": {}, "longitude_deg": {}, "elevation_m": {}, "n_periods": {}, "period_min_s": {}, "period_max_s": {}, )"
      R"("components": {}, "n_masked": {}, "n_masked_values": {}, "sign": {}, "units": {}, "frame_deg": {}}})",
      core::json_quoted(site.name), number_or_null(site.latitude_deg), number_or_null(site.longitude_deg),
      number_or_null(site.elevation_m), site.n_periods, number_or_null(site.period_min_s),
      number_or_null(site.period_max_s), json_list(site.components), site.n_masked, site.n_marked,
      core::json_quoted(site.sign), core::json_quoted(site.units), number_or_null(site.frame_deg));
}

std::string json_of(const io::info::FileInfo& file) {
  std::vector<std::string> sites;
  for (const auto& site : file.sites) sites.push_back("\n      " + json_of(site));
  return fmt::format(
      "  {{\n    \"path\": {},\n    \"format\": {},\n    \"status\": {},\n    \"warnings\": {},\n    "
      "\"sites\": [{}]\n  }}",
      core::json_quoted(file.path), core::json_quoted(file.format), core::json_quoted(file.status),
      json_list(file.warnings), fmt::join(sites, ","));
}

std::string text_of(const io::info::SiteInfo& site) {
  if (site.n_periods == 0) return fmt::format("  {:<12} no data\n", site.name);
  std::string text =
      fmt::format("  {:<12} {} periods {:g} … {:g} s, {}", site.name, site.n_periods, site.period_min_s,
                  site.period_max_s,
                  site.components.empty() ? "no values" : fmt::format("{}", fmt::join(site.components, " ")));
  if (site.n_masked > 0) text += fmt::format(", {} periods with missing parts", site.n_masked);
  if (std::isfinite(site.latitude_deg))
    text += fmt::format(", at {:.4f}°, {:.4f}°", site.latitude_deg, site.longitude_deg);
  if (std::isfinite(site.latitude_deg) && std::isfinite(site.elevation_m))
    text += fmt::format(", {:g} m", site.elevation_m);
  text += fmt::format("; e^{{{}iωt}}, {}", site.sign, site.units);
  if (std::isfinite(site.frame_deg)) text += fmt::format(", x along {:g}°", site.frame_deg);
  return text + "\n";
}

}  // namespace

std::string info_json(const std::vector<io::info::FileInfo>& files) {
  std::vector<std::string> objects;
  for (const auto& file : files) objects.push_back(json_of(file));
  return fmt::format("[\n{}\n]\n", fmt::join(objects, ",\n"));
}

std::string info_text(const std::vector<io::info::FileInfo>& files) {
  std::string text;
  for (const auto& file : files) {
    text += fmt::format("{}: {}, {}\n", file.path, file.format, file.status);
    for (const auto& fact : file.facts) text += fmt::format("  {}\n", fact);
    const bool has_data =
        std::ranges::any_of(file.sites, [](const auto& site) { return site.n_periods > 0; });
    for (const auto& site : file.sites)
      text += has_data ? text_of(site) : "";  // the facts describe a list of places
    for (const auto& warning : file.warnings) text += fmt::format("  warning: {}\n", warning);
  }
  return text;
}

}  // namespace lodestone::io::info
