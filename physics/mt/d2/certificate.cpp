// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/certificate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "physics/fem/graded_lines.hpp"
#include "physics/mt/certificate_steps.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d2 {

namespace {

using fem::QuadMesh;

/// Returns the survey of apparent resistivity and phase of the modes of a survey.
Survey response_survey(const Survey& survey) {
  std::vector<Datum> quantities;
  const auto has = [&](Mode mode) {
    return std::any_of(survey.keys.begin(), survey.keys.end(),
                       [&](const auto& key) { return is_of(key.quantity, mode); });
  };
  if (has(Mode::te)) quantities.insert(quantities.end(), {Datum::log10_rho_xy, Datum::phase_xy});
  if (has(Mode::tm)) quantities.insert(quantities.end(), {Datum::log10_rho_yx, Datum::phase_yx});
  return full_survey(survey.stations, survey.frequencies_hz, quantities);
}

template <class Transform>
MeshSet transformed(const MeshSet& meshes, Transform transform) {
  MeshSet result = meshes;
  for (BandMesh& band : result.bands) band.mesh = transform(band.mesh);
  return result;
}

/// Returns the mesh with its surface levelled to z = 0 (every line moves as a whole) under a sea of the same
/// depth everywhere. That depth is the deepest over a station: over a layered earth the impedance at the
/// floor does not depend on the water.
QuadMesh levelled(const QuadMesh& mesh, const Survey& survey) {
  double sea_m = 0.0;
  const auto water = [&](int iy) { return mesh.z(mesh.ground(), iy) - mesh.z(mesh.n_air(), iy); };
  for (const Station& station : survey.stations) sea_m = std::max(sea_m, water(mesh.column_of(station.y_m)));
  std::vector<std::vector<double>> depths(mesh.n_y() + 1);
  for (int iy = 0; iy <= mesh.n_y(); ++iy) {
    for (int iz = 0; iz < mesh.n_air(); ++iz)
      depths[iy].push_back(mesh.z(iz, iy) - mesh.z(mesh.n_air(), iy) - sea_m);
    for (int row = 0; row < mesh.n_sea(); ++row)
      depths[iy].push_back(-sea_m * (mesh.n_sea() - row) / mesh.n_sea());
    for (int iz = mesh.ground(); iz <= mesh.n_z(); ++iz)
      depths[iy].push_back(mesh.z(iz, iy) - mesh.z(mesh.ground(), iy));
  }
  return QuadMesh(mesh.lines_m(), std::move(depths), mesh.n_air(), mesh.n_sea());
}

/// Returns the mesh with sides and air at least twice as far away; what was there stays as it is.
QuadMesh padded(const QuadMesh& mesh, const Survey& survey) {
  const auto [west, east] = std::minmax_element(survey.stations.begin(), survey.stations.end(),
                                                [](auto& a, auto& b) { return a.y_m < b.y_m; });
  const auto& lines = mesh.lines_m();
  const double depth = mesh.z(mesh.n_z(), 0) - mesh.z(mesh.ground(), 0);
  auto left = fem::lines_outward(lines.front(), std::max(west->y_m - lines.front(), depth),
                                 lines[1] - lines[0], -1.0);
  const auto right = fem::lines_outward(lines.back(), std::max(lines.back() - east->y_m, depth),
                                        lines.back() - lines[lines.size() - 2], 1.0);
  std::reverse(left.begin(), left.end());
  std::vector<double> y = left;
  y.insert(y.end(), lines.begin(), lines.end());
  y.insert(y.end(), right.begin(), right.end());

  std::vector<double> air;
  if (mesh.n_air() > 0) {
    const double height = mesh.z(mesh.n_air(), 0) - mesh.z(0, 0);
    air = fem::lines_outward(mesh.z(0, 0), std::max(height, depth), mesh.z(1, 0) - mesh.z(0, 0), -1.0);
    std::reverse(air.begin(), air.end());
  }
  std::vector<std::vector<double>> columns;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto inside = static_cast<int>(std::clamp<std::ptrdiff_t>(
        static_cast<std::ptrdiff_t>(i) - static_cast<std::ptrdiff_t>(left.size()), 0, mesh.n_y()));
    auto& column = columns.emplace_back(air);
    for (int iz = 0; iz <= mesh.n_z(); ++iz) column.push_back(mesh.z(iz, inside));
  }
  return QuadMesh(std::move(y), std::move(columns), mesh.n_air() + static_cast<int>(air.size()),
                  mesh.n_sea());
}

