// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch/kernel_run.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/evaluate.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/record/tuple.hpp"

#include <array>
#include <utility>
#include <vector>

namespace lodestone::engine {
namespace {

/// The operands of a kernel; a few without an allocation.
class Views {
 public:
  explicit Views(std::size_t size) : size_(size) {
    if (size > few) many_.resize(size);
  }
  [[nodiscard]] View& operator[](std::size_t i) { return size_ > few ? many_[i] : few_[i]; }
  [[nodiscard]] std::span<const View> all() const {
    return {size_ > few ? many_.data() : few_.data(), size_};
  }

 private:
  static constexpr std::size_t few = 8;
  std::size_t size_;
  std::array<View, few> few_;
  std::vector<View> many_;
};

View view_of(const Node& node) { return {node.data(), &node.aval, &node.look.strides}; }

/// Returns memory for a result of a node, or for the workspace where `of` is null. errors: DeviceError, with
/// op and line.
BufferPtr buffer_for(const Node& node, std::size_t bytes, const Aval* of) {
  try {
    return BufferPtr(new Buffer(node.aval.device, bytes));
  } catch (const core::DeviceError& error) {
    throw core::DeviceError(core::Worded{
        fmt::format("{}; wanted for {} of {} {}", error.what(), of == nullptr ? "the workspace" : of->text(),
                    node.op->name, at_line(node.where)),
        error.place()});
  }
}

/// Returns the buffer of an input without later uses that has this many bytes, or none.
BufferPtr buffer_to_reuse(const Node& node, std::size_t bytes) {
  for (const NodePtr& input : node.inputs) {
    const bool is_last_use = input->has_one_owner() && input->buffer && input->buffer->has_one_owner();
    if (is_last_use && input->aval.bytes() == bytes && input->is_contiguous() && input->look.offset == 0)
      return input->buffer;
  }
  return {};
}

/// The arrays that a kernel writes: that of its node, or the elements of the node's tuple.
class Outputs {
 public:
  Outputs(Node& node, bool in_place) : node_(node), tuple_(tuple_of(node)), views_(count()) {
    if (tuple_ == nullptr) buffer_ = placed(node, in_place, 0);
    for (std::size_t i = 0; tuple_ != nullptr && i < count(); ++i) {
      const NodePtr element(new Node);
      element->aval = tuple_->avals[i];
      element->buffer = placed(*element, in_place && i == 0, i);
      elements_.emplace_back(element);
    }
  }
  [[nodiscard]] std::span<const View> views() const { return views_.all(); }
  /// Makes what was written the value of the node.
  void keep() {
    node_.buffer = std::move(buffer_);
    if (tuple_ != nullptr) tuple_->elements = std::move(elements_);
  }

 private:
  [[nodiscard]] static TupleValue* tuple_of(const Node& node) {
    return node.aval.kind == Kind::tuple ? static_cast<TupleValue*>(node.object.get()) : nullptr;
  }
  [[nodiscard]] std::size_t count() const { return tuple_ == nullptr ? 1 : tuple_->avals.size(); }
  /// Returns the memory of output i, which the view of it looks at.
  [[nodiscard]] BufferPtr placed(Node& array, bool in_place, std::size_t i) {
    const std::size_t bytes = array.aval.bytes();
    BufferPtr buffer = in_place ? buffer_to_reuse(node_, bytes) : BufferPtr();
    if (!buffer) buffer = buffer_for(node_, bytes, &array.aval);
    array.look = Look::dense(array.aval.shape);
    views_[i] = {buffer->data(), &array.aval, &array.look.strides};
    return buffer;
  }

  Node& node_;
  TupleValue* tuple_;
  Views views_;
  BufferPtr buffer_;
  Tensors elements_;
};

/// Runs the kernel in a workspace for the time of this call.
void run_in_scratch(const Kernel& kernel, KernelCall call, const Node& node) {
  if (kernel.workspace == nullptr) return kernel.run(call);
  const Workspace workspace = kernel.workspace(call);
  const int n_threads = Scratch::threads_of_call();
  const std::size_t bytes = Scratch::bytes_of(workspace, n_threads);
  const BufferPtr memory = bytes > 0 ? buffer_for(node, bytes, nullptr) : BufferPtr();
  call.scratch = Scratch(memory ? memory->data() : nullptr, workspace, n_threads);
  kernel.run(call);
}

}  // namespace

void run_kernel(Node& node, bool may_overwrite) {
  const DType dtype = node.inputs.size() > 0 ? node.inputs[0]->aval.dtype : node.aval.dtype;
  const Kernel& kernel = node.op->kernel(node.aval.device, dtype);
  Outputs outputs(node, kernel.in_place && may_overwrite);
  Views inputs(node.inputs.size());
  std::vector<NodePtr> copies;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const NodePtr& input = node.inputs[i];
    const bool as_it_is = !kernel.contiguous_inputs || input->is_contiguous();
    inputs[i] = view_of(as_it_is ? *input : *copies.emplace_back(contiguous(input)));
  }
  try {
    run_in_scratch(kernel, {*node.op, node.attrs.get(), inputs.all(), outputs.views(), {}, node.where}, node);
  } catch (const core::ShapeError& error) {
    rethrow_with_place(error, *node.op, node.aval, node.where);
  }
  outputs.keep();
}

void rethrow_with_place(const core::ShapeError& error, const OpInfo& op, const Aval& aval,
                        const std::source_location& where) {
  const std::string line = at_line(where);
  if (std::string_view(error.what()).find(line) != std::string_view::npos) throw;
  throw core::ShapeError(core::Worded{
      fmt::format("{}; asked for {} of {} {}", error.what(), op.name, aval.text(), line), error.place()});
}

NodePtr contiguous(const NodePtr& node) {
  if (node->is_contiguous()) return node;
  if (Node* kept = node->row_major.get()) return NodePtr(kept);
  static const OpInfo& copy = op_named("copy");
  NodePtr result(new Node);
  result->op = &copy;
  result->aval = node->aval;
  result->where = node->where;
  result->thread = thread_number();
  Outputs outputs(*result, false);
  const View in = view_of(*node);
  copy.kernel(node->aval.device, node->aval.dtype).run({copy, nullptr, std::span(&in, 1), outputs.views()});
  outputs.keep();
  return result;
}

}  // namespace lodestone::engine
