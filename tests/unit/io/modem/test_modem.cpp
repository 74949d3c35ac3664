// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/modem.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;
using physics::mt::MaskReason;
using physics::mt::Observations;

namespace {

const std::string block2_model = source_path("data/modem_block2_2d/m0.rho");
const std::string block2_data = source_path("data/modem_block2_2d/d0_JT.dat");

std::string header(const std::string& type, const std::string& sign, const std::string& units) {
  return "# comment\n# columns\n> " + type + "\n> exp(" + sign + "i\\omega t)\n> " + units +
         "\n> 0.00\n> 0.000 0.000\n> 2 2\n";
}

template <class E = core::FormatError>
core::Error data_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "d.dat", text);
  return error_of<E>([&] { (void)modem::read_data(path); });
}

core::Error model_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.rho", text);
  return error_of<core::FormatError>([&] { (void)modem::read_model(path); });
}

Observations read_text(const std::string& text) {
  const TemporaryFolder folder;
  return stated_data(modem::read_data(write_text(folder, "d.dat", text)));
}

double value_at(const Observations& data, Datum quantity, int frequency, int station) {
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& k = data.survey.keys[i];
    if (k.quantity == quantity && k.frequency == frequency && k.station == station)
      return data.value[static_cast<Eigen::Index>(i)];
  }
  return physics::mt::not_given;
}

/// Checks that both have the same kept data, bit for bit.
void check_same(const Observations& a, const Observations& b) {
  const auto x = a.kept(), y = b.kept();
  REQUIRE(x.survey.keys.size() == y.survey.keys.size());
  CHECK(x.survey.frequencies_hz == y.survey.frequencies_hz);
  bool same = true;
  for (std::size_t i = 0; i < x.survey.keys.size(); ++i) {
    const auto e = static_cast<Eigen::Index>(i);
    same = same && x.survey.keys[i].quantity == y.survey.keys[i].quantity &&
           x.survey.keys[i].station == y.survey.keys[i].station && x.value[e] == y.value[e] &&
           x.sigma[e] == y.sigma[e];
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("ModEM 2-D model: the BLOCK2 example has its grid and its three resistivities", "[modem]") {
  const auto section = modem::read_model(block2_model);
  CHECK(section.earth.grid.n_y() == 100);
  CHECK(section.earth.grid.n_z() == 31);
  CHECK(section.earth.grid.y_edges_m().front() == 0.0);
  CHECK(section.earth.grid.y_edges_m()[1] == 8e4);
  CHECK(section.earth.grid.z_edges_m()[1] == 10.0);
  CHECK(section.values.minCoeff() == Approx(10.0).epsilon(1e-4));
  CHECK(section.values.maxCoeff() == Approx(1000.0).epsilon(1e-4));
  CHECK(section.values[0] == Approx(100.0).epsilon(1e-4));
  CHECK(section.earth.surface.is_flat());
}

TEST_CASE("ModEM 2-D model: writing and reading back gives the same section on every scale", "[modem]") {
  const TemporaryFolder folder;
  const auto section = modem::read_model(block2_model);
  for (const auto scale : {modem::ModemScale::linear, modem::ModemScale::loge, modem::ModemScale::log10}) {
    modem::write_model(folder / "m.rho", section, scale);
    const auto back = modem::read_model(folder / "m.rho");
    CHECK(back.earth.grid.y_edges_m() == section.earth.grid.y_edges_m());
    CHECK(back.earth.grid.z_edges_m() == section.earth.grid.z_edges_m());
    const double difference = (back.values.array() / section.values.array() - 1.0).abs().maxCoeff();
    CHECK(difference <= (scale == modem::ModemScale::linear ? 0.0 : 1e-14));
  }
}

TEST_CASE("ModEM 2-D model: columns run with y and rows with depth", "[modem]") {
  const TemporaryFolder folder;
  const auto section =
      modem::read_model(write_text(folder, "m.rho", "2 3\n10 20\n1 2 3\n1\n1 2\n3 4\n5 6\n"));
  CHECK(section.values[section.earth.grid.index(0, 1)] == 2.0);
  CHECK(section.values[section.earth.grid.index(2, 0)] == 5.0);
  CHECK(section.earth.grid.y_edges_m() == std::vector<double>{0, 10, 30});
  CHECK(section.earth.grid.z_edges_m() == std::vector<double>{0, 1, 3, 6});
}

TEST_CASE("ModEM 2-D model: wrong counts and signs are format errors with file and line", "[modem]") {
  CHECK_THAT(model_message("2 3\n10 20\n1 2 3\n0\n1 2\n3 4\n5\n"), HasId("cut_off", {"m.rho:7"}));
  CHECK_THAT(model_message("2 1\n10 20\n1\n0\n1 2\n3\n"), HasId("too_many_values", {"m.rho:6"}));
  CHECK_THAT(model_message("2 1\n10 -20\n1\n0\n1 2\n"), HasId("width_not_positive", {"m.rho:2", "-20"}));
  for (const char* width : {"1e308", "1e-300"})
    CHECK_THAT(model_message(std::string("2 1\n10 ") + width + "\n1\n0\n1 2\n"),
               HasId("width_out_of_range", {"m.rho:2", "1e+08"}));
  CHECK_THAT(model_message("2 1\n10 20\n1\n0\n1 -2\n"), HasId("resistivity_out_of_range", {"m.rho:5", "-2"}));
  CHECK_THAT(model_message("2 1 LOG10\n10 20\n1\n0\n1 -30\n"),
             HasId("resistivity_out_of_range", {"m.rho:5", "1e-06", "1e+12", "1e-30"}));
  CHECK_THAT(model_message("2 1 LOGX\n10 20\n1\n0\n1 2\n"),
             HasId("unknown_scale", {"LOGE", "LOG10", "LINEAR"}));
  CHECK_THAT(model_message("2 1\n10 x\n1\n0\n1 2\n"), HasId("not_a_number", {"\"x\""}));
  CHECK_THAT(model_message("1000000 1000000\n"), HasId("counts_too_large", {"1000000"}));
  CHECK_THAT(model_message(""), HasId("empty_file", {"m.rho:1"}));
  const TemporaryFolder folder;
  auto hill = modem::read_model(block2_model);
  hill.earth.surface = physics::mesh::SurfaceLine({0.0, 1.0}, {0.0, -1.0});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)modem::write_model(folder / "h.rho", hill); }),
             HasId("has_topography", {folder / "h.rho"}));
}

