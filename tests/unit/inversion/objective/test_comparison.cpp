// SPDX-License-Identifier: Apache-2.0
#include "inversion/objective/metrics.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <limits>

using lodestone::inversion::objective::correlation;
using lodestone::inversion::objective::mean_log10;
using lodestone::physics::mesh::Box;
using lodestone::physics::mesh::Model;
using lodestone::physics::mesh::TensorGrid;

namespace {

/// Returns log10 resistivity f(y, z) at the centres of the cells.
template <class F>
Model section(std::vector<double> y, std::vector<double> z, F&& f) {
  const TensorGrid grid = TensorGrid::section(std::move(y), std::move(z));
  Eigen::VectorXd rho(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy)
      rho[grid.index(iz, iy)] = std::pow(10.0, f(grid.y_centre_m(iy), grid.z_centre_m(iz)));
  }
  return lodestone::physics::mesh::resistivity_model({grid}, rho);
}

Box box(double y_from_m, double y_to_m, double z_from_m, double z_to_m) {
  return {.y_m = {y_from_m, y_to_m}, .z_m = {z_from_m, z_to_m}};
}

}  // namespace

TEST_CASE(
    "comparison: sections that are linear functions of each other correlate by ±1 on any grid, a constant "
    "one not at all") {
  const auto reference = section({0, 10, 20, 30}, {0, 10, 20}, [](double y, double) { return 0.1 * y; });
  const auto falling = section({-30, 0, 10, 20, 60}, {0, 20, 90},
                               [](double y, double) { return 3.0 - 0.2 * std::floor(y / 10.0); });
  CHECK(correlation(reference, reference).r == Approx(1.0));
  CHECK(correlation(reference, reference).n_points == 6);
  CHECK(correlation(reference, falling).r < -0.8);
  CHECK(std::isnan(correlation(reference, section({0, 30}, {0, 20}, [](double, double) { return 2.0; })).r));
}

