// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/explain.hpp"

#include "engine/core/crc32c.hpp"
#include "engine/core/error.hpp"
#include "engine/dist/label_cuts.hpp"
#include "engine/graph/attr_values.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/graph/op_info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lodestone::engine {
namespace {

std::string layouts_of_results(const CutProgram& cut, const Instruction& each) {
  std::string text;
  for (std::uint32_t k = 0; k < each.n_results; ++k)
    text +=
        fmt::format("{}{}", k == 0 ? "" : " ", text_of(cut.table.values[each.first_result + k], cut.mesh));
  return text;
}

/// Returns "a by data": the labels that are cut, named as in the text of a map.
std::string cuts_text(const CutProgram& cut, std::size_t i) {
  std::string text;
  const LabelCuts& cuts = cut.table.labels[i];
  for (std::size_t label = 0; label < cuts.size(); ++label) {
    if (cuts[label].axes.empty()) continue;
    const MeshLayout one{{cuts[label]}, std::vector<Terms>(static_cast<std::size_t>(cut.mesh.n_axes()))};
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", static_cast<char>('a' + label),
                        text_of(one, cut.mesh));
  }
  return text.empty() ? "whole" : text;
}

std::uint32_t crc_of(const std::string& text, std::uint32_t before = 0) {
  return core::crc32c(std::as_bytes(std::span(text)), before);
}

/// Gives each rank of a mesh the bytes of all, which have one length. collective over the mesh.
std::vector<std::vector<std::byte>> from_all(const DeviceMesh& mesh, Transport& transport,
                                             std::vector<std::byte> mine, std::vector<std::size_t> sizes) {
  constexpr std::uint64_t programs = 0x70726f6772616d;  // a name among numbers of groups
  const std::uint64_t number = detail::mixed(programs, transport.next_number(programs) + 1);
  std::vector<std::vector<std::byte>> all;
  for (const std::size_t size : sizes) all.emplace_back(size);
  const auto place = [](std::vector<std::byte>& bytes) {
    return Strided{bytes.data(), {std::ssize(bytes)}, {1}, 1};
  };
  std::vector<Message> send, receive;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int rank = mesh.ranks()[i];
    if (rank == transport.rank()) {
      all[i] = mine;
    } else {
      send.push_back({rank, place(mine)});
      receive.push_back({rank, place(all[i])});
    }
  }
  transport.exchange(send, receive, number);
  return all;
}

std::vector<std::byte> bytes_of(std::uint64_t number) {
  const auto bytes = std::as_bytes(std::span(&number, 1));
  return {bytes.begin(), bytes.end()};
}
std::uint64_t number_in(const std::vector<std::byte>& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// Throws with the first line in which the lines of two ranks differ.
[[noreturn]] void refuse(std::string_view first, int first_rank, std::string_view other, int other_rank,
                         const std::source_location& where) {
  const auto next_line = [](std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line.empty() ? std::string_view("nothing more") : line;
  };
  std::string_view a = next_line(first), b = next_line(other);
  while (a == b && !(first.empty() && other.empty())) {
    a = next_line(first);
    b = next_line(other);
  }
  throw core::InvalidArgument("parallelize#other_program",
                              "expected the same program on all ranks, but rank {} has \"{}\" where rank {} "
                              "has \"{}\" {}",
                              other_rank, b, first_rank, a, at_line(where));
}

}  // namespace

