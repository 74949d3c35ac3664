// SPDX-License-Identifier: Apache-2.0
#include "engine/program/on_line.hpp"

#include "engine/core/error.hpp"
#include "engine/record/record.hpp"

#include <algorithm>
#include <cstring>

namespace lodestone::engine {
namespace {

/// Returns whether an array shows one number everywhere.
bool is_one_number(const Tensor& tensor) {
  if (tensor.aval().kind != Kind::array || tensor.aval().count() == 0) return false;
  const Node& node = tensor.eval().node();
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    if (node.aval.shape[axis] > 1 && node.look.strides[axis] != 0) return false;
  }
  return true;
}

std::span<const std::byte> number_in(const Tensor& tensor) {
  return {tensor.node().data(), core::size_of(tensor.dtype())};
}

/// Returns an array that shows one number everywhere, in the form of another.
Tensor filled_with(std::span<const std::byte> number, const Tensor& like, const Shape& shape) {
  const Tensor scalar = Tensor::from_bytes(number, {{}, like.dtype(), like.device()});
  NodePtr node(new Node);
  node->aval = like.aval();
  node->aval.shape = shape;
  node->buffer = scalar.node().buffer;
  node->look = {scalar.node().look.offset, like.node().look.strides};
  return Tensor(std::move(node));
}

bool same_constants(const Tensor& a, const Tensor& b) {
  if (a.node_pointer() == b.node_pointer()) return true;
  return a.aval() == b.aval() && a.aval().kind == Kind::array &&
         a.node().look.strides == b.node().look.strides && std::ranges::equal(a.bytes(), b.bytes());
}

/// Returns "a constant f64[4]", with its number if it is one.
std::string constant_text(const Tensor& constant) {
  std::string text = fmt::format("a constant {}", constant.aval().text());
  if (!is_one_number(constant)) return text;
  core::visit_dtype(constant.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T>) {
      T number;
      std::memcpy(&number, number_in(constant).data(), sizeof number);
      text += fmt::format(" of {}", number);
    }
  });
  return text;
}

/// Goes over two programs side by side.
class OnLine {
 public:
  OnLine(const Program& first, const Program& second, const Line& line, const Program* before)
      : first_(first), second_(second), line_(line), before_(before), parts_(first.parts()) {}

  [[nodiscard]] ProgramOnLine run() {
    if (!has_same_form()) return {{}, "other ops are recorded"};
    for (ValueId id = 0; why_.empty() && id < parts_.values.size(); ++id) put_value(id);
    for (std::size_t i = 0; why_.empty() && i < parts_.instructions.size(); ++i) put_instruction(i);
    for (ValueId id = 0; why_.empty() && id < parts_.values.size(); ++id) {
      if (parts_.values[id].from == Value::From::constant) put_constant(parts_.values[id]);
    }
    if (!why_.empty()) return {{}, std::move(why_)};
    parts_.recipes.clear();
    try {
      return {Program(std::move(parts_)), {}};
    } catch (const core::InvalidArgument& error) {
      return {{}, error.what()};
    }
  }

 private:
  [[nodiscard]] bool has_same_form() const {
    const auto same_value = [](const Value& a, const Value& b) {
      return a.from == b.from && a.of == b.of && a.output == b.output;
    };
    const auto same_instruction = [](const Instruction& a, const Instruction& b) {
      return a.op == b.op && a.first_operand == b.first_operand && a.n_operands == b.n_operands &&
             a.first_result == b.first_result && a.n_results == b.n_results && a.is_effect == b.is_effect;
    };
    const ProgramParts &a = first_.parts(), &b = second_.parts();
    return a.n_inputs == b.n_inputs && a.operands == b.operands && a.outputs == b.outputs &&
           a.constants.size() == b.constants.size() && std::ranges::equal(a.values, b.values, same_value) &&
           std::ranges::equal(a.instructions, b.instructions, same_instruction);
  }

  void put_value(ValueId id) {
    Aval& aval = parts_.values[id].aval;
    const Aval& other = second_.values()[id].aval;
    if (aval.dtype != other.dtype || aval.kind != other.kind || !(aval.device == other.device) ||
        !put_on_line(aval.shape, other.shape, line_))
      note(fmt::format("%{}: {}", id, first_.values()[id].aval.text()),
           fmt::format("%{}: {}", id, other.text()));
  }

