// SPDX-License-Identifier: Apache-2.0
#include "engine/core/random.hpp"

#include "engine/backend/reference/families.hpp"
#include "engine/backend/reference/strided.hpp"
#include "engine/backend/scalar_functions.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/vmath/quantile.hpp"

namespace lodestone::engine {
namespace {

/// Word `index` of a stream: a block of Philox has four of u32, two of u64.
std::uint64_t word(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, DType dtype) {
  const std::uint64_t n = dtype == DType::u32 ? 4 : 2;
  const auto block = core::philox4x32(core::philox_counter(index / n, stream), core::philox_key(seed));
  const auto at = static_cast<std::size_t>(index % n);
  return dtype == DType::u32 ? block[at] : block[2 * at] | std::uint64_t{block[2 * at + 1]} << 32;
}

void random_bits_loop(const KernelCall& call) {
  const auto& [shape, dtype] = call.attrs_of<RandomAttrs>();
  Shape keys = call.in[0].shape();
  keys[keys.rank() - 1] = 1;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i) {
    IntList at = reference::indices_of(i / shape.count(), keys);
    std::array<std::uint64_t, 3> key{};
    for (std::size_t k = 0; k < 3; ++k) {
      at[at.size() - 1] = static_cast<Dim>(k);
      key[k] = reference::element<std::uint64_t>(call.in[0], at);
    }
    const std::uint64_t drawn =
        word(key[0], key[1], key[2] + static_cast<std::uint64_t>(i % shape.count()), dtype);
    if (dtype == DType::u32) {
      call.out[0].as<std::uint32_t>()[i] = static_cast<std::uint32_t>(drawn);
    } else {
      call.out[0].as<std::uint64_t>()[i] = drawn;
    }
  }
}

/// Exchanges from the last place on.
void permutation_loop(const KernelCall& call) {
  const Dim n = call.out[0].shape().back();
  const std::int64_t n_keys = n > 0 ? call.out[0].count() / n : 0;
  for (std::int64_t k = 0; k < n_keys; ++k) {
    std::array<std::uint64_t, 3> key{};
    for (std::size_t j = 0; j < 3; ++j)
      key[j] = reference::element<std::uint64_t>(
          call.in[0], reference::indices_of(3 * k + static_cast<std::int64_t>(j), call.in[0].shape()));
    auto* out = call.out[0].as<std::int64_t>() + k * n;
    for (Dim i = 0; i < n; ++i) out[i] = i;
    for (Dim i = n - 1; i > 0; --i) {
      const auto at = static_cast<std::uint64_t>(i);
      std::swap(out[i], out[word(key[0], key[1], key[2] + at, DType::u64) % (at + 1)]);
    }
  }
}

template <class T>
void quantile_loop(const KernelCall& call) {
  using Wide = typename scalar::Wider<T>::type;
  for (std::int64_t i = 0; i < call.out[0].count(); ++i)
    call.out[0].as<T>()[i] = static_cast<T>(vmath::normal_quantile(
        static_cast<Wide>(reference::element<T>(call.in[0], reference::indices_of(i, call.out[0].shape())))));
}

}  // namespace

void register_reference_random(OpTable& table) {
  table.at("random_bits").with_kernel(Backend::reference, DType::u64, {"reference", random_bits_loop});
  table.at("random_permutation").with_kernel(Backend::reference, DType::u64, {"reference", permutation_loop});
  table.at("normal_quantile")
      .with_kernel(Backend::reference, DType::f32, {"reference", quantile_loop<float>});
  table.at("normal_quantile")
      .with_kernel(Backend::reference, DType::f64, {"reference", quantile_loop<double>});
}

}  // namespace lodestone::engine
