// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "tests/support/text_fixture.hpp"

#include <clocale>
#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

TEST_CASE("scan: numbers in all spellings of the field are read", "[scan]") {
  CHECK(number("1.5") == 1.5);
  CHECK(number("+1.5e3") == 1500.0);
  CHECK(number("-.5") == -0.5);
  CHECK(number("0.") == 0.0);
  CHECK(number("1.0D-03") == 1e-3);
  CHECK(number("-1.23-103") == -1.23e-103);
  CHECK(number("1.23+103") == 1.23e103);
  CHECK(number("1.000000e+032") == 1e32);
  CHECK(number("1e-400") == 0.0);
  CHECK(std::isinf(*number("1e400")));
}

TEST_CASE("scan: spellings of no number give NaN, other words give nothing", "[scan]") {
  for (const char* word : {"nan", "NaN", "-nan", "Inf", "-inf", "******", "1.#IND", "-1.#INF", "1.#QNAN"}) {
    INFO(word);
    REQUIRE(number(word).has_value());
    CHECK(std::isnan(*number(word)));
  }
  for (const char* word :
       {"", "+", "-", "abc", "1.5x", "12,5", "0x10", "1.5.3", "1e", "--1", "1-2-3", "e5"}) {
    INFO(word);
    CHECK_FALSE(number(word).has_value());
  }
  CHECK(integer("12") == 12);
  CHECK(integer("-3") == -3);
  CHECK_FALSE(integer("12.0").has_value());
  CHECK_FALSE(integer("99999999999").has_value());
  CHECK_FALSE(integer("**").has_value());
}

TEST_CASE("scan: a locale with decimal commas changes nothing", "[scan]") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) (void)std::setlocale(LC_ALL, name);
  CHECK(number("1.5") == 1.5);
  CHECK(shortest(1.5) == "1.5");
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("scan: lines end with LF, CRLF or CR, a byte-order mark is removed", "[scan]") {
  const auto lines = split_lines(
      "\xEF\xBB\xBF"
      "a\nb\r\nc\rd");
  CHECK(lines == std::vector<std::string_view>{"a", "b", "c", "d"});
  CHECK(split_lines("\n\n").size() == 2);
  CHECK(split_lines("").empty());
}

TEST_CASE("scan: shortest text reads back as the same number", "[scan]") {
  for (const double v : {0.1, 1.0 / 3.0, 1e-300, 12345678.9, -5e-324}) CHECK(number(shortest(v)) == v);
  CHECK(shortest(std::nan(""), "").empty());
  CHECK(printable("a\x01\xC3\xA9z") == "a???z");
}

TEST_CASE("text files: a missing file, a folder and an unwritable place are file errors that name the path",
          "[scan]") {
  const TemporaryFolder folder;
  CHECK_THAT(message_of<core::FileError>([&] { (void)read_bytes(folder / "none"); }),
             Catch::Contains(folder / "none"));
  CHECK_THAT(message_of<core::FileError>([&] { (void)read_bytes(folder.path().string()); }),
             Catch::Contains("folder"));
  CHECK_THROWS_AS(write_bytes_atomically("/proc/none/file", "x"), core::FileError);
  write_bytes_atomically(folder / "new/sub/file", "text");
  CHECK(read_bytes(folder / "new/sub/file") == "text");
  CHECK(read_bytes_up_to(folder / "new/sub/file", 2) == "te");
}
