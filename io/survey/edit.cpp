// SPDX-License-Identifier: Apache-2.0
#include "io/survey/edit.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/options.hpp"
#include "io/text/counted.hpp"
#include "physics/mt/merge.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::Element;
using mt::StationData;
using mt::StationRow;

/// Returns the station of this name. errors: ConfigError with the nearest name there is.
const StationData& station_of(const std::vector<StationData>& stations, const std::string& name) {
  const auto found = std::ranges::find_if(stations, [&](const StationData& s) { return s.has_name(name); });
  if (found != stations.end()) return *found;
  std::vector<std::string> known;
  for (const StationData& station : stations) known.push_back(station.site.name);
  const auto near = core::nearest_word(name, known);
  throw core::ConfigError(
      "io::survey::edited#unknown_site", "expected names of sites, got \"{}\"{}", name,
      near ? fmt::format("; did you mean \"{}\"?", *near) : std::string("; mt_invert info shows them"));
}

std::vector<StationData> chosen(std::vector<StationData> stations, const std::vector<std::string>& names) {
  if (names.empty()) return stations;
  std::vector<StationData> out;
  for (const std::string& name : names) out.push_back(station_of(stations, name));
  return out;
}

void limit_periods(StationData& station, double min_s, double max_s) {
  const auto is_outside = [&](double frequency_hz) {
    return 1.0 / frequency_hz < min_s || 1.0 / frequency_hz > max_s;
  };
  const std::size_t n =
      std::erase_if(station.rows, [&](const StationRow& r) { return is_outside(r.frequency_hz); });
  for (auto* readings : {&station.readings, &station.masked_readings})
    std::erase_if(*readings, [&](const mt::Reading& r) { return is_outside(r.frequency_hz); });
  if (n > 0)
    station.changes.push_back(fmt::format("{} periods beyond {:g} to {:g} s were left out", n, min_s, max_s));
}

/// Takes masked values back and returns how many each of the choices takes.
std::vector<int> unmask(StationData& station, const std::vector<mt::Where>& choices) {
  std::vector<int> n_of_each;
  int n_of_all = 0;
  for (const mt::Where& where : choices) {
    const int n_before = station.n_masked();
    for (StationRow& row : station.rows)
      for (const Element element : mt::all_elements)
        if (where.contains(station, mt::real_part_of(element), row.frequency_hz)) row.unmask(element);
    const auto is_chosen = [&](const mt::Reading& each) {
      return where.contains(station, each.datum, each.frequency_hz);
    };
    std::ranges::copy_if(station.masked_readings, std::back_inserter(station.readings), is_chosen);
    std::erase_if(station.masked_readings, is_chosen);
    station.sort();
    n_of_each.push_back(n_before - station.n_masked());
    n_of_all += n_of_each.back();
  }
  if (n_of_all > 0) station.changes.push_back(fmt::format("{} masked values were taken back", n_of_all));
  return n_of_each;
}

/// Masks values and returns how many each of the choices masks.
std::vector<int> mask(StationData& station, const std::vector<mt::Where>& masks) {
  std::vector<int> n_of_each;
  int n_of_all = 0;
  for (const mt::Where& where : masks) {
    const int n_before = station.n_masked();
    for (StationRow& row : station.rows)
      for (const Element element : mt::all_elements)
        if (where.contains(station, mt::real_part_of(element), row.frequency_hz)) row.mask(element);
    const auto is_masked = [&](const mt::Reading& each) {
      return where.contains(station, each.datum, each.frequency_hz);
    };
    std::ranges::copy_if(station.readings, std::back_inserter(station.masked_readings), is_masked);
    std::erase_if(station.readings, is_masked);
    station.sort();
    n_of_each.push_back(station.n_masked() - n_before);
    n_of_all += n_of_each.back();
  }
  if (n_of_all > 0) station.changes.push_back(fmt::format("{} values were masked", n_of_all));
  return n_of_each;
}

