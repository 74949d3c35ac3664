// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/mare2dem/data.hpp"
#include "physics/mt/selection.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Datum;
using physics::mt::MaskReason;

namespace {

const std::string head =
    "Format: EMData_2.2 ! comment\nUTM of x,y origin (UTM zone, N, E, 2D strike): 11 N 1 2 90\nPhase "
    "Convention: lag\n# MT Frequencies: 2\n"
    "0.1\n1.0D-02\n# MT Receivers: 2\n! X Y Z Theta Alpha Beta Length SolveStatic Name\n0 1000 2172.1 0 0 "
    "-0.5 0 0 west\n"
    "0 2000 2160.2 0 0 3.5 0 0 east\n";

/// A file with its data on a full survey.
struct File : mare2dem::EmData {
  explicit File(mare2dem::EmData file)
      : mare2dem::EmData(std::move(file)), data(stated_data(stations)), predicted(stated_data(responses)) {}
  [[nodiscard]] std::vector<std::string> remarks() const { return texts_of(stations.front().remarks); }
  physics::mt::Observations data, predicted;
};

File parse(const std::string& text) {
  const TemporaryFolder folder;
  return File(mare2dem::read_data(write_text(folder, "d.emdata", text)));
}

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { (void)parse(text); });
}

/// The value or σ of a datum; frequencies count from the highest.
double number_of(const physics::mt::Observations& data, const Eigen::VectorXd& from, Datum quantity,
                 int frequency, int station) {
  const auto& keys = data.survey.keys;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].quantity == quantity && keys[i].frequency == frequency && keys[i].station == station)
      return from[static_cast<Eigen::Index>(i)];
  }
  return std::numeric_limits<double>::quiet_NaN();
}
double value_of(const File& file, Datum quantity, int frequency, int station) {
  return number_of(file.data, file.data.value, quantity, frequency, station);
}
double sigma_of(const File& file, Datum quantity, int frequency, int station) {
  return number_of(file.data, file.data.sigma, quantity, frequency, station);
}
double response_of(const File& file, Datum quantity, int frequency, int station) {
  return number_of(file.predicted, file.predicted.value, quantity, frequency, station);
}

}  // namespace

TEST_CASE("EMData: the marine demo has 25 stations with depth and tilt and 1600 data", "[mare2dem]") {
  const File file(mare2dem::read_data(source_path("data/mare2dem_demo/DemoSynthMT.emdata")));
  CHECK(file.version == "EMData_2.2");
  CHECK(file.data.survey.stations.size() == 25);
  CHECK(file.data.survey.stations[24].name == "25");
  CHECK(file.data.survey.frequencies_hz.size() == 16);
  CHECK(file.data.n_used() == 1600);
  CHECK(file.stations[0].site.z_m == 2172.1);
  CHECK(file.stations[19].site.tilt_deg == -10.0);
  CHECK(file.remarks().empty());
  CHECK(file.responses.empty());
  CHECK(value_of(file, Datum::log10_rho_xy, 15, 0) == 1.19785);
  CHECK(sigma_of(file, Datum::log10_rho_yx, 15, 0) == 0.017372);
  const double degree = std::numbers::pi / 180.0;
  CHECK(value_of(file, Datum::phase_xy, 15, 0) == Approx(14.318 * degree));
  CHECK(value_of(file, Datum::phase_yx, 15, 0) == Approx((19.4429 - 180.0) * degree));
  CHECK(sigma_of(file, Datum::phase_yx, 15, 0) == Approx(1.14592 * degree));
}

TEST_CASE("EMResp: responses stand beside the data they belong to", "[mare2dem]") {
  const File file(mare2dem::read_data(source_path("data/mare2dem_demo/Demo.0.resp")));
  CHECK(file.data.survey.stations[6].name == "7");
  REQUIRE(file.predicted.value.size() == 1600);
  CHECK(file.predicted.value.allFinite());
  CHECK(response_of(file, Datum::log10_rho_xy, 15, 0) == 1.197348);
  CHECK(response_of(file, Datum::phase_yx, 15, 6) == Approx((19.30873 - 180.0) * std::numbers::pi / 180.0));
  CHECK(file.data.n_used() == 0);  // errors of 0: not observed
}

