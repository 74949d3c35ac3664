// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/config.hpp"
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "inversion/regularizer.hpp"
#include "io/hdf5/file.hpp"
#include "io/model/network.hpp"
#include "io/toml/options.hpp"
#include "models/earths/prior_options.hpp"
#include "models/vae/train_vae.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

using namespace lodestone;
using namespace lodestone::mt_invert;
using Catch::Matchers::Contains;
using Eigen::VectorXd;
using inversion::prior::CutRegion;
using inversion::prior::RegionOptions;
using inversion::prior::Regions;
using physics::mesh::TensorGrid;
using tests::HasId;

namespace {

constexpr const char* layers = R"(
[[prior.generator]]
kind = "layers"
number = [2, 3]
thickness_m = [50.0, 500.0]
log10_resistivity = [0.5, 3.5]
)";

/// Returns a network of subdomains, trained for an epoch.
models::vae::TrainedVae small_network(const std::string& grid, int n_codes, int seed = 1) {
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "prior.toml") << "[grid]\n" << grid << "[prior]\nseed = " << seed << "\n" << layers;
  const core::Options options = io::toml::read_options_toml(folder / "prior.toml");
  const models::earths::Prior prior =
      models::earths::read_prior(options, [](const std::string&) { return models::earths::Section{}; });
  const bool is_column = prior.grid().n_y() == 1;
  const models::vae::VaeSetup setup{
      .network = {.kind = is_column ? models::vae::VaeKind::column : models::vae::VaeKind::patch,
                  .cells_z = prior.grid().n_z(),
                  .cells_y = prior.grid().n_y(),
                  .n_codes = n_codes,
                  .channels = {4}},
      .loss = {},
      .recipe = {.n_draws = 100, .epochs = 1, .batch_size = 20}};
  return *models::vae::train_vae(prior, setup).vae;
}

void save(const models::vae::TrainedVae& vae, const std::string& path) {
  io::hdf5::Hdf5Sink sink(path);
  vae.save(sink);
  sink.commit();
}

/// Returns networks in files, made once: columns and patches of two columns, both for the rows 100 to 400 m.
const tests::TemporaryFolder& networks() {
  static const tests::TemporaryFolder folder;
  static const bool made = [] {
    const models::vae::TrainedVae column = small_network("depth_m = [100.0, 200.0, 300.0, 400.0]\n", 2);
    save(column, folder / "column.h5");
    engine::SafetensorsSink sink(folder / "column.safetensors");
    column.save(sink);
    sink.commit();
    save(small_network("depth_m = [100.0, 200.0, 300.0, 400.0]\n", 3, 2), folder / "other.h5");
    save(small_network("depth_m = [100.0, 200.0, 300.0, 400.0]\ny_m = [0.0, 100.0, 200.0]\n", 2),
         folder / "patch.h5");
    return true;
  }();
  static_cast<void>(made);
  return folder;
}

/// Returns 8 columns × 5 rows of 100 m.
physics::mesh::Earth small_earth() {
  return {TensorGrid::section({0, 100, 200, 300, 400, 500, 600, 700, 800}, {0, 100, 200, 300, 400, 500})};
}

/// Returns all cells but some.
std::vector<Eigen::Index> free_cells(std::vector<Eigen::Index> held = {}) {
  std::vector<Eigen::Index> cells;
  for (Eigen::Index cell = 0; cell < 40; ++cell) {
    if (std::ranges::find(held, cell) == held.end()) cells.push_back(cell);
  }
  return cells;
}

RegionOptions region(const std::string& file, physics::mesh::Interval y_m, int overlap = 0) {
  return {.name = "middle",
          .decoder = io::model::read_network(networks() / file, io::model::DecoderKind::network, file),
          .y_m = y_m,
          .overlap = overlap,
          .place = "c.toml:7: learned_prior.region[0].network"};
}

Regions cut(std::vector<RegionOptions> regions, const std::vector<Eigen::Index>& free = free_cells()) {
  return {{.regions = std::move(regions)}, small_earth(), free};
}

std::string refusal(const std::vector<RegionOptions>& regions,
                    const std::vector<Eigen::Index>& free = free_cells()) {
  return tests::message_of<core::Error>([&] { static_cast<void>(cut(regions, free)); });
}

}  // namespace

