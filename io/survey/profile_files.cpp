// SPDX-License-Identifier: Apache-2.0
#include "io/survey/profile_files.hpp"

#include "engine/core/error.hpp"
#include "io/geodesy/profile.hpp"
#include "io/mare2dem/data.hpp"
#include "io/occam2d/data.hpp"
#include "io/text/scan.hpp"
#include "physics/mt/holdings.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace lodestone::io::survey {
namespace {

namespace mt = physics::mt;
using mt::Datum;
using mt::Element;
using mt::MaskReason;
using mt::StationData;

/// Returns the points of stations whose file counts x and y on a map.
std::vector<mt::PlanePoint> points_of(const std::vector<StationData>& stations) {
  std::vector<mt::PlanePoint> points;
  for (const StationData& station : stations) {
    const double azimuth = station.local_frame->azimuth_deg / mt::deg_per_rad;
    const double c = std::cos(azimuth), s = std::sin(azimuth);
    points.push_back(
        {station.site.x_m * c - station.site.y_m * s, station.site.x_m * s + station.site.y_m * c});
  }
  return points;
}

/// Refuses choices that have no effect on stations which stand along a line.
void require_no_choice(const mt::ProfileOptions& line, const StationData& first) {
  if (!line.azimuth_deg && line.origin.empty() && line.projection == mt::ProfileOptions{}.projection) return;
  throw core::InvalidArgument(
      "io::survey::profile_data#on_line_already",
      "{}: the stations stand along a line already; expected no azimuth, origin or projection of a profile",
      first.path);
}

mt::Profile profile_of(const std::vector<StationData>& stations, const mt::ProfileOptions& line) {
  const bool is_mapped = std::ranges::all_of(stations, [&](const StationData& station) {
    return station.local_frame &&
           station.local_frame->is_same(stations.front().local_frame.value_or(mt::LocalFrame{}));
  });
  if (!is_mapped) {
    if (std::isfinite(stations.front().site.y_m)) require_no_choice(line, stations.front());
    return geodesy::profile(stations, line);
  }
  std::vector<std::string> names;
  for (const StationData& station : stations) names.push_back(station.site.name);
  return mt::make_profile(names, points_of(stations), line);
}

/// Replaces impedances by apparent resistivities and phases.
void state_rho_and_phase(StationData& station) {
  for (mt::StationRow& row : station.rows) {
    for (const Datum datum : mt::rho_and_phase) {
      const mt::DatumRule& rule = rule_of(datum);
      if (row.is_missing(element_of(rule))) continue;
      const double sigma = row.covariance ? mt::sigma(rule, row.values, *row.covariance)
                                          : mt::sigma(rule, row.values, row.errors);
      (void)station.add(
          {datum, row.frequency_hz, rule.value(row.values, mt::omega(row.frequency_hz)), sigma, {}});
    }
    for (const Element element : {Element::zxy, Element::zyx})
      row.values[element] = {mt::not_given, mt::not_given};
  }
}

/// Replaces apparent resistivities and phases of TE, for which ModEM's 2-D files have no block, by
/// impedances.
void state_te_impedances(StationData& station) {
  const auto reading = [&](Datum datum, double frequency_hz) {
    return std::ranges::find_if(station.readings, [&](const mt::Reading& each) {
      return each.datum == datum && each.frequency_hz == frequency_hz;
    });
  };
  const std::vector<mt::Reading> before = station.readings;
  for (const mt::Reading& rho : before) {
    if (rho.datum != Datum::log10_rho_xy) continue;
    const auto phase = reading(Datum::phase_xy, rho.frequency_hz);
    mt::StationRow& row = station.row_at(rho.frequency_hz);
    if (phase == station.readings.end() || !row.is_missing(Element::zxy)) continue;
    const double modulus = std::sqrt(std::pow(10.0, rho.value) * mt::omega(rho.frequency_hz) * mt::mu0);
    row.values[Element::zxy] = std::polar(modulus, phase->value);
    row.errors[Element::zxy] = modulus * std::fmax(0.5 * mt::ln10 * rho.sigma, phase->sigma);
    station.readings.erase(phase);
    station.readings.erase(reading(Datum::log10_rho_xy, rho.frequency_hz));
  }
  station.sort();
}

/// Counts the depth of stations from sea level where their file states none.
void state_depth(StationData& station) {
  mt::Station& site = station.site;
  if (!std::isfinite(site.z_m) && std::isfinite(site.elevation_m)) site.z_m = -site.elevation_m;
}

/// Brings the content of a station into the form that a format holds.
void adapt(StationData& station, WriteFormat format) {
  if (format == WriteFormat::occam2d) return state_rho_and_phase(station);
  if (format == WriteFormat::modem2d) return state_te_impedances(station);
  state_depth(station);
}

std::vector<Datum> data_held(WriteFormat format) {
  if (format == WriteFormat::occam2d) return occam2d::data_held();
  if (format == WriteFormat::mare2dem) return mare2dem::data_held();
  std::vector<Datum> held{Datum::log10_rho_yx, Datum::phase_yx};
  for (const Element element : {Element::zxy, Element::zyx, Element::tzy}) {
    held.push_back(real_part_of(element));
    held.push_back(partner_of(held.back()));
  }
  return held;
}

/// Returns "zxy" for both parts of an element, else the name of the datum.
std::string name_without_part(Datum datum) {
  std::string name(name_of(datum));
  if (is_part(rule_of(datum))) name.resize(name.size() - 3);
  return name;
}

/// Masks the data that a format does not hold, and says which.
void mask_not_held(mt::Observations& data, const std::vector<Datum>& held, std::vector<std::string>& lost) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < data.reason.size(); ++i) {
    const Datum datum = data.survey.keys[i].quantity;
    if (data.reason[i] == MaskReason::missing || std::ranges::find(held, datum) != held.end()) continue;
    data.reason[i] = MaskReason::listed;
    names.insert(name_without_part(datum));
  }
  if (!names.empty()) lost.push_back(fmt::format("{}", fmt::join(names, ", ")));
}