  void put_instruction(std::size_t number) {
    AttrsPtr& attrs = parts_.instructions[number].attrs;
    const Instruction& other = second_.instructions()[number];
    if (!attrs && !other.attrs) return;
    AttrsPtr made = attrs && other.attrs ? attrs->on_line(*other.attrs, line_) : AttrsPtr();
    if (!made) return note(first_.text(first_.instructions()[number]), second_.text(other));
    attrs = std::move(made);
  }

  void put_constant(Value& value) {
    const std::uint32_t number = value.of;
    const Tensor &of_first = first_.constants()[number], &of_second = second_.constants()[number];
    if (before_ != nullptr && value.origin < before_->values().size() &&
        before_->values()[value.origin].from == Value::From::constant) {
      parts_.constants[number] = before_->constants()[before_->values()[value.origin].of];
      return;
    }
    if (same_constants(of_first, of_second)) return;
    value.varies = !is_one_number(of_first) || !is_one_number(of_second) ||
                   !std::ranges::equal(number_in(of_first), number_in(of_second));
    const RecipePtr recipe = recipe_in(first_, number), other = recipe_in(second_, number);
    const Tensor made = recipe && other ? made_on_line(*recipe, *other)
                                        : given_on_line(of_first, of_second, value.aval.shape);
    if (!made.is_valid()) return note(constant_text(of_first), constant_text(of_second));
    parts_.constants[number] = made.eval();
  }

  static RecipePtr recipe_in(const Program& program, std::size_t constant) {
    const std::vector<RecipePtr>& recipes = program.parts().recipes;
    return constant < recipes.size() ? recipes[constant] : nullptr;
  }

  /// Returns an array that shows one number, for which there is a line; none for others that differ.
  [[nodiscard]] Tensor given_on_line(const Tensor& first, const Tensor& second, const Shape& shape) const {
    if (same_constants(first, second)) return first;
    if (!is_one_number(first) || !is_one_number(second) || first.dtype() != second.dtype() ||
        !(first.node().look.strides == second.node().look.strides))
      return {};
    std::array<std::byte, 16> bytes{};
    std::ranges::copy(number_in(first), bytes.begin());
    if (!put_on_line(bytes, number_in(second), first.dtype(), line_)) return {};
    return filled_with(std::span(bytes).first(core::size_of(first.dtype())), first, shape);
  }

  [[nodiscard]] Tensor made_on_line(const Recipe& first, const Recipe& second) const {
    if (first.op != second.op || first.in.size() != second.in.size()) return {};
    if (first.op == nullptr) {
      Shape shape = first.given.shape();
      return put_on_line(shape, second.given.shape(), line_) ? given_on_line(first.given, second.given, shape)
                                                             : Tensor();
    }
    AttrsPtr attrs = first.attrs && second.attrs ? first.attrs->on_line(*second.attrs, line_) : first.attrs;
    if (first.attrs && !attrs) return {};
    Tensors in;
    for (std::size_t i = 0; i < first.in.size(); ++i) {
      in.push_back(made_on_line(*first.in[i], *second.in[i]));
      if (!in.back().is_valid()) return {};
    }
    return record(*first.op, in, std::move(attrs), first.where);
  }

  void note(const std::string& of_first, const std::string& of_second) {
    why_ = fmt::format("{} at {} and {} at {} do not lie on a line a n + b with a >= 0", of_first,
                       line_.first, of_second, line_.second);
  }

  const Program &first_, &second_;
  Line line_;
  const Program* before_;
  ProgramParts parts_;
  std::string why_;
};

}  // namespace

ProgramOnLine on_line(const Program& first, const Program& second, const Line& line) {
  return OnLine(first, second, line, nullptr).run();
}
ProgramOnLine on_line(const Program& first, const Program& second, const Line& line, const Program& before) {
  return OnLine(first, second, line, &before).run();
}

std::string first_difference(const Program& a, const Program& b) {
  if (a.same(b)) return "";
  for (std::size_t i = 0; i < std::min(a.constants().size(), b.constants().size()); ++i) {
    if (!same_constants(a.constants()[i], b.constants()[i]))
      return fmt::format("{} is {}", constant_text(a.constants()[i]), constant_text(b.constants()[i]));
  }
  const std::size_t n = std::min(a.instructions().size(), b.instructions().size());
  for (std::size_t i = 0; i < n; ++i) {
    const std::string of_a = a.text(a.instructions()[i]), of_b = b.text(b.instructions()[i]);
    if (of_a != of_b) return fmt::format("{} is {}", of_a, of_b);
  }
  return "what is recorded";
}

}  // namespace lodestone::engine
