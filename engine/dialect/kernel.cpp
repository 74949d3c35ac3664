// SPDX-License-Identifier: Apache-2.0
#include "engine/dialect/kernel.hpp"

#include "engine/core/error.hpp"
#include "engine/dialect/kernel_text.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"

#include <memory>

namespace lodestone::engine {
namespace {

using Term = KernelText::Term;

/// Records the ops of a kernel. Every value has all axes of the kernel, in their order; those that it does
/// not depend on have extent 1.
class KernelRecording {
 public:
  KernelRecording(const KernelText& text, const Tensors& arguments, std::source_location where)
      : text_(text), arguments_(arguments), where_(where), extents_(text.axes.size(), -1) {
    if (arguments.size() != text.arguments.size())
      throw core::InvalidArgument(
          "engine::kernel#arguments",
          "expected {} arguments of the kernel {}, got {}; give one tensor for each {}",
          text.arguments.size(), text.name, arguments.size(), at_line(where));
    for (std::size_t i = 0; i < arguments.size(); ++i) take_extents(i);
  }

  [[nodiscard]] Tensors run() {
    for (const Term& term : text_.terms) values_.push_back(value(term));
    Tensors results;
    for (std::size_t i = 0; i < text_.results.size(); ++i)
      results.push_back(given(text_.results[i], text_.given[i]));
    return results;
  }

 private:
  void take_extents(std::size_t argument) {
    const KernelText::Array& array = text_.arguments[argument];
    const Shape& shape = arguments_[argument].shape();
    bool fits = shape.rank() == static_cast<int>(array.axes.size());
    for (int axis = 0; fits && axis < shape.rank(); ++axis) {
      Dim& extent = extents_[static_cast<std::size_t>(array.axes[static_cast<std::size_t>(axis)])];
      fits = extent == -1 || extent == shape[axis];
      extent = shape[axis];
    }
    if (!fits)
      throw core::ShapeError(
          "engine::kernel#shape",
          "expected {} of the kernel {}, with axes of one name of one extent, got shape {}; "
          "give arguments that fit together {}",
          text_.signature(array), text_.name, shape.text(), at_line(where_));
  }

  /// Returns the shape of a value with these axes.
  [[nodiscard]] Shape shape_of(const KernelText::AxisSet& axes) const {
    Shape shape;
    for (std::size_t i = 0; i < extents_.size(); ++i) shape.push_back(axes.test(i) ? extents_[i] : 1);
    return shape;
  }

  [[nodiscard]] Tensor value(const Term& term) const {
    switch (term.is) {
      case Term::Is::argument:
        return argument(term);
      case Term::Is::number:
      case Term::Is::extent:
        return {};  // until it is known which dtype it takes
      case Term::Is::op:
        return op(term);
      case Term::Is::reduction:
        return reduced(term);
    }
    return {};
  }

  [[nodiscard]] Tensor argument(const Term& term) const {
    const std::vector<int>& axes = text_.arguments[term.of].axes;
    Axes order;
    for (int axis = 0; axis < static_cast<int>(extents_.size()); ++axis) {
      const auto at = std::ranges::find(axes, axis);
      if (at != axes.end()) order.push_back(at - axes.begin());
    }
    return reshape(transpose({arguments_[term.of], where_}, order), shape_of(term.axes));
  }

  [[nodiscard]] Tensor number(const Term& term, DType dtype) const {
    const double number = term.is == Term::Is::number ? term.number : static_cast<double>(extents_[term.of]);
    return scalar(number, dtype, arguments_[0].device());
  }

  /// Returns the dtype that numbers among these take: that of the first array that is no condition.
  [[nodiscard]] DType dtype_beside(const std::vector<KernelText::TermId>& ids) const {
    for (const KernelText::TermId id : ids) {
      if (values_[id].is_valid() && values_[id].dtype() != DType::b8) return values_[id].dtype();
    }
    return arguments_[0].dtype();
  }

  [[nodiscard]] Tensor op(const Term& term) const {
    const Shape shape = shape_of(term.axes);
    const DType dtype = dtype_beside(term.in);
    Tensors in;
    for (const KernelText::TermId id : term.in) {
      const Tensor one = values_[id].is_valid() ? values_[id] : number(text_.terms[id], dtype);
      in.push_back(one.shape() == shape ? one : broadcast_to({one, where_}, shape));
    }
    return record(*term.op, in, {}, where_);
  }

  [[nodiscard]] Tensor reduced(const Term& term) const {
    Axes axes;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      if (term.reduced.test(i)) axes.push_back(static_cast<Dim>(i));
    }
    return term.reduce(values_[term.in[0]], axes);
  }

  /// Returns a value with the axes of a result, in their order.
  [[nodiscard]] Tensor given(const KernelText::Array& result, KernelText::TermId id) const {
    const Tensor one = values_[id].is_valid() ? values_[id] : number(text_.terms[id], arguments_[0].dtype());
    KernelText::AxisSet axes;
    for (const int axis : result.axes) axes.set(static_cast<std::size_t>(axis));
    Shape shape;
    Axes order;
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      if (axes.test(i)) shape.push_back(extents_[i]);
    }
    for (const int axis : result.axes)
      order.push_back((axes << (KernelText::most_axes - static_cast<std::size_t>(axis))).count());
    return transpose(reshape(broadcast_to({one, where_}, shape_of(axes)), shape), order);
  }

  const KernelText& text_;
  const Tensors& arguments_;
  std::source_location where_;
  std::vector<Dim> extents_;  // by axis
  Tensors values_;            // by term; none for numbers
};

}  // namespace

Compiled kernel(std::string_view text, const CompileOptions& options, std::source_location where) {
  const auto parsed = std::make_shared<const KernelText>(parsed_kernel(text));
  return compile(
      [parsed, where](const Tensors& arguments) { return KernelRecording(*parsed, arguments, where).run(); },
      options, where);
}

}  // namespace lodestone::engine
