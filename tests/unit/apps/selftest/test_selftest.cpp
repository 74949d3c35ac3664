// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"
#include "tests/support/catch.hpp"

#include <limits>

using namespace lodestone;
using namespace lodestone::mt_invert;
using Catch::Contains;
using physics::mt::d2::Accuracy;

namespace {

core::Comparison row(double difference, double limit, bool judged) {
  core::Comparison result;
  result.what = "TM \"10 s\"";
  result.units = "ohm m";
  result.difference = difference;
  result.difference_units = "%";
  result.limit = limit;
  result.judged = judged;
  return result;
}

std::string json(std::vector<core::Comparison> rows, Accuracy accuracy) {
  core::Provenance provenance;
  provenance.version = "1.2.3";
  provenance.build = {{"commit", "abc"}};
  provenance.host = {{"processor", "P"}, {"cores", "4"}, {"system", "S"}, {"MPI ranks", "2"}};
  return selftest::selftest_json(provenance, accuracy, {{"hill", {std::move(rows), "a note"}, 0.25}});
}

}  // namespace

TEST_CASE("selftest: the JSON holds every row with its verdict, and where it was made", "[apps]") {
  const std::string text =
      json({row(0.25, 0.5, true), row(2.0, 0.5, true), row(3.0, 0.5, false)}, Accuracy::fine);
  CHECK_THAT(
      text,
      Contains(
          R"("version": "1.2.3", "commit": "abc", "compiler": "unknown", "machine": "P, 4 cores, S", "ranks": 2)"));
  CHECK_THAT(text, Contains(R"("accuracy": "fine")"));
  CHECK_THAT(text, Contains(R"({"benchmark": "hill", "passed": false, "cpu_s": 0.25, "note": "a note"})"));
  CHECK_THAT(text, Contains(R"("what": "TM \"10 s\"", "units": "ohm m")"));
  CHECK_THAT(
      text,
      Contains(
          R"("difference": 0.25, "difference_units": "%", "limit": 0.5, "judged": true, "passed": true)"));
  CHECK_THAT(
      text,
      Contains(R"("difference": 2, "difference_units": "%", "limit": 0.5, "judged": true, "passed": false)"));
  CHECK_THAT(text, Contains(R"("judged": false)"));
}

TEST_CASE("selftest: a number that is not finite is null in the JSON and never passes", "[apps]") {
  const std::string text =
      json({row(std::numeric_limits<double>::quiet_NaN(), 0.5, true)}, Accuracy::standard);
  CHECK_THAT(text, Contains(R"("difference": null)") && Contains(R"("passed": false)") &&
                       Contains(R"("accuracy": "default")"));
}

TEST_CASE("selftest: fine meshes follow the slope of 2D-4 more closely", "[apps]") {
  CHECK(selftest::benchmark_model("commemi2d4", Accuracy::fine).section.earth.grid.n_y() >
        1.4 * selftest::benchmark_model("commemi2d4").section.earth.grid.n_y());
}
