// SPDX-License-Identifier: Apache-2.0
// What no processing writes is refused, or remarked on, before it takes memory and time.
#include "engine/core/error.hpp"
#include "io/edi/reader.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::tests;

namespace {

physics::mt::StationData parse(const std::string& text) { return io::edi::parse(text, "a.edi"); }

core::Error refusal(const std::string& text) {
  return error_of<core::FormatError>([&] { static_cast<void>(parse(text)); });
}

std::string repeated(const std::string& text, int n) {
  std::string all;
  for (int i = 0; i < n; ++i) all += text;
  return all;
}

}  // namespace

TEST_CASE("EDI: more blocks than a file has room for are a format error", "[edi]") {
  CHECK_THAT(refusal(">HEAD\n" + repeated(">B\n", 2000)),
             HasId("too_many_blocks", {"a.edi:1", "2001 blocks", "6006 bytes"}));
}

TEST_CASE("EDI: sections that would all take over a long head are a format error", "[edi]") {
  const std::string section = ">=A\n>FREQ //1\n 1.00000000000000000000000000000\n";
  CHECK_THAT(refusal(">HEAD\n" + repeated(">BLOCK OF SOME LENGTH\n", 300) + repeated(section, 100)),
             HasId("too_many_sections", {"a.edi:302", "301 blocks"}));
}

TEST_CASE("EDI: of many frequencies that stand twice, the first have a remark of their own", "[edi]") {
  std::string frequencies, values;
  for (int i = 1; i <= 30; ++i) {
    frequencies += " " + std::to_string(i) + " " + std::to_string(i);
    values += " 1 1";
  }
  const auto block = [](const std::string& name, const std::string& numbers) {
    return ">" + name + " //60\n" + numbers + "\n";
  };
  const auto station = parse(">HEAD\nDATAID=a\n" + block("FREQ", frequencies) + block("ZXYR", values) +
                             block("ZXYI", values) + ">END\n");
  const auto n_with = [&](const char* part) {
    return std::ranges::count_if(station.remarks, [&](const physics::mt::Remark& remark) {
      return remark.text.find(part) != std::string::npos;
    });
  };
  CHECK(station.rows.size() == 30);
  CHECK(n_with("stands 2 times") == 20);
  CHECK(n_with("10 further frequencies stand several times") == 1);
}
