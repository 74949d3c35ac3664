// SPDX-License-Identifier: Apache-2.0
#include "models/earths/synthetic.hpp"
#include "models/study/results.hpp"
#include "models/study/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::models::study {
namespace {

using earths::SyntheticFamily;

std::string start_of(const Entry& entry) {
  if (entry.start == Start::soundings) return "soundings";
  if (entry.method == Method::gaussian) return "100 encoded";
  return entry.method == Method::feature || entry.start == Start::decoded ? "Dec(Enc(100))" : "100 ohm m";
}

std::string whole(double value) { return std::isfinite(value) ? fmt::format("{:.0f}", value) : "-"; }

std::string case_line(const Entry& e) {
  const Figures& f = e.figures;
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
  const double ratio =
      median(entries, Method::pixel, &Figures::c) / median(entries, Method::feature, &Figures::c);
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
  for (const Entry& entry : entries) text += case_line(entry);
  return text + "\n";
}

std::string case_tables(const Entries& entries) {
  std::string text;
  for (const Published& reference : published) {
    std::vector<double> noises;
    const Entries all = of_case(entries, reference.section);
    for (const Entry& e : all) {
      if (std::ranges::find(noises, e.noise) == noises.end()) noises.push_back(e.noise);
    }
    for (const double noise : noises)
      text += case_table(reference, noise, only(all, [&](const Entry& e) { return e.noise == noise; }));
  }
  return text;
}

std::string variant_table(const Entries& entries) {
  const Entries changed = only(entries, [](const Entry& e) { return !e.variant.empty(); });
  if (changed.empty()) return "";
  std::string text =
      fmt::format("weights x10 and /10\n  {:<6}{:<10}{:<18}{:>9}{:>9}{:>9}{:>8}{:>5}{:>8}\n", "case",
                  "method", "weight", "chi rms", "err DoI", "err RoI", "SSIM", "it", "s");
  const Entries shown = only(entries, [&](const Entry& e) {
    return e.family.empty() && e.start == Start::half_space && e.noise == changed.front().noise;
  });
  for (const Entry& e : shown) {
    const Figures& f = e.figures;
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
  using F = Figures;
  std::string text = fmt::format("{}: {}; {} models, noise {:g} %, medians and [quartiles]\n", family.name,
                                 family.description, figures_of(entries, Method::pixel, &F::c).size(),
                                 100.0 * entries.front().noise);
  text += fmt::format("  {:<10}{:<24}{:<22}{:<22}{:<24}{:<15}{:<15}{:<17}{}\n", "method", "err RoI", "SSIM",
                      "chi rms", "err DoI", "iterations", "Jacobians", "s", "polished");
  for (const Method method : {Method::pixel, Method::gaussian, Method::feature}) {
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

}  // namespace

core::Table entry_table(const Entries& entries) {
  core::Table table;
  for (const char* name : {"section", "family", "method", "start", "variant"}) table.add_texts(name);
  table.add_numbers("noise", "");
  for (const FigureName& each : figure_names()) table.add_numbers(each.name, each.units);
  for (const Entry& e : entries) {
    std::vector<core::Table::Cell> row{
        e.section, e.family, std::string(core::word(e.method)), std::string(core::word(e.start)),
        e.variant, e.noise};
    for (const FigureName& each : figure_names()) row.emplace_back(e.figures.*each.figure);
    table.append_row(row);
  }
  return table;
}

std::string tables_in_text(const Entries& entries) {
  std::string text = case_tables(entries) + variant_table(entries);
  for (const SyntheticFamily& family : earths::synthetic_families()) {
    const Entries all = of_family(entries, family.name);
    if (!all.empty()) text += family_table(family, all);
  }
  return text;
}

}  // namespace lodestone::models::study
