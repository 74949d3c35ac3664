// SPDX-License-Identifier: Apache-2.0
#include "io/modem/words.hpp"

#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::io::modem {
namespace {

using physics::mt::datum;
using physics::mt::Element;

constexpr std::array<std::string_view, 3> units_names{"[V/m]/[T]", "[mV/km]/[nT]", "Ohm"};

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!text::is_blank(c)) out += c;
  }
  return out;
}

}  // namespace

const std::vector<ModemBlock>& modem_blocks() {
  static const std::vector<ModemBlock> blocks{
      {"TE_Impedance", 2, true, false, false, {{"TE", Element::zxy}}},
      {"TM_Impedance", 2, true, false, false, {{"TM", Element::zyx}}},
      {"Tzy_Impedance", 2, false, false, false, {{"TY", Element::tzy, {}, "TZY"}}},
      {"Rho_Phs_TM",
       2,
       false,
       true,
       false,
       {{"Rho_TM", {}, datum("log10_rho_yx")}, {"Phs_TM", {}, datum("phase_yx")}}},
      {"Full_Impedance",
       3,
       true,
       false,
       false,
       {{"ZXX", Element::zxx}, {"ZXY", Element::zxy}, {"ZYX", Element::zyx}, {"ZYY", Element::zyy}}},
      {"Off_Diagonal_Impedance", 3, true, false, false, {{"ZXY", Element::zxy}, {"ZYX", Element::zyx}}},
      {"Full_Vertical_Components", 3, false, false, false, {{"TX", Element::tzx}, {"TY", Element::tzy}}},
      {"Full_Interstation_TF",
       3,
       false,
       false,
       true,
       {{"MXX", Element::mxx}, {"MXY", Element::mxy}, {"MYX", Element::myx}, {"MYY", Element::myy}}},
      {"Off_Diagonal_Rho_Phase",
       3,
       false,
       true,
       false,
       {{"RHOXY", {}, datum("log10_rho_xy")},
        {"PHSXY", {}, datum("phase_xy")},
        {"RHOYX", {}, datum("log10_rho_yx")},
        {"PHSYX", {}, datum("phase_yx")}}},
      {"Phase_Tensor",
       3,
       false,
       true,
       false,
       {{"PTXX", {}, datum("phase_tensor_xx")},
        {"PTXY", {}, datum("phase_tensor_xy")},
        {"PTYX", {}, datum("phase_tensor_yx")},
        {"PTYY", {}, datum("phase_tensor_yy")}}}};
  return blocks;
}

const ModemBlock* modem_block(std::string_view name) {
  const auto found = std::ranges::find_if(modem_blocks(), [name](const ModemBlock& block) {
    return text::equals_ignoring_case(name, block.name);
  });
  return found == modem_blocks().end() ? nullptr : &*found;
}

const ModemComponent* component_of(const ModemBlock& block, std::string_view name) {
  const auto found = std::ranges::find_if(block.components, [name](const ModemComponent& component) {
    return text::equals_ignoring_case(name, component.name) ||
           (!component.other_name.empty() && text::equals_ignoring_case(name, component.other_name));
  });
  return found == block.components.end() ? nullptr : &*found;
}

int ModemDataHead::dimension() const {
  const ModemBlock* block = modem_block(type);
  return block == nullptr ? 3 : block->dimension;
}

bool is_modem_covariance(std::string_view bytes) {
  const auto lines = text::split_lines(bytes.substr(0, 8192));
  return lines.size() > 1 && text::trimmed(lines[0]).starts_with("+--") &&
         text::lower(lines[1]).find("covariance") != std::string::npos;
}

std::optional<ModemSign> modem_sign(std::string_view text) {
  const bool plus = text.find('+') != std::string_view::npos,
             minus = text.find('-') != std::string_view::npos;
  if (!plus && !minus && without_blanks(text).starts_with("exp(i\\omega")) return ModemSign::plus;
  if (plus == minus) return std::nullopt;
  return minus ? ModemSign::minus : ModemSign::plus;
}

std::optional<ModemUnits> modem_units(std::string_view text) {
  const std::string word = text::lower(without_blanks(text));
  if (word == "[v/m]/[t]") return ModemUnits::volt_per_metre_per_tesla;
  if (word == "[mv/km]/[nt]") return ModemUnits::millivolt_per_kilometre_per_nanotesla;
  if (word == "ohm" || word == "[ohm]" || word == "[v/m]/[a/m]") return ModemUnits::ohm;
  return std::nullopt;
}

std::string_view name_of(ModemUnits units) { return units_names.at(static_cast<std::size_t>(units)); }

std::string_view short_name_of(ModemUnits units) {
  constexpr std::array<std::string_view, 3> names{"V/m/T", "mV/km/nT", "ohm"};
  return names.at(static_cast<std::size_t>(units));
}

double ohm_per(ModemUnits units) {
  constexpr std::array<double, 3> factors{physics::mt::ohm_per_modem_si, physics::mt::ohm_per_field_unit,
                                          1.0};
  return factors.at(static_cast<std::size_t>(units));
}

std::optional<ModemDataHead> modem_data_head(std::string_view bytes) {
  std::vector<std::string> entries;
  bool commented = false;
  for (const auto line : text::split_lines(bytes.substr(0, 8192))) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '+') continue;
    if (text.front() == '#') {
      commented = true;
    } else if (text.front() == '>' && commented && entries.size() < 3) {
      entries.emplace_back(text::trimmed(text.substr(1)));
    } else if (entries.size() < 3) {
      return std::nullopt;
    }
    if (entries.size() == 3) break;
  }
  entries.resize(3);
  const bool has_sign = text::lower(entries[1]).starts_with("exp") && modem_sign(entries[1]);
  if (entries[0].empty() || (modem_block(entries[0]) == nullptr && !has_sign)) return std::nullopt;
  return ModemDataHead{entries[0], entries[1], entries[2]};
}

std::optional<ModemModelHead> modem_model_head(std::string_view bytes) {
  for (const auto line : text::split_lines(bytes.substr(0, 8192))) {
    const auto text = text::trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    std::vector<int> counts;
    const auto list = text::words(text);
    for (const auto word : list) {
      const auto value = text::integer(word);
      if (!value) break;
      counts.push_back(*value);
    }
    const bool tail_is_word =
        list.size() == counts.size() ||
        (list.size() == counts.size() + 1 &&
         list.back().find_first_of("0123456789.=") == std::string_view::npos) ||
        (list.size() == counts.size() + 1 && text::equals_ignoring_case(list.back(), "LOG10"));
    if (!tail_is_word || counts.size() < 2 || counts.size() > 4 ||
        *std::min_element(counts.begin(), counts.begin() + 2) < 1)
      return std::nullopt;
    if (counts.size() == 2) return ModemModelHead{2, 1, counts[0], counts[1]};
    if (counts[2] < 1) return std::nullopt;
    return ModemModelHead{3, counts[0], counts[1], counts[2], counts.size() == 4 ? counts[3] : 0};
  }
  return std::nullopt;
}

double unfolded_deg(physics::mt::Datum datum, double written_deg, bool is_turned) {
  const double phase_deg = is_turned ? -written_deg : written_deg;
  if (datum == physics::mt::Datum::phase_xy) return phase_deg;
  return std::remainder(phase_deg > -90.0 ? phase_deg - 180.0 : phase_deg, 360.0);
}

}  // namespace lodestone::io::modem