/// Returns the mean log resistivity of each row under and between the stations.
Eigen::VectorXd mean_rows(const mesh::Model& model, const Survey& survey) {
  const auto& grid = model.earth.grid;
  const Eigen::VectorXd resistivity = mesh::resistivity_ohm_m(model);
  const auto [west, east] = std::minmax_element(survey.stations.begin(), survey.stations.end(),
                                                [](auto& a, auto& b) { return a.y_m < b.y_m; });
  const int first = grid.column_of(west->y_m), count = grid.column_of(east->y_m) - first + 1;
  Eigen::VectorXd rows(grid.n_z());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    rows[iz] = std::exp(resistivity.segment(grid.index(iz, first), count).array().log().mean());
  }
  return rows;
}

/// Returns the rows with their geometric mean everywhere but in a perfect conductor at the bottom.
Eigen::VectorXd uniform_rows(Eigen::VectorXd rows, bool perfect_conductor_below) {
  const Eigen::Index n = rows.size() - (perfect_conductor_below ? 1 : 0);
  rows.head(n).setConstant(std::exp(rows.head(n).array().log().mean()));
  return rows;
}

/// Measures the checks of one set of meshes, some periods at a time.
class Certifier {
 public:
  Certifier(MPI_Comm comm, const mesh::Model& model, const Survey& responses, const MeshSet& meshes,
            double bytes)
      : comm_(comm),
        model_(model),
        all_(responses),
        meshes_(meshes),
        bytes_(bytes),
        layers_(mean_rows(model, responses)),
        uniform_(uniform_rows(layers_, meshes.bands.front().perfect_conductor_below)) {}

  /// Returns the names of the checks.
  [[nodiscard]] std::vector<std::string> checks() const {
    const std::string where = model_.earth.surface.is_flat() ? "" : ", levelled";
    const bool perfect = meshes_.bands.front().perfect_conductor_below;
    return {fmt::format("half-space {:.3g} ohm m{}{}", uniform_[0],
                        perfect ? " over a perfect conductor" : "", where),
            "layered earth" + where, "refinement (half the cell size)", "sides and air twice as far"};
  }

  /// Adds some frequencies, indices of all, to every check.
  void measure(const std::vector<int>& frequencies, CertificateRows& rows) const {
    const Survey part = survey_at(all_, frequencies);
    const MeshSet meshes = meshes_at(meshes_, frequencies);
    const auto changed = [&](auto transform) { return transformed(meshes, transform); };
    const MeshSet level = changed([&](const QuadMesh& m) { return levelled(m, all_); });
    rows.compare(0, part, layered(part, level, uniform_), exact(part, uniform_));
    rows.compare(1, part, layered(part, level, layers_), exact(part, layers_));
    const Eigen::VectorXd ours = predict(part, meshes);
    rows.compare(2, part, ours, predict(part, changed([](const QuadMesh& m) { return m.refined(); })));
    rows.compare(3, part, ours, predict(part, changed([&](const QuadMesh& m) { return padded(m, all_); })));
  }

 private:
  [[nodiscard]] Eigen::VectorXd respond(const mesh::Earth& earth, const Survey& part, const MeshSet& meshes,
                                        const Eigen::VectorXd& resistivity) const {
    const ThreadsWithin memory(bytes_, largest_factor_bytes(meshes));
    return data_map(comm_, earth, part, meshes)->value(resistivity);
  }

  [[nodiscard]] Eigen::VectorXd predict(const Survey& part, const MeshSet& meshes) const {
    return respond(model_.earth, part, meshes, mesh::resistivity_ohm_m(model_));
  }

