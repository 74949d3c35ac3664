// SPDX-License-Identifier: Apache-2.0
#include "models/earths/prior_options.hpp"

#include "models/earths/bodies.hpp"
#include "models/earths/field_case.hpp"
#include "models/earths/layered.hpp"
#include "models/earths/modifiers.hpp"
#include "models/earths/options_table.hpp"
#include "models/earths/random_field.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::models::earths {
namespace {

using ReadGenerator = GeneratorPtr (*)(const OptionsTable&, const LoadSection&);
using ReadModifier = GeneratorPtr (*)(const OptionsTable&, GeneratorPtr);

GeneratorPtr background_of(const OptionsTable& table, const LoadSection& load_section) {
  if (!table.options().has("background"))
    table.refuse("",
                 "expected a table \"background\" with its \"kind\": what the bodies lie in; please add it",
                 "no_background");
  return read_generator(table.options().child("background"), load_section);
}

void read(const OptionsTable& table, const LoadSection& load_section, BodiesOptions& options) {
  options.background = background_of(table, load_section);
  table.read("section_width_m", options.section_width_m);
}

void read(const OptionsTable& table, BumpsOptions& options) {
  table.read("number", options.number);
  table.read("width_cells", options.width_cells);
  table.read("sd_cells", options.sd_cells);
  table.read_decades("peak", options.peak);
}

void read(const OptionsTable& table, SmoothingOptions& options) {
  table.read("window_cells", options.window_cells);
  table.read("sd_cells", options.sd_cells);
}

GeneratorPtr field_case(const OptionsTable& table, const LoadSection&) {
  FieldCaseOptions options;
  table.read_decades("background", options.background);
  table.read("conductor_top_m", options.conductor_top_m);
  table.read("conductor_thickness_m", options.conductor_thickness_m);
  table.read_decades("strong_conductor", options.strong_conductor);
  table.read_decades("weak_conductor", options.weak_conductor);
  table.read("strong_share", options.strong_share);
  table.read("n_steps", options.n_steps);
  table.read_decades("steps_from", options.steps_from);
  table.read_decades("steps_to", options.steps_to);
  table.read("steps_bottom_m", options.steps_bottom_m);
  read(OptionsTable(table.options().child("bumps")), options.bumps);
  read(OptionsTable(table.options().child("smooth")), options.smoothing);
  return std::make_shared<FieldCase>(options);
}

GeneratorPtr layers(const OptionsTable& table, const LoadSection&) {
  LayeredOptions options;
  const std::vector<core::Options> stated = table.options().children("layer");
  for (const core::Options& each : stated) {
    const OptionsTable layer(each);
    Range thickness{1.0, 1.0};
    if (options.layers.size() + 1 < stated.size()) thickness = layer.range("thickness_m");
    options.layers.push_back({thickness, layer.decades("log10_resistivity")});
  }
  if (stated.empty()) {
    table.read("number", options.number);
    if (options.number.upper > 1) options.thickness_m = table.range("thickness_m");
    table.read_decades("log10_resistivity", options.log10_resistivity);
  }
  table.read("dip_deg", options.dip_deg);
  table.read("relief_m", options.relief_m);
  if (options.relief_m.upper > 0.0) options.relief_length_m = table.range("relief_length_m");
  return std::make_shared<Layered>(std::move(options));
}

GeneratorPtr blocks(const OptionsTable& table, const LoadSection& load_section) {
  BlocksOptions options;
  read(table, load_section, options.bodies);
  table.read("number", options.number);
  options.top_m = table.range("top_m");
  options.width_m = table.range("width_m");
  options.height_m = table.range("height_m");
  if (table.options().has("length_m")) options.length_m = table.range("length_m");
  table.read("tilt_deg", options.tilt_deg);
  table.read_decades("log10_resistivity", options.log10_resistivity);
  return std::make_shared<Blocks>(options);
}

GeneratorPtr wedge(const OptionsTable& table, const LoadSection& load_section) {
  WedgeOptions options;
  read(table, load_section, options.bodies);
  options.top_m = table.range("top_m");
  options.length_m = table.range("length_m");
  options.thickness_m = table.range("thickness_m");
  table.read("thin_share", options.thin_share);
  table.read("dip_deg", options.dip_deg);
  table.read_decades("log10_resistivity", options.log10_resistivity);
  return std::make_shared<Wedge>(options);
}

GeneratorPtr basin(const OptionsTable& table, const LoadSection& load_section) {
  BasinOptions options;
  read(table, load_section, options.bodies);
  table.read("top_m", options.top_m);
  options.width_m = table.range("width_m");
  options.thickness_m = table.range("thickness_m");
  table.read("shape", options.shape);
  table.read_decades("log10_resistivity", options.log10_resistivity);
  return std::make_shared<Basin>(options);
}

GeneratorPtr dikes(const OptionsTable& table, const LoadSection& load_section) {
  DikesOptions options;
  read(table, load_section, options.bodies);
  table.read("number", options.number);
  options.top_m = table.range("top_m");
  options.width_m = table.range("width_m");
  options.height_m = table.range("height_m");
  table.read("dip_deg", options.dip_deg);
  table.read_decades("log10_resistivity", options.log10_resistivity);
  return std::make_shared<Dikes>(options);
}

GeneratorPtr random_field(const OptionsTable& table, const LoadSection& load_section) {
  RandomFieldOptions options;
  if (table.options().has("background")) options.background = background_of(table, load_section);
  if (!options.background) table.read_decades("mean", options.mean);
  table.read_decades("standard_deviation", options.standard_deviation);
  options.horizontal_length_m = table.range("horizontal_length_m");
  options.vertical_length_m = table.range("vertical_length_m");
  table.read("vertical_growth", options.vertical_growth);
  options.correlation = table.options().choice<Correlation>("correlation", Correlation::gaussian);
  return std::make_shared<RandomField>(std::move(options));
}

GeneratorPtr sections(const OptionsTable& table, const LoadSection& load_section) {
  SectionsOptions options;
  options.mirrored = table.options().flag("mirrored", options.mirrored);
  const std::vector<std::string> files = table.options().texts("files");
  if (files.empty()) table.refuse("files", "expected at least one file, found none", "no_file");
  if (std::ranges::any_of(files, &std::string::empty))
    table.refuse("files", "expected names of files, got an empty text; remove it", "empty_item");
  if (!load_section)
    table.refuse("files", "this program reads no sections; use another kind of generator",
                 "no_section_reader");
  const bool has_ends = table.options().has("y_m");
  const Range ends_m = has_ends ? table.range("y_m") : Range{};
  for (const std::string& file : files) {
    const Section section = load_section(file);
    options.sections.push_back(has_ends ? columns_within(section, ends_m) : section);
  }
  return std::make_shared<Sections>(std::move(options));
}

GeneratorPtr bumps(const OptionsTable& table, GeneratorPtr inner) {
  BumpsOptions options;
  read(table, options);
  return std::make_shared<Bumped>(std::move(inner), options);
}

GeneratorPtr smoothing(const OptionsTable& table, GeneratorPtr inner) {
  SmoothingOptions options;
  read(table, options);
  return std::make_shared<Smoothed>(std::move(inner), options);
}

GeneratorPtr clip(const OptionsTable& table, GeneratorPtr inner) {
  return std::make_shared<Clipped>(std::move(inner), table.decades("log10_resistivity"));
}

// One more family, one more row.
constexpr std::pair<const char*, ReadGenerator> families[] = {
    {"field_case", field_case},
    {"layers", layers},
    {"wedge", wedge},
    {"blocks", blocks},
    {"basin", basin},
    {"dikes", dikes},
    {"random_field", random_field},
    {"sections", sections},
};
constexpr std::pair<const char*, ReadModifier> modifiers[] = {
    {"bumps", bumps}, {"smooth", smoothing}, {"clip", clip}};

template <class Rows>
std::vector<std::string> words(const Rows& rows) {
  std::vector<std::string> kinds;
  for (const auto& row : rows) kinds.emplace_back(row.first);
  return kinds;
}

template <class Rows>
auto row_of(const Rows& rows, const core::Options& table) {
  const std::string kind = table.choice("kind", words(rows));
  return std::ranges::find(rows, kind, [](const auto& row) { return std::string(row.first); })->second;
}

constexpr double deepest_m = 1e8;  // and widest
constexpr double thinnest_m = 1e-3;

std::vector<double> depths(const OptionsTable& table) {
  const core::Options& options = table.options();
  if (options.has("depth_m")) {
    for (const char* key : {"first_layer_m", "layer_factor", "n_layers", "first_cell", "last_cell"}) {
      if (options.has(key))
        table.refuse(key, "expected either depth_m or the keys of layers, got both; leave one out",
                     "given_twice");
    }
    const std::vector<double> edges = options.reals("depth_m");
    for (const double edge : edges) table.check("depth_m", edge, -deepest_m, deepest_m);
    return edges;
  }
  double first = options.real("first_layer_m"), factor = options.real("layer_factor", 1.15);
  int n = static_cast<int>(std::clamp<std::int64_t>(options.integer("n_layers"), -1, 1'000'000)),
      first_cell = 0, last_cell = n - 1;
  if (!(first > 0.0))
    table.refuse("first_layer_m", fmt::format("expected a positive thickness, got {:g}", first),
                 "thickness_not_positive");
  table.check("first_layer_m", first, thinnest_m, deepest_m);
  if (!(factor > 0.0 && factor <= 10.0))
    table.refuse("layer_factor", fmt::format("expected a number above 0, at most 10, got {:g}", factor),
                 "factor_out_of_range");
  if (n < 1 || n > 10'000)
    table.refuse("n_layers", fmt::format("expected 1 to 10000, got {}", n), "count_out_of_range");
  table.read("first_cell", first_cell);
  table.read("last_cell", last_cell);
  if (first_cell < 0 || first_cell >= n)
    table.refuse("first_cell",
                 fmt::format("expected 0 to {}, the layers' numbers, got {}", n - 1, first_cell),
                 "layer_out_of_range");
  if (last_cell < first_cell || last_cell >= n) {
    table.refuse("last_cell",
                 fmt::format("expected {} to {}, the layers' numbers from first_cell on, got {}", first_cell,
                             n - 1, last_cell),
                 "layer_out_of_range");
  }
  std::vector<double> edges{0.0};
  for (int i = 0; i <= last_cell; ++i, first *= factor) {
    if (first < thinnest_m)
      table.refuse("layer_factor",
                   fmt::format("expected layers of at least {:g} m, got {:g} m in layer {}; raise it",
                               thinnest_m, first, i),
                   "layer_too_thin");
    edges.push_back(edges.back() + first);
  }
  if (!(edges.back() <= deepest_m))
    table.refuse("layer_factor",
                 fmt::format("expected layers that reach at most {:g} m down, got {:g} m; lower it, "
                             "first_layer_m or n_layers",
                             deepest_m, edges.back()),
                 "out_of_range");
  edges.erase(edges.begin(), edges.begin() + first_cell);
  return edges;
}

/// The keys of the cells along a horizontal axis.
struct AxisKeys {
  const char *edges, *length, *number;
};
constexpr AxisKeys along_y{"y_m", "width_m", "n_columns"}, along_x{"x_m", "length_m", "n_rows"};

std::vector<double> edges_along(const OptionsTable& table, const AxisKeys& keys) {
  const core::Options& options = table.options();
  if (options.has(keys.edges)) {
    for (const char* key : {keys.length, keys.number}) {
      if (options.has(key))
        table.refuse(key,
                     fmt::format("expected either {} or {} and {}, got both; leave one out", keys.edges,
                                 keys.length, keys.number),
                     "given_twice");
    }
    const std::vector<double> edges = options.reals(keys.edges);
    for (const double edge : edges) table.check(keys.edges, edge, -deepest_m, deepest_m);
    return edges;
  }
  int n = 1;
  table.read(keys.number, n);
  if (n < 1 || n > 10'000)
    table.refuse(keys.number, fmt::format("expected 1 to 10000, got {}", n), "count_out_of_range");
  const double length = n == 1 ? options.real(keys.length, 1000.0) : options.real(keys.length);
  if (!(length > 0.0))
    table.refuse(keys.length, fmt::format("expected a positive width, got {:g}", length),
                 "width_not_positive");
  table.check(keys.length, length, 1e-3, deepest_m);
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(length * i / n);
  return edges;
}

bool has_x(const core::Options& options) {
  return options.has(along_x.edges) || options.has(along_x.length) || options.has(along_x.number);
}

}  // namespace

std::vector<std::string> generator_kinds() { return words(families); }
std::vector<std::string> modifier_kinds() { return words(modifiers); }

TensorGrid read_patch_grid(const core::Options& options) {
  const OptionsTable table(options);
  const std::vector<double> depth_m = depths(table), y_m = edges_along(table, along_y),
                            x_m = has_x(options) ? edges_along(table, along_x) : std::vector<double>{};
  return table.checked(options.has("depth_m") ? "depth_m"
                       : options.has("y_m")   ? "y_m"
                       : options.has("x_m")   ? "x_m"
                                              : "",
                       [&] { return patch_grid(depth_m, y_m, x_m); });
}

GeneratorPtr read_generator(const core::Options& options, const LoadSection& load_section) {
  const OptionsTable table(options);
  const ReadGenerator make = row_of(families, options);
  GeneratorPtr generator = table.checked("", [&] { return make(table, load_section); });
  for (const core::Options& each : options.children("modifier")) {
    const OptionsTable modifier(each);
    const ReadModifier modify = row_of(modifiers, each);
    generator = modifier.checked("", [&] { return modify(modifier, generator); });
  }
  return generator;
}

Prior read_prior(const core::Options& root, const LoadSection& load_section) {
  const TensorGrid grid = read_patch_grid(root.child("grid"));
  const OptionsTable table(root.child("prior"));
  const std::int64_t seed = table.options().integer("seed", 1);
  if (seed < 0) table.refuse("seed", fmt::format("expected 0 or more, got {}", seed), "negative_seed");
  std::vector<Prior::Part> parts;
  for (const core::Options& each : table.options().children("generator")) {
    const OptionsTable part(each);
    const double weight = each.real("weight", 1.0);
    if (!(weight >= 0.0))
      part.refuse("weight", fmt::format("expected 0 or more, got {:g}", weight), "negative_weight");
    part.check("weight", weight, 0.0, 1e12);
    parts.push_back({weight, read_generator(each, load_section)});
    part.checked("", [&] { parts.back().generator->check_grid(grid); });
  }
  if (parts.empty())
    table.refuse("generator", "expected at least one [[prior.generator]], found none; please add one",
                 "no_generator");
  return table.checked("", [&] { return Prior(grid, std::move(parts), static_cast<std::uint64_t>(seed)); });
}

}  // namespace lodestone::models::earths
