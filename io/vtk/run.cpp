// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/run.hpp"

#include "io/run/residuals.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

namespace lodestone::io::vtk {

namespace mt = physics::mt;

namespace {

struct StationResiduals {
  run::RmsSum all;
  std::array<run::RmsSum, mt::n_datum_rows> by_quantity;
};

std::vector<StationResiduals> station_residuals(const run::InversionResult& result) {
  const Eigen::VectorXd residual = run::normalized_residuals(result.data, result.predicted);
  std::vector<StationResiduals> sums(result.data.survey.stations.size());
  for (Eigen::Index k = 0; k < residual.size(); ++k) {
    const mt::DatumKey& key = result.data.survey.keys[static_cast<std::size_t>(k)];
    StationResiduals& at = sums[static_cast<std::size_t>(key.station)];
    at.all.add(residual[k]);
    at.by_quantity[static_cast<std::size_t>(key.quantity)].add(residual[k]);
  }
  return sums;
}

template <class Get>
NamedArray array_of(std::string name, const std::vector<StationResiduals>& sums, Get get) {
  Eigen::VectorXd values(static_cast<Eigen::Index>(sums.size()));
  for (std::size_t k = 0; k < sums.size(); ++k) {
    values[static_cast<Eigen::Index>(k)] = static_cast<double>(get(sums[k]));
  }
  return {std::move(name), std::move(values)};
}

void add_coverage(const inversion::prior::PriorFindings& prior, std::vector<NamedArray>& to) {
  if (std::all_of(prior.regions.begin(), prior.regions.end(),
                  [](const inversion::prior::RegionFindings& region) { return region.coverage.empty(); }))
    return;
  to.push_back(
      {"learned_prior/relative_distance",
       prior.in_cells([](const inversion::prior::SubdomainCoverage& row) { return row.relative_distance; })});
  to.push_back(
      {"learned_prior/code_chi_square",
       prior.in_cells([](const inversion::prior::SubdomainCoverage& row) { return row.chi_square; })});
  to.push_back({"learned_prior/verdict", prior.in_cells([](const inversion::prior::SubdomainCoverage& row) {
                  return static_cast<double>(row.verdict);
                })});
  Eigen::VectorXd data_share = prior.in_cells(
      [](const inversion::prior::SubdomainCoverage& row) { return row.data_share.value_or(std::nan("")); });
  if (!data_share.array().isNaN().all()) to.push_back({"learned_prior/data_share", std::move(data_share)});
}

void add_uncertainty(const inversion::uncertainty::Uncertainty& uncertainty, std::vector<NamedArray>& to) {
  if (const auto& posterior = uncertainty.posterior) {
    to.push_back({"posterior/prior_deviation_decades", posterior->prior_deviation_decades, 0.0});
    to.push_back({"posterior/deviation_decades", posterior->deviation_decades, 0.0});
    to.push_back({"posterior/variance_reduction", posterior->variance_reduction});
    to.push_back({"posterior/resolution", posterior->resolution});
    to.push_back({"posterior/investigated", posterior->investigated, 1.0});
  }
  if (const auto& ensemble = uncertainty.ensemble) {
    to.push_back({"ensemble/p5_log10_resistivity", ensemble->p5_log10_resistivity});
    to.push_back({"ensemble/p50_log10_resistivity", ensemble->p50_log10_resistivity});
    to.push_back({"ensemble/p95_log10_resistivity", ensemble->p95_log10_resistivity});
    to.push_back({"ensemble/deviation_decades", ensemble->deviation_decades, 0.0});
  }
}

}  // namespace

StationPoints station_points(const run::InversionResult& result) {
  StationPoints points;
  for (const mt::Station& station : result.data.survey.stations) {
    points.names.push_back(station.name);
    points.y_m.push_back(station.y_m);
    points.z_m.push_back(result.earth.surface.z_at(0.0, station.y_m));
  }
  const std::vector<StationResiduals> sums = station_residuals(result);
  points.arrays.push_back(array_of("rms", sums, [](const StationResiduals& s) { return s.all.rms(); }));
  points.arrays.push_back(array_of("n_data", sums, [](const StationResiduals& s) { return s.all.count(); }));
  std::array<bool, mt::n_datum_rows> present{};
  for (const mt::DatumKey& key : result.data.survey.keys) {
    present[static_cast<std::size_t>(key.quantity)] = true;
  }
  for (std::size_t q = 0; q < present.size(); ++q) {
    if (present[q]) {
      points.arrays.push_back(array_of("rms_" + std::string(mt::name_of(static_cast<mt::Quantity>(q))), sums,
                                       [q](const StationResiduals& s) { return s.by_quantity[q].rms(); }));
    }
  }
  return points;
}

physics::mesh::Frame map_frame(const run::InversionResult& result) {
  const run::ProfileGeometry& profile = result.profile;
  physics::mesh::Frame frame{.projection = profile.projection,
                             .origin_north_m = profile.origin.north_m,
                             .origin_east_m = profile.origin.east_m,
                             .azimuth_deg = profile.azimuth_deg,
                             .elevation_m = profile.datum_elevation_m};
  if (profile.distance != "running_sum" || profile.stations.size() < 2) return frame;
  std::map<double, mt::PlanePoint> along;
  for (std::size_t k = 0; k < profile.stations.size(); ++k)
    along[result.data.survey.stations[k].y_m] = profile.stations[k];
  for (const auto& [y_m, place] : along) frame.bends.push_back({y_m, place.north_m, place.east_m});
  return frame;
}

std::vector<std::filesystem::path> write_result_vtk(const std::filesystem::path& folder,
                                                    const run::InversionResult& result) {
  std::vector<std::filesystem::path> written{folder / "section.vtu", folder / "stations.vtp"};
  const physics::mesh::Model section = result.section();
  const StationPoints stations = station_points(result);
  NamedArray start{"start_log10_resistivity", result.start_log10_resistivity};
  if (result.earth.sea)
    start.in_sea =
        std::log10(result.earth.sea->resistivity_ohm_m);  // known, so it starts and ends at the same value
  std::vector<NamedArray> extra{std::move(start)};
  if (result.learned_prior) {
    const inversion::prior::PriorFindings& prior = *result.learned_prior;
    extra.push_back({"learned_prior/subdomain", prior.subdomain, -1.0});
    extra.push_back({"learned_prior/decoded_log10_resistivity", prior.decoded_log10_resistivity});
    extra.push_back({"learned_prior/deviation_decades", prior.deviation_decades, 0.0});
    if (result.earth.sea) extra[2].in_sea = extra[0].in_sea;
    add_coverage(prior, extra);
  }
  if (result.uncertainty) add_uncertainty(*result.uncertainty, extra);
  write_model_vtu(written[0], section, {}, extra);
  write_stations_vtp(written[1], stations);
  if (!result.profile.projection.empty()) {
    const physics::mesh::Frame frame = map_frame(result);
    written.push_back(folder / "section_world.vtu");
    write_model_vtu(written.back(), section, frame, extra);
    written.push_back(folder / "stations_world.vtp");
    write_stations_vtp(written.back(), stations, frame);
  }
  return written;
}

}  // namespace lodestone::io::vtk
