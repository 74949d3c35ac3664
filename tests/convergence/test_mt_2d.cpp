// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <cstdio>

using namespace lodestone::physics;
using namespace lodestone::physics::mt;

namespace {

/// Errors of Z against a layered earth at one refinement.
struct Errors {
  double te, tm;
};

Errors errors_of(const mesh::Model& section, const Survey& survey, const d2::MeshSet& meshes,
                 std::complex<double> exact) {
  const Eigen::VectorXd z = d2::data_map(MPI_COMM_SELF, section.earth, survey, meshes)->value(section.values);
  return {std::abs(std::complex<double>(z[0], z[1]) - exact) / std::abs(exact),
          std::abs(std::complex<double>(z[2], z[3]) + exact) / std::abs(exact)};
}

/// Halves the cells and demands that both errors fall with the power 2·order.
void check_order(int order, int n_levels) {
  const mesh::TensorGrid grid = mesh::TensorGrid::section({-1000.0, 1000.0}, {0.0, 400.0, 2000.0});
  const mesh::Model section = mesh::resistivity_model({grid}, Eigen::Vector2d(50.0, 500.0));
  const Survey survey =
      full_survey({{"a", 130.0}}, {3.0}, {Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im});
  d2::MeshDesignOptions options;
  options.order = order;
  options.cells_per_skin_depth = 4.0 / order;
  options.growth = 1.3;
  options.bottom_depth = 8.0 * order;  // below the error of the finest mesh
  d2::MeshSet meshes = d2::design_meshes(section, survey, options);
  const auto exact = d1::layered_impedance({{50.0, 500.0}, {400.0}}, 3.0);
  std::printf("order %d\n%10s %14s %8s %14s %8s\n", order, "cells", "TE error", "falls by", "TM error",
              "falls by");
  Errors before{};
  for (int level = 0; level < n_levels; ++level) {
    const auto& mesh = meshes.bands[0].mesh;
    const Errors now = errors_of(section, survey, meshes, exact);
    const double te = std::log2(before.te / now.te), tm = std::log2(before.tm / now.tm);
    std::printf("%10d %14.3e %8.2f %14.3e %8.2f\n", mesh.n_y() * mesh.n_z(), now.te, level == 0 ? 0.0 : te,
                now.tm, level == 0 ? 0.0 : tm);
    if (level > 0) {
      CHECK(te == Approx(2.0 * order).margin(0.15 * order));
      CHECK(tm == Approx(2.0 * order).margin(0.15 * order));
    }
    before = now;
    meshes.bands[0].mesh = mesh.refined();
  }
}

}  // namespace

TEST_CASE(
    "2-D finite elements of order 1: the error against a layered earth falls with the square of the cell "
    "size",
    "[physics][mt]") {
  check_order(1, 4);
}

TEST_CASE(
    "2-D finite elements of order 2: the error against a layered earth falls with the fourth power of the "
    "cell size",
    "[physics][mt]") {
  check_order(2, 3);
}
