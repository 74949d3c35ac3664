// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "physics/mt/benchmarks/comparisons.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <limits>
#include <numbers>

using namespace lodestone;
namespace benchmarks = physics::mt::benchmarks;
using physics::mt::d2::Accuracy;
using tests::HasId;

namespace {

/// Stands for a file of polygons: a section of one cell, with the refinement as its resistivity.
physics::mesh::Model refinement(const std::string&, double refine) {
  return physics::mesh::resistivity_model({physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0})},
                                          Eigen::VectorXd::Constant(1, refine));
}

/// Returns a half-space of 100 ohm m at 1 s, and 10 ohm m over it.
core::Table half_spaces(double impedance_re_ohm, const std::string& thickness_m) {
  core::Table table;
  table.add_texts("model", {"H", "two"});
  table.add_texts("rho_ohm_m_top_to_bottom", {"100", "10 100"});
  table.add_texts("thickness_m", {"", thickness_m});
  table.add_numbers("period_s", "s", {1.0, 1.0});
  table.add_numbers("Z_re_ohm", "ohm", {impedance_re_ohm, 1.0});
  table.add_numbers("Z_im_ohm", "ohm", {impedance_re_ohm, 1.0});
  return table;
}

}  // namespace

TEST_CASE("benchmarks: layered earths are judged by a millionth of their impedance", "[physics][mt]") {
  const double exact = std::sqrt(0.5 * 100.0 * 2.0 * std::numbers::pi * 4e-7 * std::numbers::pi);
  const auto rows = benchmarks::compare_layered(half_spaces(exact, "500"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].what == "H 1 s |Z|");
  CHECK(rows[0].passed());
  CHECK_FALSE(rows[1].passed());
  CHECK_FALSE(benchmarks::compare_layered(half_spaces(exact * (1.0 + 2e-6), "500"))[0].passed());
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { (void)benchmarks::compare_layered(half_spaces(exact, "deep")); }),
             HasId("not_numbers", {"deep"}));
  CHECK_THROWS_AS(benchmarks::compare_layered(core::Table()), core::InvalidArgument);
}

TEST_CASE("benchmarks: fine is judged by 0.1 % and 0.05 degrees, and has smaller steps on 2D-4's slope",
          "[physics][mt]") {
  for (const char* name : {"commemi2d0", "commemi2d1", "commemi2d2", "commemi2d4", "wannamaker_hill"}) {
    const auto usual = benchmarks::published_model(name, refinement),
               fine = benchmarks::published_model(name, refinement, Accuracy::fine);
    CHECK(usual.rho_limit_percent >= 0.5);
    CHECK(usual.phase_limit_deg >= 0.2);
    CHECK(fine.rho_limit_percent == 0.1);
    CHECK(fine.phase_limit_deg == 0.05);
  }
  CHECK(benchmarks::published_model("commemi2d4", refinement).section.values[0] == 1.0);
  CHECK(benchmarks::published_model("commemi2d4", refinement, Accuracy::fine).section.values[0] == 2.0);
  CHECK(benchmarks::published_model("wannamaker_hill", refinement, Accuracy::fine).section.values[0] == 1.0);
}

TEST_CASE("benchmarks: a tipper is judged by sign, part by part: -T, its conjugate and a missing one fail",
          "[physics][mt]") {
  const std::complex<double> reference(0.3628, -0.1506);
  const auto passed = [&](std::complex<double> ours) {
    const auto parts = benchmarks::compare_tipper("TE ", reference, ours, 0.002);
    CHECK(parts.size() == 2);
    return core::all_pass(parts);
  };
  CHECK(passed(reference));
  CHECK(passed(reference + std::complex<double>(0.0019, -0.0019)));
  CHECK_FALSE(passed(reference + std::complex<double>(0.0021, 0.0)));
  CHECK_FALSE(passed(reference - std::complex<double>(0.0, 0.0021)));
  CHECK_FALSE(passed(-reference));
  CHECK_FALSE(passed(std::conj(reference)));
  CHECK_FALSE(passed({std::numeric_limits<double>::quiet_NaN(), 0.0}));
}

TEST_CASE("benchmarks: sites within 2 % of a body's width from a contact are not judged", "[physics][mt]") {
  const auto block = benchmarks::published_model("commemi2d1", refinement);
  CHECK(block.is_at_contact(500.0));
  CHECK(block.is_at_contact(-519.0));
  CHECK_FALSE(block.is_at_contact(525.0));
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [] { (void)benchmarks::published_model("commemi9", refinement); }),
             HasId("unknown_model", {"commemi9"}));
}
