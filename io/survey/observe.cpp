// SPDX-License-Identifier: Apache-2.0
#include "io/survey/observe.hpp"

#include "engine/core/log.hpp"
#include "io/text/counted.hpp"
#include "physics/mt/analysis/check.hpp"
#include "physics/mt/analysis/strike.hpp"
#include "physics/mt/analysis/strike_bands.hpp"
#include "physics/mt/sites.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;

/// Remarks that say the same of several files.
struct SameRemarks {
  std::string first;  ///< the first of them, with its file and line
  std::size_t n = 1;
};

/// Returns what a remark says after file and line, whatever its numbers.
std::string kind_of(const std::string& remark) {
  const auto end = remark.find(": ");
  std::string kind = end == std::string::npos ? remark : remark.substr(end);
  std::erase_if(kind, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
  return kind;
}

/// Returns the remarks by what they say, in the order of the first of each, but questions first: they call
/// all numbers of a station in doubt.
std::vector<SameRemarks> by_kind(const std::vector<std::string>& remarks) {
  std::vector<SameRemarks> kinds;
  std::map<std::string, std::size_t> known;
  for (const std::string& remark : remarks) {
    const auto [at, is_new] = known.try_emplace(kind_of(remark), kinds.size());
    if (is_new)
      kinds.push_back({remark});
    else
      ++kinds[at->second].n;
  }
  std::ranges::stable_partition(
      kinds, [](const SameRemarks& each) { return each.first.find('?') != std::string::npos; });
  return kinds;
}

/// Logs what the reader assumed or missed, once for all files that share it; the rest of a long list is left
/// to `mt_invert info`. A tipper of zeros matters where tippers are selected.
void log_remarks(const std::vector<mt::StationData>& stations, const mt::Selection& selection) {
  constexpr std::size_t most = 10;
  const bool needs_tippers = std::ranges::any_of(
      selection.data, [&](mt::Datum datum) { return mt::all_tippers.contains(mt::rule_of(datum).needs); });
  std::vector<std::string> remarks;
  for (const auto& station : stations)
    std::ranges::move(mt::texts_of(needs_tippers ? station.all_remarks() : station.remarks),
                      std::back_inserter(remarks));
  const std::vector<SameRemarks> kinds = by_kind(remarks);
  for (std::size_t i = 0; i < std::min(most, kinds.size()); ++i)
    core::log::warning(core::log::Id("io::survey::observe#remark"), "{}{}", kinds[i].first,
                       kinds[i].n > 1 ? fmt::format(" (likewise {} more)", kinds[i].n - 1) : "");
  if (kinds.size() > most)
    core::log::warning(core::log::Id("io::survey::observe#more_remarks"),
                       "the files give rise to {} more kinds of remarks; see them with: mt_invert info FILE…",
                       kinds.size() - most);
}

/// Warns of places that `check` calls errors, as that of a station with the wrong sign of its latitude.
void log_places(const std::vector<mt::StationData>& stations) {
  std::vector<mt::Finding> wrong = mt::check_of_places(stations);
  std::erase_if(wrong, [](const mt::Finding& each) { return each.severity != mt::Severity::error; });
  if (wrong.empty()) return;
  core::log::warning(core::log::Id("io::survey::observe#wrong_place"),
                     "station {} ({}) {}{}; mt_invert check says more", wrong.front().station,
                     wrong.front().place, wrong.front().text,
                     wrong.size() > 1 ? fmt::format(" (likewise {} more)", wrong.size() - 1) : "");
}

void log_stations(const std::vector<mt::StationData>& stations, const mt::Selection& selection) {
  core::log::info("{} read", text::counted(stations.size(), "station"));
  int n_masked = 0;
  for (const mt::StationData& station : stations) n_masked += station.n_masked();
  if (n_masked > 0)
    core::log::info("{} masked in survey files do not count",
                    text::counted(static_cast<std::size_t>(n_masked), "value"));
  log_remarks(stations, selection);
  log_places(stations);
}

void log_profile(const mt::Profile& profile) {
  if (profile.projection.empty()) return;
  const auto [least, most] = std::ranges::minmax(profile.y_m);
  double farthest = 0.0;
  for (const double offset : profile.offset_m) farthest = std::max(farthest, std::abs(offset));
  core::log::info(
      "profile: y along azimuth {:.1f} degrees, {:.1f} … {:.1f} km; stations up to {:.1f} km off the line",
      profile.azimuth_deg, least / 1e3, most / 1e3, farthest / 1e3);
}

void log_map(const mt::Profile& map) {
  const auto [south, north] = std::ranges::minmax(map.offset_m);
  const auto [west, east] = std::ranges::minmax(map.y_m);
  core::log::info("map: x along azimuth {:.1f} degrees, {:.1f} … {:.1f} km; y {:.1f} … {:.1f} km",
                  map.azimuth_deg - 90.0, south / 1e3, north / 1e3, west / 1e3, east / 1e3);
}

void log_data(const mt::Observations& data) {
  const auto interpolated = std::ranges::count(data.interpolated, std::uint8_t{1});
  for (const auto& station : data.stations) {
    if (!station.other_names.empty())
      core::log::info("station {}: merged with the bands of {} at the same place", station.site.name,
                      fmt::join(station.other_names, ", "));
  }
  const std::size_t n_frequencies = data.survey.frequencies_hz.size();
  core::log::info("{}, {} {}, {} data, {} of them used{}\n{}",
                  text::counted(data.survey.stations.size(), "station"), n_frequencies,
                  n_frequencies == 1 ? "frequency" : "frequencies", data.value.size(), data.n_used(),
                  interpolated > 0 ? fmt::format(", {} interpolated on request", interpolated) : "",
                  mt::mask_table(data));
  for (const auto& warning : mt::mask_warnings(data))
    core::log::warning(core::log::Id("io::survey::observe#masked_data"), "{}", warning);
}

/// Warns where decades of periods have strikes that differ from that of all of them by more than errors say.
void warn_of_decades(const std::vector<mt::StationData>& stations, const mt::StrikeOptions& all,
                     const mt::Strike& found, double declination_deg) {
  constexpr double much_deg = 15.0, right_angle_deg = 90.0, n_deviations = 3.0;
  std::vector<std::string> decades;
  bool differ = false;
  for (const mt::StrikeBand& band : mt::strike_bands(stations)) {
    const mt::StrikeOptions own{.min_period_s = std::max(band.min_period_s, all.min_period_s),
                                .max_period_s = std::min(band.max_period_s, all.max_period_s)};
    if (own.min_period_s >= own.max_period_s) continue;
    std::optional<mt::Strike> strike = mt::strike_of_data(stations, own);
    if (!strike || !strike->is_determined()) continue;
    const double off_deg = std::abs(std::remainder(strike->azimuth_deg - found.azimuth_deg, right_angle_deg));
    differ |= off_deg > std::max(much_deg, n_deviations * strike->error_deg);
    strike->azimuth_deg += declination_deg;
    decades.push_back(
        fmt::format("{:.3g} to {:.3g} s {}", own.min_period_s, own.max_period_s, in_words(strike)));
  }
  if (differ)
    core::log::warning(
        core::log::Id("io::survey::observe#strike_of_decades"),
        "the strike differs between decades of periods: {} degrees; a section has one: keep the "
        "periods of one strike by data.period_min_s and period_max_s, give "
        "profile.strike_deg, or invert a volume with --dim 3",
        fmt::join(decades, ", "));
}

/// Returns the strike of the data, of its two azimuths the one nearer to the perpendicular of the line; that
/// perpendicular where the data have none.
double strike_of(const std::vector<mt::StationData>& stations, double across_deg,
                 const mt::Selection& selection) {
  const mt::StrikeOptions band{.min_period_s = selection.min_period_s,
                               .max_period_s = selection.max_period_s * (1.0 + mt::same_frequency)};
  const std::optional<mt::Strike> found = mt::strike_of_data(stations, band);
  if (!found || !found->is_determined()) {
    core::log::warning(
        core::log::Id("io::survey::observe#no_strike"),
        "the data have no strike ({}): x is taken perpendicular to the line, {:.1f} degrees; "
        "give profile.strike_deg where another one is known",
        found ? "every azimuth fits nearly as well" : "no station has all four impedances or a phase tensor",
        across_deg);
    return across_deg;
  }
  const double from_north_deg = found->azimuth_deg + selection.declination_deg;
  const double strike_deg = mt::resolved_azimuth_deg(from_north_deg, across_deg);
  core::log::info(
      "strike of the data: {:.1f} or {:.1f} degrees ± {:.1f}, rms {:.2f}; {:.1f} is nearer to "
      "the perpendicular of the line, {:.1f} degrees off it",
      from_north_deg, from_north_deg + 90.0, found->error_deg, found->rms, strike_deg,
      std::abs(std::remainder(strike_deg - across_deg, 180.0)));
  warn_of_decades(stations, band, *found, selection.declination_deg);
  const std::optional<mt::TipperStrike> tipper = mt::tipper_strike(stations, band);
  if (tipper &&
      mt::resolved_azimuth_deg(from_north_deg, tipper->azimuth_deg + selection.declination_deg) != strike_deg)
    core::log::warning(
        core::log::Id("io::survey::observe#other_strike"),
        "the tippers show a strike of {:.0f} degrees, nearer to the other azimuth: the line may "
        "run along strike, where a section means little; look at the arrows",
        tipper->azimuth_deg + selection.declination_deg);
  return strike_deg;
}

/// Sets the strike of the data and, where no azimuth is given, the line across it.
void choose_strike(const std::vector<mt::StationData>& stations, mt::ProfileOptions& line,
                   mt::Selection& selection) {
  if (!line.strike_deg && line.strike == mt::StrikeChoice::across_line) return;
  const double best_line_deg = geodesy::profile(stations, line).azimuth_deg;
  selection.strike_deg =
      line.strike_deg ? *line.strike_deg : strike_of(stations, best_line_deg - 90.0, selection);
  if (line.azimuth_deg) return;
  constexpr double half_turn_deg = 180.0;
  const double across_deg = std::fmod(*selection.strike_deg + 90.0 + 2.0 * half_turn_deg, half_turn_deg);
  line.azimuth_deg = across_deg;
}

}  // namespace

mt::Observations observe(const std::vector<mt::StationData>& stations, const mt::ProfileOptions& line,
                         const mt::Selection& selection) {
  log_stations(stations, selection);
  mt::ProfileOptions axes = line;
  mt::Selection selected = selection;
  choose_strike(stations, axes, selected);
  const mt::Profile profile = geodesy::profile(stations, axes);
  log_profile(profile);
  mt::Observations observed = mt::select(stations, profile, selected);
  log_data(observed);
  mt::warn_of_sites_off_line(observed.survey.stations, observed.profile);
  return observed;
}

mt::Observations observe_on_map(const std::vector<mt::StationData>& stations,
                                const mt::ProfileOptions& options, const mt::Selection& selection) {
  log_stations(stations, selection);
  const mt::Profile map = geodesy::map(stations, options);
  log_map(map);
  mt::Observations observed = mt::select(stations, map, selection);
  log_data(observed);
  return observed;
}

mt::Observations observe(const std::string& path, const mt::ProfileOptions& line,
                         const mt::Selection& selection) {
  return observe(read(path), line, selection);
}

}  // namespace lodestone::io::survey
