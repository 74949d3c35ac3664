// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/kernel_bounds.hpp"

#include "engine/backend/reference/strided.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>

namespace lodestone::engine {
namespace {

using reference::indices_of;
using reference::offset_of;

/// Returns the bytes of the elements that lie apart; repeated elements count once.
std::size_t distinct_bytes(const Node& node) {
  if (node.aval.count() == 0) return 0;
  const auto [low, high] = Look{0, node.look.strides}.reach(node.aval.shape);
  std::vector<bool> seen(static_cast<std::size_t>(high - low + 1), false);
  for (std::int64_t i = 0; i < node.aval.count(); ++i)
    seen[static_cast<std::size_t>(offset_of(indices_of(i, node.aval.shape), node.look.strides) - low)] = true;
  return core::size_of(node.aval.dtype) *
         static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

/// An operand in the middle of bytes of one value that are not its own.
class Guarded {
 public:
  static constexpr std::size_t line = 64;

  Guarded(const Aval& aval, const Strides& strides, std::byte fill)
      : aval_(aval), strides_(strides), size_(core::size_of(aval.dtype)) {
    const auto [low, high] = aval.count() > 0 ? Look{0, strides}.reach(aval.shape) : Look::Reach{0, -1};
    low_ = low;
    const auto span = static_cast<std::size_t>(high - low + 1) * size_;
    margin_ = (4096 + 4 * span) / line * line;  // one step further along each axis ends in it
    bytes_.assign(2 * margin_ + span + line, fill);
    const std::size_t past = reinterpret_cast<std::uintptr_t>(bytes_.data()) % line;
    start_ = bytes_.data() + (past == 0 ? 0 : line - past) + margin_;
    length_ = span;
  }
  /// The elements of an evaluated tensor; whatever lies between them keeps its value.
  void take(const Node& node) {
    for (std::int64_t i = 0; i < aval_.count(); ++i) {
      const IntList indices = indices_of(i, aval_.shape);
      std::memcpy(data() + offset_of(indices, strides_) * size(),
                  node.data() + offset_of(indices, node.look.strides) * size(), size_);
    }
  }
  [[nodiscard]] View view() { return {data(), &aval_, &strides_}; }
  [[nodiscard]] const Aval& aval() const { return aval_; }
  [[nodiscard]] std::size_t length() const { return length_; }
  [[nodiscard]] std::byte at(std::size_t i) const { return start_[i]; }
  [[nodiscard]] bool is_untouched_around(std::byte fill) const {
    const auto is_fill = [&](std::byte each) { return each == fill; };
    return std::all_of(static_cast<const std::byte*>(bytes_.data()), static_cast<const std::byte*>(start_),
                       is_fill) &&
           std::all_of(static_cast<const std::byte*>(start_ + length_),
                       static_cast<const std::byte*>(bytes_.data() + bytes_.size()), is_fill);
  }

 private:
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(size_); }
  [[nodiscard]] std::byte* data() { return start_ - low_ * size(); }
  Aval aval_;
  Strides strides_;
  std::size_t size_, margin_ = 0, length_ = 0;
  std::int64_t low_ = 0;
  std::vector<std::byte> bytes_;
  std::byte* start_;
};

/// The foreign bytes around the output, and around inputs 0, 2, … and 1, 3, …
struct Fill {
  std::byte out, even, odd;
};
/// NaN or −1, large beside small, 0 or false, small beside large: no function takes all of these for the
/// same.
constexpr std::array<Fill, 4> fills{{{std::byte{0xff}, std::byte{0xff}, std::byte{1}},
                                     {std::byte{0x42}, std::byte{0x42}, std::byte{5}},
                                     {std::byte{0}, std::byte{0}, std::byte{0}},
                                     {std::byte{5}, std::byte{5}, std::byte{0x42}}}};

/// One run of a kernel.
class Run {
 public:
  Run(const Kernel& kernel, const std::vector<Aval>& results, const OpInfo& op, const Attrs* attrs,
      const Tensors& inputs, Fill fill)
      : fill_(fill.out) {
    std::vector<View> from, to;
    for (const Tensor& input : inputs) {
      const Strides strides =
          kernel.contiguous_inputs ? contiguous_strides(input.shape()) : input.node().look.strides;
      in_.emplace_back(input.aval(), strides, in_.size() % 2 == 0 ? fill.even : fill.odd).take(input.node());
      from.push_back(in_.back().view());
    }
    for (const Aval& aval : results)
      to.push_back(out.emplace_back(aval, contiguous_strides(aval.shape), fill.out).view());
    KernelCall call{op, attrs, from, to, {}, std::source_location::current()};
    const int n_threads = Scratch::threads_of_call();
    const Workspace workspace = kernel.workspace == nullptr ? Workspace() : kernel.workspace(call);
    const Shape bytes{static_cast<Dim>(Scratch::bytes_of(workspace, n_threads))};
    scratch_.emplace(Aval{bytes, DType::u8}, Strides{1}, fill.out);
    call.scratch = Scratch(scratch_->view().data, workspace, n_threads);
    kernel.run(call);
  }
  /// Returns what it wrote to that is not its own, or "".
  [[nodiscard]] std::string written_outside() const {
    if (!scratch_->is_untouched_around(fill_)) return "its workspace";
    const auto left = std::find_if(out.begin(), out.end(),
                                   [&](const Guarded& each) { return !each.is_untouched_around(fill_); });
    return left == out.end() ? "" : left->aval().text();
  }
  std::deque<Guarded> out;  // views point into it

