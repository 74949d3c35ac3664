// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch/kernel_table.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <Random123/philox.h>
#undef philox4x32  // a macro of the C interface with the name of our function

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

constexpr Dim many = 1 << 17;

/// Mean of x^power, with Σ x^power / n compared within five standard errors by the caller.
double moment(const std::vector<double>& x, int power) {
  double total = 0.0;
  for (const double each : x) total += std::pow(each, power);
  return total / static_cast<double>(x.size());
}

std::vector<double> doubles(const Tensor& x) { return cast(x, DType::f64).to_vector<double>(); }

}  // namespace

TEST_CASE("random_bits: the words of Random123, block after block, wherever the position starts",
          "[engine]") {
  const std::uint64_t seed = 0x299f31d0a4093822, stream = 0x0370734413198a2e;
  r123::Philox4x32 philox;
  std::vector<std::uint32_t> expected;
  for (std::uint32_t block = 0; block < 300; ++block) {
    const auto words = philox({{block, 1, 0x13198a2e, 0x03707344}}, {{0xa4093822, 0x299f31d0}});
    expected.insert(expected.end(), words.begin(), words.end());
  }
  const std::uint64_t first = std::uint64_t{1}
                              << 34;  // word 0 of block 2^32: high half of the block's number 1
  for (const std::int64_t skipped : {0, 1, 2, 3, 517}) {
    const Tensor key = advance(random_key(seed, stream), static_cast<std::int64_t>(first) + skipped);
    const auto words = random_bits(key, {600}).to_vector<std::uint32_t>();
    CHECK(std::equal(words.begin(), words.end(), expected.begin() + skipped));
    const ReferenceOnly reference;
    const auto slow = random_bits(key, {600}).to_vector<std::uint32_t>();
    CHECK(slow == words);
  }
  const Tensor key = advance(random_key(seed, stream), static_cast<std::int64_t>(first / 2) + 1);
  const auto wide = random_bits(key, {500}, DType::u64).to_vector<std::uint64_t>();
  for (std::size_t i = 0; i < wide.size(); ++i)
    REQUIRE(wide[i] == (expected[2 * i + 2] | std::uint64_t{expected[2 * i + 3]} << 32));
}

TEST_CASE("random: an element depends on the key and its index only", "[engine]") {
  const Tensor key = random_key(7, 1);
  const auto whole = random_normal(key, {40, 25}, DType::f64).to_vector<double>();
  const auto start = random_normal(key, {100}, DType::f64).to_vector<double>();
  const auto rest = random_normal(advance(key, 2 * 100), {900}, DType::f64).to_vector<double>();
  CHECK(std::equal(start.begin(), start.end(), whole.begin()));
  CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + 100));
}

TEST_CASE("random: keys of a split differ from each other, from those after an advance and from other seeds",
          "[engine]") {
  std::set<std::vector<std::uint64_t>> seen;
  const auto take = [&](const Tensor& keys) {
    for (Dim i = 0; i < keys.dim(0); ++i) seen.insert(slice(keys, 0, i, i + 1).to_vector<std::uint64_t>());
  };
  const Tensor key = random_key(1);
  take(split_key(key, 5));
  take(split_key(advance(key, 5), 5));
  take(split_key(random_key(2), 5));
  take(split_key(random_key(1, 1), 5));
  take(split_key(squeeze(slice(split_key(key, 1), 0, 0, 1), 0), 5));
  CHECK(seen.size() == 25);
  CHECK(split_key(key, 8).to_vector<std::uint64_t>()[17] == 0);  // positions start anew
}

TEST_CASE("random: vmap over keys draws what a loop over them draws", "[engine]") {
  const Tensor keys = split_key(random_key(3), 4);
  const Tensor together = vmap([](const Tensor& key) {
    return random_normal(key, {5}, DType::f64) + random_uniform(key, {5}, DType::f64);
  })(keys);
  CHECK(together.shape() == Shape{4, 5});
  CHECK(random_normal(keys, {5}).shape() == Shape{4, 5});
  for (Dim i = 0; i < 4; ++i) {
    const Tensor key = squeeze(slice(keys, 0, i, i + 1), 0);
    const Tensor alone = random_normal(key, {5}, DType::f64) + random_uniform(key, {5}, DType::f64);
    CHECK(squeeze(slice(together, 0, i, i + 1), 0).to_vector<double>() == alone.to_vector<double>());
  }
}

