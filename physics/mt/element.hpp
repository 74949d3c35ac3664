// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>

namespace lodestone::physics::mt {

using Complex = std::complex<double>;

/// Stands where a file gives no number.
inline constexpr double not_given = std::numeric_limits<double>::quiet_NaN();

/// Polarization of a two-dimensional field. TE: E along strike (Zxy, tipper). TM: H along strike (Zyx).
enum class Mode : std::uint8_t { te, tm };
constexpr auto words(Mode) {
  using enum Mode;
  return core::Words<Mode>{{te, "te"}, {tm, "tm"}};
}

/// Complex numbers that are measured at one station and frequency: impedance, tipper, and the inter-station
/// transfer function to a reference station. sign: e^{+iωt}. E = Z H, H_z = Tzx H_x + Tzy H_y; of horizontal
/// magnetic fields H = M H_reference.
enum class Element : std::uint8_t { zxx, zxy, zyx, zyy, tzx, tzy, mxx, mxy, myx, myy };
inline constexpr std::size_t n_elements = 10;
inline constexpr std::array<Element, n_elements> all_elements{
    Element::zxx, Element::zxy, Element::zyx, Element::zyy, Element::tzx,
    Element::tzy, Element::mxx, Element::mxy, Element::myx, Element::myy};
[[nodiscard]] constexpr std::size_t index_of(Element element) { return static_cast<std::size_t>(element); }

/// One number of each element.
template <class T>
struct PerElement {
  std::array<T, n_elements> numbers{};
  [[nodiscard]] constexpr T& operator[](Element element) { return numbers[index_of(element)]; }
  [[nodiscard]] constexpr const T& operator[](Element element) const { return numbers[index_of(element)]; }
};

/// A set of elements.
class Elements {
 public:
  using Values = PerElement<Complex>;  ///< impedance in ohm; the others have no unit
  using Errors = PerElement<double>;   ///< one standard deviation of the real and of the imaginary part

  constexpr Elements() = default;
  constexpr Elements(std::initializer_list<Element> elements) {
    for (const Element element : elements) insert(element);
  }
  constexpr void insert(Element element) { bits_ |= bit(element); }
  [[nodiscard]] constexpr bool contains(Element element) const { return (bits_ & bit(element)) != 0; }
  [[nodiscard]] constexpr bool contains(Elements others) const { return (others.bits_ & ~bits_) == 0; }
  [[nodiscard]] constexpr int size() const {
    int n = 0;
    for (const Element element : all_elements) n += contains(element) ? 1 : 0;
    return n;
  }
  /// Returns the only element of the set, or nothing where there are several or none.
  [[nodiscard]] constexpr std::optional<Element> single() const {
    for (const Element element : all_elements) {
      if (bits_ == bit(element)) return element;
    }
    return {};
  }
  friend constexpr Elements operator|(Elements a, Elements b) {
    a.bits_ |= b.bits_;
    return a;
  }
  friend constexpr bool operator==(Elements, Elements) = default;

 private:
  static constexpr unsigned bit(Element element) { return 1U << index_of(element); }
  unsigned bits_ = 0;
};

inline constexpr Elements all_impedances{Element::zxx, Element::zxy, Element::zyx, Element::zyy};
inline constexpr Elements all_tippers{Element::tzx, Element::tzy};
inline constexpr Elements all_interstation{Element::mxx, Element::mxy, Element::myx, Element::myy};
/// Elements that a section with strike along x predicts; the others are zero over it.
inline constexpr Elements section_elements{Element::zxy, Element::zyx, Element::tzy};

/// One row of the table of elements.
struct ElementRule {
  std::string_view name;   ///< "Zxy"
  std::string_view units;  ///< "ohm"; empty for tipper and inter-station functions
  Mode mode;               ///< mode of the channel on the left: E_x, H_y and H_z are TE, E_y and H_x TM
  /// This angle in radian is added to the phase for quadrants and pictures; absent: no quadrant is expected.
  std::optional<double> branch_rad;
};

inline constexpr std::array<ElementRule, n_elements> element_rules{{
    {"Zxx", "ohm", Mode::te, {}},
    {"Zxy", "ohm", Mode::te, 0.0},
    {"Zyx", "ohm", Mode::tm, std::numbers::pi},
    {"Zyy", "ohm", Mode::tm, {}},
    {"Tzx", "", Mode::te, {}},
    {"Tzy", "", Mode::te, {}},
    {"Mxx", "", Mode::tm, {}},
    {"Mxy", "", Mode::tm, {}},
    {"Myx", "", Mode::te, {}},
    {"Myy", "", Mode::te, {}},
}};
[[nodiscard]] constexpr const ElementRule& rule_of(Element element) {
  return element_rules[index_of(element)];
}
[[nodiscard]] constexpr bool is_impedance(Element element) { return all_impedances.contains(element); }
[[nodiscard]] constexpr bool is_tipper(Element element) { return all_tippers.contains(element); }
[[nodiscard]] constexpr bool is_interstation(Element element) { return all_interstation.contains(element); }

}  // namespace lodestone::physics::mt