 private:
  std::byte fill_;
  std::deque<Guarded> in_;
  std::optional<Guarded> scratch_;
};

struct Written {
  std::size_t n_bytes = 0;
  std::string wrong = {};
};

/// Returns the bytes of output i that are the same in all runs.
std::size_t bytes_alike(const std::vector<std::unique_ptr<Run>>& runs, std::size_t i) {
  const Guarded& first = runs[0]->out[i];
  std::size_t n = 0;
  for (std::size_t at = 0; at < first.length(); ++at)
    n += std::all_of(runs.begin(), runs.end(),
                     [&](const auto& run) { return run->out[i].at(at) == first.at(at); })
             ? 1
             : 0;
  return n;
}

Written of_kernel(const Kernel& kernel, const std::vector<Aval>& results, const OpInfo& op,
                  const Attrs* attrs, const Tensors& inputs) {
  std::vector<std::unique_ptr<Run>> runs;
  for (const Fill& fill : fills) {
    runs.push_back(std::make_unique<Run>(kernel, results, op, attrs, inputs, fill));
    const std::string outside = runs.back()->written_outside();
    if (!outside.empty()) return {0, fmt::format("kernel {} wrote outside {}", kernel.name, outside)};
  }
  Written written;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::size_t alike = bytes_alike(runs, i), length = runs[0]->out[i].length();
    written.n_bytes += alike;
    if (alike < length)
      written.wrong = fmt::format(
          "kernel {} left {} of the {} bytes of {} unwritten, or read what is no element of an input",
          kernel.name, length - alike, length, results[i].text());
  }
  return written;
}

/// Returns true if the first look, at one buffer, shows the elements that the second shows at another.
bool show_the_same(const Aval& aval, const Look& look, const Buffer& buffer, const Look& other_look,
                   const Buffer& other_buffer) {
  const auto size = static_cast<std::int64_t>(core::size_of(aval.dtype));
  const auto element = [&](const Look& of, const Buffer& at, const IntList& indices) {
    return at.data() + (of.offset + offset_of(indices, of.strides)) * size;
  };
  for (std::int64_t i = 0; i < aval.count(); ++i) {
    const IntList indices = indices_of(i, aval.shape);
    if (std::memcmp(element(look, buffer, indices), element(other_look, other_buffer, indices),
                    static_cast<std::size_t>(size)) != 0)
      return false;
  }
  return true;
}

/// A view that has run, of this input.
std::string of_view(const Node& node, const OpInfo& op, const Attrs* attrs, const NodePtr& in) {
  if (bytes_moved(node) != 0.0) return "a view costs nothing";
  if (op.view(in->aval, in->look, attrs, node.aval) != node.look)
    return "the view that ran is another than its rule says";
  if (op.view(in->aval, {in->look.offset + 1, in->look.strides}, attrs, node.aval) !=
      Look{node.look.offset + 1, node.look.strides})
    return "the view does not move with its input";
  if (node.aval.count() == 0) return "";
  const auto [low, high] = node.look.reach(node.aval.shape);
  const auto size = static_cast<std::int64_t>(core::size_of(node.aval.dtype));
  if (low < 0 || (high + 1) * size > static_cast<std::int64_t>(node.buffer->bytes()))
    return fmt::format("the view {} reaches past the {} bytes it looks at", node.aval.text(),
                       node.buffer->bytes());
  const NodePtr copy = contiguous(in);
  const auto of_copy = op.view(copy->aval, copy->look, attrs, node.aval);
  return of_copy && show_the_same(node.aval, node.look, *node.buffer, *of_copy, *copy->buffer)
             ? ""
             : fmt::format("the view {} shows other elements of its input than of a copy of it",
                           node.aval.text());
}

std::string text_of(const std::vector<Aval>& avals) {
  std::string text;
  for (const Aval& each : avals) text += (text.empty() ? "" : ", ") + each.text();
  return text;
}

/// Returns the abstract values of what an op gives: of a tuple its elements.
std::vector<Aval> results_of(const Tensor& recorded) {
  return recorded.aval().kind == Kind::tuple ? avals_of(recorded) : std::vector{recorded.aval()};
}

/// Compares what the shape rule says with what was recorded instead of the op.
std::string of_decomposition(const Tensor& recorded, const InferArgs& args) {
  const OpInfo& op = args.op;
  const std::vector<Aval> expected = op.results ? op.results(args) : std::vector{op.infer(args)},
                          found = results_of(recorded);
  return expected == found ? ""
                           : fmt::format("the shape rule says {}, the decomposition gave {}",
                                         text_of(expected), text_of(found));
}

}  // namespace

