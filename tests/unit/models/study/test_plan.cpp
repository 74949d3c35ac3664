// SPDX-License-Identifier: Apache-2.0
#include "models/earths/synthetic.hpp"
#include "models/study/study.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::models;

namespace {

const study::Cases cases{"text of A", "text of B"};

std::size_t count(const study::Section& section, study::Start start) {
  return static_cast<std::size_t>(std::ranges::count(section.entries, start, &study::Entry::start));
}

}  // namespace

TEST_CASE("study: the plan is the two cases and the models of each family, every method on each",
          "[models]") {
  const std::vector<study::Part> parts = study::plan({.n_models = 3}, cases);
  REQUIRE(parts.size() == 2);
  REQUIRE(parts[0].sections.size() == 2);
  CHECK(parts[0].sections[1].model == "text of B");
  CHECK(parts[0].sections[0].refine() == 2.0);
  CHECK(count(parts[0].sections[0], study::Start::decoded) == 3);    // noise of 0, 1 and 5 %
  CHECK(count(parts[0].sections[0], study::Start::soundings) == 6);  // not at 5 %
  CHECK(parts[1].sections.size() == 3 * earths::synthetic_families().size());
  CHECK(parts[1].cells.column_m == study::light_cells.column_m);
  CHECK(parts[1].sections[4].entries.size() == 3);
  CHECK(parts[1].sections[4].model == earths::synthetic_model(parts[1].sections[4].family, 1));
}

TEST_CASE("study: options leave out parts, and add variants to the cases", "[models]") {
  const std::vector<study::Part> none = study::plan({.n_models = 0, .only = {"wedge"}}, cases);
  CHECK(none.empty());
  const std::vector<study::Part> wedges = study::plan({.tm = true, .n_models = 2, .only = {"wedge"}}, cases);
  REQUIRE(wedges.size() == 1);
  CHECK(wedges[0].sections.size() == 2);
  CHECK(wedges[0].sections[1].survey.tm);
  const std::vector<study::Part> quick =
      study::plan({.quick = true, .sweep = true, .only = {"cases"}}, cases);
  REQUIRE(quick.size() == 1);
  const auto& entries = quick[0].sections[0].entries;
  CHECK(std::ranges::all_of(entries, [](const study::Entry& entry) { return entry.noise == 0.05; }));
  CHECK(std::ranges::count(entries, "code x10", &study::Entry::variant) == 2);
  CHECK(std::ranges::count(entries, "horizontal /10", &study::Entry::variant) == 3);
}
