// SPDX-License-Identifier: Apache-2.0
// One pipeline from files to data: what holds for station files holds for files of profile data.
#include "apps/mt_invert/commands/problem.hpp"
#include "engine/core/error.hpp"
#include "io/model/read.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace lodestone;
using namespace lodestone::mt_invert;
using physics::mt::Datum;
using physics::mt::MaskReason;

namespace {

std::string block(const std::string& type, const std::string& units) {
  return "# comment\n# columns\n> " + type + "\n> exp(+i\\omega t)\n> " + units +
         "\n> 0.00\n> 0.000 0.000\n> 2 2\n";
}

const std::string te = block("TE_Impedance", "Ohm"), rho_phase_tm = block("Rho_Phs_TM", "[]");

/// The observations of a ModEM file of this text, with these lines in [data].
physics::mt::Observations observe(const std::string& data, const std::string& lines) {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "d.dat", data);
  const auto config =
      config::read_config(tests::write_text(folder, "c.toml", "[data]\nmodem_file = \"d.dat\"\n" + lines));
  return commands::observe(config.data, config.profile, 2);
}

/// Returns an EDI file of one station; x of its channels points to `rotation`.
std::string edi(const std::string& name, const std::string& latitude, const std::string& frequencies) {
  std::string text =
      ">HEAD\nDATAID=" + name + "\nLAT=" + latitude + "\nLONG=17\nELEV=100\n>FREQ //2\n" + frequencies + "\n";
  for (const char* element : {"ZXX", "ZXY", "ZYX", "ZYY"}) {
    const std::string value = std::string(element) == "ZXY"   ? "10 20"
                              : std::string(element) == "ZYX" ? "-10 -20"
                                                              : "0 0";
    text += std::string(">") + element + "R //2\n" + value + "\n>" + element + "I //2\n" + value + "\n";
  }
  return text + ">END\n";
}

/// Returns an EDI file of one station that recorded two tippers and no electric field.
std::string tipper_edi(const std::string& name, const std::string& latitude) {
  std::string text = ">HEAD\nDATAID=" + name + "\nLAT=" + latitude + "\nLONG=17\nELEV=100\n>FREQ //2\n10 1\n";
  for (const char* part : {"TXR.EXP", "TXI.EXP", "TYR.EXP", "TYI.EXP"})
    text += std::string(">") + part + " //2\n0.1 0.2\n";
  return text + ">END\n";
}

/// Returns the data of the EDI files in a folder, with these lines in [data].
std::set<Datum> data_of_folder(const tests::TemporaryFolder& folder, const std::string& lines,
                               int dimension) {
  const auto config =
      config::read_config(tests::write_text(folder, "c.toml", "[data]\nedi_folder = \".\"\n" + lines));
  std::set<Datum> data;
  for (const auto& key : commands::observe(config.data, config.profile, dimension).survey.keys)
    data.insert(key.quantity);
  return data;
}

}  // namespace

TEST_CASE("observations: files of tippers alone are inverted as such unless the keys say otherwise",
          "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", tipper_edi("a", "-23.5"));
  tests::write_text(folder, "b.edi", tipper_edi("b", "-23.4"));
  const auto of = [&](const std::string& lines, int dimension) {
    return data_of_folder(folder, lines, dimension);
  };
  const std::set tzy{Datum::tzy_re, Datum::tzy_im},
      tzx{physics::mt::datum("tzx_re"), physics::mt::datum("tzx_im")};
  std::set both = tzy;
  both.insert(tzx.begin(), tzx.end());
  tests::Capture out(STDOUT_FILENO);
  CHECK(of("", 2) == tzy);
  CHECK_THAT(out.text(),
             Catch::Contains("no apparent resistivities and phases") && Catch::Contains("tippers"));
  CHECK(of("tipper = true\nkind = \"from_data\"\n", 2) == tzy);
  CHECK(of("", 3) == both);
  const auto refused = [&](const std::string& lines, int dimension) {
    CHECK_THAT(tests::error_of<core::InvalidArgument>([&] { (void)of(lines, dimension); }),
               tests::HasId("no_usable_datum", {"c.toml:2", "data.edi_folder"}));
  };
  refused("", 1);
  refused("kind = \"log10_rho_phase\"\n", 2);
  refused("kind = \"phase_tensor\"\n", 3);
  refused("modes = [\"te\"]\n", 2);
}

