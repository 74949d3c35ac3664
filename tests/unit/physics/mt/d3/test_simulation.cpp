// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "physics/mt/d1/simulation.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/cost.hpp"
#include "physics/mt/d3/edge_averages.hpp"
#include "physics/mt/d3/extrapolation.hpp"
#include "physics/mt/d3/receivers.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/small_volume.hpp"
#include "tests/support/solve_tolerances.hpp"
#include "tests/support/thread_count.hpp"

#include <algorithm>
#include <numbers>
#include <vector>

using namespace lodestone;
using namespace lodestone::physics;
using namespace lodestone::physics::mt;
using tests::error_of;
using tests::HasId;
using tests::response_of;

namespace {

/// Largest deviations, in per cent of ρₐ and degrees.
struct Deviation {
  double rho_a_percent = 0.0, phase_deg = 0.0;
  void add(Complex ours, Complex reference) {
    rho_a_percent = std::max(rho_a_percent, 100.0 * std::abs(std::norm(ours / reference) - 1.0));
    phase_deg = std::max(phase_deg, deg_per_rad * std::abs(std::arg(ours / reference)));
  }
};

Station at(std::string name, double x_m, double y_m) {
  Station station{std::move(name), y_m};
  station.x_m = x_m;
  return station;
}

mesh::Model layered_volume(std::vector<double> z_m, const std::vector<double>& resistivity) {
  mesh::TensorGrid grid(mesh::Edges{.x_m = {-1000, 0, 1000}, .y_m = {-1000, 0, 1000}, .z_m = std::move(z_m)});
  Eigen::VectorXd cells(grid.n_cells());
  for (int iz = 0; iz < grid.n_z(); ++iz)
    cells.segment(grid.index(iz), grid.n_columns()).setConstant(resistivity[iz]);
  return mesh::resistivity_model({std::move(grid)}, std::move(cells));
}

/// Returns Zxy of layers by differences on the lines of a mesh, E = 0 on the last one. H on the surface is
/// linear between the middles of the layers above and below.
Complex impedance_by_differences(const std::vector<double>& lines_m, const std::vector<double>& conductivity,
                                 int ground, double omega) {
  const auto n = std::ssize(lines_m) - 1;
  const auto width = [&](std::ptrdiff_t k) { return lines_m[k + 1] - lines_m[k]; };
  std::vector<Complex> share(n + 1, 0.0);  // of E on a line in that on the line above
  for (auto k = n - 1; k >= 1; --k) {
    const double mass = 0.5 * (conductivity[k - 1] * width(k - 1) + conductivity[k] * width(k));
    share[k] = (1.0 / width(k - 1)) / (1.0 / width(k - 1) + 1.0 / width(k) +
                                       Complex(0.0, omega * mu0 * mass) - share[k + 1] / width(k));
  }
  const Complex e_above = 1.0 / share[ground], e_below = share[ground + 1];
  const double above = width(ground - 1), below = width(ground);
  const Complex curl_above = (e_above - 1.0) / above, curl_below = (1.0 - e_below) / below;
  return Complex(0.0, omega * mu0) * (above + below) / (below * curl_above + above * curl_below);
}

}  // namespace

TEST_CASE("3-D layered earth: both impedances agree with the Wait recursion from 1 ms to 1e4 s",
          "[physics][mt]") {
  const auto model = layered_volume({0, 500, 2500, 9000}, {100, 5, 1000});
  const std::vector<double> frequencies{1e3, 100, 10, 1, 0.1, 0.01, 1e-3, 1e-4};
  const Survey survey{{at("a", 57, 130)}, frequencies, {}};
  const auto layout = tests::full_layout(8, 1);
  const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, survey.stations, frequencies,
                                  d3::design_meshes(model, survey));
  const Eigen::VectorXd z = simulation.value(model.values);
  Deviation worst;
  for (int f = 0; f < 8; ++f) {
    const Complex exact = d1::layered_impedance({{100, 5, 1000}, {500, 2000}}, frequencies[f]);
    worst.add(response_of(layout, z, {Element::zxy, f, 0}), exact);
    worst.add(response_of(layout, z, {Element::zyx, f, 0}), -exact);
    CHECK(std::abs(response_of(layout, z, {Element::zxx, f, 0})) < 1e-9 * std::abs(exact));
    CHECK(std::abs(response_of(layout, z, {Element::tzy, f, 0})) < 1e-9);
  }
  CHECK(worst.rho_a_percent < 0.5);
  CHECK(worst.phase_deg < 0.2);
  CHECK(simulation.counts().iterations == 0);  // a layered earth is its own background
}

