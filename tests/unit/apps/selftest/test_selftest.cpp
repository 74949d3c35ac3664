// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/models.hpp"
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"

#include <limits>

using namespace lodestone;
using namespace lodestone::mt_invert;
using Catch::Contains;
using physics::mt::d2::Accuracy;

namespace {

selftest::SelftestRow row(double difference, double limit, bool judged) {
  selftest::SelftestRow result;
  result.what = "TM \"10 s\"";
  result.units = "ohm m";
  result.difference = difference;
  result.difference_units = "%";
  result.limit = limit;
  result.judged = judged;
  return result;
}

std::string json(std::vector<selftest::SelftestRow> rows, Accuracy accuracy) {
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

TEST_CASE("selftest: fine is judged by 0.1 % and 0.05 degrees, and follows the slope of 2D-4 more closely",
          "[apps]") {
  for (const char* name : {"commemi2d0", "commemi2d1", "commemi2d2", "commemi2d4", "wannamaker_hill"}) {
    const auto usual = selftest::benchmark_model(name),
               fine = selftest::benchmark_model(name, Accuracy::fine);
    CHECK(usual.rho_limit_percent >= 0.5);
    CHECK(usual.phase_limit_deg >= 0.2);
    CHECK(fine.rho_limit_percent == 0.1);
    CHECK(fine.phase_limit_deg == 0.05);
  }
  CHECK(selftest::benchmark_model("commemi2d4", Accuracy::fine).section.earth.grid.n_y() >
        1.4 * selftest::benchmark_model("commemi2d4").section.earth.grid.n_y());
}

TEST_CASE("selftest: a tipper is judged by sign, part by part: -T, its conjugate and a missing one fail",
          "[apps]") {
  const std::complex<double> reference(0.3628, -0.1506);
  const auto passed = [&](std::complex<double> ours) {
    const selftest::SelftestReport report{selftest::tipper_rows("TE ", reference, ours, 0.002), ""};
    CHECK(report.rows.size() == 2);
    return report.passed();
  };
  CHECK(passed(reference));
  CHECK(passed(reference + std::complex<double>(0.0019, -0.0019)));
  CHECK_FALSE(passed(reference + std::complex<double>(0.0021, 0.0)));
  CHECK_FALSE(passed(reference - std::complex<double>(0.0, 0.0021)));
  CHECK_FALSE(passed(-reference));
  CHECK_FALSE(passed(std::conj(reference)));
  CHECK_FALSE(passed({std::numeric_limits<double>::quiet_NaN(), 0.0}));
}

TEST_CASE("benchmark models: sites within 2 % of a body's width from a contact are not judged", "[apps]") {
  const auto block = selftest::benchmark_model("commemi2d1");
  CHECK(block.is_at_contact(500.0));
  CHECK(block.is_at_contact(-519.0));
  CHECK_FALSE(block.is_at_contact(525.0));
  CHECK_THROWS_AS(selftest::benchmark_model("commemi9"), core::InvalidArgument);
}