TEST_CASE("observations: files with impedances are inverted for them, with or without tippers", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", tipper_edi("b", "-23.4"));
  const std::set usual(physics::mt::rho_and_phase.begin(), physics::mt::rho_and_phase.end());
  for (const int dimension : {1, 2, 3}) CHECK(data_of_folder(folder, "", dimension) == usual);
  std::set more = usual;
  more.insert({Datum::tzy_re, Datum::tzy_im});
  CHECK(data_of_folder(folder, "tipper = true\n", 3) == more);
  CHECK(data_of_folder(folder, "modes = [\"tm\"]\n", 2) == std::set{Datum::log10_rho_yx, Datum::phase_yx});
}

TEST_CASE("observations: sections weigh apparent resistivities of TE less unless floors of them are given",
          "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", edi("b", "-23.4", "10 1"));
  const auto floors = [&](const std::string& lines, int dimension) {
    const auto config = config::read_config(
        tests::write_text(folder, "c.toml",
                          "[data]\nedi_folder = \".\"\nignore_file_errors = true\n" + lines),
        {}, dimension);
    const auto data = commands::observe(config.data, config.profile, dimension);
    std::map<Datum, double> sigma;
    for (std::size_t k = 0; k < data.survey.keys.size(); ++k)
      sigma[data.survey.keys[k].quantity] = data.sigma[static_cast<Eigen::Index>(k)];
    CHECK(data.floors.log10_rho_te.value_or(data.floors.log10_rho) == sigma[Datum::log10_rho_xy]);
    return std::pair(sigma[Datum::log10_rho_xy], sigma[Datum::log10_rho_yx]);
  };
  CHECK(floors("", 2) == std::pair(0.1, 0.0434));
  for (const int dimension : {1, 3}) CHECK(floors("", dimension) == std::pair(0.0434, 0.0434));
  CHECK(floors("[data.floors]\nlog10_rho = 0.06\n", 2) == std::pair(0.06, 0.06));
  CHECK(floors("[data.floors]\nlog10_rho_te = 0.2\n", 3) == std::pair(0.2, 0.0434));
}

TEST_CASE("observations: a sounding of one station needs no line", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  CHECK(data_of_folder(folder, "", 1).size() == 4);
  CHECK_THAT(tests::error_of<core::Error>([&] { (void)data_of_folder(folder, "", 2); }),
             tests::HasId("one_place", {"azimuth_deg"}));
}

TEST_CASE("observations: a configuration written with every key gives the same errors again", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", edi("b", "-23.4", "10 1"));
  const auto read_from = [&](const std::string& text) {
    return config::read_config(tests::write_text(folder, "c.toml", text));
  };
  const auto sigma_of = [](const config::Config& config) {
    return commands::observe(config.data, config.profile, 2).sigma;
  };
  const auto first = read_from("[data]\nedi_folder = \".\"\n[sea]\nlevel_m = 0.0\nresistivity_ohm_m = 0.3\n");
  const auto again = read_from(first.toml);
  CHECK(sigma_of(first) == sigma_of(again));
  CHECK_FALSE(first.data.selection.limits_te_phases);
  CHECK_FALSE(again.data.selection.limits_te_phases);
}

TEST_CASE("observations: a determinant stands for both modes", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", edi("b", "-23.4", "10 1"));
  const std::set effective{physics::mt::datum("log10_rho_det"), physics::mt::datum("phase_det")};
  for (const int dimension : {1, 2, 3})
    CHECK(data_of_folder(folder, "kind = \"determinant\"\n", dimension) == effective);
  CHECK_THAT(tests::error_of<core::ConfigError>(
                 [&] { (void)data_of_folder(folder, "kind = \"determinant\"\nmodes = [\"te\"]\n", 2); }),
             tests::HasId("tensor_of_one_mode", {"determinant"}));
}