std::string out_of_bounds(const Tensor& recorded, const OpInfo& op, const Attrs* attrs,
                          const Tensors& inputs) {
  const Node& node = recorded.node();
  if (op.run) return "";  // the executor compares
  if (node.op != &op) return of_decomposition(recorded, {op, inputs, attrs, node.where});
  const bool has_view =
      op.view != nullptr && op.view(inputs[0].aval(), inputs[0].node().look, attrs, node.aval).has_value();
  const DType dtype = inputs.empty() ? recorded.dtype() : inputs[0].dtype();
  const std::vector<Aval> results = results_of(recorded);
  double counted = 0.0;
  for (const auto& of_backend : op.kernels) {
    const Kernel& kernel = of_backend[static_cast<std::size_t>(dtype)];
    if (kernel.run == nullptr || has_view) continue;
    const Written written = of_kernel(kernel, results, op, attrs, inputs);
    if (!written.wrong.empty()) return written.wrong;
    counted = static_cast<double>(written.n_bytes);
  }
  const KeepGraph keep;  // the cost needs the inputs
  recorded.eval();
  if (has_view) return of_view(node, op, attrs, inputs[0].node_pointer());
  for (const Tensor& input : inputs) counted += static_cast<double>(distinct_bytes(input.node()));
  const double cost = bytes_moved(node);
  return cost == counted ? "" : fmt::format("its cost is {} bytes, counted were {}", cost, counted);
}

}  // namespace lodestone::engine