TEST_CASE("3-D meshes of cells: over layers they give the impedance of finite differences", "[physics][mt]") {
  const auto model = layered_volume({0, 300, 800, 2000}, {100, 5, 300});
  const Survey survey{{at("a", 57, 130)}, {10.0, 0.1}, {}};
  auto rules = d3::design_options(Accuracy::iteration);
  rules.only_cells = true;
  const auto meshes = d3::design_meshes(model, survey, rules);
  const auto layout = tests::full_layout(2, 1);
  const d3::Simulation simulation(MPI_COMM_SELF, model.earth, layout, survey.stations, survey.frequencies_hz,
                                  meshes, {.tolerance = 1e-10});
  const Eigen::VectorXd outputs = simulation.value(model.values);
  for (const auto& band : meshes.bands) {
    for (const int f : band.frequencies) {
      const auto& lines = band.grid.lines_m(2);
      std::vector<double> conductivity;
      for (std::size_t k = 0; k + 1 < lines.size(); ++k)
        conductivity.push_back(lines[k] < 0     ? d3::air_conductivity
                               : lines[k] < 300 ? 0.01
                               : lines[k] < 800 ? 0.2
                                                : 1.0 / 300);
      const Complex expected = impedance_by_differences(lines, conductivity, band.ground(),
                                                        2.0 * std::numbers::pi * survey.frequencies_hz[f]);
      CHECK(std::abs(response_of(layout, outputs, {Element::zxy, f, 0}) / expected - 1.0) < 1e-8);
      CHECK(std::abs(response_of(layout, outputs, {Element::zyx, f, 0}) / expected + 1.0) < 1e-8);
    }
  }
}

TEST_CASE("3-D section: a model without change along x agrees with two dimensions, tipper and sign",
          "[physics][mt]") {
  // A conductor in the ground, and other layers on the right side: the boundary is no layered earth.
  const std::vector<double> y{-8000, -2000, 0, 3000, 9000}, z{0, 500, 2500, 20000};
  const auto resistivity = [](int iz, int iy) {
    return iy == 3 ? (iz == 0 ? 40.0 : 200.0) : iy == 1 && iz == 1 ? 20.0 : 100.0;
  };
  const mesh::TensorGrid section = mesh::TensorGrid::section(y, z),
                         volume(mesh::Edges{.x_m = {-1000, 0, 1000}, .y_m = y, .z_m = z});
  Eigen::VectorXd flat(section.n_cells()), deep(volume.n_cells());
  for (int iz = 0; iz < 3; ++iz) {
    for (int iy = 0; iy < 4; ++iy) {
      flat[section.index(iz, iy)] = resistivity(iz, iy);
      for (int ix = 0; ix < 2; ++ix) deep[volume.index(iz, iy, ix)] = resistivity(iz, iy);
    }
  }
  const Survey survey{{{"a", -4000}, {"b", -1000}, {"c", 1400}, {"d", 6000}}, {1.0}, {}};
  std::vector<ResponseKey> keys;
  for (const Element element : {Element::zxy, Element::zyx, Element::tzy}) {
    for (int s = 0; s < 4; ++s) keys.push_back({element, 0, s});
  }
  const auto section_model = mesh::resistivity_model({section}, flat),
             volume_model = mesh::resistivity_model({volume}, deep);
  const ResponseLayout layout(keys);
  const d2::Simulation reference(
      MPI_COMM_SELF, {section}, layout, survey.stations, survey.frequencies_hz,
      d2::design_meshes(section_model, survey, d2::design_options(d2::Accuracy::fine)));
  const d3::Simulation simulation(MPI_COMM_SELF, {volume}, layout, survey.stations, survey.frequencies_hz,
                                  d3::design_meshes(volume_model, survey));
  const Eigen::VectorXd ours = simulation.value(deep), theirs = reference.value(flat);
  Deviation worst;
  double tipper = 0.0, largest_tipper = 0.0;
  for (const ResponseKey& key : layout.keys()) {
    const Complex a = response_of(layout, ours, key), b = response_of(layout, theirs, key);
    if (is_tipper(key.element)) {
      tipper = std::max(tipper, std::abs(a - b));
      largest_tipper = std::max(largest_tipper, std::abs(b));
    } else {
      worst.add(a, b);
    }
  }
  CHECK(worst.rho_a_percent < 0.5);
  CHECK(worst.phase_deg < 0.2);
  CHECK(tipper < 0.005);
  CHECK(largest_tipper > 0.05);
}

