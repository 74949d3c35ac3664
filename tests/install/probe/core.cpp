// SPDX-License-Identifier: Apache-2.0
// Component core alone: log, JSON text, a map and its check.
#include "engine/core/json_text.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"

namespace core = lodestone::core;

int main() {
  const auto map = core::affine(Eigen::Matrix2d::Identity(), Eigen::Vector2d(1.0, 2.0));
  const auto result = core::check_adjoint(*map, Eigen::Vector2d(3.0, 4.0));
  core::log::info("core: {}", core::json_quoted(result.passed ? "passed" : "failed"));
  return result.passed ? 0 : 1;
}