TEST_CASE("observations: files that state parts of impedances as such are inverted for these", "[apps]") {
  const std::string head =
      "Format: EMData_2.2\nPhase Convention: lag\n# MT Frequencies: 1\n0.1\n# MT Receivers: 2\n"
      "! X Y Z Theta Alpha Beta Length SolveStatic Name\n0 1000 0 0 0 0 0 0 west\n0 2000 0 0 0 0 0 0 east\n"
      "# Data: 2\n! Type Freq# Tx# Rx# Data StdErr\n";
  const tests::TemporaryFolder folder;
  const auto of = [&](const std::string& rows) {
    tests::write_text(folder, "d.emdata", head + rows);
    const auto config = config::read_config(
        tests::write_text(folder, "c.toml", "[data]\nmare2dem_file = \"d.emdata\"\nmodes = [\"te\"]\n"));
    return commands::observe(config.data, config.profile, 2).survey.keys.front().quantity;
  };
  CHECK(of("113 1 1 1 1e-3 1e-4\n114 1 1 2 1e-3 1e-4\n") == Datum::zxy_re);
  CHECK(of("123 1 1 1 2 0.1\n104 1 1 2 45 1\n") == Datum::log10_rho_xy);
}

TEST_CASE("observations: limits of phases hold for files of profile data", "[apps]") {
  const std::string rows =
      "1.0 a 0 0 0 100 0 Rho_TM 100.0 10.0\n1.0 a 0 0 0 100 0 Phs_TM 130.0 2.0\n"
      "1.0 b 0 0 0 200 0 Rho_TM 100.0 10.0\n1.0 b 0 0 0 200 0 Phs_TM 40.0 2.0\n";
  const std::string tm = "modes = [\"tm\"]\n";
  const auto usual = observe(rho_phase_tm + rows, tm);
  REQUIRE(usual.survey.keys.size() == 4);
  CHECK(usual.reason ==
        std::vector{MaskReason::kept, MaskReason::kept, MaskReason::out_of_quadrant, MaskReason::kept});
  CHECK(observe(rho_phase_tm + rows, tm + "phase_max_deg = 140\n").n_used() == 4);
  const std::string impedance = "kind = \"impedance\"\nmodes = [\"te\"]\n",
                    both = te + "1.0 a 0 0 0 100 0 TE 1.0 1.0 0.1\n1.0 b 0 0 0 200 0 TE -1.0 1.0 0.1\n";
  CHECK(observe(both, impedance).reason[1] == MaskReason::out_of_quadrant);
  CHECK(observe(both, impedance + "phase_min_deg = -180\nphase_max_deg = 180\n").n_used() == 4);
}

TEST_CASE("observations: beside a sea phases of TE may leave their quadrant unless limits are given",
          "[apps]") {
  const std::string data = te + "1.0 a 0 0 0 100 0 TE 1.0 1.0 0.1\n1.0 b 0 0 0 200 0 TE -1.0 1.0 0.1\n" +
                           rho_phase_tm +
                           "1.0 a 0 0 0 100 0 Phs_TM 40.0 2.0\n1.0 b 0 0 0 200 0 Phs_TM 130.0 2.0\n",
                    impedance = "kind = \"impedance\"\n",
                    sea = "[sea]\nlevel_m = 0.0\nresistivity_ohm_m = 0.3\n";
  const auto n_masked = [&](const std::string& lines) {
    return std::ranges::count(observe(data, lines).reason, MaskReason::out_of_quadrant);
  };
  const auto without = n_masked(impedance + "modes = [\"te\"]\n");
  CHECK(without == 2);
  tests::Capture out(STDOUT_FILENO);
  CHECK(n_masked(impedance + "modes = [\"te\"]\n" + sea) == 0);
  CHECK_THAT(out.text(), Catch::Contains("2 data of TE lie out of their quadrant"));
  CHECK(n_masked(impedance + "modes = [\"te\"]\nlimit_te_phases = true\n" + sea) == 2);
  CHECK(n_masked("kind = \"log10_rho_phase\"\nmodes = [\"tm\"]\n" + sea) == 1);
}

TEST_CASE("observations: limits of periods tolerate the digits of files of profile data", "[apps]") {
  const std::string rows =
      te +
      "0.99999999 a 0 0 0 100 0 TE 1.0 1.0 0.1\n10.00000001 a 0 0 0 100 0 TE 1.0 1.0 0.1\n"
      "0.9 a 0 0 0 100 0 TE 1.0 1.0 0.1\n";
  const auto data =
      observe(rows, "kind = \"impedance\"\nmodes = [\"te\"]\nperiod_min_s = 1.0\nperiod_max_s = 10.0\n");
  CHECK(data.survey.frequencies_hz.size() == 2);
}