void add_declination(StationData& station, double declination_deg) {
  if (declination_deg == 0.0) return;
  const auto add = [&](StationRow& row) {
    mt::ChannelAzimuths& at = row.azimuths;
    for (double* each : {&at.ex_deg, &at.ey_deg, &at.hx_deg, &at.hy_deg, &at.tipper_hx_deg, &at.tipper_hy_deg,
                         &at.local_hx_deg, &at.local_hy_deg, &at.reference_hx_deg, &at.reference_hy_deg})
      *each += declination_deg;
  };
  for (StationRow& row : station.rows) {
    add(row);
    if (row.with_masked) add(*row.with_masked);
  }
  station.turned_to_deg += declination_deg;
  station.changes.push_back(
      fmt::format("azimuths were counted from magnetic north, {:g} degrees added", declination_deg));
}

void rotate(StationData& station, double azimuth_deg, mt::TurnLoss& loss) {
  if (station.rows.empty()) return;
  const double before_deg = station.rows.front().azimuths.hx_deg;
  const int n_before = loss.n_elements;
  mt::rotate_rows(station, azimuth_deg, loss);
  station.turned_to_deg = azimuth_deg;
  const int n_lost = loss.n_elements - n_before;
  station.changes.push_back(
      fmt::format("rotated from {:g} to {:g} degrees{}", before_deg, azimuth_deg,
                  n_lost > 0 ? fmt::format(", without {} elements of incomplete tensors", n_lost) : ""));
}

/// Raises errors to a floor; a covariance is widened along with its element.
int raise(StationRow& row, Element element, double floor) {
  double& sigma = row.errors[element];
  if (!(floor > 0.0) || row.is_missing(element) || sigma >= floor) return 0;
  if (row.covariance && sigma > 0.0) {
    const auto k = static_cast<Eigen::Index>(mt::index_of(element));
    row.covariance->row(k) *= floor / sigma;
    row.covariance->col(k) *= floor / sigma;
  }
  sigma = floor;
  row.estimates.reset();  // the errors are no longer those of signal and noise
  return 1;
}

int raise(mt::Reading& reading, double floor) {
  if (!(floor > 0.0) || reading.sigma >= floor) return 0;
  reading.sigma = floor;
  return 1;
}

int raise(StationRow& row, const mt::ErrorFloors& floors) {
  int n = 0;
  for (const Element element : mt::all_elements) {
    const mt::DatumRule& rule = mt::rule_of(mt::real_part_of(element));
    n += raise(row, element, mt::floor_of(rule, floors, mt::modulus_of(rule, row.values)));
  }
  if (!row.with_masked) return n;
  raise(*row.with_masked, floors);
  if (!row.with_masked->estimates) row.estimates.reset();
  return n;
}

void apply_floors(StationData& station, const std::vector<mt::FloorRule>& rules) {
  const mt::ErrorFloors floors = mt::general_floors(rules);
  int n = 0;
  for (StationRow& row : station.rows) n += raise(row, floors);
  for (mt::Reading& reading : station.masked_readings)
    raise(reading, mt::floor_of(mt::rule_of(reading.datum), floors, mt::not_given));
  for (mt::Reading& reading : station.readings)
    n += raise(reading, mt::floor_of(mt::rule_of(reading.datum), floors, mt::not_given));
  if (n == 0) return;
  std::vector<std::string> named;
  for (const mt::FloorRule& rule : rules)
    named.push_back(fmt::format("{} {:g}", core::word(rule.kind), rule.floor));
  station.changes.push_back(
      fmt::format("errors of {} values were raised to floors: {}", n, fmt::join(named, ", ")));
}

/// Returns the kinds of floors that data of the stations have.
std::set<mt::FloorKind> kinds_of(const std::vector<StationData>& stations) {
  std::set<mt::FloorKind> kinds;
  for (const StationData& station : stations) {
    for (const StationRow& row : station.rows)
      for (const Element element : mt::all_elements)
        if (!row.is_missing(element)) kinds.insert(mt::rule_of(mt::real_part_of(element)).floor);
    for (const mt::Reading& reading : station.readings) kinds.insert(mt::rule_of(reading.datum).floor);
  }
  return kinds;
}

/// Refuses floors of data that no station states.
void require_kinds(const std::vector<StationData>& stations, const std::vector<mt::FloorRule>& floors) {
  const std::set<mt::FloorKind> kinds = kinds_of(stations);
  std::vector<std::string_view> known;
  for (const mt::FloorKind kind : kinds) known.push_back(core::word(kind));
  for (const mt::FloorRule& rule : floors) {
    if (!kinds.contains(rule.kind))
      throw core::ConfigError(
          "io::survey::edited#no_such_data",
          "expected a floor of data that the stations state ({}), got one of {}; state the "
          "floor of what derived data are made of",
          fmt::join(known, ", "), core::word(rule.kind));
  }
}