TEST_CASE(
    "learned prior: columns between the ends and the network's rows are cut into subdomains, from HDF5 and "
    "safetensors alike",
    "[apps]") {
  for (const char* file : {"column.h5", "column.safetensors"}) {
    const Regions subdomains = cut({region(file, {150.0, 500.0})});
    const CutRegion& first = subdomains.regions()[0];
    CHECK(first.y.first == 1);
    CHECK(first.subdomains ==
          std::vector<std::vector<Eigen::Index>>{{9, 17, 25}, {10, 18, 26}, {11, 19, 27}, {12, 20, 28}});
    CHECK(subdomains.map()->n_codes() == 8);
    CHECK(subdomains.map(3)->size_in() == 8 + 40 - 12 + 3);
    CHECK(subdomains.numbers().sum() == 3.0 * (0 + 1 + 2 + 3) - 28.0);
  }
}

TEST_CASE("learned prior: patches share columns with weights that fall linearly", "[apps]") {
  const Regions subdomains = cut({region("patch.h5", {0.0, 300.0}, 1)});
  const CutRegion& first = subdomains.regions()[0];
  CHECK(first.subdomains ==
        std::vector<std::vector<Eigen::Index>>{{8, 9, 16, 17, 24, 25}, {9, 10, 17, 18, 25, 26}});
  CHECK(first.taper.isApprox(VectorXd::Constant(6, 0.5)));
  CHECK_THAT(refusal({region("patch.h5", {0.0, 300.0})}), Contains("2 + k·2 columns") && Contains("got 3"));
  CHECK_THAT(refusal({region("patch.h5", {0.0, 300.0}, 2)}), Contains("overlap below the 2 columns"));
  CHECK_THAT(refusal({region("column.h5", {0.0, 300.0}, 1)}), Contains("overlap = 0"));
}

TEST_CASE(
    "learned prior: regions that the grid, other regions or fixed cells exclude are refused with their place",
    "[apps]") {
  CHECK_THAT(refusal({region("column.h5", {500.0, 900.0})}),
             Contains("c.toml:7") && Contains("\"middle\"") && Contains("inside the grid"));
  CHECK_THAT(refusal({region("column.h5", {110.0, 140.0})}), Contains("at least one cell"));
  RegionOptions of_three = region("column.h5", {100.0, 300.0});
  of_three.n_codes = 3;
  CHECK_THAT(refusal({of_three}),
             Contains("c.toml:7") &&
                 Contains("column.h5: expected 2 codes per subdomain as the network has, got 3"));
  of_three.decoder = io::model::read_network(networks() / "other.h5");
  CHECK(refusal({of_three}).empty());
  RegionOptions deep = region("column.h5", {100.0, 300.0});
  deep.z_m = physics::mesh::Interval{0.0, 300.0};
  CHECK_THAT(refusal({deep}), Contains("column.h5") && Contains("is expected at 100 m, got 0 m"));
  deep.z_m = physics::mesh::Interval{100.0, 500.0};
  CHECK_THAT(refusal({deep}), Contains("expected 4 interfaces"));
  CHECK_THAT(refusal({region("column.h5", {100.0, 300.0}), region("other.h5", {200.0, 500.0})}),
             Contains("another network"));
  CHECK_NOTHROW(cut({region("column.h5", {100.0, 300.0}), region("column.h5", {200.0, 500.0})}));
  CHECK_THAT(refusal({region("column.h5", {100.0, 300.0})}, free_cells({9})),
             Contains("got 1 that [[regularization.fixed]] holds"));
}

TEST_CASE("learned prior: files that are missing, cut off or something else are refused by name", "[apps]") {
  const auto refusal_of = [](const std::string& name) {
    return tests::error_of<core::Error>([&] { static_cast<void>(region(name, {100.0, 300.0})); });
  };
  CHECK_THAT(refusal_of("nowhere.h5"), HasId("missing", {"nowhere.h5", "mt_invert train"}));
  const std::string whole = tests::text_of_file(networks() / "column.h5");
  for (const auto& [name, text] :
       {std::pair{"cut.h5", whole.substr(0, whole.size() / 2)}, {"text.h5", std::string("no network")}}) {
    std::ofstream(networks() / name, std::ios::binary) << text;
    CHECK_THAT(std::string(refusal_of(name).what()), Contains(name));
  }
}

