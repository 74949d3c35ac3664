// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "models/vae/vae_loss.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/models/vae_fixtures.hpp"

using namespace lodestone;
using namespace lodestone::models;
using namespace lodestone::tests;
using engine::DType;
using engine::Shape;
using engine::Tensor;

namespace {

Tensor numbers(const Shape& shape, std::uint64_t stream, double mean = 0.0) {
  const core::Philox random(9, stream);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = mean + random.normal(i);
  return Tensor::from(values, shape);
}

vae::Vae net_of(const vae::VaeOptions& options) {
  engine::InitialValues initial(2, DType::f64);
  vae::Vae net(options, initial);
  return net;
}

double number_in(const Tensor& tensor) { return tensor.item<double>(); }

}  // namespace

TEST_CASE("VAE: the column network of 32 cells and 16 codes has the 52 483 parameters of the published one",
          "[models]") {
  CHECK(net_of({}).n_parameters() == 52483);
}

TEST_CASE("VAE: columns, patches and volumes of any extent come back with theirs", "[models]") {
  const vae::VaeOptions cases[] = {
      {},
      {.cells_z = 13, .n_codes = 4},
      {.cells_z = 5, .n_codes = 2, .channels = {4}},
      {.kind = vae::VaeKind::patch, .cells_z = 16, .cells_y = 8, .n_codes = 5, .channels = {4, 8}},
      {.kind = vae::VaeKind::patch,
       .cells_z = 11,
       .cells_y = 6,
       .n_codes = 5,
       .channels = {4, 8, 8},
       .centre = true},
      {.kind = vae::VaeKind::volume,
       .cells_z = 5,
       .cells_y = 4,
       .cells_x = 3,
       .n_codes = 3,
       .channels = {4, 8}}};
  for (const vae::VaeOptions& options : cases) {
    const vae::Vae net = net_of(options);
    const vae::Vae::Codes codes = net.encode(numbers({3, options.n_cells()}, 0));
    CHECK(codes.mean.shape() == Shape{3, options.n_codes});
    CHECK(codes.log_variance.shape() == Shape{3, options.n_codes});
    CHECK(net.decode(codes.mean).eval().shape() == Shape{3, options.n_cells()});
  }
}

TEST_CASE("VAE: cells of a patch are neighbours down and along, not in the order of the list", "[models]") {
  const vae::VaeOptions options{
      .kind = vae::VaeKind::patch, .cells_z = 4, .cells_y = 8, .n_codes = 2, .channels = {4, 4}};
  const vae::Vae net = net_of(options);
  net.set_mode(engine::Mode::evaluation);
  // A last column that is repeated beyond the edge changes nothing where the extents fit: the same numbers as
  // four more columns of their own.
  const vae::Vae wide =
      net_of({.kind = vae::VaeKind::patch, .cells_z = 4, .cells_y = 7, .n_codes = 2, .channels = {4, 4}});
  wide.load_state(net.state());
  wide.set_mode(engine::Mode::evaluation);
  const Tensor seven = numbers({2, 4, 7}, 3);
  const std::array parts{seven, slice(seven, 2, 6, 7)};
  const Tensor eight = concatenate(parts, 2);
  const auto a = wide.encode(reshape(seven, {2, 28})).mean.to_vector<double>(),
             b = net.encode(reshape(eight, {2, 32})).mean.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-12));
}

TEST_CASE("VAE: with a centre, codes of a section around it are those of its deviations without one",
          "[models]") {
  vae::VaeOptions options{.cells_z = 12, .n_codes = 3, .channels = {4, 6}};
  const vae::Vae plain = net_of(options);
  options.centre = true;
  const vae::Vae centred = net_of(options);
  auto state = plain.state();
  state.emplace("centre", engine::zeros({12}, DType::f64));
  centred.load_state(state);
  const Tensor mean = numbers({12}, 8, 2.0), cells = numbers({4, 12}, 9);
  centred.set_centre(mean);
  for (const vae::Vae* each : {&plain, &centred}) each->set_mode(engine::Mode::evaluation);
  const auto a = plain.encode(cells).mean.to_vector<double>(),
             b = centred.encode(cells + mean).mean.to_vector<double>();
  const Tensor codes = numbers({4, 3}, 10);
  const auto c = (plain.decode(codes) + mean).to_vector<double>(),
             d = centred.decode(codes).to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-12));
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == Approx(d[i]).margin(1e-12));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)plain.set_centre(mean); }),
             HasId("no_centre", {"VaeOptions::centre"}));
}

