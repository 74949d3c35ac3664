// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/run.hpp"

#include "io/vtk/pieces.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace lodestone::io::vtk {

namespace {

struct SiteResiduals {
  inversion::RmsSum all{};
  std::map<std::string, inversion::RmsSum> by_quantity{};
};

bool has_texts(const core::Table& key, const char* column) {
  return key.has(column) && !key.column(column).is_numbers();
}

/// Returns the sums of each site, and the quantities in the order of the data.
std::pair<std::vector<SiteResiduals>, std::vector<std::string>> site_residuals(
    const inversion::Outcome& outcome, const std::vector<std::string>& names) {
  std::vector<SiteResiduals> sums(names.size());
  std::vector<std::string> quantities;
  const core::Table& key = outcome.data.key();
  if (!has_texts(key, "site")) return {std::move(sums), std::move(quantities)};
  std::map<std::string, std::size_t> place;
  for (std::size_t k = 0; k < names.size(); ++k) place.emplace(names[k], k);
  const Eigen::VectorXd residual = inversion::normalized_residuals(outcome.data, outcome.predicted);
  for (std::size_t row = 0; row < key.n_rows(); ++row) {
    const auto found = place.find(key.texts("site")[row]);
    if (found == place.end()) continue;
    const double value = residual[static_cast<Eigen::Index>(row)];
    sums[found->second].all.add(value);
    if (!has_texts(key, "quantity")) continue;
    const std::string& quantity = key.texts("quantity")[row];
    if (std::ranges::find(quantities, quantity) == quantities.end()) quantities.push_back(quantity);
    sums[found->second].by_quantity[quantity].add(value);
  }
  return {std::move(sums), std::move(quantities)};
}

template <class Get>
NamedArray array_of(std::string name, const std::vector<SiteResiduals>& sums, Get get) {
  Eigen::VectorXd values(std::ssize(sums));
  for (std::size_t k = 0; k < sums.size(); ++k)
    values[static_cast<Eigen::Index>(k)] = static_cast<double>(get(sums[k]));
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

/// Returns the arrays beside the final model.
std::vector<NamedArray> arrays_of(const inversion::Outcome& outcome) {
  const bool is_log = outcome.model.property.scale == physics::mesh::Scale::log10;
  const bool is_resistivity = outcome.model.property.name == physics::mesh::Property{}.name;
  NamedArray start{(is_log ? "start_log10_" : "start_") + outcome.model.property.name, outcome.start};
  if (outcome.model.earth.sea && is_resistivity) {  // known, so it starts and ends at the same value
    const double of_water = outcome.model.earth.sea->resistivity_ohm_m;
    start.in_sea = is_log ? std::log10(of_water) : of_water;
  }
  std::vector<NamedArray> arrays{std::move(start)};
  if (outcome.findings.prior) {
    const inversion::prior::PriorFindings& prior = *outcome.findings.prior;
    arrays.push_back({"learned_prior/subdomain", prior.subdomain, -1.0});
    arrays.push_back({"learned_prior/decoded_log10_resistivity", prior.decoded_log10_resistivity});
    arrays.push_back({"learned_prior/deviation_decades", prior.deviation_decades, 0.0});
    if (outcome.model.earth.sea) arrays[2].in_sea = arrays[0].in_sea;
    add_coverage(prior, arrays);
  }
  if (outcome.findings.uncertainty) add_uncertainty(*outcome.findings.uncertainty, arrays);
  return arrays;
}

}  // namespace

StationPoints station_points(const inversion::Outcome& outcome) {
  const core::Table& sites = outcome.sites;
  if (!sites.has("name") || !sites.has("y_m")) return {};
  StationPoints points{.names = sites.texts("name"), .y_m = sites.numbers("y_m")};
  // beside a section, x is the distance from its line, along which nothing changes
  if (outcome.model.earth.grid.has(physics::mesh::Axis::x) && sites.has("x_m"))
    points.x_m = sites.numbers("x_m");
  for (std::size_t k = 0; k < points.y_m.size(); ++k)
    points.z_m.push_back(
        outcome.model.earth.surface.z_at(points.x_m.empty() ? 0.0 : points.x_m[k], points.y_m[k]));
  const auto [sums, quantities] = site_residuals(outcome, points.names);
  points.arrays.push_back(array_of("rms", sums, [](const SiteResiduals& s) { return s.all.rms(); }));
  points.arrays.push_back(array_of("n_data", sums, [](const SiteResiduals& s) { return s.all.count(); }));
  for (const std::string& quantity : quantities) {
    points.arrays.push_back(array_of("rms_" + quantity, sums, [&](const SiteResiduals& s) {
      const auto found = s.by_quantity.find(quantity);
      return found == s.by_quantity.end() ? std::nan("") : found->second.rms();
    }));
  }
  return points;
}

std::vector<std::filesystem::path> write_result_vtk(MPI_Comm comm, const std::filesystem::path& folder,
                                                    const inversion::Outcome& outcome) {
  const std::string stem = outcome.model.earth.grid.dimension() == 2 ? "section" : "model";
  const physics::mesh::Model& model = outcome.model;
  const std::vector<NamedArray> arrays = arrays_of(outcome);
  const StationPoints stations = station_points(outcome);
  std::vector<std::filesystem::path> written;
  const auto write_in = [&](const physics::mesh::Frame& frame, const std::string& ending) {
    written.push_back(write_model(comm, folder, stem + ending, model, frame, arrays));
    if (stations.names.empty()) return;
    written.push_back(folder / ("stations" + ending + ".vtp"));
    core::on_rank_zero(comm, [&] { write_stations_vtp(written.back(), stations, frame); });
  };
  write_in({}, "");
  if (outcome.frame.is_on_map()) write_in(outcome.frame, "_world");
  return written;
}

}  // namespace lodestone::io::vtk