TEST_CASE("learned prior: codes come first, then cells outside, then shifts, what is decoded comes back",
          "[apps]") {
  const std::vector<Eigen::Index> free = free_cells({7});
  const auto regions = std::make_shared<const Regions>(cut({region("column.h5", {150.0, 500.0})}, free));
  const VectorXd start = VectorXd::Constant(40, 2.0), reference = VectorXd::Constant(40, 1.0);
  const inversion::Unknowns of({free, reference}, physics::mesh::Scale::log10, {}, 2, regions);
  CHECK(of.n_of_cells() == 8 + 39 - 12);
  VectorXd unknowns = of.with_zeros(start);
  REQUIRE(unknowns.size() == of.n_of_cells() + 2);
  unknowns.head(8).setLinSpaced(-0.5, 0.5);
  unknowns.tail(2) << 0.1, -0.2;
  const VectorXd model = of.to_cells(unknowns);
  CHECK(model[0] == 2.0);
  CHECK(model[7] == 1.0);  // held at the reference
  CHECK(of.further_of(unknowns)[1] == -0.2);
  CHECK((model(std::vector{9, 17, 25}) - regions->regions()[0].decoder().decode(unknowns.head(2)).col(0))
            .norm() < 1e-12);

  const inversion::Regularizer regularizer(small_earth().grid, {}, {}, reference, of);
  const auto before = regularizer.at(unknowns)->cost(unknowns);
  VectorXd further = unknowns;
  further[0] += 0.3;
  CHECK(regularizer.at(unknowns)->cost(further) ==
        regularizer.reweigh()(further)->cost(further));  // the roughness itself, wherever it is linearized
  further = unknowns;
  further.tail(1) *= 10.0;
  CHECK(regularizer.at(unknowns)->cost(further) > before);
}

TEST_CASE(
    "learned prior: pairs and the polish behind them share target and stops, and each keeps its lambdas",
    "[apps]") {
  const tests::TemporaryFolder folder;
  std::ofstream(folder / "c.toml")
      << "[data]\nmodem_file = \"d.dat\"\n[inversion]\nalgorithm = \"alternating\"\ntarget_rms = 2.0\n"
         "pixel_lambda = 3.0\ncode_lambda = 4.0\nlambda_start = 5.0\n"
         "[[learned_prior.region]]\nnetwork = \"vae.h5\"\ny_m = [0.0, 1.0]\n";
  const config::Config config = config::read_config(folder / "c.toml");
  REQUIRE(config.inversion.alternates());
  CHECK(config.inversion.needs_jacobian());
  CHECK(config.inversion.max_iterations() == 13);
  CHECK(config.inversion.target_rms() == 2.0);
  const auto& both = std::get<config::AlternatingConfig>(config.inversion.method);
  CHECK(both.pairs.pixel_lambda == 3.0);
  CHECK(both.pairs.code_lambda == 4.0);
  CHECK(both.stop.target_rms == 2.0);
  CHECK(both.polish.lambda_start == 5.0);
  CHECK(both.stop.max_iterations == 13);
}

TEST_CASE("learned prior: the codes that made a model are found again", "[apps]") {
  const auto regions = std::make_shared<const Regions>(cut({region("column.h5", {150.0, 500.0})}));
  const inversion::Unknowns of({free_cells(), VectorXd::Constant(40, 1.0)}, physics::mesh::Scale::log10, {},
                               0, regions);
  VectorXd unknowns = of.with_zeros(VectorXd::Constant(40, 2.0));
  unknowns.head(8) << 0.4, -1.0, 1.5, 0.2, -0.3, 0.8, 2.0, -2.0;
  const VectorXd model = of.to_cells(unknowns);
  CHECK((of.to_cells(of.decoded_from(model)) - model).norm() < 1e-5);
  CHECK((of.to_cells(of.from_cells(model)) - model).norm() >
        1e-4);  // the nearest with the prior's pull is another one
  VectorXd polished = model;
  polished[regions->regions()[0].subdomains[0][1]] += 0.05;
  CHECK((of.to_cells(of.decoded_from(polished)) - polished).norm() > 1e-3);  // no codes make it
}

TEST_CASE("learned prior: the identity of networks tells retrained ones and other latent sizes apart",
          "[apps]") {
  const auto identity = [](const char* file) { return cut({region(file, {150.0, 500.0})}).identity(); };
  CHECK(identity("column.h5") == identity("column.h5"));
  CHECK(identity("column.h5") != identity("other.h5"));
  CHECK_THAT(identity("other.h5"), Contains("4 subdomains of 3 cells by 3 codes"));
}

