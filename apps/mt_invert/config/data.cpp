// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/data.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::mt_invert::config {
namespace {

using physics::mt::Quantity;

/// Quantities of one mode in the chosen form.
std::vector<Quantity> quantities_of(const std::string& mode, const std::string& kind) {
  if (mode == "te") {
    return kind == "impedance" ? std::vector{Quantity::zxy_re, Quantity::zxy_im}
                               : std::vector{Quantity::log10_rho_xy, Quantity::phase_xy};
  }
  return kind == "impedance" ? std::vector{Quantity::zyx_re, Quantity::zyx_im}
                             : std::vector{Quantity::log10_rho_yx, Quantity::phase_yx};
}

std::vector<Quantity> read_quantities(ConfigTable& table) {
  const std::string kind = table.choice("kind", {"log10_rho_phase", "impedance"}, "log10_rho_phase");
  std::vector<std::string> modes =
      table.has("modes") ? table.texts("modes") : std::vector<std::string>{"te", "tm"};
  const bool tipper = table.flag("tipper", false);
  std::vector<Quantity> result;
  for (const std::string& mode : modes) {
    if (mode != "te" && mode != "tm")
      table.refuse("modes", fmt::format("expected \"te\" and \"tm\", got \"{}\"", mode));
    for (const Quantity quantity : quantities_of(mode, kind)) {
      if (std::ranges::find(result, quantity) != result.end())
        table.refuse("modes", fmt::format("lists \"{}\" twice", mode));
      result.push_back(quantity);
    }
  }
  if (tipper) result.insert(result.end(), {Quantity::tzy_re, Quantity::tzy_im});
  if (result.empty()) table.refuse("modes", "expected at least one mode or tipper = true, got neither");
  return result;
}

io::edi::EdiOptions read_edi_options(ConfigTable& table) {
  io::edi::EdiOptions options;
  const std::string variance =
      table.choice("edi_variance", {"of_complex_element", "of_each_part"}, "of_complex_element");
  if (variance == "of_each_part") options.variance = io::edi::EdiVariance::of_each_part;
  const std::string sign = table.choice("edi_sign", {"vote", "plus", "minus"}, "vote");
  options.sign = sign == "plus"    ? io::edi::EdiSign::plus
                 : sign == "minus" ? io::edi::EdiSign::minus
                                   : io::edi::EdiSign::vote;
  const std::string units = table.choice("edi_units", {"vote", "field", "ohm"}, "vote");
  options.units = units == "field" ? io::edi::EdiUnits::field
                  : units == "ohm" ? io::edi::EdiUnits::ohm
                                   : io::edi::EdiUnits::vote;
  return options;
}

/// Files of profile data carry the errors to be used; station files mostly carry errors that are far too
/// small.
physics::mt::ErrorFloors read_floors(ConfigTable table, bool from_profile_file) {
  const physics::mt::ErrorFloors usual =
      from_profile_file ? physics::mt::ErrorFloors{0.0, 0.0, 0.0, 0.0} : physics::mt::ErrorFloors{};
  constexpr double most = 10.0, most_deg = 360.0;  // data with larger errors than these say nothing
  physics::mt::ErrorFloors floors;
  floors.impedance_relative = table.from_zero_to(most, "impedance_relative", usual.impedance_relative);
  floors.log10_rho = table.from_zero_to(most, "log10_rho", usual.log10_rho);
  floors.phase_deg = table.from_zero_to(most_deg, "phase_deg", usual.phase_deg);
  floors.tipper_absolute = table.from_zero_to(most, "tipper_absolute", usual.tipper_absolute);
  return floors;
}

physics::mt::MaskRule read_mask(ConfigTable table) {
  physics::mt::MaskRule rule;
  rule.station = table.text("station", "");
  for (const std::string& name : table.texts("quantities")) {
    try {
      rule.quantities.push_back(physics::mt::quantity_from(name));
    } catch (const core::InvalidArgument& error) {
      table.refuse("quantities", error.what());
    }
  }
  if (const auto least = table.optional_real("frequency_min_hz")) rule.min_frequency_hz = *least;
  if (const auto most = table.optional_real("frequency_max_hz")) rule.max_frequency_hz = *most;
  if (rule.min_frequency_hz > rule.max_frequency_hz) {
    table.refuse("frequency_min_hz", fmt::format("expected at most frequency_max_hz = {}, got {}",
                                                 rule.max_frequency_hz, rule.min_frequency_hz));
  }
  return rule;
}

void read_source(ConfigTable& table, DataConfig& data) {
  table.allow_one_of({"edi_folder", "edi_files", "modem_file", "mare2dem_file", "mt2d_file"});
  data.edi_folder = table.path("edi_folder");
  data.edi_files = table.paths("edi_files");
  data.modem_file = table.path("modem_file");
  data.mare2dem_file = table.path("mare2dem_file");
  data.mt2d_file = table.path("mt2d_file");
  const std::string profile_key = data.profile_source().first;
  if (data.edi_folder.empty() && data.edi_files.empty() && profile_key.empty()) {
    table.refuse("edi_folder",
                 "expected one of edi_folder, edi_files, modem_file, mare2dem_file and mt2d_file, got none; "
                 "say where the data are");
  }
  if (profile_key.empty()) {
    data.edi.station_order = table.texts("station_order");
    data.edi.edi = read_edi_options(table);
    data.selection.interpolate_stations = table.texts("interpolate_stations");
    data.selection.ignore_file_errors = table.flag("ignore_file_errors", false);
    data.selection.frequency_tolerance =
        table.positive("frequency_tolerance", data.selection.frequency_tolerance);
    return;
  }
  for (const char* key : {"station_order", "edi_variance", "edi_sign", "edi_units", "interpolate_stations",
                          "ignore_file_errors"}) {
    if (table.has(key))
      table.refuse(key, fmt::format("applies to EDI files, but the data come from {}; remove one of the two",
                                    profile_key));
  }
  data.selection.frequency_tolerance =
      table.positive("frequency_tolerance", data.selection.frequency_tolerance);
}

void read_periods(ConfigTable& table, DataConfig& data) {
  data.selection.frequencies_hz = table.reals("frequencies_hz");
  for (const double frequency : data.selection.frequencies_hz) {
    if (!(frequency > 0.0))
      table.refuse("frequencies_hz", fmt::format("expected positive frequencies, got {}", frequency));
  }
  table.allow_one_of({"frequencies_hz", "period_min_s"});
  table.allow_one_of({"frequencies_hz", "period_max_s"});
  if (const auto least = table.optional_real("period_min_s")) data.period_min_s = *least;
  if (const auto most = table.optional_real("period_max_s")) data.period_max_s = *most;
  if (data.period_min_s > data.period_max_s) {
    table.refuse("period_min_s", fmt::format("expected at most period_max_s = {}, got {}", data.period_max_s,
                                             data.period_min_s));
  }
}

}  // namespace

std::pair<std::string, std::string> DataConfig::profile_source() const {
  if (!modem_file.empty()) return {"modem_file", modem_file};
  if (!mare2dem_file.empty()) return {"mare2dem_file", mare2dem_file};
  if (!mt2d_file.empty()) return {"mt2d_file", mt2d_file};
  return {};
}

DataConfig read_data_config(ConfigTable table) {
  DataConfig data;
  read_source(table, data);
  data.selection.quantities = read_quantities(table);
  read_periods(table, data);
  data.selection.min_phase_deg = table.real("phase_min_deg", data.selection.min_phase_deg);
  data.selection.max_phase_deg = table.real("phase_max_deg", data.selection.max_phase_deg);
  if (data.selection.min_phase_deg >= data.selection.max_phase_deg)
    table.refuse("phase_min_deg", "expected less than phase_max_deg");
  data.selection.floors = read_floors(table.table("floors"), !data.profile_source().first.empty());
  for (const ConfigTable& mask : table.tables("mask")) data.selection.masks.push_back(read_mask(mask));
  return data;
}

}  // namespace lodestone::mt_invert::config
