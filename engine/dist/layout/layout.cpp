// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/layout/layout.hpp"

#include "engine/core/error.hpp"

#include <fmt/format.h>

#include <charconv>

namespace lodestone::engine {
namespace {

constexpr std::string_view by = " by ", over = " over ", on_host = "on host", whole = "whole";

const std::string& name_of(const DeviceMesh& mesh, Dim axis) {
  return mesh.axes()[static_cast<std::size_t>(axis)].name;
}

/// Notes that a mesh axis is used. errors: InvalidArgument if it does not exist, or is used already.
void use_axis(std::vector<bool>& used, Dim axis, const DeviceMesh& mesh) {
  if (axis < 0 || axis >= mesh.n_axes())
    throw core::InvalidArgument("MeshLayout#no_such_axis", "expected axes of the mesh ({}), got number {}",
                                mesh.text(), axis);
  if (used[static_cast<std::size_t>(axis)])
    throw core::InvalidArgument("MeshLayout#axis_used_twice",
                                "expected each mesh axis to cut one axis of the tensor or to be partial, got "
                                "\"{}\" twice",
                                name_of(mesh, axis));
  used[static_cast<std::size_t>(axis)] = true;
}

/// Returns the parts of a text between separators; one part where there are none.
std::vector<std::string_view> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string_view> result;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator)) {
    result.push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  result.push_back(text);
  return result;
}

[[noreturn]] void throw_not_understood(std::string_view part, std::string_view expected,
                                       std::string_view text) {
  throw core::InvalidArgument("MeshLayout#not_understood", "expected {}, got \"{}\" in \"{}\"", expected,
                              part, text);
}

Cut cut_from(std::string_view part, std::string_view text, const DeviceMesh& mesh) {
  Cut cut;
  if (part == whole) return cut;
  const std::size_t end = part.find(by);
  for (const std::string_view name : parts_of(part.substr(0, end), "*"))
    cut.axes.push_back(mesh.axis_named(name));
  if (end == std::string_view::npos) return cut;
  const std::string_view digits = part.substr(end + by.size());
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), cut.grain);
  // A grain of 1 is not written, so that each layout has one text.
  if (read.ec != std::errc{} || read.ptr != digits.data() + digits.size() || cut.grain < 2)
    throw_not_understood(digits, "a grain of 2 or more", text);
  return cut;
}

void read_ending(MeshLayout& layout, std::string_view part, std::string_view text, const DeviceMesh& mesh) {
  if (part == on_host) {
    layout.memory = Memory::host;
    return;
  }
  const std::size_t end = part.find(over);
  const auto how = core::find_word<Terms>(part.substr(0, end));
  if (end == std::string_view::npos || !how || *how == Terms::no)
    throw_not_understood(part,
                         "\"sum over\", \"max over\", \"min over\" or \"one over\" and an axis, or \"on "
                         "host\"",
                         text);
  layout.terms[static_cast<std::size_t>(mesh.axis_named(part.substr(end + over.size())))] = *how;
}

}  // namespace

MeshLayout whole_layout(int rank_of_tensor, const DeviceMesh& mesh) {
  return {std::vector<Cut>(static_cast<std::size_t>(rank_of_tensor)),
          std::vector<Terms>(static_cast<std::size_t>(mesh.n_axes()), Terms::no)};
}

