// SPDX-License-Identifier: Apache-2.0
// What this shows: a magnetotelluric sounding with noise is inverted for a smooth layered earth; maps
// compose, Gauss–Newton does the rest.
//
// Equation: min ½‖(d − F(m))/σ‖² + ½λ‖R (m − m_ref)‖², m = log10 resistivity; λ is the largest that fits the
// data to rms 1 (Occam)
//
// Sample run: 05_invert_sounding
#include "engine/core/log.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/random.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;

namespace {

constexpr int n_layers = 40;
constexpr double sigma = 0.02;  // decades and radian: 5 % of apparent resistivity, 1.1 degrees

std::vector<double> frequencies_hz() {
  std::vector<double> frequencies;
  for (int i = 0; i < 30; ++i) frequencies.push_back(std::pow(10.0, 3.0 - 0.2 * i));
  return frequencies;
}

/// Returns the responses of a conductor (10 ohm m, 0.5–2.5 km) in 100 ohm m, with noise from a fixed seed.
Eigen::VectorXd measured(const mt::Survey& survey) {
  Eigen::VectorXd data = mt::d1::data_map({500.0, 2000.0}, survey)->value(Eigen::Vector3d(2.0, 1.0, 2.0));
  const core::Philox noise(7);
  for (Eigen::Index i = 0; i < data.size(); ++i)
    data[i] += sigma * noise.normal(static_cast<std::uint64_t>(i));
  return data;
}

inversion::objective::DataMisfit misfit_of(const Eigen::VectorXd& data) {
  Eigen::VectorXd turn = Eigen::VectorXd::Zero(data.size());  // phases are the second half
  turn.tail(data.size() / 2).setConstant(mt::rule_of(mt::Datum::phase_xy).turn);
  return inversion::objective::DataMisfit(core::DataSet(
      {.observed = data, .sigma = Eigen::VectorXd::Constant(data.size(), sigma), .turn = std::move(turn)}));
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  core::log::set_silent(mpi.rank() != 0);

  const mt::Survey survey =
      mt::full_survey({{"site"}}, frequencies_hz(), {mt::Datum::log10_rho_xy, mt::Datum::phase_xy});
  const mesh::TensorGrid column =
      mesh::TensorGrid::section({0.0, 1000.0}, mesh::geometric_edges_m(20.0, 1.18, n_layers));
  std::vector<double> thickness_m;
  for (int i = 0; i + 1 < n_layers; ++i)
    thickness_m.push_back(column.z_edges_m()[i + 1] - column.z_edges_m()[i]);

  const Eigen::VectorXd start = Eigen::VectorXd::Constant(n_layers, 2.0);
  const inversion::prior::RoughnessOptions roughness{.depth_weight_exponent = 1.0, .depth_weight_z0_m = 20.0};
  const inversion::optimize::Objective objective{
      .forward = mt::d1::data_map(thickness_m, survey),
      .misfit = misfit_of(measured(survey)),
      .regularization = std::make_shared<inversion::objective::Regularization>(
          inversion::prior::roughness_operator(column, roughness), start)};
  const inversion::optimize::GaussNewton gauss_newton(mpi.world(), {.stop = {.max_iterations = 20}});
  const inversion::optimize::InversionSummary summary = gauss_newton.minimize(
      objective, start, {.directives = {std::make_shared<inversion::optimize::IterationTable>()}});

  core::log::info("{}\n\n{:>10} {:>12}", summary.brief(), "depth_m", "rho_ohm_m");
  for (int i = 0; i < n_layers; i += 3)
    core::log::info("{:>10.0f} {:>12.1f}", column.z_centre_m(i), std::pow(10.0, summary.model[i]));
  return summary.reason == inversion::optimize::StopReason::target_reached ? 0 : 1;
}
