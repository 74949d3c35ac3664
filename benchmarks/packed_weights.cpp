// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/packed_weights.hpp"

#include "benchmarks/mt_vae.hpp"
#include "benchmarks/turns.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "models/vae/vae.hpp"

#include <fmt/format.h>

#include <limits>

namespace lodestone::bench {
namespace {

using namespace engine;

void measure(Results& results, const std::string& name, const Function& f, const Tensors& in) {
  CompileOptions in_every_run;  // a budget that holds nothing back: within one nothing is packed in advance
  in_every_run.budget = std::numeric_limits<std::size_t>::max();
  const Compiled packing = compile(f, in_every_run), packed = compile(f);
  static_cast<void>(packed(in));
  const auto [seconds, seconds_packed] = medians_of_turns(packing, packed, in);
  results.add({name, "packed once", "s", seconds_packed, {}, "in every run", seconds});
  results.add({name, "weights", "", static_cast<double>(packed.stats().n_packed), {}, {}, {}});
}

}  // namespace

void measure_packed_weights(Results& results) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    InitialValues initial(7, dtype);
    const models::vae::VaeDecoderNet decoder({}, initial);
    decoder.set_mode(Mode::evaluation);
    const auto values = [&](const Tensors& codes) -> Tensors { return {decoder(codes[0])}; };
    const auto of_one = [&](const Tensor& one) { return squeeze(decoder(expand_dims(one, 0)), 0); };
    const auto slopes = [&](const Tensors& codes) -> Tensors {
      return {jacobian(of_one, squeeze(codes[0], 0), JacobianMode::forward)};
    };
    for (const Dim n : {1, 40}) {
      measure(results, fmt::format("MT decoder, {} columns, {}", n, core::name_of(dtype)), values,
              {normals({n, 16}, 3, dtype)});
    }
    measure(results, fmt::format("Jacobian of the MT decoder, one column, {}", core::name_of(dtype)), slopes,
            {normals({1, 16}, 3, dtype)});
    for (const Dim extent : {4, 8, 16, 32}) {
      const Tensor w = normals({3, 3, 64, 64}, 1, dtype);
      measure(results, fmt::format("3 × 3, 64 channels, {0} × {0}, {1}", extent, core::name_of(dtype)),
              [w](const Tensors& x) -> Tensors {
                return {conv(x[0], w, {.low = {1, 1}, .high = {1, 1}})};
              },
              {normals({1, extent, extent, 64}, 2, dtype)});
    }
  }
}

}  // namespace lodestone::bench
