// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/femtic/model.hpp"
#include "io/info/info.hpp"
#include "io/model/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <fmt/format.h>

#include <array>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mesh::Axis;

namespace {

/// Two bricks along x, one along y, a layer of air over two of earth; cells in any order, three blocks.
struct Files {
  std::string head = "HEXA\n2 1 3 1\n", nodes, cells;
  std::string blocks =
      "6 4\n0 0\n1 0\n2 1\n3 2\n4 3\n5 3\n"
      "0 1.0e+012 1e-6 1e15 1.0 1\n1 10.0 1e-6 1e6 1.0 0\n2 20.0\n3 1000 1e-6 1e6 1.0 0\n";

  Files() {
    constexpr std::array<double, 3> x{-1500.0, 0.0, 2000.0};
    constexpr std::array<double, 2> y{-300.0, 700.0};
    constexpr std::array<double, 4> z{-5000.0, 0.0, 100.0, 350.0};
    int number = 0;
    for (const double depth : z)
      for (const double east : y)
        for (const double north : x)
          nodes += fmt::format("{} {:e} {:.3f} {}\n", number++, north, east, depth);
    // The first two cells are air; of the earth's layers the cell of the south comes last
    const int first[] = {0, 1, 6, 7, 13, 12};
    for (int i = 0; i < 6; ++i) {
      const int at = first[i];
      cells += fmt::format("{} -1 -1 -1 -1 -1 -1 {} {} {} {} {} {} {} {}\n", i, at, at + 1, at + 4, at + 3,
                           at + 6, at + 7, at + 10, at + 9);
    }
    cells += "1\n0 0 3 6 9\n";
  }
  [[nodiscard]] std::string write(const TemporaryFolder& folder) const {
    write_text(folder, "mesh.dat", head + nodes + cells);
    return write_text(folder, "resistivity_block_iter3.dat", blocks);
  }
};

core::Error refusal(const Files& files) {
  const TemporaryFolder folder;
  return error_of<core::FormatError>([&] { (void)femtic::read_model(files.write(folder)); });
}

}  // namespace

TEST_CASE("FEMTIC model: blocks on a mesh of bricks, without the air, wherever cells stand in the list",
          "[femtic]") {
  const TemporaryFolder folder;
  const std::string path = Files{}.write(folder);
  const auto model = model::read_model(path);
  const auto& grid = model.earth.grid;
  CHECK(grid.edges_m(Axis::x) == std::vector<double>{-1500.0, 0.0, 2000.0});
  CHECK(grid.y_edges_m() == std::vector<double>{-300.0, 700.0});
  CHECK(grid.z_edges_m() == std::vector<double>{0.0, 100.0, 350.0});
  CHECK(model.values[grid.index(0, 0, 0)] == 10.0);
  CHECK(model.values[grid.index(0, 0, 1)] == 20.0);
  CHECK(model.values[grid.index(1, 0, 0)] == 1000.0);
  CHECK(model.values[grid.index(1, 0, 1)] == 1000.0);
  const auto file = info::describe_file(path);
  CHECK(file.status == "ok");
  CHECK(file.format == "FEMTIC model");
}

TEST_CASE("FEMTIC model: what is wrong in either file is said with its place", "[femtic]") {
  const auto with = [](auto change) {
    Files files;
    change(files);
    return refusal(files);
  };
  CHECK_THAT(with([](Files& f) { f.head = "TETRA\n4\n"; }), HasId("other_mesh", {"mesh.dat:1", "TETRA"}));
  CHECK_THAT(with([](Files& f) { f.head = "HEXA\n2 1 3 2\n"; }), HasId("surface_not_at_zero", {"100 m"}));
  CHECK_THAT(with([](Files& f) { f.head = "HEXA\n2 1 9000 1\n"; }), HasId("cut_off", {"mesh.dat:2"}));
  CHECK_THAT(with([](Files& f) { f.nodes = replaced(f.nodes, "700.000 100", "701.000 100"); }),
             HasId("not_a_grid", {"along y", "on 3"}));
  CHECK_THAT(
      with([](Files& f) { f.cells = replaced(f.cells, "3 -1 -1 -1 -1 -1 -1 7", "3 -1 -1 -1 -1 -1 -1 1"); }),
      HasId("not_a_brick", {"along z"}));
  CHECK_THAT(with([](Files& f) {
               f.cells = replaced(f.cells, " 12 13 16 15 18 19 22 21", " 13 14 17 16 19 20 23 22");
             }),
             HasId("missing_cell", {"mesh.dat"}));
  CHECK_THAT(with([](Files& f) { f.blocks = replaced(f.blocks, "6 4\n", "5 4\n"); }),
             HasId("other_mesh", {"6 cells", "got 5"}));
  CHECK_THAT(with([](Files& f) { f.blocks = replaced(f.blocks, "4 3\n", "4 4\n"); }),
             HasId("not_in_range", {"resistivity_block_iter3.dat:6", "a block"}));
  CHECK_THAT(with([](Files& f) { f.blocks = replaced(f.blocks, "5 3\n", "4 3\n"); }),
             HasId("repeated_cell", {":7"}));
  CHECK_THAT(with([](Files& f) { f.blocks = replaced(f.blocks, "2 20.0", "2 -20.0"); }),
             HasId("not_positive", {"-20"}));
  CHECK_THAT(with([](Files& f) { f.blocks = replaced(f.blocks, "2 20.0", "2 1e15"); }),
             HasId("resistivity_out_of_range", {"cell 3"}));
  const TemporaryFolder folder;
  const std::string alone = write_text(folder, "resistivity_block_iter0.dat", Files{}.blocks);
  CHECK_THAT(error_of<core::FileError>([&] { (void)femtic::read_model(alone); }),
             HasId("no_mesh", {"mesh.dat"}));
}