TEST_CASE("VAE: the loss is the published formula", "[models]") {
  const vae::VaeOptions options{.cells_z = 8, .n_codes = 3, .channels = {4, 6}};
  const vae::Vae net = net_of(options);
  net.set_mode(engine::Mode::evaluation);
  const Tensor cells = numbers({5, 8}, 1, 2.0), noise = numbers({5, 3}, 2);
  std::vector<double> weights(8);
  for (std::size_t i = 0; i < 8; ++i) weights[i] = 1.0 + 0.25 * static_cast<double>(i);
  const double range = 3.0;
  const vae::VaeTerms terms = vae::VaeLoss({}, weights, range, DType::f64)(net, cells, noise);

  const vae::Vae::Codes codes = net.encode(cells);
  const auto mu = codes.mean.to_vector<double>(), log_variance = codes.log_variance.to_vector<double>(),
             eps = noise.to_vector<double>();
  std::vector<double> z(15);
  double divergence = 0.0;
  for (std::size_t k = 0; k < 15; ++k) {
    z[k] = mu[k] + std::exp(0.5 * log_variance[k]) * eps[k];
    divergence -= 0.5 * (1.0 + log_variance[k] - mu[k] * mu[k] - std::exp(log_variance[k])) / 15.0;
  }
  const auto x = cells.to_vector<double>(), y = net.decode(Tensor::from(z, {5, 3})).to_vector<double>();
  double misfit = 0.0, mx = 0.0, my = 0.0, sxx = 0.0, syy = 0.0, sxy = 0.0;
  for (std::size_t i = 0; i < 40; ++i) {
    misfit += weights[i % 8] * (x[i] - y[i]) * (x[i] - y[i]) / 40.0;
    mx += x[i] / 40.0;
    my += y[i] / 40.0;
  }
  for (std::size_t i = 0; i < 40; ++i) {
    sxx += (x[i] - mx) * (x[i] - mx) / 40.0;
    syy += (y[i] - my) * (y[i] - my) / 40.0;
    sxy += (x[i] - mx) * (y[i] - my) / 40.0;
  }
  const double c1 = 0.01 * range, c2 = 0.03 * range;
  const double similarity =
      (2 * mx * my + c1) * (2 * sxy + c2) / ((mx * mx + my * my + c1) * (sxx + syy + c2));
  CHECK(number_in(terms.reconstruction) == Approx(misfit).epsilon(1e-12));
  CHECK(number_in(terms.dissimilarity) == Approx(1.0 - similarity).epsilon(1e-10));
  CHECK(number_in(terms.divergence) == Approx(divergence).epsilon(1e-12));
  CHECK(number_in(terms.loss) ==
        Approx(misfit + 0.06 * (1.0 - similarity) + 0.01 * divergence).epsilon(1e-12));

  const vae::VaeTerms beta = vae::VaeLoss({.divergence = 4.0, .divergence_of = vae::Divergence::sum}, weights,
                                          range, DType::f64)(net, cells, noise);
  CHECK(number_in(beta.divergence) == Approx(3.0 * divergence).epsilon(1e-12));
  CHECK(number_in(beta.loss) ==
        Approx(misfit + 0.06 * (1.0 - similarity) + 12.0 * divergence).epsilon(1e-12));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)vae::VaeLoss({.similarity = -1.0}, weights, range, DType::f64); }),
             HasId("negative_weight", {"similarity", "-1"}));
}

TEST_CASE("VAE: cells weigh by log10 of the thickness of their own layers, or alike", "[models]") {
  const physics::mesh::TensorGrid grid = earths::patch_grid({0.0, 1.0, 101.0, 1101.0}, {0.0, 50.0, 100.0});
  const auto weights = vae::cell_weights(vae::LayerWeights::log10_thickness, grid);
  REQUIRE(weights.size() == 6);
  CHECK(weights[0] == Approx(0.1));  // a layer of 1 m: not nothing
  CHECK(weights[2] == Approx(2.0));
  CHECK(weights[5] == Approx(3.0));
  CHECK(vae::cell_weights(vae::LayerWeights::uniform, grid) == std::vector<double>(6, 1.0));
}

TEST_CASE("VAE: options that cannot be are refused by name", "[models]") {
  const auto refusal = [](vae::VaeOptions options) {
    return error_of<core::InvalidArgument>([&] { net_of(options); });
  };
  CHECK_THAT(refusal({.cells_z = 0}), HasId("no_cells", {"0 × 1"}));
  CHECK_THAT(refusal({.cells_y = 4}), HasId("several_columns", {"4", "\"patch\""}));
  CHECK_THAT(refusal({.kind = vae::VaeKind::patch, .cells_x = 3}),
             HasId("several_along_x", {"3", "\"volume\""}));
  CHECK_THAT(refusal({.n_codes = 0}), HasId("no_codes", {"0"}));
  CHECK_THAT(refusal({.channels = {}}), HasId("wrong_levels", {"8", "0"}));
  CHECK_THAT(refusal({.channels = {8, 0}}), HasId("no_channels", {"0"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               (void)net_of({}).encode(numbers({2, 31}, 0));
             }),
             HasId("wrong_columns", {"[n, 32]", "31"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               (void)net_of({}).decode(numbers({2, 15}, 0));
             }),
             HasId("wrong_columns", {"[n, 16]", "15"}));
}

TEST_CASE("VAE: cells of a volume are neighbours down, along y and along x, which comes first", "[models]") {
  const auto of_x = [](engine::Dim cells_x) {
    return vae::VaeOptions{.kind = vae::VaeKind::volume,
                           .cells_z = 4,
                           .cells_y = 4,
                           .cells_x = cells_x,
                           .n_codes = 2,
                           .channels = {4, 4}};
  };
  const vae::Vae net = net_of(of_x(8)), wide = net_of(of_x(7));
  wide.load_state(net.state());
  net.set_mode(engine::Mode::evaluation);
  wide.set_mode(engine::Mode::evaluation);
  const Tensor seven = numbers({2, 4, 4, 7}, 3);
  const std::array parts{seven, slice(seven, 3, 6, 7)};  // the last cells along x are repeated
  const Tensor eight = concatenate(parts, 3);
  const auto a = wide.encode(reshape(seven, {2, 112})).mean.to_vector<double>(),
             b = net.encode(reshape(eight, {2, 128})).mean.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(1e-12));
  const Tensor codes = numbers({2, 2}, 5),
               cut = reshape(slice(reshape(net.decode(codes), {2, 4, 4, 8}), 3, 0, 7), {2, 112});
  const auto c = wide.decode(codes).to_vector<double>(), d = cut.to_vector<double>();
  for (std::size_t i = 0; i < c.size(); ++i) CHECK(c[i] == Approx(d[i]).margin(1e-12));
}