TEST_CASE(
    "ModEM 2-D data: the BLOCK2 example is converted to ohm and exp(+i omega t), its placeholder errors are "
    "masked",
    "[modem]") {
  const auto data = stated_data(modem::read_data(block2_data));
  CHECK(data.survey.stations.size() == 40);
  CHECK(data.survey.frequencies_hz.size() == 12);
  CHECK(data.survey.keys.size() == 4U * 12 * 40);
  CHECK(data.n_used() == 0);
  CHECK(data.reason[0] == MaskReason::bad_error);
  CHECK(data.survey.stations[0].y_m == 302500.0);
  CHECK(value_at(data, Datum::zxy_re, 0, 0) == Approx(2.877713e4 * physics::mt::ohm_per_modem_si));
  CHECK(value_at(data, Datum::zxy_im, 0, 0) == Approx(2.847907e4 * physics::mt::ohm_per_modem_si));
  CHECK(value_at(data, Datum::zyx_re, 0, 0) < 0.0);
  CHECK(value_at(data, Datum::zyx_im, 0, 0) < 0.0);
}

TEST_CASE("ModEM 2-D data: all block types, signs and units are read", "[modem]") {
  const auto data = read_text(header("TE_Impedance", "+", "[mV/km]/[nT]") +
                              "1.0 a 0 0 0 100 0 TE 1.0 2.0 0.1\n10.0 a 0 0 0 100 0 TE 3.0 4.0 0.1\n" +
                              header("Tzy_Impedance", "-", "[]") +
                              "1.0 b -20.5 17.5 0 200 0 TY 0.1 0.2 0.01\n" + header("Rho_Phs_TM", "+", "[]") +
                              "1.0 a 0 0 0 100 0 Rho_TM 100.0 10.0\n1.0 a 0 0 0 100 0 Phs_TM 50.0 2.0\n");
  CHECK(value_at(data, Datum::zxy_im, 1, 0) == Approx(4.0 * physics::mt::ohm_per_field_unit));
  CHECK(std::isnan(value_at(data, Datum::zxy_im, 1, 1)));
  CHECK(value_at(data, Datum::tzy_im, 0, 1) == -0.2);
  CHECK(value_at(data, Datum::log10_rho_yx, 0, 0) == Approx(2.0));
  CHECK(value_at(data, Datum::phase_yx, 0, 0) == Approx(-130.0 / physics::mt::deg_per_rad));
  CHECK(data.survey.stations[1].latitude_deg == -20.5);
  CHECK(std::isnan(data.survey.stations[0].latitude_deg));
  CHECK(data.n_used() == 2 * 2 + 2 + 2);
}

