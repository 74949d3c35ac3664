// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "io/survey/store.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Element;
using physics::mt::RemarkKind;
using physics::mt::StationData;

namespace {

void is_same(const StationData& a, const StationData& b) {
  INFO(a.path);
  CHECK(a.site.name == b.site.name);
  CHECK(a.site.reference == b.site.reference);
  CHECK(a.site.definition == b.site.definition);
  CHECK(same_number(a.site.latitude_deg, b.site.latitude_deg));
  CHECK(same_number(a.site.longitude_deg, b.site.longitude_deg));
  CHECK(same_number(a.site.elevation_m, b.site.elevation_m));
  CHECK(same_number(a.site.x_m, b.site.x_m));
  CHECK(same_number(a.site.y_m, b.site.y_m));
  CHECK(same_number(a.site.z_m, b.site.z_m));
  CHECK(a.other_names == b.other_names);
  CHECK(a.path == b.path);
  CHECK(a.format == b.format);
  CHECK(a.header == b.header);
  CHECK(a.remarks == b.remarks);
  CHECK(a.changes == b.changes);
  CHECK(a.zero_tippers == b.zero_tippers);
  CHECK(a.sign_in_file == b.sign_in_file);
  CHECK(a.units_in_file == b.units_in_file);
  CHECK(a.local_frame.has_value() == b.local_frame.has_value());
  if (a.local_frame && b.local_frame) CHECK(a.local_frame->is_same(*b.local_frame));
  REQUIRE(a.rows.size() == b.rows.size());
  for (std::size_t k = 0; k < a.rows.size(); ++k) {
    CHECK(difference(a.rows[k], b.rows[k]) == "");
    REQUIRE(a.rows[k].covariance.has_value() == b.rows[k].covariance.has_value());
    if (!a.rows[k].covariance) continue;
    for (Eigen::Index i = 0; i < a.rows[k].covariance->size(); ++i)
      CHECK(same_number(a.rows[k].covariance->data()[i], b.rows[k].covariance->data()[i]));
  }
  REQUIRE(a.readings.size() == b.readings.size());
  for (std::size_t k = 0; k < a.readings.size(); ++k) {
    CHECK(a.readings[k].datum == b.readings[k].datum);
    CHECK(same_bits(a.readings[k].value, b.readings[k].value));
    CHECK(same_number(a.readings[k].sigma, b.readings[k].sigma));
    CHECK(a.readings[k].azimuth_deg == b.readings[k].azimuth_deg);
  }
}

}  // namespace

TEST_CASE("survey file: stations of all formats come back with the same bits", "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations;
  for (const char* path :
       {"data/samtex/edi_kim_eto", "data/modem_block2_3d/de.dat", "data/modem_block2_2d/de_JT.dat",
        "data/mare2dem_demo/DemoSynthMT.emdata", "tests/data/emtf/NMX20.xml", "tests/data/edi/gv100.edi"}) {
    if (!std::filesystem::exists(source_path(path))) FAIL(path);
    for (StationData& each : survey::read(source_path(path))) stations.push_back(std::move(each));
  }
  stations[1].other_names = {"one", "two words"};
  stations[3].remarks = {"a.edi:1: an assumption",
                         {"a.edi:2: another station is named two words", RemarkKind::renamed, "two words"},
                         {"a.edi:3: cut off", RemarkKind::damage}};
  stations[2].changes = {"turned by 3 degrees", "masked 2 periods"};
  const std::string path = folder / "all.h5";
  survey::write_survey(path, stations);
  CHECK(survey::is_survey(hdf5::Hdf5Source(path)));
  const std::vector<StationData> back = survey::read_survey(path);
  REQUIRE(back.size() == stations.size());
  for (std::size_t k = 0; k < back.size(); ++k) is_same(stations[k], back[k]);
  CHECK(survey::read(path).size() == stations.size());
  CHECK(std::ranges::any_of(back, [](const StationData& s) { return !s.readings.empty(); }));
  CHECK(std::ranges::any_of(back,
                            [](const StationData& s) { return s.rows.size() > 0 && s.rows[0].estimates; }));
}

