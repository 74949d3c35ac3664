// SPDX-License-Identifier: Apache-2.0
// Derivative and adjoint of every map of the project: a new map is one entry of its layer's table.
#include "tests/gradient/map_case.hpp"
#include "tests/support/catch.hpp"

#include <set>

using namespace lodestone;
using tests::MapCase;

namespace {

std::vector<MapCase> all_maps() {
  std::vector<MapCase> cases;
  for (const auto& table : {tests::core_maps(), tests::engine_maps(), tests::physics_maps(),
                            tests::inversion_maps(), tests::models_maps()})
    cases.insert(cases.end(), table.begin(), table.end());
  return cases;
}

}  // namespace

TEST_CASE("every map: the Taylor remainder falls with second order", "[gradient]") {
  for (const MapCase& each : all_maps()) {
    const auto result = core::check_derivative(*each.make(), each.point(), each.options);
    INFO(each.name << "\n" << result.report);
    CHECK(result.passed);
  }
}

TEST_CASE("every map: vjp is the adjoint of jvp, and the dense Jacobian agrees with both", "[gradient]") {
  for (const MapCase& each : all_maps()) {
    const auto result = core::check_adjoint(*each.make(), each.point(), each.options);
    INFO(each.name << "\n" << result.report);
    CHECK(result.passed);
  }
}

TEST_CASE("every map: value and linearization agree to rounding", "[gradient]") {
  for (const MapCase& each : all_maps()) {
    const auto map = each.make();
    const Eigen::VectorXd x = each.point();
    INFO(each.name);
    CHECK((map->value(x) - map->linearize(x)->value()).norm() <= 1e-14 * map->value(x).norm());
  }
}

TEST_CASE("every map: the table has no name twice", "[gradient]") {
  std::set<std::string> names;
  for (const MapCase& each : all_maps()) {
    INFO(each.name);
    CHECK(names.insert(each.name).second);
  }
}
