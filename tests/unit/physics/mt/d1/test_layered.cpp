// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/d1/layered.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

using namespace lodestone;
using namespace lodestone::physics;
using Complex = std::complex<double>;

namespace {

struct ReferenceRow {
  std::string model;
  mt::d1::LayeredEarth earth;
  double frequency_hz = 0.0;
  Complex impedance_ohm;
};

std::vector<double> numbers(const std::string& text) {
  std::istringstream stream(text);
  std::vector<double> values;
  for (double value = 0.0; stream >> value;) values.push_back(value);
  return values;
}

std::vector<ReferenceRow> reference_rows() {
  std::ifstream file(std::string(LODESTONE_SOURCE_DIR) + "/data/benchmarks/layered1d.csv");
  std::vector<ReferenceRow> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    // The periods are whole half-decades, rounded to six digits in the table.
    const double period_s = std::pow(10.0, std::round(2.0 * std::log10(std::stod(cells[3]))) / 2.0);
    rows.push_back({cells[0],
                    {numbers(cells[1]), numbers(cells[2])},
                    1.0 / period_s,
                    {std::stod(cells[6]), std::stod(cells[7])}});
  }
  return rows;
}

const mt::d1::LayeredEarth five_layers{.resistivity_ohm_m = {300.0, 2500.0, 0.8, 3000.0, 25.0},
                                       .thickness_m = {600.0, 1400.0, 4000.0, 4000.0}};

double relative(Complex got, Complex expected) { return std::abs(got - expected) / std::abs(expected); }

}  // namespace

TEST_CASE("layered earth: the reference table is met to 1e-8 at every period") {
  const auto rows = reference_rows();
  REQUIRE(rows.size() == 67);
  for (const ReferenceRow& row : rows) {
    CAPTURE(row.model, row.frequency_hz);
    CHECK(relative(mt::d1::layered_impedance(row.earth, row.frequency_hz), row.impedance_ohm) < 1e-8);
  }
}

TEST_CASE("half-space: apparent resistivity equals resistivity and phase is 45 degrees at every frequency") {
  for (const double frequency_hz : {1e-5, 1e-2, 1.0, 1e4}) {
    const Complex z =
        mt::d1::layered_impedance({.resistivity_ohm_m = {37.0}, .thickness_m = {}}, frequency_hz);
    CHECK(std::norm(z) / (mt::omega(frequency_hz) * mt::mu0) == Approx(37.0).epsilon(1e-13));
    CHECK(std::arg(z) * mt::deg_per_rad == Approx(45.0).epsilon(1e-13));
  }
}

TEST_CASE("layered earth: cutting a layer in a thousand thin ones changes nothing") {
  mt::d1::LayeredEarth cut{.resistivity_ohm_m = {}, .thickness_m = {}};
  for (std::size_t layer = 0; layer < 4; ++layer) {
    for (int i = 0; i < 1000; ++i) {
      cut.resistivity_ohm_m.push_back(five_layers.resistivity_ohm_m[layer]);
      cut.thickness_m.push_back(five_layers.thickness_m[layer] / 1000.0);
    }
  }
  cut.resistivity_ohm_m.push_back(25.0);
  for (const double frequency_hz : {1e-5, 1e-2, 10.0})
    CHECK(relative(mt::d1::layered_impedance(cut, frequency_hz),
                   mt::d1::layered_impedance(five_layers, frequency_hz)) < 1e-11);
}

TEST_CASE("layered earth: very thick layers do not overflow") {
  const Complex z = mt::d1::layered_impedance({.resistivity_ohm_m = {1.0, 100.0}, .thickness_m = {1e7}}, 1e4);
  CHECK(relative(z, mt::d1::layered_impedance({.resistivity_ohm_m = {1.0}, .thickness_m = {}}, 1e4)) < 1e-14);
}

