// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "io/hdf5/file.hpp"
#include "models/earths/layered.hpp"
#include "models/vae/trained_vae.hpp"
#include "models/vae/vae_decoder.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/models/vae_fixtures.hpp"

#include <fstream>

using namespace lodestone;
using namespace lodestone::models;
using namespace lodestone::tests;
using Catch::Matchers::Contains;

namespace {

void save_safetensors(const vae::TrainedVae& vae, const std::string& path) {
  engine::SafetensorsSink sink(path);
  vae.save(sink);
  sink.commit();
}
void save_hdf5(const vae::TrainedVae& vae, const std::string& path) {
  io::hdf5::Hdf5Sink sink(path);
  vae.save(sink);
  sink.commit();
}
vae::TrainedVae load_safetensors(const std::string& path) {
  return vae::TrainedVae::load(engine::SafetensorsSource(path));
}

/// All arrays of a file but one, and perhaps another; attributes as they are.
struct Altered {
  std::string leave_out = "", add = "", replace_by_nan = "";
  void write(const std::string& from, const std::string& to) const {
    const engine::SafetensorsSource source(from);
    engine::SafetensorsSink sink(to);
    for (const std::string key : {"format", "format_version", "card"})
      sink.attribute("", key, source.attribute("", key));
    sink.attribute("options/sizes", "kind", source.attribute("options/sizes", "kind"));
    for (const std::string& name : source.names()) {
      const auto info = source.info(name);
      std::vector<std::byte> bytes(static_cast<std::size_t>(info.count()) * core::size_of(info.dtype));
      source.read(name, 0, bytes);
      if (name == replace_by_nan) std::fill(bytes.begin(), bytes.end(), std::byte{0xff});
      if (name != leave_out) sink.write(name, info, bytes);
    }
    if (!add.empty()) core::write_vector(sink, add, std::vector<double>{1.0});
    sink.commit();
  }
};

void check_same(const vae::TrainedVae& a, const vae::TrainedVae& b) {
  CHECK(a.options() == b.options());
  CHECK(a.grid().z_edges_m() == b.grid().z_edges_m());
  CHECK(a.grid().y_edges_m() == b.grid().y_edges_m());
  CHECK(weights_of(a.net()) == weights_of(b.net()));
  CHECK(a.statistics().covariance == b.statistics().covariance);
  CHECK(a.statistics().cell_rms == b.statistics().cell_rms);
  CHECK(a.statistics().rms == b.statistics().rms);
  CHECK(a.statistics().code_divergence == b.statistics().code_divergence);
  CHECK(a.card() == b.card());
}

}  // namespace

TEST_CASE("trained VAE: HDF5 and safetensors give back what was saved, in the same bytes each time",
          "[models]") {
  const vae::TrainedVae vae = small_vae(), again = small_vae();
  const TemporaryFolder folder;
  save_safetensors(vae, folder / "a.safetensors");
  save_safetensors(again, folder / "b.safetensors");
  save_hdf5(vae, folder / "a.h5");
  save_hdf5(again, folder / "b.h5");
  check_same(vae, load_safetensors(folder / "a.safetensors"));
  check_same(vae, vae::TrainedVae::load(io::hdf5::Hdf5Source(folder / "a.h5")));
  CHECK(text_of_file(folder / "a.safetensors") == text_of_file(folder / "b.safetensors"));
  CHECK(text_of_file(folder / "a.h5") == text_of_file(folder / "b.h5"));
}