/// Masks parts of elements whose other part is not there, and says where parts have errors of their own.
void pair_parts(mt::Observations& data, std::vector<std::string>& lost) {
  std::map<std::tuple<int, int, Datum>, std::size_t> at;
  const std::vector<mt::DatumKey>& keys = data.survey.keys;
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (data.reason[i] == MaskReason::kept) at[{keys[i].station, keys[i].frequency, keys[i].quantity}] = i;
  int n_alone = 0, n_unequal = 0;
  for (const auto& [place, i] : at) {
    const auto& [station, frequency, datum] = place;
    if (!is_part(rule_of(datum))) continue;
    const auto partner = at.find({station, frequency, partner_of(datum)});
    const auto sigma_of = [&](std::size_t k) { return data.sigma[static_cast<Eigen::Index>(k)]; };
    if (partner == at.end()) {
      data.reason[i] = MaskReason::listed;
      ++n_alone;
    } else if (!mt::is_second_of_pair(datum) && sigma_of(i) > 0.0 && sigma_of(partner->second) > 0.0 &&
               sigma_of(i) != sigma_of(partner->second)) {
      ++n_unequal;
    }
  }
  if (n_alone > 0) lost.push_back(fmt::format("{} parts of elements without the other", n_alone));
  if (n_unequal > 0)
    lost.push_back(fmt::format("errors of {} imaginary parts, which get those of the real ones", n_unequal));
}

/// Keeps data without an error where the format has a mark for it, and says how many are lost where not.
void treat_missing_errors(mt::Observations& data, WriteFormat format, std::vector<std::string>& lost) {
  const auto n = std::ranges::count(data.reason, MaskReason::bad_error);
  if (format == WriteFormat::modem2d) {
    std::ranges::replace(data.reason, MaskReason::bad_error, MaskReason::kept);
  } else if (n > 0) {
    lost.push_back(fmt::format("{} data without an error; --floor KIND=NUMBER gives them one", n));
  }
}

