// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <nlohmann/json.hpp>

using namespace lodestone::core;
using lodestone::tests::Capture;
using lodestone::tests::error_of;
using lodestone::tests::HasId;
using lodestone::tests::TemporaryFolder;
using lodestone::tests::text_of_file;

namespace {

/// Puts the log back as it is at the start of a program.
struct LogReset {
  ~LogReset() {
    log::configure({});
    log::set_silent(false);
  }
};

}  // namespace

TEST_CASE("log: information goes to stdout as it is, warnings go to stderr with their level", "[core]") {
  const LogReset reset;
  Capture out(STDOUT_FILENO);
  Capture err(STDERR_FILENO);
  log::info("{} stations", 36);
  log::warning("kim443 was {}", "interpolated");
  log::debug("not shown at this level");
  CHECK(err.text() == "warning: kim443 was interpolated\n");
  CHECK(out.text() == "36 stations\n");
}

TEST_CASE("log: JSON lines are JSON, also for odd bytes", "[core]") {
  const LogReset reset;
  log::configure({.format = log::Format::json_lines});
  Capture out(STDOUT_FILENO);
  log::info("a \"quote\", a\nline and a bad byte \xff");
  const auto line = nlohmann::json::parse(out.text());
  CHECK(line["level"] == "info");
  CHECK(line["message"] == "a \"quote\", a\nline and a bad byte \xEF\xBF\xBD");
  CHECK(line["time"].get<std::string>().size() == std::string("2026-01-01T00:00:00.000Z").size());
}

TEST_CASE("log: the level filters, and a debug level lets everything through", "[core]") {
  const LogReset reset;
  log::configure({.level = log::Level::debug});
  Capture out(STDOUT_FILENO);
  log::debug("mesh band {}", 3);
  CHECK(out.text() == "debug: mesh band 3\n");
}

TEST_CASE("log: a silent rank prints errors only, but counts everything", "[core]") {
  const LogReset reset;
  log::set_silent(true);
  const int before = log::count(log::Level::warning);
  Capture out(STDOUT_FILENO);
  Capture err(STDERR_FILENO);
  log::info("nobody reads this");
  log::warning("nor this");
  log::error("but this");
  CHECK(err.text() == "error: but this\n");
  CHECK(out.text().empty());
  CHECK(log::count(log::Level::warning) == before + 1);
}

TEST_CASE("log: the file receives JSON lines and is appended to", "[core]") {
  const LogReset reset;
  const TemporaryFolder folder;
  Capture out(STDOUT_FILENO);
  for (const char* text : {"first", "second"}) {
    log::configure({.file = folder / "run.jsonl"});
    log::info("{}", text);
    log::configure({});
  }
  const std::string lines = text_of_file(folder / "run.jsonl");
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
  CHECK(nlohmann::json::parse(lines.substr(0, lines.find('\n')))["message"] == "first");
}

TEST_CASE("log: an unwritable log file is a file error", "[core]") {
  const LogReset reset;
  CHECK_THAT(error_of<FileError>([] { log::configure({.file = "/proc/no/such/folder/run.jsonl"}); }),
             HasId("unwritable", {"[core::log]", "/proc/no/such/folder/run.jsonl"}));
}

TEST_CASE("log: captured output is not interactive", "[core]") {
  const Capture out(STDOUT_FILENO);
  CHECK_FALSE(log::is_interactive());
}

TEST_CASE("log: component and id stand in JSON lines, not in the text for people", "[core]") {
  const LogReset reset;
  const log::Id id("mt::d2::simulation#idle_ranks");
  Capture err(STDERR_FILENO);
  log::warning(id, "{} ranks stay idle", 3);
  log::configure({.format = log::Format::json_lines});
  log::warning(id, "{} ranks stay idle", 3);
  log::error("no id");
  const std::string text = err.text();
  const auto first = text.find('\n'), second = text.find('\n', first + 1);
  CHECK(text.substr(0, first) == "warning: 3 ranks stay idle");
  const auto line = nlohmann::json::parse(text.substr(first, second - first));
  CHECK(line["component"] == "mt::d2::simulation");
  CHECK(line["id"] == "idle_ranks");
  CHECK(line["message"] == "3 ranks stay idle");
  const auto without = nlohmann::json::parse(text.substr(second));
  CHECK_FALSE(without.contains("id"));
  CHECK_FALSE(without.contains("component"));
}

TEST_CASE("log: nothing that is printed commands the terminal", "[core]") {
  const LogReset reset;
  Capture out(STDOUT_FILENO);
  log::info(
      "a name \x1B[31m and \xC2\x9B"
      "2J, M\xFCnchen");
  log::print_out("cell\x1B[2J\t1\n");
  CHECK(out.text() == "a name  [31m and  2J, München\ncell [2J\t1\n");
}

TEST_CASE("log: warnings are kept with their ids, each once, while somebody keeps them", "[core]") {
  const LogReset reset;
  const log::Id id("mt::d2::simulation#idle_ranks");
  const Capture err(STDERR_FILENO);
  const Capture out(STDOUT_FILENO);
  log::warning("before");
  const log::KeptWarnings outer;
  {
    const log::KeptWarnings inner;
    log::warning(id, "{} ranks stay idle", 3);
    log::warning(id, "{} ranks stay idle", 3);
    log::info("no warning");
    log::error(id, "nor this");
    REQUIRE(inner.all().size() == 1);
    CHECK(inner.all()[0] == log::KeptWarnings::Warning{"mt::d2::simulation#idle_ranks", "3 ranks stay idle"});
  }
  log::warning("without an id");
  log::set_silent(true);
  log::warning("of another rank");
  REQUIRE(outer.all().size() == 2);
  CHECK(outer.all()[1] == log::KeptWarnings::Warning{"", "without an id"});
}
