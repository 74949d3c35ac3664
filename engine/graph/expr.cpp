// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/expr.hpp"

#include "engine/graph/op_info.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

namespace lodestone::engine {
namespace {

constexpr Dim n_of_key = 3;  // words of a key: seed, stream, position

bool same(const Expr::Value& a, const Expr::Value& b) {
  return a.from == b.from && a.dtype == b.dtype && a.of == b.of && a.per_row == b.per_row;
}
bool same_load(const Expr::Load& a, const Expr::Load& b) { return a.from == b.from && a.shape == b.shape; }
bool same_store(const Expr::Store& a, const Expr::Store& b) {
  return a.value == b.value && a.shape == b.shape;
}
bool same_code(const Expr::Code& a, const Expr::Code& b) {
  return a.body == b.body && a.out == b.out && a.in == b.in;
}
bool same_reduce(const Expr::Reduce& a, const Expr::Reduce& b) {
  return a.body == b.body && a.out == b.out && a.in == b.in;
}

}  // namespace

bool operator==(const Expr& a, const Expr& b) {
  return a.row == b.row && std::ranges::equal(a.values, b.values, same) &&
         std::ranges::equal(a.loads, b.loads, same_load) && a.numbers == b.numbers && a.words == b.words &&
         std::ranges::equal(a.codes, b.codes, same_code) &&
         std::ranges::equal(a.reduces, b.reduces, same_reduce) &&
         std::ranges::equal(a.stores, b.stores, same_store);
}

std::optional<Expr> Expr::on_line(const Expr& of_second, const Line& line) const {
  Expr result = *this;
  bool fits = of_second.loads.size() == loads.size() && of_second.numbers.size() == numbers.size() &&
              of_second.words.size() == words.size() && of_second.stores.size() == stores.size() &&
              put_on_line(result.row, of_second.row, line);
  for (std::size_t i = 0; fits && i < loads.size(); ++i)
    fits = put_on_line(result.loads[i].shape, of_second.loads[i].shape, line);
  for (std::size_t i = 0; fits && i < stores.size(); ++i)
    fits = put_on_line(result.stores[i].shape, of_second.stores[i].shape, line);
  for (const Value& each : values) {
    if (!fits || each.from != Value::From::number) continue;
    fits = put_on_line(result.numbers[each.of], of_second.numbers[each.of], each.dtype, line);
  }
  for (std::size_t i = 0; fits && i < words.size(); ++i) {
    Words& each = result.words[i];
    fits = of_second.words[i].step == each.step && put_on_line(each.first, of_second.words[i].first, line) &&
           put_on_line(each.per_key, of_second.words[i].per_key, line) &&
           (each.per_key % each.step == 0 || result.loads[each.load].shape.count() == n_of_key);
  }
  const auto is_short = [&](const Reduce& each) { return result.row <= each.body->longest; };
  if (!fits || !std::ranges::all_of(reduces, is_short)) return std::nullopt;
  return result;
}

std::span<const ExprId> Expr::inputs_of(ExprId value) const {
  const auto [from, _, of, per_row] = values[value];
  if (from == Value::From::code)
    return std::span(codes[of].in).first(static_cast<std::size_t>(codes[of].body->n_inputs));
  return from == Value::From::reduce ? std::span(&reduces[of].in, 1) : std::span<const ExprId>();
}

DType Expr::dtype_of_load(std::size_t load) const {
  const auto is_it = [&](const Value& each) { return each.from == Value::From::load && each.of == load; };
  const auto value = std::ranges::find_if(values, is_it);
  return value == values.end() ? DType::u64 : value->dtype;  // keys are no value
}

Dim Expr::count_of(ExprId value) const {
  const auto& [first, shape] = stores[0];
  const Dim n_rows = values[first].per_row ? shape.count() : shape.count() / row;
  return n_rows * (values[value].per_row ? 1 : row);
}

std::string Expr::text() const {
  std::string text;
  for (std::size_t id = 0; id < values.size(); ++id) {
    if (values[id].from == Value::From::words) {
      const auto& [load, _, first, step, per_key] = words[values[id].of];
      text += fmt::format("%{} = words {} + {} i of operand {}; ", id, first, step, load);
    }
    const std::span<const ExprId> in = inputs_of(static_cast<ExprId>(id));
    if (in.empty()) continue;
    const bool is_code = values[id].from == Value::From::code;
    text += is_code ? fmt::format("%{} = {{{}}}(", id, codes[values[id].of].body->text)
                    : fmt::format("%{} = {} of rows(", id, reduces[values[id].of].body->text);
    text += fmt::format("%{}); ", fmt::join(in, ", %"));
  }
  text += "give";
  for (const Store& each : stores) text += fmt::format(" %{}", each.value);
  return text;
}

std::uint64_t Expr::hash() const {
  using detail::mixed;
  std::uint64_t hash = mixed(values.size(), loads.size());
  for (const auto& each : numbers) hash = mixed(hash, detail::attr_hash(each));
  for (const Words& each : words) {
    hash = mixed(mixed(hash, each.load), each.out);
    for (const Dim number : {each.first, each.step, each.per_key})
      hash = mixed(hash, static_cast<std::uint64_t>(number));
  }
  for (const Code& code : codes) {
    hash = mixed(hash, std::bit_cast<std::uintptr_t>(code.body));
    for (const ExprId in : code.in) hash = mixed(hash, in);
  }
  for (const Reduce& each : reduces)
    hash = mixed(mixed(hash, std::bit_cast<std::uintptr_t>(each.body)), each.in);
  for (const Store& each : stores) hash = mixed(mixed(hash, each.value), detail::attr_hash(each.shape));
  return hash;
}

ExprId ExprWriter::add(Expr::Value::From from, DType dtype, std::size_t of, bool per_row) {
  expr_.values.push_back({from, dtype, static_cast<std::uint16_t>(of), per_row});
  return static_cast<ExprId>(expr_.values.size() - 1);
}

ExprId ExprWriter::load(DType dtype, IntList from, Shape shape) {
  expr_.loads.push_back({std::move(from), std::move(shape)});
  return add(Expr::Value::From::load, dtype, expr_.loads.size() - 1, per_row_);
}

ExprId ExprWriter::number(const std::array<std::byte, 16>& element, DType dtype) {
  expr_.numbers.push_back(element);
  return add(Expr::Value::From::number, dtype, expr_.numbers.size() - 1);
}
ExprId ExprWriter::number(const Number& value, DType dtype) { return number(value.element(dtype), dtype); }

ExprId ExprWriter::apply(const LoopBody& body, DType result, std::span<const ExprId> in) {
  const ExprId out = add(Expr::Value::From::code, result, expr_.codes.size(), per_row_);
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

ExprId ExprWriter::reduce(const RowBody& body, ExprId in) {
  const ExprId out = add(Expr::Value::From::reduce, dtype(in), expr_.reduces.size(), true);
  expr_.reduces.push_back({&body, out, in});
  return out;
}

bool has_expression(const Kernel& kernel) { return kernel.body != nullptr || kernel.expression != nullptr; }

ExprId append(ExprWriter& writer, const Kernel& kernel, const Attrs* attrs, std::span<const ExprId> in,
              DType result) {
  return kernel.expression != nullptr ? kernel.expression(writer, attrs, in)
                                      : writer.apply(*kernel.body, result, in);
}

}  // namespace lodestone::engine
