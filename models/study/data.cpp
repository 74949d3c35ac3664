// SPDX-License-Identifier: Apache-2.0
#include "models/study/data.hpp"

#include "engine/core/random.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace lodestone::models::study {
namespace {

namespace mt = physics::mt;
using Eigen::Index;
using Eigen::VectorXd;

constexpr double length_m = 10000.0, highest_hz = 1000.0, decades_of_frequency = 3.0;
constexpr std::uint64_t noise_stream = 77;

mt::Survey survey_of(const SyntheticSurvey& options, std::vector<mt::Datum> te,
                     const std::vector<mt::Datum>& tm) {
  std::vector<mt::Station> stations;
  for (int i = 0; i < options.n_stations; ++i)
    stations.push_back({.name = fmt::format("s{:02}", i), .y_m = length_m * i / (options.n_stations - 1)});
  std::vector<double> frequencies_hz;
  for (int i = 0; i < options.n_frequencies; ++i)
    frequencies_hz.push_back(highest_hz *
                             std::pow(10.0, -decades_of_frequency * i / (options.n_frequencies - 1)));
  if (options.tm) te.insert(te.end(), tm.begin(), tm.end());
  return mt::full_survey(std::move(stations), std::move(frequencies_hz), te);
}

/// Phases of TM lie in the third quadrant.
VectorXd folded(const mt::Survey& survey, VectorXd values) {
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const mt::DatumRule& rule = mt::rule_of(survey.keys[i].quantity);
    if (rule.turn > 0.0) values[static_cast<Index>(i)] += branch_of(rule).value_or(0.0);
  }
  return values;
}

}  // namespace

mt::Survey SyntheticSurvey::impedances() const {
  using enum mt::Datum;
  return survey_of(*this, {zxy_re, zxy_im}, {zyx_re, zyx_im});
}

mt::Survey SyntheticSurvey::data() const {
  using enum mt::Datum;
  return survey_of(*this, {log10_rho_xy, phase_xy}, {log10_rho_yx, phase_yx});
}

inversion::objective::DataMisfit SyntheticData::misfit() const {
  VectorXd turn(observed.size());
  for (std::size_t i = 0; i < survey.keys.size(); ++i)
    turn[static_cast<Index>(i)] = mt::rule_of(survey.keys[i].quantity).turn;
  return inversion::objective::DataMisfit(
      core::DataSet({.observed = observed, .sigma = sigma, .turn = std::move(turn)}));
}

double SyntheticData::relative_misfit(const VectorXd& predicted) const {
  return (observed - predicted).norm() / folded(survey, observed).norm();
}

VectorXd true_impedances(const physics::mesh::Model& section, const SyntheticSurvey& options,
                         mt::d2::Accuracy accuracy) {
  const mt::Survey survey = options.impedances();
  const auto meshes = mt::d2::design_meshes(section, survey, mt::d2::design_options(accuracy));
  return mt::d2::data_map(MPI_COMM_SELF, section.earth, survey, meshes)->value(resistivity_ohm_m(section));
}

SyntheticData noisy_data(const SyntheticSurvey& options, const VectorXd& impedances, double noise,
                         std::uint64_t seed, double least_error) {
  SyntheticData data{options.data(), VectorXd(impedances.size()), VectorXd(impedances.size()),
                     VectorXd(impedances.size()), noise};
  const core::Philox random(seed, noise_stream);
  const double error = std::max(noise, least_error) / std::numbers::sqrt2;
  const Index n = Index{options.n_frequencies} * options.n_stations;  // per real number of an impedance
  for (Index block = 0; block < impedances.size(); block += 2 * n) {
    for (Index i = 0; i < n; ++i) {
      const Index re = block + i, im = re + n;  // also places of log10 ρₐ and phase
      const double frequency_hz = data.survey.frequencies_hz[static_cast<std::size_t>(
          data.survey.keys[static_cast<std::size_t>(re)].frequency)];
      const auto put = [&](VectorXd& to, std::complex<double> z) {
        to[re] = std::log10(std::norm(z) / (2.0 * std::numbers::pi * frequency_hz * mt::mu0));
        to[im] = std::arg(z);
      };
      const std::complex<double> z(impedances[re], impedances[im]);
      const auto draw = static_cast<std::uint64_t>(block + 2 * i);
      put(data.clean, z);
      put(data.observed, z + noise * std::abs(z) / std::numbers::sqrt2 *
                                 std::complex<double>(random.normal(draw), random.normal(draw + 1)));
      data.sigma[re] = 2.0 * error / std::numbers::ln10;
      data.sigma[im] = error;
    }
  }
  return data;
}

}  // namespace lodestone::models::study