TEST_CASE("layered earth: a perfectly conducting bottom gives the closed form of one layer") {
  const double frequency_hz = 0.03, rho = 10.0, h = 50e3;
  const Complex k = std::sqrt(Complex(0.0, mt::omega(frequency_hz) * mt::mu0 / rho));
  const Complex expected = rho * k * std::tanh(k * h);
  const auto response =
      mt::d1::layered_response({.resistivity_ohm_m = {rho, 1e-9}, .thickness_m = {h}}, frequency_hz);
  CHECK(relative(response.impedance_ohm, expected) < 1e-13);
  CHECK(std::abs(response.d_ln_resistivity[1]) == 0.0);
}

TEST_CASE("layered earth: derivatives equal central differences") {
  for (const double frequency_hz : {1e-4, 1e-2, 1.0, 30.0}) {
    const auto response = mt::d1::layered_response(five_layers, frequency_hz);
    CHECK(relative(response.impedance_ohm, mt::d1::layered_impedance(five_layers, frequency_hz)) < 1e-15);
    const double scale = std::abs(response.impedance_ohm), step = 1e-5;
    for (std::size_t i = 0; i < 5; ++i) {
      mt::d1::LayeredEarth above = five_layers, below = five_layers;
      above.resistivity_ohm_m[i] *= std::exp(step);
      below.resistivity_ohm_m[i] *= std::exp(-step);
      const Complex difference =
          (mt::d1::layered_impedance(above, frequency_hz) - mt::d1::layered_impedance(below, frequency_hz)) /
          (2.0 * step);
      CHECK(std::abs(response.d_ln_resistivity[i] - difference) < 1e-9 * scale);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      mt::d1::LayeredEarth above = five_layers, below = five_layers;
      const double dh = step * five_layers.thickness_m[i];
      above.thickness_m[i] += dh;
      below.thickness_m[i] -= dh;
      const Complex difference =
          (mt::d1::layered_impedance(above, frequency_hz) - mt::d1::layered_impedance(below, frequency_hz)) /
          (2.0 * dh);
      CHECK(std::abs(response.d_thickness[i] - difference) * five_layers.thickness_m[i] < 1e-8 * scale);
    }
  }
}

TEST_CASE("layered earth: sensitivities to all log resistivities of a scaled earth sum to the scaling law") {
  // Z(s·ρ, √s·h) = √s·Z(ρ, h): differentiate with respect to ln s.
  const auto response = mt::d1::layered_response(five_layers, 0.1);
  Complex sum = 0.0;
  for (const Complex d : response.d_ln_resistivity) sum += d;
  for (std::size_t i = 0; i < 4; ++i) sum += 0.5 * five_layers.thickness_m[i] * response.d_thickness[i];
  CHECK(relative(sum, 0.5 * response.impedance_ohm) < 1e-12);
}

TEST_CASE("layered earth: wrong arguments say what came") {
  using tests::HasId;
  const auto refusal = [](std::vector<double> resistivity, std::vector<double> thickness, double frequency) {
    return tests::error_of<core::Error>([&] {
      (void)mt::d1::layered_impedance({resistivity, thickness}, frequency);
    });
  };
  CHECK_THAT(refusal({1.0, 2.0}, {}, 1.0), HasId("wrong_size", {"2", "0"}));
  CHECK_THAT(refusal({1.0, -2.0}, {1.0}, 1.0), HasId("resistivity_not_positive", {"-2 ohm m", "2"}));
  CHECK_THAT(refusal({1.0, 2.0}, {0.0}, 1.0), HasId("thickness_not_positive", {"0 m", "1"}));
  CHECK_THAT(tests::error_of<core::InvalidArgument>([] {
               (void)mt::d1::layered_response({.resistivity_ohm_m = {1.0}, .thickness_m = {}}, 0.0);
             }),
             HasId("frequency_not_positive", {"0 Hz"}));
  CHECK_THAT(refusal({}, {}, 1.0), HasId("wrong_size", {"0"}));
}
