// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/fem/relief_operator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <numbers>

using namespace lodestone;
using namespace lodestone::physics::fem;
using tests::error_of;
using tests::HasId;

namespace {

using Vector = Eigen::Vector3d;

EdgeGrid small_grid() { return EdgeGrid({{{0, 1, 3, 4}, {-2, 0, 1, 5, 6}, {0, 2, 3}}}); }
Eigen::VectorXcd some(Eigen::Index n) {
  return Eigen::VectorXcd::NullaryExpr(
      n, [](Eigen::Index i) { return std::complex<double>(std::sin(1.3 * i), std::cos(0.7 * i)); });
}
/// A grid whose nodes lie anywhere within a part of a layer.
ReliefGrid rough_grid(const EdgeGrid& lines) {
  Eigen::VectorXd z(lines.n_nodes());
  for_each_node(lines, [&](int i, int j, int k) {
    z[lines.node(i, j, k)] = lines.lines_m(2)[k] + 0.45 * std::sin(2.1 * i + 3.7 * j * j + 5.3 * k);
  });
  return {lines, z};
}
/// A cube of n³ cells with a relief inside and level walls.
ReliefGrid cube(int n) {
  std::vector<double> line;
  for (int i = 0; i <= n; ++i) line.push_back(static_cast<double>(i) / n);
  EdgeGrid lines({line, line, line});
  Eigen::VectorXd z(lines.n_nodes());
  const auto wave = [&](int i) { return std::sin(std::numbers::pi * line[i]); };
  for_each_node(lines, [&](int i, int j, int k) {
    z[lines.node(i, j, k)] = line[k] + 0.2 * wave(i) * wave(j) * wave(k);
  });
  return {std::move(lines), std::move(z)};
}
/// Integrals of a field along the edges, by three points of Gauss.
template <class FieldOf>
Eigen::VectorXcd circulations(const ReliefGrid& grid, FieldOf field) {
  const EdgeGrid& lines = grid.lines();
  const auto node = [&](int i, int j, int k) {
    return Vector(lines.lines_m(0)[i], lines.lines_m(1)[j], grid.z_m(i, j, k));
  };
  Eigen::VectorXcd result(lines.n_edges());
  for_each_edge(lines, [&](int axis, int i, int j, int k) {
    const Vector from = node(i, j, k), to = node(i + (axis == 0), j + (axis == 1), k + (axis == 2));
    double sum = 8.0 / 18.0 * field(0.5 * (from + to)).dot(to - from);
    for (const double side : {-1.0, 1.0})
      sum += 5.0 / 18.0 * field(0.5 * (from + to) + side * 0.5 * std::sqrt(0.6) * (to - from)).dot(to - from);
    result[lines.edge(axis, i, j, k)] = sum;
  });
  return result;
}
double form(const Eigen::VectorXcd& u, const Eigen::VectorXcd& of_v) {
  return (u.transpose() * of_v)(0).real();
}

}  // namespace

TEST_CASE("relief operator: on level cells it is the lumped operator of the tensor grid", "[physics][fem]") {
  const EdgeGrid lines = small_grid();
  const ReliefOperator relief{ReliefGrid(lines)};
  const Eigen::VectorXcd u = some(lines.n_edges());
  const Eigen::VectorXcd flat = curl_curl(lines, u);
  CHECK((relief.curl_curl(u) - flat).norm() < 1e-14 * flat.norm());
  CHECK(relief.faces().nonZeros() > 3 * lines.n_faces());
  // M of the number 1 on cells is the dual volume over the square of the length.
  const RealRows mass = relief.mass_matrix(Eigen::VectorXd::Ones(lines.n_cells()));
  for_each_edge(lines, [&](int axis, int i, int j, int k) {
    const std::array<int, 3> at{i, j, k};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const double exact = lines.dual_m(a, at[a]) * lines.dual_m(b, at[b]) / lines.width_m(axis, at[axis]);
    const Eigen::Index edge = lines.edge(axis, i, j, k);
    CHECK(mass.coeff(edge, edge) == Approx(exact).epsilon(1e-14));
    CHECK(mass.row(edge).sum() == Approx(exact).epsilon(1e-14));
  });
}

TEST_CASE("relief operator: gradients have no curl, and both matrices are symmetric", "[physics][fem]") {
  const ReliefOperator relief(rough_grid(small_grid()));
  const EdgeGrid& lines = relief.grid().lines();
  CHECK(relief.grid().steepest(1) > 0.5);
  const Eigen::VectorXcd gradient_of = gradient(lines, some(lines.n_nodes()));
  CHECK(relief.curl_curl(gradient_of).norm() < 1e-12 * gradient_of.norm());
  const RealRows& faces = relief.faces();
  const RealRows mass = relief.mass_matrix(Eigen::VectorXd::LinSpaced(lines.n_cells(), 0.5, 3.0));
  CHECK((faces - RealRows(faces.transpose())).norm() < 1e-15 * faces.norm());
  CHECK((mass - RealRows(mass.transpose())).norm() < 1e-15 * mass.norm());
  for (const RealRows& matrix : {faces, mass}) {
    const Eigen::MatrixXd dense = matrix;
    CHECK(dense.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff() > 0.0);
  }
}

