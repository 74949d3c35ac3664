// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/io/output_support.hpp"

#include "engine/core/random.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace lodestone::test {

namespace mt = physics::mt;
namespace mesh = physics::mesh;

OutputFolder::OutputFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "lodestone_output_XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t OutputFolder::n_entries() const {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
}

std::size_t occurrences(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

FullDisk::FullDisk(rlim_t bytes) {
  handler_ = std::signal(SIGXFSZ, SIG_IGN);
  ::getrlimit(RLIMIT_FSIZE, &before_);
  const rlimit small{bytes, before_.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
}

FullDisk::~FullDisk() {
  ::setrlimit(RLIMIT_FSIZE, &before_);
  std::signal(SIGXFSZ, handler_);
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void remove_from_hdf5(const std::filesystem::path& path, const std::string& name) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const bool deleted = H5Ldelete(file, name.c_str(), H5P_DEFAULT) >= 0;
  H5Fclose(file);
  if (!deleted) throw std::runtime_error("no array " + name + " in " + path.string());
}

namespace {

constexpr double profile_m = 719e3;

/// Returns a smooth bump of half-widths (wy, wz) around (y, z), 1 in its centre.
double bump(double y, double z, double y0, double z0, double wy, double wz) {
  return std::exp(-std::pow((y - y0) / wy, 4) - std::pow((z - z0) / wz, 4));
}

double true_log10_resistivity(double y, double z) {
  return 2.3 + 0.7 * std::tanh(z / 15e3 - 0.5) - 1.9 * bump(y, z, 145e3, 12e3, 60e3, 9e3) -
         1.8 * bump(y, z, 360e3, 14e3, 65e3, 10e3) + 1.0 * bump(y, z, 495e3, 16e3, 60e3, 16e3) +
         0.8 * bump(y, z, 620e3, 30e3, 40e3, 20e3) + 0.3 * std::sin(y / 23e3) * std::exp(-z / 4e3);
}

mt::Survey synthetic_survey(const SyntheticOptions& options) {
  std::vector<mt::Station> stations;
  for (int k = 0; k < options.n_stations; ++k) {
    const double along = options.n_stations > 1 ? static_cast<double>(k) / (options.n_stations - 1) : 0.5;
    const double y = profile_m * along + (k % 3 - 1) * 0.15 * profile_m / (options.n_stations + 1);
    stations.push_back({k < 10 ? fmt::format("kim{}", 438 + k) : fmt::format("ETO{:03}", k - 9), y,
                        -23.2 + 5.6 * along, 17.7 - 3.4 * along, 1400.0 - 300.0 * along});
  }
  std::vector<double> frequencies;
  for (int k = 0; k < options.n_frequencies; ++k) {
    frequencies.push_back(320.0 * std::pow(10.0, -5.4 * k / std::max(1, options.n_frequencies - 1)));
  }
  using Q = mt::Datum;
  const std::vector<Q> quantities =
      options.with_impedance
          ? std::vector<Q>{Q::zxy_re, Q::zxy_im, Q::zyx_re, Q::zyx_im, Q::tzy_re, Q::tzy_im}
          : std::vector<Q>{Q::log10_rho_xy, Q::phase_xy, Q::log10_rho_yx, Q::phase_yx};
  return mt::full_survey(stations, frequencies, quantities);
}

struct Datum {
  double value, floor;
};

Datum datum(mt::Datum quantity, mt::Complex z, double frequency_hz, const mt::ErrorFloors& floors) {
  using Q = mt::Datum;
  const double sigma_z = floors.impedance_relative * std::abs(z);
  switch (quantity) {
    case Q::zxy_re:
      return {z.real(), sigma_z};
    case Q::zxy_im:
      return {z.imag(), sigma_z};
    case Q::zyx_re:
      return {-z.real(), sigma_z};
    case Q::zyx_im:
      return {-z.imag(), sigma_z};
    case Q::tzy_re:
      return {0.2 * std::sin(std::log(frequency_hz)), floors.tipper_absolute};
    case Q::tzy_im:
      return {0.1 * std::cos(std::log(frequency_hz)), floors.tipper_absolute};
    case Q::log10_rho_xy:
    case Q::log10_rho_yx:
      return {std::log10(mt::apparent_resistivity_ohm_m(z, frequency_hz)), floors.log10_rho};
    case Q::phase_xy:
      return {std::arg(z), floors.phase_deg / mt::deg_per_rad};
    case Q::phase_yx:
      return {std::arg(z) - std::numbers::pi, floors.phase_deg / mt::deg_per_rad};
  }
  return {};
}

mt::d1::LayeredEarth column_below(const inversion::Outcome& result, double y_m) {
  mt::d1::LayeredEarth earth;
  const int iy = result.model.earth.grid.column_of(y_m);
  for (int iz = 0; iz < result.model.earth.grid.n_z(); ++iz) {
    earth.resistivity_ohm_m.push_back(
        std::pow(10.0, result.model.values[result.model.earth.grid.index(iz, iy)]));
    if (iz + 1 < result.model.earth.grid.n_z()) {
      earth.thickness_m.push_back(result.model.earth.grid.z_edges_m()[static_cast<std::size_t>(iz) + 1] -
                                  result.model.earth.grid.z_edges_m()[static_cast<std::size_t>(iz)]);
    }
  }
  return earth;
}

void add_model(inversion::Outcome& result, const SyntheticOptions& options) {
  std::vector<double> y_edges;
  for (int k = 0; k <= options.n_columns; ++k) {
    y_edges.push_back(profile_m * (-0.05 + 1.1 * k / options.n_columns));
  }
  result.model.earth.grid =
      mesh::TensorGrid::section(y_edges, mesh::geometric_edges_m(2.0, 1.146, options.n_rows));
  if (options.hill_m != 0.0) {
    std::vector<double> y, z;
    for (int k = 0; k <= 40; ++k) {
      y.push_back(profile_m * k / 40.0);
      z.push_back(-options.hill_m * std::exp(-std::pow((y.back() / profile_m - 0.5) / 0.15, 2)));
    }
    result.model.earth.surface = mesh::SurfaceLine(y, z);
  }
  result.model.values.resize(result.model.earth.grid.n_cells());
  for (int iz = 0; iz < result.model.earth.grid.n_z(); ++iz) {
    for (int iy = 0; iy < result.model.earth.grid.n_y(); ++iy) {
      result.model.values[result.model.earth.grid.index(iz, iy)] = true_log10_resistivity(
          result.model.earth.grid.y_centre_m(iy), result.model.earth.grid.z_centre_m(iz));
    }
  }
  result.start = Eigen::VectorXd::Constant(result.model.earth.grid.n_cells(), 2.0);
}

/// Returns the profile through the stations.
mt::Profile profile_of(const std::vector<mt::Station>& stations) {
  mt::Profile profile{.azimuth_deg = 329.5,
                      .origin = {7.4e6, 6.1e5},
                      .projection = "+proj=utm +zone=33 +south +datum=WGS84",
                      .origin_latitude_deg = -23.24,
                      .origin_longitude_deg = 17.72};
  const double azimuth = profile.azimuth_deg / mt::deg_per_rad;
  for (const mt::Station& station : stations) {
    profile.y_m.push_back(station.y_m);
    profile.points.push_back(
        {7.4e6 + station.y_m * std::cos(azimuth), 6.1e5 + station.y_m * std::sin(azimuth)});
    profile.offset_m.push_back(1e3 * std::sin(station.y_m));
  }
  return profile;
}

void add_data(inversion::Outcome& result, const SyntheticOptions& options) {
  mt::Observations data;
  data.survey = synthetic_survey(options);
  const mt::ErrorFloors floors;
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value.resize(n);
  data.sigma.resize(n);
  result.predicted.resize(n);
  std::vector<mt::d1::LayeredEarth> earths;
  for (const mt::Station& station : data.survey.stations) {
    earths.push_back(column_below(result, station.y_m));
  }
  const core::Philox random(7);
  for (Eigen::Index k = 0; k < n; ++k) {
    const mt::DatumKey& key = data.survey.keys[static_cast<std::size_t>(k)];
    const double frequency = data.survey.frequencies_hz[static_cast<std::size_t>(key.frequency)];
    const mt::Complex z = mt::d1::layered_impedance(earths[static_cast<std::size_t>(key.station)], frequency);
    const Datum clean = datum(key.quantity, z, frequency, floors);
    result.predicted[k] = clean.value;
    data.sigma[k] = clean.floor;
    data.value[k] = clean.value + 1.2 * clean.floor * random.normal(static_cast<std::uint64_t>(k));
    data.reason.push_back(k % 37 == 5   ? mt::MaskReason::out_of_quadrant
                          : k % 53 == 7 ? mt::MaskReason::listed
                                        : mt::MaskReason::kept);
    if (k % 91 == 3) {
      data.reason.back() = mt::MaskReason::missing;
      data.value[k] = std::nan("");
      data.sigma[k] = std::nan("");
    } else if (k % 37 == 5) {
      data.value[k] += 8.0 * clean.floor;
    }
    data.interpolated.push_back(key.station == 5 ? 1 : 0);
  }
  result.data = data.data_set();
  const mt::Profile profile = profile_of(data.survey.stations);
  result.sites = inversion::mt::site_table(data.survey.stations, profile);
  result.frame = inversion::mt::frame_of(profile, 1432.5);
  result.about.facts = inversion::mt::facts_of(floors, profile);
}

mt::d2::MeshSet synthetic_meshes() {
  mt::d2::MeshSet meshes;
  for (const double scale : {1.0, 3.0}) {
    std::vector<double> y, z;
    for (int k = -10; k <= 30; ++k) y.push_back(profile_m * scale * k / 20.0);
    for (int k = -4; k <= 12; ++k) z.push_back(2e4 * scale * k);
    meshes.bands.push_back({{scale < 2.0 ? 0 : 1},
                            physics::fem::QuadMesh(y, std::vector<std::vector<double>>(y.size(), z), 4),
                            scale > 2.0,
                            scale > 2.0 ? 2 : 1,
                            0.0,
                            scale > 2.0 ? 1.25 : 1.0});
  }
  return meshes;
}

void add_run(inversion::Outcome& result) {
  result.about.title = "Synthetic profile <A & B>";
  result.about.configuration =
      "# a comment\n[data]\nfolder = \"edi\"\nphase_range_deg = [-10.0, "
      "100.0]\n\n[inversion]\nmax_iterations = 15\n";
  result.about.provenance = {"0.1.0",
                             {{"compiler", "GNU 12.2"}, {"build type", "Release"}},
                             "mt_invert invert config.toml -o \"out dir\"",
                             "2024-05-01T10:00:00Z",
                             "2024-05-01T10:01:10Z",
                             {{"processor", "Some CPU @ 3 GHz"}, {"cores", "2"}}};
  double rms = 9.3, lambda = 3e4, previous = 9.3;
  for (int k = 0; k <= 9; ++k) {
    using inversion::optimize::StepKind;
    result.history.push_back(
        {{k, k == 0 ? StepKind::start : StepKind::jump, k == 0 ? 0.0 : lambda, rms, 10.0 * k,
          k == 0 ? 0.0 : 1.0, k == 4 ? 1.05 * previous : previous, k == 0 ? 1 : 6, k == 0 ? 0 : 1, 4.2},
         "cells"});
    previous = rms;
    rms = 1.2 + (rms - 1.2) * 0.45;
    lambda *= k < 6 ? 0.35 : 1.4;
  }
  result.ending.rms = 1.2;
  result.ending.reason = inversion::optimize::StopReason::stagnated;
  result.ending.message = "the rms fell by less than 1 % in 2 iterations";
  result.tables.push_back(inversion::mt::mesh_table(synthetic_meshes()));
  result.tables.push_back(inversion::mt::certificate_table(
      {{{"half-space 100 ohm m", {0.12, 0.04}, "kim438 0.003 s TE", true, {0.5, 0.2}},
        {"padding doubled", {0.71, 0.31}, "ETO026 780 s TM", false, {0.5, 0.2}}},
       false}));
}

}  // namespace

inversion::Outcome synthetic_result(const SyntheticOptions& options) {
  inversion::Outcome result;
  add_model(result, options);
  add_data(result, options);
  add_run(result);
  return result;
}

namespace {

/// Returns edges from −20 to 20 km in steps of 1 km, with padding of five growing cells on both sides.
std::vector<double> padded_edges_m() {
  std::vector<double> edges{-83e3, -57e3, -41e3, -32e3, -26e3};
  for (int k = -20; k <= 20; ++k) edges.push_back(1e3 * k);
  edges.insert(edges.end(), {26e3, 32e3, 41e3, 57e3, 83e3});
  return edges;
}

double log10_in_volume(double x, double y, double z) {
  return 2.0 + 0.5 * std::tanh(z / 10e3 - 1.0) -
         1.6 * bump(x, y, 4e3, 3e3, 4e3, 4e3) * std::exp(-std::pow((z - 4e3) / 3e3, 4)) +
         1.3 * bump(x, y, -5e3, -5e3, 3e3, 3e3) * std::exp(-std::pow((z - 2e3) / 2e3, 4)) +
         0.2 * std::sin(x / 1e3) * std::sin(y / 1e3) * std::exp(-z / 500.0);
}

mesh::Model volume_model(double hill_m) {
  mesh::Model model{{mesh::TensorGrid(mesh::Edges{padded_edges_m(), padded_edges_m(),
                                                  mesh::geometric_edges_m(50.0, 1.2, 30)})},
                    {},
                    {}};
  if (hill_m != 0.0) {
    const Eigen::VectorXd along = Eigen::VectorXd::LinSpaced(21, -10e3, 10e3);
    const std::vector<double> places(along.begin(), along.end());
    const Eigen::VectorXd height = Eigen::exp(-(along.array() / 5e3).square());
    model.earth.surface = mesh::Surface(places, places, -hill_m * height * height.transpose());
  }
  const mesh::TensorGrid& grid = model.earth.grid;
  model.values.resize(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    for (int iy = 0; iy < grid.n_y(); ++iy)
      for (int ix = 0; ix < grid.n_x(); ++ix)
        model.values[grid.index(iz, iy, ix)] = log10_in_volume(
            grid.centre_m(mesh::Axis::x, ix), grid.centre_m(mesh::Axis::y, iy), grid.z_centre_m(iz));
  return model;
}

mt::Survey map_survey() {
  std::vector<mt::Station> stations;
  for (int k = 0; k < 25; ++k)
    stations.push_back({.name = fmt::format("M{:02}", k + 1),
                        .y_m = 4e3 * (k % 5 - 2) + 500.0 * std::sin(7.0 * k),
                        .latitude_deg = 45.0 + 0.036 * (k / 5),
                        .longitude_deg = -122.0 + 0.05 * (k % 5),
                        .x_m = 4e3 * (k / 5 - 2) + 500.0 * std::cos(5.0 * k)});
  std::vector<double> frequencies;
  for (int k = 0; k < 8; ++k) frequencies.push_back(100.0 * std::pow(10.0, -4.0 * k / 7.0));
  std::vector<mt::Datum> quantities;
  for (const mt::Element element : mt::all_elements) {
    if (mt::is_interstation(element)) continue;
    quantities.push_back(mt::real_part_of(element));
    quantities.push_back(mt::partner_of(mt::real_part_of(element)));
  }
  return mt::full_survey(stations, frequencies, quantities);
}

}  // namespace

inversion::Outcome synthetic_volume(double hill_m) {
  inversion::Outcome result{.model = volume_model(hill_m)};
  result.start = Eigen::VectorXd::Constant(result.model.earth.grid.n_cells(), 2.0);
  mt::Observations data;
  data.survey = map_survey();
  const auto n = static_cast<Eigen::Index>(data.survey.keys.size());
  data.value.resize(n);
  data.sigma.resize(n);
  result.predicted.resize(n);
  const core::Philox random(11);
  for (Eigen::Index k = 0; k < n; ++k) {
    const mt::DatumKey& key = data.survey.keys[static_cast<std::size_t>(k)];
    const mt::Station& at = data.survey.stations[static_cast<std::size_t>(key.station)];
    const bool is_tipper = mt::rule_of(key.quantity).floor == mt::FloorKind::tipper;
    const double size = is_tipper ? 1.0 : 1e-2;  // a layered earth is of no use to the pictures
    result.predicted[k] = size * (0.1 * std::sin(at.x_m / 3e3) + 0.2 * std::cos(at.y_m / 5e3));
    data.sigma[k] = 0.02 * size;
    const double misfit = key.station == 12 ? 3.0 : 1.1;
    data.value[k] =
        result.predicted[k] + misfit * data.sigma[k] * random.normal(static_cast<std::uint64_t>(k));
    data.reason.push_back(k % 29 == 5 ? mt::MaskReason::listed : mt::MaskReason::kept);
    data.interpolated.push_back(0);
  }
  result.data = data.data_set();
  mt::Profile places = mt::profile_along({});
  for (const mt::Station& station : data.survey.stations) places.offset_m.push_back(station.x_m);
  result.sites = inversion::mt::site_table(data.survey.stations, places);
  add_run(result);
  result.about.title = "Synthetic volume";
  return result;
}

inversion::Outcome layers_of_density() {
  inversion::Outcome result{.about = {.title = "Layers"},
                            .model = {{mesh::TensorGrid::layers(10.0, 1.5, 5)},
                                      {"density", "kg/m3", mesh::Scale::linear},
                                      Eigen::VectorXd::LinSpaced(5, 2400.0, 2900.0)},
                            .start = Eigen::VectorXd::Constant(5, 2500.0)};
  result.predicted = Eigen::VectorXd::LinSpaced(7, 0.0, 6.0);
  Eigen::VectorXd observed = result.predicted.array() + 0.5;
  std::vector<int> reason(7);
  reason[2] = 1;
  observed[2] = std::nan("");
  result.data = core::DataSet({.observed = observed,
                               .sigma = Eigen::VectorXd::Constant(7, 0.25),
                               .reason = reason,
                               .reasons = {"used", "missing"}});
  result.ending.rms = 2.0;
  return result;
}

}  // namespace lodestone::test
