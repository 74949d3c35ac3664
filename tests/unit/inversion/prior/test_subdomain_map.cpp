// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/prior/coded_roughness.hpp"
#include "inversion/prior/gaussian_decoder.hpp"
#include "inversion/prior/roughness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone;
using Catch::Contains;
using namespace lodestone::inversion;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

/// Curved, so that least squares needs several steps: cell i = mean + a_i·v + ½ b_i |v|²; its encoder is off
/// by design.
class Curved final : public prior::Decoder {
 public:
  [[nodiscard]] std::string name() const override { return "curved"; }
  [[nodiscard]] Index n_codes() const override { return 2; }
  [[nodiscard]] Index n_cells() const override { return 3; }
  [[nodiscard]] MatrixXd decode(const core::ConstMatrixRef& v) const override {
    MatrixXd cells = (slopes() * v).array() + 2.0;
    cells.row(1) += 0.3 * v.colwise().squaredNorm();
    return cells;
  }
  [[nodiscard]] MatrixXd jacobians(const core::ConstMatrixRef& v) const override {
    MatrixXd all = slopes().replicate(1, v.cols());
    for (Index s = 0; s < v.cols(); ++s) all.row(1).segment(2 * s, 2) += 0.6 * v.col(s).transpose();
    return all;
  }
  [[nodiscard]] MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    return MatrixXd::Constant(2, cells.cols(), 0.2);
  }

 private:
  static MatrixXd slopes() { return MatrixXd{{1.0, 0.2}, {0.1, 0.4}, {-0.3, 0.9}}; }
};

const prior::DecoderPtr curved = std::make_shared<Curved>();

}  // namespace

TEST_CASE("subdomains: codes come first, cells outside follow, every cell has its place") {
  const prior::SubdomainMap map(7, {{"region", curved, {{1, 2, 3}, {6, 5, 4}}}});
  REQUIRE(map.size_in() == 5);
  CHECK(map.outside() == std::vector<Index>{0});
  CHECK(map.subdomain_of() == std::vector<int>{-1, 0, 0, 0, 1, 1, 1});
  const VectorXd u{{0.5, -0.2, 0.1, 0.3, 9.0}};
  const VectorXd m = map.value(u);
  const MatrixXd decoded = curved->decode(MatrixXd{{0.5, 0.1}, {-0.2, 0.3}});
  CHECK(m[0] == 9.0);
  CHECK(m[1] == decoded(0, 0));
  CHECK(m[6] == decoded(0, 1));
  CHECK(m[4] == decoded(2, 1));
}

TEST_CASE("subdomains that overlap are blended by their tapers, which sum to one") {
  const prior::SubdomainMap map(5, {{"region", curved, {{0, 1, 2}, {2, 3, 4}}, VectorXd{{1.0, 2.0, 3.0}}}});
  const VectorXd u{{0.5, -0.2, 0.1, 0.3}};
  const MatrixXd decoded = curved->decode(MatrixXd{{0.5, 0.1}, {-0.2, 0.3}});
  CHECK(map.value(u)[2] == Approx(0.75 * decoded(2, 0) + 0.25 * decoded(0, 1)));
  CHECK(map.value(u)[1] == Approx(decoded(1, 0)));
}

TEST_CASE(
    "products with the transposed derivative are those of the matrix, whatever the order of cells, overlaps "
    "and cells outside") {
  const auto normal = prior::gaussian_decoder(VectorXd{{1.0, 2.0}}, MatrixXd{{1.0, 0.5}, {0.5, 1.0}});
  const prior::SubdomainMap map(10, {{"a", curved, {{5, 3, 1}, {1, 6, 7}}}, {"b", normal, {{9, 8}}}});
  const VectorXd u = VectorXd::LinSpaced(map.size_in(), -0.7, 0.9);
  const MatrixXd w = MatrixXd{{0.3, -1.0}, {2.0, 0.1},  {0.5, 0.6},  {-0.2, 0.4}, {1.0, 0.0},
                              {0.7, 3.0},  {0.2, -0.3}, {-1.5, 0.8}, {0.9, 1.1},  {0.6, -0.4}};
  const auto linear = map.linearize(u);
  CHECK((linear->vjp(w) - linear->jacobian().transpose() * w).norm() < 1e-14);
  CHECK((linear->row_product(w.transpose()) - w.transpose() * linear->jacobian()).norm() < 1e-14);
}