std::vector<std::string> lines_of(const CutProgram& cut) {
  const Program& program = cut.program;
  std::vector<std::string> lines{fmt::format("mesh {}", cut.mesh.text())};
  for (ValueId id = 0; id < program.values().size(); ++id) {
    const Value& value = program.values()[id];
    if (value.from == Value::From::input)
      lines.push_back(fmt::format("%{}: {} is an input {}", id, value.aval.text(),
                                  text_of(cut.inputs[value.of], cut.mesh)));
  }
  for (std::size_t i = 0; i < program.instructions().size(); ++i) {
    const Instruction& each = program.instructions()[i];
    lines.push_back(
        fmt::format("{} {} on {}", program.text(each), layouts_of_results(cut, each), cuts_text(cut, i)));
  }
  for (std::size_t i = 0; i < program.outputs().size(); ++i)
    lines.push_back(
        fmt::format("output {} is %{} {}", i, program.outputs()[i], text_of(cut.outputs[i], cut.mesh)));
  // At the end, so that the first difference is that of an instruction where there is one.
  for (ValueId id = 0; id < program.values().size(); ++id) {
    const Value& value = program.values()[id];
    if (value.from != Value::From::constant || value.aval.kind != Kind::array) continue;
    const Tensor constant(contiguous(program.constants()[value.of].node_pointer()));
    lines.push_back(
        fmt::format("%{}: {} is a constant {:08x}", id, value.aval.text(), core::crc32c(constant.bytes())));
  }
  return lines;
}

std::string explained(const CutProgram& cut, const std::vector<PinnedValue>& pins) {
  const Program& program = cut.program;
  const Movement movement = movement_of(cut);
  std::string text = fmt::format("mesh {}\n", cut.mesh.text());
  if (!cut.table.search.empty()) text += cut.table.search + "\n";
  for (ValueId id = 0; id < program.n_inputs(); ++id)
    text += fmt::format("%{}: {} is an input, {}\n", id, program.values()[id].aval.text(),
                        text_of(cut.table.values[id], cut.mesh));
  for (const PinnedValue& pin : pins)
    text += fmt::format("%{} is {}, {}\n", pin.value, pin.pin, text_of(pin.layout, cut.mesh));
  double repeated = 0.0, work = 0.0;
  for (std::size_t i = 0; i < program.instructions().size(); ++i) {
    const Instruction& each = program.instructions()[i];
    const double operations = operations_of(program, each);
    work += operations;
    repeated += repeated_operations(operations, cut.table.labels[i], cut.mesh);
    text +=
        fmt::format("{} | {} | {} | {} | {} B {}\n", program.text(each), layouts_of_results(cut, each),
                    cuts_text(cut, i), cut.table.reasons[i], movement.instructions[i], at_line(each.where));
  }
  const std::int64_t bytes =
      std::accumulate(movement.instructions.begin(), movement.instructions.end(), movement.outputs);
  return text + fmt::format("outputs | {} B\nall ranks receive {} B and repeat {:.0f} operations of {:.0f}\n",
                            movement.outputs, bytes, repeated, work);
}

void check_same_program(const CutProgram& cut, Transport& transport, const std::source_location& where) {
  std::string text;
  for (const std::string& line : lines_of(cut)) text += fmt::format("{}\n", line);
  const std::uint64_t mine = detail::mixed(crc_of(text), text.size());
  const std::vector<std::size_t> sizes_of_numbers(cut.mesh.ranks().size(), sizeof(std::uint64_t));
  const auto hashes = from_all(cut.mesh, transport, bytes_of(mine), sizes_of_numbers);
  if (std::ranges::all_of(hashes, [&](const auto& each) { return each == hashes[0]; })) return;
  std::vector<std::size_t> sizes;
  for (const auto& each : from_all(cut.mesh, transport, bytes_of(text.size()), sizes_of_numbers))
    sizes.push_back(number_in(each));
  const auto bytes = std::as_bytes(std::span(text));
  const auto texts = from_all(cut.mesh, transport, {bytes.begin(), bytes.end()}, sizes);
  const auto other = static_cast<std::size_t>(
      std::ranges::find_if(hashes, [&](const auto& each) { return each != hashes[0]; }) - hashes.begin());
  const auto text_at = [&](std::size_t i) {
    return std::string_view(reinterpret_cast<const char*>(texts[i].data()), texts[i].size());
  };
  refuse(text_at(0), cut.mesh.ranks()[0], text_at(other), cut.mesh.ranks()[other], where);
}

}  // namespace lodestone::engine