/// Returns the first of periods that are sorted, and how far the others reach.
std::string in_words(const std::vector<double>& periods_s) {
  constexpr std::size_t most = 5;
  std::vector<std::string> words;
  for (const double period_s : periods_s)
    if (words.size() < most) words.push_back(fmt::format("{:g}", period_s));
  const std::string first = fmt::format("{}", fmt::join(words, ", "));
  return periods_s.size() > most ? fmt::format("{} … {:g} s", first, periods_s.back()) : first + " s";
}

/// Says what is about to be merged, how far it stands apart and whether its values agree. Returns the change,
/// and a remark where they do not.
std::pair<std::string, std::optional<mt::Remark>> tell_of_merging(const StationData& first,
                                                                  const StationData& other) {
  const mt::Agreement found = mt::agreement_of(first, other);
  const std::string agreement =
      std::isfinite(found.chi2)
          ? fmt::format("{} shared, χ² {:.2g} per datum",
                        text::counted(static_cast<std::size_t>(found.n_shared), "period"), found.chi2)
          : std::string("no period shared");
  core::log::info("{} is merged into {}, {:.3g} m apart; {}", other.site.name, first.site.name,
                  found.distance_m, agreement);
  std::string change = fmt::format("merged with {}, which stands {:.3g} m apart; {}", other.site.name,
                                   found.distance_m, agreement);
  if (!(found.chi2 > mt::Agreement::largest_chi2)) return {std::move(change), std::nullopt};
  const std::string contradiction = fmt::format(
      "{} and {} differ at {} of {} shared periods by more than their errors allow ({}): χ² is {:.3g} per "
      "datum, where agreement gives 1",
      first.site.name, other.site.name, found.contradicting_s.size(), found.n_shared,
      in_words(found.contradicting_s), found.chi2);
  core::log::warning(core::log::Id("io::survey::edited#contradiction"),
                     "{}; leave out the wrong one with --mask or --sites, or raise its errors",
                     contradiction);
  return {std::move(change), mt::Remark(contradiction + "; their means stand here")};
}

/// Warns of stations that have one name and stay apart.
void tell_of_namesakes(const std::vector<StationData>& stations, double within_m) {
  std::map<std::string, const StationData*> first_of;
  for (const StationData& station : stations) {
    const auto [first, is_new] = first_of.emplace(station.name_in_file(), &station);
    if (is_new) continue;
    const double apart_m = mt::distance_m(*first->second, station);
    core::log::warning(core::log::Id("io::survey::edited#namesakes"),
                       "{} ({}) and {} ({}) have one name in their files, but {}, so they stay two stations; "
                       "{}",
                       first->second->site.name, first->second->path, station.site.name, station.path,
                       std::isfinite(apart_m) ? fmt::format("stand {:.3g} m apart", apart_m)
                                              : std::string("one of them states no place"),
                       std::isfinite(apart_m)
                           ? fmt::format("--merge with more than {:g} m would join them", apart_m)
                           : fmt::format("only places within {:g} m are joined", within_m));
  }
}

/// Joins stations of one place; the first notes in its changes which.
std::vector<StationData> joined_places(std::vector<StationData> stations, double within_m) {
  std::map<std::string, std::vector<std::pair<std::string, std::optional<mt::Remark>>>> notes;
  std::vector<StationData> out =
      mt::merged(std::move(stations), within_m, [&](const StationData& first, const StationData& other) {
        notes[first.site.name].push_back(tell_of_merging(first, other));
      });
  for (StationData& station : out) {
    for (auto& [change, remark] : notes[station.site.name]) {
      station.changes.push_back(std::move(change));
      if (remark) station.remarks.push_back(std::move(*remark));
    }
  }
  tell_of_namesakes(out, within_m);
  return out;
}

/// Returns the stations and the periods of a choice in words.
std::string in_words(const mt::Where& where) {
  const std::string name = where.station.empty() ? "all stations" : "station " + where.station;
  if (!(where.min_frequency_hz > 0.0)) return name;
  return fmt::format("{} from {:g} to {:g} s", name, 1.0 / where.max_frequency_hz,
                     1.0 / where.min_frequency_hz);
}