TEST_CASE("EMData: every known type becomes its quantity in the units of the survey", "[mare2dem]") {
  const auto file =
      parse(head +
            "# Data: 10\n103 1 1 1 100 10\n104 1 0 1 30 2\n105 1 0 1 -1 1\n106 1 0 1 40 2\n113 2 0 2 1e-3 "
            "1e-4\n114 2 0 2 2e-3 1e-4\n"
            "115 2 0 2 -1e-3 1e-4\n116 2 0 2 -2e-3 0\n133 1 0 2 0.1 0.02\n134 1 0 2 -0.2 0.02\n");
  CHECK(value_of(file, Datum::log10_rho_xy, 0, 0) == Approx(2.0));
  CHECK(sigma_of(file, Datum::log10_rho_xy, 0, 0) == Approx(0.1 / std::numbers::ln10));
  CHECK(value_of(file, Datum::zyx_re, 1, 1) == -1e-3);
  CHECK(value_of(file, Datum::tzy_im, 0, 1) == -0.2);
  CHECK(file.data.n_used() == 8);  // neither the negative resistivity nor the error of 0
  CHECK(std::count(file.data.reason.begin(), file.data.reason.end(), MaskReason::bad_error) == 1);
  CHECK(file.phase_convention == "lag");
  CHECK(file.origin == "11 N 1 2 90");
  CHECK(file.data.survey.frequencies_hz[1] == 0.01);
}

TEST_CASE("EMData: amplitude and phase of a tipper become its parts with propagated errors", "[mare2dem]") {
  // σ_A = A σ_φ at the first station, a phase of 90° at the second; rows in any order.
  const auto file = parse(head +
                          "# Data: 8\n136 1 0 1 -150 2.2918311805232928\n135 1 1 1 0.5 0.02\n135 1 0 2 0.2 "
                          "0.03\n136 1 0 2 90 10\n" +
                          "135 2 0 1 -0.1 0.02\n136 2 0 1 10 5\n135 2 0 2 0.1 0.02\n136 2 0 2 60 0\n");
  const auto value = [&](Datum quantity, int frequency, int station) {
    return value_of(file, quantity, frequency, station);
  };
  const auto sigma = [&](Datum quantity, int station) { return sigma_of(file, quantity, 0, station); };
  CHECK(value(Datum::tzy_re, 0, 0) == Approx(-0.25 * std::sqrt(3.0)));
  CHECK(value(Datum::tzy_im, 0, 0) == Approx(-0.25));
  CHECK(sigma(Datum::tzy_re, 0) == Approx(0.02));
  CHECK(sigma(Datum::tzy_im, 0) == Approx(0.02));
  CHECK(std::abs(value(Datum::tzy_re, 0, 1)) < 1e-15);
  CHECK(value(Datum::tzy_im, 0, 1) == Approx(0.2));
  CHECK(sigma(Datum::tzy_re, 1) == Approx(0.2 * std::numbers::pi / 18.0));
  CHECK(sigma(Datum::tzy_im, 1) == Approx(0.03));
  CHECK(std::isnan(value(Datum::tzy_re, 1, 0)));  // no amplitude is negative
  CHECK(value(Datum::tzy_re, 1, 1) == Approx(0.05));
  CHECK(file.data.n_used() == 4);  // an error of 0 is of both parts
  CHECK(std::count(file.data.reason.begin(), file.data.reason.end(), MaskReason::bad_error) == 2);
  CHECK(file.remarks().empty());
}

TEST_CASE("EMData: the amplitude of a tipper without its phase is left out, a second one is refused",
          "[mare2dem]") {
  const auto file = parse(head + "# Data: 3\n104 1 1 1 30 2\n135 1 1 1 0.1 0.02\n136 1 0 2 20 5\n");
  CHECK(file.data.n_used() == 1);
  REQUIRE(file.remarks().size() == 1);
  CHECK_THAT(file.remarks()[0],
             Catch::Contains(" 2 rows ") && Catch::Contains("135") && Catch::Contains("136"));
  CHECK_THAT(refusal(head + "# Data: 1\n136 1 1 1 20 5\n"), HasId("no_mt_data", {"103", "136"}));
  CHECK_THAT(refusal(head + "# Data: 2\n136 1 0 1 20 5\n136 1 1 1 20 5\n"),
             HasId("second_half", {"d.emdata:13"}));
  CHECK_THAT(refusal(head + "# Data: 3\n133 1 0 1 0.1 1\n135 1 0 1 0.1 1\n136 1 0 1 20 5\n"),
             HasId("second_value", {"d.emdata:13"}));
}