TEST_CASE("observations: a floor makes data of profile files usable that have no error", "[apps]") {
  const std::string rows = te + "1.0 a 0 0 0 100 0 TE 3.0 4.0 2e15\n1.0 b 0 0 0 200 0 TE 3.0 4.0 0.1\n",
                    lines = "kind = \"impedance\"\nmodes = [\"te\"]\n";
  const auto without = observe(rows, lines);
  CHECK(without.n_used() == 2);
  CHECK(without.reason[0] == MaskReason::bad_error);
  const auto with = observe(rows, lines + "[data.floors]\nimpedance_relative = 0.1\n");
  CHECK(with.n_used() == 4);
  CHECK(with.sigma[0] == Approx(0.5));
  CHECK(with.sigma[1] == Approx(0.5));
}

TEST_CASE("observations: a floor of one station, mode or band leaves the other data without", "[apps]") {
  const std::string rows = te + "1.0 a 0 0 0 100 0 TE 3.0 4.0 2e15\n1.0 b 0 0 0 200 0 TE 3.0 4.0 0.1\n",
                    lines =
                        "kind = \"impedance\"\nmodes = [\"te\"]\n"
                        "[[data.floor]]\nkind = \"impedance\"\nfloor = 0.1\n";
  const auto of_a = observe(rows, lines + "station = \"a\"\nmode = \"te\"\nperiod_max_s = 1.0\n");
  CHECK(of_a.n_used() == 4);
  CHECK(of_a.sigma.maxCoeff() == Approx(0.5));
  CHECK(of_a.sigma.minCoeff() < 0.4);
  CHECK(observe(rows, lines + "station = \"b\"\n").n_used() == 2);
  CHECK(observe(rows, lines + "mode = \"tm\"\n").n_used() == 2);
  CHECK(observe(rows, lines + "period_min_s = 1.5\n").n_used() == 2);
}

TEST_CASE("observations: the strike is that of the configuration, else across the profile", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", edi("b", "-23.4", "10 1"));
  const auto axes = [&](const std::string& line) {
    const auto config = config::read_config(
        tests::write_text(folder, "c.toml", "[data]\nedi_folder = \".\"\n[profile]\n" + line));
    const auto observed = commands::observe(config.data, config.profile, 2);
    return std::pair(observed.azimuth_deg, observed.profile.azimuth_deg);
  };
  const auto are = [&](const std::string& line, double x_deg, double y_deg) {
    const auto [x, y] = axes(line);
    CHECK(x == Approx(x_deg));
    CHECK(y == Approx(y_deg));
  };
  are("azimuth_deg = 10\n", -80.0, 10.0);
  are("azimuth_deg = 10\nstrike_deg = 20\n", 20.0, 10.0);
  are("strike_deg = -70\n", -70.0, 20.0);
  const auto config = config::read_config(
      tests::write_text(folder, "c.toml", "[data]\nedi_folder = \".\"\n[profile]\nstrike = \"from_data\"\n"));
  CHECK_THAT(
      tests::error_of<core::ConfigError>([&] { (void)commands::observe(config.data, config.profile, 3); }),
      tests::HasId("strike_of_volume", {"c.toml", "--dim 3"}));
}

TEST_CASE("observations: sites at one place of a profile file are merged", "[apps]") {
  const std::string rows =
      "1.0 a 0 0 0 100 0 TE 1.0 1.0 0.1\n10.0 a_long 0 0 0 100 0 TE 2.0 2.0 0.1\n1.0 b 0 0 0 200 0 TE 3.0 "
      "3.0 0.1\n";
  const auto data = observe(te + rows, "kind = \"impedance\"\nmodes = [\"te\"]\n");
  REQUIRE(data.survey.stations.size() == 2);
  CHECK(data.survey.stations[0].name == "a");
  CHECK(data.n_used() == 6);
  CHECK(observe(te + rows, "kind = \"impedance\"\nmodes = [\"te\"]\n[[data.mask]]\nstation = \"a_long\"\n")
            .n_used() == 2);
}

