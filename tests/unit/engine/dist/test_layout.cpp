// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/random_layouts.hpp"

#include <fmt/format.h>

#include <fstream>
#include <set>
#include <sstream>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> result;
  std::size_t begin = 0;
  for (std::size_t end = line.find(" | "); end != std::string::npos; end = line.find(" | ", begin)) {
    result.push_back(line.substr(begin, end - begin));
    begin = end + 3;
  }
  result.push_back(line.substr(begin));
  return result;
}

template <class Action>
std::string id_of(const Action& action) {
  return tests::error_of<core::InvalidArgument>(action).id();
}

/// Reads "x=2 y=3/6".
DeviceMesh mesh_from(const std::string& text) {
  std::vector<MeshAxis> axes;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('='), slash = word.find('/');
    axes.push_back({word.substr(0, equals), std::stoi(word.substr(equals + 1)),
                    slash == std::string::npos ? 0 : std::stoi(word.substr(slash + 1))});
  }
  return DeviceMesh(axes);
}

Shape shape_from(const std::string& text) {
  Shape shape;
  std::istringstream words(text);
  for (Dim extent = 0; words >> extent;) shape.push_back(extent);
  return shape;
}

/// Returns a box as the file writes it.
std::string as_in_file(const Box& box) {
  if (box.is_empty()) return "none";
  std::string result;
  for (int axis = 0; axis < box.rank(); ++axis)
    result += fmt::format("{}{}:{}", axis == 0 ? "" : " ", box.first[axis], box.end(axis));
  return result.empty() ? "all" : result;
}

}  // namespace

TEST_CASE("layouts: the boxes of all cases in the file", "[engine]") {
  std::ifstream file(LODESTONE_SOURCE_DIR "/tests/data/layouts.txt");
  int n_cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    INFO(line);
    const std::vector<std::string> parts = parts_of(line);
    const DeviceMesh mesh = mesh_from(parts.at(0));
    const Shape shape = shape_from(parts[1]);
    const MeshLayout layout = layout_from(parts[2], mesh);
    CHECK(text_of(layout, mesh) == parts[2]);
    REQUIRE(std::ssize(parts) == 3 + mesh.size());
    for (const int rank : mesh.ranks())
      CHECK(as_in_file(box_of(layout, shape, mesh, rank)) == parts[3 + static_cast<std::size_t>(rank)]);
    ++n_cases;
  }
  CHECK(n_cases >= 200);
}

TEST_CASE("layouts: pieces tile a tensor exactly once, and texts give layouts back", "[engine]") {
  RandomLayouts random(1);
  std::int64_t n_boxes = 0, n_empty = 0;
  for (int i = 0; i < 5000; ++i) {
    const DeviceMesh mesh = random.mesh(64);
    const Shape shape = random.shape(4, 9);
    MeshLayout layout = random.layout(shape, mesh, random.chance(0.3) ? Terms::max : Terms::no);
    if (random.chance(0.1)) layout.memory = Memory::host;
    for (Cut& cut : layout.cuts) {
      if (cut.axes.empty()) cut.grain = 1;
    }
    const std::string text = text_of(layout, mesh);
    INFO(i << ": " << text << " of " << shape.text() << " on " << mesh.text());
    REQUIRE(layout_from(text, mesh) == layout);
    REQUIRE(text_of(layout_from(text, mesh), mesh) == text);
    std::set<std::string> seen;
    std::vector<int> n_owners(static_cast<std::size_t>(shape.count()), 0);
    for (const int rank : mesh.ranks()) {
      const Box box = box_of(layout, shape, mesh, rank);
      REQUIRE(Box::whole(shape).contains(box));
      ++n_boxes;
      n_empty += box.is_empty() ? 1 : 0;
      if (box.is_empty() || !seen.insert(box.text()).second) continue;
      for_indices(box, [&](const IntList& index) { ++n_owners[place_in(Box::whole(shape), index)]; });
    }
    REQUIRE(std::count(n_owners.begin(), n_owners.end(), 1) == shape.count());
    REQUIRE(same_places(layout, layout, shape, mesh));
  }
  CHECK(n_empty > 1000);
  CHECK(n_boxes - n_empty > 10000);
}

TEST_CASE("layouts: ranks that share a cut hold as many copies as the other axes have ranks", "[engine]") {
  const DeviceMesh mesh({{"x", 2}, {"y", 3}}, {10, 11, 12, 20, 21, 22}, {0, 0, 0, 1, 1, 1});
  const MeshLayout layout = layout_from("[whole, y]", mesh);
  CHECK(box_of(layout, {4, 7}, mesh, 11) == Box{{0, 2}, {4, 2}});
  CHECK(box_of(layout, {4, 7}, mesh, 21) == Box{{0, 2}, {4, 2}});
  CHECK(mesh.group(21, {0}) == std::vector<int>{11, 21});
  CHECK(mesh.group(21, {1}) == std::vector<int>{20, 21, 22});
  CHECK(mesh.group(21, {1, 0}) == std::vector<int>{10, 20, 11, 21, 12, 22});
  CHECK(mesh.group(21, {}) == std::vector<int>{21});
  CHECK(mesh.index_along(21, {1, 0}) == 3);
  CHECK(mesh.point_of(12) == IntList{0, 2});
  CHECK(mesh.rank_at({1, 0}) == 20);
  CHECK(mesh.node_of(20) == 1);
  CHECK(mesh.contains(22));
  CHECK_FALSE(mesh.contains(0));
  CHECK(mesh.text() == "x=2, y=3 on ranks 10 11 12 20 21 22");
  CHECK(DeviceMesh({{"x", 2, 8}}).text() == "x=2/8");
  CHECK(DeviceMesh().size() == 1);
}