TEST_CASE("ModEM 2-D data: tippers of a station that are all zero are missing, with a remark", "[modem]") {
  const TemporaryFolder folder;
  const auto stations = modem::read_data(
      write_text(folder, "d.dat",
                 header("TE_Impedance", "+", "[mV/km]/[nT]") + "1.0 a 0 0 0 100 0 TE 1.0 2.0 0.1\n" +
                     header("Tzy_Impedance", "+", "[]") +
                     "1.0 a 0 0 0 100 0 TY 0.0 0.0 0.01\n10.0 a 0 0 0 100 0 TY 0.0 0.0 0.01\n"
                     "1.0 b 0 0 0 200 0 TY 0.0 0.0 0.01\n10.0 b 0 0 0 200 0 TY 0.0 0.1 0.01\n"));
  REQUIRE(stations.size() == 2);
  for (const auto& row : stations[0].rows) CHECK(row.is_missing(physics::mt::Element::tzy));
  CHECK_FALSE(stations[0].rows[0].is_missing(physics::mt::Element::zxy));
  CHECK(stations[0].remarks.empty());
  CHECK_THAT(stations[0].zero_tippers,
             Catch::Contains("d.dat: ") && Catch::Contains("station a") && Catch::Contains(" 4 "));
  CHECK(stations[1].rows[0].values[physics::mt::Element::tzy] == physics::mt::Complex(0.0, 0.0));
  CHECK(stations[1].all_remarks().empty());
}

TEST_CASE("ModEM 2-D data: impedances are rows, resistivities and phases readings", "[modem]") {
  const TemporaryFolder folder;
  const auto stations = modem::read_data(
      write_text(folder, "d.dat",
                 header("TE_Impedance", "-", "[V/m]/[T]") +
                     "10.0 a 0 0 0 100 0 TE 1.0 2.0 2e15\n1.0 a 0 0 0 100 0 TE 3.0 4.0 0.1\n"
                     "1.0 b 0 0 0 100 0 TE 3.0 4.0 0.1\n" +
                     header("Rho_Phs_TM", "+", "[]") + "1.0 a 0 0 0 100 0 Rho_TM 100.0 10.0\n"));
  REQUIRE(stations.size() == 2);  // also of one place
  const auto& a = stations[0];
  REQUIRE(a.rows.size() == 2);
  CHECK(a.rows[0].frequency_hz == 1.0);  // highest first
  CHECK(a.rows[1].values[physics::mt::Element::zxy].imag() == Approx(-2.0 * physics::mt::ohm_per_modem_si));
  CHECK(std::isnan(a.rows[1].errors[physics::mt::Element::zxy]));
  REQUIRE(a.readings.size() == 1);
  CHECK(a.readings[0].datum == Datum::log10_rho_yx);
  CHECK((a.sign_in_file == "-" && a.units_in_file == "V/m/T" && a.format == "ModEM 2-D data"));
  CHECK(stations[1].site.y_m == 100.0);
}

TEST_CASE(
    "ModEM 2-D data: reading back what was written gives the same numbers, in either sign and any units",
    "[modem]") {
  const TemporaryFolder folder;
  const auto data = read_text(replaced(text_of_file(block2_data), "2.000000E+15", "1.234567E+02"));
  REQUIRE(data.n_used() == 1920);
  for (const auto units : {modem::ModemUnits::volt_per_metre_per_tesla, modem::ModemUnits::ohm}) {
    for (const auto sign : {modem::ModemSign::plus, modem::ModemSign::minus}) {
      modem::write_data(folder / "first.dat", data, {.sign = sign, .units = units});
      const auto first = stated_data(modem::read_data(folder / "first.dat"));
      check_same(data, first);
      modem::write_data(folder / "second.dat", first, {.sign = sign, .units = units});
      CHECK(text_of_file(folder / "first.dat") == text_of_file(folder / "second.dat"));
    }
  }
  modem::write_data(folder / "shifted.dat", data, {.left_edge_m = -1000.0});
  CHECK(modem::read_data(folder / "shifted.dat")[0].site.y_m == 303500.0);
}

