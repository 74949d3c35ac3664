// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "models/earths/prior.hpp"
#include "models/earths/randomness.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <set>

using namespace lodestone;
using namespace lodestone::models;
using tests::error_of;
using tests::HasId;

namespace {

/// Fills the section with noise around a number.
class Noise final : public earths::Generator {
 public:
  explicit Noise(double mean) : mean_(mean) {}
  [[nodiscard]] std::string kind() const override { return "noise"; }
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random,
                                     const physics::mesh::TensorGrid& grid) const override {
    return (earths::Draws(random).normal(grid.n_z(), grid.n_y()).array() + mean_).matrix();
  }
  void check_grid(const physics::mesh::TensorGrid& grid) const override {
    if (grid.n_z() > 5) throw core::InvalidArgument("Noise#too_many_rows", "five rows at most");
  }

 private:
  double mean_;
};

earths::GeneratorPtr noise(double mean) { return std::make_shared<Noise>(mean); }
physics::mesh::TensorGrid small_grid() { return earths::patch_grid({0, 1, 3, 7}, {0, 2, 4, 6, 8}); }

}  // namespace

TEST_CASE("prior: a draw follows from seed and number, whatever the order, the batch and the threads") {
  const earths::Prior prior(small_grid(), {{1.0, noise(0)}, {2.0, noise(100)}}, 7);
  const Eigen::MatrixXd alone = prior.draw(12);
  CHECK(alone.rows() == 3);
  CHECK(alone.cols() == 4);
  core::set_threads(1);
  const Eigen::MatrixXd one = prior.draws(0, 40);
  core::set_threads(3);
  const Eigen::MatrixXd three = prior.draws(0, 40), tail = prior.draws(10, 5);
  core::set_threads(1);
  CHECK(one == three);
  CHECK(tail == one.middleCols(10, 5));
  for (Eigen::Index iz = 0; iz < 3; ++iz) {
    for (Eigen::Index iy = 0; iy < 4; ++iy)
      CHECK(one(iz * 4 + iy, 12) == alone(iz, iy));  // row by row from the top
  }
  CHECK(earths::Prior(small_grid(), prior.parts(), 8).draws(0, 40) != one);
}

TEST_CASE("prior: families come as often as their weights say, and no two draws are alike") {
  const earths::Prior prior(small_grid(), {{1.0, noise(0)}, {0.0, noise(50)}, {3.0, noise(100)}}, 3);
  constexpr int n = 4000;
  std::set<double> first;
  int n_of[3] = {};
  for (int i = 0; i < n; ++i) {
    const Eigen::MatrixXd drawn = prior.draw(i);
    ++n_of[prior.part_of(i)];
    CHECK(std::abs(drawn.mean() - 50.0 * static_cast<double>(prior.part_of(i))) < 5.0);
    first.insert(drawn(0, 0));
  }
  CHECK(n_of[1] == 0);
  CHECK(n_of[0] == Approx(0.25 * n).margin(4.0 * std::sqrt(n * 0.25 * 0.75)));
  CHECK(first.size() == n);
}

