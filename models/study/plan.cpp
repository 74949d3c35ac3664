// SPDX-License-Identifier: Apache-2.0
#include "models/earths/synthetic.hpp"
#include "models/study/study.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lodestone::models::study {
namespace {

using enum Method;
using earths::SyntheticFamily;

constexpr SyntheticSurvey light{.n_stations = 21, .n_frequencies = 12},
    least{.n_stations = 11, .n_frequencies = 8};
constexpr double usual_noise = 0.01, random_noise = 0.02,
                 quick_noise = 0.05;  // noisier data are fitted sooner, and on coarser meshes
constexpr double random_coarsen = 0.75, quick_coarsen = 1.0;  // beside 0.6 for the cases

void add_variants(Section& section, double noise) {
  const auto add = [&](Method method, const char* weight) {
    for (const char* factor : {" x10", " /10"})
      section.entries.push_back({.section = section.name,
                                 .family = "",
                                 .noise = noise,
                                 .method = method,
                                 .variant = weight + std::string(factor)});
  };
  for (const Method method : {pixel, gaussian, feature}) add(method, "horizontal");
  for (const Method method : {gaussian, feature}) {
    add(method, "code");
    add(method, "between");
    section.entries.push_back(
        {.section = section.name, .family = "", .noise = noise, .method = method, .variant = "other norm"});
  }
}

Section case_section(const std::string& name, const std::string& model, std::uint64_t noise_seed,
                     const Options& options) {
  Section section{
      .name = name,
      .family = "",
      .model = model,
      .survey = options.quick ? least : SyntheticSurvey{},
      .accuracy = options.quick ? physics::mt::d2::Accuracy::standard : physics::mt::d2::Accuracy::fine,
      .noise_seed = noise_seed,
      .with_pictures = true};
  section.survey.tm = options.tm;
  for (const double noise : options.quick ? std::vector{quick_noise} : std::vector{0.0, usual_noise, 0.05}) {
    for (const Method method : {pixel, gaussian, feature})
      section.entries.push_back({name, "", noise, method});
    if (!options.quick) section.entries.push_back({name, "", noise, pixel, Start::decoded});
    if (!options.quick && noise <= usual_noise) {
      for (const Method method : {pixel, gaussian, feature})
        section.entries.push_back({name, "", noise, method, Start::soundings});
    }
  }
  if (options.sweep) add_variants(section, options.quick ? quick_noise : usual_noise);
  return section;
}

Section random_section(const std::string& family, int number, const Options& options) {
  const std::string name = fmt::format("{} {:02}", family, number);
  Section section{.name = name,
                  .family = family,
                  .model = earths::synthetic_model(family, number),
                  .survey = options.quick ? least : light,
                  .accuracy = physics::mt::d2::Accuracy::standard,
                  .noise_seed = 1000 + static_cast<std::uint64_t>(number),
                  .with_pictures = number == 0};
  section.survey.tm = options.tm;
  for (const Method method : {pixel, gaussian, feature})
    section.entries.push_back({name, family, options.quick ? quick_noise : random_noise, method});
  return section;
}

std::vector<Section> case_sections(const Options& options, const Cases& cases) {
  if (!options.includes("cases")) return {};
  return {case_section("A", cases.a, 1, options), case_section("B", cases.b, 2, options)};
}

std::vector<Section> random_sections(const Options& options) {
  std::vector<Section> sections;
  const int n_models = options.quick ? std::min(options.n_models, 1) : options.n_models;
  for (const SyntheticFamily& family : earths::synthetic_families()) {
    if (!options.includes(family.name)) continue;
    for (int number = 0; number < n_models; ++number)
      sections.push_back(random_section(family.name, number, options));
  }
  return sections;
}

}  // namespace

std::vector<Part> plan(const Options& options, const Cases& cases) {
  const Settings of_random{.mesh_coarsen = options.quick ? quick_coarsen : random_coarsen};
  std::vector<Part> parts{{options.quick ? light_cells : DomainCells{},
                           options.quick ? of_random : Settings{}, case_sections(options, cases)},
                          {light_cells, of_random, random_sections(options)}};
  std::erase_if(parts, [](const Part& part) { return part.sections.empty(); });
  return parts;
}

}  // namespace lodestone::models::study
