// SPDX-License-Identifier: Apache-2.0
#include "engine/core/clean_text.hpp"
#include "tests/support/catch.hpp"

#include <string>

using namespace lodestone::core;

TEST_CASE("clean text: UTF-8 stays, bytes of Latin-1 and Windows-1252 become UTF-8") {
  CHECK(clean_text("") == "");
  CHECK(clean_text("site 1, ρₐ 𝛼 €") == "site 1, ρₐ 𝛼 €");
  CHECK(clean_text("M\xFCnchen") == "München");
  CHECK(clean_text("Orl\xE9"
                   "ans \x80 \x93x\x94") == "Orléans € “x”");
  CHECK(clean_text("\xC3\xA9 and \xE9") == "é and é");
  CHECK(clean_text("cut off \xC3") == "cut off Ã");
  CHECK(clean_text("\x81") == "\xEF\xBF\xBD");
}

TEST_CASE("clean text: control characters become spaces, ends of lines and tabs of a text stay") {
  CHECK(clean_text("a\x1B[31mb\x7F") == "a [31mb ");
  CHECK(clean_text(std::string("a\0b", 3)) == "a b");
  CHECK(clean_text("a\r\n\tb") == "a\r\n\tb");
  CHECK(clean_line("a\r\n\tb\x1B") == "a   b ");
  CHECK(clean_text("a\xC2\x9B"
                   "31m") == "a 31m");  // CSI as one character
}

TEST_CASE("clean text: what is no character of XML is no UTF-8") {
  CHECK(utf8_length("\xC0\xAF") == 0);          // overlong
  CHECK(utf8_length("\xE0\x80\xAF") == 0);      // overlong
  CHECK(utf8_length("\xED\xA0\x80") == 0);      // surrogate
  CHECK(utf8_length("\xEF\xBF\xBE") == 0);      // U+FFFE
  CHECK(utf8_length("\xF4\x90\x80\x80") == 0);  // above U+10FFFF
  CHECK(utf8_length("\xF0\x9D\x9B\xBC") == 4);
  CHECK(utf8_length("\xEF\xBF\xBD") == 3);
  CHECK(utf8_length("a") == 1);
}

TEST_CASE("clean text: a cleaned text is UTF-8 without control characters, whatever its bytes") {
  std::string bytes;
  unsigned state = 12345;
  for (int i = 0; i < 20000; ++i) bytes += static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  const std::string text = clean_line(bytes);
  CHECK(clean_line(text) == text);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8_length(rest);
    REQUIRE(length > 0);
    REQUIRE_FALSE(is_control(rest, length));
    rest.remove_prefix(length);
  }
}

TEST_CASE("clean text: bytes of Windows-1252 are found again from the text that they are read as") {
  for (const std::string bytes : {"caf\xE9.dat", "\x80 \x9F \xA0", "plain"})
    CHECK(windows_1252_of(clean_line(bytes)) == bytes);
  CHECK(windows_1252_of("電").empty());    // not among its characters
  CHECK(windows_1252_of("\xE9").empty());  // no UTF-8
}
