// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/run/layout.hpp"
#include "io/run/residuals.hpp"
#include "io/run/result.hpp"

#include <algorithm>

namespace lodestone::io::run {

namespace mt = physics::mt;

namespace {

using TextPairs = std::vector<std::pair<std::string, std::string>>;

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

void check(const InversionResult& result) {
  const Eigen::Index n_cells = result.earth.grid.n_cells();
  for (const auto& [name, size] : {std::pair{"final", result.log10_resistivity.size()},
                                   std::pair{"start", result.start_log10_resistivity.size()}}) {
    if (size != n_cells) {
      throw core::ShapeError("io::write_result", "expected {} values in the {} model, got {}", n_cells, name,
                             size);
    }
  }
  if (result.learned_prior) check(*result.learned_prior, n_cells);
  if (result.uncertainty) check(*result.uncertainty, n_cells);
  const std::size_t n_stations = result.data.survey.stations.size();
  for (const std::size_t size : {result.profile.stations.size(), result.profile.offset_m.size()}) {
    if (size != 0 && size != n_stations) {
      throw core::ShapeError(
          "io::write_result",
          "expected {} station positions and offsets in the profile geometry (or none), got {}", n_stations,
          size);
    }
  }
  if (!result.data.interpolated.empty() &&
      result.data.interpolated.size() != result.data.survey.keys.size()) {
    throw core::ShapeError("io::write_result", "expected {} interpolation flags (or none), got {}",
                           result.data.survey.keys.size(), result.data.interpolated.size());
  }
}

/// One member of every item as an array.
template <class Item, class Get>
void write_column(hdf5::Hdf5Sink& sink, const std::string& name, const std::vector<Item>& items,
                  const std::string& units, Get get) {
  std::vector<double> values(items.size());
  std::transform(items.begin(), items.end(), values.begin(),
                 [&](const Item& item) { return static_cast<double>(get(item)); });
  layout::write_values(sink, name, values, units);
}

template <class Item, class Get>
void write_integer_column(hdf5::Hdf5Sink& sink, const std::string& name, const std::vector<Item>& items,
                          Get get) {
  std::vector<std::int64_t> values(items.size());
  std::transform(items.begin(), items.end(), values.begin(),
                 [&](const Item& item) { return static_cast<std::int64_t>(get(item)); });
  core::write_vector(sink, name, std::span<const std::int64_t>(values));
}

template <class Item, class Get>
void write_text_column(hdf5::Hdf5Sink& sink, const std::string& name, const std::vector<Item>& items,
                       Get get) {
  std::vector<std::string> texts(items.size());
  std::transform(items.begin(), items.end(), texts.begin(), get);
  sink.texts(name, texts);
}

void write_pairs(hdf5::Hdf5Sink& sink, const std::string& group, const TextPairs& pairs) {
  write_text_column(sink, group + "/name", pairs, [](const auto& pair) { return pair.first; });
  write_text_column(sink, group + "/value", pairs, [](const auto& pair) { return pair.second; });
}

void write_provenance(hdf5::Hdf5Sink& sink, const InversionResult& result) {
  const Provenance& provenance = result.provenance;
  sink.texts("configuration/toml", {result.configuration_toml});
  sink.texts("provenance/command_line", {provenance.command_line});
  sink.attribute("provenance", "version", provenance.version);
  sink.attribute("provenance", "started_utc", provenance.started_utc);
  sink.attribute("provenance", "finished_utc", provenance.finished_utc);
  write_pairs(sink, "provenance/build", provenance.build);
  write_pairs(sink, "provenance/host", provenance.host);
}

void write_survey(hdf5::Hdf5Sink& sink, const mt::Survey& survey) {
  const std::string group = "survey/station/";
  write_text_column(sink, group + "name", survey.stations, [](const mt::Station& s) { return s.name; });
  write_column(sink, group + "y_m", survey.stations, "m", [](const mt::Station& s) { return s.y_m; });
  write_column(sink, group + "latitude_deg", survey.stations, "degree",
               [](const mt::Station& s) { return s.latitude_deg; });
  write_column(sink, group + "longitude_deg", survey.stations, "degree",
               [](const mt::Station& s) { return s.longitude_deg; });
  write_column(sink, group + "elevation_m", survey.stations, "m",
               [](const mt::Station& s) { return s.elevation_m; });
  write_text_column(sink, group + "definition", survey.stations,
                    [](const mt::Station& s) { return std::string(core::word(s.definition)); });
  layout::write_values(sink, "survey/frequency_hz", survey.frequencies_hz, "Hz");
}

void write_codes(hdf5::Hdf5Sink& sink, const std::string& name, const std::vector<std::uint8_t>& codes,
                 const std::vector<std::string>& meaning) {
  core::write_vector(sink, name, std::span<const std::uint8_t>(codes));
  std::string text;
  for (std::size_t k = 0; k < meaning.size(); ++k) {
    text += fmt::format("{}{} = {}", k == 0 ? "" : ", ", k, meaning[k]);
  }
  sink.attribute(name, "codes", text);
}

void write_data_keys(hdf5::Hdf5Sink& sink, const mt::ObservedData& data) {
  std::vector<std::uint8_t> quantity, mask;
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k) {
    quantity.push_back(static_cast<std::uint8_t>(data.survey.keys[k].quantity));
    mask.push_back(static_cast<std::uint8_t>(data.mask[k]));
  }
  std::vector<std::string> quantities, reasons;
  for (const mt::DatumRule& rule : mt::datum_rules())
    quantities.push_back(fmt::format("{} ({})", rule.name, rule.units));
  for (int code = 0; code <= static_cast<int>(mt::MaskReason::bad_error); ++code) {
    reasons.emplace_back(core::word(static_cast<mt::MaskReason>(code)));
  }
  write_codes(sink, "data/quantity", quantity, quantities);
  write_codes(sink, "data/mask", mask, reasons);
  write_integer_column(sink, "data/frequency", data.survey.keys,
                       [](const mt::DatumKey& key) { return key.frequency; });
  write_integer_column(sink, "data/station", data.survey.keys,
                       [](const mt::DatumKey& key) { return key.station; });
  const std::vector<std::uint8_t> none(data.survey.keys.size(), 0);
  write_codes(sink, "data/interpolated", data.interpolated.empty() ? none : data.interpolated,
              {"measured", "interpolated"});
}

void write_data(hdf5::Hdf5Sink& sink, const InversionResult& result) {
  const Eigen::VectorXd residual = normalized_residuals(result.data, result.predicted);
  write_data_keys(sink, result.data);
  layout::write_values(sink, "data/observed", span_of(result.data.value), "see data/quantity");
  layout::write_values(sink, "data/sigma", span_of(result.data.sigma), "see data/quantity");
  layout::write_values(sink, "data/predicted", span_of(result.predicted), "see data/quantity");
  layout::write_values(sink, "data/normalised_residual", span_of(residual), "1");
  layout::write_scalar(sink, "data/floor/impedance_relative", result.floors.impedance_relative, "1");
  layout::write_scalar(sink, "data/floor/log10_rho", result.floors.log10_rho, "log10(ohm m)");
  layout::write_scalar(sink, "data/floor/phase_deg", result.floors.phase_deg, "degree");
  layout::write_scalar(sink, "data/floor/tipper_absolute", result.floors.tipper_absolute, "1");
}

void write_static_shifts(hdf5::Hdf5Sink& sink, const InversionResult& result) {
  if (result.static_shifts.empty()) return;
  std::vector<std::uint8_t> modes;
  for (const StaticShift& shift : result.static_shifts)
    modes.push_back(static_cast<std::uint8_t>(shift.mode));
  write_codes(sink, "static_shift/mode", modes, {"TE", "TM"});
  write_integer_column(sink, "static_shift/station", result.static_shifts,
                       [](const StaticShift& shift) { return shift.station; });
  write_column(sink, "static_shift/decades", result.static_shifts, "log10(ohm m)",
               [](const StaticShift& shift) { return shift.decades; });
  layout::write_scalar(sink, "static_shift/sigma_decades", result.static_shift_sigma_decades, "log10(ohm m)");
}

void write_profile(hdf5::Hdf5Sink& sink, const ProfileGeometry& profile) {
  layout::write_scalar(sink, "profile/azimuth_deg", profile.azimuth_deg, "degree");
  layout::write_scalar(sink, "profile/origin_north_m", profile.origin.north_m, "m");
  layout::write_scalar(sink, "profile/origin_east_m", profile.origin.east_m, "m");
  layout::write_scalar(sink, "profile/origin_latitude_deg", profile.origin_latitude_deg, "degree");
  layout::write_scalar(sink, "profile/origin_longitude_deg", profile.origin_longitude_deg, "degree");
  layout::write_scalar(sink, "profile/datum_elevation_m", profile.datum_elevation_m, "m");
  sink.attribute("profile", "projection", profile.projection);
  sink.attribute("profile", "distance", profile.distance);
  write_column(sink, "profile/station_north_m", profile.stations, "m",
               [](const mt::PlanePoint& p) { return p.north_m; });
  write_column(sink, "profile/station_east_m", profile.stations, "m",
               [](const mt::PlanePoint& p) { return p.east_m; });
  layout::write_values(sink, "profile/station_offset_m", profile.offset_m, "m");
}

void write_mesh(hdf5::Hdf5Sink& sink, const std::string& group, const mt::d2::BandMesh& band) {
  const physics::fem::QuadMesh& mesh = band.mesh;
  std::vector<double> z_m;
  for (int iy = 0; iy <= mesh.n_y(); ++iy) {
    for (int iz = 0; iz <= mesh.n_z(); ++iz) {
      z_m.push_back(mesh.z(iz, iy));
    }
  }
  layout::write_values(sink, group + "/y_m", mesh.lines_m(), "m");
  sink.write(group + "/z_m", {core::DType::f64, {mesh.n_y() + 1, mesh.n_z() + 1}},
             std::as_bytes(std::span(z_m)));
  sink.attribute(group + "/z_m", "units", "m");
  layout::write_scalar(sink, group + "/n_air", mesh.n_air());
  layout::write_scalar(sink, group + "/perfect_conductor_below", band.perfect_conductor_below ? 1.0 : 0.0);
  layout::write_scalar(sink, group + "/order", band.order);
  layout::write_scalar(sink, group + "/coarsened", band.coarsened, "1");
  if (mesh.n_sea() > 0) {
    layout::write_scalar(sink, group + "/n_sea", mesh.n_sea());
    layout::write_scalar(sink, group + "/sea_resistivity_ohm_m", band.sea_resistivity_ohm_m, "ohm m");
  }
  write_integer_column(sink, group + "/frequency", band.frequencies, [](int f) { return f; });
}

void write_meshes(hdf5::Hdf5Sink& sink, const mt::d2::MeshSet& meshes) {
  layout::write_scalar(sink, "meshes/count", static_cast<double>(meshes.bands.size()));
  sink.attribute("meshes", "summary", meshes.bands.empty() ? "" : meshes.summary());
  for (std::size_t k = 0; k < meshes.bands.size(); ++k) {
    write_mesh(sink, fmt::format("meshes/band_{:03}", k), meshes.bands[k]);
  }
}

void write_certificate(hdf5::Hdf5Sink& sink, const mt::d2::Certificate& certificate) {
  using Row = mt::d2::CertificateRow;
  layout::write_scalar(sink, "certificate/tolerance_rho_a_percent", certificate.tolerance.rho_a_percent,
                       "percent");
  layout::write_scalar(sink, "certificate/tolerance_phase_deg", certificate.tolerance.phase_deg, "degree");
  layout::write_scalar(sink, "certificate/all_passed", certificate.passed ? 1.0 : 0.0);
  write_text_column(sink, "certificate/check", certificate.rows, [](const Row& row) { return row.check; });
  write_text_column(sink, "certificate/where", certificate.rows, [](const Row& row) { return row.where; });
  write_column(sink, "certificate/rho_a_percent", certificate.rows, "percent",
               [](const Row& row) { return row.worst.rho_a_percent; });
  write_column(sink, "certificate/phase_deg", certificate.rows, "degree",
               [](const Row& row) { return row.worst.phase_deg; });
  write_integer_column(sink, "certificate/passed", certificate.rows,
                       [](const Row& row) { return row.passed ? 1 : 0; });
}

void write_history(hdf5::Hdf5Sink& sink, const std::vector<inversion::optimize::StagedRecord>& history) {
  using Row = inversion::optimize::StagedRecord;
  write_integer_column(sink, "history/iteration", history, [](const Row& row) { return row.iteration; });
  write_text_column(sink, "history/kind", history,
                    [](const Row& row) { return std::string(core::word(row.kind)); });
  write_column(sink, "history/lambda", history, "", [](const Row& row) { return row.lambda; });
  write_column(sink, "history/rms", history, "1", [](const Row& row) { return row.rms; });
  write_column(sink, "history/roughness", history, "", [](const Row& row) { return row.roughness; });
  write_column(sink, "history/step", history, "1", [](const Row& row) { return row.step; });
  write_column(sink, "history/rms_at_start", history, "1", [](const Row& row) { return row.rms_at_start; });
  write_integer_column(sink, "history/n_forward", history, [](const Row& row) { return row.n_forward; });
  write_integer_column(sink, "history/n_jacobian", history, [](const Row& row) { return row.n_jacobian; });
  write_column(sink, "history/seconds", history, "s", [](const Row& row) { return row.seconds; });
  write_text_column(sink, "history/stage", history, [](const Row& row) { return row.stage; });
}

}  // namespace