TEST_CASE("random: moments of each distribution are within five standard errors", "[engine]") {
  const double n = many;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto u = doubles(random_uniform(random_key(11), {many}, dtype));
    CHECK(*std::min_element(u.begin(), u.end()) > 0.0);
    CHECK(*std::max_element(u.begin(), u.end()) < 1.0);
    CHECK(std::abs(moment(u, 1) - 0.5) < 5.0 / std::sqrt(12.0 * n));
    CHECK(std::abs(moment(u, 2) - 1.0 / 3.0) < 5.0 * std::sqrt(4.0 / 45.0 / n));
    const auto x = doubles(random_normal(random_key(12), {many}, dtype));
    CHECK(std::abs(moment(x, 1)) < 5.0 / std::sqrt(n));
    CHECK(std::abs(moment(x, 2) - 1.0) < 5.0 * std::sqrt(2.0 / n));
    CHECK(std::abs(moment(x, 3)) < 5.0 * std::sqrt(15.0 / n));
    CHECK(std::abs(moment(x, 4) - 3.0) < 5.0 * std::sqrt(96.0 / n));
  }
  const auto heads = doubles(random_bernoulli(random_key(13), 0.3, {many}));
  CHECK(std::abs(moment(heads, 1) - 0.3) < 5.0 * std::sqrt(0.21 / n));
  const auto dice = doubles(random_integers(random_key(14), {many}, -2, 4));
  CHECK(*std::min_element(dice.begin(), dice.end()) == -2.0);
  CHECK(*std::max_element(dice.begin(), dice.end()) == 3.0);
  CHECK(std::abs(moment(dice, 1) - 0.5) < 5.0 * std::sqrt(35.0 / 12.0 / n));
}

TEST_CASE("random: categories come as often as their logits say", "[engine]") {
  const Tensor logits = broadcast_to(log(Tensor::from(std::vector<double>{0.2, 0.5, 0.3}, {3})), {many, 3});
  const auto drawn = random_categorical(random_key(15), logits).to_vector<std::int64_t>();
  const double n = many, share = static_cast<double>(std::count(drawn.begin(), drawn.end(), 1)) / n;
  CHECK(std::abs(share - 0.5) < 5.0 * std::sqrt(0.25 / n));
  CHECK(*std::min_element(drawn.begin(), drawn.end()) == 0);
}

TEST_CASE("normal_quantile: the distribution function of it is where it was taken, also far out",
          "[engine]") {
  const std::vector<double> x{-30.0, -8.0, -4.0, -1.0, -0.3, 0.0, 0.3, 1.0, 4.0};
  std::vector<double> p;
  for (const double each : x) p.push_back(0.5 * std::erfc(-each / std::sqrt(2.0)));
  const auto back = normal_quantile(Tensor::from(p, {9})).to_vector<double>();
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(back[i] == Approx(x[i]).epsilon(x[i] > 3.0 ? 1e-11 : 2e-15).margin(1e-16));
  const auto ends =
      normal_quantile(Tensor::from(std::vector<double>{0.0, 1.0, -0.1, 1.1}, {4})).to_vector<double>();
  CHECK(ends[0] == -INFINITY);
  CHECK(ends[1] == INFINITY);
  CHECK(std::isnan(ends[2]));
  CHECK(std::isnan(ends[3]));
}