void check_layout(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh) {
  if (std::ssize(layout.cuts) != shape.rank() || std::ssize(layout.terms) != mesh.n_axes())
    throw core::InvalidArgument("MeshLayout#wrong_axes",
                                "expected cuts of {} axes of a tensor {} on a mesh of {} axes, got {} and {}",
                                shape.rank(), shape.text(), mesh.n_axes(), layout.cuts.size(),
                                layout.terms.size());
  std::vector<bool> used(layout.terms.size());
  for (const Cut& cut : layout.cuts) {
    if (cut.grain < 1)
      throw core::InvalidArgument("MeshLayout#wrong_grain", "expected a grain of 1 or more, got {}",
                                  cut.grain);
    if (cut.axes.empty() && cut.grain != 1)
      throw core::InvalidArgument("MeshLayout#grain_of_nothing",
                                  "expected a grain of 1 where no mesh axis cuts, got {}", cut.grain);
    for (const Dim axis : cut.axes) use_axis(used, axis, mesh);
  }
  for (int axis = 0; axis < mesh.n_axes(); ++axis) {
    if (layout.terms[static_cast<std::size_t>(axis)] != Terms::no) use_axis(used, axis, mesh);
  }
}

std::vector<Dim> boundaries(Dim extent, int n, int shards, Dim grain) {
  std::vector<Dim> result;
  for (int i = 0; i < n; ++i) {
    const Dim shard = static_cast<Dim>(i) * shards / n;
    result.push_back(shard * extent / (grain * shards) * grain);
  }
  result.push_back(extent);
  return result;
}

Box box_of(const MeshLayout& layout, const Shape& shape, const DeviceMesh& mesh, int rank) {
  check_layout(layout, shape, mesh);
  Box box = Box::whole(shape);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto& [axes, grain] = layout.cuts[static_cast<std::size_t>(axis)];
    if (axes.empty()) continue;
    const auto ends = boundaries(shape[axis], mesh.size_along(axes), mesh.shards_along(axes), grain);
    const auto index = static_cast<std::size_t>(mesh.index_along(rank, axes));
    box.first[axis] = ends[index];
    box.shape[axis] = ends[index + 1] - ends[index];
  }
  return box;
}

bool same_places(const MeshLayout& a, const MeshLayout& b, const Shape& shape, const DeviceMesh& mesh) {
  if (a.terms != b.terms || a.memory != b.memory) return false;
  for (const int rank : mesh.ranks()) {
    const Box of_a = box_of(a, shape, mesh, rank), of_b = box_of(b, shape, mesh, rank);
    if (!(of_a == of_b) && !(of_a.is_empty() && of_b.is_empty())) return false;
  }
  return true;
}

std::string text_of(const MeshLayout& layout, const DeviceMesh& mesh) {
  std::string result;
  for (const auto& [axes, grain] : layout.cuts) {
    std::string names;
    for (const Dim axis : axes) names += (names.empty() ? "" : "*") + name_of(mesh, axis);
    if (axes.empty()) names = whole;
    if (!axes.empty() && grain != 1) names += fmt::format("{}{}", by, grain);
    result += (result.empty() ? "" : ", ") + names;
  }
  result = "[" + result + "]";
  for (int axis = 0; axis < mesh.n_axes(); ++axis) {
    const Terms how = layout.terms[static_cast<std::size_t>(axis)];
    if (how != Terms::no) result += fmt::format(", {}{}{}", core::word(how), over, name_of(mesh, axis));
  }
  return layout.memory == Memory::host ? fmt::format("{}, {}", result, on_host) : result;
}

MeshLayout layout_from(std::string_view text, const DeviceMesh& mesh) {
  const std::size_t end = text.find(']');
  if (!text.starts_with('[') || end == std::string_view::npos)
    throw_not_understood(text, "a list of cuts in brackets", text);
  MeshLayout layout = whole_layout(0, mesh);
  if (const std::string_view cuts = text.substr(1, end - 1); !cuts.empty()) {
    for (const std::string_view part : parts_of(cuts, ", "))
      layout.cuts.push_back(cut_from(part, text, mesh));
  }
  const std::vector<std::string_view> endings = parts_of(text.substr(end + 1), ", ");
  if (!endings[0].empty()) throw_not_understood(endings[0], "a comma behind the bracket", text);
  for (std::size_t i = 1; i < endings.size(); ++i) read_ending(layout, endings[i], text, mesh);
  return layout;
}

}  // namespace lodestone::engine
