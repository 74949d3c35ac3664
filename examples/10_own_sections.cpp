// SPDX-License-Identifier: Apache-2.0
// What this shows: a prior trained on columns of sections of your own (results of mt_invert, ModEM models),
// and a 2-D inversion with it.
//
// Equation: as 09_own_network, F in 2-D with TE and TM; each column of the section between the stations is
// set by four codes of one network
//
// Sample run: 10_own_sections data/modem_block2_2d/m0.rho
//
// Refused runs: 10_own_sections nothing.rho (the file does not exist), 10_own_sections (no file)
//
// Builds on: 09_own_network
#include "engine/core/error.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/random.hpp"
#include "inversion/objective/parameter_maps.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/optimize/redesign.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/roughness.hpp"
#include "io/model/read.hpp"
#include "models/earths/sections.hpp"
#include "models/vae/train_vae.hpp"
#include "models/vae/vae_decoder.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <fmt/core.h>

#include <cmath>

using namespace lodestone;
using namespace lodestone::physics;
using Eigen::VectorXd;

namespace {

constexpr models::earths::Range line_m{300e3,
                                       395e3};  // where the sections are cut, and where the network rules
constexpr double sigma = 0.02;  // decades and radian: 5 % of apparent resistivity, 1.1 degrees
constexpr double target_rms = 1.05;

/// Returns columns of these sections, on their own layers.
models::earths::Prior prior_of(const std::vector<mesh::Model>& models_given) {
  models::earths::SectionsOptions options{.sections = {}, .mirrored = true};
  for (const auto& each : models_given)
    options.sections.push_back(models::earths::columns_within(
        models::earths::section_of(each, fmt::format("section {}", options.sections.size() + 1)), line_m));
  const mesh::TensorGrid column = models::earths::patch_grid(options.sections.front().depth_m, {0.0, 3000.0});
  return {column, {{1.0, std::make_shared<models::earths::Sections>(options)}}, 1};
}

/// Returns a small network of them, in a few seconds.
models::vae::TrainedVae trained(const models::earths::Prior& prior) {
  const models::vae::VaeSetup setup{
      .network = {.cells_z = prior.grid().n_z(), .n_codes = 4, .channels = {8, 16}, .centre = true},
      .loss = {},
      .recipe = {.n_draws = 4000,
                 .epochs = 10,
                 .learning_rate = 4e-3,
                 .schedule = models::vae::RateSchedule::cosine}};
  models::vae::TrainedVae vae = models::vae::train_vae(prior, setup).vae.value();
  fmt::print("network: {:.3f} decades rms from the draws it has not seen\n", vae.statistics().rms);
  return vae;
}

/// Returns a subdomain for each column between the ends of the line.
inversion::prior::Region columns_of(const mesh::TensorGrid& grid, inversion::prior::DecoderPtr decoder) {
  inversion::prior::Region region{"line", std::move(decoder), {}};
  for (int iy = 0; iy < grid.n_y(); ++iy) {
    if (grid.y_centre_m(iy) < line_m.lower || grid.y_centre_m(iy) > line_m.upper) continue;
    auto& cells = region.subdomains.emplace_back();
    for (int iz = 0; iz < grid.n_z(); ++iz) cells.push_back(grid.index(iz, iy));
  }
  return region;
}

/// Maps log10 of ohm m of the cells of a grid to responses at stations along the line. The meshes are made
/// for this model.
core::MapPtr responses(MPI_Comm comm, const mesh::TensorGrid& grid, const VectorXd& model,
                       mt::d2::Accuracy accuracy) {
  const mesh::Model section = mesh::resistivity_model({grid}, Eigen::pow(10.0, model.array()));
  std::vector<mt::Station> stations;
  for (int i = 0; i < 8; ++i)
    stations.push_back(
        {fmt::format("s{}", i), line_m.lower + (0.5 + i) * (line_m.upper - line_m.lower) / 8.0});
  using enum mt::Datum;
  const mt::Survey survey =
      mt::full_survey(stations, {1.0, 0.1, 0.01}, {log10_rho_xy, phase_xy, log10_rho_yx, phase_yx});
  auto simulation = mt::d2::data_map(
      comm, section.earth, survey, mt::d2::design_meshes(section, survey, mt::d2::design_options(accuracy)));
  return core::compose(simulation, inversion::objective::exp10_map(section.earth.grid.n_cells()));
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  session.start<PetscScope>();
  return session.run([&] {
    if (argc < 2)
      throw core::InvalidArgument(
          "10_own_sections",
          "expected files of sections to learn from, but the command line names no file; give model files");
    std::vector<mesh::Model> sections;
    for (int i = 1; i < argc; ++i) sections.push_back(io::model::read_model(argv[i]));
    const models::vae::TrainedVae vae = trained(prior_of(sections));

    // Data with noise of the first section, on finer meshes than those of the inversion
    const mesh::Model& truth = sections.front();
    const VectorXd true_model = log10_resistivity(truth);
    VectorXd data =
        responses(mpi.world(), truth.earth.grid, true_model, mt::d2::Accuracy::standard)->value(true_model);
    const core::Philox noise(7);
    for (Eigen::Index i = 0; i < data.size(); ++i)
      data[i] += sigma * noise.normal(static_cast<std::uint64_t>(i));

    // Codes of the columns of the line, and cells beside it
    const Eigen::Index n_cells = truth.earth.grid.n_cells();
    const auto earth = std::make_shared<const inversion::prior::SubdomainMap>(
        n_cells,
        std::vector<inversion::prior::Region>{columns_of(truth.earth.grid, models::vae::vae_decoder(vae))});
    const VectorXd half_space = VectorXd::Constant(n_cells, 2.0), start = earth->encode(half_space);
    const inversion::prior::CodedRoughness roughness(
        earth, inversion::prior::roughness_operator(truth.earth.grid, {.depth_weight_exponent = 1.0}),
        half_space);
    const auto forward = [&](const VectorXd& unknowns) {
      return core::compose(
          responses(mpi.world(), truth.earth.grid, earth->value(unknowns), mt::d2::Accuracy::iteration),
          earth);
    };

    const inversion::objective::DataMisfit misfit(
        core::DataSet({.observed = data, .sigma = VectorXd::Constant(data.size(), sigma)}));
    const inversion::optimize::GaussNewton gauss_newton(
        mpi.world(), {.stop = {.max_iterations = 10, .target_rms = target_rms},
                      .lambda = inversion::optimize::Occam{.smooth_at_target = false}});
    const auto summary = gauss_newton.minimize(
        {forward(start), misfit, roughness.at(start)}, start,
        {.directives = {std::make_shared<inversion::optimize::IterationTable>()},
         .redesign = inversion::optimize::redesign_until_near(1.5 * target_rms, forward),
         .reweigh = roughness.reweigh()});

    double sum = 0.0, count = 0.0;
    const VectorXd error = earth->value(summary.model) - true_model;
    for (const auto& column : earth->regions().front().subdomains) {
      sum += error(column).squaredNorm();
      count += static_cast<double>(column.size());
    }
    fmt::print("{}\n{:.3f} decades rms from the section that made the data, between {:g} and {:g} km\n",
               summary.brief(), std::sqrt(sum / count), 1e-3 * line_m.lower, 1e-3 * line_m.upper);
    return summary.reason == inversion::optimize::StopReason::target_reached ? 0 : 1;
  });
}
