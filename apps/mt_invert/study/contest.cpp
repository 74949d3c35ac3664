// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/study/contest.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "engine/core/mpi/waiting.hpp"
#include "io/model/read.hpp"
#include "io/run/folder.hpp"
#include "io/text/text_file.hpp"

#include <algorithm>
#include <exception>

namespace lodestone::mt_invert::study {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr double fine_slopes = 2.0;  // cuts of slanted edges, beside the default

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

std::string file_name(std::string name) {
  std::ranges::replace(name, ' ', '_');
  return name;
}

/// The section's truth and impedances; the cache is known by everything these depend on.
struct Sounding {
  physics::mesh::Model truth;
  VectorXd impedances;
};
Sounding sound(const ContestSection& section, const std::filesystem::path& folder) {
  const auto model_path = folder / "models" / (file_name(section.name) + ".toml");
  core::make_folder(model_path.parent_path());
  core::write_file(model_path.string(), section.model);
  physics::mesh::Model truth = io::model::read_model_toml(
      model_path.string(), section.accuracy == physics::mt::d2::Accuracy::fine ? fine_slopes : 1.0);
  const std::string depends_on = fmt::format("{} {} {} {} {} {}", core::version(), section.survey.n_stations,
                                             section.survey.n_frequencies, section.survey.tm,
                                             static_cast<int>(section.accuracy), section.model);
  const auto cache =
      folder / "data" / fmt::format("{}_{}.h5", file_name(section.name), io::text::digest_of(depends_on));
  VectorXd impedances = true_impedances(truth, section.survey, section.accuracy, cache);
  return {std::move(truth), std::move(impedances)};
}

std::string line_of(const ContestEntry& entry) {
  const SyntheticFigures& f = entry.figures;
  return fmt::format(
      "{}, noise {:g} %, {}{}{}: chi rms {:.3f}, error {:.4f}, SSIM {:.3f} in the region; {:.0f} iterations, "
      "{:.1f} s",
      entry.section, 100.0 * entry.noise, core::word(entry.method),
      entry.start == SyntheticStart::half_space ? "" : ", start: " + std::string(core::word(entry.start)),
      entry.variant.empty() ? "" : ", " + entry.variant, f.chi_rms, f.error_region, f.similarity_region,
      f.iterations, f.seconds);
}

/// One section on this rank. → its entries.
std::vector<ContestEntry> run_section(MPI_Comm comm, const ContestSection& section,
                                      const SyntheticDomain& domain, const SyntheticPrior& prior,
                                      const ContestSettings& settings, const std::filesystem::path& folder) {
  const Sounding sounding = sound(section, folder);
  std::vector<ContestEntry> entries = section.entries;
  std::vector<VectorXd> models;
  const VectorXd truth = domain.on_grid(sounding.truth);
  for (ContestEntry& entry : entries) {
    const SyntheticProblem problem{
        &domain, noisy_data(section.survey, sounding.impedances, entry.noise, section.noise_seed), truth};
    SyntheticRun run = [&] {
      const Quiet quiet(comm);
      return run_method(problem, prior, entry.method, entry.start, with_variant(settings, entry.variant));
    }();
    entry.figures = run.figures;
    models.push_back(std::move(run.model));
    core::log::info("{}", line_of(entry));
  }
  write_section_output(folder / "sections", file_name(section.name), section, domain, truth, entries, models);
  return entries;
}

/// Figures of a section's entries, one after the other.
VectorXd packed(const std::vector<ContestEntry>& entries) {
  VectorXd row(std::ssize(entries) * std::ssize(figure_names()));
  Index i = 0;
  for (const ContestEntry& entry : entries) {
    for (const FigureName& each : figure_names()) row[i++] = entry.figures.*each.figure;
  }
  return row;
}

void unpack(const VectorXd& row, std::vector<ContestEntry>& entries) {
  Index i = 0;
  for (ContestEntry& entry : entries) {
    for (const FigureName& each : figure_names()) entry.figures.*each.figure = row[i++];
  }
}

}  // namespace

ContestSettings with_variant(ContestSettings settings, const std::string& variant) {
  if (variant.empty()) return settings;
  if (variant == "other norm") {
    for (MethodWeights* weights : {&settings.gaussian, &settings.feature})
      weights->between_epsilon = weights->between_epsilon > 0.0 ? 0.0 : usual_between_epsilon;
    return settings;
  }
  const std::size_t blank = variant.find(' ');
  const std::string name = variant.substr(0, blank),
                    factor_text = blank == std::string::npos ? "" : variant.substr(blank + 1);
  const double factor = factor_text == "x10" ? 10.0 : factor_text == "/10" ? 0.1 : 0.0;
  double MethodWeights::*member = name == "horizontal" ? &MethodWeights::horizontal
                                  : name == "code"     ? &MethodWeights::code
                                  : name == "between"  ? &MethodWeights::between
                                                       : nullptr;
  if (member == nullptr || factor == 0.0)
    throw core::InvalidArgument(
        "mt_invert#unknown_variant",
        "expected a variant \"horizontal|code|between x10|/10\" or \"other norm\", got \"{}\"", variant);
  for (MethodWeights* weights : {&settings.pixel, &settings.gaussian, &settings.feature})
    weights->*member *= factor;
  return settings;
}

std::vector<ContestEntry> run_contest(MPI_Comm comm, const std::vector<ContestSection>& sections,
                                      const SyntheticDomain& domain, const SyntheticPrior& prior,
                                      const ContestSettings& settings, const std::filesystem::path& folder) {
  const int n_ranks = core::size_of(comm), rank = core::rank_of(comm);
  std::size_t most = 0;
  std::vector<int> owner;
  for (const ContestSection& section : sections) {
    owner.push_back(static_cast<int>(owner.size()) % n_ranks);
    most = std::max(most, section.entries.size());
  }
  Eigen::MatrixXd figures =
      Eigen::MatrixXd::Zero(std::ssize(sections), static_cast<Index>(most) * std::ssize(figure_names()));
  core::Worded failure;
  if (sections.empty()) return {};
  for (std::size_t i = 0; i < sections.size() && failure.empty(); ++i) {
    if (owner[i] != rank) continue;
    try {
      const VectorXd row = packed(run_section(comm, sections[i], domain, prior, settings, folder));
      figures.row(static_cast<Index>(i)).head(row.size()) = row.transpose();
    } catch (const core::Error& error) {
      failure = {fmt::format("section {}: {}", sections[i].name, error.what()), error.place()};
    } catch (const std::exception& error) {
      failure = {fmt::format("section {}: {}", sections[i].name, error.what()), "study::contest#exception"};
    }
  }
  core::meet_with_pauses(comm);  // sections take minutes
  core::throw_together(comm, failure);
  core::share_rows(comm, owner, figures);
  std::vector<ContestEntry> result;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    std::vector<ContestEntry> entries = sections[i].entries;
    unpack(figures.row(static_cast<Index>(i)).transpose(), entries);
    result.insert(result.end(), entries.begin(), entries.end());
  }
  return result;
}

}  // namespace lodestone::mt_invert::study