  /// Computes a layered earth on levelled meshes: the run's own cells, assembly and solver.
  [[nodiscard]] Eigen::VectorXd layered(const Survey& part, const MeshSet& level,
                                        const Eigen::VectorXd& rows) const {
    const auto& grid = model_.earth.grid;
    Eigen::VectorXd resistivity(grid.n_cells());
    for (int iz = 0; iz < grid.n_z(); ++iz)
      resistivity.segment(grid.index(iz, 0), grid.n_y()).setConstant(rows[iz]);
    return respond({mesh::TensorGrid::section(grid.y_edges_m(), depths_m())}, part, level, resistivity);
  }

  /// Returns the edges of the rows below the top of the section.
  [[nodiscard]] std::vector<double> depths_m() const {
    std::vector<double> edges = model_.earth.grid.z_edges_m();
    for (double& edge : edges) edge -= model_.earth.grid.z_edges_m().front();
    return edges;
  }

  [[nodiscard]] Eigen::VectorXd exact(const Survey& part, const Eigen::VectorXd& rows) const {
    const std::vector<double> edges = depths_m();
    d1::LayeredEarth earth;
    for (Eigen::Index iz = 0; iz < rows.size(); ++iz) {
      earth.resistivity_ohm_m.push_back(rows[iz]);
      if (iz + 1 < rows.size()) earth.thickness_m.push_back(edges[iz + 1] - edges[iz]);
    }
    return d1::layered_data(earth, part);
  }

  MPI_Comm comm_;
  const mesh::Model& model_;
  const Survey& all_;
  const MeshSet& meshes_;
  double bytes_;
  Eigen::VectorXd layers_, uniform_;
};

std::vector<FrequencyCost> costs_of(const MeshSet& meshes, const Survey& survey) {
  std::vector<FrequencyCost> costs;
  const double modes = n_modes(survey);
  for (const BandMesh& band : meshes.bands) {
    const QuadMesh fine = band.mesh.refined(), wide = padded(band.mesh, survey);
    const auto bytes = [&](const QuadMesh& mesh) { return factor_bytes(mesh, band.order, meshes.solver); };
    const double work = 3.0 * work_of(band.mesh, band.order) + work_of(fine, band.order) +
                        work_of(wide, band.order);  // half-space, layers and the section itself
    for (const int frequency : band.frequencies)
      costs.push_back({frequency, modes * work, std::max(bytes(fine), bytes(wide))});
  }
  return costs;
}

}  // namespace

CertificateCost cost_of_certificate(const MeshSet& meshes, const Survey& survey,
                                    const CertificateLimits& limits) {
  return cost_within(costs_of(meshes, response_survey(survey)), limits);
}

Certificate certify_meshes(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                           const MeshSet& meshes, const ResponseError& tolerance,
                           const CertificateLimits& limits) {
  const Survey responses = response_survey(survey);
  const Certifier certifier(comm, model, responses, meshes, limits.bytes);
  const auto batch =  // occupies every thread of every rank
      static_cast<std::size_t>(std::max(1, core::threads() * core::size_of(comm) / n_modes(responses)));
  const auto component = [](Datum datum) { return mode_of(datum) == Mode::te ? "TE" : "TM"; };
  return measured(cost_of_certificate(meshes, survey, limits), limits, responses.frequencies_hz.size(), batch,
                  CertificateRows(certifier.checks(), tolerance, component),
                  [&](const std::vector<int>& frequencies, CertificateRows& rows) {
                    certifier.measure(frequencies, rows);
                  });
}

Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                    const MeshDesignOptions& options, const ResponseError& tolerance,
                    const CertificateLimits& limits) {
  return certify_meshes(comm, model, survey, design_meshes(model, survey, options), tolerance, limits);
}

ResponseError tolerance_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::iteration:
      return {2.0, 0.57};  // a fifth of floors of 10 % and 2.86 degrees
    case Accuracy::standard:
      return {0.5, 0.2};
    case Accuracy::fine:
      return {0.1, 0.05};
  }
  return {};
}

}  // namespace lodestone::physics::mt::d2