TEST_CASE("comparison: only points that both sections know count") {
  auto reference =
      section({0, 10, 20, 30}, {0, 10, 20}, [](double y, double z) { return 0.1 * y + 0.03 * z; });
  const auto narrow =
      section({0, 10, 20}, {0, 10, 20}, [](double y, double z) { return 0.1 * y + 0.03 * z; });
  CHECK(correlation(reference, narrow).n_points == 4);
  reference.values[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(correlation(reference, narrow).n_points == 3);
  CHECK(correlation(reference, section({100, 110}, {0, 20}, [](double, double) { return 2.0; })).n_points ==
        0);
}

TEST_CASE(
    "comparison: a draped grid and one from the datum are compared at the same depth below the surface") {
  const auto structure = [](double y, double depth) { return 1.0 + 0.1 * y + 0.03 * depth; };
  const std::vector<double> edges{0, 10, 20, 30};
  const Model draped = section(edges, {0, 10, 20, 30}, structure);
  const TensorGrid from_datum =
      TensorGrid::section(edges, {-20, -10, 0, 10, 20, 30}, lodestone::physics::mesh::DepthReference::datum);
  const lodestone::physics::mesh::SurfaceLine rising({5.0, 15.0, 25.0}, {0.0, -10.0, -20.0});
  Model datum = lodestone::physics::mesh::resistivity_model({from_datum, rising},
                                                            Eigen::VectorXd(from_datum.n_cells()));
  for (int iz = 0; iz < 5; ++iz) {
    for (int iy = 0; iy < 3; ++iy) {
      const double y = from_datum.y_centre_m(iy);
      datum.values[from_datum.index(iz, iy)] =
          std::pow(10.0, structure(y, from_datum.z_centre_m(iz) - rising.z_at(y)));
    }
  }
  const auto r = correlation(draped, datum), back = correlation(datum, draped);
  CHECK(r.n_points == 9);
  CHECK(r.r == Approx(1.0).epsilon(1e-12));
  CHECK(back.n_points == 9);  // of the 15 cells 3 lie in the air and 3 below the draped grid
  CHECK(back.r == Approx(1.0).epsilon(1e-12));
  CHECK(mean_log10(datum, box(0, 30, 0, 20)) == Approx(mean_log10(draped, box(0, 30, 0, 20))).epsilon(1e-12));
  CHECK(std::isnan(mean_log10(datum, box(0, 30, -20, 0))));
}

TEST_CASE("comparison: the top row of a grid from the datum continues upwards to the surface") {
  const TensorGrid grid =
      TensorGrid::section({0, 10, 20}, {0, 10}, lodestone::physics::mesh::DepthReference::datum);
  const Model hill = lodestone::physics::mesh::resistivity_model(
      {grid, lodestone::physics::mesh::Surface(-30.0)}, Eigen::Vector2d(10.0, 1000.0));
  const auto draped = section({0, 10, 20}, {0, 10}, [](double y, double) { return 0.5 * y; });
  CHECK(correlation(draped, hill).n_points == 2);
  CHECK(mean_log10(hill, box(0, 20, 0, 30)) == Approx(2.0));
}

TEST_CASE("comparison: Pearson's r of five known pairs") {
  const std::vector<double> edges{0, 1, 2, 3, 4, 5}, a{1, 2, 3, 4, 5}, b{2, 1, 4, 3, 5};
  const auto of = [&](const std::vector<double>& values) {
    return section(edges, {0, 1}, [&](double y, double) { return values[static_cast<std::size_t>(y)]; });
  };
  CHECK(correlation(of(a), of(b)).r == Approx(0.8));
}

TEST_CASE("comparison: means of blocks weigh cells by the area inside and leave out what has no value") {
  auto all = section({0, 10, 30}, {0, 10, 40},
                     [](double y, double z) { return y < 10 ? (z < 10 ? 1.0 : 2.0) : 3.0; });
  CHECK(mean_log10(all, box(0, 30, 0, 40)) == Approx((100.0 * 1 + 300.0 * 2 + 800.0 * 3) / 1200.0));
  CHECK(mean_log10(all, box(5, 15, 0, 10)) == Approx(2.0));
  CHECK(std::isnan(mean_log10(all, box(50, 60, 0, 10))));
  all.values[0] = std::numeric_limits<double>::quiet_NaN();
  CHECK(mean_log10(all, box(0, 10, 0, 40)) == Approx(2.0));
}

TEST_CASE("comparison: models of a volume are compared at every x, with a section that is the same along x") {
  namespace mesh = lodestone::physics::mesh;
  const TensorGrid volume(mesh::Edges{{0, 10, 20}, {0, 10, 20}, {0, 10}});
  const auto model_of = [](const mesh::Earth& earth, const Eigen::VectorXd& log10_rho) {
    return mesh::resistivity_model(earth, Eigen::pow(10.0, log10_rho.array()));
  };
  const Model a = model_of({volume}, Eigen::Vector4d(1, 2, 3, 4)),
              b = model_of({volume}, Eigen::Vector4d(1, 4, 3, 2)),
              along_y = section({0, 10, 20}, {0, 10}, [](double y, double) { return y < 10 ? 1.0 : 2.0; });
  CHECK(correlation(a, a).n_points == 4);
  CHECK(correlation(a, b).r == Approx(0.2));
  CHECK(correlation(a, along_y).n_points == 4);
  CHECK(correlation(a, along_y).r == Approx(2.0 / std::sqrt(5.0)));
  CHECK(correlation(along_y, a).n_points == 2);
  CHECK(mean_log10(a, Box{}) == Approx(2.5));
  CHECK(mean_log10(a, {.x_m = {10, 20}}) == Approx(3.0));
  CHECK(mean_log10(a, {.x_m = {5, 20}, .y_m = {0, 10}}) == Approx((5.0 * 1 + 10.0 * 2) / 15.0));
}

TEST_CASE("comparison: a volume on the datum is compared below a surface that depends on x") {
  namespace mesh = lodestone::physics::mesh;
  const mesh::Edges edges{{0, 10, 20}, {0, 10}, {0, 10, 20}};
  Eigen::MatrixXd z(2, 2);
  z << -5.0, -5.0, 15.0, 15.0;  // 0 m at the first cells along x, 10 m at the second
  const Model datum = mesh::resistivity_model(
      {TensorGrid(edges, mesh::DepthReference::datum), mesh::Surface({0, 20}, {0, 10}, z)},
      Eigen::Vector4d(10.0, 1e6, 100.0, 1000.0));
  CHECK(correlation(datum, datum).n_points == 3);  // one cell lies in the air
  CHECK(mean_log10(datum, {.z_m = {0, 20}}) == Approx((1.0 + 2.0 + 3.0) / 3.0));
}