/// Says what stations have beside data and places along a line.
void note_losses(const std::vector<StationData>& stations, WriteFormat format,
                 std::vector<std::string>& lost) {
  std::set<std::string> all;
  for (const StationData& station : stations) {
    for (std::string& each : mt::not_held(station, {.interstation = true, .readings = true}))
      all.insert(std::move(each));
    const mt::Station& site = station.site;
    if (format != WriteFormat::modem2d && std::isfinite(site.latitude_deg))
      all.emplace("latitudes and longitudes");
    if (format != WriteFormat::mare2dem && (std::isfinite(site.elevation_m) || std::isfinite(site.z_m)))
      all.emplace("elevations and depths");
    if (format != WriteFormat::mare2dem && site.tilt_deg != 0.0) all.emplace("tilts of sensors");
  }
  lost.insert(lost.end(), all.begin(), all.end());
}

/// Puts stations on the profile: y along it, x along strike. Readings of another frame are lost. Adds what
/// rotation takes from rows.
std::vector<StationData> placed(std::vector<StationData> stations, const mt::Profile& profile,
                                double strike_deg, std::vector<std::string>& lost, mt::TurnLoss& loss) {
  std::size_t n_turned = 0;
  std::set<std::string> turned;
  for (std::size_t i = 0; i < stations.size(); ++i) {
    StationData& station = stations[i];
    mt::rotate_rows(station, strike_deg, loss);
    n_turned += std::erase_if(station.readings, [&](const mt::Reading& reading) {
      const bool is_other = reading.azimuth_deg && std::abs(std::remainder(*reading.azimuth_deg - strike_deg,
                                                                           360.0)) > mt::same_azimuth_deg;
      if (is_other) turned.emplace(name_of(reading.datum));
      return is_other;
    });
    station.site.y_m = profile.y_m[i];
    station.local_frame = mt::LocalFrame{.azimuth_deg = strike_deg};
  }
  if (n_turned > 0)
    lost.push_back(fmt::format("{} data in a frame other than {:g} degrees ({})", n_turned, strike_deg,
                               fmt::join(turned, ", ")));
  return stations;
}

/// Says what rotation took from rows. errors: InvalidArgument where it leaves nothing.
void treat_loss(const mt::Observations& data, const mt::TurnLoss& loss, double strike_deg,
                std::vector<std::string>& lost) {
  if (!loss.is_any()) return;
  const std::string text = fmt::format("{}; --rotate {:g} keeps those of that station",
                                       loss.in_words(strike_deg), strike_deg - loss.turn_deg);
  if (data.n_used() == 0)
    throw core::InvalidArgument("io::survey::profile_data#incomplete_tensors", "no datum is left: {}", text);
  lost.push_back("whole tensors along the axes of the profile: " + text);
}

}  // namespace

ProfileData profile_data(const std::vector<StationData>& stations, WriteFormat format,
                         const Placing& placing) {
  if (stations.empty())
    throw core::InvalidArgument("io::survey::profile_data#no_station",
                                "the list of stations is empty; give at least one");
  ProfileData out;
  note_losses(stations, format, out.lost);
  const mt::Profile profile = profile_of(stations, placing.line);
  const double strike_deg = placing.strike_deg.value_or(profile.azimuth_deg - 90.0);
  mt::TurnLoss loss;
  std::vector<StationData> on_line = placed(stations, profile, strike_deg, out.lost, loss);
  for (StationData& station : on_line) adapt(station, format);
  out.title = profile.points.empty()
                  ? "stations along a profile"
                  : fmt::format("profile along {} degrees, strike {} degrees",
                                text::shortest(profile.azimuth_deg), text::shortest(strike_deg));
  out.data = mt::stated_data(on_line);
  mask_not_held(out.data, data_held(format), out.lost);
  treat_missing_errors(out.data, format, out.lost);
  if (format == WriteFormat::modem2d) pair_parts(out.data, out.lost);
  treat_loss(out.data, loss, strike_deg, out.lost);
  return out;
}

}  // namespace lodestone::io::survey
