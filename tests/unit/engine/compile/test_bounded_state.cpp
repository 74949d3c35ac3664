// SPDX-License-Identifier: Apache-2.0
// Words one after the other, with keys and values of those before in cells of bounded extent.
#include "engine/compile/tree.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/train/waves.hpp"

#include <set>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr Dim width = 6, bound = 1024;

Tensor drawn(const Shape& shape, std::uint64_t seed) {
  return tests::normals(shape, seed, DType::f64).eval();
}

/// One head of attention over the words so far.
class Head {
 public:
  [[nodiscard]] Tensor next(const Tensor& word, const Tensor& position, Dim bucket) const {
    keys_.assign(update_at(keys_.value(), matmul(word, of_keys_), {{0, position}}));
    values_.assign(update_at(values_.value(), matmul(word, of_values_), {{0, position}}));
    const Tensor scores = matmul(word, transpose(slice(keys_.value(), 0, 0, bucket)));
    const Tensor is_later = greater(iota(bucket), position);
    return matmul(softmax(select(is_later, -1e9, scores)), slice(values_.value(), 0, 0, bucket));
  }
  /// Returns what the last of these words sees, without a cache. shapes: [n, width] → [1, width]
  [[nodiscard]] Tensor seen_by_last(const Tensor& words) const {
    const Dim n = words.dim(0);
    const Tensor scores = matmul(slice(words, 0, n - 1, n), transpose(matmul(words, of_keys_)));
    return matmul(softmax(scores), matmul(words, of_values_));
  }
  [[nodiscard]] std::vector<const void*> places() const {
    return {keys_.value().node().data(), values_.value().node().data()};
  }

 private:
  Tensor of_keys_ = drawn({width, width}, 1), of_values_ = drawn({width, width}, 2);
  Variable keys_{"keys", zeros({bound, width}, DType::f64), Variable::Role::state},
      values_{"values", zeros({bound, width}, DType::f64), Variable::Role::state};
};

Dim bucket_of(Dim n_words) {
  Dim bucket = 64;
  while (bucket < n_words) bucket *= 4;
  return bucket;
}

}  // namespace

TEST_CASE(
    "bounded state: lengths 1 to 1024 need three compilations, and words of a bucket one amount of work",
    "[engine]") {
  const Head head;
  const auto step = compile([&](const Tensor& word, const Tensor& position,
                                Dim bucket) { return head.next(word, position, bucket); },
                            {.breaks = Breaks::refused});
  const Tensor words = drawn({bound, width}, 3);
  std::vector<std::int64_t> launches;
  std::vector<const void*> places;
  for (Dim i = 0; i < bound; ++i) {
    const std::int64_t before = step.stats().n_launches;
    const Tensor seen = step(slice(words, 0, i, i + 1), i, static_arg(bucket_of(i + 1)));
    launches.push_back(step.stats().n_launches - before);
    if (i == 1) places = head.places();
    if (i > 1 && head.places() != places) FAIL("word " << i << " moved the cache");
    if (i % 61 != 0 && i != 63 && i != 64 && i + 1 != bound) continue;
    INFO("word " << i);
    CHECK(max(abs(seen - head.seen_by_last(slice(words, 0, 0, i + 1)))).item<double>() < 1e-12);
  }
  for (const auto& [first, last] : {std::pair{0, 64}, {64, 256}, {256, 1024}})
    CHECK(std::set(launches.begin() + first, launches.begin() + last).size() == 1);
  const CompileStats stats = step.stats();
  CHECK(stats.n_traces == 3);
  CHECK(stats.n_undonated == 0);
}
