// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/edi/reader.hpp"
#include "io/edi/writer.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <filesystem>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using Catch::Matchers::Contains;
using physics::mt::StationData;

namespace {

/// Checks that a station reads back from its text with the bits that it has.
void comes_back(const StationData& station, std::size_t n_lost = 0) {
  const physics::mt::Written written = edi::text_of(station);
  INFO(station.path);
  CHECK(written.lost.size() == n_lost);
  const StationData back = edi::parse(written.text, "back.edi");
  CHECK(back.site.name == station.site.name);
  CHECK(same_number(back.site.latitude_deg, station.site.latitude_deg));
  CHECK(same_number(back.site.longitude_deg, station.site.longitude_deg));
  CHECK(same_number(back.site.elevation_m, station.site.elevation_m));
  CHECK(back.sign_in_file == "+");
  REQUIRE(back.rows.size() == station.rows.size());
  for (std::size_t k = 0; k < back.rows.size(); ++k) {
    physics::mt::StationRow expected = station.rows[k];
    expected.estimates.reset();
    CHECK(difference(back.rows[k], expected) == "");
  }
}

}  // namespace

TEST_CASE("EDI: what is written reads back with the same bits", "[edi]") {
  int n = 0;
  for (const char* folder : {"data/samtex/edi_kim_eto", "data/gabbs_valley/edi", "tests/data/edi"}) {
    for (const auto& entry : std::filesystem::directory_iterator(source_path(folder))) {
      if (entry.path().extension() != ".edi") continue;
      comes_back(edi::read(entry.path().string()));
      ++n;
    }
  }
  CHECK(n > 90);
}

TEST_CASE("EDI: frames that vary and channels that are not perpendicular are written as far as EDI can",
          "[edi]") {
  StationData station = edi::read(source_path("tests/data/edi/gv100.edi"));
  station.rows[3].azimuths = physics::mt::ChannelAzimuths::along(25.0);
  station.rows[3].azimuths.tipper_hx_deg = 10.0;
  station.rows[3].azimuths.tipper_hy_deg = 100.0;
  const StationData back = edi::parse(edi::text_of(station).text, "back.edi");
  CHECK(back.rows[3].azimuths.ex_deg == 25.0);
  CHECK(back.rows[3].azimuths.tipper_hy_deg == 100.0);
  CHECK(difference(back.rows[2], station.rows[2]) == "");
  station.rows[5].azimuths.ey_deg = 85.0;
  const physics::mt::Written written = edi::text_of(station);
  REQUIRE(written.lost.size() == 1);
  CHECK_THAT(written.lost[0], Contains("1 periods"));
  const physics::mt::StationRow turned = rotated(station.rows[5], 0.0);
  CHECK(std::abs(edi::parse(written.text, "back.edi").rows[5].values.numbers[2] - turned.values.numbers[2]) <
        1e-12 * std::abs(turned.values.numbers[2]));
  station.rows[0].covariance = station.rows[0].full_covariance();
  station.local_frame.emplace();
  CHECK(edi::text_of(station).lost.size() == 3);
  CHECK_THAT(error_of<core::InvalidArgument>([] { static_cast<void>(edi::text_of({})); }), HasId("nothing"));
}
