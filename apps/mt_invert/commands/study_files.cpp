// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/study.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "io/hdf5/file.hpp"
#include "io/model/read.hpp"
#include "io/report/slice.hpp"
#include "io/text/text_file.hpp"
#include "io/vtk/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace lodestone::mt_invert::commands {
namespace {

namespace fs = std::filesystem;
namespace study = models::study;
using Eigen::VectorXd;

std::string file_name(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// Returns the file of a section's impedances, known by everything they depend on.
fs::path cache_of(const study::Section& section, const fs::path& folder) {
  const std::string depends_on = fmt::format("{} {} {} {} {} {}", core::version(), section.survey.n_stations,
                                             section.survey.n_frequencies, section.survey.tm,
                                             static_cast<int>(section.accuracy), section.model);
  return folder / "data" / fmt::format("{}_{}.h5", file_name(section.name), io::text::digest_of(depends_on));
}

study::Sounding sound(const study::Section& section, const fs::path& folder) {
  const auto model_path = folder / "models" / (file_name(section.name) + ".toml");
  core::make_folder(model_path.parent_path());
  core::write_file(model_path.string(), section.model);
  physics::mesh::Model truth = io::model::read_model_toml(model_path.string(), section.refine());
  const fs::path cache = cache_of(section, folder);
  if (fs::exists(cache))
    return {std::move(truth), core::read_finite(io::hdf5::Hdf5Source(cache), "impedance_ohm",
                                                std::ssize(section.survey.impedances().keys))};
  VectorXd impedances = study::true_impedances(truth, section.survey, section.accuracy);
  core::make_folder(cache.parent_path());
  io::hdf5::Hdf5Sink sink(cache);
  core::write_vector(sink, "impedance_ohm", {impedances.data(), static_cast<std::size_t>(impedances.size())});
  sink.commit();
  return {std::move(truth), std::move(impedances)};
}

/// The usual runs at one noise: those shown.
bool is_shown(const study::Entry& entry, double noise) {
  return entry.noise == noise && entry.variant.empty() && entry.start == study::Start::half_space;
}

/// Writes truth and the methods at one noise, one above the other as PNG and as cell arrays.
void write_pictures(const fs::path& stem, const study::Finished& finished, double noise) {
  const study::Domain& domain = finished.domain;
  const io::report::NamedBox frame{"region of interest", domain.region()};
  std::vector<io::report::SectionPanel> panels;
  std::vector<io::vtk::NamedArray> arrays;
  const auto add = [&](const std::string& title, const VectorXd& model) {
    io::report::SectionPanel panel{title, domain.section(model), {}, {}, {frame}};
    for (const auto& station : finished.section.survey.data().stations) {
      panel.station_names.push_back("");
      panel.station_y_m.push_back(station.y_m);
    }
    panels.push_back(std::move(panel));
  };
  add(fmt::format("{}: truth", finished.section.name), finished.truth);
  for (std::size_t i = 0; i < finished.entries.size(); ++i) {
    const study::Entry& entry = finished.entries[i];
    if (!is_shown(entry, noise)) continue;
    const study::Figures& f = entry.figures;
    add(fmt::format("{}, noise {:g} %: chi rms {:.2f}; in the frame error {:.3f}, SSIM {:.2f}",
                    core::word(entry.method), 100.0 * noise, f.chi_rms, f.error_region, f.similarity_region),
        finished.models[i]);
    arrays.push_back({fmt::format("{}_log10_resistivity", core::word(entry.method)), finished.models[i]});
  }
  const io::report::SectionPictureOptions options{.min_log10 = 0.5,
                                                  .max_log10 = 3.0,
                                                  .max_depth_m = 1000.0,
                                                  .y_min_m = 0.0,
                                                  .y_max_m = 10000.0,
                                                  .vertical_exaggeration = 2.5};
  io::report::sections_picture(panels, options).write_png(stem.string() + ".png");
  io::vtk::write_model_vtu(stem.string() + ".vtu", domain.section(finished.truth), {}, arrays);
}

void keep(const study::Finished& finished, const fs::path& folder) {
  core::make_folder(folder);
  const std::string name = file_name(finished.section.name);
  io::hdf5::Hdf5Sink sink(folder / (name + ".h5"));
  write(sink, finished);
  sink.commit();
  if (!finished.section.with_pictures) return;
  std::set<double> noises;
  for (const study::Entry& entry : finished.entries) noises.insert(entry.noise);
  for (const double noise : noises)
    write_pictures(folder / fmt::format("{}_{:g}pct", name, 100.0 * noise), finished, noise);
}

}  // namespace

study::Files study_files(const fs::path& folder) {
  return {.sound = [folder](const study::Section& section) { return sound(section, folder); },
          .finished = [folder](const study::Finished& finished) { keep(finished, folder / "sections"); }};
}

}  // namespace lodestone::mt_invert::commands
