// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/study/contest.hpp"
#include "apps/mt_invert/study/data.hpp"
#include "apps/mt_invert/study/domain.hpp"
#include "apps/mt_invert/study/study.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "io/model/read.hpp"
#include "models/earths/synthetic.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <set>

using namespace lodestone;
using namespace lodestone::mt_invert;
using Catch::Contains;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using physics::mesh::TensorGrid;
using tests::HasId;

namespace {

inversion::prior::DecoderPtr level(Index n_cells) {
  return inversion::prior::gaussian_decoder(VectorXd::Zero(n_cells), MatrixXd::Identity(n_cells, n_cells));
}

study::ContestEntry entry(const std::string& section, const std::string& family,
                          study::SyntheticMethod method, double error, double similarity) {
  study::ContestEntry result{.section = section, .family = family, .method = method};
  result.figures.error_region = error;
  result.figures.similarity_region = similarity;
  result.figures.chi_rms = 1.0;
  result.figures.floor = result.figures.c = 0.0046;
  result.figures.c_4_iterations = 0.005;
  return result;
}

const selftest::SelftestRow& row_of(const std::vector<selftest::SelftestRow>& rows, const std::string& what) {
  const auto found = std::ranges::find(rows, what, &selftest::SelftestRow::what);
  REQUIRE(found != rows.end());
  return *found;
}

}  // namespace

TEST_CASE(
    "synthetic domain: the region of interest is 3 to 7 km along and 204 to 787 m deep, unknowns go on "
    "beyond 10 km",
    "[apps]") {
  const study::SyntheticDomain domain;
  const auto depth_m = domain.region_depths_m();
  CHECK(depth_m.size() == 33);
  CHECK(depth_m.front() == Approx(203.5).margin(1.0));
  CHECK(depth_m.back() == Approx(787.0).margin(2.0));
  CHECK(domain.region_cells().size() == 40 * 32);
  CHECK(domain.domain_cells().size() == 100 * 64);
  CHECK(domain.grid().z_edges_m().back() > 10e3);
  std::set<int> columns;
  for (const Index cell : domain.region_cells()) columns.insert(static_cast<int>(cell) % domain.grid().n_y());
  const study::SyntheticDomain light(study::light_cells);
  CHECK(light.region_depths_m() == depth_m);
  CHECK(light.region_cells().size() == 20 * 32);
  CHECK(2 * light.grid().n_cells() < domain.grid().n_cells());
  CHECK(domain.grid().y_edges_m()[static_cast<std::size_t>(*columns.begin())] == Approx(3000.0));
  CHECK(domain.grid().y_edges_m()[static_cast<std::size_t>(*columns.rbegin()) + 1] == Approx(7000.0));
}

TEST_CASE("synthetic domain: a section on another grid becomes the mean of its log10 over each cell",
          "[apps]") {
  const study::SyntheticDomain domain;
  const TensorGrid coarse = TensorGrid::section({0.0, 4030.0, 10000.0}, {0.0, 300.0, 900.0});
  const VectorXd on_grid =
      domain.on_grid(physics::mesh::resistivity_model({coarse}, VectorXd{{10.0, 1000.0, 100.0, 100.0}}));
  const TensorGrid& grid = domain.grid();
  const auto at = [&](double y_m, double z_m) {
    return on_grid[grid.index(grid.row_of(z_m), grid.column_of(y_m))];
  };
  CHECK(at(2050.0, 2.0) == Approx(1.0));
  CHECK(at(-30000.0, 2.0) == Approx(1.0));  // the outermost columns and the bottom row go on
  CHECK(at(5050.0, 2.0) == Approx(3.0));
  CHECK(at(5050.0, 12000.0) == Approx(2.0));
  CHECK(at(4050.0, 2.0) == Approx(0.3 * 1.0 + 0.7 * 3.0));
  CHECK(domain.image_of_region(on_grid)(31, 0) == Approx(2.0));
}