TEST_CASE(
    "ModEM 2-D data: apparent resistivity and phase survive a round trip, data without error are masked",
    "[modem]") {
  const TemporaryFolder folder;
  auto data = read_text(header("Rho_Phs_TM", "-", "[]") +
                        "1.0 a 0 0 0 100 0 Rho_TM 100.0 10.0\n1.0 a 0 0 0 100 0 Phs_TM 50.0 2.0\n");
  modem::write_data(folder / "d.dat", data);
  const auto back = stated_data(modem::read_data(folder / "d.dat"));
  CHECK((back.value - data.value).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((back.sigma - data.sigma).cwiseAbs().maxCoeff() < 1e-14);
  data.sigma.setConstant(physics::mt::not_given);
  modem::write_data(folder / "d.dat", data);
  CHECK(stated_data(modem::read_data(folder / "d.dat")).reason[0] == MaskReason::bad_error);
}

TEST_CASE(
    "ModEM 2-D data: rows of another length, unknown blocks and doubled data are format errors with file and "
    "line",
    "[modem]") {
  const std::string te = header("TE_Impedance", "+", "Ohm");
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 0 TE 1.0 2.0\n"),
             HasId("wrong_columns", {"d.dat:9", "11", "TE_Impedance", "10"}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 0 TE 1.0 x 0.1\n"),
             HasId("not_a_number", {"d.dat:9", "10", "\"x\""}));
  CHECK_THAT(data_message(te + "-1.0 a 0 0 0 100 0 TE 1.0 2.0 0.1\n"), HasId("period_not_positive", {"-1"}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 0 TE 1.0 2.0 0.1\n1.0 a 0 0 0 200 0 TE 1.0 2.0 0.1\n"),
             HasId("site_moved", {"200", "100"}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 0 TE 1 2 0.1\n1.0 a 0 0 0 100 0 TE 1 2 0.1\n"),
             HasId("second_value", {"d.dat:10", "zxy_re"}));
  CHECK_THAT(data_message(header("TE_Impedanze", "+", "Ohm")), HasId("unknown_block", {"\"TE_Impedanze\""}));
  CHECK_THAT(data_message(header("TE_Impedance", "+", "furlong")),
             HasId("unknown_units", {"d.dat:5", "\"furlong\""}));
  CHECK_THAT(data_message(replaced(te, "+i\\omega", "i_omega")), HasId("no_sign", {"d.dat:4", "i_omega"}));
  CHECK_THAT(data_message(replaced(te, "> 0.00\n", "> 1e308\n")),
             HasId("not_an_angle", {"d.dat:6", "1e308"}));
  CHECK_THAT(data_message(replaced(te, "0.000 0.000", "0.000 north")),
             HasId("not_an_angle", {"d.dat:7", "north"}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 0 TX 1.0 2.0 0.1\n"),
             HasId("unknown_component", {"d.dat:9", "TE_Impedance", "\"TX\""}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 1e300 0 TE 1.0 2.0 0.1\n"),
             HasId("out_of_range", {"d.dat:9", "y in m", "1e+300"}));
  CHECK_THAT(data_message(te + "1.0 a 91 0 0 100 0 TE 1.0 2.0 0.1\n"),
             HasId("out_of_range", {"d.dat:9", "latitude", "91"}));
  CHECK_THAT(data_message(te + "1.0 a 0 0 0 100 low TE 1.0 2.0 0.1\n"),
             HasId("not_a_number", {"d.dat:9", "z in m", "\"low\""}));
  CHECK_THAT(data_message(te), HasId("no_rows"));
  CHECK_THAT(data_message("# a\n> TE_Impedance\n"), HasId("no_header_line"));
  CHECK_THAT(error_of<core::FileError>([&] { (void)modem::read_data("/none/d.dat"); }),
             HasId("no_file", {"/none/d.dat"}));
}

TEST_CASE("ModEM 2-D data: what the format cannot hold is refused when writing", "[modem]") {
  const TemporaryFolder folder;
  auto data = read_text(header("TE_Impedance", "+", "Ohm") + "1.0 a 0 0 0 100 0 TE 1.0 2.0 0.1\n");
  auto half = data;
  half.reason[1] = MaskReason::listed;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { modem::write_data(folder / "d.dat", half); }),
             HasId("one_part_alone", {"TE_Impedance"}));
  half.reason[0] = MaskReason::listed;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)modem::write_data(folder / "d.dat", half); }),
             HasId("no_datum"));
  data.survey.keys[0].quantity = Datum::log10_rho_xy;
  data.survey.keys[1].quantity = Datum::phase_xy;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)modem::write_data(folder / "d.dat", data); }),
             HasId("no_block", {"2-D", "log10_rho_xy"}));
  CHECK_FALSE(std::filesystem::exists(folder / "d.dat"));
}

TEST_CASE("ModEM data: codes of sites become UTF-8 and have a bound", "[modem]") {
  const auto row = [](const std::string& code) {
    return header("TE_Impedance", "+", "[mV/km]/[nT]") + "1.0 " + code + " 0 0 0 100 0 TE 0.1 0.2 0.01\n";
  };
  CHECK(read_text(row("S\xE9")).survey.stations.at(0).name == "Sé");
  CHECK_THAT(data_message(row(std::string(300, 'n'))), HasId("long_name", {"d.dat:9", "128", "300"}));
}
