// SPDX-License-Identifier: Apache-2.0
#include "io/edi/reader.hpp"
#include "physics/mt/remarks.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/text_fixture.hpp"

using namespace lodestone;
using namespace lodestone::tests;

namespace {

/// Two frequencies, Zxy and Zyx with variances, and a tipper.
const std::string good = R"(>HEAD
DATAID="site 1"
LAT=-23:30:36.0
LONG=17:45:00
>=MTSECT
NFREQ=2
>FREQ //2
  1.0E+01  1.0E+02
>ZXYR ROT=ZROT //2
  10.0 30.0
>ZXYI ROT=ZROT //2
  11.0 31.0
>ZXY.VAR ROT=ZROT //2
  0.02 0.08
>ZYXR ROT=ZROT //2
  -12.0 -32.0
>ZYXI ROT=ZROT //2
  -13.0 -33.0
>ZYX.VAR ROT=ZROT //2
  0.02 0.08
>TXR.EXP //2
  0.1 0.2
>TXI.EXP //2
  0.01 0.02
>TXVAR.EXP //2
  0.0002 0.0002
>TYR.EXP //2
  0.3 0.4
>TYI.EXP //2
  0.03 0.04
>TYVAR.EXP //2
  0.0002 0.0002
>END
)";

}  // namespace

TEST_CASE("EDI: what a file announces and lacks is a remark on damage", "[edi]") {
  const auto damage_of = [](const std::string& text) {
    std::vector<std::string> found;
    for (const physics::mt::Remark& each : io::edi::parse(text, "test.edi").remarks)
      if (each.kind == physics::mt::RemarkKind::damage) found.push_back(each.text);
    return found;
  };
  const auto has_one = [&](const std::string& text, const std::string& words) {
    const std::vector<std::string> found = damage_of(text);
    CAPTURE(words, found);
    REQUIRE(found.size() == 1);
    CHECK_THAT(found.front(), Catch::Contains(words));
  };
  CHECK(damage_of(good).empty());
  has_one(replaced(good, ">END\n", ""), "no >END after this block");
  has_one(replaced(good, ">ZYX.VAR ROT=ZROT //2\n  0.02 0.08\n", ""), "block >ZYXR has no >ZYX.VAR");
  has_one(replaced(good, ">TYVAR.EXP //2\n  0.0002 0.0002\n", ""), "block >TYR.EXP has no >TYVAR.EXP");
  has_one(replaced(good, ">ZYXI ROT=ZROT //2\n  -13.0 -33.0\n", ""),
          "only one of the blocks >ZYXR and >ZYXI");
  has_one(replaced(good, ">ZYXI ROT=ZROT //2", ">ZYXI ROT=ZROT //3"), "announces 3 values and holds 2");
  has_one(replaced(good, ">ZYXI ROT=ZROT //2\n", ">ZYXI ROT=ZROT //2\n 1.0 "), "holds 3 numbers");
  has_one(replaced(good, "NFREQ=2", "NFREQ=3"), "announces 3 frequencies, and the file holds 2");
  has_one(replaced(good, "  -13.0 -33.0\n", " NaN NaN\n"), "none of the 2 values of zyx is a number");
  const std::string curve = ">HEAD\n>FREQ //1\n10\n>RHOXY //1\n100\n>PHSXY //1\n45\n>RHOYX //1\n100\n>END\n";
  has_one(curve, "only one of the blocks >RHOYX and >PHSYX");
}