TEST_CASE("EMResp: responses of a tipper's amplitude and phase become those of its parts", "[mare2dem]") {
  const auto file = parse(replaced(head, "EMData", "EMResp") +
                          "# Data: 2\n135 1 0 1 0.5 0.02 0.4 5\n136 1 0 1 0 3 -90 30\n");
  CHECK(value_of(file, Datum::tzy_re, 0, 0) == Approx(0.5));
  CHECK(std::abs(response_of(file, Datum::tzy_re, 0, 0)) < 1e-15);
  CHECK(response_of(file, Datum::tzy_im, 0, 0) == Approx(-0.4));
}

TEST_CASE("EMData: data of other kinds are left out with one warning that counts them", "[mare2dem]") {
  const auto file =
      parse(replaced(head, "# MT Freq", "# Transmitters: 1\n0 0 0 90 0 0 edipole tx\n# MT Freq") +
            "# Data: 5\n28 1 1 1 -13 0.1\n28 9 1 1 -13 0.1\n151 1 1 1 1 1\n104 1 2 1 30 2\n104 1 1 1 30 2\n");
  CHECK(file.data.n_used() == 1);
  REQUIRE(file.remarks().size() == 2);
  CHECK_THAT(file.remarks()[0], Catch::Contains("d.emdata") && Catch::Contains("28 (2 rows), 151 (1 rows)"));
  CHECK_THAT(file.remarks()[1], Catch::Contains(" 1 rows ") && Catch::Contains("Tx#"));
}

TEST_CASE(
    "EMData: data with a negative error are masked with one warning that counts them, errors of 0 without",
    "[mare2dem]") {
  const auto file =
      parse(head + "# Data: 4\n104 1 1 1 30 -2\n103 1 1 1 10 -1\n104 1 2 2 30 0\n104 2 2 2 30 1\n");
  CHECK(file.data.n_used() == 1);
  REQUIRE(file.remarks().size() == 1);
  CHECK_THAT(file.remarks()[0], Catch::Contains("d.emdata: 2 "));
  const auto polar = parse(head + "# Data: 2\n135 1 0 1 0.5 0.02\n136 1 0 1 20 -5\n");
  CHECK(polar.data.n_used() == 0);
  CHECK_THAT(polar.remarks().at(0), Catch::Contains("d.emdata: 2 "));
}

TEST_CASE("EMData: older versions have fewer columns, equal names get a suffix", "[mare2dem]") {
  const std::string old =
      "Format: EMData_2.0\n# MT Frequencies: 1\n1\n# MT Receivers: 2\n0 1 2 0 0 3\n0 5 2 10 0 3\n# Data: "
      "1\n104 1 0 2 45 1\n";
  const auto file = parse(old);
  CHECK(file.data.survey.stations[1].name == "2");
  CHECK_THAT(file.remarks().at(0), Catch::Contains("Theta") && Catch::Contains(" 2 "));
  const auto named = parse(replaced(replaced(old, "2.0", "2.1"), " 0 0 3\n", " 0 0 3 0 same\n"));
  CHECK(named.data.survey.stations[0].name == "same");
}

