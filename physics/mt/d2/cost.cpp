// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/cost.hpp"

#include "engine/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {
namespace {

constexpr double work_exponent = 1.25;

double lattice_lines(const fem::QuadMesh& mesh, int order) { return order * mesh.n_y() + 1.0; }
double lattice_rows(const fem::QuadMesh& mesh, int order) { return order * mesh.n_z() + 1.0; }

}  // namespace

double work_of(const fem::QuadMesh& mesh, int order) {
  return std::pow(lattice_lines(mesh, order) * lattice_rows(mesh, order), work_exponent);
}

int n_modes(const Survey& survey) {
  const auto has = [&](Mode mode) {
    return std::ranges::any_of(survey.keys, [&](const DatumKey& key) { return is_of(key.quantity, mode); });
  };
  return static_cast<int>(has(Mode::te)) + static_cast<int>(has(Mode::tm));
}

double work_of(const MeshSet& meshes, const Survey& survey) {
  double work = 0.0;
  for (const BandMesh& band : meshes.bands)
    work += work_of(band.mesh, band.order) * static_cast<double>(band.frequencies.size());
  return work * n_modes(survey);
}

double factor_bytes(const fem::QuadMesh& mesh, int order, SystemSolver solver) {
  const double rows = lattice_rows(mesh, order), n = lattice_lines(mesh, order) * rows;
  return 16.0 * (solver == SystemSolver::petsc ? 31.0 / 4.0 * n * std::log2(n) : n * rows);
}

double largest_factor_bytes(const MeshSet& meshes) {
  double largest = 0.0;
  for (const BandMesh& band : meshes.bands)
    largest = std::max(largest, factor_bytes(band.mesh, band.order, meshes.solver));
  return largest;
}

double bytes_of_linearization(double factor_bytes, double largest_bytes) {
  return factor_bytes <= most_kept_factor_bytes ? factor_bytes
                                                : std::min(factor_bytes, core::threads() * largest_bytes);
}

}  // namespace lodestone::physics::mt::d2
