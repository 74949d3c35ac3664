// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/station_data.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

namespace lodestone::tests {

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}
/// Returns true for the same bits, and for two numbers that are missing.
inline bool same_number(double a, double b) { return same_bits(a, b) || (std::isnan(a) && std::isnan(b)); }
inline bool same_number(std::complex<double> a, std::complex<double> b) {
  return (same_number(a.real(), b.real()) && same_number(a.imag(), b.imag())) ||
         (std::isnan(a.real()) && std::isnan(b.real()));
}

/// Returns the first part in which two rows differ; empty where all numbers have the same bits.
inline std::string difference(const physics::mt::StationRow& a, const physics::mt::StationRow& b) {
  if (!same_bits(a.frequency_hz, b.frequency_hz)) return "frequency";
  for (std::size_t k = 0; k < physics::mt::n_elements; ++k) {
    if (!same_number(a.values.numbers[k], b.values.numbers[k])) return fmt::format("value {}", k);
    if (!same_number(a.errors.numbers[k], b.errors.numbers[k])) return fmt::format("error {}", k);
  }
  if (!same_bits(a.azimuths, b.azimuths)) return "azimuths";
  if (a.estimates.has_value() != b.estimates.has_value()) return "estimates";
  if (!a.estimates) return "";
  if (a.estimates->inverse_signal != b.estimates->inverse_signal) return "signal";
  for (Eigen::Index i = 0; i < 3; ++i)
    for (Eigen::Index j = 0; j < 3; ++j)
      if (!same_number(a.estimates->noise(i, j), b.estimates->noise(i, j))) return "noise";
  return "";
}

/// Returns true where a remark contains these words.
inline bool has_remark(const physics::mt::StationData& station, const std::string& part) {
  return std::ranges::any_of(station.remarks, [&](const physics::mt::Remark& remark) {
    return remark.text.find(part) != std::string::npos;
  });
}

/// Checks that name, place and all rows of two stations are the same bit by bit.
inline void check_same_station(const physics::mt::StationData& a, const physics::mt::StationData& b) {
  CHECK(a.site.name == b.site.name);
  CHECK(same_number(a.site.latitude_deg, b.site.latitude_deg));
  CHECK(same_number(a.site.longitude_deg, b.site.longitude_deg));
  REQUIRE(a.rows.size() == b.rows.size());
  for (std::size_t i = 0; i < a.rows.size(); ++i) CHECK(difference(a.rows[i], b.rows[i]).empty());
}

}  // namespace lodestone::tests
