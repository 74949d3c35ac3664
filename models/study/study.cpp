// SPDX-License-Identifier: Apache-2.0
#include "models/study/study.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/waiting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace lodestone::models::study {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

/// The log of single inversions is thousands of lines.
class Quiet {
 public:
  explicit Quiet(MPI_Comm comm) : rank_(core::rank_of(comm)) { core::log::set_silent(true); }
  ~Quiet() { core::log::set_silent(rank_ != 0); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  int rank_;
};

std::string line_of(const Entry& entry) {
  const Figures& f = entry.figures;
  return fmt::format(
      "{}, noise {:g} %, {}{}{}: chi rms {:.3f}, error {:.4f}, SSIM {:.3f} in the region; {:.0f} iterations, "
      "{:.1f} s",
      entry.section, 100.0 * entry.noise, core::word(entry.method),
      entry.start == Start::half_space ? "" : ", start: " + std::string(core::word(entry.start)),
      entry.variant.empty() ? "" : ", " + entry.variant, f.chi_rms, f.error_region, f.similarity_region,
      f.iterations, f.seconds);
}

/// The domain of a part, and the priors on it.
struct Place {
  Place(const Part& part, const vae::TrainedVae& network) : domain(part.cells), priors(domain, network) {}
  Domain domain;
  PriorMaps priors;
};

/// Inverts the data of one section on this rank. → its entries.
std::vector<Entry> run_section(MPI_Comm comm, const Section& section, const Place& place,
                               const Settings& settings, const Files& files) {
  const Sounding sounding = files.sound(section);
  Finished finished{section, place.domain, place.domain.on_grid(sounding.truth), section.entries};
  for (Entry& entry : finished.entries) {
    const Problem problem{&place.domain,
                          noisy_data(section.survey, sounding.impedances, entry.noise, section.noise_seed),
                          finished.truth};
    Run run = [&] {
      const Quiet quiet(comm);
      return run_method(problem, place.priors, entry.method, entry.start,
                        with_variant(settings, entry.variant));
    }();
    entry.figures = run.figures;
    finished.models.push_back(std::move(run.model));
    core::log::info("{}", line_of(entry));
  }
  if (files.finished) files.finished(finished);
  return finished.entries;
}

/// Returns the figures of a section's entries, one after the other.
VectorXd packed(const std::vector<Entry>& entries) {
  VectorXd row(std::ssize(entries) * std::ssize(figure_names()));
  Index i = 0;
  for (const Entry& entry : entries) {
    for (const FigureName& each : figure_names()) row[i++] = entry.figures.*each.figure;
  }
  return row;
}

void unpack(const VectorXd& row, std::vector<Entry>& entries) {
  Index i = 0;
  for (Entry& entry : entries) {
    for (const FigureName& each : figure_names()) entry.figures.*each.figure = row[i++];
  }
}

/// Runs the sections of this rank. → a row of figures for each section, those of other ranks 0. collective.
Eigen::MatrixXd figures_of_own(MPI_Comm comm, const Part& part, const std::vector<int>& owner,
                               const Place& place, const Files& files) {
  std::size_t most = 0;
  for (const Section& section : part.sections) most = std::max(most, section.entries.size());
  Eigen::MatrixXd figures =
      Eigen::MatrixXd::Zero(std::ssize(part.sections), static_cast<Index>(most) * std::ssize(figure_names()));
  core::Worded failure;
  for (std::size_t i = 0; i < part.sections.size() && failure.empty(); ++i) {
    if (owner[i] != core::rank_of(comm)) continue;
    const Section& section = part.sections[i];
    try {
      const VectorXd row = packed(run_section(comm, section, place, part.settings, files));
      figures.row(static_cast<Index>(i)).head(row.size()) = row.transpose();
    } catch (const core::Error& error) {
      failure = {fmt::format("section {}: {}", section.name, error.what()), error.place()};
    } catch (const std::exception& error) {
      failure = {fmt::format("section {}: {}", section.name, error.what()), "models::study#exception"};
    }
  }
  core::meet_with_pauses(comm);  // sections take minutes
  core::throw_together(comm, failure);
  return figures;
}

}  // namespace

std::vector<Entry> run(MPI_Comm comm, const Part& part, const vae::TrainedVae& network, const Files& files) {
  if (part.sections.empty()) return {};
  const Place place(part, network);
  std::vector<int> owner;
  for (std::size_t i = 0; i < part.sections.size(); ++i)
    owner.push_back(static_cast<int>(i) % core::size_of(comm));
  Eigen::MatrixXd figures = figures_of_own(comm, part, owner, place, files);
  core::share_rows(comm, owner, figures);
  std::vector<Entry> result;
  for (std::size_t i = 0; i < part.sections.size(); ++i) {
    std::vector<Entry> entries = part.sections[i].entries;
    unpack(figures.row(static_cast<Index>(i)).transpose(), entries);
    result.insert(result.end(), entries.begin(), entries.end());
  }
  return result;
}

void write(core::ArraySink& sink, const Finished& finished) {
  const auto put = [&](const std::string& name, const VectorXd& values) {
    core::write_vector(sink, name, {values.data(), static_cast<std::size_t>(values.size())});
  };
  core::write_vector(sink, "grid/y_edges_m", finished.domain.grid().y_edges_m());
  core::write_vector(sink, "grid/z_edges_m", finished.domain.grid().z_edges_m());
  put("truth/log10_resistivity", finished.truth);
  for (std::size_t i = 0; i < finished.entries.size(); ++i) {
    const Entry& entry = finished.entries[i];
    const std::string group = fmt::format("runs/{:03}", i);
    put(group + "/log10_resistivity", finished.models[i]);
    sink.attribute(group, "method", std::string(core::word(entry.method)));
    sink.attribute(group, "start", std::string(core::word(entry.start)));
    sink.attribute(group, "noise", fmt::format("{:g}", entry.noise));
    sink.attribute(group, "variant", entry.variant);
    for (const FigureName& each : figure_names())
      sink.attribute(group, each.name, fmt::format("{:.8g}", entry.figures.*each.figure));
  }
}

}  // namespace lodestone::models::study
