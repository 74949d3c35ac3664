// SPDX-License-Identifier: Apache-2.0
#include "io/info/info.hpp"

#include "engine/state/safetensors.hpp"
#include "inversion/checkpoint.hpp"
#include "inversion/mt/tables.hpp"
#include "inversion/uncertainty/ensemble.hpp"
#include "io/hdf5/file.hpp"
#include "io/info/raster_facts.hpp"
#include "io/mare2dem/data.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/read.hpp"
#include "io/modem/covariance.hpp"
#include "io/modem/modem.hpp"
#include "io/modem/words.hpp"
#include "io/mt2d/data.hpp"
#include "io/mth5/mth5.hpp"
#include "io/run/result.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "io/survey/responses.hpp"
#include "io/survey/sites.hpp"
#include "io/survey/store.hpp"
#include "io/survey/unread.hpp"
#include "io/text/counted.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "io/toml/options.hpp"
#include "models/vae/trained_vae.hpp"
#include "physics/mt/selection.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <set>

namespace lodestone::io::info {
namespace {

using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::MaskReason;
using physics::mt::Observations;
using physics::mt::StationData;
using physics::mt::StationRow;

constexpr std::array<const char*, 6> edi_components{"zxx", "zxy", "zyx", "zyy", "tx", "ty"};

void set_periods(SiteInfo& site, const std::vector<double>& frequencies_hz) {
  site.n_periods = static_cast<int>(frequencies_hz.size());
  if (frequencies_hz.empty()) return;
  const auto [low, high] = std::minmax_element(frequencies_hz.begin(), frequencies_hz.end());
  site.period_min_s = 1.0 / *high;
  site.period_max_s = 1.0 / *low;
}

/// Returns the azimuth of x in the file; NaN: it varies.
double frame_of(const StationData& station) {
  const auto differs = [&](const StationRow& row) {
    return row.azimuths.hx_deg != station.rows.front().azimuths.hx_deg;
  };
  if (station.rows.empty() || std::any_of(station.rows.begin(), station.rows.end(), differs))
    return not_stated;
  return station.rows.front().azimuths.hx_deg;
}

/// The site of a file of one station.
SiteInfo site_of(const StationData& station) {
  SiteInfo site;
  site.name = station.site.name;
  site.latitude_deg = station.site.latitude_deg;
  site.longitude_deg = station.site.longitude_deg;
  site.elevation_m = station.site.elevation_m;
  std::vector<double> frequencies;
  std::vector<Element> present;
  for (const Element element : physics::mt::all_elements) {
    const auto given = [element](const StationRow& row) { return !row.is_missing(element); };
    if (!std::any_of(station.rows.begin(), station.rows.end(), given)) continue;
    present.push_back(element);
    site.components.emplace_back(edi_components[index_of(element)]);
  }
  for (const auto& row : station.rows) {
    frequencies.push_back(row.frequency_hz);
    if (std::any_of(present.begin(), present.end(), [&](Element element) { return row.is_missing(element); }))
      ++site.n_masked;
  }
  site.n_marked = station.n_masked();
  set_periods(site, frequencies);
  site.sign = station.sign_in_file;
  site.units = station.units_in_file;
  site.frame_deg = frame_of(station);
  return site;
}

/// "zxy_re" and "zxy_im" are one component, "zxy".
std::string component_of(Datum quantity) {
  const std::string name(name_of(quantity));
  const auto tail = name.size() > 3 ? name.substr(name.size() - 3) : std::string();
  return tail == "_re" || tail == "_im" ? name.substr(0, name.size() - 3) : name;
}

/// Returns the sites of profile data; masked periods are those where a value that the site has elsewhere is
/// not usable.
std::vector<SiteInfo> sites_of(const Observations& data, const std::string& sign, const std::string& units) {
  const std::size_t n = data.survey.stations.size();
  std::vector<std::set<int>> present(n), masked(n);
  std::vector<std::set<Datum>> quantities(n);
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& key = data.survey.keys[i];
    const auto s = static_cast<std::size_t>(key.station);
    if (data.reason[i] == MaskReason::missing) continue;
    present[s].insert(key.frequency);
    quantities[s].insert(key.quantity);
  }
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& key = data.survey.keys[i];
    const auto s = static_cast<std::size_t>(key.station);
    if (data.reason[i] != MaskReason::kept && present[s].count(key.frequency) > 0 &&
        quantities[s].count(key.quantity) > 0)
      masked[s].insert(key.frequency);
  }
  std::vector<SiteInfo> sites(n);
  for (std::size_t s = 0; s < n; ++s) {
    const auto& station = data.survey.stations[s];
    sites[s].name = station.name;
    sites[s].latitude_deg = station.latitude_deg;
    sites[s].longitude_deg = station.longitude_deg;
    sites[s].elevation_m = station.elevation_m;
    std::vector<double> frequencies;
    for (const int f : present[s])
      frequencies.push_back(data.survey.frequencies_hz[static_cast<std::size_t>(f)]);
    set_periods(sites[s], frequencies);
    for (const Datum q : quantities[s]) {
      if (sites[s].components.empty() || sites[s].components.back() != component_of(q))
        sites[s].components.push_back(component_of(q));
    }
    sites[s].n_masked = static_cast<int>(masked[s].size());
    sites[s].sign = sign;
    sites[s].units = units;
  }
  return sites;
}