TEST_CASE("observations: EDI files of one place are merged, and the run goes on", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "100 10"));
  tests::write_text(folder, "b.edi", edi("a_long", "-23.5", "1 0.1"));
  tests::write_text(folder, "c.edi", edi("c", "-23.4", "10 1"));
  const auto config = config::read_config(tests::write_text(
      folder, "c.toml",
      "[data]\nedi_folder = \".\"\n[profile]\nazimuth_deg = 0\nelevation = \"stations\"\n"));
  const auto observed = commands::observe(config.data, config.profile, 2);
  CHECK(observed.survey.stations.size() == 2);
  CHECK(observed.survey.frequencies_hz == std::vector<double>{100.0, 10.0, 1.0, 0.1});
  CHECK(observed.profile.points.size() == 2);
  CHECK(observed.profile.offset_m.size() == 2);
  CHECK(observed.profile.points[1].north_m - observed.profile.points[0].north_m ==
        Approx(11.1e3).epsilon(0.01));
  CHECK(commands::make_problem(MPI_COMM_SELF, config, observed, 2).earth.surface.is_flat());
}

TEST_CASE("observations: listed frequencies count within the tolerance in files of profile data", "[apps]") {
  const std::string rows = te + "1.0 a 0 0 0 100 0 TE 1.0 1.0 0.1\n10.0 a 0 0 0 100 0 TE 2.0 2.0 0.1\n";
  const std::string lines = "kind = \"impedance\"\nmodes = [\"te\"]\nfrequencies_hz = [1.01]\n";
  CHECK(observe(rows, lines).n_used() == 2);
  CHECK_THROWS_AS(observe(rows, lines + "frequency_tolerance = 0.001\n"), core::InvalidArgument);
}

TEST_CASE("observations: names and periods in vain are errors of the configuration", "[apps]") {
  const std::string rows = te + "1.0 a 0 0 0 100 0 TE 1.0 1.0 0.1\n",
                    lines = "kind = \"impedance\"\nmodes = [\"te\"]\n";
  const auto refusal = [&](const std::string& more) {
    return tests::error_of<core::ConfigError>([&] { (void)observe(rows, lines + more); });
  };
  CHECK_THAT(refusal("period_min_s = 1e8\n"), tests::HasId("no_period"));
  CHECK_THAT(refusal("[[data.mask]]\nstation = \"b\"\n"),
             tests::HasId("unknown_station", {"c.toml:6", "data.mask[0].station", "b"}));
  CHECK_THAT(refusal("[[data.floor]]\nkind = \"impedance\"\nfloor = 1.0\nstation = \"b\"\n"),
             tests::HasId("unknown_station", {"c.toml:8", "data.floor[0].station", "b"}));
  const auto masked = [&] { (void)observe(rows, lines + "[[data.mask]]\nstation = \"a\"\n"); };
  CHECK_THAT(tests::error_of<core::InvalidArgument>(masked),
             tests::HasId("no_usable_datum", {"c.toml:2", "data.modem_file", "listed"}));
  const auto elsewhere = [&] { (void)observe(rows, lines + "frequencies_hz = [7.0]\n"); };
  CHECK_THAT(tests::error_of<core::InvalidArgument>(elsewhere),
             tests::HasId("no_usable_datum", {"c.toml:2", "data.modem_file"}));
}

TEST_CASE("observations: a turn that leaves every tensor incomplete names the key of the axes", "[apps]") {
  const tests::TemporaryFolder folder;
  for (const auto& [name, latitude] : {std::pair("a", "-23.5"), std::pair("b", "-23.4")}) {
    std::string text = edi(name, latitude, "10 1");
    for (const char* element : {">ZXX", ">ZYY"})
      for (std::size_t at = text.find(element); at != std::string::npos; at = text.find(element))
        text.replace(at, 4, ">OLD");
    tests::write_text(folder, std::string(name) + ".edi", text);
  }
  const auto n_used = [&](const std::string& lines, int dimension) {
    const auto config = config::read_config(
        tests::write_text(folder, "c.toml", "[data]\nedi_folder = \".\"\n[profile]\n" + lines));
    return commands::observe(config.data, config.profile, dimension).n_used();
  };
  CHECK(n_used("azimuth_deg = 90.00001\n", 2) == 16);
  const auto refused = [&](const std::string& lines, int dimension, const std::vector<std::string>& words) {
    CHECK_THAT(tests::error_of<core::ConfigError>([&] { (void)n_used(lines, dimension); }),
               tests::HasId("incomplete_tensors", words));
  };
  refused("azimuth_deg = 70\n", 2, {"c.toml:4", "profile.azimuth_deg", "profile.strike_deg = 0 "});
  refused("strike_deg = 20\n", 2, {"c.toml:4", "profile.strike_deg", "20 degrees"});
  refused("azimuth_deg = 70\n", 3, {"c.toml:4", "profile.azimuth_deg = 90 "});
}

