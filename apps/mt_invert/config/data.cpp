// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/data.hpp"

#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/element.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace lodestone::mt_invert::config {

/// Form in which the data of each mode are inverted. `from_data`: the first of several that the files hold.
enum class DataKind { from_data, log10_rho_phase, determinant, impedance, full_impedance, phase_tensor };
constexpr auto words(DataKind) {
  using enum DataKind;
  return core::Words<DataKind>{{from_data, "from_data"},           {log10_rho_phase, "log10_rho_phase"},
                               {determinant, "determinant"},       {impedance, "impedance"},
                               {full_impedance, "full_impedance"}, {phase_tensor, "phase_tensor"}};
}

namespace {

using physics::mt::Datum;
using physics::mt::datum;
using physics::mt::ErrorFloors;
using physics::mt::FloorKind;
using physics::mt::FloorRule;
using physics::mt::Mode;
using physics::mt::Selection;

Rows<DataConfig> source_rows() {
  using C = DataConfig;
  return {path_row("edi_folder", &C::edi_folder, "folder whose `*.edi` files are one survey"),
          path_row("edi_files", &C::edi_files, "EDI files"),
          path_row("station_files", &C::station_files,
                   "files of stations in any format, and folders of them: EDI, EMTF XML, Z-files, J-format, "
                   "Zonge AVG, MTH5, ModEM, Occam2D, MARE2DEM, FEMTIC and WSINV3DMT data, CSV, survey files"),
          path_row("modem_file", &C::modem_file, "ModEM 2-D data file"),
          path_row("mare2dem_file", &C::mare2dem_file, "MARE2DEM data file (EMData 2.x) with MT data"),
          path_row("mt2d_file", &C::mt2d_file, "data file of the format `MT2DData_1.0`")};
}

bool is_edi(const DataConfig& data) { return data.profile_source().first.empty(); }

Rows<DataConfig> edi_rows() {
  using C = DataConfig;
  using Options = io::edi::EdiOptions;
  return needing(
      "EDI or `station_files`", is_edi,
      row("station_order", &C::station_order, "station names: only these, in this order")
          .otherwise("all, by file name"),
      row("edi_variance", at(&C::edi, &Options::variance), "what `.VAR` blocks hold, see below"),
      row("edi_sign", at(&C::edi, &Options::sign), "time factor, or by the quadrants of the data"),
      row("edi_units", at(&C::edi, &Options::units), "mV/km/nT, ohm, or by the size of ρₐ"),
      row("frequencies", &C::frequencies,
          "those of any station, which others may lack, or those that all share; excludes `frequencies_hz`")
          .otherwise("`\"all\"`"),
      row("same_place_m", at(&C::selection, &Selection::same_place_m), lengths_or_zero(1e6),
          "stations closer than this are bands of one station and are merged; 0: none are, and two "
          "at one place are refused"),
      row("declination_deg", at(&C::selection, &Selection::declination_deg), within(-180.0, 180.0),
          "added to the azimuths in the files, for files that count from magnetic north"),
      row("interpolate_stations", at(&C::selection, &Selection::interpolate_stations),
          "stations whose own frequency list differs, which are interpolated and flagged"),
      row("ignore_file_errors", at(&C::selection, &Selection::ignore_file_errors),
          "the floors alone are the errors"));
}

Rows<DataConfig> selection_rows() {
  using C = DataConfig;
  return {
      row("frequency_tolerance", at(&C::selection, &Selection::frequency_tolerance), share(),
          "relative, of shared and of listed frequencies; a measured frequency further away counts as "
          "missing"),
      row("frequencies_hz", at(&C::selection, &Selection::frequencies_hz), frequencies(),
          "excludes the two periods below")
          .otherwise("those of any station, within the tolerance"),
      row("frequencies_per_decade", at(&C::selection, &Selection::frequencies_per_decade),
          within(0.0, 1000.0), "as many are left to each station in every decade that it measured; 0: all"),
      row("period_min_s", at(&C::selection, &Selection::min_period_s), periods_or_zero(), "shortest period")
          .otherwise("no limit"),
      row("period_max_s", at(&C::selection, &Selection::max_period_s), periods(), "longest period")
          .otherwise("no limit"),
      row("phase_min_deg", at(&C::selection, &Selection::min_phase_deg), angles(),
          "phases below, folded into the first quadrant, are masked as out of quadrant"),
      row("phase_max_deg", at(&C::selection, &Selection::max_phase_deg), angles(), "likewise those above"),
      row("limit_te_phases", at(&C::selection, &Selection::limits_te_phases),
          "`false`: for TM alone; the default with `[sea]`, as phases of TE leave their quadrant beside "
          "coasts")};
}

/// Data to be inverted as they are written.
struct Measured {
  DataKind kind = DataKind::from_data;
  std::vector<Mode> modes{Mode::te, Mode::tm};
  bool tipper = false, interstation = false;
};

Rows<Measured> measured_rows() {
  return {
      row("kind", &Measured::kind,
          "log10 ρₐ and phase, or real and imaginary parts, of Zxy and Zyx; log10 ρₐ and phase of √det Z; "
          "with `--dim 3` also all four impedances or the phase tensor; `\"from_data\"`: log10 ρₐ and phase "
          "where the files hold impedances, else what they hold, see below"),
      row("modes", &Measured::modes,
          "TE: Zxy, E along strike; TM: Zyx, H along strike; `[]`: with `tipper = true` the tipper alone"),
      row("tipper", &Measured::tipper, "invert Tzy as well, and Tzx with the two kinds for `--dim 3`"),
      row("interstation", &Measured::interstation,
          "with `--dim 3` invert the horizontal magnetic field at a station over that at its reference as "
          "well")};
}

// Data with larger errors than these determine nothing.
constexpr double most = 10.0, most_deg = 360.0;

/// A floor has an effect where data of its kind may be inverted.
using FloorKinds = std::set<FloorKind>;

/// The kinds of data that may be inverted.
struct HeldKinds {
  FloorKinds kinds;
  bool by_option = false;  ///< --set chose them, so that floors of others in the file are no mistake
};

const FloorKinds& all_floor_kinds() {
  static const FloorKinds kinds{FloorKind::impedance, FloorKind::log10_rho,    FloorKind::phase,
                                FloorKind::tipper,    FloorKind::phase_tensor, FloorKind::interstation};
  return kinds;
}

/// Returns what a floor of a kind needs, in words.
std::string needed_by(FloorKind kind) {
  switch (kind) {
    case FloorKind::impedance:
      return "impedances among the data";
    case FloorKind::log10_rho:
      return "apparent resistivities among the data";
    case FloorKind::phase:
      return "phases among the data";
    case FloorKind::tipper:
      return "tippers among the data";
    case FloorKind::phase_tensor:
      return "phase tensors among the data";
    case FloorKind::interstation:
      return "inter-station functions among the data";
  }
  return {};
}

Rows<ErrorFloors> floors_rows(const FloorKinds& held = all_floor_kinds()) {
  const auto of = [&](FloorKind kind, const Row<ErrorFloors>& floor) {
    const bool is_held = held.contains(kind);
    return Row<ErrorFloors>(floor).needs(needed_by(kind), [is_held](const ErrorFloors&) { return is_held; });
  };
  return {of(FloorKind::impedance, row("impedance_relative", &ErrorFloors::impedance_relative,
                                       within(0.0, most), "of the impedance's modulus, on each part")),
          of(FloorKind::log10_rho, row("log10_rho", &ErrorFloors::log10_rho, within(0.0, most),
                                       "decades (0.0434 = 10 % of ρₐ = 5 % of the impedance)")),
          of(FloorKind::log10_rho,
             row("log10_rho_te", &ErrorFloors::log10_rho_te, within(0.0, most),
                 "decades, of TE alone, whose level static shifts and structure beside the line move most")
                 .usually("0.1 in a section of stations without `log10_rho`, else `log10_rho`")),
          of(FloorKind::phase, row("phase_deg", &ErrorFloors::phase_deg, within(0.0, most_deg),
                                   "degrees (2.86 = 5 % of the impedance)")),
          of(FloorKind::tipper,
             row("tipper_absolute", &ErrorFloors::tipper_absolute, within(0.0, most), "on each part")),
          of(FloorKind::phase_tensor, row("phase_tensor_absolute", &ErrorFloors::phase_tensor_absolute,
                                          within(0.0, most), "on each element of the phase tensor")),
          of(FloorKind::interstation, row("interstation_absolute", &ErrorFloors::interstation_absolute,
                                          within(0.0, most), "on each part of inter-station functions"))};
}

/// Files of profile data carry the errors to be used; station files mostly carry errors that are far too
/// small.
ErrorFloors usual_floors(bool from_profile_file) {
  return from_profile_file ? ErrorFloors{0.0, 0.0, 0.0, 0.0, 0.0, 0.0} : ErrorFloors{};
}

/// Says that a floor has no effect on the data that --set chose.
void warn_of_idle(const ConfigTable& table, const std::string& key, const std::string& needed) {
  core::log::warning(core::log::Id("configuration#idle_floor"),
                     "{}: needs {}, which --set leaves out; it has no effect", table.place(key), needed);
}

/// Reads the general floors. That of TE is wider in sections where floors of ρₐ are left open.
ErrorFloors read_floors(const ConfigTable& table, bool from_profile_file, int dimension,
                        const HeldKinds& held) {
  constexpr double te_decades = 0.1;  // docs/results/defaults.md
  ErrorFloors usual = usual_floors(from_profile_file);
  if (!from_profile_file && dimension == 2 && !table.has("log10_rho")) usual.log10_rho_te = te_decades;
  Rows<ErrorFloors> rows = floors_rows(held.kinds);
  if (held.by_option)
    std::erase_if(rows, [&](const Row<ErrorFloors>& each) {
      const bool is_idle = !each.applies(usual);
      if (is_idle && table.has(each.key)) warn_of_idle(table, each.key, each.needed);
      return is_idle;
    });
  return read(table, rows, usual);
}

/// An entry of [[data.floor]] as it is written: the file states periods, a rule holds frequencies.
struct FloorForm {
  FloorKind kind{};
  double floor = 0.0;
  std::string station;
  std::vector<std::string> quantities;
  std::optional<Mode> mode;
  double least_s = Selection{}.min_period_s, most_s = Selection{}.max_period_s;
};

Rows<FloorForm> floor_rows() {
  return {
      row("kind", &FloorForm::kind, "data that the floor holds for").required(),
      row("floor", &FloorForm::floor, within(0.0, most_deg),
          "in the units of `[data.floors]`; at most 10, but for phases")
          .required(),
      row("station", &FloorForm::station, "station name").usually("all"),
      row("quantities", &FloorForm::quantities, "data of this kind by name, as of `[[data.mask]]`")
          .otherwise("all"),
      row("mode", &FloorForm::mode, "data of this mode only").otherwise("both"),
      row("period_min_s", &FloorForm::least_s, periods_or_zero(), "shortest period of the rule")
          .otherwise("no limit"),
      row("period_max_s", &FloorForm::most_s, periods(), "longest period of the rule").otherwise("no limit")};
}

/// An entry of [[data.mask]] as it is written: the file names data, a rule holds their codes.
struct MaskForm {
  std::string station;
  std::vector<std::string> quantities;
  std::optional<Mode> mode;
  double least_hz = physics::mt::Where{}.min_frequency_hz, most_hz = physics::mt::Where{}.max_frequency_hz;
};

Rows<MaskForm> mask_rows() {
  return {row("station", &MaskForm::station, "station name").usually("all"),
          row("quantities", &MaskForm::quantities, "data by name, see below").otherwise("all"),
          row("mode", &MaskForm::mode, "data of this mode only").otherwise("both"),
          row("frequency_min_hz", &MaskForm::least_hz, frequencies_or_zero(),
              "lower end of the band in which the rule masks")
              .otherwise("no limit"),
          row("frequency_max_hz", &MaskForm::most_hz, frequencies(), "upper end").otherwise("no limit")};
}

/// Returns quantities of one mode in the chosen form; the phase tensor belongs to none.
std::vector<Datum> quantities_of(Mode mode, DataKind kind) {
  const bool is_te = mode == Mode::te;
  using enum Datum;
  switch (kind) {
    case DataKind::from_data:
    case DataKind::log10_rho_phase:
      return is_te ? std::vector{log10_rho_xy, phase_xy} : std::vector{log10_rho_yx, phase_yx};
    case DataKind::impedance:
      return is_te ? std::vector{zxy_re, zxy_im} : std::vector{zyx_re, zyx_im};
    case DataKind::full_impedance:
      return is_te ? std::vector{datum("zxx_re"), datum("zxx_im"), zxy_re, zxy_im}
                   : std::vector{zyx_re, zyx_im, datum("zyy_re"), datum("zyy_im")};
    case DataKind::determinant:
    case DataKind::phase_tensor:
      break;
  }
  return {};
}

std::vector<Datum> quantities_of(const ConfigTable& table, const Measured& form) {
  std::vector<Datum> result;
  const auto add = [&](const std::vector<Datum>& more) {
    result.insert(result.end(), more.begin(), more.end());
  };
  for (const Mode mode : form.modes) add(quantities_of(mode, form.kind));
  const bool combines = form.kind == DataKind::phase_tensor || form.kind == DataKind::determinant;
  if (combines && form.modes.size() == 1)
    table.refuse("modes", "tensor_of_one_mode",
                 fmt::format("expected both modes or none with kind = \"{}\", which combines them, got one",
                             core::word(form.kind)));
  if (form.kind == DataKind::determinant && !form.modes.empty())
    add({datum("log10_rho_det"), datum("phase_det")});
  if (form.kind == DataKind::phase_tensor && !form.modes.empty())
    add({datum("phase_tensor_xx"), datum("phase_tensor_xy"), datum("phase_tensor_yx"),
         datum("phase_tensor_yy")});
  const bool is_of_volumes = form.kind == DataKind::full_impedance || form.kind == DataKind::phase_tensor;
  if (form.tipper && is_of_volumes) add({datum("tzx_re"), datum("tzx_im")});
  if (form.tipper) add({Datum::tzy_re, Datum::tzy_im});
  if (form.interstation)
    add({datum("mxx_re"), datum("mxx_im"), datum("mxy_re"), datum("mxy_im"), datum("myx_re"), datum("myx_im"),
         datum("myy_re"), datum("myy_im")});
  if (result.empty())
    table.refuse(
        "modes", "nothing_to_invert",
        "lists no mode while tipper and interstation are false; add a mode or set one of them to true");
  return result;
}

/// Returns what is inverted in turn, where the files lack what comes before; nothing where the kind is given.
/// A single mode leaves out what belongs to both or to none.
std::vector<DataChoice> choices_of(const ConfigTable& table, const Measured& form) {
  if (form.kind != DataKind::from_data || form.modes.empty()) return {};
  std::vector<DataChoice> choices;
  const auto add = [&](std::string what, int from, int to, const Measured& alone) {
    Measured with = alone;
    with.tipper |= form.tipper;
    with.interstation |= form.interstation;
    choices.push_back({std::move(what), from, to, quantities_of(table, alone), quantities_of(table, with)});
  };
  add("apparent resistivities and phases", 1, 3, {DataKind::log10_rho_phase, form.modes});
  add("impedances", 1, 3, {DataKind::impedance, form.modes});
  if (form.modes.size() == 1) return choices;
  add("phase tensors", 3, 3, {DataKind::phase_tensor, form.modes});
  add("tippers", 2, 2, {DataKind::impedance, {}, true});
  add("tippers", 3, 3, {DataKind::full_impedance, {}, true});
  add("inter-station functions", 3, 3, {DataKind::full_impedance, {}, false, true});
  return choices;
}

/// Returns whether --set says which data are inverted.
bool is_chosen_by_option(const ConfigTable& table) {
  return std::ranges::any_of(measured_rows(), [&](const Row<Measured>& each) {
    return table.has(each.key) && table.given().where(each.key) == "--set";
  });
}

/// Returns the kinds of data that may be inverted, whatever the files hold.
FloorKinds kinds_of(const DataConfig& data, int dimension) {
  FloorKinds kinds;
  const auto add = [&](const std::vector<Datum>& selected) {
    for (const Datum each : selected) kinds.insert(rule_of(each).floor);
  };
  add(data.selection.data);
  for (const DataChoice& choice : data.choices)
    if (choice.least_dimension <= dimension && dimension <= choice.most_dimension) add(choice.selected);
  return kinds;
}

/// Returns a datum by its name.
Datum quantity_of(const ConfigTable& table, const std::string& name) {
  std::string names;
  for (const physics::mt::DatumRule& rule : physics::mt::datum_rules()) {
    if (rule.name == name) return physics::mt::datum_from(name);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", rule.name);
  }
  table.refuse("quantities", "unknown_word", fmt::format("expected some of {}, got \"{}\"", names, name));
}

FloorRule read_floor(ConfigTable table, const HeldKinds& held) {
  const FloorForm form = read(table, floor_rows(), FloorForm{});
  if (!held.kinds.contains(form.kind) && held.by_option) warn_of_idle(table, "kind", needed_by(form.kind));
  if (!held.kinds.contains(form.kind) && !held.by_option) table.refuse_unless(needed_by(form.kind), "kind");
  if (form.kind != FloorKind::phase) detail::check(table, "floor", within(0.0, most), form.floor);
  if (form.least_s > form.most_s)
    table.refuse("period_min_s", "empty_interval",
                 fmt::format("expected at most period_max_s = {}, got {}", form.most_s, form.least_s));
  constexpr double digits = physics::mt::same_frequency;  // of periods and frequencies in files
  FloorRule rule{
      form.kind, form.floor, {.station = form.station, .mode = form.mode, .place = table.place("station")}};
  for (const std::string& name : form.quantities) {
    rule.where.data.push_back(quantity_of(table, name));
    if (rule_of(rule.where.data.back()).floor != form.kind)
      table.refuse(
          "quantities", "other_kind",
          fmt::format("expected data of kind = \"{}\", got \"{}\"; give each kind a floor of its own",
                      core::word(form.kind), name));
  }
  if (form.least_s > 0.0) rule.where.max_frequency_hz = (1.0 + digits) / form.least_s;
  if (form.most_s < Selection{}.max_period_s) rule.where.min_frequency_hz = (1.0 - digits) / form.most_s;
  return rule;
}

physics::mt::Where read_mask(ConfigTable table) {
  const MaskForm mask = read(table, mask_rows(), MaskForm{});
  if (mask.least_hz > mask.most_hz)
    table.refuse("frequency_min_hz", "empty_interval",
                 fmt::format("expected at most frequency_max_hz = {}, got {}", mask.most_hz, mask.least_hz));
  physics::mt::Where rule{.station = mask.station,
                          .mode = mask.mode,
                          .min_frequency_hz = mask.least_hz,
                          .max_frequency_hz = mask.most_hz,
                          .place = table.place("station")};
  for (const std::string& name : mask.quantities) rule.data.push_back(quantity_of(table, name));
  return rule;
}

/// Refuses a key of the table that nearly is one of these, and no other key of the table.
void refuse_misspelt(const ConfigTable& table, const std::vector<std::string>& meant) {
  std::vector<std::string> known{"floors", "floor", "mask"};
  const auto add = [&](const auto& rows) {
    for (const auto& each : rows) known.push_back(each.key);
  };
  add(source_rows());
  add(edi_rows());
  add(selection_rows());
  add(measured_rows());
  for (const std::string& key : table.given().keys()) {
    const auto nearest = core::nearest_word(key, meant);
    if (std::ranges::count(known, key) > 0 || !nearest) continue;
    table.refuse(key, "unknown_key", fmt::format("unknown key; did you mean \"data.{}\"?", *nearest));
  }
}

/// Reads where the data come from. errors: ConfigError where it is nowhere, or two places.
DataConfig read_source(const ConfigTable& table) {
  std::vector<std::string> keys;
  for (const auto& each : source_rows()) keys.push_back(each.key);
  table.allow_one_of(keys);
  DataConfig data = read(table, source_rows(), DataConfig{});
  if (data.edi_folder.empty() && data.edi_files.empty() && data.station_files.empty() && is_edi(data)) {
    refuse_misspelt(table, keys);
    table.refuse("edi_folder", "no_data",
                 fmt::format("the table gives none of {}; add the one that states where the data are",
                             fmt::join(keys, ", ")));
  }
  return data;
}

/// Refuses limits that leave nothing.
void check_limits(const ConfigTable& table, const DataConfig& data) {
  if (data.selection.min_period_s > data.selection.max_period_s)
    table.refuse("period_min_s", "empty_interval",
                 fmt::format("expected at most period_max_s = {}, got {}", data.selection.max_period_s,
                             data.selection.min_period_s));
  if (data.selection.min_phase_deg >= data.selection.max_phase_deg)
    table.refuse("phase_min_deg", "empty_interval",
                 fmt::format("expected less than phase_max_deg = {:g}, got {:g}",
                             data.selection.max_phase_deg, data.selection.min_phase_deg));
}

/// Refuses a frequency that is listed twice.
void check_frequencies(const ConfigTable& table, std::vector<double> listed) {
  std::ranges::sort(listed);
  const auto twice = std::ranges::adjacent_find(listed);
  if (twice != listed.end())
    table.refuse("frequencies_hz", "repeated",
                 fmt::format("expected each frequency once, got {} Hz twice; remove one", *twice));
}

/// Frequencies of files of stations are those of any station unless the shared ones are asked for; a file of
/// profile data states exactly those that it has, and stations of it stand where it puts them.
void choose_frequencies(DataConfig& data) {
  using physics::mt::FrequencyChoice;
  physics::mt::Selection& selection = data.selection;
  const bool on_profile = !data.profile_source().first.empty();
  selection.frequencies = !selection.frequencies_hz.empty()             ? FrequencyChoice::listed
                          : data.frequencies == UsedFrequencies::shared ? FrequencyChoice::shared
                                                                        : FrequencyChoice::all;
  if (!on_profile) return;
  constexpr double same_y_m = 1e-3;
  selection.same_place_m = same_y_m;
  if (selection.frequencies == FrequencyChoice::all)
    selection.frequency_tolerance = physics::mt::same_frequency;
}

}  // namespace