TEST_CASE("regions of different decoders stand side by side") {
  const auto normal = prior::gaussian_decoder(VectorXd{{1.0, 2.0}}, MatrixXd{{1.0, 0.5}, {0.5, 1.0}});
  const prior::SubdomainMap map(6, {{"a", curved, {{0, 1, 2}}}, {"b", normal, {{3, 4}}}});
  CHECK(map.n_codes() == 4);
  CHECK(map.codes_of(1, VectorXd{{1.0, 2.0, 3.0, 4.0, 5.0}}) == MatrixXd{{3.0}, {4.0}});
  CHECK(map.value(VectorXd::Zero(5)).segment(3, 2) == VectorXd{{1.0, 2.0}});
}

TEST_CASE("encoding finds the codes of a decoded model where the encoder is off, and keeps what is outside") {
  const prior::SubdomainMap map(8, {{"region", curved, {{1, 2, 3}, {4, 5, 6}}}});
  const VectorXd u{{0.9, -1.2, -0.4, 0.8, 5.0, 6.0}};
  const VectorXd m = map.value(u);
  const VectorXd found = map.encode(m, {.sigma_decades = 1e-4, .max_iterations = 40});
  CHECK((found - u).norm() < 1e-5);
  CHECK(map.encode(m, {.max_iterations = 0}).head(4).isConstant(0.2));
  const VectorXd vague = map.encode(m, {.sigma_decades = 10.0});
  CHECK(vague.head(4).norm() < 0.1);  // the prior of the codes rules where the model says little
}

TEST_CASE("what a region cannot be is refused before anything is computed") {
  const auto refusal = [](Index n, const std::vector<prior::Region>& regions) {
    return tests::error_of<core::Error>([&] { const prior::SubdomainMap map(n, regions); });
  };
  CHECK_THAT(refusal(5, {{"east", nullptr, {{0, 1, 2}}}}), tests::HasId("no_decoder", {"\"east\""}));
  CHECK_THAT(refusal(5, {{"east", curved, {{0, 1}}}}), tests::HasId("wrong_cells", {"3", "curved", "2"}));
  CHECK_THAT(refusal(3, {{"east", curved, {{0, 1, 3}}}}), tests::HasId("cell_outside", {"cell 3"}));
  CHECK_THAT(refusal(5, {{"east", curved, {{0, 1, 1}}}}), tests::HasId("cell_twice", {"cell 1"}));
  CHECK_THAT(refusal(5, {{"east", curved, {{0, 1, 2}}, VectorXd{{1.0, 0.0, 1.0}}}}),
             tests::HasId("taper_not_positive", {"\"east\""}));
  CHECK_THAT(refusal(5, {{"east", curved, {{0, 1, 2}}, VectorXd{{1.0, 1.0}}}}),
             tests::HasId("wrong_taper", {"3", "2"}));
}

namespace {

/// Returns two columns of three cells beside each other and one outside, roughness by first differences.
prior::CodedRoughness two_columns(std::shared_ptr<const prior::SubdomainMap>& map,
                                  prior::CodedRoughnessOptions options) {
  const physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0, 2.0, 3.0}, {0.0, 1.0, 2.0, 3.0});
  map = std::make_shared<const prior::SubdomainMap>(
      9, std::vector<prior::Region>{{"region", curved, {{0, 3, 6}, {1, 4, 7}}}});
  return {map, prior::roughness_operator(grid, {.smallness_length_m = 10.0}), VectorXd::Constant(9, 1.0),
          options};
}

}  // namespace

