// SPDX-License-Identifier: Apache-2.0
#include "models/study/results.hpp"
#include "models/study/selection.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::models;
using Catch::Contains;

namespace {

study::Entry entry(const std::string& section, const std::string& family, study::Method method, double error,
                   double similarity) {
  study::Entry result{.section = section, .family = family, .method = method};
  result.figures.error_region = error;
  result.figures.similarity_region = similarity;
  result.figures.chi_rms = 1.0;
  result.figures.floor = result.figures.c = 0.0046;
  result.figures.c_4_iterations = 0.005;
  return result;
}

const core::Comparison& row_of(const std::vector<core::Comparison>& rows, const std::string& what) {
  const auto found = std::ranges::find(rows, what, &core::Comparison::what);
  REQUIRE(found != rows.end());
  return *found;
}

}  // namespace

TEST_CASE("quantiles are linear between the sorted values", "[models]") {
  CHECK(study::quantile({3.0, 1.0, 2.0}, 0.5) == 2.0);
  CHECK(study::quantile({4.0, 1.0, 2.0, 3.0}, 0.25) == Approx(1.75));
  CHECK(study::quantile({7.0}, 0.75) == 7.0);
  CHECK(std::isnan(study::quantile({}, 0.5)));
}

TEST_CASE("study: targets are met or missed by the medians, and a figure that is not a number never passes",
          "[models]") {
  using enum study::Method;
  std::vector<study::Entry> entries;
  for (int i = 0; i < 3; ++i) {
    const std::string name = fmt::format("wedge {}", i);
    entries.push_back(entry(name, "wedge", pixel, 0.20 + 0.1 * i, 0.50));
    entries.push_back(entry(name, "wedge", gaussian, 0.16, 0.58));
    entries.push_back(entry(name, "wedge", feature, 0.12 + 0.02 * i, 0.62));
    entries.push_back(entry(name, "rimmed", pixel, 0.30, 0.4));
    entries.push_back(entry(name, "rimmed", feature, 0.32, 0.4));
  }
  entries.push_back(entry("A", "", feature, 0.1, 0.9));
  auto rows = study::targets(entries, true);
  CHECK(row_of(rows, "wedge error, half of pixel").passed());  // 0.14 against 0.15
  CHECK(row_of(rows, "wedge SSIM, pixel + 0.1").passed());
  CHECK(row_of(rows, "wedge error, Gaussian").passed());
  CHECK(row_of(rows, "rimmed error, 1.05 pixel").difference == Approx(0.005));
  CHECK_FALSE(row_of(rows, "rimmed error, 1.05 pixel").passed());
  CHECK(row_of(rows, "A 1 % feature chi rms").passed());
  CHECK(row_of(rows, "A 1 % feature c in 4 iterations").passed());
  CHECK_FALSE(row_of(study::targets(entries, false), "rimmed error, 1.05 pixel").judged);

  entries.back().figures.c = 0.92 * 0.0046;
  entries.back().figures.chi_rms = 1.06;
  entries[2].figures.error_region = std::numeric_limits<double>::quiet_NaN();
  entries[7].figures.error_region = entries[12].figures.error_region = entries[2].figures.error_region;
  rows = study::targets(entries, true);
  CHECK_FALSE(row_of(rows, "A 1 % feature c, 0.93 floor").passed());
  CHECK_FALSE(row_of(rows, "A 1 % feature chi rms").passed());
  CHECK_FALSE(row_of(rows, "wedge error, half of pixel").passed());

  entries.back().figures.floor = 0.006;  // noise above the published residual: nothing to judge
  CHECK_FALSE(row_of(study::targets(entries, true), "A 1 % feature c in 4 iterations").judged);
}

TEST_CASE(
    "study: the tables show every run beside the published figures, and the families' medians with "
    "quartiles",
    "[models]") {
  using enum study::Method;
  std::vector<study::Entry> entries{entry("A", "", pixel, 0.21, 0.5), entry("A", "", feature, 0.11, 0.7)};
  entries.push_back(entries.back());
  entries.back().variant = "code x10";
  for (int i = 0; i < 5; ++i) entries.push_back(entry("blocks", "blocks", pixel, 0.1 * (i + 1), 0.5));
  const std::string text = study::tables_in_text(entries);
  CHECK_THAT(text, Contains("case A, noise 1 %: noise floor of c 0.00460; published c 0.0056 (feature, 4 "
                            "iterations), 0.023 (pixel, 6)"));
  CHECK_THAT(text, Contains("100 ohm m") && Contains("Dec(Enc(100))") && Contains("code x10"));
  CHECK_THAT(text, Contains("0.3000 [0.2000 0.4000]"));
  const core::Table table = study::entry_table(entries);
  CHECK(table.n_rows() == entries.size());
  CHECK(table.texts("variant")[2] == "code x10");
  CHECK(table.texts("method")[1] == "feature");
  CHECK(table.numbers("error_region")[1] == 0.11);
  CHECK(table.units("seconds") == "s");
}