TEST_CASE("survey file: masked values come back masked, and unmasked with the bits that they had",
          "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations = survey::read(source_path("tests/data/emtf/NMX20.xml"));
  for (StationData& each : survey::read(source_path("data/modem_block2_2d/de_JT.dat")))
    stations.push_back(std::move(each));
  const StationData before = stations[0];
  stations[1].readings.push_back(
      {.datum = physics::mt::datum_from("log10_rho_xy"), .frequency_hz = 1.0, .value = 2.0, .sigma = 0.1});
  stations[1].masked_readings.push_back(
      {.datum = physics::mt::datum_from("phase_xy"), .frequency_hz = 1.0, .value = 0.5, .sigma = 0.2});
  for (const Element element : {Element::zxy, Element::tzx}) stations[0].rows[3].mask(element);
  stations[0].rows[4].mask(Element::zyx);
  survey::write_survey(folder / "masked.h5", stations);
  std::vector<StationData> back = survey::read_survey(folder / "masked.h5");
  REQUIRE(back.size() == stations.size());
  for (std::size_t k = 0; k < back.size(); ++k) is_same(stations[k], back[k]);
  CHECK(back[0].n_masked() == 3);
  CHECK(back[0].rows[3].is_masked(Element::zxy));
  CHECK_FALSE(back[0].rows[3].is_masked(Element::zyx));
  REQUIRE(back[1].masked_readings.size() == 1);
  CHECK(same_bits(back[1].masked_readings[0].value, 0.5));
  CHECK(back[1].masked_readings[0].datum == physics::mt::datum_from("phase_xy"));
  {  // the values stand in the file, with a mark beside them
    const hdf5::Hdf5Source source(folder / "masked.h5");
    const auto mask = core::read_bytes(source, "rows/mask");
    CHECK(std::ranges::count(mask, 1) == 3);
    CHECK(mask[3 * physics::mt::n_elements + 1] == 1);
  }
  for (const Element element : {Element::zxy, Element::tzx}) back[0].rows[3].unmask(element);
  CHECK(back[0].n_masked() == 1);
  back[0].rows[4].unmask(Element::zyx);
  is_same(back[0], before);
}

TEST_CASE("survey file: stations whose values are all masked are absent unless they are asked for",
          "[survey]") {
  const TemporaryFolder folder;
  std::vector<StationData> stations =
      survey::read_files({source_path("tests/data/edi/gv100.edi"), source_path("tests/data/emtf/NMX20.xml")});
  const auto mask_all = [](StationData& station) {
    for (physics::mt::StationRow& row : station.rows)
      for (const Element element : physics::mt::all_elements) row.mask(element);
  };
  mask_all(stations[0]);
  survey::write_survey(folder / "s.h5", stations);
  REQUIRE(survey::read(folder / "s.h5").size() == 1);
  CHECK(survey::read(folder / "s.h5")[0].site.name == "NMX20");
  CHECK(survey::read(folder / "s.h5", {.keeps_masked_stations = true}).size() == 2);
  mask_all(stations[1]);
  survey::write_survey(folder / "all.h5", stations);
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(survey::read(folder / "all.h5")); }),
             HasId("all_masked", {"2 stations", "--unmask"}));
}

TEST_CASE("survey file: a file of the first version has no masks and is read", "[survey]") {
  const auto old = survey::read(source_path("tests/data/survey/version_1.h5"));
  REQUIRE(old.size() == 1);
  CHECK(old[0].n_masked() == 0);
  check_same_station(old[0], survey::read(source_path("tests/data/edi/gv100.edi"))[0]);
}

TEST_CASE("survey file: a survey without stations, and files of another kind", "[survey]") {
  const TemporaryFolder folder;
  survey::write_survey(folder / "none.h5", {});
  CHECK(survey::read_survey(folder / "none.h5").empty());
  {
    hdf5::Hdf5Sink other(folder / "other.h5");
    other.attribute("", "format", "lodestone result");
    other.commit();
  }
  CHECK_FALSE(survey::is_survey(hdf5::Hdf5Source(folder / "other.h5")));
  CHECK_THROWS_AS(survey::read_survey(folder / "other.h5"), core::FormatError);
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(survey::read(folder / "other.h5")); }),
             HasId("not_stations", {"other.h5"}));
}