TEST_CASE("trained VAE: files that are something else, damaged or cut off say so with their name",
          "[models]") {
  const TemporaryFolder folder;
  const std::string good = folder / "good.safetensors", bad = folder / "bad.safetensors";
  save_safetensors(small_vae(), good);
  const auto refusal = [&](const Altered& altered) {
    altered.write(good, bad);
    return error_of<core::FormatError>([&] { (void)load_safetensors(bad); });
  };
  CHECK_THAT(refusal({.leave_out = "net/mean.weight"}),
             HasId("unreadable", {"bad.safetensors", "mean.weight"}));
  CHECK_THAT(refusal({.add = "net/extra"}), HasId("unreadable", {"bad.safetensors", "extra"}));
  CHECK_THAT(std::string(refusal({.leave_out = "grid/depth_m"}).what()), Catch::Contains("grid/depth_m"));
  CHECK_THAT(std::string(refusal({.leave_out = "statistics/mean"}).what()),
             Catch::Contains("statistics/mean"));
  CHECK_THAT(refusal({.replace_by_nan = "net/decoder.dense.weight"}),
             HasId("weights_not_finite", {"decoder.dense.weight"}));
  for (const std::string name :
       {"statistics/mean", "statistics/covariance", "statistics/code_deviation", "statistics/rms"})
    CHECK_THAT(refusal({.replace_by_nan = name}), HasId("unsound_statistics", {"bad.safetensors", name}));
  for (const auto score : {&vae::VaeStatistics::rms, &vae::VaeStatistics::reduced_chi_square}) {
    const vae::TrainedVae vae = small_vae();
    vae::VaeStatistics statistics = vae.statistics();
    statistics.*score = 0.0;
    save_safetensors(vae::TrainedVae(vae.net(), vae.grid(), statistics, vae.card()), bad);
    CHECK_THAT(error_of<core::FormatError>([&] { (void)load_safetensors(bad); }),
               HasId("unsound_statistics", {"statistics/rms"}));
  }

  std::ofstream(folder / "cut.safetensors", std::ios::binary) << text_of_file(good).substr(0, 5000);
  CHECK_THAT(message_of<core::FormatError>([&] { (void)load_safetensors(folder / "cut.safetensors"); }),
             Contains("cut.safetensors"));
  {
    engine::SafetensorsSink sink(folder / "other.safetensors");
    core::write_vector(sink, "x", std::vector<double>{1.0});
    sink.commit();
  }
  CHECK_THAT(error_of<core::FormatError>([&] { (void)load_safetensors(folder / "other.safetensors"); }),
             HasId("not_a_network", {"other.safetensors"}));
}

TEST_CASE("trained VAE: another depth grid is refused with the first difference, another number of codes too",
          "[models]") {
  const vae::TrainedVae vae = small_vae();
  vae.check_grid(layers(12), "here");
  std::vector<double> moved = layers(12).z_edges_m();
  moved[3] += 10.0;
  const auto other = earths::patch_grid(moved, layers(12).y_edges_m());
  const std::string text =
      message_of<core::InvalidArgument>([&] { vae.check_grid(other, "region \"basin\""); });
  CHECK_THAT(text, Contains("region \"basin\"") && Contains(" 3 ") && Contains("331 m") && Contains("341 m"));
  CHECK_THAT(message_of<core::InvalidArgument>([&] { vae.check_grid(layers(11).z_edges_m(), "here"); }),
             Contains("13") && Contains("12"));
  vae.check_grid(earths::patch_grid(layers(12).z_edges_m(), {0.0, 77.0}), "columns may be of any width");
  vae.check_codes(3, "here");
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)vae.check_codes(16, "here"); }),
             HasId("wrong_codes", {"3", "16"}));
}

TEST_CASE("trained VAE: parts that do not fit each other are refused", "[models]") {
  const vae::TrainedVae vae = small_vae();
  CHECK_THAT(
      error_of<core::ShapeError>([&] { (void)vae::TrainedVae(vae.net(), layers(11), vae.statistics(), ""); }),
      HasId("wrong_grid", {"12 × 1", "11 × 1"}));
  vae::VaeStatistics statistics = vae.statistics();
  statistics.code_mean.resize(2);
  CHECK_THAT(
      error_of<core::ShapeError>([&] { (void)vae::TrainedVae(vae.net(), layers(12), statistics, ""); }),
      HasId("wrong_size", {"3", "codes", "2"}));
}

TEST_CASE("VAE decoder: values and codes are those of the network, subdomain by subdomain", "[models]") {
  const vae::TrainedVae vae = small_vae();
  const auto decoder = vae::vae_decoder(vae, "basin");
  CHECK(decoder->name() == "basin");
  CHECK(decoder->n_codes() == 3);
  CHECK(decoder->n_cells() == 12);
  const Eigen::MatrixXd codes = Eigen::MatrixXd::Random(3, 5);
  const Eigen::MatrixXd cells = decoder->decode(codes), back = decoder->encode(cells);
  REQUIRE(cells.rows() == 12);
  REQUIRE(back.rows() == 3);
  for (int k = 0; k < 5; ++k) {
    CHECK((decoder->decode(codes.col(k)) - cells.col(k)).norm() < 1e-12);
    CHECK((decoder->encode(cells.col(k)) - back.col(k)).norm() < 1e-12);
    const Eigen::VectorXf code = codes.col(k).cast<float>();
    const auto direct =
        vae.net().decode(engine::Tensor::from(std::span(code.data(), 3), {1, 3})).to_vector<float>();
    for (int i = 0; i < 12; ++i)
      CHECK(cells(i, k) == Approx(direct[static_cast<std::size_t>(i)]).epsilon(1e-4));
  }
  CHECK(decoder->decode(Eigen::MatrixXd(3, 0)).cols() == 0);
  CHECK_THROWS_AS(decoder->decode(Eigen::MatrixXd::Zero(4, 2)), core::ShapeError);
  CHECK_THROWS_AS(decoder->encode(Eigen::MatrixXd::Constant(12, 1, std::nan(""))), core::SolverError);
}

