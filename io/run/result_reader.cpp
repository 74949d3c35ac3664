// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/run/layout.hpp"
#include "io/run/result.hpp"

#include <cmath>

namespace lodestone::io::run {

namespace mt = physics::mt;

namespace {

/// Every column of a table must have the same length.
void require_size(const std::string& name, std::size_t got, std::size_t expected) {
  if (got != expected) {
    throw core::FormatError("io::read_result", "array '{}': expected {} entries, got {}", name, expected,
                            got);
  }
}

std::vector<double> column(const hdf5::Hdf5Source& source, const std::string& name, std::size_t n) {
  std::vector<double> values = core::read_doubles(source, name);
  require_size(name, values.size(), n);
  return values;
}

std::vector<std::int64_t> integer_column(const hdf5::Hdf5Source& source, const std::string& name,
                                         std::size_t n) {
  std::vector<std::int64_t> values = core::read_integers(source, name);
  require_size(name, values.size(), n);
  return values;
}

std::vector<std::uint8_t> code_column(const hdf5::Hdf5Source& source, const std::string& name, std::size_t n,
                                      int n_codes) {
  std::vector<std::uint8_t> codes = core::read_bytes(source, name);
  require_size(name, codes.size(), n);
  for (const std::uint8_t code : codes) {
    if (code >= n_codes) {
      throw core::FormatError("io::read_result", "array '{}': expected codes below {}, got {}", name, n_codes,
                              code);
    }
  }
  return codes;
}

std::vector<std::string> text_column(const hdf5::Hdf5Source& source, const std::string& name, std::size_t n) {
  std::vector<std::string> texts = core::read_texts(source, name);
  require_size(name, texts.size(), n);
  return texts;
}

std::string one_text(const hdf5::Hdf5Source& source, const std::string& name) {
  return text_column(source, name, 1)[0];
}

int small_count(const hdf5::Hdf5Source& source, const std::string& name) {
  const double value = layout::read_scalar(source, name);
  if (!(value >= 0.0 && value <= 1e6) || value != std::floor(value)) {
    throw core::FormatError("io::read_result", "array '{}': expected a count, got {}", name, value);
  }
  return static_cast<int>(value);
}

/// Reads a number that older files of version 1 lack.
double scalar_or(const hdf5::Hdf5Source& source, const std::string& name, double otherwise) {
  return source.contains(name) ? layout::read_scalar(source, name) : otherwise;
}

std::vector<std::pair<std::string, std::string>> read_pairs(const hdf5::Hdf5Source& source,
                                                            const std::string& group) {
  const std::vector<std::string> names = core::read_texts(source, group + "/name");
  const std::vector<std::string> values = text_column(source, group + "/value", names.size());
  std::vector<std::pair<std::string, std::string>> pairs;
  for (std::size_t k = 0; k < names.size(); ++k) {
    pairs.emplace_back(names[k], values[k]);
  }
  return pairs;
}

Provenance read_provenance(const hdf5::Hdf5Source& source) {
  Provenance provenance;
  provenance.version = source.attribute("provenance", "version");
  provenance.command_line = one_text(source, "provenance/command_line");
  provenance.started_utc = source.attribute("provenance", "started_utc");
  provenance.finished_utc = source.attribute("provenance", "finished_utc");
  provenance.build = read_pairs(source, "provenance/build");
  provenance.host = read_pairs(source, "provenance/host");
  return provenance;
}

std::vector<mt::Station> read_stations(const hdf5::Hdf5Source& source) {
  const std::string group = "survey/station/";
  const std::vector<std::string> names = core::read_texts(source, group + "name");
  const auto y = column(source, group + "y_m", names.size());
  const auto latitude = column(source, group + "latitude_deg", names.size());
  const auto longitude = column(source, group + "longitude_deg", names.size());
  const auto elevation = column(source, group + "elevation_m", names.size());
  std::vector<std::string> definition(names.size(), std::string(core::word(mt::Definition::horizontal)));
  if (source.contains(group + "definition"))  // older files lack it
    definition = text_column(source, group + "definition", names.size());
  std::vector<mt::Station> stations;
  for (std::size_t k = 0; k < names.size(); ++k) {
    stations.push_back({names[k], y[k], latitude[k], longitude[k], elevation[k],
                        core::parse<mt::Definition, core::FormatError>(
                            definition[k], source.location() + ": " + group + "definition")});
  }
  return stations;
}

std::vector<mt::DatumKey> read_keys(const hdf5::Hdf5Source& source, std::size_t n_frequencies,
                                    std::size_t n_stations) {
  const std::vector<std::int64_t> frequency = core::read_integers(source, "data/frequency");
  const auto station = integer_column(source, "data/station", frequency.size());
  const auto quantity =
      code_column(source, "data/quantity", frequency.size(), static_cast<int>(mt::n_datum_rows));
  std::vector<mt::DatumKey> keys;
  for (std::size_t k = 0; k < frequency.size(); ++k) {
    if (frequency[k] < 0 || frequency[k] >= static_cast<std::int64_t>(n_frequencies) || station[k] < 0 ||
        station[k] >= static_cast<std::int64_t>(n_stations)) {
      throw core::FormatError("io::read_result",
                              "datum {}: expected a frequency below {} and a station below {}, got {} and {}",
                              k, n_frequencies, n_stations, frequency[k], station[k]);
    }
    keys.push_back({static_cast<mt::Quantity>(quantity[k]), static_cast<int>(frequency[k]),
                    static_cast<int>(station[k])});
  }
  return keys;
}

Eigen::VectorXd values(const hdf5::Hdf5Source& source, const std::string& name, std::size_t n) {
  const std::vector<double> read = column(source, name, n);
  return Eigen::Map<const Eigen::VectorXd>(read.data(), static_cast<Eigen::Index>(read.size()));
}

void read_data(const hdf5::Hdf5Source& source, InversionResult& result) {
  mt::ObservedData& data = result.data;
  data.survey.stations = read_stations(source);
  data.survey.frequencies_hz = core::read_doubles(source, "survey/frequency_hz");
  data.survey.keys = read_keys(source, data.survey.frequencies_hz.size(), data.survey.stations.size());
  const std::size_t n = data.survey.keys.size();
  for (const std::uint8_t code :
       code_column(source, "data/mask", n, static_cast<int>(mt::MaskReason::bad_error) + 1)) {
    data.mask.push_back(static_cast<mt::MaskReason>(code));
  }
  data.interpolated = code_column(source, "data/interpolated", n, 2);
  data.value = values(source, "data/observed", n);
  data.sigma = values(source, "data/sigma", n);
  result.predicted = values(source, "data/predicted", n);
  result.floors = {layout::read_scalar(source, "data/floor/impedance_relative"),
                   layout::read_scalar(source, "data/floor/log10_rho"),
                   layout::read_scalar(source, "data/floor/phase_deg"),
                   layout::read_scalar(source, "data/floor/tipper_absolute")};
}

void read_static_shifts(const hdf5::Hdf5Source& source, InversionResult& result) {
  if (!source.contains("static_shift/decades")) return;
  const std::vector<double> decades = core::read_doubles(source, "static_shift/decades");
  const auto mode = code_column(source, "static_shift/mode", decades.size(), 2);
  const auto station = integer_column(source, "static_shift/station", decades.size());
  const auto n_stations = static_cast<std::int64_t>(result.data.survey.stations.size());
  for (std::size_t k = 0; k < decades.size(); ++k) {
    if (station[k] < 0 || station[k] >= n_stations) {
      throw core::FormatError("io::read_result", "static shift {}: expected a station below {}, got {}", k,
                              n_stations, station[k]);
    }
    result.static_shifts.push_back(
        {static_cast<mt::Mode>(mode[k]), static_cast<int>(station[k]), decades[k]});
  }
  result.static_shift_sigma_decades = layout::read_scalar(source, "static_shift/sigma_decades");
}

ProfileGeometry read_profile(const hdf5::Hdf5Source& source) {
  ProfileGeometry profile;
  profile.azimuth_deg = layout::read_scalar(source, "profile/azimuth_deg");
  profile.origin = {layout::read_scalar(source, "profile/origin_north_m"),
                    layout::read_scalar(source, "profile/origin_east_m")};
  profile.origin_latitude_deg = layout::read_scalar(source, "profile/origin_latitude_deg");
  profile.origin_longitude_deg = layout::read_scalar(source, "profile/origin_longitude_deg");
  profile.projection = source.attribute("profile", "projection");
  profile.distance = source.attribute("profile", "distance");
  const std::vector<double> north = core::read_doubles(source, "profile/station_north_m");
  const std::vector<double> east = column(source, "profile/station_east_m", north.size());
  for (std::size_t k = 0; k < north.size(); ++k) {
    profile.stations.push_back({north[k], east[k]});
  }
  profile.offset_m = core::read_doubles(source, "profile/station_offset_m");
  profile.datum_elevation_m = scalar_or(source, "profile/datum_elevation_m", profile.datum_elevation_m);
  return profile;
}

mt::d2::BandMesh read_mesh(const hdf5::Hdf5Source& source, const std::string& group) {
  const std::vector<double> y = core::read_doubles(source, group + "/y_m");
  const Eigen::MatrixXd z = core::read_matrix(source, group + "/z_m");
  require_size(group + "/z_m", static_cast<std::size_t>(z.rows()), y.size());
  std::vector<std::vector<double>> lines(y.size(), std::vector<double>(static_cast<std::size_t>(z.cols())));
  for (Eigen::Index iy = 0; iy < z.rows(); ++iy) {
    for (Eigen::Index iz = 0; iz < z.cols(); ++iz) {
      lines[static_cast<std::size_t>(iy)][static_cast<std::size_t>(iz)] = z(iy, iz);
    }
  }
  const std::vector<std::int64_t> stored = core::read_integers(source, group + "/frequency");
  const bool has_sea = source.contains(group + "/n_sea");
  const int n_air = small_count(source, group + "/n_air"),
            n_sea = has_sea ? small_count(source, group + "/n_sea") : 0;
  const double order = scalar_or(source, group + "/order", 1.0);
  if (order != 1.0 && order != 2.0)
    throw core::FormatError("io::read_result", "array '{}/order': expected 1 or 2, got {}", group, order);
  return {
      .frequencies = std::vector<int>(stored.begin(), stored.end()),
      .mesh = physics::fem::QuadMesh(y, lines, n_air, n_sea),
      .perfect_conductor_below = layout::read_scalar(source, group + "/perfect_conductor_below") != 0.0,
      .order = static_cast<int>(order),
      .sea_resistivity_ohm_m = has_sea ? layout::read_scalar(source, group + "/sea_resistivity_ohm_m") : 0.0,
      .coarsened = scalar_or(source, group + "/coarsened", 1.0)};
}

mt::d2::MeshSet read_meshes(const hdf5::Hdf5Source& source) {
  mt::d2::MeshSet meshes;
  const int n = small_count(source, "meshes/count");
  for (int k = 0; k < n; ++k) {
    meshes.bands.push_back(read_mesh(source, fmt::format("meshes/band_{:03}", k)));
  }
  return meshes;
}

mt::d2::Certificate read_certificate(const hdf5::Hdf5Source& source) {
  mt::d2::Certificate certificate;
  const std::vector<std::string> check = core::read_texts(source, "certificate/check");
  const auto where = text_column(source, "certificate/where", check.size());
  const auto rho = column(source, "certificate/rho_a_percent", check.size());
  const auto phase = column(source, "certificate/phase_deg", check.size());
  const auto passed = integer_column(source, "certificate/passed", check.size());
  for (std::size_t k = 0; k < check.size(); ++k) {
    certificate.rows.push_back({check[k], {rho[k], phase[k]}, where[k], passed[k] != 0});
  }
  certificate.tolerance = {layout::read_scalar(source, "certificate/tolerance_rho_a_percent"),
                           layout::read_scalar(source, "certificate/tolerance_phase_deg")};
  certificate.passed = layout::read_scalar(source, "certificate/all_passed") != 0.0;
  return certificate;
}

std::vector<inversion::optimize::StagedRecord> read_history(const hdf5::Hdf5Source& source) {
  const std::vector<std::int64_t> iteration = core::read_integers(source, "history/iteration");
  const std::size_t n = iteration.size();
  const auto kind = text_column(source, "history/kind", n);
  const auto lambda = column(source, "history/lambda", n);
  const auto rms = column(source, "history/rms", n);
  const auto roughness = column(source, "history/roughness", n);
  const auto step = column(source, "history/step", n);
  const auto before = column(source, "history/rms_at_start", n);
  const auto n_forward = integer_column(source, "history/n_forward", n);
  const auto n_jacobian = integer_column(source, "history/n_jacobian", n);
  const auto seconds = column(source, "history/seconds", n);
  std::vector<std::string> stage(n, inversion::optimize::StagedRecord{}.stage);
  if (source.contains("history/stage"))
    stage = text_column(source, "history/stage", n);  // files of version 1 had no stages at first
  std::vector<inversion::optimize::StagedRecord> history;
  for (std::size_t k = 0; k < n; ++k) {
    history.push_back({{.iteration = static_cast<int>(iteration[k]),
                        .kind = core::parse<inversion::optimize::StepKind, core::FormatError>(
                            kind[k], fmt::format("array 'history/kind', row {}", k)),
                        .lambda = lambda[k],
                        .rms = rms[k],
                        .roughness = roughness[k],
                        .step = step[k],
                        .rms_at_start = before[k],
                        .n_forward = static_cast<int>(n_forward[k]),
                        .n_jacobian = static_cast<int>(n_jacobian[k]),
                        .seconds = seconds[k]},
                       stage[k]});
  }
  return history;
}

InversionResult read_all(const hdf5::Hdf5Source& source) {
  InversionResult result;
  result.title = source.attribute("", "title");
  result.configuration_toml = one_text(source, "configuration/toml");
  result.provenance = read_provenance(source);
  read_data(source, result);
  result.earth = physics::mesh::read_earth(source);
  const auto n_cells = static_cast<std::size_t>(result.earth.grid.n_cells());
  result.log10_resistivity = values(source, "model/log10_resistivity", n_cells);
  result.start_log10_resistivity = values(source, "model/start_log10_resistivity", n_cells);
  read_static_shifts(source, result);
  result.learned_prior = layout::read_learned_prior(source, result.earth.grid);
  result.uncertainty = layout::read_uncertainty(source, result.earth.grid);
  result.profile = read_profile(source);
  result.meshes = read_meshes(source);
  result.certificate = read_certificate(source);
  result.history = read_history(source);
  result.rms = layout::read_scalar(source, "summary/rms");
  result.target_rms = layout::read_scalar(source, "summary/target_rms");
  result.stop_reason = source.attribute("summary", "stop_reason");
  result.stop_message = source.attribute("summary", "stop_message");
  return result;
}

}  // namespace

InversionResult read_result(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  layout::require_format(source, path.string(), {layout::result_format});
  try {
    return read_all(source);
  } catch (const core::Error& error) {  // also grids and meshes that their constructors refuse
    throw core::FormatError("io::read_result", "{}: the file is damaged or of another version: {}",
                            path.string(), error.what());
  }
}

}  // namespace lodestone::io::run
