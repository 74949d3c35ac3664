// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/certificate.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "physics/mt/certificate_steps.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/d3/cost.hpp"
#include "physics/mt/d3/features.hpp"
#include "physics/mt/d3/relief.hpp"
#include "physics/mt/d3/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::d3 {
namespace {

constexpr double of_regular = 1.0 / 3.0;  // share of a difference where errors fall with the square of cells
constexpr double of_layers = 0.15;        // work of a layered earth, without iterations, over that of fields

/// Returns ρₐ and phase of both off-diagonal impedances at every station.
Survey response_survey(const Survey& survey) {
  return full_survey(survey.stations, survey.frequencies_hz,
                     {Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
}

/// Returns the lines with points before the first and after the last, each at least `length` away.
std::vector<double> extended(const std::vector<double>& lines, double before_m, double after_m) {
  auto first = fem::lines_outward(lines.front(), before_m, lines[1] - lines[0], -1.0);
  const auto last = fem::lines_outward(lines.back(), after_m, lines.back() - lines[lines.size() - 2], 1.0);
  std::reverse(first.begin(), first.end());
  first.insert(first.end(), lines.begin(), lines.end());
  first.insert(first.end(), last.begin(), last.end());
  return first;
}

/// Returns a mesh whose sides, air and bottom are at least twice as far away; what was there stays.
fem::EdgeGrid padded(const BandMesh& band, const Survey& survey) {
  const auto& z = band.grid.lines_m(2);
  std::array<std::vector<double>, 3> lines{{{}, {}, extended(z, -z.front(), z.back())}};
  for (int axis = 0; axis < 2; ++axis) {
    const auto place = [axis](const Station& station) { return axis == 0 ? station.x_m : station.y_m; };
    const auto [first, last] = std::ranges::minmax(survey.stations, {}, place);
    const auto& old = band.grid.lines_m(axis);
    lines[axis] = extended(old, place(first) - old.front(), old.back() - place(last));
  }
  return fem::EdgeGrid(std::move(lines));
}

MeshSet padded(const MeshSet& meshes, const mesh::Earth& earth, const Survey& survey) {
  MeshSet result = meshes;
  for (BandMesh& band : result.bands) {
    band.grid = padded(band, survey);
    band.node_z_m = node_depths_m(earth, band.grid);
  }
  return result;
}

/// Returns an earth whose ground is level at the lowest place, under a sea as deep as above the deepest
/// station.
mesh::Earth levelled(mesh::Earth earth, const Survey& survey) {
  double depth_m = 0.0;
  if (earth.sea) {
    for (const Station& station : survey.stations)
      depth_m = std::max(depth_m, water_depth_m(earth, station.x_m, station.y_m));
  }
  earth.surface = mesh::Surface(earth.surface.lowest_m());
  if (earth.sea) earth.sea->level_m = earth.surface.lowest_m() - depth_m;
  if (!(depth_m > 0.0)) earth.sea.reset();
  return earth;
}
/// Returns the lines of a mesh for water of another depth: those of the water keep their shares of it, and
/// air keeps its thickness. Without water, lines stay and their layers are air.
fem::EdgeGrid with_depth(const fem::EdgeGrid& grid, double old_m, double new_m) {
  std::array<std::vector<double>, 3> lines{grid.lines_m(0), grid.lines_m(1), grid.lines_m(2)};
  if (!(old_m > 0.0 && new_m > 0.0)) return grid;
  for (double& z : lines[2]) {
    const bool is_air = z < -old_m * (1.0 + 1e-12);
    if (z < 0.0) z = is_air ? z + old_m - new_m : z * new_m / old_m;
  }
  return fem::EdgeGrid(std::move(lines));
}
/// Returns meshes under a level ground. `earth`: what they were designed for.
MeshSet levelled(MeshSet meshes, const mesh::Earth& earth, const mesh::Earth& level_earth) {
  for (BandMesh& band : meshes.bands) {
    band.grid = with_depth(band.grid, sea_depth_m(earth), sea_depth_m(level_earth));
    band.node_z_m = node_depths_m(level_earth, band.grid);
    if (!level_earth.sea) band.n_sea = 0;
  }
  return meshes;
}

/// Returns a model under a level ground whose layers have the mean log resistivity of the cells under and
/// between the stations.
mesh::Model mean_layers(const mesh::Model& model, const Survey& survey) {
  const mesh::TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd logs = mesh::resistivity_ohm_m(model).array().log();
  const auto range = [&](mesh::Axis axis, double Station::*place) {
    const auto [first, last] = std::ranges::minmax(survey.stations, {}, place);
    return std::array<int, 2>{grid.nearest(axis, first.*place), grid.nearest(axis, last.*place)};
  };
  const auto [x_first, x_last] = range(mesh::Axis::x, &Station::x_m);
  const auto [y_first, y_last] = range(mesh::Axis::y, &Station::y_m);
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    double sum = 0.0;
    for (int iy = y_first; iy <= y_last; ++iy) {
      for (int ix = x_first; ix <= x_last; ++ix) sum += logs[grid.index(iz, iy, ix)];
    }
    const double mean = std::exp(sum / ((x_last - x_first + 1) * (y_last - y_first + 1)));
    cells.segment(grid.index(iz), grid.n_columns()).setConstant(mean);
  }
  return mesh::resistivity_model(levelled(model.earth, survey), std::move(cells));
}

mesh::Model half_space(const mesh::Model& layers) {
  const double mean = std::exp(layers.values.array().log().mean());
  return mesh::resistivity_model(layers.earth, Eigen::VectorXd::Constant(layers.values.size(), mean));
}

/// Returns the distance of x from an interval; 0 inside.
double outside(double x, double from, double to) { return std::max({from - x, x - to, 0.0}); }

/// Tests whether a vertical contact lies within two cells of a mesh from a station. There the error of fields
/// falls with the size of cells.
class BesideContact {
 public:
  BesideContact(const mesh::Model& model, double least_contrast)
      : grid_(model.earth.grid),
        logs_(mesh::resistivity_ohm_m(model).array().log10()),
        level_m_(level_of(model.earth)),
        least_contrast_(least_contrast) {}

  [[nodiscard]] bool operator()(const Station& station, const fem::EdgeGrid& mesh) const {
    return is_beside(0, station, 2.0 * width_at(mesh, 0, station.x_m)) ||
           is_beside(1, station, 2.0 * width_at(mesh, 1, station.y_m));
  }

 private:
  static double width_at(const fem::EdgeGrid& mesh, int axis, double at) {
    const auto& lines = mesh.lines_m(axis);
    const auto after = std::upper_bound(lines.begin() + 1, lines.end() - 1, at) - lines.begin();
    return mesh.width_m(axis, static_cast<int>(after) - 1);
  }
  [[nodiscard]] bool is_beside(int axis, const Station& station, double reach_m) const {
    for (int iz = 0; iz < grid_.n_z(); ++iz) {
      const double depth = std::max(0.0, grid_.z_edges_m()[iz] - level_m_);
      for (int iy = axis == 1 ? 1 : 0; iy < grid_.n_y(); ++iy) {
        for (int ix = axis == 0 ? 1 : 0; ix < grid_.n_x(); ++ix) {
          const auto before = grid_.index(iz, iy - (axis == 1), ix - (axis == 0));
          if (std::abs(logs_[grid_.index(iz, iy, ix)] - logs_[before]) < least_contrast_) continue;
          const auto &x = grid_.edges().x_m, &y = grid_.edges().y_m;
          const double dx = outside(station.x_m, x[ix], axis == 0 ? x[ix] : x[ix + 1]),
                       dy = outside(station.y_m, y[iy], axis == 1 ? y[iy] : y[iy + 1]);
          if (std::hypot(dx, dy, depth) <= reach_m) return true;
        }
      }
    }
    return false;
  }

  const mesh::TensorGrid& grid_;
  Eigen::VectorXd logs_;
  double level_m_, least_contrast_;
};

/// Measures the checks of one set of meshes, some periods at a time.
class Certifier {
 public:
  Certifier(MPI_Comm comm, const mesh::Model& model, const Survey& responses, const MeshSet& meshes,
            double bytes, double least_contrast)
      : comm_(comm),
        model_(model),
        all_(responses),
        meshes_(meshes),
        bytes_(bytes),
        layers_(mean_layers(model, responses)),
        half_space_(half_space(layers_)),
        is_beside_contact_(model, least_contrast) {}

  /// Returns the names of the checks.
  [[nodiscard]] std::vector<std::string> checks() const {
    const std::string where = model_.earth.surface.is_flat() ? "" : ", levelled";
    return {fmt::format("half-space {:.3g} ohm m{}", half_space_.values[0], where), "layered earth" + where,
            "companion mesh (twice the cell size)", "sides, air and bottom twice as far"};
  }

  /// Adds some frequencies, indices of all, to every check.
  void measure(const std::vector<int>& frequencies, CertificateRows& rows) const {
    const Survey part = survey_at(all_, frequencies);
    const MeshSet meshes = meshes_at(meshes_, frequencies), coarse = companions(meshes),
                  level = levelled(meshes, model_.earth, layers_.earth);
    rows.compare(0, part, predict(half_space_, part, level), exact(half_space_, part));
    rows.compare(1, part, predict(layers_, part, level), exact(layers_, part));
    const Eigen::VectorXd of_coarse = predict(model_, part, coarse);
    rows.compare(2, part, predict(model_, part, meshes), of_coarse, shares(part, coarse));
    rows.compare(3, part, predict(model_, part, padded(coarse, model_.earth, all_)), of_coarse);
  }

 private:
  /// Computes a model on the meshes; the fields on their boundary are those of this model.
  [[nodiscard]] Eigen::VectorXd predict(const mesh::Model& model, const Survey& part, MeshSet meshes) const {
    const ThreadsWithin memory(bytes_, largest_solve_bytes(meshes));
    meshes.design_resistivity_ohm_m = mesh::resistivity_ohm_m(model);
    const Eigen::VectorXd x = meshes.design_resistivity_ohm_m;
    return data_map(comm_, model.earth, part, std::move(meshes))->value(x);
  }
  /// Returns of each datum the share of the difference to its companion that is its error.
  [[nodiscard]] std::vector<double> shares(const Survey& part, const MeshSet& coarse) const {
    std::vector<std::vector<double>> of_frequency(part.frequencies_hz.size());
    for (const BandMesh& band : coarse.bands) {
      std::vector<double> of_station;
      for (const Station& station : part.stations)
        of_station.push_back(is_beside_contact_(station, band.grid) ? 1.0 : of_regular);
      for (const int frequency : band.frequencies) of_frequency[frequency] = of_station;
    }
    std::vector<double> result;
    for (const DatumKey& key : part.keys) result.push_back(of_frequency[key.frequency][key.station]);
    return result;
  }
  [[nodiscard]] static Eigen::VectorXd exact(const mesh::Model& layers, const Survey& part) {
    return d1::layered_data(layers_of(layers.earth, layers.values, 0, 0), part);
  }

  MPI_Comm comm_;
  const mesh::Model& model_;
  const Survey& all_;
  const MeshSet& meshes_;
  double bytes_;
  mesh::Model layers_, half_space_;
  BesideContact is_beside_contact_;
};

std::vector<FrequencyCost> costs_of(const MeshSet& meshes, const Survey& survey) {
  std::vector<FrequencyCost> costs;
  const MeshSet coarse = companions(meshes);
  const double both = meshes.is_extrapolated ? 1.125 : 1.0;  // each mesh with a companion of an eighth
  for (std::size_t i = 0; i < meshes.bands.size(); ++i) {
    const fem::EdgeGrid wide = padded(coarse.bands[i], survey);
    const double work = both * ((1.0 + 2.0 * of_layers) * work_of(meshes.bands[i].grid) +
                                work_of(coarse.bands[i].grid) + work_of(wide));
    const bool has_relief = meshes.bands[i].has_relief();
    const double bytes =
        std::max(solve_bytes(meshes.bands[i].grid, has_relief), solve_bytes(wide, has_relief));
    for (const int frequency : meshes.bands[i].frequencies) costs.push_back({frequency, work, bytes});
  }
  return costs;
}

/// Returns how far the limit of edges kept meshes from their rules, in a sentence; "" where it did not.
std::string limit_in_words(const MeshSet& meshes, const MeshDesignOptions& options) {
  const auto n =
      std::ranges::count_if(meshes.bands, [](const BandMesh& band) { return band.coarsened > 1.0; });
  if (n == 0) return {};
  const double most = std::ranges::max_element(meshes.bands, {}, &BandMesh::coarsened)->coarsened;
  return fmt::format(
      "{} of {} meshes need more than the {:.3g} edges that they may have: their cells are up to {:.2g} "
      "times as large as the rules ask.",
      n, meshes.bands.size(), options.max_edges, most);
}

}  // namespace

CertificateCost cost_of_certificate(const MeshSet& meshes, const Survey& survey,
                                    const CertificateLimits& limits) {
  return cost_within(costs_of(meshes, survey), limits);
}

Certificate certify(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                    const MeshDesignOptions& options, const ResponseError& tolerance,
                    const CertificateLimits& limits) {
  const Survey responses = response_survey(survey);
  const MeshSet meshes = design_meshes(model, responses, options);
  const Certifier certifier(comm, model, responses, meshes, limits.bytes, options.least_contrast);
  const auto batch = static_cast<std::size_t>(core::size_of(comm));  // threads share what is inside a solve
  const auto component = [](Datum datum) { return std::string(rule_of(element_of(rule_of(datum))).name); };
  Certificate out =
      measured(cost_of_certificate(meshes, survey, limits), limits, responses.frequencies_hz.size(), batch,
               CertificateRows(certifier.checks(), tolerance, component),
               [&](const std::vector<int>& frequencies, CertificateRows& rows) {
                 certifier.measure(frequencies, rows);
               });
  if (const std::string limit = limit_in_words(meshes, options); !limit.empty())
    out.note += (out.note.empty() ? "" : " ") + limit;
  return out;
}

ResponseError tolerance_of(Accuracy accuracy) {
  switch (accuracy) {
    case Accuracy::iteration:
      return {5.0, 1.43};  // half of floors of 10 % and 2.86 degrees
    case Accuracy::standard:
      return {1.5, 0.7};
    case Accuracy::fine:
      return {1.0, 0.3};
  }
  return {};
}

}  // namespace lodestone::physics::mt::d3