namespace {

/// The volume turned by 90° from north to east: x' = y, y' = −x.
mesh::Model turned(const mesh::Model& model) {
  const auto& grid = model.earth.grid;
  std::vector<double> y;
  for (const double x : grid.edges().x_m) y.insert(y.begin(), -x);
  const mesh::TensorGrid result(mesh::Edges{.x_m = grid.edges().y_m, .y_m = y, .z_m = grid.edges().z_m});
  Eigen::VectorXd values(model.values.size());
  for (int iz = 0; iz < grid.n_z(); ++iz) {
    for (int iy = 0; iy < grid.n_y(); ++iy) {
      for (int ix = 0; ix < grid.n_x(); ++ix)
        values[result.index(iz, grid.n_x() - 1 - ix, iy)] = model.values[grid.index(iz, iy, ix)];
    }
  }
  return mesh::resistivity_model({result}, values);
}

d3::MeshSet turned(const d3::MeshSet& meshes, const mesh::Model& model) {
  d3::MeshSet result;
  result.design_resistivity_ohm_m = model.values;
  for (const auto& band : meshes.bands) {
    std::vector<double> y;
    for (const double x : band.grid.lines_m(0)) y.insert(y.begin(), -x);
    result.bands.push_back(
        {band.frequencies, fem::EdgeGrid({band.grid.lines_m(1), y, band.grid.lines_m(2)}), band.coarsened});
  }
  return result;
}

}  // namespace

TEST_CASE("3-D simulation: turning model and stations turns the responses", "[physics][mt]") {
  const auto model = tests::small_volume(), other = turned(model);
  const auto layout = tests::full_layout(2, 2, d3::Simulation::predicted_elements);
  const auto meshes = d3::design_meshes(model, tests::volume_survey(), tests::coarse_design());
  std::vector<Station> stations;
  for (const Station& station : tests::volume_stations()) {
    stations.push_back(at(station.name, station.y_m, -station.x_m));
    stations.back().reference = station.reference;
  }
  const d3::SimulationOptions tight{.tolerance = 1e-11, .divergence_tolerance = 1e-11};
  const Eigen::VectorXd here = d3::Simulation(MPI_COMM_SELF, model.earth, layout, tests::volume_stations(),
                                              tests::volume_frequencies_hz(), meshes, tight)
                                   .value(model.values);
  const Eigen::VectorXd there = d3::Simulation(MPI_COMM_SELF, other.earth, layout, stations,
                                               tests::volume_frequencies_hz(), turned(meshes, other), tight)
                                    .value(other.values);
  // With x' = y and y' = −x the elements are Z'x'x' = Zyy, Z'x'y' = −Zyx, Z'y'x' = −Zxy, Z'y'y' = Zxx, T'x' =
  // Ty and T'y' = −Tx; M turns as Z does.
  const std::vector<std::tuple<Element, Element, double>> pairs{
      {Element::zxx, Element::zyy, 1}, {Element::zxy, Element::zyx, -1}, {Element::zyx, Element::zxy, -1},
      {Element::zyy, Element::zxx, 1}, {Element::tzx, Element::tzy, 1},  {Element::tzy, Element::tzx, -1},
      {Element::mxx, Element::myy, 1}, {Element::mxy, Element::myx, -1}, {Element::myx, Element::mxy, -1},
      {Element::myy, Element::mxx, 1}};
  for (const auto& [element, source, sign] : pairs) {
    for (int f = 0; f < 2; ++f) {
      for (int s = 0; s < 2; ++s) {
        const Complex a = response_of(layout, there, {element, f, s}),
                      b = sign * response_of(layout, here, {source, f, s});
        const double scale =
            is_impedance(element) ? std::abs(response_of(layout, here, {Element::zxy, f, s})) : 1.0;
        CHECK(std::abs(a - b) < 1e-6 * scale);
      }
    }
  }
}

