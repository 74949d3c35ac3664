// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/inputs.hpp"

#include "engine/record/record.hpp"
#include "engine/record/trace.hpp"

#include <utility>

namespace lodestone::engine {
namespace {

thread_local Tensors spare_tensors;
thread_local std::vector<std::uint8_t> spare_marks;

/// Returns whether an array has fewer elements in memory than its shape says.
bool is_repeated(const Tensor& tensor) {
  if (tensor.aval().kind != Kind::array) return false;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (tensor.shape()[axis] > 1 && tensor.node().look.strides[axis] == 0) return true;
  }
  return false;
}

/// Returns whether nobody but a cell, of this value, and the list of inputs holds the array that runs: the
/// value or, where it is repeated, the copy that the value keeps.
bool is_given_up(const Node& runs, const NodePtr& value) {
  const bool is_value = value.get() == &runs;
  constexpr std::uint32_t cell_and_here = 2, list = 1;
  return value->n_owners() == cell_and_here + (is_value ? list : 0) &&
         (is_value || (value->row_major.get() == &runs && runs.n_owners() == 1 + list)) &&
         runs.buffer->has_one_owner() && runs.look.offset == 0;
}

}  // namespace

Inputs::Inputs(const Tensors& arguments)
    : n_arguments_(arguments.size()),
      all_(std::exchange(spare_tensors, {})),
      given_up_(std::exchange(spare_marks, {})) {
  all_.assign(arguments.begin(), arguments.end());
  for (const Tensor& each : all_) each.eval();
}

Inputs::~Inputs() {
  all_.clear();
  spare_tensors.swap(all_);
  spare_marks.swap(given_up_);
}

bool Inputs::take(const Variables& cells) {
  all_.resize(n_arguments_);
  for (const Variable& each : cells) {
    Tensor& value = all_.emplace_back(each.value());
    if (!value.node().is_abstract) value.eval();
    if (may_be_followed(value)) return false;
    if (is_repeated(value)) value = Tensor(row_major(value.node_pointer()));
  }
  return true;
}

void Inputs::feed(const std::vector<Feed>& feeds) {
  for (const Feed& each : feeds) all_.push_back(each.value());
}

std::span<const std::uint8_t> Inputs::given_up(const std::vector<Donation>& donations,
                                               const Variables& cells) {
  given_up_.clear();
  for (const auto& [input, held] : donations)
    given_up_.push_back(is_given_up(all_[input].node(), cells[input - n_arguments_].value().node_pointer()));
  return given_up_;
}

}  // namespace lodestone::engine