std::string units_word(const std::string& units) {
  const auto known = modem::modem_units(units);
  return known ? std::string(modem::short_name_of(*known)) : units;
}

/// Describes a file of stations that stand on the globe.
void describe_stations(FileInfo& info) {
  for (const StationData& station : survey::read(info.path, {.keeps_masked_stations = true})) {
    info.sites.push_back(site_of(station));
    if (const int n = station.n_masked(); n > 0)
      info.facts.push_back(fmt::format("{}: {} are masked and do not count; convert --unmask takes them back",
                                       station.site.name,
                                       text::counted(static_cast<std::size_t>(n), "value")));
    std::ranges::move(texts_of(station.all_remarks()), std::back_inserter(info.warnings));
    for (const std::string& change : station.changes)
      info.facts.push_back(fmt::format("{}: {}", station.site.name, change));
  }
}

/// Adds the extent of sites on a map, and where its origin lies.
void add_map_facts(FileInfo& info, const std::vector<StationData>& stations) {
  if (!stations.front().local_frame) return;
  const auto extent = [&](auto coordinate) {
    return std::ranges::minmax(stations, {}, [&](const StationData& s) { return coordinate(s.site); });
  };
  const auto x_of = [](const physics::mt::Station& site) { return site.x_m; };
  const auto y_of = [](const physics::mt::Station& site) { return site.y_m; };
  const auto [south, north] = extent(x_of);
  const auto [west, east] = extent(y_of);
  info.facts.push_back(fmt::format("{} sites, x {} to {} m, y {} to {} m", stations.size(), south.site.x_m,
                                   north.site.x_m, west.site.y_m, east.site.y_m));
  const physics::mt::LocalFrame& frame = *stations.front().local_frame;
  const std::string origin = std::isfinite(frame.latitude_deg)
                                 ? fmt::format("origin at {}°, {}°", frame.latitude_deg, frame.longitude_deg)
                                 : std::string("origin not stated");
  info.facts.push_back(fmt::format("{}, x along {}° from north", origin, frame.azimuth_deg));
}

void describe_modem_data(FileInfo& info) {
  const auto head = modem::modem_data_head(text::read_bytes_up_to(info.path, 8192));
  const std::string sign = head->sign.find('-') != std::string::npos ? "-" : "+";
  const std::vector<StationData> stations = modem::read_data(info.path);
  const Observations data = stated_data(stations);
  info.sites = sites_of(data, sign, units_word(head->units));
  add_map_facts(info, stations);
  const auto no_error = std::count(data.reason.begin(), data.reason.end(), MaskReason::bad_error);
  if (no_error > 0)
    info.warnings.push_back(fmt::format("{}:1: {} values carry no usable error", info.path, no_error));
}

/// Adds the depths of the sites, and what the reader left out.
void add_profile_facts(FileInfo& info, const std::vector<StationData>& stations) {
  const Observations data = stated_data(stations);
  info.sites = sites_of(data, "+", "ohm");
  for (const StationData& station : stations)
    std::ranges::move(texts_of(station.all_remarks()), std::back_inserter(info.warnings));
  const auto [least, most] =
      std::minmax_element(stations.begin(), stations.end(),
                          [](const StationData& a, const StationData& b) { return a.site.z_m < b.site.z_m; });
  info.facts.push_back(fmt::format("{} usable data of {}; stations at z = {} to {} m", data.n_used(),
                                   data.value.size(), least->site.z_m, most->site.z_m));
}