physics::mesh::Model InversionResult::section() const {
  return physics::mesh::resistivity_model(earth, Eigen::pow(10.0, log10_resistivity.array()));
}

void write_result(const std::filesystem::path& path, const InversionResult& result) {
  check(result);
  hdf5::Hdf5Sink sink(path);
  layout::write_header(sink, layout::result_format);
  sink.attribute("", "title", result.title);
  write_provenance(sink, result);
  write_survey(sink, result.data.survey);
  write_data(sink, result);
  physics::mesh::write(sink, result.earth);
  layout::write_cells(sink, "model/log10_resistivity", result.log10_resistivity, result.earth.grid.n_z(),
                      result.earth.grid.n_y(), "log10(ohm m)");
  layout::write_cells(sink, "model/start_log10_resistivity", result.start_log10_resistivity,
                      result.earth.grid.n_z(), result.earth.grid.n_y(), "log10(ohm m)");
  write_static_shifts(sink, result);
  if (result.learned_prior) layout::write_learned_prior(sink, *result.learned_prior, result.earth.grid);
  if (result.uncertainty) layout::write_uncertainty(sink, *result.uncertainty, result.earth.grid);
  write_profile(sink, result.profile);
  write_meshes(sink, result.meshes);
  write_certificate(sink, result.certificate);
  write_history(sink, result.history);
  layout::write_scalar(sink, "summary/rms", result.rms, "1");
  layout::write_scalar(sink, "summary/target_rms", result.target_rms, "1");
  sink.attribute("summary", "stop_reason", result.stop_reason);
  sink.attribute("summary", "stop_message", result.stop_message);
  sink.commit();
}

}  // namespace lodestone::io::run
