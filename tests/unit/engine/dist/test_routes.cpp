// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/dist/layout/patterns.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/random_layouts.hpp"

#include <map>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

using Arrays = std::map<int, std::vector<double>>;  // of each rank, its box row-major

/// Returns the number of an element of a whole tensor, and of the term in it that a part has.
double element(const Box& whole, const IntList& index, int part) {
  return static_cast<double>(place_in(whole, index)) + 1000.0 * part;
}

Arrays arrays_of(const std::vector<Holding>& holdings, const Box& whole) {
  Arrays arrays;
  for (const Holding& each : holdings) {
    auto& array = arrays[each.rank];
    for_indices(each.box, [&](const IntList& index) { array.push_back(element(whole, index, each.part)); });
  }
  return arrays;
}

/// Runs the moves of a step on arrays, elements of which occur exactly as often as the step has parts.
Arrays after(const RouteStep& step, const Arrays& before) {
  Arrays result;
  std::map<int, Box> from, to;
  std::map<int, std::vector<int>> n_writes;
  for (const Holding& each : step.from) from[each.rank] = each.box;
  for (const Holding& each : step.to) {
    to[each.rank] = each.box;
    result[each.rank].resize(static_cast<std::size_t>(each.box.count()));
    n_writes[each.rank].resize(static_cast<std::size_t>(each.box.count()));
  }
  for (const Move& move : step.moves) {
    REQUIRE(from.at(move.from).contains(move.box));
    REQUIRE(to.at(move.to).contains(move.box));
    for_indices(move.box, [&](const IntList& index) {
      const std::size_t at = place_in(to[move.to], index);
      result[move.to][at] += before.at(move.from)[place_in(from[move.from], index)];
      ++n_writes[move.to][at];
    });
  }
  const int times = step.combine == Terms::no ? 1 : step.n_parts;
  for (const auto& [_, counts] : n_writes) {
    for (const int count : counts) REQUIRE(count == times);
  }
  return result;
}

std::map<int, Box> boxes_of(const std::vector<Holding>& holdings) {
  std::map<int, Box> result;
  for (const Holding& each : holdings) result[each.rank] = each.box;
  return result;
}

/// Returns how many elements a rank is to have that it has not, counted one by one.
std::int64_t lacking(const Box& box, const Box* has) {
  std::int64_t n = 0;
  for_indices(box, [&](const IntList& index) {
    const Box one{index, IntList::filled(index.size(), 1)};
    n += has != nullptr && has->contains(one) ? 0 : 1;
  });
  return n;
}

/// Returns what the busiest rank sends or receives at least: what it lacks, and what one of the holders of a
/// piece sends. Of m holders and boxes that are not divided, one sends k + 1 of the k m + 1 largest.
double least_busiest(const RouteStep& step) {
  const std::map<int, Box> from = boxes_of(step.from);
  std::int64_t result = 0;
  std::map<std::string, std::pair<std::int64_t, std::vector<std::int64_t>>> pieces;  // holders, boxes wanted
  for (const auto& [rank, box] : from) {
    if (!box.is_empty()) ++pieces[box.text()].first;
  }
  for (const Holding& target : step.to) {
    const auto own = from.find(target.rank);
    result = std::max(result, lacking(target.box, own == from.end() ? nullptr : &own->second));
  }
  for (const Move& move : step.moves) {
    if (move.from != move.to) pieces[from.at(move.from).text()].second.push_back(move.box.count());
  }
  for (auto& [_, piece] : pieces) {
    auto& [n_holders, counts] = piece;
    std::sort(counts.rbegin(), counts.rend());
    const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    result = std::max(result, (total + n_holders - 1) / n_holders);
    for (std::size_t k = 0; k * static_cast<std::size_t>(n_holders) < counts.size(); ++k)
      result = std::max(result,
                        static_cast<std::int64_t>(k + 1) * counts[k * static_cast<std::size_t>(n_holders)]);
  }
  return static_cast<double>(result);
}

double busiest(const RouteStep& step) {
  std::int64_t result = 0;
  for (const auto& [_, traffic] : traffic_of(step))
    result = std::max({result, traffic.sent, traffic.received});
  return static_cast<double>(result);
}

Placement placed(const std::string& layout, const DeviceMesh& mesh) {
  return {layout_from(layout, mesh), mesh};
}

Pattern pattern_between(const std::string& from, const std::string& to, const DeviceMesh& mesh,
                        const Shape& shape) {
  const std::vector<RouteStep> steps = route(placed(from, mesh), placed(to, mesh), shape);
  REQUIRE(steps.size() == 1);
  return pattern_of(steps[0]);
}

}  // namespace

