// SPDX-License-Identifier: Apache-2.0
#include "io/vtk/pieces.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/markup.hpp"
#include "engine/core/mpi/team.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::io::vtk {

namespace mesh = physics::mesh;

int n_pieces(const mesh::TensorGrid& grid, int n_ranks, Eigen::Index least) {
  if (grid.dimension() < 3) return 1;
  return static_cast<int>(std::clamp<Eigen::Index>(grid.n_cells() / least, 1, n_ranks));
}

std::string piece_name(const std::string& stem, Piece piece) {
  return piece.count == 1 ? stem + ".vtu" : fmt::format("{}_{}.vtu", stem, piece.index);
}

void write_pvtu(const std::filesystem::path& folder, const std::string& stem, int count,
                const std::vector<std::string>& arrays) {
  std::string text = fmt::format(
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\">\n"
      "  <PUnstructuredGrid GhostLevel=\"0\">\n    <PCellData Scalars=\"{}\">\n",
      core::escaped(arrays.front()));
  for (const std::string& name : arrays)
    text += fmt::format("      <PDataArray type=\"Float64\" Name=\"{}\"/>\n", core::escaped(name));
  text +=
      "    </PCellData>\n    <PPoints>\n"
      "      <PDataArray type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"/>\n    </PPoints>\n";
  for (int index = 0; index < count; ++index)
    text += fmt::format("    <Piece Source=\"{}\"/>\n", core::escaped(piece_name(stem, {index, count})));
  text += "  </PUnstructuredGrid>\n</VTKFile>\n";
  core::write_file((folder / (stem + ".pvtu")).string(), text);
}

std::filesystem::path write_model(MPI_Comm comm, const std::filesystem::path& folder, const std::string& stem,
                                  const mesh::Model& model, const mesh::Frame& frame,
                                  const std::vector<NamedArray>& extra, Eigen::Index least) {
  const core::Team team(comm);
  const Piece piece{team.rank(), n_pieces(model.earth.grid, team.size(), least)};
  std::vector<std::string> arrays;
  core::on_first_ranks(comm, piece.count, [&] {
    arrays = write_model_vtu(folder / piece_name(stem, piece), model, frame, extra, piece);
  });
  const std::filesystem::path one = folder / (stem + ".vtu"), list = folder / (stem + ".pvtu");
  core::on_rank_zero(comm, [&] {
    if (piece.count > 1) write_pvtu(folder, stem, piece.count, arrays);
    std::filesystem::remove(piece.count > 1 ? one : list);  // was written by another number of ranks
  });
  return piece.count > 1 ? list : one;
}

}  // namespace lodestone::io::vtk
