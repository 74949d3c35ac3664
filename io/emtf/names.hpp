// SPDX-License-Identifier: Apache-2.0
// Small on purpose: names that reader and writer share.
#pragma once

#include "physics/mt/element.hpp"

#include <array>
#include <string_view>

namespace lodestone::io::emtf {

/// A number of an impedance ("Z") or a tipper ("T") in a file.
struct NamedElement {
  physics::mt::Element element;
  std::string_view type, name, output, input;
};
inline constexpr std::array<NamedElement, 6> named_elements{{
    {physics::mt::Element::zxx, "Z", "Zxx", "Ex", "Hx"},
    {physics::mt::Element::zxy, "Z", "Zxy", "Ex", "Hy"},
    {physics::mt::Element::zyx, "Z", "Zyx", "Ey", "Hx"},
    {physics::mt::Element::zyy, "Z", "Zyy", "Ey", "Hy"},
    {physics::mt::Element::tzx, "T", "Tx", "Hz", "Hx"},
    {physics::mt::Element::tzy, "T", "Ty", "Hz", "Hy"},
}};
inline constexpr std::array<std::string_view, 3> output_names{"Ex", "Ey", "Hz"};
inline constexpr std::array<std::string_view, 2> input_names{"Hx", "Hy"};

}  // namespace lodestone::io::emtf
