// SPDX-License-Identifier: Apache-2.0
#include "io/run/version_1.hpp"

#include "engine/core/error.hpp"
#include "inversion/mt/distortion.hpp"
#include "inversion/mt/tables.hpp"

#include <cmath>
#include <utility>

namespace lodestone::io::run {

namespace mt = physics::mt;
namespace optimize = inversion::optimize;

namespace {

/// Every column of a table must have the same length.
void require_size(const std::string& name, std::size_t got, std::size_t expected) {
  if (got != expected)
    throw core::FormatError("io::run::read_result#wrong_size", "array \"{}\": expected {} entries, got {}",
                            name, expected, got);
}

std::vector<double> column(const core::ArraySource& source, const std::string& name, std::size_t n) {
  std::vector<double> values = core::read_doubles(source, name);
  require_size(name, values.size(), n);
  return values;
}

std::vector<std::int64_t> integer_column(const core::ArraySource& source, const std::string& name,
                                         std::size_t n) {
  std::vector<std::int64_t> values = core::read_integers(source, name);
  require_size(name, values.size(), n);
  return values;
}

std::vector<std::uint8_t> code_column(const core::ArraySource& source, const std::string& name, std::size_t n,
                                      int n_codes) {
  std::vector<std::uint8_t> codes = core::read_bytes(source, name);
  require_size(name, codes.size(), n);
  for (const std::uint8_t code : codes) {
    if (code >= n_codes) {
      throw core::FormatError("io::run::read_result#unknown_code",
                              "array \"{}\": expected codes below {}, got {}", name, n_codes, code);
    }
  }
  return codes;
}

std::vector<std::string> text_column(const core::ArraySource& source, const std::string& name,
                                     std::size_t n) {
  std::vector<std::string> texts = core::read_texts(source, name);
  require_size(name, texts.size(), n);
  return texts;
}

std::string one_text(const core::ArraySource& source, const std::string& name) {
  return text_column(source, name, 1)[0];
}

int count_of(const core::ArraySource& source, const std::string& name) {
  const double value = core::read_number(source, name);
  if (!(value >= 0.0 && value <= 1e6) || value != std::floor(value))
    throw core::FormatError("io::run::read_result#no_count", "array \"{}\": expected a count, got {}", name,
                            value);
  return static_cast<int>(value);
}

/// Reads a number that older files of version 1 lack.
double number_or(const core::ArraySource& source, const std::string& name, double otherwise) {
  return source.contains(name) ? core::read_number(source, name) : otherwise;
}

core::Facts read_facts(const core::ArraySource& source, const std::string& group) {
  const std::vector<std::string> names = core::read_texts(source, group + "/name");
  const std::vector<std::string> values = text_column(source, group + "/value", names.size());
  core::Facts pairs;
  for (std::size_t k = 0; k < names.size(); ++k) {
    pairs.emplace_back(names[k], values[k]);
  }
  return pairs;
}

core::Provenance read_provenance(const core::ArraySource& source) {
  core::Provenance provenance;
  provenance.version = source.attribute("provenance", "version");
  provenance.command_line = one_text(source, "provenance/command_line");
  provenance.started_utc = source.attribute("provenance", "started_utc");
  provenance.finished_utc = source.attribute("provenance", "finished_utc");
  provenance.build = read_facts(source, "provenance/build");
  provenance.host = read_facts(source, "provenance/host");
  return provenance;
}

std::vector<mt::Station> read_stations(const core::ArraySource& source) {
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

std::vector<mt::DatumKey> read_keys(const core::ArraySource& source, std::size_t n_frequencies,
                                    std::size_t n_stations) {
  const std::vector<std::int64_t> frequency = core::read_integers(source, "data/frequency");
  const auto station = integer_column(source, "data/station", frequency.size());
  const auto quantity =
      code_column(source, "data/quantity", frequency.size(), static_cast<int>(mt::n_datum_rows));
  std::vector<mt::DatumKey> keys;
  for (std::size_t k = 0; k < frequency.size(); ++k) {
    if (frequency[k] < 0 || frequency[k] >= static_cast<std::int64_t>(n_frequencies) || station[k] < 0 ||
        station[k] >= static_cast<std::int64_t>(n_stations)) {
      throw core::FormatError("io::run::read_result#datum_outside",
                              "datum {}: expected a frequency below {} and a station below {}, got {} and {}",
                              k, n_frequencies, n_stations, frequency[k], station[k]);
    }
    keys.push_back(
        {static_cast<mt::Datum>(quantity[k]), static_cast<int>(frequency[k]), static_cast<int>(station[k])});
  }
  return keys;
}

Eigen::VectorXd values(const core::ArraySource& source, const std::string& name, std::size_t n) {
  const std::vector<double> read = column(source, name, n);
  return Eigen::Map<const Eigen::VectorXd>(read.data(), static_cast<Eigen::Index>(read.size()));
}

mt::Observations read_data(const core::ArraySource& source) {
  mt::Observations data;
  data.survey.stations = read_stations(source);
  data.survey.frequencies_hz = core::read_doubles(source, "survey/frequency_hz");
  data.survey.keys = read_keys(source, data.survey.frequencies_hz.size(), data.survey.stations.size());
  const std::size_t n = data.survey.keys.size();
  for (const std::uint8_t code :
       code_column(source, "data/mask", n, static_cast<int>(mt::MaskReason::bad_error) + 1))
    data.reason.push_back(static_cast<mt::MaskReason>(code));
  data.interpolated = code_column(source, "data/interpolated", n, 2);
  data.value = values(source, "data/observed", n);
  data.sigma = values(source, "data/sigma", n);
  return data;
}

mt::ErrorFloors read_floors(const core::ArraySource& source) {
  return {.impedance_relative = core::read_number(source, "data/floor/impedance_relative"),
          .log10_rho = core::read_number(source, "data/floor/log10_rho"),
          .phase_deg = core::read_number(source, "data/floor/phase_deg"),
          .tipper_absolute = core::read_number(source, "data/floor/tipper_absolute")};
}

/// Puts the shifts behind the cells, as further unknowns, and into a table.
void read_static_shifts(const core::ArraySource& source, const std::vector<mt::Station>& stations,
                        inversion::Outcome& out) {
  if (!source.contains("static_shift/decades")) return;
  const std::vector<double> decades = core::read_doubles(source, "static_shift/decades");
  const auto mode = code_column(source, "static_shift/mode", decades.size(), 2);
  const auto station = integer_column(source, "static_shift/station", decades.size());
  mt::DistortionUnknowns shifts;
  for (std::size_t k = 0; k < decades.size(); ++k) {
    if (station[k] < 0 || station[k] >= std::ssize(stations))
      throw core::FormatError("io::run::read_result#shift_outside",
                              "static shift {}: expected a station below {}, got {}", k, stations.size(),
                              station[k]);
    shifts.keys.push_back({static_cast<int>(station[k]), mode[k], mode[k]});  // TE is the row of x
  }
  out.further = Eigen::Map<const Eigen::VectorXd>(decades.data(), std::ssize(decades));
  const double sigma = core::read_number(source, "static_shift/sigma_decades");
  out.tables.push_back(inversion::mt::distortion_table(stations, {std::move(shifts), sigma}, out.further));
}

mt::Profile read_profile(const core::ArraySource& source, const std::vector<mt::Station>& stations) {
  mt::Profile profile;
  profile.azimuth_deg = core::read_number(source, "profile/azimuth_deg");
  profile.origin = {core::read_number(source, "profile/origin_north_m"),
                    core::read_number(source, "profile/origin_east_m")};
  profile.origin_latitude_deg = core::read_number(source, "profile/origin_latitude_deg");
  profile.origin_longitude_deg = core::read_number(source, "profile/origin_longitude_deg");
  profile.projection = source.attribute("profile", "projection");
  for (const mt::Station& station : stations) profile.y_m.push_back(station.y_m);
  const std::vector<double> north = core::read_doubles(source, "profile/station_north_m");
  const std::vector<double> east = column(source, "profile/station_east_m", north.size());
  if (!north.empty()) require_size("profile/station_north_m", north.size(), stations.size());
  for (std::size_t k = 0; k < north.size(); ++k) profile.points.push_back({north[k], east[k]});
  profile.offset_m = core::read_doubles(source, "profile/station_offset_m");
  if (!profile.offset_m.empty())
    require_size("profile/station_offset_m", profile.offset_m.size(), stations.size());
  return profile;
}

mt::d2::BandMesh read_mesh(const core::ArraySource& source, const std::string& group) {
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
  const int n_air = count_of(source, group + "/n_air"),
            n_sea = has_sea ? count_of(source, group + "/n_sea") : 0;
  const double order = number_or(source, group + "/order", 1.0);
  if (order != 1.0 && order != 2.0)
    throw core::FormatError("io::run::read_result#wrong_order", "array \"{}/order\": expected 1 or 2, got {}",
                            group, order);
  return {
      .frequencies = std::vector<int>(stored.begin(), stored.end()),
      .mesh = physics::fem::QuadMesh(y, lines, n_air, n_sea),
      .perfect_conductor_below = core::read_number(source, group + "/perfect_conductor_below") != 0.0,
      .order = static_cast<int>(order),
      .sea_resistivity_ohm_m = has_sea ? core::read_number(source, group + "/sea_resistivity_ohm_m") : 0.0,
      .coarsened = number_or(source, group + "/coarsened", 1.0)};
}

mt::d2::MeshSet read_meshes(const core::ArraySource& source) {
  mt::d2::MeshSet meshes;
  const int n = count_of(source, "meshes/count");
  for (int k = 0; k < n; ++k) {
    meshes.bands.push_back(read_mesh(source, fmt::format("meshes/band_{:03}", k)));
  }
  return meshes;
}

mt::Certificate read_certificate(const core::ArraySource& source) {
  mt::Certificate certificate;
  const std::vector<std::string> check = core::read_texts(source, "certificate/check");
  const auto where = text_column(source, "certificate/where", check.size());
  const auto rho = column(source, "certificate/rho_a_percent", check.size());
  const auto phase = column(source, "certificate/phase_deg", check.size());
  const auto passed = integer_column(source, "certificate/passed", check.size());
  const mt::ResponseError tolerance{core::read_number(source, "certificate/tolerance_rho_a_percent"),
                                    core::read_number(source, "certificate/tolerance_phase_deg")};
  for (std::size_t k = 0; k < check.size(); ++k)
    certificate.rows.push_back({check[k], {rho[k], phase[k]}, where[k], passed[k] != 0, tolerance});
  certificate.passed = core::read_number(source, "certificate/all_passed") != 0.0;
  return certificate;
}

std::vector<optimize::StagedRecord> read_history(const core::ArraySource& source) {
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
  std::vector<std::string> stage(n, optimize::StagedRecord{}.stage);
  if (source.contains("history/stage"))
    stage = text_column(source, "history/stage", n);  // files of version 1 had no stages at first
  std::vector<optimize::StagedRecord> history;
  for (std::size_t k = 0; k < n; ++k) {
    history.push_back({{.iteration = static_cast<int>(iteration[k]),
                        .kind = core::parse<optimize::StepKind, core::FormatError>(
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

inversion::About read_about(const core::ArraySource& source) {
  return {.title = source.attribute("", "title"),
          .configuration = one_text(source, "configuration/toml"),
          .provenance = read_provenance(source)};
}

void read_models(const core::ArraySource& source, inversion::Outcome& out) {
  out.model.earth = physics::mesh::read_earth(source);
  const physics::mesh::TensorGrid& grid = out.model.earth.grid;
  out.model.values = physics::mesh::read_cells(source, "model/log10_resistivity", grid);
  out.start = physics::mesh::read_cells(source, "model/start_log10_resistivity", grid);
  out.findings.prior = inversion::prior::read_findings(source, grid);
  out.findings.uncertainty = inversion::uncertainty::read_findings(source, grid);
}

void read_summary(const core::ArraySource& source, inversion::Outcome& out) {
  out.history = read_history(source);
  out.ending.rms = core::read_number(source, "summary/rms");
  out.ending.target_rms = core::read_number(source, "summary/target_rms");
  out.ending.message = source.attribute("summary", "stop_message");
  const std::string reason = source.attribute("summary", "stop_reason");
  if (!reason.empty())  // soundings had none
    out.ending.reason = core::parse<optimize::StopReason, core::FormatError>(
        reason, source.location() + ": summary@stop_reason");
}

}  // namespace

inversion::Outcome read_version_1(const core::ArraySource& source) {
  inversion::Outcome out{.about = read_about(source)};
  read_models(source, out);

  // Data, and the place of the stations
  const mt::Observations data = read_data(source);
  const std::vector<mt::Station>& stations = data.survey.stations;
  out.data = data.data_set();
  out.predicted = values(source, "data/predicted", data.survey.keys.size());
  mt::Profile profile = read_profile(source, stations);
  profile.distance = core::parse<mt::Distance, core::FormatError>(source.attribute("profile", "distance"),
                                                                  source.location() + ": profile@distance");
  out.sites = inversion::mt::site_table(stations, profile);
  out.frame = inversion::mt::frame_of(profile, number_or(source, "profile/datum_elevation_m", 0.0));
  out.about.facts = inversion::mt::facts_of(read_floors(source), profile);

  // Tables beside the model
  read_static_shifts(source, stations, out);
  const mt::d2::MeshSet meshes = read_meshes(source);
  if (!meshes.bands.empty()) out.tables.push_back(inversion::mt::mesh_table(meshes));
  const mt::Certificate certificate = read_certificate(source);
  if (!certificate.rows.empty()) out.tables.push_back(inversion::mt::certificate_table(certificate));
  read_summary(source, out);
  return out;
}

}  // namespace lodestone::io::run
