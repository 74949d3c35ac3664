// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/text/lines.hpp"
#include "io/text/scan.hpp"
#include "io/text/text_file.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <clocale>
#include <cmath>
#include <filesystem>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

TEST_CASE("scan: numbers in all spellings of the field are read", "[scan]") {
  CHECK(text::number("1.5") == 1.5);
  CHECK(text::number("+1.5e3") == 1500.0);
  CHECK(text::number("-.5") == -0.5);
  CHECK(text::number("0.") == 0.0);
  CHECK(text::number("1.0D-03") == 1e-3);
  CHECK(text::number("-1.23-103") == -1.23e-103);
  CHECK(text::number("1.23+103") == 1.23e103);
  CHECK(text::number("1.000000e+032") == 1e32);
  CHECK(text::number("1e-400") == 0.0);
  CHECK(std::isinf(*text::number("1e400")));
}

TEST_CASE("scan: spellings of no number give NaN, other words give nothing", "[scan]") {
  for (const char* word : {"nan", "NaN", "-nan", "Inf", "-inf", "******", "1.#IND", "-1.#INF", "1.#QNAN"}) {
    INFO(word);
    REQUIRE(text::number(word).has_value());
    CHECK(std::isnan(*text::number(word)));
  }
  for (const char* word :
       {"", "+", "-", "abc", "1.5x", "12,5", "0x10", "1.5.3", "1e", "--1", "1-2-3", "e5"}) {
    INFO(word);
    CHECK_FALSE(text::number(word).has_value());
  }
  CHECK(text::integer("12") == 12);
  CHECK(text::integer("-3") == -3);
  CHECK_FALSE(text::integer("12.0").has_value());
  CHECK_FALSE(text::integer("99999999999").has_value());
  CHECK_FALSE(text::integer("**").has_value());
}

TEST_CASE("scan: numbers of fixed width that touch are told apart", "[scan]") {
  using Words = std::vector<std::string_view>;
  CHECK(text::touching_words(" -0.1234E+00-0.5678E-01 2") == Words{"-0.1234E+00", "-0.5678E-01", "2"});
  CHECK(text::touching_words("1.0D-03+2.0-3.") == Words{"1.0D-03", "+2.0", "-3."});
  CHECK(text::touching_words("1.23-103-4.5+100") == Words{"1.23-103", "-4.5+100"});  // exponents
  CHECK(text::touching_words("****-1.5") == Words{"****", "-1.5"});
  CHECK(text::touching_words("-1 nan") == Words{"-1", "nan"});
  CHECK(text::touching_words("").empty());
}

TEST_CASE("scan: angles in degrees, minutes and seconds are read", "[scan]") {
  CHECK(text::angle("-0:30:00")->deg == -0.5);
  CHECK(text::angle("22:30 S")->deg == -22.5);
  CHECK(text::angle("2.5E+01")->deg == 25.0);
  CHECK_FALSE(text::angle("1:75")->is_proper);
  CHECK_FALSE(text::angle("north").has_value());
  CHECK_FALSE(text::angle("").has_value());
}

TEST_CASE("scan: a locale with decimal commas changes nothing", "[scan]") {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"}) (void)std::setlocale(LC_ALL, name);
  CHECK(text::number("1.5") == 1.5);
  CHECK(text::shortest(1.5) == "1.5");
  std::setlocale(LC_ALL, before.c_str());
}

TEST_CASE("scan: lines end with LF, CRLF or CR, a byte-order mark is removed", "[scan]") {
  const auto lines = text::split_lines(
      "\xEF\xBB\xBF"
      "a\nb\r\nc\rd");
  CHECK(lines == std::vector<std::string_view>{"a", "b", "c", "d"});
  CHECK(text::split_lines("\n\n").size() == 2);
  CHECK(text::split_lines("").empty());
}

TEST_CASE("scan: shortest text reads back as the same number", "[scan]") {
  for (const double v : {0.1, 1.0 / 3.0, 1e-300, 12345678.9, -5e-324})
    CHECK(text::number(text::shortest(v)) == v);
  CHECK(text::shortest(std::nan(""), "").empty());
  CHECK(text::printable("a\x01\xC3\xA9z") == "a???z");
}

TEST_CASE("text files: a missing file, a folder and an unwritable place are file errors that name the path",
          "[scan]") {
  const TemporaryFolder folder;
  CHECK_THAT(error_of<core::FileError>([&] { (void)text::read_bytes(folder / "none"); }),
             HasId("no_file", {folder / "none"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)text::read_bytes(folder.path().string()); }),
             HasId("is_a_folder", {folder.path().string()}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)text::read_bytes("/dev/zero"); }),
             HasId("no_regular_file", {"/dev/zero"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)text::read_bytes_up_to("/dev/zero", 10); }),
             HasId("no_regular_file", {"/dev/zero"}));
  CHECK_THROWS_AS(text::write_bytes_atomically("/proc/none/file", "x"), core::FileError);
  text::write_bytes_atomically(folder / "new/sub/file", "text");
  CHECK(text::read_bytes(folder / "new/sub/file") == "text");
  CHECK(text::read_bytes_up_to(folder / "new/sub/file", 2) == "te");
  CHECK(text::digest_of_file(folder / "new/sub/file") == text::digest_of("text"));
}

TEST_CASE("text files: more than 1 GiB is refused before it is read", "[scan]") {
  const TemporaryFolder folder;
  const std::string path = folder / "large";
  text::write_bytes_atomically(path, "text");
  std::filesystem::resize_file(path, (std::uintmax_t{1} << 30) + 1);  // a hole, without blocks on the disk
  CHECK_THAT(error_of<core::FileError>([&] { (void)text::read_bytes(path); }), HasId("too_large", {path}));
  CHECK(text::read_bytes_up_to(path, 4) == "text");
}

TEST_CASE("text files: any encoding is read as UTF-8 without control characters", "[scan]") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "latin.txt", "M\xFCnchen\t1\r\n\x1B[31mred\n");
  CHECK(text::read_text(path) == "München\t1\r\n [31mred\n");
  CHECK(text::read_bytes(path) == "M\xFCnchen\t1\r\n\x1B[31mred\n");
}

TEST_CASE("text: a name has no control characters, no blanks at its ends, and at most 128 bytes", "[scan]") {
  const auto name = [](const std::string& word) { return text::checked_name(word, "io::x", "x.csv:7"); };
  CHECK(name(" a\tb\x1B ") == "a b");
  CHECK(name("S\xE9") == "Sé");
  CHECK(name(std::string(128, 'n')) == std::string(128, 'n'));
  CHECK_THAT(error_of<core::FormatError>([&] { (void)name(std::string(129, 'n')); }),
             HasId("long_name", {"x.csv:7", "128", "129"}));
}
