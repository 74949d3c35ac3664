// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "io/run/folder.hpp"
#include "io/text/markup.hpp"
#include "io/vtk/cells.hpp"

#include <fmt/format.h>

namespace lodestone::io::vtk {

void write_pvd(const std::filesystem::path& path, const std::vector<SeriesEntry>& entries) {
  std::string text =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\">\n  <Collection>\n";
  for (const SeriesEntry& entry : entries) {
    text += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", entry.time,
                        text::escaped(entry.file));
  }
  text += "  </Collection>\n</VTKFile>\n";
  core::write_file(path.string(), text);
}

SectionSeries::SectionSeries(std::filesystem::path folder, std::string stem, physics::mesh::TensorGrid grid,
                             physics::mesh::SurfaceLine surface, std::optional<physics::mesh::Sea> sea,
                             VtkFrame frame)
    : folder_(std::move(folder)),
      stem_(std::move(stem)),
      grid_(std::move(grid)),
      surface_(std::move(surface)),
      sea_(sea),
      frame_(std::move(frame)) {
  run::make_folder(folder_);
}

void SectionSeries::add(int iteration, const Eigen::Ref<const Eigen::VectorXd>& log10_resistivity) {
  const auto name = [&](int k) { return fmt::format("{}_{:04}.vtu", stem_, k); };
  const physics::mesh::Section2D section{grid_, Eigen::pow(10.0, log10_resistivity.array()).matrix(),
                                         surface_, sea_};
  write_section_vtu(folder_ / name(iteration), section, frame_);
  // Files of earlier iterations belong to the series also when an earlier process wrote them; later ones are
  // leftovers of another run.
  std::vector<SeriesEntry> entries;
  for (int k = 0; k <= iteration; ++k) {
    if (std::filesystem::exists(folder_ / name(k))) {
      entries.push_back({static_cast<double>(k), name(k)});
    }
  }
  write_pvd(folder_ / (stem_ + ".pvd"), entries);
}

}  // namespace lodestone::io::vtk