TEST_CASE("synthetic domain: subdomains are the region's columns, or patches that overlap by half",
          "[apps]") {
  const study::SyntheticDomain domain;
  const auto columns =
      domain.subdomains(models::earths::patch_grid(domain.region_depths_m(), {0.0, 1000.0}), level(32));
  CHECK(columns.subdomains.size() == 40);
  std::vector<double> y_m;
  for (int i = 0; i <= 20; ++i) y_m.push_back(100.0 * i);
  const auto patches =
      domain.subdomains(models::earths::patch_grid(domain.region_depths_m(), y_m), level(640));
  CHECK(patches.subdomains.size() == 3);
  CHECK(patches.taper.minCoeff() > 0.0);
  const auto refusal = [&](const TensorGrid& grid, int n_cells) {
    return tests::error_of<core::InvalidArgument>([&] { (void)domain.subdomains(grid, level(n_cells)); });
  };
  CHECK_THAT(refusal(models::earths::patch_grid(domain.region_depths_m(), {0.0, 50.0, 100.0}), 64),
             HasId("other_columns", {"100 m"}));
  CHECK_THAT(refusal(models::earths::patch_grid({0.0, 10.0, 20.0}, {0.0, 1000.0}), 2),
             HasId("other_subdomains", {"32"}));
}

TEST_CASE("synthetic models: every family draws sections that can be read, of its resistivities", "[apps]") {
  const tests::TemporaryFolder folder;
  const study::SyntheticDomain domain;
  for (const models::earths::SyntheticFamily& family : models::earths::synthetic_families()) {
    for (int number = 0; number < 2; ++number) {
      const std::string text = models::earths::synthetic_model(family.name, number);
      const auto path = folder / "model.toml";
      core::write_file(path, text);
      const MatrixXd image = domain.image_of_region(domain.on_grid(io::model::read_model_toml(path)));
      INFO(family.name << " " << number);
      if (family.in_prior) {  // the prior's resistivities, and a body in the region
        CHECK(image.minCoeff() > 0.45);
        CHECK(image.maxCoeff() < 3.2);
        CHECK((image.minCoeff() < 1.2 || image.maxCoeff() > 2.85));
      } else {
        CHECK((image.minCoeff() < 0.7 && image.maxCoeff() > 3.2));
      }
    }
  }
}

TEST_CASE("synthetic data: noise of ε shifts c to about 0.6 ε, and chi rms of the truth is 1", "[apps]") {
  const study::SyntheticSurvey survey{.n_stations = 11, .n_frequencies = 15, .tm = true};
  const auto keys = survey.impedances();
  VectorXd impedances(
      std::ssize(keys.keys));  // a half-space of 100 ohm m: phase 45 degrees, TM the other sign
  for (std::size_t i = 0; i < keys.keys.size(); ++i) {
    const double f = keys.frequencies_hz[static_cast<std::size_t>(keys.keys[i].frequency)];
    const double part = std::sqrt(0.5 * 100.0 * 2.0 * std::numbers::pi * f * 4e-7 * std::numbers::pi);
    impedances[static_cast<Index>(i)] =
        physics::mt::mode_of(keys.keys[i].quantity) == physics::mt::Mode::te ? part : -part;
  }
  const study::SyntheticData data = study::noisy_data(survey, impedances, 0.01, 3),
                             clean = study::noisy_data(survey, impedances, 0.0, 3),
                             more = study::noisy_data(survey, impedances, 0.05, 3);
  CHECK(data.misfit().rms(data.clean) == Approx(1.0).margin(0.08));
  CHECK(data.floor() == Approx(0.0044).margin(5e-4));  // √((0.87 ε/2)² …): mean squares of 2 decades and π/4
  CHECK(more.floor() == Approx(5.0 * data.floor()).epsilon(0.05));
  CHECK(clean.floor() == 0.0);
  CHECK(clean.observed == clean.clean);
  CHECK(clean.sigma.maxCoeff() ==
        Approx(0.5 * data.sigma.maxCoeff()));  // an error of 0.5 % where there is no noise
  CHECK(data.clean.head(3).isApproxToConstant(2.0, 1e-9));
  CHECK(data.relative_misfit(data.observed) == 0.0);
  CHECK((study::noisy_data(survey, impedances, 0.01, 4).observed - data.observed).norm() > 0.0);
}

TEST_CASE("quantiles are linear between the sorted values", "[apps]") {
  CHECK(study::quantile({3.0, 1.0, 2.0}, 0.5) == 2.0);
  CHECK(study::quantile({4.0, 1.0, 2.0, 3.0}, 0.25) == Approx(1.75));
  CHECK(study::quantile({7.0}, 0.75) == 7.0);
  CHECK(std::isnan(study::quantile({}, 0.5)));
}

