// SPDX-License-Identifier: Apache-2.0
#include "io/run/inspection.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/inspect/compare.hpp"
#include "engine/inspect/not_finite.hpp"
#include "engine/inspect/pictures.hpp"
#include "engine/record/tuple.hpp"
#include "io/hdf5/file.hpp"

namespace lodestone::io::run {

using engine::Level;

std::string write_inspection(const std::filesystem::path& folder, const InspectedFunction& function,
                             DumpedArrays arrays, const engine::DryRunOptions& needs) {
  const auto& [title, f, arguments, cells] = function;
  const std::vector<engine::Aval> avals = engine::avals_of(arguments);
  std::string text = engine::dry_run(f, avals, needs).text();
  core::make_folder(folder);
  const engine::PictureOptions options{.cells = cells, .title = title};
  core::write_file(folder / "step.html", engine::page(f, avals, options));
  core::write_file(folder / "step.dot", engine::dot(f, avals, engine::Stage::running, options));
  hdf5::Hdf5Sink sink(folder / "values.h5");
  engine::dump(f, arguments, sink, {.arrays = arrays == DumpedArrays::all, .cells = cells});
  sink.commit();
  const auto origin = engine::first_not_finite(f, arguments);
  const auto divergence = engine::bisect(f, arguments, Level::O0, Level::O1, cells);
  return text + fmt::format("numbers:       {}\nlevels:        {}\nwritten:       {}\n",
                            origin ? "not finite: " + *origin : "all finite",
                            divergence ? "they differ: " + divergence->text() : "the same bits on O0 and O1",
                            folder.string());
}

std::string compare_values(const std::string& a, const std::string& b) {
  return engine::compare(hdf5::Hdf5Source(a), hdf5::Hdf5Source(b)).text();
}

}  // namespace lodestone::io::run