/// Describes a file of stations on a map whose place on the globe is not stated.
void describe_map(FileInfo& info) {
  const std::vector<StationData> stations = survey::read(info.path);
  info.sites = sites_of(stated_data(stations), stations.front().sign_in_file, stations.front().units_in_file);
  for (const StationData& station : stations)
    std::ranges::move(texts_of(station.all_remarks()), std::back_inserter(info.warnings));
  add_map_facts(info, stations);
}

/// Describes a file of stations along a line whose depths are not stated.
void describe_line(FileInfo& info) {
  const std::vector<StationData> stations = survey::read(info.path);
  const Observations data = stated_data(stations);
  info.sites = sites_of(data, stations.front().sign_in_file, stations.front().units_in_file);
  for (const StationData& station : stations)
    std::ranges::move(texts_of(station.all_remarks()), std::back_inserter(info.warnings));
  const auto [left, right] = std::ranges::minmax(stations, {}, [](const auto& s) { return s.site.y_m; });
  info.facts.push_back(fmt::format("{} usable data of {}; stations at y = {} to {} m", data.n_used(),
                                   data.value.size(), left.site.y_m, right.site.y_m));
}

void describe_emdata(FileInfo& info) {
  const mare2dem::EmData file = mare2dem::read_data(info.path);
  add_profile_facts(info, file.stations);
  info.facts.push_back(fmt::format("{}{}; phases are e^(+iwt), TM phases in the first quadrant", file.version,
                                   file.responses.empty() ? "" : " with responses"));
  if (!file.origin.empty()) info.facts.push_back("origin of x and y: " + file.origin);
}

/// Adds the cells and the extent of a section or volume and its resistivities; `remark` is about its place.
void add_earth_facts(FileInfo& info, const physics::mesh::Model& model, std::string_view remark = {}) {
  const physics::mesh::TensorGrid& grid = model.earth.grid;
  const physics::mesh::Surface& surface = model.earth.surface;
  const physics::mesh::Box box = grid.extent();
  if (grid.dimension() == 2) {
    info.facts.push_back(fmt::format("{} columns x {} rows, y {} to {} m, z {} to {} m", grid.n_y(),
                                     grid.n_z(), box.y_m.from, box.y_m.to, box.z_m.from, box.z_m.to));
  } else {
    info.facts.push_back(
        fmt::format("{} x {} x {} cells along x, y and z", grid.n_x(), grid.n_y(), grid.n_z()));
    const std::string level = surface.is_flat()
                                  ? fmt::format("{}", surface.highest_m())
                                  : fmt::format("{} to {}", surface.highest_m(), surface.lowest_m());
    info.facts.push_back(fmt::format("x {} to {} m, y {} to {} m, surface at z = {} m, {} m deep{}",
                                     box.x_m.from, box.x_m.to, box.y_m.from, box.y_m.to, level, box.z_m.to,
                                     remark));
  }
  const Eigen::VectorXd resistivity = resistivity_ohm_m(model);
  info.facts.push_back(
      fmt::format("resistivity {:.4g} to {:.4g} ohm m", resistivity.minCoeff(), resistivity.maxCoeff()));
}

/// Adds facts of a model of any dimension and property.
void add_model_facts(FileInfo& info, const physics::mesh::Model& model) {
  const physics::mesh::TensorGrid& grid = model.earth.grid;
  if (grid.dimension() > 1 && model.property.name == physics::mesh::Property{}.name)
    return add_earth_facts(info, model);
  info.facts.push_back(fmt::format("{} cells in {} dimensions, z {} to {} m", grid.n_cells(),
                                   grid.dimension(), grid.z_edges_m().front(), grid.z_edges_m().back()));
  info.facts.push_back(fmt::format("{} {:.4g} to {:.4g}, units {}", model.property.name,
                                   model.values.minCoeff(), model.values.maxCoeff(),
                                   physics::mesh::units_in_scale(model.property)));
}

void describe_modem_model(FileInfo& info) {
  const modem::ModemModel file = modem::read_model_file(info.path);
  add_earth_facts(info, file.model, file.has_stated_origin ? "" : "; origin not stated, so centred");
  if (file.n_air > 0) info.facts.push_back(fmt::format("{} cells of air", file.n_air));
  if (file.rotation_deg != 0.0)
    info.warnings.push_back(
        fmt::format("{}: the rotation of {} degrees has no effect", info.path, file.rotation_deg));
}

