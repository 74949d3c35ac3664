// SPDX-License-Identifier: Apache-2.0
// Random bits: blocks of Philox side by side in the lanes of a vector.
#include "engine/core/random.hpp"

#include "engine/backend/cpu/isa.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/philox.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/backend/workspace.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/vmath/quantile.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace lodestone::engine::cpu_backend {
namespace {

constexpr std::int64_t n_blocks = 64;    // computed at once, at most
constexpr std::uint64_t n_at_once = 16;  // lanes of the widest vectors
using Words = std::array<std::uint32_t, 4 * n_blocks>;

[[gnu::always_inline]] inline void fill_blocks(Words& words, std::uint64_t seed, std::uint64_t stream,
                                               std::uint64_t first, std::uint64_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const auto block = core::philox4x32(core::philox_counter(first + i, stream), core::philox_key(seed));
    for (std::size_t k = 0; k < 4; ++k) words[4 * i + k] = block[k];
  }
}

/// n elements of one key, from element `first` after its position on.
template <class T>
void fill(T* out, std::int64_t n, const std::uint64_t* key, std::int64_t first) {
  constexpr std::uint64_t per_block = 16 / sizeof(T);
  const auto blocks = Widest<fill_blocks>::get();
  const std::uint64_t from = key[2] % per_block + static_cast<std::uint64_t>(first);
  auto skipped = static_cast<std::int64_t>(from % per_block);
  Words words;
  for (std::uint64_t block = key[2] / per_block + from / per_block; n > 0; block += n_blocks, skipped = 0) {
    const std::int64_t count =
        std::min<std::int64_t>(n, n_blocks * static_cast<std::int64_t>(per_block) - skipped);
    const std::uint64_t n_needed = (static_cast<std::uint64_t>(skipped + count) + per_block - 1) / per_block;
    blocks(words, key[0], key[1], block, (n_needed + n_at_once - 1) / n_at_once * n_at_once);
    static_assert(std::endian::native == std::endian::little);  // of two words, the first is the low one
    std::memcpy(out, words.data() + static_cast<std::size_t>(skipped) * (sizeof(T) / 4),
                static_cast<std::size_t>(count) * sizeof(T));
    out += count;
    n -= count;
  }
}

/// One word of each of n steps, to each lane.
template <class T>
void fill_lanes(const std::uint64_t* key, std::int64_t first, std::int64_t step, std::int64_t n,
                std::span<const WordLane> lanes) {
  if (step == 1) {
    const T* const made = reinterpret_cast<T*>(lanes[0].out);
    fill(reinterpret_cast<T*>(lanes[0].out), n, key, first);
    for (const WordLane& lane : lanes.subspan(1)) std::copy_n(made, n, reinterpret_cast<T*>(lane.out));
    return;
  }
  std::array<T, 1024> words;  // of some steps, in the nearest cache
  const std::int64_t at_once = std::ssize(words) / step;
  for (std::int64_t done = 0; done < n; done += at_once) {
    const std::int64_t n_here = std::min(at_once, n - done);
    fill(words.data(), n_here * step, key, (first + done) * step);
    for (const WordLane& lane : lanes) {
      T* const out = reinterpret_cast<T*>(lane.out) + done;
      const T* const in = words.data() + lane.number;
      const auto take = [&](auto every) {
        for (std::int64_t i = 0; i < n_here; ++i) out[i] = in[i * every];
      };
      step == 2 ? take(std::integral_constant<std::int64_t, 2>()) : take(step);  // which vectorizes
    }
  }
}

/// n elements of each of some keys. Threads divide the elements; each follows from its key and index.
template <class T>
void fill_all(T* out, std::int64_t n, const std::uint64_t* keys, std::int64_t n_keys) {
  const double ns = ns_per_byte_of_words * static_cast<double>(sizeof(T)) * static_cast<double>(n * n_keys);
  share(n * n_keys, ns, [&](Dim first, Dim last) {
    while (first < last) {
      const std::int64_t key = first / n, at = first % n, count = std::min(n - at, last - first);
      fill(out + first, count, keys + 3 * key, at);
      first += count;
    }
  });
}

void random_bits_kernel(const KernelCall& call) {
  const auto& [shape, dtype] = call.attrs_of<RandomAttrs>();
  const std::int64_t n = shape.count(), n_keys = call.in[0].count() / 3;
  const auto* keys = call.in[0].as<std::uint64_t>();
  if (dtype == DType::u32) {
    fill_all(call.out[0].as<std::uint32_t>(), n, keys, n_keys);
  } else {
    fill_all(call.out[0].as<std::uint64_t>(), n, keys, n_keys);
  }
}

std::uint64_t* words_of_key(Layout& layout, const KernelCall& call) {
  return layout.array<std::uint64_t>(call.out[0].shape().back());
}

/// The words of a key first, then the exchanges.
void permutation_kernel(const KernelCall& call) {
  const Dim n = call.out[0].shape().back();
  auto* const words = shared_arrays<words_of_key>(call);
  for (std::int64_t k = 0; k < call.in[0].count() / 3; ++k) {
    fill_all(words, n, call.in[0].as<std::uint64_t>() + 3 * k, 1);
    auto* out = call.out[0].as<std::int64_t>() + k * n;
    std::iota(out, out + n, std::int64_t{0});
    for (auto i = static_cast<std::size_t>(n); i-- > 1;) std::swap(out[i], out[words[i] % (i + 1)]);
  }
}

template <class T>
void quantile_kernel(const KernelCall& call) {
  const auto* in = call.in[0].as<T>();
  auto* out = call.out[0].as<T>();
  share(call.out[0].count(), 10.0 * static_cast<double>(call.out[0].count()), [&](Dim first, Dim last) {
    for (Dim i = first; i < last; ++i) out[i] = vmath::normal_quantile(in[i]);
  });
}

}  // namespace

void fill_words(core::DType dtype, const std::uint64_t* key, std::int64_t first, std::int64_t step,
                std::int64_t n, std::span<const WordLane> lanes) {
  const auto fill_all = dtype == core::DType::u32 ? fill_lanes<std::uint32_t> : fill_lanes<std::uint64_t>;
  fill_all(key, first, step, n, lanes);
}

void register_random_kernels(OpTable& table) {
  table.at("random_bits")
      .with_kernel(Backend::processor, DType::u64, {"cpu.philox", random_bits_kernel, true});
  table.at("random_permutation")
      .with_kernel(Backend::processor, DType::u64,
                   {.name = "cpu.philox",
                    .run = permutation_kernel,
                    .contiguous_inputs = true,
                    .workspace = shared_workspace<words_of_key>});
  table.at("normal_quantile")
      .with_kernel(Backend::processor, DType::f32, {"cpu.rows", quantile_kernel<float>, true, true});
  table.at("normal_quantile")
      .with_kernel(Backend::processor, DType::f64, {"cpu.rows", quantile_kernel<double>, true, true});
}

}  // namespace lodestone::engine::cpu_backend
