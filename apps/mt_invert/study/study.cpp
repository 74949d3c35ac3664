// SPDX-License-Identifier: Apache-2.0
// Cells, a Gaussian prior and a learned one, on the same data with the same rules.
#include "apps/mt_invert/study/study.hpp"

#include "apps/mt_invert/config/train.hpp"
#include "apps/mt_invert/selftest/data.hpp"
#include "apps/mt_invert/study/contest.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/hdf5/file.hpp"
#include "io/model/network.hpp"
#include "io/run/folder.hpp"
#include "io/text/text_file.hpp"
#include "models/earths/synthetic.hpp"
#include "models/vae/train_vae.hpp"

#include <algorithm>

namespace lodestone::mt_invert::study {
namespace {

using enum SyntheticMethod;
using models::earths::synthetic_families;
using models::earths::synthetic_model;
using models::earths::SyntheticFamily;

constexpr SyntheticSurvey light{.n_stations = 21, .n_frequencies = 12},
    least{.n_stations = 11, .n_frequencies = 8};
constexpr double usual_noise = 0.01, random_noise = 0.02,
                 quick_noise = 0.05;  // noisier data are fitted sooner, and on coarser meshes
constexpr double random_coarsen = 0.75, quick_coarsen = 1.0;  // beside 0.6 for the cases

void add_variants(ContestSection& section, double noise) {
  const auto add = [&](SyntheticMethod method, const char* weight) {
    for (const char* factor : {" x10", " /10"})
      section.entries.push_back({.section = section.name,
                                 .family = "",
                                 .noise = noise,
                                 .method = method,
                                 .variant = weight + std::string(factor)});
  };
  for (const SyntheticMethod method : {pixel, gaussian, feature}) add(method, "horizontal");
  for (const SyntheticMethod method : {gaussian, feature}) {
    add(method, "code");
    add(method, "between");
    section.entries.push_back(
        {.section = section.name, .family = "", .noise = noise, .method = method, .variant = "other norm"});
  }
}

ContestSection case_section(const std::string& name, const char* file, std::uint64_t noise_seed,
                            const SyntheticOptions& options) {
  ContestSection section{
      .name = name,
      .family = "",
      .model = io::text::read_bytes(selftest::data_file(file)),
      .survey = options.quick ? least : SyntheticSurvey{},
      .accuracy = options.quick ? physics::mt::d2::Accuracy::standard : physics::mt::d2::Accuracy::fine,
      .noise_seed = noise_seed,
      .with_pictures = true};
  section.survey.tm = options.tm;
  for (const double noise : options.quick ? std::vector{quick_noise} : std::vector{0.0, usual_noise, 0.05}) {
    for (const SyntheticMethod method : {pixel, gaussian, feature})
      section.entries.push_back({name, "", noise, method});
    if (!options.quick) section.entries.push_back({name, "", noise, pixel, SyntheticStart::decoded});
    if (!options.quick && noise <= usual_noise) {
      for (const SyntheticMethod method : {pixel, gaussian, feature})
        section.entries.push_back({name, "", noise, method, SyntheticStart::soundings});
    }
  }
  if (options.sweep) add_variants(section, options.quick ? quick_noise : usual_noise);
  return section;
}

ContestSection random_section(const std::string& family, int number, const SyntheticOptions& options) {
  const std::string name = fmt::format("{} {:02}", family, number);
  ContestSection section{.name = name,
                         .family = family,
                         .model = synthetic_model(family, number),
                         .survey = options.quick ? least : light,
                         .accuracy = physics::mt::d2::Accuracy::standard,
                         .noise_seed = 1000 + static_cast<std::uint64_t>(number),
                         .with_pictures = number == 0};
  section.survey.tm = options.tm;
  for (const SyntheticMethod method : {pixel, gaussian, feature})
    section.entries.push_back({name, family, options.quick ? quick_noise : random_noise, method});
  return section;
}

/// Returns the network of `--network`, or the one that data/benchmarks/vae_synthetic_prior.toml trains, which
/// is kept in `folder` under a name that changes with everything the training depends on. On one rank.
/// errors: those of the files, of the configuration and of the training.
models::vae::TrainedVae synthetic_network(const SyntheticOptions& options,
                                          const std::filesystem::path& folder) {
  if (!options.network_path.empty()) return io::model::read_trained_network(options.network_path);
  std::vector<std::string> assignments;
  if (options.quick) assignments = {"training.draws=4000", "training.epochs=8"};
  const config::TrainConfig config =
      config::read_train_config(selftest::data_file("benchmarks/vae_synthetic_prior.toml"), assignments);
  const auto path = folder / fmt::format("network_{}.h5", io::text::digest_of(config.toml + core::version()));
  if (!std::filesystem::exists(path)) {
    core::log::info("training the network of vae_synthetic_prior.toml: {} draws, {} epochs",
                    config.setup.recipe.n_draws, config.setup.recipe.epochs);
    models::vae::VaeTraining training =
        models::vae::train_vae(config.prior, config.setup, {.data = config.data});
    core::make_folder(folder);
    io::hdf5::Hdf5Sink sink(path);
    training.vae->save(sink);
    sink.commit();
  }
  models::vae::TrainedVae vae = io::model::read_trained_network(path.string());
  core::log::info("network {}: {} codes for {} cells, reconstruction {:.3f} decades rms", path.string(),
                  vae.options().n_codes, vae.options().n_cells(), vae.statistics().rms);
  return vae;
}

bool wanted(const std::string& part, const SyntheticOptions& options) {
  return options.only.empty() || std::ranges::count(options.only, part) > 0;
}

std::vector<ContestSection> cases(const SyntheticOptions& options) {
  if (!wanted("cases", options)) return {};
  return {case_section("A", "benchmarks/vae_synthetic_a.toml", 1, options),
          case_section("B", "benchmarks/vae_synthetic_b.toml", 2, options)};
}

std::vector<ContestSection> random_sections(const SyntheticOptions& options) {
  std::vector<ContestSection> sections;
  const int n_models = options.quick ? std::min(options.n_models, 1) : options.n_models;
  for (const SyntheticFamily& family : synthetic_families()) {
    if (!wanted(family.name, options)) continue;
    for (int number = 0; number < n_models; ++number)
      sections.push_back(random_section(family.name, number, options));
  }
  return sections;
}

}  // namespace

selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm, const SyntheticOptions& options) {
  const std::filesystem::path folder =
      options.output_folder.empty() ? "out/vae-synthetic" : options.output_folder;
  core::on_rank_zero(
      comm, [&] { (void)synthetic_network(options, folder); });  // trained once; then all ranks read the file
  const models::vae::TrainedVae network = synthetic_network(options, folder);
  const SyntheticDomain domain, light_domain(light_cells);
  const ContestSettings settings{},
      light_settings{.mesh_coarsen = options.quick ? quick_coarsen : random_coarsen};
  std::vector<ContestEntry> entries;
  const auto contest = [&](const std::vector<ContestSection>& sections, const SyntheticDomain& on,
                           const ContestSettings& by) {
    if (sections.empty()) return;  // patches fit the columns of one of the domains
    const auto more = run_contest(comm, sections, on, SyntheticPrior(on, network), by, folder);
    entries.insert(entries.end(), more.begin(), more.end());
  };
  contest(cases(options), options.quick ? light_domain : domain, options.quick ? light_settings : settings);
  contest(random_sections(options), light_domain, light_settings);
  selftest::SelftestReport report;
  report.tables = contest_tables(entries);
  report.rows = contest_rows(entries, !options.quick);
  report.runs = contest_runs(entries);
  report.note =
      fmt::format("models, data, pictures: {}; what the figures mean: docs/theory/learned_prior.md{}",
                  folder.string(), options.quick ? "; --quick judges the fit alone" : "");
  return report;
}

}  // namespace lodestone::mt_invert::study