void describe_covariance(FileInfo& info) {
  const modem::Covariance file = modem::read_covariance(info.path);
  info.facts.push_back(fmt::format("{} x {} x {} cells along x, y and z, smoothed {} times, {} exceptions",
                                   file.n_x, file.n_y, file.n_z, file.n_times, file.exceptions.size()));
  std::array<long, 10> n_cells{};
  for (const int area : file.area) ++n_cells.at(static_cast<std::size_t>(area));
  for (std::size_t area = 0; area < n_cells.size(); ++area) {
    const char* name = area == modem::Covariance::air   ? " (air)"
                       : area == modem::Covariance::sea ? " (sea)"
                                                        : "";
    if (n_cells.at(area) > 0)
      info.facts.push_back(fmt::format("area {}{}: {} cells", area, name, n_cells.at(area)));
  }
}

void describe_result(FileInfo& info) {
  const inversion::Outcome outcome = run::read_result(info.path);
  add_model_facts(info, outcome.model);
  info.facts.push_back(
      fmt::format("rms {:.3f}, stopped because: {}", outcome.ending.rms, outcome.ending.message));
  for (const inversion::NamedTable& each : outcome.tables)
    info.facts.push_back(fmt::format("table {}: {}, {} rows", each.name, each.title, each.table.n_rows()));
  if (const auto data = inversion::mt::observations(outcome.data, outcome.sites)) {
    info.sites = sites_of(*data, "+", "ohm");
    return;
  }
  info.facts.push_back(fmt::format("{} usable data of {}", outcome.data.n_used(), outcome.data.size()));
}

void describe_responses(FileInfo& info, const hdf5::Hdf5Source& source) {
  const survey::StoredResponses stored = survey::stored_responses(source);
  for (const std::string& name : stored.sites) {
    SiteInfo& site = info.sites.emplace_back();
    site.name = name;
    set_periods(site, stored.frequencies_hz);
    site.components.insert(site.components.end(), stored.elements.begin(), stored.elements.end());
    site.sign = "+";
    site.units = "ohm";
  }
}

void describe_checkpoint(FileInfo& info, const hdf5::Hdf5Source& source) {
  info.facts.push_back(inversion::describe_checkpoint(source));
  info.facts.emplace_back("go on with: mt_invert invert CONFIG.toml -o FOLDER --resume");
}

/// Describes samples of models that `[uncertainty]` leaves beside a result.
void describe_samples(FileInfo& info, const hdf5::Hdf5Source& source) {
  info.facts = inversion::uncertainty::describe_ensemble(source);
  info.facts.emplace_back(
      "their percentiles and deviations stand in result.h5; more of them: a larger uncertainty.samples and "
      "--resume");
}

/// Adds one line about each array, after a line about all of them.
void add_array_facts(FileInfo& info, const core::ArraySource& source) {
  std::vector<std::string> lines;
  std::int64_t n_elements = 0;
  for (const std::string& name : source.names()) {
    const core::ArrayInfo array = source.info(name);
    lines.push_back(
        fmt::format("{}: {} [{}]", name, core::name_of(array.dtype), fmt::join(array.shape, ", ")));
    n_elements += array.count();
  }
  info.facts.push_back(fmt::format("{} arrays, {} numbers", lines.size(), n_elements));
  for (const char* key : {"format", "format_version", "engine_version"}) {
    if (source.has_attribute("", key))
      info.facts.push_back(fmt::format("{}: {}", key, source.attribute("", key)));
  }
  info.facts.insert(info.facts.end(), lines.begin(), lines.end());
}

std::string format_of(const core::ArraySource& source) {
  return source.has_attribute("", "format") ? source.attribute("", "format") : "";
}

void add_network_facts(FileInfo& info, const core::ArraySource& source) {
  if (format_of(source) == "lodestone vae") info.facts.push_back(models::vae::TrainedVae::describe(source));
}

void describe_safetensors(FileInfo& info) {
  const engine::SafetensorsSource source(info.path);
  add_network_facts(info, source);
  add_array_facts(info, source);
  source.verify();
}