/// Warns of choices that take no masked value back.
void tell_of_idle_unmasks(const std::vector<mt::Where>& unmasks, const std::vector<int>& n_taken) {
  for (std::size_t k = 0; k < unmasks.size(); ++k) {
    if (n_taken[k] > 0) continue;
    core::log::warning(core::log::Id("io::survey::edited#nothing_unmasked"),
                       "--unmask takes nothing back of {}: no value is masked there; only survey files keep "
                       "masked values, and info counts them",
                       in_words(unmasks[k]));
  }
}

/// Warns of masks that mask nothing.
void tell_of_idle_masks(const std::vector<StationData>& stations, const std::vector<mt::Where>& masks,
                        const std::vector<int>& n_masked) {
  for (std::size_t k = 0; k < masks.size(); ++k) {
    if (n_masked[k] > 0) continue;
    const mt::Where& where = masks[k];
    std::vector<double> periods_s;
    for (const StationData& station : stations) {
      if (!where.station.empty() && !station.has_name(where.station)) continue;
      for (const StationRow& row : station.rows) periods_s.push_back(1.0 / row.frequency_hz);
      for (const mt::Reading& each : station.readings) periods_s.push_back(1.0 / each.frequency_hz);
    }
    std::string why = "no value of it is left";
    if (!periods_s.empty()) {
      const auto [least, most] = std::ranges::minmax(periods_s);
      why = fmt::format("no value with a period there is left, where periods reach from {:g} to {:g} s",
                        least, most);
    }
    core::log::warning(core::log::Id("io::survey::edited#nothing_masked"), "--mask masks nothing of {}: {}",
                       in_words(where), why);
  }
}

/// Chooses, masks and turns stations by the choices that hold for each alone.
void edit_each(std::vector<StationData>& stations, const Edits& edits) {
  std::vector<int> n_masked(edits.masks.size()), n_taken(edits.unmasks.size());
  for (StationData& station : stations) {
    limit_periods(station, edits.min_period_s, edits.max_period_s);
    const std::vector<int> n_back = unmask(station, edits.unmasks);
    std::ranges::transform(n_taken, n_back, n_taken.begin(), std::plus<>());
    const std::vector<int> n = mask(station, edits.masks);
    std::ranges::transform(n_masked, n, n_masked.begin(), std::plus<>());
    add_declination(station, edits.declination_deg);
  }
  tell_of_idle_unmasks(edits.unmasks, n_taken);
  tell_of_idle_masks(stations, edits.masks, n_masked);
  std::erase_if(stations, [](const StationData& s) { return !s.has_value() && s.n_masked() == 0; });
}

/// Rotates stations and says what that takes from them. errors: InvalidArgument where it leaves nothing.
void rotate(std::vector<StationData>& stations, double azimuth_deg) {
  mt::TurnLoss loss;
  for (StationData& station : stations) rotate(station, azimuth_deg, loss);
  if (!loss.is_any()) return;
  const std::string text = fmt::format("{}; {:g} degrees keep those of that station",
                                       loss.in_words(azimuth_deg), azimuth_deg - loss.turn_deg);
  if (std::ranges::none_of(stations, &StationData::has_value))
    throw core::InvalidArgument("io::survey::edited#incomplete_tensors", "nothing is left: {}", text);
  core::log::warning(core::log::Id("io::survey::edited#incomplete_tensors"), "{}", text);
}

}  // namespace

std::vector<StationData> edited(std::vector<StationData> stations, const Edits& edits) {
  for (const auto* choices : {&edits.unmasks, &edits.masks})
    for (const mt::Where& where : *choices)
      if (!where.station.empty()) static_cast<void>(station_of(stations, where.station));
  stations = chosen(std::move(stations), edits.sites);
  edit_each(stations, edits);
  if (edits.merge_within_m > 0.0) stations = joined_places(std::move(stations), edits.merge_within_m);
  if (edits.azimuth_deg) rotate(stations, *edits.azimuth_deg);
  if (stations.empty())
    throw core::InvalidArgument("io::survey::edited#nothing_left",
                                "expected data between {:g} and {:g} s, got none; widen the periods",
                                edits.min_period_s, edits.max_period_s);
  require_kinds(stations, edits.floors);
  for (StationData& station : stations) apply_floors(station, edits.floors);
  return stations;
}

}  // namespace lodestone::io::survey