TEST_CASE("3-D inter-station functions: forth and back is the identity, as layers are everywhere",
          "[physics][mt]") {
  const auto function = [](const ResponseLayout& layout, const Eigen::VectorXd& outputs, int f, int station) {
    const auto of = [&](Element element) { return response_of(layout, outputs, {element, f, station}); };
    return Eigen::Matrix2cd{{of(Element::mxx), of(Element::mxy)}, {of(Element::myx), of(Element::myy)}};
  };
  const Eigen::Matrix2cd identity = Eigen::Matrix2cd::Identity();
  const auto simulation = tests::small_volume_simulation(MPI_COMM_SELF);
  const Eigen::VectorXd outputs = simulation->value(tests::small_volume().values);
  for (const int f : {0, 1}) {
    const Eigen::Matrix2cd a = function(simulation->layout(), outputs, f, 0),
                           b = function(simulation->layout(), outputs, f, 1);
    CHECK((a * b - identity).norm() < 1e-12);
    CHECK((a - identity).norm() > 0.01);  // fields differ from place to place
  }
  const auto layers = layered_volume({0, 500, 2500, 9000}, {100, 5, 1000});
  const d3::Simulation layered(MPI_COMM_SELF, layers.earth, tests::full_layout(2, 2, all_interstation),
                               tests::volume_stations(), tests::volume_frequencies_hz(),
                               d3::design_meshes(layers, tests::volume_survey(), tests::coarse_design()));
  const Eigen::VectorXd ones = layered.value(layers.values);
  for (const int f : {0, 1}) CHECK((function(layered.layout(), ones, f, 1) - identity).norm() < 1e-9);
}

TEST_CASE("3-D inter-station functions: a reference that is absent is named", "[physics][mt]") {
  Survey survey = full_survey(tests::volume_stations(), {1.0}, {datum("mxx_re")});
  CHECK_NOTHROW(survey.validate());
  survey.stations[0].reference = "";
  CHECK_THAT(error_of<core::InvalidArgument>([&] { survey.validate(); }),
             HasId("no_reference", {"mxx_re", "station a"}));
  survey.stations[0].reference = "c";
  CHECK_THAT(error_of<core::InvalidArgument>([&] { survey.validate(); }),
             HasId("unknown_reference", {"c", "station a"}));
}

TEST_CASE("3-D simulation: both solvers lead to the same responses and Jacobian", "[physics][mt]") {
  const Eigen::VectorXd x = tests::small_volume().values.array().pow(1.05);
  const auto iterated =
      tests::small_volume_simulation(MPI_COMM_SELF, {.solver = linalg::EdgeSolverKind::multigrid});
  const auto direct =
      tests::small_volume_simulation(MPI_COMM_SELF, {.solver = linalg::EdgeSolverKind::direct});
  const auto a = iterated->linearize(x), b = direct->linearize(x);
  CHECK((a->value() - b->value()).cwiseAbs().maxCoeff() < 1e-6 * b->value().cwiseAbs().maxCoeff());
  const Eigen::MatrixXd jacobian = b->jacobian();
  CHECK((a->jacobian() - jacobian).norm() < 1e-6 * jacobian.norm());
  CHECK(direct->counts().iterations == 0);
  CHECK(iterated->counts().iterations > 0);
  CHECK(iterated->counts().fallbacks == 0);
}

