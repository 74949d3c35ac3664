// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/survey_votes.hpp"

#include "physics/mt/remarks.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <cmath>

namespace lodestone::physics::mt {
namespace {

constexpr double ohm_over_field_rho = 1.0 / (ohm_per_field_unit * ohm_per_field_unit);
constexpr const char* ohm = "ohm";

/// Median apparent resistivities of a station by both units that its file may have, in ohm m.
struct Medians {
  double as_field = not_given, as_ohm = not_given;
};

Medians medians_of(const StationData& station) {
  // Rows are in ohm by now: as numbers in mV/km/nT they have a resistivity that is too small by the factor.
  const double now = median_rho_as_field(station.rows) * ohm_over_field_rho;
  if (station.units_in_file == ohm) return {.as_field = now / ohm_over_field_rho, .as_ohm = now};
  return {.as_field = now, .as_ohm = now * ohm_over_field_rho};
}

std::string in_words(const Medians& medians) {
  return fmt::format("median apparent resistivity {:.3g} ohm m as mV/km/nT, {:.3g} as ohm", medians.as_field,
                     medians.as_ohm);
}

}  // namespace

bool SurveyVote::is_in_doubt() const {
  constexpr std::size_t many = 3;  // a single odd station is no reason to doubt a survey
  return !open.empty() && !is_usual() && !is_other() && (n_other > 0 || open.size() >= many);
}

SurveyVote vote_on_units(const std::vector<const StationData*>& stations) {
  constexpr double least_rho = 1e-3, largest_rho = 1e6;
  SurveyVote vote;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const StationData& station = *stations[k];
    const Medians medians = medians_of(station);
    if (std::isnan(medians.as_field)) continue;
    const auto is_of_earth = [](double rho) { return rho >= least_rho && rho <= largest_rho; };
    const bool may_be_field = is_of_earth(medians.as_field), may_be_ohm = is_of_earth(medians.as_ohm);
    if (station.open.units && may_be_field && may_be_ohm)
      vote.open.push_back(k);
    else if (!station.open.units || may_be_field || may_be_ohm)
      ++(station.units_in_file == ohm ? vote.n_other : vote.n_usual);
  }
  return vote;
}

SurveyVote vote_on_sign(const std::vector<const StationData*>& stations) {
  SurveyVote vote;
  for (std::size_t k = 0; k < stations.size(); ++k) {
    const StationData& station = *stations[k];
    if (station.open.sign && !voted_time_factor(station.rows))
      vote.open.push_back(k);
    else
      ++(station.sign_in_file == "-" ? vote.n_other : vote.n_usual);
  }
  return vote;
}

Remark remark_on_voted_units(const StationData& station, const SurveyVote& vote) {
  return {fmt::format(
              "the size of the impedances leaves their units open ({}), but the survey, in which {} of {} "
              "other stations that decide it are in ohm, shows that they are in ohm",
              in_words(medians_of(station)), vote.n_other, vote.n_other + vote.n_usual),
          RemarkKind::ohm};
}

Remark remark_on_voted_sign(const SurveyVote& vote) {
  return {
      fmt::format("quadrants of Zxy and Zyx leave the time factor open, but {} of {} other stations of the "
                  "survey that decide it have exp(-i omega t); all values were conjugated",
                  vote.n_other, vote.n_other + vote.n_usual),
      RemarkKind::conjugated};
}

Remark remark_on_open_units(const StationData& station, const SurveyVote& vote) {
  return {fmt::format("the size of the impedances leaves their units open ({}), and so does the survey ({} "
                      "stations in mV/km/nT, {} in ohm, {} open); read as mV/km/nT; --units decides",
                      in_words(medians_of(station)), vote.n_usual, vote.n_other, vote.open.size()),
          RemarkKind::open_units};
}

Remark remark_on_open_sign(const SurveyVote& vote) {
  return {
      fmt::format("quadrants of Zxy and Zyx leave the time factor open, and so does the survey ({} stations "
                  "with exp(+i omega t), {} with exp(-i omega t), {} open); read as exp(+i omega t); --sign "
                  "decides",
                  vote.n_usual, vote.n_other, vote.open.size()),
      RemarkKind::open_sign};
}

}  // namespace lodestone::physics::mt
