// SPDX-License-Identifier: Apache-2.0
// Equality of programs, and the hash that goes with it.
#include "engine/program/program.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lodestone::engine {
namespace {

using detail::mixed;

std::uint64_t hash_of(const Aval& aval) {
  std::uint64_t hash = mixed(static_cast<std::uint64_t>(aval.dtype), static_cast<std::uint64_t>(aval.kind));
  hash = mixed(hash, detail::attr_hash(aval.device));
  return mixed(hash, detail::attr_hash(aval.shape));
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    hash = mixed(hash, word);
  }
  return hash;
}

/// Returns an array without its repetitions. What reads it leaves no copy behind in the constant.
Tensor elements_in_memory(const Tensor& constant) {
  constant.eval();
  const Node& whole = constant.node();
  NodePtr node(new Node);
  node->aval = whole.aval;
  for (int axis = 0; axis < whole.aval.shape.size(); ++axis) {
    if (whole.look.strides[axis] == 0) node->aval.shape[axis] = std::min<Dim>(whole.aval.shape[axis], 1);
  }
  node->buffer = whole.buffer;
  node->look = whole.look;
  return Tensor(std::move(node));
}

/// Objects that are no arrays are the same only if they are one.
std::uint64_t hash_of_constant(const Tensor& constant) {
  if (constant.aval().kind != Kind::array) return std::bit_cast<std::uintptr_t>(&constant.node());
  return mixed(hash_of(constant.aval()), hash_of(elements_in_memory(constant).bytes()));
}
bool same_constants(const Tensor& a, const Tensor& b) {
  if (a.node_pointer() == b.node_pointer()) return true;
  return a.aval() == b.aval() && a.aval().kind == Kind::array &&
         a.node().look.strides == b.node().look.strides &&
         std::ranges::equal(elements_in_memory(a).bytes(), elements_in_memory(b).bytes());
}

bool same_attrs(const AttrsPtr& a, const AttrsPtr& b) {
  return a && b ? a->equals(*b) : static_cast<bool>(a) == static_cast<bool>(b);
}

}  // namespace

std::uint64_t Program::hash() const {
  std::uint64_t hash = mixed(parts_.n_inputs, parts_.values.size());
  for (std::size_t i = 0; i < parts_.n_inputs; ++i) hash = mixed(hash, hash_of(parts_.values[i].aval));
  for (const Tensor& constant : parts_.constants) hash = mixed(hash, hash_of_constant(constant));
  for (const Instruction& each : parts_.instructions) {
    hash = mixed(hash, std::bit_cast<std::uintptr_t>(each.op));
    hash = mixed(hash, each.attrs ? each.attrs->hash() : 0);
    for (const ValueId id : operands(each)) hash = mixed(hash, id);
  }
  for (const ValueId id : parts_.outputs) hash = mixed(hash, id);
  return hash;
}

bool Program::same(const Program& other) const {
  const auto same_value = [](const Value& a, const Value& b) {
    return a.aval == b.aval && a.from == b.from && a.of == b.of && a.output == b.output;
  };
  const auto same_instruction = [](const Instruction& a, const Instruction& b) {
    return a.op == b.op && a.first_operand == b.first_operand && a.n_operands == b.n_operands &&
           a.first_result == b.first_result && a.n_results == b.n_results && same_attrs(a.attrs, b.attrs);
  };
  const ProgramParts &a = parts_, &b = other.parts_;
  return a.n_inputs == b.n_inputs && a.outputs == b.outputs && a.operands == b.operands &&
         std::ranges::equal(a.values, b.values, same_value) &&
         std::ranges::equal(a.instructions, b.instructions, same_instruction) &&
         std::ranges::equal(a.constants, b.constants, same_constants);
}

}  // namespace lodestone::engine
