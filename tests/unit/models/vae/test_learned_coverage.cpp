// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/roughness.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "io/hdf5/file.hpp"
#include "models/vae/vae_decoder.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <cmath>
#include <optional>

using namespace lodestone;
using namespace lodestone::inversion;
using Eigen::Index;
using Eigen::VectorXd;

namespace {

constexpr double error = 0.03;

/// A sounding over the cells of one column of a trained network, the lowest going on without end; unknowns
/// are its codes, of a standard normal prior.
struct CodedSounding {
  explicit CodedSounding(const models::vae::TrainedVae& vae) {
    const std::vector<double>& depth_m = vae.grid().z_edges_m();
    const auto n = static_cast<Index>(depth_m.size()) - 1;
    std::vector<double> thickness, frequencies;
    std::vector<Index> cells;
    for (Index i = 0; i + 1 < n; ++i)
      thickness.push_back(depth_m[static_cast<std::size_t>(i) + 1] - depth_m[static_cast<std::size_t>(i)]);
    for (Index i = 0; i < n; ++i) cells.push_back(i);
    for (int i = 0; i < 16; ++i) frequencies.push_back(std::pow(10.0, 1.0 - 0.3 * i));
    map = std::make_shared<const prior::SubdomainMap>(
        n, std::vector<prior::Region>{{"column", models::vae::vae_decoder(vae), {cells}}});
    using enum physics::mt::Datum;
    forward = core::compose(
        physics::mt::d1::data_map(thickness,
                                  physics::mt::full_survey({{"a"}}, frequencies, {log10_rho_xy, phase_xy})),
        map);
    const physics::mesh::TensorGrid grid = physics::mesh::TensorGrid::section({0.0, 1.0}, depth_m);
    const auto roughness = [&](double weight) {
      return prior::CodedRoughness(map, prior::roughness_operator(grid, {}), VectorXd::Zero(n),
                                   {.code_weight = weight});
    };
    prior.emplace(roughness(1.0 / roughness(1.0).code_weights().at(0)));
  }
  [[nodiscard]] optimize::Objective objective(const VectorXd& data, const VectorXd& codes) const {
    return {forward, tests::plain_misfit(data, error), prior->at(codes)};
  }
  [[nodiscard]] VectorXd most_likely(const VectorXd& data) const {
    optimize::GaussNewton method(MPI_COMM_SELF,
                                 {.stop = {.max_iterations = 20, .target_rms = 1e-9, .min_rms_drop = 1e-6},
                                  .lambda = optimize::Cooling{.factor = 1.0 + 1e-12},
                                  .lambda_start = 1.0});
    const VectorXd zero = VectorXd::Zero(map->size_in());
    return method.minimize(objective(data, zero), zero, {.reweigh = prior->reweigh()}).model;
  }
  std::shared_ptr<const prior::SubdomainMap> map;
  core::MapPtr forward;
  std::optional<prior::CodedRoughness> prior;
};

}  // namespace

TEST_CASE("90 % intervals of soundings with a learned prior cover 85 to 95 % of truths drawn from it") {
  constexpr int n_truths = 24;
  const models::vae::TrainedVae vae =
      models::vae::TrainedVae::load(io::hdf5::Hdf5Source(LODESTONE_SOURCE_DIR "/data/kim_eto_prior/vae.h5"));
  const CodedSounding sounding(vae);
  const Index n = sounding.map->size_out(), n_codes = sounding.map->size_in();
  Index covered = 0, n_failed = 0;
  for (std::uint64_t seed = 0; seed < n_truths; ++seed) {
    const VectorXd codes = tests::random_matrix(n_codes, 1, 100 + seed).col(0),
                   truth = sounding.map->value(codes);
    const VectorXd clean = sounding.forward->value(codes);
    const VectorXd data = clean + error * tests::random_matrix(clean.size(), 1, 9000 + seed).col(0);
    const VectorXd start = sounding.most_likely(data);
    const uncertainty::Ensemble ensemble = uncertainty::randomize_then_optimize(
        MPI_COMM_SELF, sounding.objective(data, start), start, 1.0,
        {.n_samples = 39, .seed = seed, .max_iterations = 6}, {.reweigh = sounding.prior->reweigh()});
    const uncertainty::EnsembleStatistics s =
        uncertainty::statistics(uncertainty::mapped(*sounding.map, ensemble.models));
    covered += ((truth.array() >= s.p5.array()) && (truth.array() <= s.p95.array())).count();
    n_failed += ensemble.n_failed();
  }
  const double share = static_cast<double>(covered) / static_cast<double>(n * n_truths);
  INFO("covered " << share << ", failed " << n_failed);
  CHECK((share > 0.85 && share < 0.95));
  CHECK(n_failed <= n_truths);  // of 39 samples each
}
