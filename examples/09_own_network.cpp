// SPDX-License-Identifier: Apache-2.0
// What this shows: a network of your own, trained on a prior of your own, sets the layers below 189 m of a
// magnetotelluric inversion; the cover stays free.
//
// Equation: min ½‖(d − F(M(v, cover)))/σ‖² + ½λ (‖R (M(v, cover) − m_ref)‖² + w ‖v‖²), M decodes the codes v;
// the prior says v is standard normal
//
// Sample run: 09_own_network
//
// Second run: 09_own_network 7 requests the network for the layers from number 7 on; it was trained on those
// from 6 on, and is refused.
//
// Builds on: 05_invert_sounding, 07_train_regression
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/random.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/train/model.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/network_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <fmt/core.h>

#include <cmath>
#include <span>

using namespace lodestone;
using namespace lodestone::engine;
using Eigen::VectorXd;

namespace {

constexpr int n_layers = 40, n_cover = 6, n_codes = 4, n_draws = 6000;
constexpr double sigma = 0.02;  // decades and radian: 5 % of apparent resistivity, 1.1 degrees
const physics::mesh::TensorGrid column =
    physics::mesh::TensorGrid::section({0.0, 1000.0}, physics::mesh::geometric_edges_m(20.0, 1.18, n_layers));

/// The prior: a conductor in a host, log10 of ohm m below the cover, from four standard normal numbers.
VectorXd earth_of(std::span<const double> code) {
  const double host = 2.5 + 0.25 * code[0], conductor = 0.8 + 0.25 * code[1],
               top_m = 1000.0 * std::pow(10.0, 0.2 * code[2]);
  return VectorXd::NullaryExpr(n_layers - n_cover, [&](Eigen::Index i) {
    const double depth_m = column.z_centre_m(n_cover + static_cast<int>(i));
    return depth_m > top_m && depth_m < top_m * (1.0 + std::exp(0.3 * code[3])) ? conductor : host;
  });
}

/// The network learns what these numbers make, without the jumps from layer to layer, so that it can be
/// differentiated.
void train(const Sequential& net) {
  const Tensor codes = random_normal(random_key(1), {n_draws, n_codes}, DType::f64).eval();
  std::vector<double> earths;
  for (std::size_t k = 0; k < n_draws; ++k)
    for (const double value : earth_of(codes.data<double>().subspan(k * n_codes, n_codes)))
      earths.push_back(value);
  const Dataset draws({{"input", codes}, {"target", Tensor::from(earths, {n_draws, n_layers - n_cover})}});
  const Loss loss = [](const Tensor& decoded, const Tensor& earth) {
    return mean_squared_error(decoded, earth);
  };
  const auto done = Model(net, loss, Adam(net, {.learning_rate = 3e-3}))
                        .fit(Loader(draws, {.batch_size = 60}), {}, {.epochs = 100});
  fmt::print("network: misfit {:.3f} decades rms\n", std::sqrt(done.figures.back().at("loss")));
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    // The network, in f64 as inversions are. Unknowns: the codes of the layers that it sets, and the cover
    InitialValues first(7, DType::f64);
    const Sequential net{Linear(n_codes, 64, first), swish, Linear(64, 64, first), swish,
                         Linear(64, n_layers - n_cover, first)};
    std::vector<Eigen::Index> deep;
    for (int i = argc > 1 ? std::atoi(argv[1]) : n_cover; i < n_layers; ++i) deep.push_back(i);
    const auto decoder = inversion::prior::network_decoder({"own network", n_codes, n_layers - n_cover}, net);
    const auto earth = std::make_shared<const inversion::prior::SubdomainMap>(
        n_layers, std::vector{inversion::prior::Region{"below the cover", decoder, {deep}}});
    train(net);
    const auto check = core::check_derivative(*inversion::prior::network_map(net, n_codes, "own network"),
                                              VectorXd::Zero(n_codes));
    const VectorXd start =
        (VectorXd(n_codes + n_cover) << VectorXd::Zero(n_codes), VectorXd::Constant(n_cover, 2.0)).finished();
    const inversion::prior::CodedRoughness roughness(
        earth,
        inversion::prior::roughness_operator(column,
                                             {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 20.0}),
        earth->value(start));

    // Physics, and data with noise of an earth that the network has not seen
    std::vector<double> thickness_m, frequencies_hz;
    for (int i = 0; i + 1 < n_layers; ++i)
      thickness_m.push_back(column.z_edges_m()[i + 1] - column.z_edges_m()[i]);
    for (int i = 0; i < 30; ++i) frequencies_hz.push_back(std::pow(10.0, 3.0 - 0.2 * i));
    using enum physics::mt::Datum;
    const auto physics = physics::mt::d1::data_map(
        thickness_m, physics::mt::full_survey({{"site"}}, frequencies_hz, {log10_rho_xy, phase_xy}));
    const VectorXd truth =
        (VectorXd(n_layers) << VectorXd::Constant(n_cover, 1.5), earth_of(std::vector{0.7, -0.8, 0.9, -0.5}))
            .finished();
    VectorXd data = physics->value(truth);
    for (Eigen::Index i = 0; i < data.size(); ++i)
      data[i] += sigma * core::Philox(7).normal(static_cast<std::uint64_t>(i));

    // Inversion, to what noise and the smoothness of the network leave
    const inversion::objective::DataMisfit misfit(
        core::DataSet({.observed = data, .sigma = VectorXd::Constant(data.size(), sigma)}));
    const inversion::optimize::GaussNewton gauss_newton(mpi.world(),
                                                        {.stop = {.max_iterations = 15, .target_rms = 1.1}});
    const auto summary =
        gauss_newton.minimize({core::compose(physics, earth), misfit, roughness.at(start)}, start,
                              {.directives = {std::make_shared<inversion::optimize::IterationTable>()},
                               .reweigh = roughness.reweigh()});
    fmt::print("{}{}\nmean error {:.3f} decades\n", check.report, summary.brief(),
               (earth->value(summary.model) - truth).cwiseAbs().mean());
    return check.passed && summary.reason == inversion::optimize::StopReason::target_reached ? 0 : 1;
  });
}