TEST_CASE("learned prior: the configuration names what it excludes", "[apps]") {
  const tests::TemporaryFolder folder;
  const auto refusal_of = [&](const std::string& text) {
    std::ofstream(folder / "c.toml") << "[data]\nmodem_file = \"d.dat\"\n" << text;
    return tests::error_of<core::ConfigError>(
        [&] { static_cast<void>(config::read_config(folder / "c.toml")); });
  };
  const std::string one = "[[learned_prior.region]]\nnetwork = \"vae.h5\"\ny_m = [0.0, 1.0]\n";
  CHECK_THAT(refusal_of("[learned_prior]\npolish = \"always\"\n"),
             HasId("not_chosen", {"c.toml:4", "[[learned_prior.region]]"}));
  CHECK_THAT(refusal_of("[[learned_prior.region]]\nnetwork = \"vae.h5\"\ny_m = [1.0, 0.0]\n"),
             HasId("bad_interval", {"y_m"}));
  CHECK_THAT(refusal_of("[bounds]\nresistivity_min_ohm_m = 1.0\nresistivity_max_ohm_m = 10.0\n" + one),
             HasId("exclusive_tables", {"[learned_prior]"}));
  CHECK_THAT(refusal_of("[regularization]\norder = 2\n" + one),
             HasId("prior_needs_first_order", {"order", "1"}));
  CHECK_THAT(refusal_of("[regularization]\nnorm = \"l1\"\n" + one), HasId("prior_needs_l2", {"norm", "l2"}));
  CHECK_THAT(refusal_of("[inversion]\nalgorithm = \"lbfgs\"\n" + one),
             HasId("prior_needs_jacobian", {"gauss_newton"}));
  CHECK_THAT(refusal_of("[learned_prior]\npolish = \"sometimes\"\n" + one),
             HasId("unknown_word", {"polish", "when_needed"}));
  CHECK_THAT(refusal_of("[inversion]\nalgorithm = \"alternating\"\n"),
             HasId("no_region", {"c.toml:4", "[[learned_prior.region]]"}));
  CHECK_THAT(refusal_of("[inversion]\nalgorithm = \"alternating\"\nlambda_decay = 1.5\n" + one),
             HasId("out_of_range", {"lambda_decay", "1"}));
  CHECK_THAT(refusal_of("[inversion]\ncode_lambda = 1.0\n" + one),
             HasId("not_chosen", {"c.toml:4", "code_lambda", "alternating"}));
  CHECK_THAT(refusal_of("[learned_prior]\nbetween_norm = \"l3\"\n" + one),
             HasId("unknown_word", {"c.toml:4", "mgs"}));
  CHECK_THAT(refusal_of("[learned_prior]\nbetween_norm_epsilon = 0.1\n" + one),
             HasId("not_chosen", {"c.toml:4", "between_norm"}));
  CHECK_THAT(refusal_of("[learned_prior]\nbetween_norm = \"l1\"\nbetween_norm_epsilon = 0.0\n" + one),
             HasId("out_of_range", {"c.toml:5"}));
  std::ofstream(folder / "c.toml")
      << "[data]\nmodem_file = \"d.dat\"\n[learned_prior]\nbetween_norm = \"l1\"\n"
      << one;
  const auto prior = config::read_config(folder / "c.toml").learned_prior;
  REQUIRE(prior);
  CHECK(prior->options.polish == inversion::prior::Polish::when_needed);
  CHECK(prior->options.weights.between_norm.norm == inversion::prior::RoughnessNorm::l1);
  CHECK(prior->options.weights.between_norm.epsilon == 0.1);
  CHECK(prior->regions[0].network == folder / "vae.h5");
}

TEST_CASE("learned prior: the configuration places a region in a volume", "[apps]") {
  const tests::TemporaryFolder folder;
  const auto region_with = [&](const std::string& lines) {
    std::ofstream(folder / "c.toml") << "[data]\nmodem_file = \"d.dat\"\n[[learned_prior.region]]\n"
                                        "network = \"vae.h5\"\ny_m = [0.0, 1.0]\n"
                                     << lines;
    return config::read_config(folder / "c.toml").learned_prior->regions.at(0).options;
  };
  const RegionOptions region = region_with("x_m = [-5.0, 5.0]\ntogether = 2\nalong = \"x\"\n");
  CHECK(region.x_m == physics::mesh::Interval{-5.0, 5.0});
  CHECK(region.together == 2);
  CHECK(region.along == inversion::prior::Along::x);
  CHECK_FALSE(region_with("").x_m);
  const auto refusal_of = [&](const std::string& lines) {
    return tests::error_of<core::ConfigError>([&] { static_cast<void>(region_with(lines)); });
  };
  CHECK_THAT(refusal_of("x_m = [5.0, -5.0]\n"), HasId("bad_interval", {"c.toml:6", "x_m"}));
  CHECK_THAT(refusal_of("together = 0\n"), HasId("out_of_range", {"c.toml:6", "together"}));
  CHECK_THAT(refusal_of("along = \"z\"\n"), HasId("unknown_word", {"c.toml:6", "along"}));
}
