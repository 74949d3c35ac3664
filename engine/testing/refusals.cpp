// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/refusals.hpp"

#include "engine/core/error.hpp"
#include "engine/record/record.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace lodestone::engine {
namespace {

/// Returns an array of zeros of another shape or dtype.
Tensor zeros_as(const Tensor& like, const Shape& shape, DType dtype) {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(shape.count()) * core::size_of(dtype));
  return Tensor::from_bytes(bytes, {shape, dtype, like.device()});
}

/// The first name in quotes, of a map or a function; all of a text without.
std::string named_in(const std::string& text) {
  const std::size_t first = text.find('"'),
                    last = first == std::string::npos ? first : text.find('"', first + 1);
  return last == std::string::npos ? text : text.substr(first + 1, last - first - 1);
}

class WrongCalls {
 public:
  WrongCalls(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs)
      : op_(op), inputs_(inputs), attrs_(attrs) {}

  Refusals run() {
    if (op_.n_inputs >= 0) other_numbers();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].aval().kind != Kind::array) continue;
      other_dtypes(i);
      other_shapes(i);
    }
    return found_;
  }

 private:
  /// The words that a message must contain beside the op's name and the line.
  using Needed = std::vector<std::string>;

  void call(const Tensors& inputs, const Needed& needed, const Needed& one_of = {}) {
    const auto where = std::source_location::current();
    std::string message;
    try {
      // An op that runs at once may run any code, so only its shape rule is called.
      const bool only_rule = op_.runs_when_recorded != nullptr && std::ssize(inputs) == std::ssize(inputs_) &&
                             op_.dtypes.contains(inputs[0].dtype());
      static_cast<void>(only_rule ? op_.infer({op_, inputs, attrs_.get(), where})
                                  : record(op_, inputs, attrs_, where).aval());
      return;
    } catch (const core::Error& error) {
      message = error.what();
    }
    ++found_.n_refused;
    Needed all = needed;
    all.insert(all.end(), {fmt::format("[{}] ", op_.name), "expected", at_line(where)});
    for (const std::string& each : all) {
      if (found_.unclear.empty() && message.find(each) == std::string::npos)
        found_.unclear = fmt::format("the message \"{}\" lacks \"{}\"", message, each);
    }
    const auto names = [&](const std::string& what) { return message.find(what) != std::string::npos; };
    if (found_.unclear.empty() && !one_of.empty() && std::none_of(one_of.begin(), one_of.end(), names))
      found_.unclear = fmt::format("the message \"{}\" lacks what it does not fit, one of {}", message,
                                   fmt::join(one_of, " "));
  }

  void other_numbers() {
    Tensors more = inputs_, fewer = inputs_;
    more.push_back(zeros_as(more.empty() ? Tensor::from<double>(std::vector<double>{0.0}, {}) : more[0], {},
                            DType::f64));
    call(more, {fmt::format("{} inputs, got {}", op_.n_inputs, more.size())});
    if (fewer.empty()) return;
    fewer.pop_back();
    call(fewer, {fmt::format("{} inputs, got {}", op_.n_inputs, fewer.size())});
  }

  void other_dtypes(std::size_t which) {
    for (int i = 0; i < core::n_dtypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      if (dtype == inputs_[which].dtype()) continue;
      const Tensor wrong = zeros_as(inputs_[which], inputs_[which].shape(), dtype);
      Needed needed{std::string(core::name_of(dtype))};
      if (which == 0 && !op_.dtypes.contains(dtype)) needed = {op_.dtypes.text(), wrong.aval().text()};
      call(with(which, wrong), needed);
    }
  }

  void other_shapes(std::size_t which) {
    const Shape& shape = inputs_[which].shape();
    std::vector<Shape> others;
    if (shape.rank() < IntList::max_size) others.push_back(shape.inserted(0, 3));
    for (int axis = 0; axis < shape.rank(); ++axis) {
      others.push_back(shape.erased(axis));
      Shape longer = shape;
      longer[axis] += 7;
      others.push_back(longer);
    }
    for (const Shape& other : others) {
      Needed one_of;  // an input that it does not fit, a form that none does, or the attributes
      if (attrs_ && inputs_.size() > 1)
        one_of.insert(one_of.end(), {attrs_->text(), named_in(attrs_->text())});
      for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (i != which)
          one_of.insert(one_of.end(), {inputs_[i].aval().kind == Kind::array ? inputs_[i].shape().text()
                                                                             : inputs_[i].aval().text(),
                                       "…"});
      }
      call(with(which, zeros_as(inputs_[which], other, inputs_[which].dtype())), {other.text()}, one_of);
    }
  }

  [[nodiscard]] Tensors with(std::size_t which, const Tensor& other) const {
    Tensors result = inputs_;
    result[which] = other;
    return result;
  }

  const OpInfo& op_;
  const Tensors& inputs_;
  const AttrsPtr& attrs_;
  Refusals found_;
};

}  // namespace

Refusals refusals_of(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs) {
  return WrongCalls(op, inputs, attrs).run();
}

}  // namespace lodestone::engine
