// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/study/contest.hpp"
#include "apps/mt_invert/study/study.hpp"
#include "models/earths/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::mt_invert::study {
namespace {

using models::earths::synthetic_families;
using models::earths::SyntheticFamily;
using Entries = std::vector<ContestEntry>;

/// Residuals and iterations as published. source: release announcement of MindSpore 2.3.RC1 for Zhou et al.
/// 2024; their order of cases.
struct Published {
  const char* section;
  double feature_c, pixel_c;
  int feature_iterations, pixel_iterations;
};
constexpr Published published[] = {{"A", 0.0056, 0.023, 4, 6}, {"B", 0.0054, 0.024, 4, 4}};

template <class Which>
Entries only(const Entries& entries, Which&& which) {
  Entries result;
  std::ranges::copy_if(entries, std::back_inserter(result), which);
  return result;
}

Entries of_family(const Entries& entries, const std::string& family) {
  return only(entries, [&](const ContestEntry& e) { return e.family == family && e.variant.empty(); });
}

std::vector<double> figures_of(const Entries& entries, SyntheticMethod method,
                               double SyntheticFigures::*figure) {
  std::vector<double> values;
  for (const ContestEntry& entry : entries) {
    if (entry.method == method && entry.start == SyntheticStart::half_space)
      values.push_back(entry.figures.*figure);
  }
  return values;
}

double median(const Entries& entries, SyntheticMethod method, double SyntheticFigures::*figure) {
  return quantile(figures_of(entries, method, figure), 0.5);
}

std::string start_of(const ContestEntry& entry) {
  if (entry.start == SyntheticStart::soundings) return "soundings";
  if (entry.method == SyntheticMethod::gaussian) return "100 encoded";
  return entry.method == SyntheticMethod::feature || entry.start == SyntheticStart::decoded ? "Dec(Enc(100))"
                                                                                            : "100 ohm m";
}

std::string whole(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : "-"; }

std::string case_line(const ContestEntry& e) {
  const SyntheticFigures& f = e.figures;
  return fmt::format(
      "  "
      "{:<9}{:<14}{:>8.5f}{:>10.2e}{:>9.5f}{:>9.5f}{:>8.3f}{:>8.4f}{:>8.4f}{:>7.3f}{:>4.0f}{:>5}{:>4.0f}{:>6."
      "0f}{:>8.0f}{:>7.1f}{}\n",
      core::word(e.method), start_of(e), f.c, f.c * f.c, f.c_4_iterations, f.c_8_jacobians, f.chi_rms,
      f.error_domain, f.error_region, f.similarity_region, f.iterations, whole(f.iterations_to_target),
      f.jacobians, f.forward_runs, f.solves, f.seconds,
      f.polished > 0.0 ? fmt::format("  polished from chi {:.3f}", f.chi_rms_before_polish) : "");
}

std::string case_table(const Published& reference, double noise, const Entries& entries) {
  const double ratio = median(entries, SyntheticMethod::pixel, &SyntheticFigures::c) /
                       median(entries, SyntheticMethod::feature, &SyntheticFigures::c);
  std::string text = fmt::format(
      "case {}, noise {:g} %: noise floor of c {:.5f}; published c {:.4f} (feature, {} iterations), {:.3f} "
      "(pixel, {}); pixel/feature "
      "{:.2f}, published {:.1f}\n",
      reference.section, 100.0 * noise, entries.front().figures.floor, reference.feature_c,
      reference.feature_iterations, reference.pixel_c, reference.pixel_iterations, ratio,
      reference.pixel_c / reference.feature_c);
  text +=
      fmt::format("  {:<9}{:<14}{:>8}{:>10}{:>9}{:>9}{:>8}{:>8}{:>8}{:>7}{:>4}{:>5}{:>4}{:>6}{:>8}{:>7}\n",
                  "method", "start", "c", "c^2", "c 4 it", "c 8 J", "chi rms", "err DoI", "err RoI", "SSIM",
                  "it", "to 1", "J", "runs", "solves", "s");
  for (const ContestEntry& entry : entries) text += case_line(entry);
  return text + "\n";
}

std::string case_tables(const Entries& entries) {
  std::string text;
  for (const Published& reference : published) {
    std::vector<double> noises;
    const Entries all = only(
        entries, [&](const ContestEntry& e) { return e.section == reference.section && e.variant.empty(); });
    for (const ContestEntry& e : all) {
      if (std::ranges::find(noises, e.noise) == noises.end()) noises.push_back(e.noise);
    }
    for (const double noise : noises)
      text +=
          case_table(reference, noise, only(all, [&](const ContestEntry& e) { return e.noise == noise; }));
  }
  return text;
}

std::string variant_table(const Entries& entries) {
  const Entries changed = only(entries, [](const ContestEntry& e) { return !e.variant.empty(); });
  if (changed.empty()) return "";
  std::string text =
      fmt::format("weights x10 and /10\n  {:<6}{:<10}{:<18}{:>9}{:>9}{:>9}{:>8}{:>5}{:>8}\n", "case",
                  "method", "weight", "chi rms", "err DoI", "err RoI", "SSIM", "it", "s");
  const Entries shown = only(entries, [&](const ContestEntry& e) {
    return e.family.empty() && e.start == SyntheticStart::half_space && e.noise == changed.front().noise;
  });
  for (const ContestEntry& e : shown) {
    const SyntheticFigures& f = e.figures;
    text += fmt::format("  {:<6}{:<10}{:<18}{:>9.3f}{:>9.4f}{:>9.4f}{:>8.3f}{:>5.0f}{:>8.1f}{}\n", e.section,
                        core::word(e.method), e.variant.empty() ? "as set" : e.variant, f.chi_rms,
                        f.error_domain, f.error_region, f.similarity_region, f.iterations, f.seconds,
                        f.polished > 0.0 ? "  polished" : "");
  }
  return text + "\n";
}

std::string with_quartiles(const std::vector<double>& values, int digits) {
  return fmt::format("{:.{}f} [{:.{}f} {:.{}f}]", quantile(values, 0.5), digits, quantile(values, 0.25),
                     digits, quantile(values, 0.75), digits);
}

std::string family_table(const SyntheticFamily& family, const Entries& entries) {
  using F = SyntheticFigures;
  std::string text = fmt::format(
      "{}: {}; {} models, noise {:g} %, medians and [quartiles]\n", family.name, family.description,
      figures_of(entries, SyntheticMethod::pixel, &F::c).size(), 100.0 * entries.front().noise);
  text += fmt::format("  {:<10}{:<24}{:<22}{:<22}{:<24}{:<15}{:<15}{:<17}{}\n", "method", "err RoI", "SSIM",
                      "chi rms", "err DoI", "iterations", "Jacobians", "s", "polished");
  for (const SyntheticMethod method :
       {SyntheticMethod::pixel, SyntheticMethod::gaussian, SyntheticMethod::feature}) {
    const auto cell = [&](double F::*figure, int digits) {
      return with_quartiles(figures_of(entries, method, figure), digits);
    };
    const auto polished = figures_of(entries, method, &F::polished);
    text += fmt::format("  {:<10}{:<24}{:<22}{:<22}{:<24}{:<15}{:<15}{:<17}{}\n", core::word(method),
                        cell(&F::error_region, 4), cell(&F::similarity_region, 3), cell(&F::chi_rms, 3),
                        cell(&F::error_domain, 4), cell(&F::iterations, 0), cell(&F::jacobians, 0),
                        cell(&F::seconds, 1), std::ranges::count(polished, 1.0));
  }
  return text + "\n";
}

selftest::SelftestRow row(std::string what, double reference, double ours, double difference, double limit,
                          bool judged) {
  return {.what = std::move(what),
          .units = "",
          .reference = reference,
          .ours = ours,
          .limit = limit,
          .difference = difference,
          .difference_units = "",
          .judged = judged};
}
selftest::SelftestRow at_most(std::string what, double bound, double ours, bool judged) {
  return row(std::move(what), bound, ours, ours <= bound ? 0.0 : ours - bound, 0.0, judged);
}
selftest::SelftestRow at_least(std::string what, double bound, double ours, bool judged) {
  return row(std::move(what), bound, ours, ours >= bound ? 0.0 : bound - ours, 0.0, judged);
}

void add_case_rows(const Published& reference, const Entries& entries, bool judge_all,
                   std::vector<selftest::SelftestRow>& rows) {
  for (const ContestEntry& e : entries) {
    const std::string name =
        fmt::format("{} {:g} % {}{}", e.section, 100.0 * e.noise, core::word(e.method),
                    e.start == SyntheticStart::half_space ? "" : ", " + std::string(core::word(e.start)));
    const SyntheticFigures& f = e.figures;
    if (e.noise > 0.0) {
      rows.push_back(row(name + " chi rms", 1.0, f.chi_rms, f.chi_rms - 1.0, 0.05, true));
      rows.push_back(at_least(name + " c, 0.93 floor", 0.93 * f.floor, f.c, true));
    }
    if (e.method == SyntheticMethod::feature && e.noise <= 0.011) {
      const bool judged = judge_all && e.start == SyntheticStart::soundings && f.floor < reference.feature_c;
      rows.push_back(at_most(name + " c in 4 iterations", reference.feature_c, f.c_4_iterations, judged));
    }
  }
}

void add_family_rows(const SyntheticFamily& family, const Entries& entries, bool judge_all,
                     std::vector<selftest::SelftestRow>& rows) {
  using enum SyntheticMethod;
  const auto error = [&](SyntheticMethod method) {
    return median(entries, method, &SyntheticFigures::error_region);
  };
  const auto similarity = [&](SyntheticMethod method) {
    return median(entries, method, &SyntheticFigures::similarity_region);
  };
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

double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::ranges::sort(values);
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (place - static_cast<double>(below)) * (values[above] - values[below]);
}

std::string contest_tables(const Entries& entries) {
  std::string text = case_tables(entries) + variant_table(entries);
  for (const SyntheticFamily& family : synthetic_families()) {
    const Entries all = of_family(entries, family.name);
    if (!all.empty()) text += family_table(family, all);
  }
  return text;
}

std::vector<selftest::SelftestRow> contest_rows(const Entries& entries, bool judge_all) {
  std::vector<selftest::SelftestRow> rows;
  for (const Published& reference : published)
    add_case_rows(
        reference,
        only(entries,
             [&](const ContestEntry& e) { return e.section == reference.section && e.variant.empty(); }),
        judge_all, rows);
  for (const SyntheticFamily& family : synthetic_families()) {
    const Entries all = of_family(entries, family.name);
    if (!all.empty()) add_family_rows(family, all, judge_all, rows);
  }
  return rows;
}

std::vector<selftest::SelftestRun> contest_runs(const Entries& entries) {
  std::vector<selftest::SelftestRun> runs;
  for (const ContestEntry& e : entries) {
    selftest::SelftestRun run{{{"section", e.section},
                               {"family", e.family},
                               {"method", std::string(core::word(e.method))},
                               {"start", std::string(core::word(e.start))},
                               {"variant", e.variant}},
                              {{"noise", e.noise}}};
    for (const FigureName& each : figure_names()) run.figures.emplace_back(each.name, e.figures.*each.figure);
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace lodestone::mt_invert::study
