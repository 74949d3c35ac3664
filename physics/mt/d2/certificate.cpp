// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/certificate.hpp"

#include "engine/core/error.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

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
                       [&](const auto& key) { return mode_of(key.quantity) == mode; });
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
/// depth everywhere, the deepest over a station: over a layered earth the impedance at the floor does not
/// depend on the water.
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

/// Points from `begin` outwards over `length`, cells growing by half from `first`.
std::vector<double> outward(double begin, double length, double first, double direction) {
  std::vector<double> points;
  double reached = 0.0;
  for (double cell = first; reached < length; cell *= 1.5) {
    reached += cell;
    points.push_back(begin + direction * reached);
  }
  return points;
}

/// Sides and air at least twice as far away; what was there stays as it is.
QuadMesh padded(const QuadMesh& mesh, const Survey& survey) {
  const auto [west, east] = std::minmax_element(survey.stations.begin(), survey.stations.end(),
                                                [](auto& a, auto& b) { return a.y_m < b.y_m; });
  const auto& lines = mesh.lines_m();
  const double depth = mesh.z(mesh.n_z(), 0) - mesh.z(mesh.ground(), 0);
  auto left = outward(lines.front(), std::max(west->y_m - lines.front(), depth), lines[1] - lines[0], -1.0);
  const auto right = outward(lines.back(), std::max(lines.back() - east->y_m, depth),
                             lines.back() - lines[lines.size() - 2], 1.0);
  std::reverse(left.begin(), left.end());
  std::vector<double> y = left;
  y.insert(y.end(), lines.begin(), lines.end());
  y.insert(y.end(), right.begin(), right.end());

  std::vector<double> air;
  if (mesh.n_air() > 0) {
    const double height = mesh.z(mesh.n_air(), 0) - mesh.z(0, 0);
    air = outward(mesh.z(0, 0), std::max(height, depth), mesh.z(1, 0) - mesh.z(0, 0), -1.0);
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

class Certifier {
 public:
  Certifier(MPI_Comm comm, const mesh::Model& model, const Survey& survey, const ResponseError& tolerance)
      : comm_(comm), model_(model), survey_(response_survey(survey)) {
    result_.tolerance = tolerance;
    result_.passed = true;
  }

  [[nodiscard]] Eigen::VectorXd predict(const MeshSet& meshes) const {
    return data_map(comm_, model_.earth, survey_, meshes)->value(mesh::resistivity_ohm_m(model_));
  }

  /// Compares with a layered earth on the levelled mesh: the run's own cells, assembly and solver.
  void check_layered(const std::string& name, const MeshSet& meshes, const Eigen::VectorXd& row_resistivity) {
    const auto& grid = model_.earth.grid;
    Eigen::VectorXd resistivity(grid.n_cells());
    d1::LayeredEarth earth;
    std::vector<double> edges = grid.z_edges_m();
    for (double& edge : edges) edge -= grid.z_edges_m().front();
    for (int iz = 0; iz < grid.n_z(); ++iz) {
      resistivity.segment(grid.index(iz, 0), grid.n_y()).setConstant(row_resistivity[iz]);
      earth.resistivity_ohm_m.push_back(row_resistivity[iz]);
      if (iz + 1 < grid.n_z()) earth.thickness_m.push_back(edges[iz + 1] - edges[iz]);
    }
    const auto simulation =
        data_map(comm_, {mesh::TensorGrid::section(grid.y_edges_m(), edges)}, survey_,
                 transformed(meshes, [&](const QuadMesh& m) { return levelled(m, survey_); }));
    compare(name, simulation->value(resistivity), exact(earth));
  }

  void compare(const std::string& name, const Eigen::VectorXd& ours, const Eigen::VectorXd& reference) {
    CertificateRow row{name, {}, "", true};
    for (Eigen::Index i = 0; i < ours.size(); ++i) {
      const DatumKey& key = survey_.keys[i];
      const double change =
          is_phase(key.quantity)
              ? deg_per_rad * std::abs(difference(rule_of(key.quantity), ours[i], reference[i]))
              : 100.0 * std::abs(std::pow(10.0, ours[i] - reference[i]) - 1.0);
      double& worst = is_phase(key.quantity) ? row.worst.phase_deg : row.worst.rho_a_percent;
      if (!(change > worst)) continue;
      worst = change;
      if (!is_phase(key.quantity)) {
        row.where =
            fmt::format("{} {} {:.4g} s", mode_of(key.quantity) == Mode::te ? "TE" : "TM",
                        survey_.stations[key.station].name, 1.0 / survey_.frequencies_hz[key.frequency]);
      }
    }
    row.passed = ours.allFinite() && row.worst.rho_a_percent <= result_.tolerance.rho_a_percent &&
                 row.worst.phase_deg <= result_.tolerance.phase_deg;
    result_.passed = result_.passed && row.passed;
    result_.rows.push_back(std::move(row));
  }

  [[nodiscard]] const Survey& survey() const { return survey_; }
  [[nodiscard]] Certificate take() { return std::move(result_); }

 private:
  [[nodiscard]] Eigen::VectorXd exact(const d1::LayeredEarth& earth) const {
    Eigen::VectorXd result(static_cast<Eigen::Index>(survey_.keys.size()));
    std::vector<std::complex<double>> impedance;
    for (const double frequency : survey_.frequencies_hz)
      impedance.push_back(d1::layered_impedance(earth, frequency));
    for (std::size_t i = 0; i < survey_.keys.size(); ++i) {
      const DatumKey& key = survey_.keys[i];
      const auto z = mode_of(key.quantity) == Mode::te ? impedance[key.frequency] : -impedance[key.frequency];
      result[static_cast<Eigen::Index>(i)] =
          value_of(rule_of(key.quantity), z, omega(survey_.frequencies_hz[key.frequency]));
    }
    return result;
  }

  MPI_Comm comm_;
  const mesh::Model& model_;
  Survey survey_;
  Certificate result_;
};

/// Mean log resistivity of each row under and between the stations.
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

}  // namespace

Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                    const MeshDesignOptions& options, const ResponseError& tolerance) {
  Certifier certifier(comm, model, survey, tolerance);
  const MeshSet meshes = design_meshes(model, certifier.survey(), options);
  const Eigen::VectorXd rows = mean_rows(model, survey);
  const bool perfect = meshes.bands.front().perfect_conductor_below;
  Eigen::VectorXd uniform = rows;
  uniform.head(rows.size() - (perfect ? 1 : 0))
      .setConstant(std::exp(rows.head(rows.size() - (perfect ? 1 : 0)).array().log().mean()));
  const std::string where = model.earth.surface.is_flat() ? "" : ", levelled";
  certifier.check_layered(fmt::format("half-space {:.3g} ohm m{}{}", uniform[0],
                                      perfect ? " over a perfect conductor" : "", where),
                          meshes, uniform);
  certifier.check_layered("layered earth" + where, meshes, rows);
  const Eigen::VectorXd ours = certifier.predict(meshes);
  certifier.compare("refinement (half the cell size)", ours,
                    certifier.predict(transformed(meshes, [](const QuadMesh& m) { return m.refined(); })));
  certifier.compare(
      "sides and air twice as far", ours,
      certifier.predict(transformed(meshes, [&](const QuadMesh& m) { return padded(m, survey); })));
  return certifier.take();
}

std::string Certificate::table() const {
  std::string text =
      fmt::format("{:<48} {:>9} {:>10}  {:<6} {}\n", "check", "rho_a %", "phase deg", "passed", "worst at");
  for (const CertificateRow& row : rows) {
    text += fmt::format("{:<48} {:>9.3f} {:>10.3f}  {:<6} {}\n", row.check, row.worst.rho_a_percent,
                        row.worst.phase_deg, row.passed ? "yes" : "NO", row.where);
  }
  return text + fmt::format("{:<48} {:>9.3f} {:>10.3f}  {}\n", "tolerance", tolerance.rho_a_percent,
                            tolerance.phase_deg, passed ? "passed" : "FAILED");
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
