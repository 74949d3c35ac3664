// SPDX-License-Identifier: Apache-2.0
// Modules and functions of the engine as decoders of subdomains.
#include "engine/core/error.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "inversion/prior/network_decoder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using Eigen::MatrixXd;
using inversion::prior::network_decoder;

namespace {

core::Error refusal(Eigen::Index n_codes, Eigen::Index n_cells, const engine::Layer& decode,
                    std::optional<engine::Layer> encode = {}) {
  return tests::error_of<core::InvalidArgument>([&] {
    static_cast<void>(network_decoder({"mine", n_codes, n_cells}, decode, std::move(encode)));
  });
}

}  // namespace

TEST_CASE("network decoder: modules are called in evaluation mode, and keep their own") {
  engine::InitialValues first(3, engine::DType::f64);
  const engine::Linear linear(2, 4, first);
  const engine::Sequential net{linear, engine::Dropout(0.9, first)};
  const auto decoder = network_decoder({"mine", 2, 4}, net);
  const MatrixXd codes = MatrixXd::Random(2, 3);
  const MatrixXd plain = network_decoder({"mine", 2, 4}, linear)->decode(codes);
  CHECK(decoder->decode(codes) == plain);
  CHECK(net.mode() == engine::Mode::training);
  CHECK(decoder->jacobians(codes).leftCols(2) == decoder->jacobians(codes).rightCols(2));
}

TEST_CASE("network decoder: it runs as a plan with the bits of its network, and follows its weights") {
  engine::InitialValues first(3, engine::DType::f64), second(4, engine::DType::f64);
  int n_calls = 0;
  const engine::Sequential net{engine::Linear(2, 8, first), engine::tanh, engine::Linear(8, 4, first)},
      other{engine::Linear(2, 8, second), engine::tanh, engine::Linear(8, 4, second)};
  const engine::Layer counted = [&](const engine::Tensor& x) {
    ++n_calls;
    return net(x);
  };
  const auto decoder = network_decoder({"mine", 2, 4}, counted, engine::Linear(4, 2, first));
  const auto check = [&](const MatrixXd& codes) {
    const MatrixXd values = decoder->decode(codes), slopes = decoder->jacobians(codes);
    const engine::Tensor rows = engine::Tensor::from(
        std::vector<double>(codes.data(), codes.data() + codes.size()), {codes.cols(), 2});
    const auto y = net(rows).to_vector<double>();
    CHECK(values == Eigen::Map<const MatrixXd>(y.data(), 4, codes.cols()));
    for (Eigen::Index i = 0; i < codes.cols(); ++i) {
      const engine::Tensor code =
          engine::Tensor::from(std::vector<double>(codes.col(i).begin(), codes.col(i).end()), {2});
      const auto of_one = [&](const engine::Tensor& x) {
        return engine::squeeze(net(engine::expand_dims(x, 0)), 0);
      };
      const auto j = engine::transpose(engine::jacobian(of_one, code)).to_vector<double>();
      CHECK(slopes.middleCols(2 * i, 2).isApprox(Eigen::Map<const MatrixXd>(j.data(), 4, 2), 1e-14));
    }
    return values;
  };
  const MatrixXd codes = MatrixXd::Random(2, 3);
  const MatrixXd before = check(codes);
  const int n_recorded = n_calls;
  CHECK(check(codes) == before);
  CHECK(check(-codes) != before);
  CHECK(n_calls == n_recorded);
  net.load_state(other.state());
  CHECK(check(codes) != before);
  CHECK(n_calls == n_recorded);
  check(MatrixXd::Random(2, 5));
  CHECK(n_calls > n_recorded);
}

TEST_CASE("network decoder: a decoder that looks at values is run op by op") {
  const auto decoder = network_decoder({"mine", 1, 1}, [](const engine::Tensor& codes) {
    return engine::max(codes).item<double>() > 1.0 ? codes * 10.0 : codes * 2.0;
  });
  CHECK(decoder->decode(MatrixXd::Constant(1, 2, 1.0)) == MatrixXd::Constant(1, 2, 2.0));
  CHECK(decoder->decode(MatrixXd::Constant(1, 2, 3.0)) == MatrixXd::Constant(1, 2, 30.0));
}

TEST_CASE("network decoder: without an encoder codes start in the middle of their prior") {
  engine::InitialValues first(3, engine::DType::f64);
  const engine::Linear decode(2, 4, first), encode(4, 2, first);
  const MatrixXd cells = MatrixXd::Random(4, 3);
  CHECK(network_decoder({"mine", 2, 4}, decode)->encode(cells) == MatrixXd::Zero(2, 3));
  CHECK(network_decoder({"mine", 2, 4}, decode, encode)->encode(cells) != MatrixXd::Zero(2, 3));
}

TEST_CASE("network decoder: other sizes, a forgotten batch and single precision are refused by name") {
  engine::InitialValues first(3, engine::DType::f64), single(3);
  const engine::Linear decode(2, 4, first);
  CHECK(refusal(2, 4, decode).id() == "nothing_thrown");
  CHECK_THAT(refusal(2, 5, decode),
             tests::HasId("wrong_network", {"mine", "f64[2, 2]", "f64[2, 5]", "f64[2, 4]"}));
  CHECK_THAT(refusal(2, 4, engine::Linear(2, 4, single)).what(), Catch::Contains("f32"));
  CHECK_THAT(refusal(2, 4, [&](const engine::Tensor& x) { return engine::sum(decode(x), engine::Axes{0}); }),
             tests::HasId("wrong_network", {"f64[4]"}));
  CHECK_THAT(refusal(2, 4, decode, engine::Linear(4, 3, first)),
             tests::HasId("wrong_network", {"mine", "f64[2, 4]", "f64[2, 2]", "f64[2, 3]"}));
  CHECK_THAT(refusal(0, 4, decode), tests::HasId("no_code_or_cell", {"0 and 4"}));
}

TEST_CASE("network decoder: thousands of subdomains go through in parts, each as it would alone") {
  engine::InitialValues first(3, engine::DType::f64);
  const engine::Sequential net{engine::Linear(2, 8, first), engine::tanh, engine::Linear(8, 4, first)};
  const auto decoder = network_decoder({"mine", 2, 4}, net, engine::Linear(4, 2, first));
  const MatrixXd codes = MatrixXd::Random(2, 1100), cells = decoder->decode(codes);
  const MatrixXd slopes = decoder->jacobians(codes), back = decoder->encode(cells);
  REQUIRE(cells.cols() == 1100);
  REQUIRE(slopes.cols() == 2200);
  REQUIRE(back.cols() == 1100);
  for (const Eigen::Index i : {0, 511, 512, 1023, 1024, 1099}) {
    CHECK(cells.col(i).isApprox(decoder->decode(codes.col(i)).col(0), 1e-14));
    CHECK(slopes.middleCols(2 * i, 2).isApprox(decoder->jacobians(codes.col(i)), 1e-14));
    CHECK(back.col(i).isApprox(decoder->encode(cells.col(i)).col(0), 1e-14));
  }
}