TEST_CASE("observations: what EDI files refuse names the key of the configuration", "[apps]") {
  const tests::TemporaryFolder folder;
  tests::write_text(folder, "a.edi", edi("a", "-23.5", "10 1"));
  tests::write_text(folder, "b.edi", edi("b", "-23.4", "10 1"));
  const auto refusal = [&](const std::string& lines) {
    const auto config =
        config::read_config(tests::write_text(folder, "c.toml", "[data]\nedi_folder = \".\"\n" + lines));
    return tests::error_of<core::ConfigError>(
        [&] { (void)commands::observe(config.data, config.profile, 2); });
  };
  CHECK_THAT(refusal("station_order = [\"nope\"]\n"),
             tests::HasId("unknown_station", {"c.toml:3", "data.station_order", "nope"}));
  CHECK_THAT(refusal("interpolate_stations = [\"nope\"]\n"),
             tests::HasId("unknown_interpolated", {"c.toml:3", "data.interpolate_stations", "nope"}));
  CHECK_THAT(refusal("frequencies_hz = [10.0, 10.1]\n"),
             tests::HasId("frequencies_too_close", {"c.toml:3", "data.frequencies_hz", "10.1"}));
  CHECK_THAT(refusal("[profile]\norigin_station = \"nope\"\n"),
             tests::HasId("unknown_station", {"c.toml:4", "profile.origin_station", "nope"}));
  CHECK_THAT(refusal("[profile]\nprojection = \"EPSG:999999\"\n"),
             tests::HasId("wrong_system", {"c.toml:4", "profile.projection", "EPSG:999999"}));
  CHECK_THAT(refusal("station_order = [\"a\"]\n"),
             tests::HasId("one_place", {"c.toml", "profile.azimuth_deg"}));
}

TEST_CASE("profile files: COPROD2 and the marine line are read with their errors, masks and depths",
          "[apps]") {
  config::DataConfig coprod;
  coprod.mt2d_file = tests::source_path("data/coprod2/coprod2data.dat");
  coprod.selection.data = {physics::mt::Datum::zxy_re, physics::mt::Datum::zxy_im};
  coprod.selection.frequencies = physics::mt::FrequencyChoice::all;
  coprod.selection.floors = physics::mt::floor_rules({0.1, 0.0, 0.0, 0.0});
  const auto impedances = commands::observe(coprod, config::ProfileConfig(), 2);
  CHECK(impedances.survey.stations.size() == 20);
  const auto lowest = static_cast<Eigen::Index>(20 * (impedances.survey.frequencies_hz.size() - 1));
  CHECK(impedances.sigma[lowest] == Approx(6.692749e-05));  // above the floor
  config::DataConfig marine;
  marine.mare2dem_file = tests::source_path("data/mare2dem_demo/DemoSynthMT.emdata");
  marine.selection.data = {physics::mt::Datum::log10_rho_xy, physics::mt::Datum::phase_yx};
  const physics::mt::Observations line = commands::observe(marine, config::ProfileConfig(), 2);
  CHECK(line.n_used() == 800);
  CHECK_THAT(
      tests::message_of<core::InvalidArgument>([&] { static_cast<void>(physics::mt::ground_under(line)); }),
      Catch::Contains("1 (2172.1 m below)") && Catch::Contains("and 15 more") &&
          Catch::Contains("profile.drape"));
  using physics::mt::Elevation;
  const auto bathymetry = io::model::read_surface_file(tests::source_path("data/mare2dem_demo/Topo.prfl"));
  CHECK(ground_under(line, {.elevation = Elevation::file, .surface = bathymetry}).surface.z_at(0.0, 0.0) ==
        2190.0);
  CHECK(ground_under(line, {.elevation = Elevation::stations}).surface.z_at(0.0, 1000.0) == Approx(2172.1));
}
