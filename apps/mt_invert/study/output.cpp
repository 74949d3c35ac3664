// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/study/contest.hpp"
#include "engine/core/array_io.hpp"
#include "engine/core/atomic_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/report/slice.hpp"
#include "io/run/folder.hpp"
#include "io/vtk/model_file.hpp"

#include <fmt/format.h>

#include <set>

namespace lodestone::mt_invert::study {
namespace {

using Eigen::VectorXd;

void write(io::hdf5::Hdf5Sink& sink, const std::string& name, const VectorXd& values) {
  core::write_vector(sink, name, {values.data(), static_cast<std::size_t>(values.size())});
}

void write_models(const std::filesystem::path& path, const SyntheticDomain& domain, const VectorXd& truth,
                  const std::vector<ContestEntry>& entries, const std::vector<VectorXd>& models) {
  io::hdf5::Hdf5Sink sink(path);
  core::write_vector(sink, "grid/y_edges_m", domain.grid().y_edges_m());
  core::write_vector(sink, "grid/z_edges_m", domain.grid().z_edges_m());
  write(sink, "truth/log10_resistivity", truth);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string group = fmt::format("runs/{:03}", i);
    write(sink, group + "/log10_resistivity", models[i]);
    sink.attribute(group, "method", std::string(core::word(entries[i].method)));
    sink.attribute(group, "start", std::string(core::word(entries[i].start)));
    sink.attribute(group, "noise", fmt::format("{:g}", entries[i].noise));
    sink.attribute(group, "variant", entries[i].variant);
    for (const FigureName& each : figure_names())
      sink.attribute(group, each.name, fmt::format("{:.8g}", entries[i].figures.*each.figure));
  }
  sink.commit();
}

/// The usual runs at one noise: those shown.
bool is_shown(const ContestEntry& entry, double noise) {
  return entry.noise == noise && entry.variant.empty() && entry.start == SyntheticStart::half_space;
}

physics::mesh::Model section_of(const SyntheticDomain& domain, const VectorXd& log10_rho) {
  return physics::mesh::resistivity_model({domain.grid()}, Eigen::pow(10.0, log10_rho.array()));
}

void write_pictures(const std::filesystem::path& stem, const ContestSection& about,
                    const SyntheticDomain& domain, const VectorXd& truth,
                    const std::vector<ContestEntry>& entries, const std::vector<VectorXd>& models,
                    double noise) {
  const auto depth_m = domain.region_depths_m();
  const io::report::NamedBox frame{"region of interest",
                                   {.y_m = {3000.0, 7000.0}, .z_m = {depth_m.front(), depth_m.back()}}};
  std::vector<io::report::SectionPanel> panels;
  std::vector<io::vtk::NamedArray> arrays;
  const auto add = [&](const std::string& title, const VectorXd& model) {
    io::report::SectionPanel panel{title, section_of(domain, model), {}, {}, {frame}};
    for (const auto& station : about.survey.data().stations) {
      panel.station_names.push_back("");
      panel.station_y_m.push_back(station.y_m);
    }
    panels.push_back(std::move(panel));
  };
  add(fmt::format("{}: truth", about.name), truth);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!is_shown(entries[i], noise)) continue;
    const SyntheticFigures& f = entries[i].figures;
    add(fmt::format("{}, noise {:g} %: chi rms {:.2f}; in the frame error {:.3f}, SSIM {:.2f}",
                    core::word(entries[i].method), 100.0 * noise, f.chi_rms, f.error_region,
                    f.similarity_region),
        models[i]);
    arrays.push_back({fmt::format("{}_log10_resistivity", core::word(entries[i].method)), models[i]});
  }
  const io::report::SectionPictureOptions options{.min_log10 = 0.5,
                                                  .max_log10 = 3.0,
                                                  .max_depth_m = 1000.0,
                                                  .y_min_m = 0.0,
                                                  .y_max_m = 10000.0,
                                                  .vertical_exaggeration = 2.5};
  io::report::sections_picture(panels, options).write_png(stem.string() + ".png");
  io::vtk::write_model_vtu(stem.string() + ".vtu", section_of(domain, truth), {}, arrays);
}

}  // namespace

void write_section_output(const std::filesystem::path& folder, const std::string& name,
                          const ContestSection& section, const SyntheticDomain& domain, const VectorXd& truth,
                          const std::vector<ContestEntry>& entries, const std::vector<VectorXd>& models) {
  core::make_folder(folder);
  write_models(folder / (name + ".h5"), domain, truth, entries, models);
  if (!section.with_pictures) return;
  std::set<double> noises;
  for (const ContestEntry& entry : entries) noises.insert(entry.noise);
  for (const double noise : noises)
    write_pictures(folder / fmt::format("{}_{:g}pct", name, 100.0 * noise), section, domain, truth, entries,
                   models, noise);
}

}  // namespace lodestone::mt_invert::study
