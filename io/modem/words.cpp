// SPDX-License-Identifier: Apache-2.0
#include "io/modem/words.hpp"

#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <array>

namespace lodestone::io::modem {
namespace {

constexpr std::array<std::string_view, 4> block_names{"TE_Impedance", "TM_Impedance", "Tzy_Impedance",
                                                      "Rho_Phs_TM"};
constexpr std::array<std::string_view, 7> names_3d{
    "Full_Impedance",         "Off_Diagonal_Impedance", "Full_Vertical_Components", "Full_Interstation_TF",
    "Off_Diagonal_Rho_Phase", "Phase_Tensor",           "Full_Vertical_Magnetic"};
constexpr std::array<std::string_view, 3> units_names{"[V/m]/[T]", "[mV/km]/[nT]", "Ohm"};

std::string without_blanks(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (!text::is_blank(c)) out += c;
  }
  return out;
}

}  // namespace

std::optional<ModemBlockKind> modem_block_kind(std::string_view name) {
  for (std::size_t i = 0; i < block_names.size(); ++i) {
    if (text::equals_ignoring_case(name, block_names[i])) return static_cast<ModemBlockKind>(i);
  }
  return std::nullopt;
}

std::string_view name_of(ModemBlockKind kind) { return block_names.at(static_cast<std::size_t>(kind)); }

bool is_component(ModemBlockKind kind, std::string_view name) {
  const auto is = [name](std::string_view component) { return text::equals_ignoring_case(name, component); };
  switch (kind) {
    case ModemBlockKind::te:
      return is("TE");
    case ModemBlockKind::tm:
      return is("TM");
    case ModemBlockKind::tzy:
      return is("TY") || is("TZY");
    case ModemBlockKind::rho_phase_tm:
      return is("Rho_TM") || is("Phs_TM");
  }
  return false;
}

std::optional<ModemSign> modem_sign(std::string_view text) {
  const bool plus = text.find('+') != std::string_view::npos,
             minus = text.find('-') != std::string_view::npos;
  if (plus == minus) return std::nullopt;
  return minus ? ModemSign::minus : ModemSign::plus;
}

bool is_modem_3d_block(std::string_view name) {
  return std::any_of(names_3d.begin(), names_3d.end(),
                     [&](std::string_view n) { return text::equals_ignoring_case(name, n); });
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
  if (entries.empty() || !(modem_block_kind(entries[0]) || is_modem_3d_block(entries[0])))
    return std::nullopt;
  entries.resize(3);
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
    return counts[2] < 1 ? std::nullopt : std::optional(ModemModelHead{3, counts[0], counts[1], counts[2]});
  }
  return std::nullopt;
}

}  // namespace lodestone::io::modem
