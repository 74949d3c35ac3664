// SPDX-License-Identifier: Apache-2.0
// The rows of the table that are known element by element, as expressions, with operands of all kinds of
// bits.
#pragma once

#include "engine/graph/op_info.hpp"
#include "engine/ops/ops.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"

#include <cstring>

namespace lodestone::tests {

inline constexpr std::uint64_t n_patterns = 1 << 16;

/// Returns the bits of an element: of floats every sign, exponent and leading digits, of 8 bits every number,
/// of longer integers those whose products fit.
inline std::uint64_t pattern(engine::DType dtype, std::uint64_t i) {
  const std::uint64_t rest = (i % 4 == 0 ? 0 : i * 0x9e3779b97f4a7c15) >> 16;
  const auto narrow = static_cast<std::int16_t>(i);
  if (dtype == engine::DType::b8) return i % 3 == 0 ? 1 : 0;
  if (dtype == engine::DType::f64) return i << 48 | rest;
  if (dtype == engine::DType::f32) return i << 16 | (rest & 0xffff);
  if (dtype == engine::DType::i64 || dtype == engine::DType::u64)
    return static_cast<std::uint64_t>(narrow * std::int64_t{30000} + static_cast<std::int64_t>(rest % 30000));
  return core::is_integer(dtype) ? static_cast<std::uint64_t>(std::int64_t{narrow}) : i;
}

/// Returns all patterns in an order of their own for each odd `factor`.
inline engine::Tensor patterns(engine::DType dtype, std::uint64_t factor) {
  const engine::Tensor result =
      engine::new_array({{static_cast<engine::Dim>(n_patterns / 16), 16}, dtype, engine::default_device()});
  const engine::DType part = core::real_of(dtype);
  const std::size_t size = core::size_of(part);
  std::byte* out = result.node().data();
  const auto put = [&](std::uint64_t i) {  // the first bytes of a number are its lowest
    const std::uint64_t bits = pattern(part, i % n_patterns);
    std::memcpy(out, &bits, size);
    out += size;
  };
  for (std::uint64_t i = 0; i < n_patterns; ++i) {
    put(i * factor);
    if (core::is_complex(dtype)) put(i * factor * 40503);
  }
  return result;
}

/// An op on patterns.
struct RowCase {
  const engine::OpInfo& op;
  engine::AttrsPtr attrs;
  engine::Tensors in;
};

inline engine::Expr expr_of(const RowCase& each, engine::DType result) {
  engine::ExprWriter writer;
  std::vector<engine::Aval> avals;
  for (const engine::Tensor& x : each.in) avals.push_back(x.aval());
  const engine::Aval out{each.in[0].shape(), result, each.in[0].device()};
  const engine::AxisMap map = each.op.axis_map({avals, out, each.attrs.get()});
  std::vector<engine::ExprId> in;
  for (std::size_t i = 0; i < each.in.size(); ++i)
    in.push_back(writer.load(each.in[i].dtype(), map.sources(i), out.shape));
  const engine::Kernel& kernel = each.op.kernel(engine::cpu, each.in[0].dtype());
  writer.store(append(writer, kernel, each.attrs.get(), in, result), out.shape);
  return writer.expr();
}

/// Returns which operands are one element.
inline std::vector<bool> are_one(const engine::Tensors& in) {
  std::vector<bool> result;
  for (const engine::Tensor& each : in) result.push_back(each.count() == 1);
  return result;
}

/// Calls visit(RowCase) for each row that is known element by element, on each of its dtypes.
template <class Visit>
void for_each_case(const Visit& visit) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<engine::DType>(i);
    const engine::Tensors all{patterns(dtype, 1), patterns(dtype, 40503), patterns(dtype, 30011)};
    for (const engine::OpInfo* row : rows_with_expressions(dtype)) {
      engine::Sampler sampler(dtype, 1);
      const engine::AttrsPtr attrs = row->sample(sampler).attrs;
      for (int k = 0; k < core::n_dtypes && (row->name == "cast" || row->name == "select"); ++k) {
        const auto other = static_cast<engine::DType>(k);
        const bool loses = core::is_complex(dtype) && !core::is_complex(other);
        if (row->name == "cast" && !loses)
          visit(RowCase{*row, engine::make_attrs(engine::CastAttrs{other}), {all[0]}});
        if (row->name == "select")
          visit(RowCase{*row, {}, {all[0], patterns(other, 40503), patterns(other, 30011)}});
      }
      if (row->name == "scale_shift") {
        const auto first_row = [](const engine::Tensor& x) { return reshape(slice(x, 0, 0, 1), {16}); };
        visit(RowCase{*row, attrs, {all[0], first_row(all[1]), first_row(all[2])}});
      } else if (row->name == "adam_step") {
        visit(RowCase{*row,
                      attrs,
                      {all[0], all[1], all[2], engine::full({}, 1e-3, dtype), engine::full({}, 1.1, dtype)}});
      } else if (row->name != "cast" && row->name != "select") {
        visit(RowCase{*row, attrs, engine::Tensors(all.begin(), all.begin() + row->n_inputs)});
      }
    }
  }
}

}  // namespace lodestone::tests