namespace {

/// Returns layers of any dip on patches of a volume of 5 × 3 × 2 cells (z, y, x).
earths::Prior volume_prior() {
  const earths::LayeredOptions layers{
      .number = {2, 3}, .thickness_m = {100, 400}, .log10_resistivity = {1, 3}, .dip_deg = {-20, 20}};
  return {earths::patch_grid({0, 100, 200, 400, 700, 1000}, {0, 300, 600, 900}, {0, 250, 500}),
          {{1.0, std::make_shared<earths::Layered>(layers)}},
          5};
}

vae::TrainedVae volume_vae() {
  vae::VaeSetup setup = small_setup(1);
  setup.network = {
      .kind = vae::VaeKind::volume, .cells_z = 5, .cells_y = 3, .cells_x = 2, .n_codes = 3, .channels = {4}};
  return *vae::train_vae(volume_prior(), setup).vae;
}

}  // namespace

TEST_CASE("trained VAE: networks of volumes come back with their edges along x, and want them", "[models]") {
  const vae::TrainedVae vae = volume_vae();
  const TemporaryFolder folder;
  save_hdf5(vae, folder / "a.h5");
  save_safetensors(vae, folder / "a.safetensors");
  const vae::TrainedVae back = vae::TrainedVae::load(io::hdf5::Hdf5Source(folder / "a.h5"));
  check_same(vae, back);
  check_same(vae, load_safetensors(folder / "a.safetensors"));
  CHECK(back.grid().edges_m(physics::mesh::Axis::x) == std::vector<double>{0, 250, 500});
  CHECK(back.options().cells_x == 2);
  CHECK_THAT(vae.card(), Catch::Contains("\"cells_x\": 2"));
  CHECK_THAT(vae::TrainedVae::describe(io::hdf5::Hdf5Source(folder / "a.h5")),
             Catch::Contains("5 x 3 x 2 cells"));
  const auto other = earths::patch_grid(vae.grid().z_edges_m(), vae.grid().y_edges_m(), {0, 250, 501});
  CHECK_THAT(message_of<core::InvalidArgument>([&] { vae.check_grid(other, "here"); }),
             Catch::Contains("edges along x"));
  vae::VaeSetup setup = small_setup(1);
  setup.network = {.kind = vae::VaeKind::patch, .cells_z = 5, .cells_y = 3, .n_codes = 3, .channels = {4}};
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)vae::train_vae(volume_prior(), setup); }),
             HasId("wrong_cells", {"5 × 3 × 2", "5 × 3 × 1"}));
}

TEST_CASE("VAE decoder: Jacobians are the slopes of the values, for columns, patches and volumes",
          "[models]") {
  vae::VaeSetup patch = small_setup(1);
  patch.network = {.kind = vae::VaeKind::patch,
                   .cells_z = 6,
                   .cells_y = 5,
                   .n_codes = 3,
                   .channels = {4, 6},
                   .centre = true};
  for (const vae::TrainedVae& vae :
       {small_vae(), *vae::train_vae(smooth_prior(6, 5), patch).vae, volume_vae()}) {
    const auto decoder = vae::vae_decoder(vae);
    const Eigen::MatrixXd codes = Eigen::MatrixXd::Random(3, 4);
    const Eigen::MatrixXd slopes = decoder->jacobians(codes);
    REQUIRE(slopes.rows() == decoder->n_cells());
    REQUIRE(slopes.cols() == 12);
    constexpr double h = 1e-5;
    for (int code = 0; code < 3; ++code) {
      Eigen::MatrixXd up = codes, down = codes;
      up.row(code).array() += h;
      down.row(code).array() -= h;
      const Eigen::MatrixXd difference = (decoder->decode(up) - decoder->decode(down)) / (2.0 * h);
      for (int k = 0; k < 4; ++k)
        CHECK((slopes.col(3 * k + code) - difference.col(k)).norm() < 1e-8 * (1.0 + difference.norm()));
    }
  }
}