TEST_CASE(
    "roughness counts outside and, weighted, between subdomains, inside one the codes' prior takes its "
    "place") {
  std::shared_ptr<const prior::SubdomainMap> map;
  const prior::CodedRoughness roughness = two_columns(map, {.code_weight = 0.5, .between_weight = 0.25});
  const VectorXd u{{0.3, -0.1, -0.5, 0.2, 2.5, 1.5, 3.0}};
  const VectorXd m = map->value(u);
  const auto at = [&](int z, int y) { return m[3 * z + y]; };
  double expected = roughness.code_weights()[0] * u.head(4).squaredNorm();
  for (int z = 0; z < 3; ++z) {
    expected += 0.25 * std::pow(at(z, 1) - at(z, 0), 2) + std::pow(at(z, 2) - at(z, 1), 2) +
                0.01 * std::pow(at(z, 2) - 1.0, 2);
    if (z < 2) expected += std::pow(at(z + 1, 2) - at(z, 2), 2);
  }
  CHECK(roughness.cost(u) == Approx(expected));
  CHECK(roughness.at(u)->cost(u) == Approx(expected));
}

TEST_CASE(
    "with a weight, roughness and smallness inside a subdomain count beside the codes' prior, in cost and "
    "quadratic part") {
  std::shared_ptr<const prior::SubdomainMap> map;
  const prior::CodedRoughness without = two_columns(map, {.code_weight = 0.5}),
                              with = two_columns(map, {.code_weight = 0.5, .inside_weight = 0.3});
  const VectorXd u{{0.3, -0.1, -0.5, 0.2, 2.5, 1.5, 3.0}};
  const VectorXd m = map->value(u);
  double inside = 0.0;
  for (int y = 0; y < 2; ++y) {
    for (int z = 0; z < 3; ++z)
      inside += 0.01 * std::pow(m[3 * z + y] - 1.0, 2) +
                (z < 2 ? std::pow(m[3 * z + 3 + y] - m[3 * z + y], 2) : 0.0);
  }
  CHECK(with.cost(u) == Approx(without.cost(u) + 0.3 * inside));
  CHECK(with.at(u)->cost(u) == Approx(with.cost(u)));
  CHECK(with.code_weights() == without.code_weights());
  CHECK_THROWS_AS(two_columns(map, {.inside_weight = -1.0}), core::InvalidArgument);
}

TEST_CASE("jumps between subdomains count by their norm, weighted at the model") {
  std::shared_ptr<const prior::SubdomainMap> map;
  const auto with = [&](prior::RoughnessNorm norm, double epsilon) {
    return two_columns(map, {.between_weight = 0.25, .between_norm = {.norm = norm, .epsilon = epsilon}});
  };
  const prior::CodedRoughness squares = two_columns(map, {.between_weight = 0.25}),
                              none = two_columns(map, {.between_weight = 0.0});
  const prior::CodedRoughness absolute = with(prior::RoughnessNorm::l1, 0.1);
  const VectorXd u{{0.3, -0.1, -0.5, 0.2, 2.5, 1.5, 3.0}};
  const VectorXd m = map->value(u);
  double expected = none.cost(u);
  for (int z = 0; z < 3; ++z) {
    const double jump = m[3 * z + 1] - m[3 * z];
    expected += 0.25 * jump * jump * 0.1 / std::hypot(jump, 0.1);
  }
  CHECK(absolute.cost(u) == Approx(expected));
  CHECK(absolute.at(u)->cost(u) == Approx(expected));
  CHECK(absolute.cost(u) < squares.cost(u));
  CHECK(with(prior::RoughnessNorm::l1, 1e6).cost(u) == Approx(squares.cost(u)));
  const VectorXd elsewhere{{-0.2, 0.4, 0.1, 0.3, 2.0, 1.0, 1.0}};  // the weights stay those of u
  CHECK(absolute.at(u)->cost(elsewhere) < absolute.at(elsewhere)->cost(elsewhere));
  const VectorXd codes = u.head(4);
  CHECK(absolute.of_codes(u)->cost(codes) == Approx(expected));
  CHECK(absolute.code_weights() == squares.code_weights());
  CHECK_THAT(
      tests::error_of<core::InvalidArgument>([&] { static_cast<void>(with(prior::RoughnessNorm::l1, 0.0)); }),
      tests::HasId("wrong_epsilon", {"0"}));
}