TEST_CASE("variants change one weight by a factor of ten, of every method", "[apps]") {
  const study::ContestSettings usual;
  CHECK(study::with_variant(usual, "").feature.code == usual.feature.code);
  CHECK(study::with_variant(usual, "code x10").feature.code == Approx(10.0 * usual.feature.code));
  CHECK(study::with_variant(usual, "code x10").feature.between == usual.feature.between);
  CHECK(study::with_variant(usual, "horizontal /10").pixel.horizontal ==
        Approx(0.1 * usual.pixel.horizontal));
  for (const char* variant : {"code x2", "vertical x10"})
    CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)study::with_variant(usual, variant); }),
               HasId("unknown_variant", {variant}));
}

TEST_CASE("contest: targets are met or missed by the medians, and a figure that is not a number never passes",
          "[apps]") {
  using enum study::SyntheticMethod;
  std::vector<study::ContestEntry> entries;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("wedge {}", i);
    entries.push_back(entry(name, "wedge", pixel, 0.20 + 0.1 * i, 0.50));
    entries.push_back(entry(name, "wedge", gaussian, 0.16, 0.58));
    entries.push_back(entry(name, "wedge", feature, 0.12 + 0.02 * i, 0.62));
    entries.push_back(entry(name, "rimmed", pixel, 0.30, 0.4));
    entries.push_back(entry(name, "rimmed", feature, 0.32, 0.4));
  }
  entries.push_back(entry("A", "", feature, 0.1, 0.9));
  auto rows = study::contest_rows(entries, true);
  CHECK(row_of(rows, "wedge error, half of pixel").passed());  // 0.14 against 0.15
  CHECK(row_of(rows, "wedge SSIM, pixel + 0.1").passed());
  CHECK(row_of(rows, "wedge error, Gaussian").passed());
  CHECK(row_of(rows, "rimmed error, 1.05 pixel").difference == Approx(0.005));
  CHECK_FALSE(row_of(rows, "rimmed error, 1.05 pixel").passed());
  CHECK(row_of(rows, "A 1 % feature chi rms").passed());
  CHECK(row_of(rows, "A 1 % feature c in 4 iterations").passed());
  CHECK_FALSE(row_of(study::contest_rows(entries, false), "rimmed error, 1.05 pixel").judged);

  entries.back().figures.c = 0.92 * 0.0046;
  entries.back().figures.chi_rms = 1.06;
  entries[2].figures.error_region = std::numeric_limits<double>::quiet_NaN();
  entries[7].figures.error_region = entries[12].figures.error_region = entries[2].figures.error_region;
  rows = study::contest_rows(entries, true);
  CHECK_FALSE(row_of(rows, "A 1 % feature c, 0.93 floor").passed());
  CHECK_FALSE(row_of(rows, "A 1 % feature chi rms").passed());
  CHECK_FALSE(row_of(rows, "wedge error, half of pixel").passed());

  entries.back().figures.floor = 0.006;  // noise above the published residual: nothing to judge
  CHECK_FALSE(row_of(study::contest_rows(entries, true), "A 1 % feature c in 4 iterations").judged);
}

TEST_CASE(
    "contest: the tables show every run beside the published figures, and the families' medians with "
    "quartiles",
    "[apps]") {
  using enum study::SyntheticMethod;
  std::vector<study::ContestEntry> entries{entry("A", "", pixel, 0.21, 0.5),
                                           entry("A", "", feature, 0.11, 0.7)};
  entries.push_back(entries.back());
  entries.back().variant = "code x10";
  for (int i = 0; i < 5; ++i) entries.push_back(entry("blocks", "blocks", pixel, 0.1 * (i + 1), 0.5));
  const std::string text = study::contest_tables(entries);
  CHECK_THAT(text, Contains("case A, noise 1 %: noise floor of c 0.00460; published c 0.0056 (feature, 4 "
                            "iterations), 0.023 (pixel, 6)"));
  CHECK_THAT(text, Contains("100 ohm m") && Contains("Dec(Enc(100))") && Contains("code x10"));
  CHECK_THAT(text, Contains("0.3000 [0.2000 0.4000]"));
  CHECK(study::contest_runs(entries).size() == entries.size());
  CHECK(study::contest_runs(entries)[2].facts.back() ==
        std::pair<std::string, std::string>{"variant", "code x10"});
}
