// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/regularization.hpp"

#include "engine/core/error.hpp"
#include "inversion/prior/roughness.hpp"

#include <algorithm>
#include <array>

namespace lodestone::mt_invert::config {
namespace {

using physics::mesh::Point2D;
using physics::mesh::Polygon2D;

inversion::prior::RoughnessOptions read_roughness(ConfigTable& table) {
  inversion::prior::RoughnessOptions options;
  options.order = table.integer("order", options.order, 1);
  if (options.order > 2) table.refuse("order", fmt::format("expected 1 or 2, got {}", options.order));
  options.horizontal_weight = table.positive("horizontal_weight", options.horizontal_weight);
  options.vertical_weight = table.positive("vertical_weight", options.vertical_weight);
  options.depth_weight_exponent = table.real("depth_weight_exponent", options.depth_weight_exponent);
  if (table.has("horizontal_depth_exponent"))
    options.horizontal_depth_exponent = table.real("horizontal_depth_exponent", 0.0);
  options.depth_weight_z0_m = table.positive("depth_weight_z0_m", options.depth_weight_z0_m);
  options.smallness_length_m = table.not_negative("smallness_length_m", options.smallness_length_m);
  return options;
}

/// The corners from two lists of the same length.
std::vector<Point2D> read_points(ConfigTable& table, std::size_t least) {
  const std::vector<double> y = table.reals("y_m"), z = table.reals("z_m");
  if (y.size() != z.size() || y.size() < least)
    table.refuse("y_m", fmt::format("expected lists y_m and z_m of one length of at least {}, got {} and {}",
                                    least, y.size(), z.size()));
  std::vector<Point2D> points;
  for (std::size_t i = 0; i < y.size(); ++i) points.push_back({y[i], z[i]});
  return points;
}

TearConfig read_tear(ConfigTable table) {
  const std::vector<Point2D> points = read_points(table, 2);
  physics::mesh::Tear tear{{points.begin(), points.end()}, table.not_negative("weight", 0.0)};
  if (tear.weight > 1.0) table.refuse("weight", fmt::format("expected 0 to 1, got {}", tear.weight));
  return {std::move(tear), table.place("y_m")};
}

/// A box has four limits; each may be left open, which is far outside any grid.
std::vector<Point2D> read_box(ConfigTable& table) {
  constexpr double far_m = 1e12;
  const double y_min = table.optional_real("y_min_m").value_or(-far_m),
               y_max = table.optional_real("y_max_m").value_or(far_m);
  const double z_min = table.optional_real("z_min_m").value_or(-far_m),
               z_max = table.optional_real("z_max_m").value_or(far_m);
  if (!(y_min < y_max))
    table.refuse("y_min_m", fmt::format("expected less than y_max_m = {}, got {}", y_max, y_min));
  if (!(z_min < z_max))
    table.refuse("z_min_m", fmt::format("expected less than z_max_m = {}, got {}", z_max, z_min));
  return {{y_min, z_min}, {y_max, z_min}, {y_max, z_max}, {y_min, z_max}};
}

FixedRegionConfig read_fixed(ConfigTable table) {
  constexpr std::array limits{"y_min_m", "y_max_m", "z_min_m", "z_max_m"};
  const auto limit = std::ranges::find_if(limits, [&](const char* key) { return table.has(key); });
  const bool is_box = limit != limits.end(), is_polygon = table.has("y_m") || table.has("z_m");
  if (is_box == is_polygon)
    table.refuse("y_m",
                 "expected either the corners y_m and z_m of a polygon or limits y_min_m, y_max_m, z_min_m, "
                 "z_max_m of a box");
  const std::vector<Point2D> corners = is_box ? read_box(table) : read_points(table, 3);
  std::optional<double> resistivity;
  if (table.has("resistivity_ohm_m")) resistivity = table.resistivity("resistivity_ohm_m");
  const std::string place = table.place(is_box ? *limit : "y_m");
  try {
    return {Polygon2D(corners, "fixed region"), resistivity, place};
  } catch (const core::InvalidArgument& error) {
    throw core::ConfigError("configuration", "{}: {}", place, error.what());
  }
}

}  // namespace

inversion::prior::RoughnessNormOptions read_norm(ConfigTable& table, const std::string& key) {
  using inversion::prior::RoughnessNorm;
  inversion::prior::RoughnessNormOptions options;
  const std::string norm = table.choice(key, {"l2", "l1", "mgs"}, "l2"),
                    epsilon = fmt::format("{}_epsilon", key);
  if (norm == "l2") {
    if (table.has(epsilon))
      table.refuse(epsilon, "belongs to the norms \"l1\" and \"mgs\"; choose one of them or remove it");
    return options;
  }
  options.norm = norm == "l1" ? RoughnessNorm::l1 : RoughnessNorm::minimum_gradient_support;
  options.epsilon = table.positive(epsilon, inversion::prior::usual_epsilon(options.norm));
  return options;
}

RegularizationConfig read_regularization(ConfigTable table) {
  RegularizationConfig config;
  config.roughness = read_roughness(table);
  config.norm = read_norm(table, "norm");
  if (config.norm.norm != inversion::prior::RoughnessNorm::l2 && config.roughness.order != 1)
    table.refuse("norm", fmt::format("norms but \"l2\" count gradients and need order = 1, got order = {}",
                                     config.roughness.order));
  for (const ConfigTable& each : table.tables("tear")) {
    config.tears.push_back(read_tear(each));
    config.roughness.tears.push_back(config.tears.back().tear);
  }
  for (const ConfigTable& each : table.tables("fixed")) config.fixed.push_back(read_fixed(each));
  return config;
}

std::optional<StaticShiftConfig> read_static_shift(ConfigTable table) {
  if (!table.flag("enabled", false)) {
    for (const char* key : {"sigma_decades", "modes"}) {
      if (table.has(key)) table.refuse(key, "needs static_shift.enabled = true; set it or remove this key");
    }
    return {};
  }
  StaticShiftConfig config;
  config.sigma_decades = table.positive("sigma_decades", config.sigma_decades);
  if (!table.has("modes")) return config;
  config.modes.clear();
  for (const std::string& mode : table.texts("modes")) {
    if (mode != "te" && mode != "tm")
      table.refuse("modes", fmt::format("expected \"te\" and \"tm\", got \"{}\"", mode));
    const auto one = mode == "te" ? physics::mt::Mode::te : physics::mt::Mode::tm;
    if (std::ranges::find(config.modes, one) != config.modes.end())
      table.refuse("modes", fmt::format("lists \"{}\" twice", mode));
    config.modes.push_back(one);
  }
  if (config.modes.empty())
    table.refuse("modes", "expected at least one mode, got none; set static_shift.enabled = false instead");
  return config;
}

}  // namespace lodestone::mt_invert::config