TEST_CASE("EMData: bad rows are format errors with file and line", "[mare2dem]") {
  CHECK_THAT(refusal("Format: EMData_1.2\n"), HasId("unknown_version", {"d.emdata:1"}));
  CHECK_THAT(refusal(head + "# Data: 1\n104 3 1 1 30 2\n"),
             HasId("not_in_range", {"d.emdata:12", "1", "2", "\"3\""}));
  CHECK_THAT(refusal(head + "# Data: 1\n104 1 1 9 30 2\n"), HasId("not_in_range", {"1", "2", "\"9\""}));
  CHECK_THAT(refusal(head + "# Data: 1\n104 1 1 1 30\n"), HasId("wrong_columns", {"6", "5"}));
  CHECK_THAT(refusal(replaced(head, "0 1000 2172.1", "0 1e300 2172.1")),
             HasId("out_of_range", {"d.emdata:9", "Y in m", "1e+300"}));
  CHECK_THAT(refusal(replaced(head, "2160.2", "1e300")), HasId("out_of_range", {"d.emdata:10", "Z in m"}));
  CHECK_THAT(refusal(replaced(head, "-0.5", "1e300")), HasId("out_of_range", {"d.emdata:9", "Beta"}));
  CHECK_THAT(refusal(replaced(head, "2172.1 0 0", "2172.1 1e300 0")), HasId("out_of_range", {"Theta"}));
  CHECK_THAT(refusal(head + "# Data: 1\n104 1 1 1 thirty 2\n"), HasId("not_a_number", {"\"thirty\""}));
  CHECK_THAT(refusal(head + "# Data: 3\n104 1 1 1 30 2\n"), HasId("cut_off"));
  CHECK_THAT(refusal(head + "# Data: 2\n103 1 1 1 10 1\n123 1 1 1 1 1\n"),
             HasId("second_value", {"log10_rho_xy", "west"}));
  CHECK_THAT(refusal(head), HasId("no_mt_data"));
  CHECK_THAT(refusal("Format: EMData_2.2\n# Data: 1\n104 1 1 1 30 2\n"), HasId("no_receivers"));
}

TEST_CASE("info: a MARE2DEM file shows its stations, depths and conventions", "[info]") {
  const auto info = info::describe_file(source_path("data/mare2dem_demo/DemoSynthMT.emdata"));
  CHECK(info.format == "MARE2DEM data");
  CHECK(info.status == "ok");
  CHECK(info.sites.size() == 25);
  CHECK_THAT(info.facts.at(0),
             Catch::Contains("1600") && Catch::Contains("929.5") && Catch::Contains("2172.1 m"));
}

TEST_CASE("EMData: names of receivers become UTF-8 and have a bound", "[mare2dem]") {
  const std::string data = "# Data: 1\n103 1 1 1 100 10\n";
  CHECK(parse(replaced(head, "west", "S\xE9") + data).stations.at(0).site.name == "Sé");
  CHECK_THAT(refusal(replaced(head, "west", std::string(300, 'n')) + data),
             HasId("long_name", {"d.emdata:9", "128", "300"}));
}

TEST_CASE("EMData: tippers of a receiver that are all zero are missing, with a remark", "[mare2dem]") {
  const TemporaryFolder folder;
  const auto file = mare2dem::read_data(write_text(
      folder, "d.emdata",
      head + "# Data: 4\n103 1 1 1 100 10\n133 1 0 1 0 0.02\n134 1 0 1 0 0.02\n133 1 0 2 0.1 0.02\n"));
  REQUIRE(file.stations.size() == 2);
  REQUIRE(file.stations[0].readings.size() == 1);
  CHECK(file.stations[0].readings[0].datum == Datum::log10_rho_xy);
  CHECK(file.stations[0].remarks.empty());
  CHECK_THAT(file.stations[0].zero_tippers,
             Catch::Contains("d.emdata: ") && Catch::Contains("west") && Catch::Contains(" 2 "));
  CHECK(file.stations[1].readings.size() == 1);
  CHECK(file.stations[1].remarks.empty());
}

TEST_CASE("EMData: data that have no type or no error are refused by the writer", "[mare2dem]") {
  const auto observed = [] { return parse(head + "# Data: 2\n103 1 1 1 100 10\n104 1 1 1 30 2\n").data; };
  const auto refused = [](const physics::mt::Observations& data) {
    return error_of<core::InvalidArgument>([&] { (void)mare2dem::text_of(data, ""); });
  };
  auto data = observed();
  const auto kept = std::ranges::find(data.reason, MaskReason::kept);
  data.sigma[kept - data.reason.begin()] = 0.0;
  CHECK_THAT(refused(data), HasId("no_error", {"west"}));
  data = observed();
  for (auto& key : data.survey.keys) key.quantity = physics::mt::datum("zxx_re");
  CHECK_THAT(refused(data), HasId("no_type", {"MARE2DEM", "zxx_re"}));
  std::ranges::fill(data.reason, MaskReason::listed);
  CHECK_THAT(refused(data), HasId("no_datum"));
}
