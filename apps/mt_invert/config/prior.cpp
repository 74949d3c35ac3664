// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/prior.hpp"

#include "apps/mt_invert/config/page.hpp"
#include "apps/mt_invert/config/rows.hpp"
#include "engine/core/error.hpp"
#include "inversion/mt/smoothness.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace lodestone::mt_invert::config {
namespace {

using inversion::mt::DistortionMatrixOptions;
using inversion::mt::StaticShiftOptions;
using inversion::prior::CodedRoughnessOptions;
using inversion::prior::LearnedPriorOptions;
using inversion::prior::RegionOptions;
using inversion::prior::RoughnessNorm;
using inversion::prior::RoughnessNormOptions;
using inversion::prior::RoughnessOptions;
using physics::mesh::Interval;
using physics::mesh::Point;

Rows<RegularizationConfig> roughness_rows() {
  using C = RegularizationConfig;
  using O = RoughnessOptions;
  const auto is_set = [](const C& config) { return config.smoothing == SmoothingOperator::derivatives; };
  const auto of = [](auto O::*member) { return at(&C::roughness, member); };
  return needing(
      "operator = \"derivatives\"", is_set,
      row("order", of(&O::order), within(1, 2), "derivative of log10 ρ in physical distance"),
      row("horizontal_weight", &C::horizontal_weight, nonzero_weights(),
          "a larger one makes the model smoother that way")
          .otherwise("`1.0`; in a volume without learned prior and exponents (λ/(z_max + z0))² of the "
                     "vertical one, λ being "
                     "twice the usual distance of stations"),
      row("vertical_weight", of(&O::vertical_weight), nonzero_weights(), "likewise"),
      row("depth_weight_exponent", &C::depth_weight_exponent, within(-10.0, 10.0),
          "weight ((z + z0)/(z_max + z0))^exponent; 1: vertical roughness in ln(z + z0)")
          .otherwise("`0.0`; in a volume without learned prior `1.0` where the other one is open, too"),
      row("horizontal_depth_exponent", &C::horizontal_depth_exponent, within(-10.0, 10.0),
          "of the horizontal part; 1 and -1 make a model smooth in (y, ln(z + z0))")
          .otherwise(
              "as `depth_weight_exponent`; in a volume without learned prior `-1.0` where that is open, too"),
      row("depth_weight_z0_m", of(&O::depth_weight_z0_m), lengths(), "z0"),
      row("smallness_length_m", of(&O::smallness_length_m), lengths_or_zero(1e15),
          "length L of ∫(m − m_ref)²/L²; 0: 10 × the larger of the grid's width and depth"),
      row("edges_reach", &C::edges_reach, within(0.0, 10.0),
          "share of the grid's depth by which the outermost columns and the lowest layer, which stand for "
          "all beyond, count wider and deeper along the edges; order 1")
          .otherwise(fmt::format("`{:g}` in a section without learned prior where order is 1 and both "
                                 "exponents are open, else `0`",
                                 inversion::mt::usual_edges_reach)));
}

/// `what`: what the norm counts. Where it is not given, ε is the usual one of the norm.
Rows<RoughnessNormOptions> norm_rows(const std::string& key, const std::string& what) {
  using enum RoughnessNorm;
  Row<RoughnessNormOptions> norm = row(key, &RoughnessNormOptions::norm, "how " + what + " count, see below");
  norm.read = [read = norm.read](ConfigTable& table, const auto& row, RoughnessNormOptions& to) {
    read(table, row, to);
    if (to.norm != l2) to.epsilon = inversion::prior::usual_epsilon(to.norm);
  };
  return {norm,
          row(key + "_epsilon", &RoughnessNormOptions::epsilon, within(1e-6, 1000.0),
              what + " well below it count squared")
              .usually(fmt::format("`{:g}` for l1, `{:g}` for mgs", inversion::prior::usual_epsilon(l1),
                                   inversion::prior::usual_epsilon(minimum_gradient_support)))
              .needs(key + " = \"l1\" or \"mgs\"", [](const auto& options) { return options.norm != l2; })};
}

/// The operator, and the file whose areas of cells it respects.
Rows<RegularizationConfig> covariance_rows() {
  return {row("operator", &RegularizationConfig::smoothing,
              "what smooths: derivatives, or cell by cell the smoothing of `modem_covariance_file`"),
          path_row("modem_covariance_file", &RegularizationConfig::covariance_file,
                   "of ModEM, with an area for each cell of a volume, see below")};
}

/// The places of a line or an outline as they are written: two of the three lists.
struct PlacesForm {
  std::vector<double> x_m, y_m, z_m;
};

/// A line or an outline: in plan where x is given.
struct Outline {
  std::vector<Point> points;
  physics::mesh::Plane plane;
};

Outline outline_of(const ConfigTable& table, const PlacesForm& form, std::size_t least) {
  const bool in_plan = table.has("x_m");
  if (in_plan && table.has("z_m"))
    table.refuse(
        "z_m", "three_lists",
        "expected y_m and z_m in the section or x_m and y_m in plan, got x_m and z_m; depths of what is "
        "drawn in plan are z_min_m and z_max_m");
  const std::vector<double>&u = in_plan ? form.x_m : form.y_m, &v = in_plan ? form.y_m : form.z_m;
  if (u.size() != v.size() || u.size() < least)
    table.refuse("y_m", "bad_points",
                 fmt::format("expected lists {} of one length of at least {}, got {} and {}",
                             in_plan ? "x_m and y_m" : "y_m and z_m", least, u.size(), v.size()));
  Outline out{{}, in_plan ? physics::mesh::Plane::plan : physics::mesh::Plane::section};
  for (std::size_t i = 0; i < u.size(); ++i)
    out.points.push_back(physics::mesh::point({u[i], v[i]}, out.plane));
  return out;
}

template <class Form>
Rows<Form> outline_rows(PlacesForm Form::*places_of, const std::string& what,
                        const std::string& requirement) {
  const auto list = [&](const char* key, std::vector<double> PlacesForm::*member,
                        const std::string& meaning) {
    return row(key, at(places_of, member), places(), meaning);
  };
  const auto required = [&](Row<Form> row) {
    return requirement.empty() ? row : std::move(row).otherwise(requirement);
  };
  return {
      required(list("y_m", &PlacesForm::y_m, what)),
      list("z_m", &PlacesForm::z_m, "their depths, as those of the grid, of what is drawn in the section"),
      list("x_m", &PlacesForm::x_m, "instead of depths: what is drawn in plan, in a volume (`--dim 3`)")};
}

/// Limits of a box as they are written; those that are left open lie far outside any grid.
struct LimitsForm {
  std::optional<double> x_min, x_max;
  double y_min = -1e12, y_max = 1e12, z_min = -1e12, z_max = 1e12;
};

Interval interval_between(const ConfigTable& table, const char* least, double from, const char* largest,
                          double to) {
  if (!(from < to))
    table.refuse(least, "empty_box", fmt::format("expected less than {} = {}, got {}", largest, to, from));
  return {from, to};
}

Interval depths_of(const ConfigTable& table, const LimitsForm& form) {
  return interval_between(table, "z_min_m", form.z_min, "z_max_m", form.z_max);
}

/// An entry of [[regularization.tear]] as it is written.
struct TearForm {
  PlacesForm places;
  LimitsForm limits;
  double weight = 0.0;
};

Rows<TearForm> tear_rows() {
  const auto depth = [](const char* key, double LimitsForm::*member) {
    return row(key, at(&TearForm::limits, member), places(), "limit of a curtain below a line in plan")
        .otherwise("no limit");
  };
  return joined(outline_rows(&TearForm::places, "points of the line, two or more", "required"),
                Rows<TearForm>{depth("z_min_m", &LimitsForm::z_min), depth("z_max_m", &LimitsForm::z_max),
                               row("weight", &TearForm::weight, within(0.0, 1.0),
                                   "of the roughness across: 0 none, 1 as elsewhere")});
}

inversion::mt::TearLine read_tear(ConfigTable table) {
  const TearForm form = read(table, tear_rows(), TearForm{});
  const Outline line = outline_of(table, form.places, 2);
  const bool in_plan = line.plane == physics::mesh::Plane::plan;
  for (const char* key : {"z_min_m", "z_max_m"}) {
    if (!in_plan && table.has(key))
      table.refuse(key, "depths_of_section_line",
                   "limits a curtain below a line in plan, x_m and y_m, which is not given");
  }
  return {{line.points, form.weight, line.plane, depths_of(table, form.limits)}, table.place("y_m")};
}

/// An entry of [[regularization.fixed]] as it is written.
struct FixedForm {
  PlacesForm places;
  LimitsForm limits;
  std::optional<double> resistivity_ohm_m;
};

Rows<FixedForm> fixed_rows() {
  const auto limit = [](const char* key, auto LimitsForm::*member, const char* meaning) {
    return row(key, at(&FixedForm::limits, member), places(), meaning).otherwise("no limit");
  };
  return joined(
      outline_rows(&FixedForm::places, "corners of a polygon, three or more; it must not cross itself", ""),
      Rows<FixedForm>{limit("y_min_m", &LimitsForm::y_min, "a box instead"),
                      limit("y_max_m", &LimitsForm::y_max, "likewise"),
                      limit("z_min_m", &LimitsForm::z_min, "likewise, or of a polygon in plan"),
                      limit("z_max_m", &LimitsForm::z_max, "likewise"),
                      limit("x_min_m", &LimitsForm::x_min, "of a box in a volume (`--dim 3`)"),
                      limit("x_max_m", &LimitsForm::x_max, "likewise"),
                      row("resistivity_ohm_m", &FixedForm::resistivity_ohm_m, resistivities(),
                          "what the cells with their centre inside keep; [bounds] does not apply to them")
                          .otherwise("of the reference model")});
}

/// Returns the box of these limits; it has x only where that is given, so that a section may refuse it.
physics::mesh::Box box_of(const ConfigTable& table, const LimitsForm& form) {
  physics::mesh::Box box{.y_m = interval_between(table, "y_min_m", form.y_min, "y_max_m", form.y_max),
                         .z_m = depths_of(table, form)};
  if (form.x_min || form.x_max)
    box.x_m =
        interval_between(table, "x_min_m", form.x_min.value_or(-1e12), "x_max_m", form.x_max.value_or(1e12));
  return box;
}

inversion::mt::FixedRegion read_fixed(ConfigTable table) {
  constexpr std::array sides{"x_min_m", "x_max_m", "y_min_m", "y_max_m"};
  constexpr std::array depths{"z_min_m", "z_max_m"};
  const auto has = [&](const char* key) { return table.has(key); };
  const bool is_plan = table.has("x_m"), is_polygon = is_plan || table.has("y_m") || table.has("z_m");
  const bool has_depths = std::ranges::any_of(depths, has), has_sides = std::ranges::any_of(sides, has);
  const bool is_box = has_sides || (has_depths && !is_plan);
  if (is_box == is_polygon)
    table.refuse(
        "y_m", "polygon_or_box",
        "expected either the corners of a polygon, y_m and z_m or x_m and y_m, or limits y_min_m, y_max_m, "
        "z_min_m, z_max_m, x_min_m, x_max_m of a box");
  const FixedForm form = read(table, fixed_rows(), FixedForm{});
  if (is_box) {
    const auto limit = std::ranges::find_if(sides, has);
    const char* key = limit != sides.end() ? *limit : *std::ranges::find_if(depths, has);
    return {box_of(table, form.limits), form.resistivity_ohm_m, table.place(key)};
  }
  const Outline outline = outline_of(table, form.places, 3);
  const std::string place = table.place("y_m");
  try {
    return {physics::mesh::Polygon(outline.points, outline.plane, "fixed region"), form.resistivity_ohm_m,
            place, depths_of(table, form.limits)};
  } catch (const core::InvalidArgument& error) {
    throw core::ConfigError("configuration#bad_polygon", "{}: {}", place, error.what());
  }
}

/// The table [static_shift] as it is written.
struct ShiftForm {
  bool enabled = false;
  StaticShiftOptions config;
};

/// The table [distortion] as it is written.
struct MatrixForm {
  bool enabled = false;
  DistortionMatrixOptions config;
};

Rows<ShiftForm> shift_rows() {
  return joined(Rows<ShiftForm>{row("enabled", &ShiftForm::enabled, "shifts are unknowns beside the model")},
                needing("enabled = true", &ShiftForm::enabled,
                        row("sigma_decades", at(&ShiftForm::config, &StaticShiftOptions::sigma_decades),
                            within(1e-6, 100.0),
                            "width of the Gaussian prior around no shift, in log10 ρₐ; 0.1 to 0.2 is usual"),
                        row("modes", at(&ShiftForm::config, &StaticShiftOptions::modes),
                            "modes whose shifts are unknown")));
}

Rows<MatrixForm> matrix_rows() {
  return joined(
      Rows<MatrixForm>{row("enabled", &MatrixForm::enabled,
                           "a real 2 × 2 matrix per station is unknown beside the model, with `--dim 3`")},
      needing("enabled = true", &MatrixForm::enabled,
              row("sigma", at(&MatrixForm::config, &DistortionMatrixOptions::sigma), within(1e-6, 100.0),
                  "width of the Gaussian prior of each entry around the identity; 0.1 to 0.3 is usual")));
}

Rows<CodedRoughnessOptions> weight_rows() {
  using O = CodedRoughnessOptions;
  return {row("code_weight", &O::code_weight, nonzero_weights(),
              "of the codes' prior beside the roughness of the cells outside"),
          row("between_weight", &O::between_weight, weights(),
              "of the roughness across faces between two subdomains"),
          row("inside_weight", &O::inside_weight, weights(),
              "of the roughness inside a subdomain; 0: the network alone rules")};
}

Rows<LearnedPriorOptions> stage_rows() {
  return {
      row("encode_sigma_decades", &LearnedPriorOptions::encode_sigma_decades, within(1e-6, 100.0),
          "deviation that counts like a code of one standard deviation, when codes are sought for a model"),
      row("polish", &LearnedPriorOptions::polish, "a second stage, in cells, see below")};
}

/// An entry of [[learned_prior.region]] as it is written: intervals are lists of two numbers.
struct RegionForm {
  LearnedRegionConfig region;
  std::vector<double> y_m, x_m, z_m;
};

Rows<RegionForm> region_rows() {
  using Region = LearnedRegionConfig;
  constexpr auto options = &Region::options;
  return {
      row("name", at(&RegionForm::region, options, &RegionOptions::name),
          "for messages, the report and `result.h5`")
          .usually("\"region 1\" …"),
      row("network", at(&RegionForm::region, &Region::network_as_written),
          "file of `mt_invert train`, `.h5` or `.safetensors`, relative to the configuration")
          .required(),
      row("decoder", at(&RegionForm::region, &Region::decoder),
          "the network, or the normal distribution with mean and covariance of its training draws"),
      row("y_m", &RegionForm::y_m, places(), "[from, to]: columns whose centres lie inside").required(),
      row("x_m", &RegionForm::x_m, places(), "likewise along x of a volume (`--dim 3`)").otherwise("all"),
      row("z_m", &RegionForm::z_m, places(), "[from, to] below the surface: rows whose centres lie inside")
          .otherwise("the network's depths"),
      row("overlap", at(&RegionForm::region, options, &RegionOptions::overlap), within(0, 10'000),
          "columns that neighbouring patches share; both count there with weights that fall linearly"),
      row("together", at(&RegionForm::region, options, &RegionOptions::together), within(1, 1000),
          "columns side by side that share their codes, in a volume so many each way; networks of columns")
          .otherwise("`1`"),
      row("along", at(&RegionForm::region, options, &RegionOptions::along),
          "axis along which patches of a section stand in a volume")
          .otherwise("`\"y\"`"),
      row("codes", at(&RegionForm::region, options, &RegionOptions::n_codes), within(1, 4096),
          "number of codes that the network must have, so that a file of another training is refused")
          .otherwise("any")};
}

Interval interval_of(const ConfigTable& table, const char* key, const std::vector<double>& ends) {
  if (ends.size() != 2 || !(ends[0] < ends[1]))
    table.refuse(
        key, "bad_interval",
        fmt::format("expected two numbers [from, to] that increase, got [{}]", fmt::join(ends, ", ")));
  return {ends[0], ends[1]};
}

LearnedRegionConfig read_region(ConfigTable table, std::size_t number) {
  RegionForm form;
  form.region.options.name = fmt::format("region {}", number);
  form = read(table, region_rows(), form);
  LearnedRegionConfig region = form.region;
  region.network = table.resolved(region.network_as_written);
  region.options.y_m = interval_of(table, "y_m", form.y_m);
  if (table.has("x_m")) region.options.x_m = interval_of(table, "x_m", form.x_m);
  if (table.has("z_m")) region.options.z_m = interval_of(table, "z_m", form.z_m);
  region.options.place = table.place("network");
  return region;
}

}  // namespace

namespace {

/// Refuses what counts derivatives beside an autoregression, and its lack of a file.
void check_autoregression(const ConfigTable& table, const RegularizationConfig& config) {
  if (config.covariance_file.empty())
    table.refuse("operator", "no_covariance_file",
                 "needs modem_covariance_file, whose smoothing \"autoregression\" takes; name one or "
                 "choose \"derivatives\"");
  if (config.norm.norm != RoughnessNorm::l2)
    table.refuse("norm", "norm_of_derivatives",
                 "counts gradients, which operator = \"autoregression\" has not; remove one of the two");
  if (!table.tables("tear").empty())
    table.refuse("operator", "tears_of_derivatives",
                 "expected \"derivatives\" together with [[regularization.tear]]; an autoregression ends at "
                 "the areas of its file");
}

}  // namespace

RegularizationConfig read_regularization(ConfigTable table) {
  RegularizationConfig config = read(table, covariance_rows(), RegularizationConfig{});
  if (config.smoothing == SmoothingOperator::autoregression) config.roughness.autoregression.emplace();
  config = read(table, roughness_rows(), config);
  config.norm = read(table, norm_rows("norm", "gradients"), config.norm);
  config.covariance_place = table.place("modem_covariance_file");
  if (config.smoothing == SmoothingOperator::autoregression) check_autoregression(table, config);
  if (config.norm.norm != RoughnessNorm::l2 && config.roughness.order != 1)
    table.refuse("norm", "norm_needs_first_order",
                 fmt::format("norms but \"l2\" count gradients and need order = 1, got order = {}",
                             config.roughness.order));
  for (const ConfigTable& each : table.tables("tear")) {
    config.tears.push_back(read_tear(each));
    config.roughness.tears.push_back(config.tears.back().tear);
  }
  for (const ConfigTable& each : table.tables("fixed")) config.fixed.push_back(read_fixed(each));
  return config;
}

DistortionConfig read_distortion(ConfigTable static_shift, ConfigTable distortion) {
  const ShiftForm shifts = read(static_shift, shift_rows(), ShiftForm{});
  const MatrixForm matrices = read(distortion, matrix_rows(), MatrixForm{});
  if (shifts.enabled && matrices.enabled)
    distortion.refuse("enabled", "exclusive_tables",
                      "excludes static_shift.enabled = true: the matrices contain the shifts; remove one of "
                      "the two tables");
  if (matrices.enabled) return matrices.config;
  if (!shifts.enabled) return {};
  if (shifts.config.modes.empty())
    static_shift.refuse("modes", "no_mode",
                        "lists no mode; add one or set static_shift.enabled = false instead");
  return shifts.config;
}

std::optional<LearnedPriorConfig> read_learned_prior(ConfigTable table) {
  const std::vector<ConfigTable> regions = table.tables("region");
  LearnedPriorConfig config;
  const Rows<RoughnessNormOptions> between_rows = norm_rows("between_norm", "jumps");
  if (regions.empty()) {
    const std::string region = "a region, [[learned_prior.region]] with network and y_m";
    refuse(table, weight_rows(), region);
    refuse(table, between_rows, region);
    refuse(table, stage_rows(), region);
    return {};
  }
  CodedRoughnessOptions& weights = config.options.weights;
  weights = read(table, weight_rows(), weights);
  weights.between_norm = read(table, between_rows, weights.between_norm);
  config.options = read(table, stage_rows(), config.options);
  for (const ConfigTable& each : regions)
    config.regions.push_back(read_region(each, config.regions.size() + 1));
  return config;
}

void describe_prior(Page& page) {
  page.add("invert [regularization]", covariance_rows());
  page.add("invert [regularization]", roughness_rows());
  page.add("invert [regularization]", norm_rows("norm", "gradients"));
  page.add("invert [[regularization.tear]]", tear_rows());
  page.add("invert [[regularization.fixed]]", fixed_rows());
  page.add("invert [static_shift]", shift_rows());
  page.add("invert [distortion]", matrix_rows());
  page.add("invert [learned_prior]", weight_rows());
  page.add("invert [learned_prior]", norm_rows("between_norm", "jumps"));
  page.add("invert [learned_prior]", stage_rows());
  page.add("invert [[learned_prior.region]]", region_rows());
}

}  // namespace lodestone::mt_invert::config