TEST_CASE(
    "prior: no part, no weight, a negative one, a bad grid and a family that does not fit are refused") {
  const auto prior = [](physics::mesh::TensorGrid grid, std::vector<earths::Prior::Part> parts) {
    return earths::Prior(std::move(grid), std::move(parts), 1);
  };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)prior(small_grid(), {}); }), HasId("no_generator"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(small_grid(), {{1.0, nullptr}});
             }),
             HasId("part_without_generator", {"1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(small_grid(), {{1.0, noise(0)}, {-1.0, noise(0)}});
             }),
             HasId("negative_weight", {"2", "noise", "-1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(small_grid(), {{std::nan(""), noise(0)}});
             }),
             HasId("negative_weight", {"nan"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(small_grid(), {{0.0, noise(0)}});
             }),
             HasId("no_positive_weight"));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(earths::patch_grid({0, 1, 2, 3, 4, 5, 6}, {0, 1}), {{1.0, noise(0)}});
             }),
             HasId("too_many_rows"));
  const physics::mesh::TensorGrid high = physics::mesh::TensorGrid::section({0, 1}, {-1, 2}),
                                  shifted = physics::mesh::TensorGrid::section({5, 6}, {0, 2}),
                                  column = physics::mesh::TensorGrid::layers(1.0, 1.0, 3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(high, {{1.0, noise(0)}});
             }),
             HasId("depths_above_surface", {"-1 m"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(shifted, {{1.0, noise(0)}});
             }),
             HasId("columns_not_from_zero", {"5 m"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)prior(column, {{1.0, noise(0)}});
             }),
             HasId("not_a_patch", {"1"}));
  const earths::Prior good(small_grid(), {{1.0, noise(0)}}, 1);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)good.draw(-1); }), HasId("negative_number", {"-1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)good.draws(0, -2); }),
             HasId("negative_count", {"-2"}));
}

TEST_CASE("grid: the lower part of a geometric grid gets back the rows it was cut from") {
  std::vector<double> whole{0.0};
  for (int i = 0; i < 64; ++i) whole.push_back(whole.back() + 2.0 * std::pow(1.146, i));
  for (const int first : {1, 2, 32, 60}) {
    const auto part = earths::patch_grid({whole.begin() + first, whole.end()}, {0, 1000});
    const physics::mesh::TensorGrid continued = earths::continued_to_surface(part);
    REQUIRE(continued.n_z() == 64);
    for (std::size_t i = 0; i < 65; ++i) CHECK(continued.z_edges_m()[i] == Approx(whole[i]).margin(1e-6));
  }
  CHECK(earths::continued_to_surface(earths::patch_grid(whole, {0, 1000})).z_edges_m() == whole);
}

TEST_CASE("grid: rows up to the surface increase and stay few, however the grid begins") {
  for (const physics::mesh::TensorGrid& grid :
       {earths::patch_grid({500, 510, 530}, {0, 1}), earths::patch_grid({1e5, 1e5 + 1}, {0, 1}),
        earths::patch_grid({10, 15}, {0, 1}), earths::patch_grid({100, 200, 400}, {0, 1}),
        earths::patch_grid({1, 100, 110}, {0, 1})}) {
    const physics::mesh::TensorGrid continued = earths::continued_to_surface(grid);
    CHECK_NOTHROW(earths::check(continued));
    CHECK(continued.z_edges_m().front() == 0.0);
    CHECK(continued.n_z() <= 256 + grid.n_z());
    CHECK(std::equal(grid.z_edges_m().rbegin(), grid.z_edges_m().rend(), continued.z_edges_m().rbegin()));
  }
}

TEST_CASE("draws: numbers lie in their ranges, and branches differ from each other and from their root") {
  earths::Draws draws(core::Philox(1, 2));
  std::set<int> integers;
  for (int i = 0; i < 500; ++i) {
    integers.insert(draws.integer({2, 5}));
    const double size = draws.log_uniform({10.0, 1000.0});
    CHECK((size >= 10.0 && size <= 1000.0));
  }
  CHECK(integers == std::set<int>{2, 3, 4, 5});
  const std::vector<double> sorted = draws.sorted(20, {3.0, 4.0});
  CHECK(std::is_sorted(sorted.begin(), sorted.end()));
  CHECK((sorted.front() >= 3.0 && sorted.back() <= 4.0));
  const core::Philox root(1, 2);
  std::set<double> firsts{root.uniform(0)};
  for (std::uint64_t k = 0; k < 5; ++k) {
    firsts.insert(earths::branch(root, k).uniform(0));
    firsts.insert(earths::branch(earths::branch(root, k), 0).uniform(0));
  }
  CHECK(firsts.size() == 11);
  CHECK(earths::branch(root, 3).uniform(9) == earths::branch(root, 3).uniform(9));
}