TEST_CASE(
    "random: a truncated normal stays between its limits, with the moments of its density, in the tail too",
    "[engine]") {
  const double n = many;
  const auto density = [](double x) {
    return std::isinf(x) ? 0.0 : std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::acos(-1.0));
  };
  for (const auto& [low, high] :
       {std::pair{-1.0, 2.0}, {-2.0, 2.0}, {3.0, 4.0}, {-INFINITY, -5.0}, {0.5, INFINITY}}) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const auto x = doubles(random_truncated_normal(random_key(16), {many}, low, high, dtype));
      CHECK(*std::min_element(x.begin(), x.end()) >= low);
      CHECK(*std::max_element(x.begin(), x.end()) <= high);
      const double mass = 0.5 * (std::erfc(low / std::sqrt(2.0)) - std::erfc(high / std::sqrt(2.0)));
      const double mean = (density(low) - density(high)) / mass;
      const double of_low = std::isinf(low) ? 0.0 : low * density(low),
                   of_high = std::isinf(high) ? 0.0 : high * density(high);
      const double variance = 1.0 + (of_low - of_high) / mass - mean * mean;
      CHECK(std::abs(moment(x, 1) - mean) < 5.0 * std::sqrt(variance / n));
      std::vector<double> centred;
      for (const double each : x) centred.push_back(each - mean);
      CHECK(moment(centred, 2) == Approx(variance).epsilon(0.03));
    }
  }
  const auto whole = random_truncated_normal(random_key(16), {10}, -1, 1).to_vector<float>();
  const auto rest = random_truncated_normal(advance(random_key(16), 4), {6}, -1, 1).to_vector<float>();
  CHECK(std::equal(rest.begin(), rest.end(), whole.begin() + 4));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(random_truncated_normal(random_key(1), {2}, 1, 1)); }),
             HasId("wrong_limits", {"[random_truncated_normal]", "(test_random.cpp:"}));
}

TEST_CASE("random: a permutation holds each number once, and every order comes as often", "[engine]") {
  const auto order = random_permutation(random_key(17), 1000).to_vector<std::int64_t>();
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::min_element(order.begin(), order.end()) == 0);
  CHECK(*std::max_element(order.begin(), order.end()) == 999);
  constexpr Dim n_drawn = 24000;
  const auto orders = random_permutation(split_key(random_key(18), n_drawn), 4).to_vector<std::int64_t>();
  std::map<std::int64_t, int> seen;
  for (std::size_t i = 0; i < orders.size(); i += 4)
    ++seen[((orders[i] * 4 + orders[i + 1]) * 4 + orders[i + 2]) * 4 + orders[i + 3]];
  CHECK(seen.size() == 24);
  double chi_squared = 0.0;  // 23 degrees of freedom: 49.7 is passed by one seed in a thousand
  for (const auto& [which, count] : seen)
    chi_squared += std::pow(count - n_drawn / 24.0, 2) / (n_drawn / 24.0);
  CHECK(chi_squared < 49.7);
  CHECK(random_permutation(random_key(1), 0).to_vector<std::int64_t>().empty());
  CHECK(random_permutation(random_key(1), 1).item<std::int64_t>() == 0);
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(random_permutation(random_key(1), -1)); }),
      HasId("negative_count", {"[random_permutation]", "0", "-1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(random_permutation(zeros({3}), 4)); }),
             HasId("wrong_dtype", {"[random_permutation]", "u64", "f32[3]"}));
}

TEST_CASE("random: certain events are certain, empty draws empty", "[engine]") {
  CHECK(moment(doubles(random_bernoulli(random_key(1), 1.0, {1000})), 1) == 1.0);
  CHECK(moment(doubles(random_bernoulli(random_key(1), 0.0, {1000})), 1) == 0.0);
  CHECK(random_uniform(random_key(1), {0, 3}).to_vector<float>().empty());
  CHECK(random_normal(random_key(1), {}, DType::f64).count() == 1);
}

TEST_CASE("random: what is no key, dtype or probability is named with the line", "[engine]") {
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(random_uniform(zeros({3}), {2})); }),
             HasId("wrong_dtype", {"[random_bits]", "u64", "f32[3]", "(test_random.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(split_key(zeros({2}, DType::u64), 2)); }),
             HasId("wrong_key", {"[split_key]", "u64[…, 3]", "u64[2]"}));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(random_normal(random_key(1), {2}, DType::i32)); }),
             HasId("wrong_dtype", {"[random_normal]", "f32, f64", "i32"}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(random_bernoulli(random_key(1), 1.5, {2})); }),
      HasId("wrong_probability", {"0", "1", "1.5"}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(random_integers(random_key(1), {2}, 3, 3)); }),
      HasId("wrong_range_or_dtype"));
}