TEST_CASE("routes: ranks get what they lack once, and hold the right elements", "[engine]") {
  RandomLayouts random(3);
  int n_collective = 0, n_exchange = 0, n_above = 0;
  double worst = 1.0;
  for (int i = 0; i < 5000; ++i) {
    const Shape shape = random.shape(4, 9);
    const DeviceMesh mesh = random.mesh(24), other = random.chance(0.5) ? mesh : random.mesh(24);
    const Placement from{random.layout(shape, mesh), mesh}, to{random.layout(shape, other), other};
    INFO(i << ": " << shape.text() << " from " << text_of(from.layout, mesh) << " on " << mesh.text()
           << " to " << text_of(to.layout, other) << " on " << other.text());
    const std::vector<RouteStep> steps = route(from, to, shape);
    REQUIRE(steps.size() == 1);
    const RouteStep& step = steps[0];
    const Box whole = Box::whole(shape);
    REQUIRE(after(step, arrays_of(step.from, whole)) == arrays_of(step.to, whole));
    const std::map<int, Box> has = boxes_of(step.from);
    std::map<int, Traffic> traffic = traffic_of(step);
    for (const Holding& target : step.to) {
      const auto own = has.find(target.rank);
      REQUIRE(traffic[target.rank].received ==
              lacking(target.box, own == has.end() ? nullptr : &own->second));
    }
    const double least = least_busiest(step);
    const double ratio = least == 0.0 ? 1.0 : busiest(step) / least;
    const Pattern pattern = pattern_of(step);
    REQUIRE((pattern == Pattern::slice) == (least == 0.0));
    if (pattern != Pattern::slice && pattern != Pattern::exchange) {
      ++n_collective;
      REQUIRE(ratio <= 1.1);
    }
    n_exchange += pattern == Pattern::exchange ? 1 : 0;
    n_above += ratio > 1.1 ? 1 : 0;
    worst = std::max(worst, ratio);
  }
  CHECK(n_collective > 500);
  CHECK(n_exchange > 500);
  CHECK(worst <= 2.0);
  WARN(n_collective << " collectives, " << n_exchange << " exchanges; busiest rank above 1.1 x its bound in "
                    << n_above << ", at most " << worst << " x");
}

TEST_CASE("routes: terms combine once each, within the bytes of a reduce-scatter and an all-gather",
          "[engine]") {
  RandomLayouts random(4);
  int n_single = 0, n_double = 0;
  for (int i = 0; i < 2000; ++i) {
    const Shape shape = random.shape(3, 9);
    const DeviceMesh mesh = random.mesh(16), other = random.chance(0.7) ? mesh : random.mesh(16);
    const Placement from{random.layout(shape, mesh, Terms::sum), mesh},
        to{random.layout(shape, other), other};
    INFO(i << ": " << shape.text() << " from " << text_of(from.layout, mesh) << " on " << mesh.text()
           << " to " << text_of(to.layout, other) << " on " << other.text());
    const std::vector<RouteStep> steps = route(from, to, shape);
    const Box whole = Box::whole(shape);
    Arrays arrays = arrays_of(steps[0].from, whole);
    for (const RouteStep& step : steps) arrays = after(step, arrays);
    const int n = steps[0].combine == Terms::no ? 1 : steps[0].n_parts;
    for (const Holding& target : steps.back().to) {
      std::size_t at = 0;
      for_indices(target.box, [&](const IntList& index) {
        REQUIRE(arrays.at(target.rank)[at++] == n * element(whole, index, 0) + 1000.0 * n * (n - 1) / 2);
      });
    }
    (steps.size() == 1 ? n_single : n_double) += 1;
  }
  CHECK(n_single > 500);
  CHECK(n_double > 200);
}

TEST_CASE("routes: terms of g ranks cost (g - 1) / g of a tensor to a cut, twice that to copies",
          "[engine]") {
  for (const int g : {2, 3, 4, 8}) {
    const DeviceMesh mesh({{"x", g}});
    const Shape shape{5, 24};
    const std::int64_t share = shape.count() / g * (g - 1);
    const std::vector<RouteStep> to_cut =
        route(placed("[whole, whole], sum over x", mesh), placed("[whole, x]", mesh), shape);
    REQUIRE(to_cut.size() == 1);
    CHECK(pattern_of(to_cut[0]) == Pattern::reduce_scatter);
    const std::vector<RouteStep> to_copies =
        route(placed("[whole, whole], sum over x", mesh), placed("[whole, whole]", mesh), shape);
    REQUIRE(to_copies.size() == 2);
    CHECK(pattern_of(to_copies[1]) == Pattern::all_gather);
    for (const int rank : mesh.ranks()) {
      for (const RouteStep* step : {&to_cut[0], &to_copies[1]}) {
        CHECK(traffic_of(*step)[rank].received == share);
        CHECK(traffic_of(*step)[rank].sent == share);
      }
    }
  }
  const DeviceMesh mesh({{"x", 2}, {"y", 2}});
  const auto refused = [&](const std::string& from, const std::string& to) {
    return tests::error_of<core::InvalidArgument>(
               [&] { (void)route(placed(from, mesh), placed(to, mesh), {4}); })
        .id();
  };
  CHECK(refused("[whole], sum over x, max over y", "[whole]") == "two_combinations");
  CHECK(refused("[whole]", "[whole], sum over x") == "other_terms");
  CHECK(refused("[whole], max over x", "[whole], sum over x") == "other_terms");
  const std::vector<RouteStep> kept =
      route(placed("[y], sum over x", mesh), placed("[whole], sum over x", mesh), {4});
  REQUIRE(kept.size() == 1);
  for (const Move& move : kept[0].moves) CHECK(move.from / 2 == move.to / 2);
}

