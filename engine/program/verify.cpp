// SPDX-License-Identifier: Apache-2.0
// This file checks what holds for every program.
#include "engine/core/error.hpp"
#include "engine/program/program.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

template <class... Args>
[[noreturn]] void refuse(std::string_view id, fmt::format_string<Args...> text, Args&&... args) {
  throw core::InvalidArgument(
      core::Worded{fmt::format("[engine::Program] expected a function in single assignment, but {}",
                               fmt::format(text, std::forward<Args>(args)...)),
                   fmt::format("engine::Program#{}", id)});
}

/// Goes over the instructions in their order.
class Verifier {
 public:
  explicit Verifier(const ProgramParts& parts) : parts_(parts) {}
  void run();

 private:
  [[nodiscard]] bool has_origin(ValueId id) const;
  void check_values();
  void check(const Instruction& each);
  [[nodiscard]] Tensors operands(const Instruction& each) const;
  [[nodiscard]] std::vector<Aval> inferred(const Instruction& each, const Tensors& in) const;
  void check_results(const Instruction& each, const std::vector<Aval>& avals);
  [[nodiscard]] std::string named(const Instruction& each) const {
    return fmt::format("instruction {}, {},", &each - parts_.instructions.data(), each.op->name);
  }

  const ProgramParts& parts_;
  Tensors stand_ins_;           ///< constants, and placeholders of the other values, for the shape rules
  std::size_t n_operands_ = 0;  ///< those of the instructions before
};

bool Verifier::has_origin(ValueId id) const {
  const Value& value = parts_.values[id];
  switch (value.from) {
    case Value::From::input:
      return value.of == id && id < parts_.n_inputs;
    case Value::From::constant:
      return value.of < parts_.constants.size() && parts_.constants[value.of].aval() == value.aval;
    default:
      return value.of < parts_.instructions.size() &&
             value.output < parts_.instructions[value.of].n_results &&
             id == parts_.instructions[value.of].first_result + value.output;
  }
}

void Verifier::check_values() {
  std::vector<bool> is_used(parts_.constants.size());
  for (ValueId id = 0; id < parts_.values.size(); ++id) {
    const Value& value = parts_.values[id];
    if (!has_origin(id)) refuse("no_origin", "value %{}, {}, comes from nowhere", id, value.aval.text());
    const bool is_constant = value.from == Value::From::constant;
    if (is_constant) is_used[value.of] = true;
    stand_ins_.push_back(is_constant ? parts_.constants[value.of] : placeholder(value.aval));
  }
  if (std::ranges::find(is_used, false) != is_used.end())
    refuse("no_origin", "one of {} constants is no value", is_used.size());
}

Tensors Verifier::operands(const Instruction& each) const {
  if (each.first_operand != n_operands_ || n_operands_ + each.n_operands > parts_.operands.size())
    refuse("wrong_operands", "{} shares operands with others", named(each));
  Tensors in;
  for (std::size_t i = n_operands_; i < n_operands_ + each.n_operands; ++i) {
    const ValueId id = parts_.operands[i];
    if (id >= each.first_result || id >= stand_ins_.size())
      refuse("used_before_made", "{} uses %{} before it is made", named(each), id);
    in.push_back(stand_ins_[id]);
  }
  return in;
}

std::vector<Aval> Verifier::inferred(const Instruction& each, const Tensors& in) const {
  try {
    check_inputs(*each.op, in, each.where);
    const InferArgs args{*each.op, in, each.attrs.get(), each.where};
    const Aval aval = each.op->infer(args);
    return each.op->results ? each.op->results(args) : std::vector{aval};
  } catch (const core::Error& error) {
    refuse("refused_by_row", "{} is refused: {}", named(each), error.what());
  }
}

void Verifier::check_results(const Instruction& each, const std::vector<Aval>& avals) {
  if (avals.size() != each.n_results || each.first_result + avals.size() > parts_.values.size())
    refuse("wrong_results", "{} gives {} results, not {}", named(each), avals.size(), each.n_results);
  const auto number = static_cast<std::uint32_t>(&each - parts_.instructions.data());
  for (std::uint32_t i = 0; i < each.n_results; ++i) {
    const ValueId id = each.first_result + i;
    const Value& value = parts_.values[id];
    if (value.from != Value::From::result || value.of != number || value.output != i)
      refuse("two_origins", "{} gives %{}, which has another origin", named(each), id);
    if (!(value.aval == avals[i]))
      refuse("wrong_aval", "{} gives {} as %{}, not {}", named(each), avals[i].text(), id, value.aval.text());
  }
}

void Verifier::check(const Instruction& each) {
  check_results(each, inferred(each, operands(each)));
  const bool is_effect =
      each.op->runs_when_recorded != nullptr && each.op->runs_when_recorded(each.attrs.get());
  if (each.is_effect != is_effect)
    refuse("wrong_effect", "{} is {} effect", named(each), is_effect ? "an" : "no");
  n_operands_ += each.n_operands;
}

void Verifier::run() {
  check_values();
  for (const Instruction& each : parts_.instructions) check(each);
  if (parts_.operands.size() != n_operands_)
    refuse("wrong_operands", "{} operands belong to no instruction", parts_.operands.size() - n_operands_);
  for (const ValueId id : parts_.outputs) {
    if (id >= parts_.values.size()) refuse("wrong_output", "output %{} is no value", id);
  }
}

}  // namespace

Program::Program(ProgramParts parts) : parts_(std::move(parts)) { Verifier(parts_).run(); }

}  // namespace lodestone::engine
