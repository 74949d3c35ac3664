// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/tables.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lodestone::inversion::mt {

namespace mt = physics::mt;

namespace {

using Numbers = core::Table::Numbers;
using Texts = core::Table::Texts;

template <class Item, class Get>
Numbers numbers(const std::vector<Item>& items, Get get) {
  Numbers values;
  for (const Item& item : items) values.push_back(static_cast<double>(get(item)));
  return values;
}

template <class Item, class Get>
Texts texts(const std::vector<Item>& items, Get get) {
  Texts values;
  for (const Item& item : items) values.emplace_back(get(item));
  return values;
}

NamedTable named_meshes(core::Table table) {
  return {.name = "meshes",
          .title = "Forward meshes",
          .note =
              "A mesh per band of frequencies, for the final responses; coarsened: sizes of its cells over "
              "those that the rules ask for.",
          .table = std::move(table)};
}

}  // namespace

core::Table site_table(const std::vector<mt::Station>& stations, const mt::Profile& profile) {
  core::Table table;
  table.add_texts("name", texts(stations, [](const mt::Station& each) { return each.name; }));
  if (profile.offset_m.size() == stations.size()) table.add_numbers("x_m", "m", profile.offset_m);
  table.add_numbers("y_m", "m", numbers(stations, [](const mt::Station& each) { return each.y_m; }));
  table.add_numbers("latitude_deg", "degree",
                    numbers(stations, [](const mt::Station& each) { return each.latitude_deg; }));
  table.add_numbers("longitude_deg", "degree",
                    numbers(stations, [](const mt::Station& each) { return each.longitude_deg; }));
  table.add_numbers("elevation_m", "m",
                    numbers(stations, [](const mt::Station& each) { return each.elevation_m; }));
  table.add_texts("definition",
                  texts(stations, [](const mt::Station& each) { return core::word(each.definition); }));
  return table;
}

physics::mesh::Frame frame_of(const mt::Profile& profile, double elevation_m) {
  physics::mesh::Frame frame{.projection = profile.projection,
                             .origin_north_m = profile.origin.north_m,
                             .origin_east_m = profile.origin.east_m,
                             .azimuth_deg = profile.azimuth_deg,
                             .elevation_m = elevation_m};
  if (profile.distance != mt::Distance::running_sum || profile.points.size() < 2) return frame;
  std::map<double, mt::PlanePoint> along;
  for (std::size_t k = 0; k < profile.points.size(); ++k) along[profile.y_m[k]] = profile.points[k];
  for (const auto& [y_m, place] : along) frame.bends.push_back({y_m, place.north_m, place.east_m});
  return frame;
}

core::Facts facts_of(const mt::ErrorFloors& floors, const mt::Profile& profile) {
  const std::string of_te =
      floors.log10_rho_te ? fmt::format(" ({:.3g} of TE)", *floors.log10_rho_te) : std::string();
  core::Facts facts{
      {"Error floors",
       fmt::format("{:.3g} % of |Z|; {:.3g} in log10 ρₐ{}; {:.3g}° in phase; {:.3g} in tipper",
                   100.0 * floors.impedance_relative, floors.log10_rho, of_te, floors.phase_deg,
                   floors.tipper_absolute)},
      profile.is_map
          ? std::pair<std::string, std::string>{"Map",
                                                fmt::format("x along {:.1f}°, y along {:.1f}°",
                                                            profile.azimuth_deg - 90.0, profile.azimuth_deg)}
          : std::pair<std::string, std::string>{
                "Profile", fmt::format("azimuth {:.1f}° (y), strike x along {:.1f}°; distances {}",
                                       profile.azimuth_deg, std::fmod(profile.azimuth_deg + 270.0, 360.0),
                                       profile.distance == mt::Distance::running_sum
                                           ? "are running sums between stations"
                                           : "projected on the line")}};
  if (!profile.projection.empty())
    facts.emplace_back("Origin",
                       fmt::format("latitude {:.4f}°, longitude {:.4f}° ({})", profile.origin_latitude_deg,
                                   profile.origin_longitude_deg, profile.projection));
  if (profile.is_map) return facts;
  double widest_m = 0.0;
  for (const double offset_m : profile.offset_m) widest_m = std::max(widest_m, std::abs(offset_m));
  if (!profile.offset_m.empty() && !profile.projection.empty())
    facts.emplace_back("Largest distance of a station from the line",
                       fmt::format("{:.2f} km", widest_m / 1e3));
  return facts;
}

NamedTable certificate_table(const mt::Certificate& certificate) {
  using Row = mt::CertificateRow;
  core::Table table;
  table.add_texts("check", texts(certificate.rows, [](const Row& row) { return row.check; }));
  table.add_numbers("rho_a_percent", "percent",
                    numbers(certificate.rows, [](const Row& row) { return row.worst.rho_a_percent; }));
  table.add_numbers("phase_deg", "degree",
                    numbers(certificate.rows, [](const Row& row) { return row.worst.phase_deg; }));
  table.add_numbers("tolerance_rho_a_percent", "percent",
                    numbers(certificate.rows, [](const Row& row) { return row.tolerance.rho_a_percent; }));
  table.add_numbers("tolerance_phase_deg", "degree",
                    numbers(certificate.rows, [](const Row& row) { return row.tolerance.phase_deg; }));
  table.add_texts("where", texts(certificate.rows, [](const Row& row) { return row.where; }));
  table.add_numbers("passed", "", numbers(certificate.rows, [](const Row& row) { return row.passed; }));
  return {
      .name = "certificate",
      .title = "Accuracy of the forward meshes",
      .note = fmt::format("Largest errors over all sites, modes and measured periods; each row is judged by "
                          "its tolerance.{}{}",
                          certificate.note.empty() ? "" : " ", certificate.note),
      .table = std::move(table)};
}