void describe_hdf5(FileInfo& info) {
  const hdf5::Hdf5Source source(info.path);
  const std::string format = format_of(source);
  if (format == "lodestone result") {
    info.format = "HDF5 result";
    describe_result(info);
  } else if (survey::is_survey(source)) {
    info.format = "HDF5 survey";
    describe_stations(info);
  } else if (mth5::is_mth5(source)) {
    info.format = "MTH5";
    describe_stations(info);
  } else if (format == "lodestone responses") {
    info.format = "HDF5 responses";
    describe_responses(info, source);
  } else if (format == "lodestone ensemble") {
    info.format = "HDF5 samples";
    describe_samples(info, source);
  } else if (format == "lodestone checkpoint") {
    info.format = "HDF5 checkpoint";
    describe_checkpoint(info, source);
  } else if (format == "lodestone state") {
    info.format = "HDF5 state";
    add_array_facts(info, source);
  } else if (format == "lodestone vae") {
    info.format = "HDF5 network";
    add_network_facts(info, source);
    add_array_facts(info, source);
  } else {
    add_earth_facts(info, model::read_model_hdf5(info.path));
    info.format = "HDF5 model";
  }
}

/// Describes a model, or the configuration of one of the commands.
void describe_toml(FileInfo& info) {
  const core::Options options = toml::read_options_toml(info.path);
  const std::string title = options.child("run").text("title", "");
  const std::string named = title.empty() ? "" : fmt::format(" of \"{}\"", title);
  if (options.has("background") || options.has("cells")) {
    info.format = "TOML model";
    add_earth_facts(info, model::read_model_toml(info.path));
  } else if (options.has("prior")) {
    info.format = "TOML prior";
    info.facts.push_back(
        fmt::format("configuration{} of a learned prior: mt_invert train {} --preview", named, info.path));
  } else if (options.has("data")) {
    info.format = "TOML inversion";
    info.facts.push_back(
        fmt::format("configuration{} of an inversion: mt_invert invert {} --dry-run", named, info.path));
  } else {
    info.facts.emplace_back(
        "no [background] of a model, no [data] of an inversion, no [prior] of a training: no command takes "
        "it");
  }
}

/// The JSON beside a network of `train`.
void describe_card(FileInfo& info) {
  const auto card = nlohmann::json::parse(text::read_bytes(info.path), nullptr, false);
  const auto at = [&](const char* pointer) {
    const nlohmann::json::json_pointer place(pointer);
    if (card.is_discarded() || !card.contains(place))
      throw core::FormatError(
          "io::info::describe_file#no_card",
          "{}:1: expected a card of mt_invert train with {}, found none; is the file cut off?", info.path,
          pointer);
    if (card[place].is_string()) return card[place].get<std::string>();
    return card[place].is_number_float() ? fmt::format("{:.6g}", card[place].get<double>())
                                         : card[place].dump();
  };
  const std::string along_x =
      card.contains(nlohmann::json::json_pointer("/network/cells_x")) ? " x " + at("/network/cells_x") : "";
  info.facts.push_back(
      fmt::format("network of a {} of {} x {}{} cells, depths {} to {} m, {} codes, {} of them in use",
                  at("/network/kind"), at("/network/cells_z"), at("/network/cells_y"), along_x,
                  at("/grid/from_m"), at("/grid/to_m"), at("/network/n_codes"), at("/scores/codes_used")));
  info.facts.push_back(fmt::format(
      "trained on {} draws, seed {}, {} epochs; reconstruction error {} decades rms", at("/training/draws"),
      at("/training/seed"), at("/scores/epochs"), at("/scores/reconstruction_rms_decades")));
}

void describe_sites(FileInfo& info) {
  const std::vector<survey::SiteRow> sites = survey::read_sites_csv(info.path);
  const auto [left, right] = std::minmax_element(sites.begin(), sites.end(),
                                                 [](const auto& a, const auto& b) { return a.y_m < b.y_m; });
  info.facts.push_back(fmt::format("{} sites for mt_invert forward --sites, y = {} to {} m", sites.size(),
                                   left->y_m, right->y_m));
  for (const auto& site : sites) {
    info.sites.emplace_back().name = site.name;
    info.facts.push_back(fmt::format("{}: y = {} m", site.name, site.y_m));
  }
}

/// Describes a table that no command takes for sites, responses or a section.
void describe_table(FileInfo& info) {
  const std::string bytes = text::read_text(info.path);
  std::string_view header;
  int n_rows = 0;
  for (const auto line : text::split_lines(bytes)) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (header.empty())
      header = text;
    else
      ++n_rows;
  }
  info.facts.push_back(fmt::format("{} rows of {}", n_rows, text::printable(header, 200)));
  info.facts.emplace_back(
      header == "y_m,z_m" || header == "x_m,y_m,z_m" ? "a surface, as profile.surface_file takes it"
      : model::is_elevation_map(info.path)
          ? elevation_map
          : "a table for people and plots; sites for forward --sites have the header site,y_m[,z_m]");
}

