// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "io/modem/modem.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "physics/mt/selection.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mesh::Axis;
using physics::mt::Complex;
using physics::mt::datum;
using physics::mt::Datum;
using physics::mt::Element;
using physics::mt::Observations;

namespace {

const std::string block2 = source_path("data/modem_block2_3d/");

std::string header(const std::string& type, const std::string& sign, const std::string& units,
                   const std::string& frame = "> 0.00\n> 45.276 -119.634\n") {
  return "# comment\n# columns\n> " + type + "\n> exp(" + sign + "i\\omega t)\n> " + units + "\n" + frame +
         "> 2 2\n";
}

std::vector<physics::mt::StationData> stations_of(const std::string& text) {
  const TemporaryFolder folder;
  return modem::read_data(write_text(folder, "d.dat", text));
}

core::Error data_message(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)stations_of(text); });
}

core::Error model_message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.ws", text);
  return error_of<core::FormatError>([&] { (void)modem::read_model(path); });
}

/// Checks that both have the same kept data at the same places, bit for bit.
void check_same(const Observations& a, const Observations& b) {
  const auto x = a.kept(), y = b.kept();
  REQUIRE(x.survey.keys.size() == y.survey.keys.size());
  CHECK(x.survey.frequencies_hz == y.survey.frequencies_hz);
  CHECK(x.value == y.value);
  CHECK(x.sigma == y.sigma);
  CHECK(a.azimuth_deg == b.azimuth_deg);
  REQUIRE(a.stations.size() == b.stations.size());
  bool same = true;
  for (std::size_t i = 0; i < a.stations.size(); ++i) {
    const auto &p = a.survey.stations[i], &q = b.survey.stations[i];
    same = same && p.name == q.name && p.x_m == q.x_m && p.y_m == q.y_m && p.z_m == q.z_m &&
           a.stations[i].local_frame->is_same(*b.stations[i].local_frame);
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("ModEM 3-D data: places, origin and orientation are kept, impedances become ohm and e^(+iωt)",
          "[modem]") {
  const auto stations = stations_of(
      header("Full_Impedance", "-", "[V/m]/[T]") + "10 a 41.8 -124.1 -408 -345 12 ZXX 1 2 0.1\n" +
      "10 a 41.8 -124.1 -408 -345 12 ZYX -3 4 0.1\n" + header("Full_Vertical_Components", "-", "[]") +
      "10 a 41.8 -124.1 -408 -345 12 TX 0.1 0.2 0.01\n10 b 0 0 5 6 0 TY 0.3 0.4 0.01\n");
  REQUIRE(stations.size() == 2);
  const auto& a = stations[0];
  CHECK((a.site.x_m == -408.0 && a.site.y_m == -345.0 && a.site.z_m == 12.0 && a.site.latitude_deg == 41.8));
  CHECK((a.local_frame->latitude_deg == 45.276 && a.local_frame->longitude_deg == -119.634));
  CHECK((a.format == "ModEM 3-D data" && a.sign_in_file == "-" && a.units_in_file == "V/m/T"));
  const auto& row = a.rows.at(0);
  CHECK(row.values[Element::zyx].real() == Approx(-3.0 * physics::mt::ohm_per_modem_si));
  CHECK(row.values[Element::zyx].imag() == Approx(-4.0 * physics::mt::ohm_per_modem_si));
  CHECK(row.values[Element::tzx] == Complex(0.1, -0.2));
  CHECK(row.is_missing(Element::zxy));
  CHECK(stations[1].rows.at(0).values[Element::tzy] == Complex(0.3, -0.4));
  const auto without_sign =
      stations_of(header("Full_Vertical_Components", "", "[]") + "10 b 0 0 5 6 0 TY 0.3 0.4 0.01\n");
  CHECK(without_sign[0].rows.at(0).values[Element::tzy] == Complex(0.3, 0.4));
}

TEST_CASE("ModEM 3-D data: BLOCK2 is read, written and read with the same bits, in either sign and any units",
          "[modem]") {
  const TemporaryFolder folder;
  const auto data = stated_data(survey::read(block2 + "de.dat"));
  CHECK(data.survey.stations.size() == 198);
  CHECK(data.survey.frequencies_hz.size() == 4);
  REQUIRE(data.n_used() == 198 * 4 * 12);
  for (const auto units : {modem::ModemUnits::volt_per_metre_per_tesla, modem::ModemUnits::ohm}) {
    for (const auto sign : {modem::ModemSign::plus, modem::ModemSign::minus}) {
      modem::write_data(folder / "d.dat", data, {.sign = sign, .units = units});
      check_same(data, stated_data(modem::read_data(folder / "d.dat")));
    }
  }
}

TEST_CASE("ModEM 3-D data: every block type survives a round trip in the frame of its header", "[modem]") {
  const TemporaryFolder folder;
  const std::string frame = "> 30\n> 45.276 -119.634\n", place = "10 a 0 0 1 2 3 ";
  const auto data = stated_data(stations_of(
      header("Off_Diagonal_Impedance", "+", "Ohm", frame) + place + "ZXY 1 2 0.1\n" + place +
      "ZYX -3 -4 0.2\n" + header("Full_Vertical_Components", "+", "[]", frame) + place + "TX 0.1 0.2 0.01\n" +
      place + "TY 0.3 0.4 0.03\n" + header("Phase_Tensor", "+", "[]", frame) + place + "PTXX 0.6 0.01\n" +
      place + "PTYX -0.2 0.02\n" + header("Off_Diagonal_Rho_Phase", "+", "[]", frame) + place +
      "RHOXY 100 10\n" + place + "PHSXY 40 2\n" + place + "RHOYX 50 5\n" + place + "PHSYX 50 2\n"));
  CHECK(data.azimuth_deg == 30.0);
  CHECK(data.n_used() == 4 + 4 + 2 + 4);
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    if (data.survey.keys[i].quantity == Datum::phase_yx)
      CHECK(data.value[static_cast<Eigen::Index>(i)] == Approx(-130.0 / physics::mt::deg_per_rad));
  }
  for (const auto sign : {modem::ModemSign::plus, modem::ModemSign::minus}) {
    modem::write_data(folder / "d.dat", data, {.sign = sign});
    const auto back = stated_data(modem::read_data(folder / "d.dat"));
    CHECK(back.azimuth_deg == 30.0);
    REQUIRE(back.n_used() == data.n_used());
    CHECK((back.kept().value - data.kept().value).cwiseAbs().maxCoeff() < 1e-14);
    CHECK((back.kept().sigma - data.kept().sigma).cwiseAbs().maxCoeff() < 1e-14);
  }
}

TEST_CASE("ModEM 3-D data: azimuths of channels behind a row turn impedance and tipper into the frame",
          "[modem]") {
  const std::string place = "10 a 0 0 1 2 3 ";
  const auto data = stated_data(
      stations_of(header("Full_Impedance", "+", "Ohm") + place + "ZXX 1 2 0.1 90 180 90 180\n" + place +
                  "ZXY 3 4 0.1 90 180 90 180\n" + place + "ZYX 5 6 0.1 90 180 90 180\n" + place +
                  "ZYY 7 8 0.1 90 180 90 180\n" + header("Full_Vertical_Components", "+", "[]") + place +
                  "TX 0.1 0.2 0.01 90\n" + place + "TY 0.3 0.4 0.01 90\n"));
  const auto& row = data.stations.at(0).rows.at(0);
  CHECK(row.values[Element::zxx] == Complex(7.0, 8.0));
  CHECK(row.values[Element::zxy] == Complex(-5.0, -6.0));
  CHECK(row.values[Element::zyx] == Complex(-3.0, -4.0));
  CHECK(row.values[Element::tzx] == Complex(-0.3, -0.4));
  CHECK(row.values[Element::tzy] == Complex(0.1, 0.2));
}

TEST_CASE("ModEM 3-D data: inter-station functions name a second site, which is one of the stations",
          "[modem]") {
  const std::string place = "10 a 0 0 1 2 3 r 0 0 700 800 4 ";
  const auto data =
      stated_data(stations_of(header("Full_Interstation_TF", "-", "[]") + place + "MXX 1 2 0.1\n" + place +
                              "MXY 3 4 0.1\n" + place + "MYX 5 6 0.1\n" + place + "MYY 7 8 0.2\n"));
  REQUIRE(data.survey.stations.size() == 2);
  const auto &r = data.survey.stations[0], &a = data.survey.stations[1];
  CHECK((a.name == "a" && a.reference == "r" && r.name == "r" && r.reference.empty()));
  CHECK((r.x_m == 700.0 && r.y_m == 800.0 && r.z_m == 4.0));
  CHECK(data.n_used() == 8);
  CHECK(data.stations[1].rows.at(0).values[Element::mxy] == Complex(3.0, -4.0));
  const TemporaryFolder folder;
  modem::write_data(folder / "d.dat", data);
  check_same(data, stated_data(modem::read_data(folder / "d.dat")));
  CHECK(modem::read_data(folder / "d.dat").at(1).site.reference == "r");
}

TEST_CASE("ModEM 3-D data: channels of an inter-station function may differ at its two ends", "[modem]") {
  // The site's channels are turned by 90°, so that x' = y and y' = −x there; those of the reference are not.
  const std::string place = "10 a 0 0 1 2 3 r 0 0 700 800 4 ", turned = " 90 180 0 90\n";
  const auto data = stated_data(stations_of(header("Full_Interstation_TF", "+", "[]") + place +
                                            "MXX 1 2 0.1" + turned + place + "MXY 3 4 0.1" + turned + place +
                                            "MYX 5 6 0.1" + turned + place + "MYY 7 8 0.1" + turned));
  const auto& row = data.stations.at(1).rows.at(0);
  CHECK(row.values[Element::mxx] == Complex(-5.0, -6.0));
  CHECK(row.values[Element::mxy] == Complex(-7.0, -8.0));
  CHECK(row.values[Element::myx] == Complex(1.0, 2.0));
  CHECK(row.values[Element::myy] == Complex(3.0, 4.0));
}

TEST_CASE("ModEM 3-D data: what cannot be held is refused with file and line", "[modem]") {
  const std::string z = header("Full_Impedance", "+", "Ohm"), place = "10 a 0 0 1 2 3 ";
  CHECK_THAT(data_message(header("Full_Vertical_Magnetic", "+", "[]")),
             HasId("unknown_block", {"d.dat:3", "types TE_Impedance", "Phase_Tensor",
                                     "got \"Full_Vertical_Magnetic\"", "remove this block"}));
  const std::string m = header("Full_Interstation_TF", "+", "[]");
  CHECK_THAT(data_message(m + place + "MXX 1 2 0.1\n"),
             HasId("wrong_columns", {"d.dat:9", "17 to 21", "11"}));
  CHECK_THAT(data_message(m + place + "r 0 0 7 8 0 MXX 1 0 0.1\n" + place + "s 0 0 9 8 0 MXY 1 0 0.1\n"),
             HasId("second_reference", {"d.dat:10", "s for a", "r before"}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2\n"), HasId("wrong_columns", {"d.dat:9", "11 to 15", "10"}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2 0.1 0 90 0 90 0\n"), HasId("wrong_columns", {"16"}));
  CHECK_THAT(data_message(z + place + "TX 1 2 0.1\n"), HasId("unknown_component", {"d.dat:9", "\"TX\""}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2 0.1\n" + place + "ZXX 1 2 0.1\n"),
             HasId("second_value", {"d.dat:10", "zxx_re"}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2 0.1\n10 a 0 0 9 2 3 ZXY 1 2 0.1\n"),
             HasId("site_moved", {"d.dat:10", "x = 9", "1"}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2 0.1\n" + header("TE_Impedance", "+", "Ohm")),
             HasId("mixed_dimensions", {"d.dat:12", "TE_Impedance"}));
  CHECK_THAT(data_message(z + place + "ZXX 1 2 0.1\n" +
                          header("Phase_Tensor", "+", "[]", "> 0.00\n> 45.276 -119\n")),
             HasId("other_frame", {"d.dat:12", "-119"}));
  CHECK_THAT(data_message(header("Phase_Tensor", "+", "[]") + place + "PTXX 1 0.1 10\n"),
             HasId("turned_channels", {"d.dat:9", "Phase_Tensor"}));
  CHECK_THAT(data_message(header("Off_Diagonal_Rho_Phase", "+", "[]") + place + "RHOXY -1 0.1\n"),
             HasId("resistivity_not_positive", {"d.dat:9", "-1"}));
}

TEST_CASE("ModEM 3-D data: a file of a type that is not read is one of ModEM all the same", "[modem]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "d.dat", header("Extended_Tensor", "+", "[]"));
  CHECK(survey::kind_of_file(path) == survey::FileKind::modem_data_3d);
  CHECK_THAT(error_of<core::FormatError>([&] { (void)survey::read(path); }),
             HasId("unknown_block", {"d.dat:3", "got \"Extended_Tensor\""}));
  const std::string list = write_text(folder, "list", "# names\n> one\n> two\n> three\n");
  CHECK(survey::kind_of_file(list) == survey::FileKind::unknown);
}

TEST_CASE("ModEM 3-D model: widths go north, values of a row south, and the origin places both", "[modem]") {
  const TemporaryFolder folder;
  const auto model = model::read_model(
      write_text(folder, "m", "# t\n2 3 1 0 LINEAR\n10 20\n1 2 3\n5\n\n1 2\n3 4\n5 6\n\n-100 7 -250\n0\n"));
  const auto& grid = model.earth.grid;
  CHECK(grid.edges_m(Axis::x) == std::vector<double>{-100, -90, -70});
  CHECK(grid.edges_m(Axis::y) == std::vector<double>{7, 8, 10, 13});
  CHECK(grid.z_edges_m() == std::vector<double>{0, 5});
  CHECK(model.earth.surface.highest_m() == -250.0);
  CHECK((model.earth.surface.is_flat() && grid.reference() == physics::mesh::DepthReference::surface));
  CHECK(model.values[grid.index(0, 0, 1)] == 1.0);
  CHECK(model.values[grid.index(0, 0, 0)] == 2.0);
  CHECK(model.values[grid.index(0, 2, 0)] == 6.0);
  const auto centred =
      modem::read_model_file(write_text(folder, "c", "2 2 1 LOG10\n10 20\n4 4\n5\n1 1 1 2\n"));
  CHECK_FALSE(centred.has_stated_origin);
  CHECK(centred.model.earth.grid.edges_m(Axis::x) == std::vector<double>{-15, -5, 15});
  CHECK(centred.model.values[centred.model.earth.grid.index(0, 1, 0)] == 100.0);
}

TEST_CASE("ModEM 3-D model: BLOCK2 is read, written and read with the same bits on its scale", "[modem]") {
  const TemporaryFolder folder;
  for (const char* name : {"m0.ws", "pr.ws"}) {
    const auto first = modem::read_model_file(block2 + name);
    CHECK((first.scale == modem::ModemScale::loge && first.has_stated_origin));
    CHECK(first.model.values.minCoeff() ==
          Approx(name == std::string("pr.ws") ? 100.0 : 33.33).epsilon(1e-3));
    modem::write_model(folder / "m.ws", first.model, first.scale, 12.5);
    const auto back = modem::read_model_file(folder / "m.ws");
    CHECK(back.model.values == first.model.values);
    CHECK(back.rotation_deg == 12.5);
    for (const Axis axis : physics::mesh::all_axes)
      CHECK(back.model.earth.grid.edges_m(axis) == first.model.earth.grid.edges_m(axis));
  }
}

TEST_CASE("ModEM 3-D model: edges of broken widths and values of every scale keep their bits", "[modem]") {
  const TemporaryFolder folder;
  for (const char* scale : {"LOGE", "LOG10", "LINEAR"}) {
    const auto first = modem::read_model_file(
        write_text(folder, "a",
                   std::string("3 2 2 0 ") + scale +
                       "\n27571.69 0.1 1000.3\n21208.99 1e-2\n20.7 24.88\n1.1 2.2 0.3 0.7 4.60517 "
                       "3.912023005428 1 2 3 0.123 0.5 0.25\n-131810.07 -12.1 3.3\n0\n"));
    modem::write_model(folder / "b", first.model, first.scale);
    const auto back = modem::read_model_file(folder / "b");
    CHECK(back.model.values == first.model.values);
    for (const Axis axis : physics::mesh::all_axes)
      CHECK(back.model.earth.grid.edges_m(axis) == first.model.earth.grid.edges_m(axis));
    CHECK(back.model.earth.surface.highest_m() == 3.3);
  }
}

TEST_CASE("ModEM 3-D model: air cells get the largest resistivity and are counted", "[modem]") {
  const TemporaryFolder folder;
  const auto file = modem::read_model_file(write_text(folder, "m", "1 1 3 0\n1\n1\n1 1 1\n1e17 1e12 0.3\n"));
  CHECK(file.n_air == 1);
  CHECK(file.model.values == Eigen::Vector3d(1e12, 1e12, 0.3));
}

TEST_CASE("ModEM 3-D model: WSINV3DMT lists resistivities, which blocks of layers give by number",
          "[modem]") {
  const TemporaryFolder folder;
  const std::string grid = "2 1 3 4\n10 20\n5\n1 2 3\n";
  const auto model =
      modem::read_model(write_text(folder, "m", "# a\n" + grid + "1 10 100 0.3\n1 2\n4\n2\n3 3\n3\n1\n"));
  // Rows go from north to south, cells from south to north.
  const std::vector<double> expected{10, 0.3, 10, 0.3, 1, 100};
  CHECK(std::vector<double>(model.values.begin(), model.values.end()) == expected);
  const auto uniform = modem::read_model(write_text(folder, "u", "2 1 3 1\n10 20\n5\n1 2 3\n50\n"));
  CHECK(uniform.values == Eigen::VectorXd::Constant(6, 50.0));
}

TEST_CASE("ModEM 3-D model: wrong counts, words and places are format errors with file and line", "[modem]") {
  const std::string widths = "1 2 1 0 LINEAR\n1\n1 1\n1\n";
  CHECK_THAT(model_message(widths + "1\n"), HasId("cut_off", {"m.ws:5"}));
  CHECK_THAT(model_message(widths + "1 2\n0 0\n"), HasId("cut_off", {"m.ws:6", "z of the origin"}));
  CHECK_THAT(model_message(widths + "1 2\n0 0 0\n0 1\n"), HasId("too_many_values", {"m.ws:7"}));
  CHECK_THAT(model_message(widths + "1 2\n0 1e300 0\n0\n"), HasId("origin_out_of_range", {"m.ws:6"}));
  CHECK_THAT(model_message(widths + "1 2\n0 0 0\n1000\n"), HasId("rotation_out_of_range", {"m.ws:7"}));
  CHECK_THAT(model_message(widths + "1 -2\n"), HasId("resistivity_out_of_range", {"m.ws:5", "-2"}));
  CHECK_THAT(model_message("1 2 1 3\n1\n1 1\n1\n1 2 3\n1 1\n1 4\n"), HasId("not_whole", {"m.ws:7", "4"}));
  CHECK_THAT(model_message("1 2 2 3\n1\n1 1\n1 1\n1 2 3\n2 2\n1 3\n"), HasId("not_whole", {"m.ws:6", "2"}));
  CHECK_THAT(model_message("1 2 1 0 LINEAR\n1\n1 0\n1\n1 2\n"), HasId("width_not_positive", {"m.ws:3"}));
  CHECK_THAT(model_message("100 200 100 0 LOGE\n1\n"), HasId("counts_too_large", {"100 x 200 x 100"}));
  const TemporaryFolder folder;
  auto hill = modem::read_model(block2 + "m0.ws");
  hill.earth.surface = physics::mesh::SurfaceLine({0.0, 1.0}, {0.0, -1.0});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { modem::write_model(folder / "h.ws", hill); }),
             HasId("has_topography", {folder / "h.ws"}));
}
