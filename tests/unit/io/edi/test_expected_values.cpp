// SPDX-License-Identifier: Apache-2.0
// Values that another reader found in files of two surveys.
#include "io/csv/table.hpp"
#include "io/edi/reader.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::physics::mt;
using namespace lodestone::tests;

namespace {

constexpr double relative = 1e-4;  // more than the digits of the tables leave out

bool is_near(double a, double b, double size) { return std::abs(a - b) <= relative * std::abs(size); }

/// The row of a table that states what one file holds.
class Expected {
 public:
  Expected(const core::Table& table, std::size_t row) : table_(table), row_(row) {}
  [[nodiscard]] double operator()(const std::string& column) const { return table_.numbers(column)[row_]; }
  [[nodiscard]] std::string text(const std::string& column) const { return table_.texts(column)[row_]; }
  [[nodiscard]] Complex impedance(const std::string& element) const {
    return {(*this)(element + "_re"), (*this)(element + "_im")};
  }

 private:
  const core::Table& table_;
  std::size_t row_;
};

const StationRow& row_at(const StationData& station, double frequency_hz) {
  const auto found = std::ranges::find_if(station.rows, [&](const StationRow& row) {
    return is_near(row.frequency_hz, frequency_hz, frequency_hz);
  });
  REQUIRE(found != station.rows.end());
  return *found;
}

void check_impedance(const StationRow& row, Element element, const std::string& name,
                     const Expected& expected) {
  const Complex given = expected.impedance(name), found = row.values[element] / ohm_per_field_unit;
  CAPTURE(name, given, found);
  CHECK(std::abs(found - given) <= relative * std::abs(given));
  const std::string pair = name == "Zxy" ? "xy" : "yx";
  CHECK(is_near(apparent_resistivity_ohm_m(row.values[element], row.frequency_hz), expected("rho_" + pair),
                expected("rho_" + pair)));
  CHECK(is_near(phase_deg(row.values[element]), expected("phs_" + pair + "_deg"), 180.0));
}

}  // namespace

TEST_CASE("EDI: places, frequencies and impedances are those that another reader found", "[edi]") {
  int n_files = 0;
  for (const std::string folder : {"data/gabbs_valley", "data/kap03"}) {
    const core::Table table = io::csv::read_table(source_path(folder + "/expected_values.csv"));
    for (std::size_t k = 0; k < table.n_rows(); ++k) {
      const Expected expected(table, k);
      CAPTURE(folder, expected.text("file"));
      const StationData station = io::edi::read(source_path(folder + "/edi/" + expected.text("file")));
      CHECK(station.site.name == expected.text("dataid"));
      CHECK(is_near(station.site.latitude_deg, expected("lat"), 1.0));
      CHECK(is_near(station.site.longitude_deg, expected("lon"), 1.0));
      CHECK(is_near(station.rows.back().frequency_hz, expected("fmin_hz"), expected("fmin_hz")));
      const StationRow& row = row_at(station, expected("check_freq_hz"));
      check_impedance(row, Element::zxy, "Zxy", expected);
      check_impedance(row, Element::zyx, "Zyx", expected);
      ++n_files;
    }
  }
  CHECK(n_files == 85);
}