TEST_CASE("3-D simulation: responses within the tolerances of iterations are those of exact solves",
          "[physics][mt]") {
  tests::check_tolerances_of_iterations(
      [](const d3::SimulationOptions& options) {
        return tests::small_volume_simulation(MPI_COMM_SELF, options);
      },
      tests::small_volume().values);
}

TEST_CASE("3-D extrapolation: errors that fall with the square of the cell size cancel", "[physics][mt]") {
  // A layered earth needs no iteration, and its impedance is known.
  const auto model = layered_volume({0, 300, 1500, 5000}, {100, 10, 500});
  const Survey survey = full_survey({at("a", 57, 130)}, {3.0, 0.3}, {Datum::log10_rho_xy, Datum::phase_yx});
  auto rules = d3::design_options(d3::Accuracy::standard);
  const auto error_with = [&](const d3::MeshSet& meshes) {
    const Eigen::VectorXd data =
        d3::data_map(MPI_COMM_SELF, model.earth, survey, meshes)->value(model.values);
    return (data - d1::layered_data({{100, 10, 500}, {300, 1200}}, survey)).eval();
  };
  auto meshes = d3::design_meshes(model, survey, rules);
  const Eigen::VectorXd fine = error_with(meshes), coarse = error_with(d3::companions(meshes));
  rules.extrapolate = true;
  meshes = d3::design_meshes(model, survey, rules);
  CHECK(d3::companions(meshes).is_extrapolated);
  const Eigen::VectorXd extrapolated = error_with(meshes);
  CHECK((extrapolated - (4.0 * fine - coarse) / 3.0).norm() < 0.02 * fine.norm());
  CHECK(extrapolated.norm() < 0.2 * fine.norm());
  auto plain = meshes;
  plain.is_extrapolated = false;
  CHECK(d3::work_of(meshes, survey) > 1.1 * d3::work_of(plain, survey));
}