TEST_CASE("relief operator: diagonals and products of cells are those of its matrices", "[physics][fem]") {
  const ReliefOperator relief(rough_grid(small_grid()));
  const EdgeGrid& lines = relief.grid().lines();
  const Eigen::VectorXd cells = Eigen::VectorXd::LinSpaced(lines.n_cells(), 0.5, 3.0);
  const RealRows mass = relief.mass_matrix(cells);
  const ReliefDiagonals diagonal = diagonals(relief.grid(), cells);
  CHECK((diagonal.faces - Eigen::VectorXd(relief.faces().diagonal())).norm() < 1e-14 * diagonal.faces.norm());
  CHECK((diagonal.masses - Eigen::VectorXd(mass.diagonal())).norm() < 1e-14 * diagonal.masses.norm());
  const Eigen::VectorXcd u = some(lines.n_edges()), v = some(lines.n_edges() + 5).tail(lines.n_edges());
  const std::complex<double> whole = (u.transpose() * product(mass, v))(0),
                             by_cells = (relief.cell_products(u, v).transpose() * cells)(0);
  CHECK(std::abs(whole - by_cells) < 1e-12 * std::abs(whole));
}

TEST_CASE("relief operator: a constant field has the energy of the volume, and forms converge with h²",
          "[physics][fem]") {
  const auto constant = [](const Vector&) { return Vector(1.0, -2.0, 0.5); };
  // E = (y z, x², x y z) has curl (x z, y − y z, 2 x − z); F = (z, x y, y) has curl (1, 1, y).
  const auto one = [](const Vector& r) {
    return Vector(r.y() * r.z(), r.x() * r.x(), r.x() * r.y() * r.z());
  };
  const auto other = [](const Vector& r) { return Vector(r.z(), r.x() * r.y(), r.y()); };
  const double exact_curls = 0.25 + 0.25 + 0.25, exact_fields = 1.0 / 6.0 + 1.0 / 8.0 + 1.0 / 12.0;
  std::vector<double> curls, fields;
  for (const int n : {4, 8, 16}) {
    const ReliefOperator relief(cube(n));
    const RealRows mass = relief.mass_matrix(Eigen::VectorXd::Ones(relief.grid().lines().n_cells()));
    const Eigen::VectorXcd c = circulations(relief.grid(), constant), u = circulations(relief.grid(), one),
                           v = circulations(relief.grid(), other);
    CHECK(form(c, product(mass, c)) == Approx(5.25).epsilon(1e-12));
    curls.push_back(std::abs(form(v, relief.curl_curl(u)) - exact_curls));
    fields.push_back(std::abs(form(v, product(mass, u)) - exact_fields));
  }
  for (const auto& errors : {curls, fields}) {
    CHECK(errors[1] < 0.02);
    CHECK(std::log2(errors[0] / errors[1]) > 1.8);
    CHECK(std::log2(errors[1] / errors[2]) > 1.8);
  }
}

TEST_CASE("relief pair matrix: it is the operator on e + Gφ, with the rows of nodes times Gᵀ",
          "[physics][fem]") {
  const ReliefOperator relief(rough_grid(small_grid()));
  const EdgeGrid& grid = relief.grid().lines();
  const int n_edges = static_cast<int>(grid.n_edges()), n_nodes = static_cast<int>(grid.n_nodes());
  const PairUnknowns all{Eigen::VectorXi::LinSpaced(n_edges, 0, n_edges - 1),
                         Eigen::VectorXi::LinSpaced(n_nodes, n_edges, n_edges + n_nodes - 1),
                         n_edges + n_nodes};
  const RealRows mass = relief.mass_matrix(Eigen::VectorXd::LinSpaced(grid.n_cells(), 0.5, 3.0));
  const Eigen::VectorXcd e = some(n_edges), phi = some(n_nodes);
  Eigen::VectorXcd pair(all.count);
  pair << e, phi;
  const Eigen::VectorXcd result = pair_matrix(grid, relief.faces(), mass, all) * pair;
  const Eigen::VectorXcd current = std::complex<double>(0, 1) * product(mass, e + gradient(grid, phi));
  CHECK((result.head(n_edges) - relief.curl_curl(e) - current).norm() < 1e-12 * result.norm());
  CHECK((result.tail(n_nodes) - gradient_transposed(grid, current)).norm() < 1e-12 * result.norm());
}

TEST_CASE("relief grid: columns that fold are an error, and fewer lines keep their depths",
          "[physics][fem]") {
  const ReliefGrid fine = rough_grid(small_grid());
  const ReliefGrid coarse = fine.subset({{{0, 2, 3}, {0, 1, 2, 4}, {0, 2}}});
  CHECK(coarse.z_m(1, 3, 1) == fine.z_m(2, 4, 2));
  CHECK(coarse.lines().lines_m(1)[3] == 6.0);
  double volume = 0.0;
  for (int j = 0; j < 4; ++j) volume += fine.volume_m3(0, j, 0);
  CHECK(volume > 0.0);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               Eigen::VectorXd z = fine.node_z_m();
               z[fine.lines().node(1, 2, 1)] = z[fine.lines().node(1, 2, 2)];
               ReliefGrid(fine.lines(), z);
             }),
             HasId("not_increasing", {"node 2", "1"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { ReliefGrid(fine.lines(), Eigen::VectorXd::Zero(3)); }),
             HasId("wrong_size", {"3"}));
}
