// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/expr.hpp"

#include "engine/graph/op_info.hpp"

#include <algorithm>
#include <bit>

namespace lodestone::engine {
namespace {

bool same(const Expr::Value& a, const Expr::Value& b) {
  return a.from == b.from && a.dtype == b.dtype && a.of == b.of;
}
bool same_load(const Expr::Load& a, const Expr::Load& b) { return a.from == b.from && a.shape == b.shape; }
bool same_store(const Expr::Store& a, const Expr::Store& b) {
  return a.value == b.value && a.shape == b.shape;
}
bool same_code(const Expr::Code& a, const Expr::Code& b) {
  return a.body == b.body && a.out == b.out && a.in == b.in;
}

}  // namespace

bool operator==(const Expr& a, const Expr& b) {
  return std::ranges::equal(a.values, b.values, same) && std::ranges::equal(a.loads, b.loads, same_load) &&
         a.numbers == b.numbers && std::ranges::equal(a.codes, b.codes, same_code) &&
         std::ranges::equal(a.stores, b.stores, same_store);
}

std::string Expr::text() const {
  std::string text;
  for (const Code& code : codes) {
    text += fmt::format("%{} = {{{}}}(", code.out, code.body->text);
    for (int i = 0; i < code.body->n_inputs; ++i)
      text += fmt::format("{}%{}", i == 0 ? "" : ", ", code.in[static_cast<std::size_t>(i)]);
    text += "); ";
  }
  text += "give";
  for (const Store& each : stores) text += fmt::format(" %{}", each.value);
  return text;
}

std::uint64_t Expr::hash() const {
  using detail::mixed;
  std::uint64_t hash = mixed(values.size(), loads.size());
  for (const auto& each : numbers) hash = mixed(hash, detail::attr_hash(each));
  for (const Code& code : codes) {
    hash = mixed(hash, std::bit_cast<std::uintptr_t>(code.body));
    for (const ExprId in : code.in) hash = mixed(hash, in);
  }
  for (const Store& each : stores) hash = mixed(mixed(hash, each.value), detail::attr_hash(each.shape));
  return hash;
}

ExprId ExprWriter::add(Expr::Value::From from, DType dtype, std::size_t of) {
  expr_.values.push_back({from, dtype, static_cast<std::uint16_t>(of)});
  return static_cast<ExprId>(expr_.values.size() - 1);
}

ExprId ExprWriter::load(DType dtype, IntList from, Shape shape) {
  expr_.loads.push_back({std::move(from), std::move(shape)});
  return add(Expr::Value::From::load, dtype, expr_.loads.size() - 1);
}

ExprId ExprWriter::number(const std::array<std::byte, 16>& element, DType dtype) {
  expr_.numbers.push_back(element);
  return add(Expr::Value::From::number, dtype, expr_.numbers.size() - 1);
}
ExprId ExprWriter::number(const Number& value, DType dtype) { return number(value.element(dtype), dtype); }

ExprId ExprWriter::apply(const LoopBody& body, DType result, std::span<const ExprId> in) {
  const ExprId out = add(Expr::Value::From::code, result, expr_.codes.size());
  Expr::Code code{&body, out, {}};
  std::ranges::copy(in, code.in.begin());
  expr_.codes.push_back(code);
  return out;
}

ExprId ExprWriter::apply(const OpInfo& op, std::initializer_list<ExprId> in) {
  const DType of = dtype(*in.begin());
  const auto& kernels = op.kernels[static_cast<std::size_t>(Backend::processor)];
  return apply(*kernels[static_cast<std::size_t>(of)].body, of, std::span(in.begin(), in.size()));
}

bool has_expression(const Kernel& kernel) { return kernel.body != nullptr || kernel.expression != nullptr; }

ExprId append(ExprWriter& writer, const Kernel& kernel, const Attrs* attrs, std::span<const ExprId> in,
              DType result) {
  return kernel.expression != nullptr ? kernel.expression(writer, attrs, in)
                                      : writer.apply(*kernel.body, result, in);
}

}  // namespace lodestone::engine