NamedTable mesh_table(const mt::d2::MeshSet& meshes) {
  using Band = mt::d2::BandMesh;
  core::Table table;
  const auto add = [&](const char* name, const char* units, auto get) {
    table.add_numbers(name, units, numbers(meshes.bands, get));
  };
  add("frequencies", "", [](const Band& band) { return band.frequencies.size(); });
  add("columns", "", [](const Band& band) { return band.mesh.n_y(); });
  add("rows", "", [](const Band& band) { return band.mesh.n_earth(); });
  add("sea", "", [](const Band& band) { return band.mesh.n_sea(); });
  add("air", "", [](const Band& band) { return band.mesh.n_air(); });
  add("order", "", [](const Band& band) { return band.order; });
  add("depth_m", "m", [](const Band& band) { return band.mesh.z(band.mesh.n_z(), 0); });
  add("coarsened", "1", [](const Band& band) { return band.coarsened; });
  return named_meshes(std::move(table));
}

NamedTable mesh_table(const mt::d3::MeshSet& meshes) {
  using Band = mt::d3::BandMesh;
  core::Table table;
  const auto add = [&](const char* name, const char* units, auto get) {
    table.add_numbers(name, units, numbers(meshes.bands, get));
  };
  add("frequencies", "", [](const Band& band) { return band.frequencies.size(); });
  add("cells_x", "", [](const Band& band) { return band.grid.n(0); });
  add("cells_y", "", [](const Band& band) { return band.grid.n(1); });
  add("cells_z", "", [](const Band& band) { return band.grid.n(2); });
  add("air", "", [](const Band& band) { return band.ground(); });
  add("edges", "", [](const Band& band) { return band.grid.n_inner_edges(); });
  add("depth_m", "m", [](const Band& band) { return band.grid.lines_m(2).back(); });
  add("coarsened", "1", [](const Band& band) { return band.coarsened; });
  return named_meshes(std::move(table));
}

NamedTable sounding_table(const std::vector<SoundingModel>& models,
                          const std::vector<mt::Station>& stations) {
  const auto station = [&](const SoundingModel& model) {
    return stations[static_cast<std::size_t>(model.station)];
  };
  core::Table table;
  table.add_texts("site", texts(models, [&](const SoundingModel& model) { return station(model).name; }));
  table.add_numbers("y_m", "m",
                    numbers(models, [&](const SoundingModel& model) { return station(model).y_m; }));
  table.add_numbers("rms", "1", numbers(models, [](const SoundingModel& model) { return model.rms; }));
  table.add_numbers("iterations", "",
                    numbers(models, [](const SoundingModel& model) { return model.iterations; }));
  table.add_numbers("at_target", "",
                    numbers(models, [](const SoundingModel& model) { return model.at_target; }));
  return {.name = "soundings",
          .title = "Soundings",
          .note = "A layered earth was inverted for under each site.",
          .table = std::move(table),
          .own_file = true};
}

std::optional<mt::Observations> observations(const core::DataSet& data, const core::Table& sites) {
  const core::Table& key = data.key();
  for (const char* column : {"quantity", "site", "period_s"}) {
    if (!key.has(column)) return {};
  }
  if (!sites.has("name") || !sites.has("y_m")) return {};
  mt::Observations out;
  std::map<std::string, int> station_of;
  for (std::size_t k = 0; k < sites.n_rows(); ++k) {
    mt::Station station{.name = sites.texts("name")[k], .y_m = sites.numbers("y_m")[k]};
    if (sites.has("definition"))
      station.definition =
          core::parse<mt::Definition, core::FormatError>(sites.texts("definition")[k], "sites/definition");
    if (sites.has("latitude_deg")) station.latitude_deg = sites.numbers("latitude_deg")[k];
    if (sites.has("longitude_deg")) station.longitude_deg = sites.numbers("longitude_deg")[k];
    if (sites.has("elevation_m")) station.elevation_m = sites.numbers("elevation_m")[k];
    station_of.emplace(station.name, static_cast<int>(k));
    out.survey.stations.push_back(std::move(station));
  }
  std::map<double, int> frequency_of;  // by period, in the order of the rows
  for (const double period_s : key.numbers("period_s")) {
    if (frequency_of.emplace(period_s, static_cast<int>(out.survey.frequencies_hz.size())).second)
      out.survey.frequencies_hz.push_back(1.0 / period_s);
  }
  out.value = data.observed();
  out.sigma = data.sigma();
  for (std::size_t row = 0; row < key.n_rows(); ++row) {
    const auto station = station_of.find(key.texts("site")[row]);
    const auto rules = mt::datum_rules();
    const auto rule =
        std::ranges::find(rules, std::string_view(key.texts("quantity")[row]), &mt::DatumRule::name);
    if (station == station_of.end() || rule == rules.end()) return {};
    out.survey.keys.push_back({static_cast<mt::Datum>(rule - rules.begin()),
                               frequency_of.at(key.numbers("period_s")[row]), station->second});
    out.reason.push_back(static_cast<mt::MaskReason>(data.reason()[row]));
    out.interpolated.push_back(key.has("interpolated") && key.numbers("interpolated")[row] != 0.0 ? 1 : 0);
  }
  return out;
}

}  // namespace lodestone::inversion::mt