TEST_CASE("layouts: a grain keeps a cut through a reshape, and boundaries decide what is equal", "[engine]") {
  const DeviceMesh mesh({{"x", 4}});
  const MeshLayout rows = layout_from("[x, whole]", mesh), flat = layout_from("[x by 4]", mesh);
  for (const int rank : mesh.ranks()) {
    const Box of_rows = box_of(rows, {6, 4}, mesh, rank), of_flat = box_of(flat, {24}, mesh, rank);
    CHECK(of_rows.first[0] * 4 == of_flat.first[0]);
    CHECK(of_rows.count() == of_flat.count());
  }
  const MeshLayout plain = layout_from("[x]", mesh);
  CHECK(same_places(plain, flat, {32}, mesh));
  CHECK_FALSE(same_places(plain, flat, {24}, mesh));
  CHECK_FALSE(same_places(plain, layout_from("[x], on host", mesh), {32}, mesh));
  CHECK(same_places(plain, layout_from("[whole]", mesh), {0}, mesh));
}

TEST_CASE("layouts: what is no mesh and no layout is refused", "[engine]") {
  const auto refuses_mesh = [](std::vector<MeshAxis> axes, std::vector<int> ranks, std::vector<int> nodes) {
    return id_of([&] { (void)DeviceMesh(std::move(axes), std::move(ranks), std::move(nodes)); });
  };
  CHECK(refuses_mesh({{"whole", 2}}, {}, {}) == "wrong_name");
  CHECK(refuses_mesh({{"a b", 2}}, {}, {}) == "wrong_name");
  CHECK(refuses_mesh({{"x", 2}, {"x", 2}}, {}, {}) == "same_name");
  CHECK(refuses_mesh({{"x", 0}}, {}, {}) == "wrong_size");
  CHECK(refuses_mesh({{"x", 4, 3}}, {}, {}) == "wrong_size");
  CHECK(refuses_mesh({{"x", 2}}, {1}, {}) == "wrong_ranks");
  CHECK(refuses_mesh({{"x", 2}}, {1, 1}, {}) == "same_rank");
  CHECK(refuses_mesh({{"x", 2}}, {1, -1}, {}) == "negative_rank");
  CHECK(refuses_mesh({{"x", 2}}, {}, {0}) == "wrong_nodes");
  CHECK(refuses_mesh(std::vector<MeshAxis>(9, {"x", 1}), {}, {}) == "too_many_axes");

  const DeviceMesh mesh({{"x", 2}, {"y", 2}});
  const auto refuses = [&](const std::string& text, const Shape& shape) {
    return id_of([&] { (void)box_of(layout_from(text, mesh), shape, mesh, 0); });
  };
  CHECK(refuses("[x, x]", {4, 4}) == "axis_used_twice");
  CHECK(refuses("[x*x]", {4}) == "axis_used_twice");
  CHECK(refuses("[x], sum over x", {4}) == "axis_used_twice");
  CHECK(refuses("[x]", {4, 4}) == "wrong_axes");
  CHECK(refuses("[z]", {4}) == "no_such_axis");
  CHECK(refuses("[whole by 2]", {4}) == "no_such_axis");
  for (const char* text : {"", "x", "[x", "[x by 1]", "[x by 2x]", "[x by ]", "[x] on host", "[x], no over y",
                           "[x], sum", "[x], on hosts"})
    CHECK(refuses(text, {4}) == "not_understood");
  CHECK(id_of([&] { (void)box_of(layout_from("[x]", mesh), {4}, mesh, 4); }) == "no_such_rank");
  CHECK(id_of([&] { check_layout({{{{}, 2}}, {Terms::no, Terms::no}}, {4}, mesh); }) == "grain_of_nothing");
  CHECK(id_of([&] { check_layout({{{{0}, 0}}, {Terms::no, Terms::no}}, {4}, mesh); }) == "wrong_grain");
}

TEST_CASE("boxes: intersections and differences have the elements that they should", "[engine]") {
  RandomLayouts random(2);
  const auto box = [&](int rank) {
    Box result;
    for (int axis = 0; axis < rank; ++axis) {
      result.first.push_back(random.integer(0, 4));
      result.shape.push_back(random.integer(0, 4));
    }
    return result;
  };
  for (int i = 0; i < 1000; ++i) {
    const int rank = random.integer(0, 3);
    const Box a = box(rank), b = box(rank), both = intersection(a, b);
    const std::vector<Box> rest = difference(a, b);
    INFO(a.text() << " and " << b.text());
    const auto has = [](const Box& one, const IntList& index) {
      bool inside = true;
      for (int axis = 0; axis < one.rank(); ++axis)
        inside = inside && one.first[axis] <= index[axis] && index[axis] < one.end(axis);
      return inside;
    };
    std::int64_t n_in_b = 0;
    for_indices(a, [&](const IntList& index) {
      n_in_b += has(b, index) ? 1 : 0;
      REQUIRE(has(both, index) == has(b, index));
      const auto n = std::count_if(rest.begin(), rest.end(), [&](const Box& r) { return has(r, index); });
      REQUIRE(n == (has(b, index) ? 0 : 1));
    });
    CHECK(both.count() == n_in_b);
    CHECK(a.contains(both));
    for (const Box& each : rest) CHECK((a.contains(each) && !each.is_empty()));
    CHECK(within(both, both).first == IntList::filled(rank, 0));
  }
  CHECK(Box{{1, 2}, {3, 4}}.text() == "[1:4, 2:6]");
  CHECK(Box::whole({}).count() == 1);
}
