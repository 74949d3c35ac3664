// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/record/trace.hpp"
#include "engine/record/tuple.hpp"

#include <fmt/format.h>

namespace lodestone::tests {

/// A function that uses one row of the op table, and inputs for it.
struct SampleFunction {
  std::string name;  ///< row, dtype and seed
  engine::Function f;
  engine::Tensors inputs;

  [[nodiscard]] engine::Trace trace() const {
    const std::vector<engine::Aval> avals = engine::avals_of(inputs);
    return engine::Trace::without_values(f, avals, std::source_location::current());
  }
};

/// Returns a function made from the sample of a row.
inline SampleFunction sample_function(const engine::OpInfo& row, engine::DType dtype, std::uint64_t seed) {
  engine::Sampler sampler(dtype, seed);
  engine::Sample sample = row.sample(sampler);
  engine::Tensors inputs = sample.inputs;
  engine::eval(inputs);
  const auto f = [&row, sample = std::move(sample)](const engine::Tensors& x) -> engine::Tensors {
    const engine::Tensors in = sample.prepare ? sample.prepare(x) : x;
    const engine::Tensor out = engine::record(row, in, sample.attrs, std::source_location::current());
    if (sample.finish) return {sample.finish(out)};
    return out.aval().kind == engine::Kind::tuple ? engine::elements_of(out) : engine::Tensors{out};
  };
  return {fmt::format("{} {} {}", row.name, core::name_of(dtype), seed), f, std::move(inputs)};
}

/// Calls visit(SampleFunction) for all rows and their dtypes.
template <class Visit>
void for_each_sample_function(std::uint64_t n_seeds, const Visit& visit) {
  for (const engine::OpInfo& row : engine::OpTable::global().rows()) {
    for (int i = 0; i < core::n_dtypes; ++i) {
      const auto dtype = static_cast<engine::DType>(i);
      if (!row.dtypes.contains(dtype)) continue;
      for (std::uint64_t seed = 1; seed <= n_seeds; ++seed) visit(sample_function(row, dtype, seed));
    }
  }
}

}  // namespace lodestone::tests
