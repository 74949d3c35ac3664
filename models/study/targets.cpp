// SPDX-License-Identifier: Apache-2.0
#include "models/earths/synthetic.hpp"
#include "models/study/results.hpp"
#include "models/study/selection.hpp"

#include <fmt/format.h>

namespace lodestone::models::study {
namespace {

using earths::SyntheticFamily;

core::Comparison near_to(std::string what, double reference, double ours, double limit) {
  return {.what = std::move(what),
          .reference = reference,
          .ours = ours,
          .limit = limit,
          .difference = ours - reference};
}
core::Comparison at_most(std::string what, double bound, double ours, bool judged) {
  return {.what = std::move(what),
          .reference = bound,
          .ours = ours,
          .difference = ours <= bound ? 0.0 : ours - bound,
          .judged = judged};
}
core::Comparison at_least(std::string what, double bound, double ours, bool judged) {
  return {.what = std::move(what),
          .reference = bound,
          .ours = ours,
          .difference = ours >= bound ? 0.0 : bound - ours,
          .judged = judged};
}

void add_case(const Published& reference, const Entries& entries, bool judge_all,
              std::vector<core::Comparison>& rows) {
  for (const Entry& e : entries) {
    const std::string name =
        fmt::format("{} {:g} % {}{}", e.section, 100.0 * e.noise, core::word(e.method),
                    e.start == Start::half_space ? "" : ", " + std::string(core::word(e.start)));
    const Figures& f = e.figures;
    if (e.noise > 0.0) {
      rows.push_back(near_to(name + " chi rms", 1.0, f.chi_rms, 0.05));
      rows.push_back(at_least(name + " c, 0.93 floor", 0.93 * f.floor, f.c, true));
    }
    if (e.method == Method::feature && e.noise <= 0.011) {
      const bool judged = judge_all && e.start == Start::soundings && f.floor < reference.feature_c;
      rows.push_back(at_most(name + " c in 4 iterations", reference.feature_c, f.c_4_iterations, judged));
    }
  }
}

void add_family(const SyntheticFamily& family, const Entries& entries, bool judge_all,
                std::vector<core::Comparison>& rows) {
  using enum Method;
  const auto error = [&](Method method) { return median(entries, method, &Figures::error_region); };
  const auto similarity = [&](Method method) { return median(entries, method, &Figures::similarity_region); };
  if (!family.in_prior) {
    rows.push_back(
        at_most(family.name + " error, 1.05 pixel", 1.05 * error(pixel), error(feature), judge_all));
    return;
  }
  rows.push_back(
      at_most(family.name + " error, half of pixel", 0.5 * error(pixel), error(feature), judge_all));
  rows.push_back(
      at_least(family.name + " SSIM, pixel + 0.1", similarity(pixel) + 0.1, similarity(feature), judge_all));
  rows.push_back(at_most(family.name + " error, Gaussian", error(gaussian), error(feature), judge_all));
  rows.push_back(
      at_least(family.name + " SSIM, Gaussian", similarity(gaussian), similarity(feature), judge_all));
}

}  // namespace

std::vector<core::Comparison> targets(const Entries& entries, bool judge_all) {
  std::vector<core::Comparison> rows;
  for (const Published& reference : published)
    add_case(reference, of_case(entries, reference.section), judge_all, rows);
  for (const SyntheticFamily& family : earths::synthetic_families()) {
    const Entries all = of_family(entries, family.name);
    if (!all.empty()) add_family(family, all, judge_all, rows);
  }
  return rows;
}

}  // namespace lodestone::models::study