/// Refuses a folder, and states if it holds EDI files.
void refuse_folder(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return;
  const auto is_edi = [](const auto& entry) {
    return text::lower(entry.path().extension().string()) == ".edi";
  };
  const std::filesystem::directory_iterator files(path, error);
  const bool any = !error && std::any_of(begin(files), end(files), is_edi);
  throw core::FileError("io::info::describe_file#is_a_folder", "{}: {}", path,
                        any ? "expected a file, got a folder; name the files in it"
                            : "this folder holds no EDI files (*.edi), for which a folder stands; check the "
                              "path, or name files of other kinds one by one");
}

void add_fact(FileInfo& info, std::string fact) { info.facts.push_back(std::move(fact)); }

/// Describes a file of stations. returns: false for another kind of file.
bool describe_data(FileInfo& info, survey::FileKind kind) {
  switch (kind) {
    case survey::FileKind::edi:
    case survey::FileKind::emtf_xml:
    case survey::FileKind::z_file:
    case survey::FileKind::j_format:
    case survey::FileKind::zonge_avg:
    case survey::FileKind::csv_rows:
      describe_stations(info);
      return true;
    case survey::FileKind::modem_data_2d:
    case survey::FileKind::modem_data_3d:
      describe_modem_data(info);
      return true;
    case survey::FileKind::emdata:
      describe_emdata(info);
      return true;
    case survey::FileKind::mt2d_data:
      add_profile_facts(info, mt2d::read_data(info.path));
      return true;
    case survey::FileKind::occam2d_data:
      describe_line(info);
      return true;
    case survey::FileKind::femtic_data:
    case survey::FileKind::wsinv_data:
      describe_map(info);
      return true;
    default:
      return false;
  }
}

void describe(FileInfo& info) {
  refuse_folder(info.path);
  const survey::FileKind kind = survey::kind_of_file(info.path);
  info.format = std::string(core::word(kind));
  if (describe_data(info, kind)) return;
  switch (kind) {
    case survey::FileKind::modem_model_2d:
    case survey::FileKind::modem_model_3d:
      return describe_modem_model(info);
    case survey::FileKind::occam2d_model:
    case survey::FileKind::mare2dem_model:
    case survey::FileKind::femtic_model:
    case survey::FileKind::xyz_model:
    case survey::FileKind::gocad_sgrid:
      return add_earth_facts(info, model::read_model(info.path));
    case survey::FileKind::modem_covariance:
      return describe_covariance(info);
    case survey::FileKind::hdf5:
      return describe_hdf5(info);
    case survey::FileKind::safetensors:
      return describe_safetensors(info);
    case survey::FileKind::toml:
      return describe_toml(info);
    case survey::FileKind::vae_card:
      return describe_card(info);
    case survey::FileKind::csv_sites:
      return describe_sites(info);
    case survey::FileKind::csv_responses:
      return add_fact(info, fmt::format("{} responses", survey::read_responses_csv(info.path).size()));
    case survey::FileKind::csv_section:
      return add_fact(
          info, "a section for people and plots, which is not read back; result.h5 and TOML models are");
    case survey::FileKind::csv_table:
      return describe_table(info);
    default:
      break;
  }
  if (text::lower(info.path).ends_with(".edi")) return describe_stations(info);
  survey::refuse_unread(info.path);
  if (model::is_elevation_map(info.path)) return describe_elevations(info);
  throw core::FormatError(
      "io::info::describe_file#unknown_format",
      "{}:1: expected EDI, Z-file, J-format, Zonge AVG, ModEM, MARE2DEM, MT2DData, Occam2D, FEMTIC, "
      "WSINV3DMT, XYZ, GOCAD SGrid, TOML, HDF5, safetensors, a raster, or CSV with a header line, got a file "
      "of unknown format; convert it (docs/model-files.md), or look whether its first lines are missing",
      info.path);
}

}  // namespace

FileInfo describe_file(const std::string& path) {
  FileInfo info;
  info.path = path;
  info.format = "unknown";
  info.status = "ok";
  try {
    describe(info);
  } catch (const core::Error& error) {
    info.status = error.what();
    info.code = error.exit_code();
  }
  return info;
}

}  // namespace lodestone::io::info