std::pair<std::string, std::string> DataConfig::profile_source() const {
  if (!modem_file.empty()) return {"modem_file", modem_file};
  if (!mare2dem_file.empty()) return {"mare2dem_file", mare2dem_file};
  if (!mt2d_file.empty()) return {"mt2d_file", mt2d_file};
  return {};
}

DataConfig read_data_config(ConfigTable table, int dimension, bool has_sea) {
  table.allow_one_of({"frequencies_hz", "frequencies"});
  table.allow_one_of({"frequencies_hz", "period_min_s"});
  table.allow_one_of({"frequencies_hz", "period_max_s"});
  DataConfig data = read(table, edi_rows(), read_source(table));
  data.selection.limits_te_phases = !has_sea;
  data = read(table, selection_rows(), std::move(data));
  check_limits(table, data);
  check_frequencies(table, data.selection.frequencies_hz);
  choose_frequencies(data);
  data.table = table;
  const Measured form = read(table, measured_rows(), Measured{});
  data.selection.data = quantities_of(table, form);
  data.choices = choices_of(table, form);
  const HeldKinds held{kinds_of(data, dimension), is_chosen_by_option(table)};
  data.floors = read_floors(table.table("floors"), !is_edi(data), dimension, held);
  data.selection.floors = physics::mt::floor_rules(data.floors);
  for (const ConfigTable& floor : table.tables("floor"))
    data.selection.floors.push_back(read_floor(floor, held));
  for (const ConfigTable& mask : table.tables("mask")) data.selection.masks.push_back(read_mask(mask));
  return data;
}

std::vector<std::string> floors_without_effect(const DataConfig& data, const Selection& selection) {
  const ConfigTable floors = data.table.table("floors");
  const ErrorFloors usual = usual_floors(!is_edi(data));
  FloorKinds held;
  for (const Datum each : selection.data) held.insert(rule_of(each).floor);
  std::vector<std::string> places;
  for (const Row<ErrorFloors>& each : floors_rows(held)) {
    const bool is_changed = floors.has(each.key) && each.value(data.floors) != each.value(usual);
    if (is_changed && !each.applies(usual)) places.push_back(floors.place(each.key));
  }
  return places;
}

void describe_data(Page& page) {
  page.add("invert [data]", source_rows());
  page.add("invert [data]", measured_rows());
  page.add("invert [data]", selection_rows());
  page.add("invert [data]", edi_rows());
  page.add("invert [data.floors]", floors_rows());
  page.add("invert [data.floors]", floors_rows(), usual_floors(true),
           "`modem_file`, `mare2dem_file`, `mt2d_file`");
  page.add("invert [[data.floor]]", floor_rows());
  page.add("invert [[data.mask]]", mask_rows());
}

}  // namespace lodestone::mt_invert::config
