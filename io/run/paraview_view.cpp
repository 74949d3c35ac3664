// SPDX-License-Identifier: Apache-2.0
#include "io/run/paraview_view.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/report/property.hpp"
#include "io/report/reach.hpp"
#include "io/report/slice.hpp"
#include "io/report/volume.hpp"
#include "io/run/paraview_view_body.hpp"
#include "io/vtk/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::io::run {
namespace {

namespace fs = std::filesystem;
namespace mesh = physics::mesh;

constexpr int n_colours = 33;
constexpr double widest_section = 2.6, widest_volume = 3.0;  // width over height, unless that is stretched
constexpr double site_of_section = 0.014, site_of_volume = 0.03;  // size of a mark over the length
constexpr const char* heading = R"(# The standard view of a run of mt_invert in ParaView.
# In ParaView: File, Load State. Without a window: pvpython view.py picture.png
# (on a machine without a screen: xvfb-run pvpython --force-offscreen-rendering view.py picture.png).
)";

/// Returns a text as a literal of Python.
std::string literal(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

/// Returns the largest of 1, 2, 5, 10, … that is not above a number, and 1 at least.
double round_factor(double wanted) {
  double factor = 1.0;
  for (const double step : {2.0, 2.5, 2.0, 2.0, 2.5, 2.0, 2.0, 2.5, 2.0}) {
    if (factor * step > wanted) break;
    factor *= step;
  }
  return factor;
}

/// The constants of a script, one a line.
class Constants {
 public:
  void add(const char* name, const std::string& value, const char* meaning) {
    text_ += fmt::format("{} = {}  # {}\n", name, value, meaning);
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// The names of the files that a view opens, in the folder "vtk".
struct Names {
  std::string model{};
  std::string sites{};  ///< empty: no sites
};

/// Returns the files of a run as they are, in coordinates of the map where it has these; empty names for
/// files that are missing.
Names names_of(const inversion::Outcome& outcome, const fs::path& vtk) {
  const std::string ending = outcome.frame.is_on_map() ? "_world" : "";
  const std::string stem = (outcome.model.earth.grid.dimension() == 2 ? "section" : "model") + ending;
  Names names;
  for (const char* type : {".pvtu", ".vtu"})
    if (fs::exists(vtk / (stem + type))) names.model = stem + type;
  if (fs::exists(vtk / ("stations" + ending + ".vtp"))) names.sites = "stations" + ending + ".vtp";
  return names;
}

/// The frame of the files with the directions of the grid's axes in plan.
struct Plan {
  mesh::MapPlace origin{};
  double y_east = 1.0, y_north = 0.0;
  [[nodiscard]] std::string y_axis() const { return fmt::format("({:.9g}, {:.9g})", y_east, y_north); }
  [[nodiscard]] std::string x_axis() const { return fmt::format("({:.9g}, {:.9g})", 0.0 - y_north, y_east); }
};

/// Returns the plan of an outcome; y of a bent line points from its first end to its last.
Plan plan_of(const inversion::Outcome& outcome) {
  const mesh::Frame frame = outcome.frame.is_on_map() ? outcome.frame : mesh::Frame{};
  const std::vector<double>& y_m = outcome.model.earth.grid.y_edges_m();
  const mesh::MapPlace first = vtk::place_in_file(frame, {0.0, y_m.front(), 0.0}),
                       last = vtk::place_in_file(frame, {0.0, y_m.back(), 0.0});
  const double east = last.east_m - first.east_m, north = last.north_m - first.north_m;
  const double length = std::hypot(east, north);
  return {vtk::place_in_file(frame, {}), east / length, north / length};
}

/// Returns the titles of the axes around a view as a list of Python.
std::string axis_titles(const inversion::Outcome& outcome) {
  const auto titles = [](const char* first, const char* second) {
    return fmt::format("[{}, {}, \"Elevation (km)\"]", literal(first), literal(second));
  };
  if (outcome.frame.is_on_map()) return titles("East (km)", "North (km)");
  return outcome.model.earth.grid.dimension() == 2 ? titles("Distance along profile (km)", "")
                                                   : titles("y (km)", "x (km)");
}

std::string colour_list(const report::ColourMap& map) {
  std::string text = "[";
  for (int k = 0; k < n_colours; ++k) {
    const report::Color colour = map.at(k / (n_colours - 1.0));
    const auto byte = [](double share) { return std::lround(255.0 * share); };
    text += fmt::format("{}\"{:02x}{:02x}{:02x}\"", k == 0 ? "" : ", ", byte(colour.red), byte(colour.green),
                        byte(colour.blue));
  }
  return text + "]";
}

void add_colours(Constants& to, const inversion::Outcome& outcome, const report::CellColours& colours) {
  const mesh::Property& property = outcome.model.property;
  const char* scale = report::shows_log10(property) ? "log10 " : "";
  to.add("ARRAY", literal(vtk::shown_array(property)), "the array that is shown");
  to.add("LABEL", literal(fmt::format("{}{} ({})", scale, property.name, property.units)),
         "the title of the colour bar");
  to.add("LOW", fmt::format("{:.9g}", colours.low), "the ends of the colours");
  to.add("HIGH", fmt::format("{:.9g}", colours.high), "as in the report");
  to.add("COLOURS", colour_list(colours.map()), "from LOW to HIGH");
}

void add_sizes(Constants& to, double exaggeration, double site_m) {
  to.add("EXAGGERATION", fmt::format("{:g}", exaggeration), "of elevations");
  to.add("SITE_SIZE", fmt::format("{:.3g}", site_m), "height of the marks of sites, metres");
}

void add_bottom(Constants& to, double elevation_m) {
  to.add("BOTTOM", fmt::format("{:.9g}", elevation_m), "elevation of the lower end of what is shown");
}

/// Adds a section down to the depth to which the report shows it.
void add_section(Constants& to, const inversion::Outcome& outcome, const Plan& plan) {
  const mesh::Earth& earth = outcome.model.earth;
  const double bottom_m = report::shown_part(outcome).max_depth_m;
  const double width = earth.grid.y_edges_m().back() - earth.grid.y_edges_m().front();
  const double height = bottom_m - earth.grid.z_edges_m().front();
  const double lowest_m =
      earth.grid.reference() == mesh::DepthReference::surface ? earth.surface.lowest_m() : 0.0;
  add_colours(to, outcome, report::section_colours(outcome));
  add_sizes(to, round_factor(width / (widest_section * height)), site_of_section * width);
  to.add("SLICES", "None", "a section is not cut");
  add_bottom(to, plan.origin.elevation_m - lowest_m - bottom_m);
}

void add_volume(Constants& to, const inversion::Outcome& outcome, const Plan& plan) {
  const report::VolumeSlices slices = report::slices_of(outcome);
  add_colours(to, outcome, report::colours_of(outcome, slices));
  const double length = slices.extent.longest_m();
  const auto& [x_m, y_m] = slices.extent;
  // Deeper than their extent the sites resolve nothing sideways.
  const double depth = std::min(slices.max_depth_m, length);
  add_sizes(to, round_factor(length / (widest_volume * depth)), site_of_volume * length);
  to.add("SLICES",
         fmt::format("{{\"x\": ({:.9g}, {:.9g}), \"y\": ({:.9g}, {:.9g}), "
                     "\"along_y_at_x\": {:.9g}, \"along_x_at_y\": {:.9g}}}",
                     x_m.from, x_m.to, y_m.from, y_m.to, slices.cuts.front().from.x_m,
                     slices.cuts.back().from.y_m),
         "the part that is shown, in metres along the axes of the grid");
  add_bottom(to, plan.origin.elevation_m - depth);
}

}  // namespace

void write_paraview_view(const RunFolder& folder, const inversion::Outcome& outcome, const fs::path& script) {
  const int dimension = outcome.model.earth.grid.dimension();
  if (dimension < 2)
    throw core::InvalidArgument("io::run::paraview#layers",
                                "expected a section or a volume for a view in ParaView, but the model has "
                                "layers alone; look at the report, which draws them as a curve");
  if (names_of(outcome, folder.vtk()).model.empty()) {
    core::make_folder(folder.vtk());
    static_cast<void>(vtk::write_result_vtk(MPI_COMM_SELF, folder.vtk(), outcome));
  }
  const Names names = names_of(outcome, folder.vtk());
  const auto path_of = [&](const std::string& name) {
    const fs::path from = fs::absolute(script).parent_path();
    return literal(fs::proximate(fs::path(folder.vtk()) / name, from).generic_string());
  };
  const auto& uncertainty = outcome.findings.uncertainty;
  const Plan plan = plan_of(outcome);
  Constants to;
  to.add("TITLE", literal(fmt::format("{}, rms {:.2f}", outcome.about.title, outcome.ending.rms)),
         "of the run");
  to.add("MODEL", path_of(names.model), "paths are relative to the folder of this script");
  to.add("SITES", names.sites.empty() ? "None" : path_of(names.sites), "stations with their residuals");
  to.add("SEA", outcome.model.earth.sea ? "True" : "False", "whether the model has cells of water");
  to.add("INVESTIGATED", uncertainty && uncertainty->posterior ? "\"posterior/investigated\"" : "None",
         "1 where the data see the model, paler elsewhere");
  dimension == 2 ? add_section(to, outcome, plan) : add_volume(to, outcome, plan);
  to.add("ORIGIN", fmt::format("({:.12g}, {:.12g})", plan.origin.east_m, plan.origin.north_m),
         "of the axes of the grid, in the coordinates of the files");
  to.add("X_AXIS", plan.x_axis(), "their directions in plan");
  to.add("Y_AXIS", plan.y_axis(), "along a profile");
  to.add("AXES", axis_titles(outcome), "the titles around the picture");
  core::write_file(script.string(), heading + to.text() + "\n" + std::string(paraview_view_body()));
}

}  // namespace lodestone::io::run