TEST_CASE("a draw of the prior costs as much as the roughness that its cells would have") {
  const auto normal = prior::gaussian_decoder(VectorXd{{1.0, 2.0, 1.5}},
                                              MatrixXd{{1.0, 0.5, 0.2}, {0.5, 1.0, 0.5}, {0.2, 0.5, 1.0}});
  const physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0, 2.0, 3.0}, {0.0, 1.0, 2.0, 3.0});
  const auto map = std::make_shared<const prior::SubdomainMap>(
      9, std::vector<prior::Region>{{"region", normal, {{0, 3, 6}, {1, 4, 7}}}});
  const auto weight = [&](double code_weight) {
    return prior::CodedRoughness(map, prior::roughness_operator(grid, {.smallness_length_m = 10.0}),
                                 VectorXd::Zero(9), {.code_weight = code_weight})
        .code_weights()
        .at(0);
  };
  // Variances of the two differences and of the three cells themselves, by the covariance.
  const double roughness_of_draw = (1.0 + 1.0 - 1.0) + (1.0 + 1.0 - 1.0) + 0.01 * 3.0;
  CHECK(weight(1.0) == Approx(roughness_of_draw / 3.0).epsilon(0.3));  // 64 draws
  CHECK(weight(0.5) == Approx(0.5 * weight(1.0)));
}

TEST_CASE("the quadratic part of the roughness has its gradient") {
  std::shared_ptr<const prior::SubdomainMap> map;
  const prior::CodedRoughness roughness = two_columns(map, {});
  const VectorXd u{{0.3, -0.1, -0.5, 0.2, 2.5, 1.5, 3.0}}, direction{{0.2, 0.7, -0.1, 0.4, 0.3, -0.6, 0.1}};
  const auto quadratic = roughness.at(u);
  const double slope =
      2.0 * (quadratic->roughness() * direction).dot(quadratic->roughness() * (u - quadratic->reference()));
  const double h = 1e-5,
               difference =
                   (roughness.cost(u + h * direction) - roughness.cost(u - h * direction)) / (2.0 * h);
  CHECK(slope == Approx(difference).epsilon(1e-7));
}

TEST_CASE("with a linear decoder the quadratic part is the roughness itself, up to a constant") {
  const auto normal = prior::gaussian_decoder(VectorXd{{1.0, 2.0, 1.5}},
                                              MatrixXd{{1.0, 0.5, 0.2}, {0.5, 1.0, 0.5}, {0.2, 0.5, 1.0}});
  const physics::mesh::TensorGrid grid =
      physics::mesh::TensorGrid::section({0.0, 1.0, 2.0, 3.0}, {0.0, 1.0, 2.0, 3.0});
  const auto map = std::make_shared<const prior::SubdomainMap>(
      9, std::vector<prior::Region>{{"region", normal, {{0, 3, 6}, {1, 4, 7}}}});
  const prior::CodedRoughness roughness(map, prior::roughness_operator(grid, {.smallness_length_m = 10.0}),
                                        VectorXd::Constant(9, 1.0));
  const VectorXd u = VectorXd::LinSpaced(9, -1.0, 2.0), other = VectorXd::LinSpaced(9, 1.0, -0.5);
  const auto quadratic = roughness.at(u);
  const auto form = [&](const VectorXd& x) {
    return (quadratic->roughness() * (x - quadratic->reference())).squaredNorm();
  };
  CHECK(form(u) - form(other) == Approx(roughness.cost(u) - roughness.cost(other)));
}