TEST_CASE("3-D extrapolation: maps that do not fit are named errors", "[physics][mt]") {
  const auto two = core::select(3, {0, 1}), one = core::select(3, {0});
  CHECK_THAT(error_of<core::ShapeError>([&] { (void)d3::extrapolated(MPI_COMM_SELF, two, one); }),
             HasId("wrong_size", {"3", "2", "1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)d3::extrapolated(MPI_COMM_SELF, two, nullptr); }),
             HasId("no_map"));
}

TEST_CASE("3-D simulation: ranks take the largest units first, a frequency whole while all have work",
          "[physics][mt]") {
  const std::vector<double> work{1, 1, 7, 7, 2, 2, 6, 6, 3, 3};
  CHECK(mt::d3::owners_of(work, 1) == std::vector<int>(10, 0));
  CHECK(mt::d3::owners_of(work, 2) == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1});
  // Five frequencies are fewer than six ranks: each unit by itself, in the order of its work.
  CHECK(mt::d3::owners_of(work, 6) == std::vector<int>{4, 5, 0, 1, 4, 5, 2, 3, 4, 5});
  CHECK(mt::d3::owners_of({2, 2}, 4) == std::vector<int>{0, 1});

  // The second of three frequencies has no datum.
  mt::Survey survey = tests::volume_survey();
  survey.frequencies_hz = {10.0, 1.0, 0.01};
  survey.keys = {{mt::datum("zxy_re"), 0, 0}, {mt::datum("zxy_re"), 2, 1}};
  const auto meshes = mt::d3::design_meshes(tests::small_volume(), survey, tests::coarse_design());
  const auto shares = mt::d3::shares_of(meshes, survey, 3);
  CHECK(shares.size() == 3);
  int n_units = 0;
  double sum = 0.0, edges = 0.0;
  for (const auto& each : shares) {
    n_units += each.n_units;
    sum += each.work;
  }
  for (const mt::d3::BandMesh& band : meshes.bands) {
    for (const int frequency : band.frequencies)
      edges += frequency == 1 ? 0.0 : 2.0 * static_cast<double>(band.grid.n_edges());
  }
  CHECK(n_units == 4);
  CHECK(sum == edges);
}

TEST_CASE("3-D simulation: threads change no bit", "[physics][mt]") {
  const Eigen::VectorXd x = tests::small_volume().values;
  const Eigen::VectorXd alone = tests::small_volume_simulation(MPI_COMM_SELF)->value(x);
  for (const int n : {2, 3}) {
    const tests::ThreadCount threads(n);
    CHECK(tests::small_volume_simulation(MPI_COMM_SELF)->value(x) == alone);
  }
}

TEST_CASE("3-D simulation: inputs it cannot honour are named errors", "[physics][mt]") {
  auto model = tests::small_volume();
  const auto meshes = d3::design_meshes(model, tests::volume_survey(), tests::coarse_design());
  const auto layout = tests::full_layout(2, 2);
  const auto make = [&](const mesh::Earth& earth, std::vector<Station> stations, const d3::MeshSet& set) {
    return d3::Simulation(MPI_COMM_SELF, earth, layout, std::move(stations), tests::volume_frequencies_hz(),
                          set);
  };
  auto far = tests::volume_stations();
  far[1].x_m = 1e7;
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)make(model.earth, far, meshes); }),
             HasId("outside", {"station b", "x = 1e+07", "design the mesh"}));
  auto of_cells = tests::coarse_design();
  of_cells.only_cells = true;
  const auto cells = d3::design_meshes(model, tests::volume_survey(), of_cells);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)make(model.earth, far, cells); }),
             HasId("outside", {"station b", "leave the station out", "give a model"}));
  mesh::Earth hill = model.earth;
  hill.surface = mesh::SurfaceLine({-100, 100}, {0, -50});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)make(hill, far, meshes); }),
             HasId("level_mesh", {"-50"}));
  auto without = meshes;
  without.bands.erase(without.bands.begin());
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { (void)make(model.earth, tests::volume_stations(), without); }),
      HasId("no_mesh", {"10"}));
  auto of_another = meshes;
  of_another.design_resistivity_ohm_m.conservativeResize(5);
  CHECK_THAT(
      error_of<core::ShapeError>([&] { (void)make(model.earth, tests::volume_stations(), of_another); }),
      HasId("wrong_design", {"27", "5"}));
  model.values[26] = -1.0;
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { (void)make(model.earth, tests::volume_stations(), meshes).value(model.values); }),
             HasId("resistivity_not_positive", {"2"}));
}

TEST_CASE("3-D receivers: E ends at a contact, but where fields are linear it goes on beyond",
          "[physics][mt]") {
  std::vector<double> lines;
  for (int i = -4; i <= 4; ++i) lines.push_back(1000.0 * i);
  const fem::EdgeGrid grid({lines, lines, lines});
  const int ground = 4, n = grid.n(0);
  Eigen::MatrixXd top = Eigen::MatrixXd::Constant(n, n, 100.0);
  top.topRows(n / 2).setConstant(10.0);
  Eigen::VectorXcd circulation = Eigen::VectorXcd::Zero(grid.n_edges());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= n; ++j) circulation[grid.edge(0, i, j, ground)] = 1000.0 * (i < n / 2 ? 1.0 : 10.0);
  }
  Station station{"a", 0.0};
  station.x_m = 200.0;
  const auto e_x = [&](d3::Interpolation interpolation) {
    return d3::Receiver(grid, ground, station, top, interpolation)
        .measure(d3::Channel::e_x, 1.0, circulation);
  };
  CHECK(std::abs(e_x(d3::Interpolation::cubic) - 10.0) < 1e-12);
  CHECK(std::abs(e_x(d3::Interpolation::linear) - 7.3) < 1e-12);
}
