// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "io/vtk/pieces.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace lodestone;
namespace mesh = physics::mesh;

namespace {

const MPI_Comm world = MPI_COMM_WORLD;

mesh::Model volume() {
  const mesh::Earth earth{mesh::TensorGrid(mesh::Edges{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}})};
  return mesh::resistivity_model(earth, Eigen::VectorXd::Constant(8, 10.0));
}

}  // namespace

TEST_CASE("vtk pieces: as many ranks write as there is work for, and all know the file to open", "[mpi]") {
  const tests::TemporaryFolder own;
  const std::filesystem::path folder = core::broadcast_text(world, own.path().string());
  const int n = std::min(core::size_of(world), 2);
  const auto written = io::vtk::write_model(world, folder, "m", volume(), {}, {}, 4);
  CHECK(written == folder / (n == 1 ? "m.vtu" : "m.pvtu"));
  std::vector<std::string> expected{"m.vtu"};
  if (n == 2) expected = {"m.pvtu", "m_0.vtu", "m_1.vtu"};
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    found.push_back(entry.path().filename().string());
  std::ranges::sort(found);
  CHECK(found == expected);
  MPI_Barrier(world);
}

TEST_CASE("vtk pieces: where one rank cannot write, all ranks have its error, and nothing is listed",
          "[mpi]") {
  const tests::TemporaryFolder own;
  const std::filesystem::path folder = core::broadcast_text(world, own.path().string());
  const int n = std::min(core::size_of(world), 2);
  const std::string last = io::vtk::piece_name("m", {n - 1, n});
  if (core::rank_of(world) == 0) std::filesystem::create_directory(folder / last);
  MPI_Barrier(world);
  try {
    io::vtk::write_model(world, folder, "m", volume(), {}, {}, 4);
    FAIL("expected an error");
  } catch (const core::Error& error) {
    CHECK(error.exit_code() == core::ExitCode::file);
    CHECK_THAT(error.what(), Catch::Matchers::Contains(last));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "m.pvtu"));
  MPI_Barrier(world);
}
