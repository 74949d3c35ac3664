// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/data/loader.hpp"
#include "engine/data/transforms.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

constexpr std::uint64_t seed = 11;

/// x [n, 5, 2] of the numbers from 1 on.
Tensor example(Dim n) {
  std::vector<double> values(static_cast<std::size_t>(n * 10));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0 + static_cast<double>(i);
  return Tensor::from(values, {n, 5, 2});
}

Tensor item(const Tensor& x, Dim i) { return squeeze(slice(x, 0, i, i + 1), 0); }

using Treated = std::function<Tensor(const Tensor& x, const Tensor& keys)>;

/// Alone with its key, in a batch, by vmap and by a loader: the same bits.
void check_same_everywhere(const Treated& treat) {
  const Tensor x = example(6);
  const Loader loader(Dataset(NamedTensors{{"x", x}}), {.batch_size = 4,
                                                        .order = Order::stored,
                                                        .seed = seed,
                                                        .transform =
                                                            [&](NamedTensors batch, const Tensor& keys) {
                                                              batch.at("x") = treat(batch.at("x"), keys);
                                                              return batch;
                                                            },
                                                        .read_ahead = 1});
  Tensors from_loader, keys;
  while (const auto batch = loader.next()) from_loader.push_back(batch->at("x"));
  for (Dim i = 0; i < 6; ++i) keys.push_back(expand_dims(item_key(seed, 0, i), 0));
  const std::vector<double> pipeline = concatenate(from_loader, 0).to_vector<double>();
  CHECK(treat(x, concatenate(keys, 0)).to_vector<double>() == pipeline);
  for (Dim i = 0; i < 6; ++i) {
    const Tensor alone = treat(item(x, i), item_key(seed, 0, i));
    const auto n = static_cast<std::size_t>(alone.count());
    CHECK(alone.to_vector<double>() ==
          std::vector(pipeline.begin() + static_cast<std::ptrdiff_t>(n) * i,
                      pipeline.begin() + static_cast<std::ptrdiff_t>(n) * (i + 1)));
  }
}

}  // namespace

TEST_CASE("transforms: every one gives the same bits for an item alone, in a batch and in a loader") {
  using namespace transforms;
  const Moments scale = moments(Dataset(NamedTensors{{"x", example(6)}}), "x");
  check_same_everywhere([&](const Tensor& x, const Tensor&) { return standardize(x, scale); });
  check_same_everywhere([](const Tensor& x, const Tensor&) { return transforms::log10(x); });
  check_same_everywhere([](const Tensor& x, const Tensor&) { return clip(x, 3.0, 17.0); });
  check_same_everywhere([](const Tensor& x, const Tensor& keys) { return noise(x, keys, 0.5); });
  check_same_everywhere([](const Tensor& x, const Tensor& keys) { return random_flip(x, keys, 0); });
  check_same_everywhere(
      [](const Tensor& x, const Tensor& keys) { return random_shift(x, keys, 0, 3, -1.0); });
  check_same_everywhere([](const Tensor& x, const Tensor& keys) {
    const Tensor each = split_key(keys, 2);
    const auto key = [&](Dim i) { return squeeze(slice(each, -2, i, i + 1), -2); };
    return random_flip(noise(x, key(0), 0.5), key(1), 1);
  });
}

TEST_CASE("transforms: moments of a dataset are those of all its items at once") {
  // Two columns, one that does not vary; many items, so that they are read in several pieces.
  constexpr Dim n = 600000;
  std::vector<float> values(2 * n);
  for (std::size_t i = 0; i < n; ++i) {
    values[2 * i] = 1000.0F + static_cast<float>(i % 7);
    values[2 * i + 1] = 5.0F;
  }
  const Dataset data(NamedTensors{{"x", Tensor::from(values, {n, 2})}});
  const transforms::Moments found = transforms::moments(data, "x");
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) sum += values[2 * i];
  const double mean_of_all = sum / n;
  for (std::size_t i = 0; i < n; ++i) squares += std::pow(values[2 * i] - mean_of_all, 2);
  CHECK(found.mean.data<float>()[0] == Approx(mean_of_all).epsilon(1e-7));
  CHECK(found.deviation.data<float>()[0] == Approx(std::sqrt(squares / n)).epsilon(1e-6));
  CHECK(found.mean.data<float>()[1] == 5.0F);
  CHECK(found.deviation.data<float>()[1] == 1.0F);
  const Tensor x = data.items(0, 14).at("x");
  const Tensor there_and_back = transforms::unstandardize(transforms::standardize(x, found), found);
  CHECK(max(abs(there_and_back - x)).item<float>() < 1e-3F);
}

