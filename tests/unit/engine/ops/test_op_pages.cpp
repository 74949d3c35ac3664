// SPDX-License-Identifier: Apache-2.0
// docs/ops is generated: LODESTONE_WRITE_OP_PAGES=1 build/release/tests/unit/engine/test_op_rows "op pages*"
#include "engine/core/error.hpp"
#include "engine/record/record.hpp"
#include "engine/testing/op_page.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

const std::filesystem::path folder = std::filesystem::path(LODESTONE_SOURCE_DIR) / "docs" / "ops";

/// File name → text: a page per op and the list of them.
std::map<std::string, std::string> expected_pages() {
  std::map<std::string, std::string> pages;
  std::map<std::string, std::string> sorted;
  for (const OpInfo& row : OpTable::global().rows()) {
    pages[row.name + ".md"] = op_page(row.name);
    sorted[row.name] = row.formula;
  }
  std::string list =
      "# Ops\n\nOne page per row of the op table, generated from it by\n"
      "`LODESTONE_WRITE_OP_PAGES=1 build/release/tests/unit/engine/test_op_rows \"op pages*\"`; a test "
      "compares. "
      "To add a page: add a row.\n\n| op | |\n|---|---|\n";
  for (const auto& [name, formula] : sorted) {
    std::string cell;
    for (const char c : formula) cell += c == '|' ? std::string("\\|") : std::string(1, c);
    list += "| [" + name + "](" + name + ".md) | `" + cell + "` |\n";
  }
  pages["README.md"] = list;
  return pages;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("op pages: docs/ops is what the op table says", "[engine]") {
  const auto pages = expected_pages();
  if (std::getenv("LODESTONE_WRITE_OP_PAGES") != nullptr) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    for (const auto& [name, text] : pages) std::ofstream(folder / name) << text;
  }
  for (const auto& [name, text] : pages) {
    INFO(name << " is not current; the command that writes it stands on top of test_op_pages.cpp");
    CHECK((text_of(folder / name) == text));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    INFO(entry.path().filename() << " belongs to no op");
    CHECK(pages.contains(entry.path().filename().string()));
  }
}

TEST_CASE("op pages: say why there is no derivative, and refuse unknown names", "[engine]") {
  CHECK_THAT(op_page("floor"),
             Catch::Contains("| derivative | none: its result is constant between steps |"));
  CHECK_THAT(op_page("sin"), Catch::Contains("| derivative | `cos x` |") && Catch::Contains("`reference`") &&
                                 Catch::Contains("f32["));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(op_page("cholesk")); }),
             HasId("unknown_op", {"\"cholesky\""}));
}