TEST_CASE("routes: the patterns that one collective serves are recognized", "[engine]") {
  const DeviceMesh mesh({{"x", 2}, {"y", 3}});
  const Shape shape{12, 12};
  CHECK(pattern_between("[whole, whole]", "[x, y]", mesh, shape) == Pattern::slice);
  CHECK(pattern_between("[x, whole]", "[x*y, whole]", mesh, shape) == Pattern::slice);
  CHECK(pattern_between("[x, y]", "[x, whole]", mesh, shape) == Pattern::all_gather);
  CHECK(pattern_between("[x, y]", "[whole, y]", mesh, shape) == Pattern::all_gather);
  CHECK(pattern_between("[x*y, whole]", "[whole, whole]", mesh, shape) == Pattern::all_gather);
  CHECK(pattern_between("[x, whole]", "[whole, whole]", mesh, shape) == Pattern::all_gather);
  CHECK(pattern_between("[y, whole]", "[whole, y]", mesh, shape) == Pattern::all_to_all);
  CHECK(pattern_between("[x, y]", "[x*y, whole]", mesh, shape) == Pattern::all_to_all);
  CHECK(pattern_between("[x*y, whole]", "[y*x, whole]", mesh, shape) == Pattern::permute);
  CHECK(pattern_between("[x, whole]", "[y, whole]", mesh, shape) == Pattern::exchange);

  const DeviceMesh line({{"x", 3}}), turned({{"x", 3}}, {2, 0, 1}), first({{"x", 1}}, {0}),
      apart({{"x", 3}}, {5, 6, 7});
  const auto between = [&](const std::string& from, const DeviceMesh& one, const std::string& to,
                           const DeviceMesh& other) {
    return pattern_of(route(placed(from, one), placed(to, other), {6})[0]);
  };
  CHECK(between("[x]", line, "[x]", turned) == Pattern::permute);
  CHECK(between("[x]", line, "[x]", apart) == Pattern::permute);
  CHECK(between("[x]", first, "[whole]", line) == Pattern::broadcast);
  CHECK(between("[x]", first, "[x]", line) == Pattern::exchange);  // a scatter
}

TEST_CASE("routes: halos have as many sources as they reach over, and holders on the same machine send first",
          "[engine]") {
  std::vector<Holding> from, to;
  for (int rank = 0; rank < 4; ++rank) {
    from.push_back({rank, {{2 * rank}, {2}}});
    const Dim begin = std::max(2 * rank - 3, 0), end = std::min(2 * rank + 5, 8);
    to.push_back({rank, {{begin}, {end - begin}}});
  }
  const RouteStep step = step_between(from, to);
  const std::vector<Move> of_first{{0, 0, {{0}, {2}}}, {1, 0, {{2}, {2}}}, {2, 0, {{4}, {1}}}};
  CHECK(std::vector<Move>(step.moves.begin(), step.moves.begin() + 3) == of_first);
  CHECK(after(step, arrays_of(from, Box::whole({8}))) == arrays_of(to, Box::whole({8})));
  CHECK(tests::error_of<core::InvalidArgument>([&] {
          (void)step_between({from[0], from[1]}, to);
        }).id() == "not_held");

  const DeviceMesh mesh({{"copy", 2}, {"x", 2}}, {}, {0, 0, 1, 1});
  const std::vector<RouteStep> steps = route(placed("[x]", mesh), placed("[whole]", mesh), {6});
  for (const Move& move : steps[0].moves) CHECK(mesh.node_of(move.from) == mesh.node_of(move.to));
  const DeviceMesh across({{"copy", 2}, {"x", 2}}, {}, {0, 1, 1, 0});
  const std::vector<RouteStep> crossed = route(placed("[x]", across), placed("[whole]", across), {6});
  for (const Move& move : crossed[0].moves) CHECK(across.node_of(move.from) == across.node_of(move.to));
}