TEST_CASE("transforms: moments may be taken over axes of the item too") {
  const Tensor x = example(6);
  const transforms::Moments found = transforms::moments(Dataset(NamedTensors{{"x", x}}), "x", {0});
  CHECK(found.mean.shape() == Shape{1, 2});
  CHECK(found.mean.to_vector<double>() == squeeze(mean(x, Axes{0, 1}, Keep::yes), 0).to_vector<double>());
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] {
        static_cast<void>(transforms::moments(Dataset(NamedTensors{{"n", zeros({3}, DType::i32)}}), "n"));
      }),
      HasId("wrong_dtype", {"\"n\"", "f32", "f64", "i32[]"}));
}

TEST_CASE(
    "transforms: a shifted item is its neighbour's, with the fill moved in, by every distance up to the "
    "most") {
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5}, {5});
  std::set<std::vector<double>> seen, expected;
  for (int by = -2; by <= 2; ++by) {
    std::vector<double> shifted(5, 9.0);
    for (int i = 0; i < 5; ++i) {
      if (i - by >= 0 && i - by < 5) shifted[static_cast<std::size_t>(i)] = i - by + 1.0;
    }
    expected.insert(shifted);
  }
  for (std::int64_t i = 0; i < 200; ++i)
    seen.insert(transforms::random_shift(x, item_key(seed, 0, i), 0, 2, 9.0).to_vector<double>());
  CHECK(seen == expected);
  CHECK(transforms::random_shift(x, item_key(seed, 0, 0), 0, 0).to_vector<double>() == x.to_vector<double>());
  CHECK_NOTHROW(transforms::random_shift(x, item_key(seed, 0, 0), 0, 20).eval());
}

TEST_CASE("transforms: items are flipped with the probability asked for") {
  const Tensor x = example(400);
  Tensors keys;
  for (std::int64_t i = 0; i < 400; ++i) keys.push_back(expand_dims(item_key(seed, 3, i), 0));
  const Tensor flipped = transforms::random_flip(x, concatenate(keys, 0), -2, 0.25);
  int n_flipped = 0;
  for (Dim i = 0; i < 400; ++i) {
    const std::vector<double> before = item(x, i).to_vector<double>(),
                              after = item(flipped, i).to_vector<double>();
    if (before == after) continue;
    CHECK(after == flip(item(x, i), 0).to_vector<double>());
    ++n_flipped;
  }
  CHECK(n_flipped > 65);
  CHECK(n_flipped < 135);
}

TEST_CASE("transforms: keys that do not fit and axes that do not exist are told") {
  const Tensor x = example(4);
  CHECK_THAT(error_of<core::ShapeError>(
                 [&] { static_cast<void>(transforms::noise(x, split_key(random_key(1), 3), 1.0)); }),
             HasId("wrong_keys", {"u64[3, 3]", "f64[4, 5, 2]"}));
  CHECK_THAT(error_of<core::ShapeError>(
                 [&] { static_cast<void>(transforms::random_flip(x, split_key(random_key(1), 4), 2)); }),
             HasId("axis_out_of_range", {"transforms::random_flip"}));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(transforms::random_shift(x, random_key(1), 0, -1)); }),
             HasId("negative_shift", {"-1"}));
  CHECK(transforms::log10(Tensor::from(std::vector<double>{0.001, 1, 1e5}, {3})).to_vector<double>()[2] ==
        Approx(5.0).epsilon(1e-15));
}
