// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <limits>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

TEST_CASE("ops: shapes broadcast as in NumPy", "[engine]") {
  const Tensor column = reshape(row({10, 20}), {2, 1});
  const Tensor both = column + row({1, 2, 3});
  CHECK(both.shape() == Shape{2, 3});
  CHECK(both.to_vector<double>() == std::vector<double>{11, 12, 13, 21, 22, 23});
  CHECK((1.0 - row({1, 2})).to_vector<double>() == std::vector<double>{0, -1});
}

TEST_CASE("ops: products of matrices, vectors and stacks", "[engine]") {
  const Tensor a = reshape(row({1, 2, 3, 4, 5, 6}), {2, 3}), b = reshape(row({1, 0, 0, 1, 1, 1}), {3, 2});
  CHECK(matmul(a, b).to_vector<double>() == std::vector<double>{4, 5, 10, 11});
  CHECK(matmul(a, row({1, 1, 1})).to_vector<double>() == std::vector<double>{6, 15});
  CHECK(matmul(row({1, 1}), a).to_vector<double>() == std::vector<double>{5, 7, 9});
  CHECK(matmul(row({1, 2}), row({3, 4})).item<double>() == 11.0);
  const Tensor stack = broadcast_to(expand_dims(a, 0), {4, 2, 3});
  CHECK(matmul(stack, b).shape() == Shape{4, 2, 2});
  CHECK(
      matmul(a, matmul(stack, b).shape()[0] == 4 ? broadcast_to(expand_dims(b, 0), {4, 3, 2}) : b).shape() ==
      Shape{4, 2, 2});
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(matmul(a, a)); }),
             HasId("unequal_extents", {"[dot_general]"}));
}

TEST_CASE("ops: rows of one matrix times columns of another are a batch of products", "[engine]") {
  const Tensor a = reshape(row({1, 2, 3, 4, 5, 6}), {2, 3}), b = reshape(row({1, 0, 0, 1, 1, 1}), {3, 2});
  CHECK(dot_general(a, b, {{1}, {0}, {0}, {1}}).to_vector<double>() == std::vector<double>{4, 11});
}

TEST_CASE("ops: what is empty stays empty, and sums to zero", "[engine]") {
  CHECK(sum(zeros({0, 3}), Axes{0}).to_vector<float>() == std::vector<float>{0, 0, 0});
  CHECK((zeros({0}) + 1.0).to_vector<float>().empty());
  CHECK(matmul(zeros({2, 0}), zeros({0, 2})).to_vector<float>() == std::vector<float>(4, 0.0F));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(max(zeros({0}))); }),
             HasId("empty_axis", {"axis 0"}));
}

TEST_CASE("ops: long rows are summed in pairs, so f32 keeps its digits", "[engine]") {
  const std::vector<float> tenths(1 << 20, 0.1F);
  const Tensor x = Tensor::from(tenths, {1 << 20});
  CHECK(sum(x).item<float>() == Approx(104857.6).epsilon(1e-6));
}

TEST_CASE("ops: sums over leading and middle axes keep the digits of f32, too", "[engine]") {
  const Tensor x = Tensor::from(std::vector<float>(1 << 21, 0.1F), {1 << 20, 2});
  CHECK(sum(x, Axes{0}).to_vector<float>()[1] == Approx(104857.6).epsilon(1e-6));
  CHECK(mean(x, Axes{0}).to_vector<float>()[0] == Approx(0.1).epsilon(1e-6));
  const Tensor middle = sum(reshape(x, {2, 1 << 18, 4}), Axes{1});
  for (const float each : middle.to_vector<float>()) CHECK(each == Approx(26214.4).epsilon(1e-6));
  const Tensor ends = sum(reshape(x, {1 << 17, 8, 2}), Axes{0, 2});
  for (const float each : ends.to_vector<float>()) CHECK(each == Approx(26214.4).epsilon(1e-6));
}

TEST_CASE("ops: a number that the tensor's dtype does not have is refused", "[engine]") {
  const Tensor x = ones({2}, DType::f64), n = ones({2}, DType::i32);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(x * std::complex<double>(0.0, 1.0)); }),
             HasId("number_not_held", {"f64", "0+1i", "(test_ops.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(n * 0.5); }),
             HasId("number_not_held", {"i32", "0.5"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(ones({2}, DType::u8) + 300); }),
             HasId("number_not_held", {"u8", "300"}));
  CHECK((n * 3).to_vector<std::int32_t>() == std::vector<std::int32_t>{3, 3});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(select(greater(x, 0.0), 1.0, 0.0)); }),
             HasId("no_tensor", {"[select]"}));
}

TEST_CASE("ops: whole numbers keep all their digits", "[engine]") {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  CHECK((zeros({1}, DType::i64) + odd).to_vector<std::int64_t>()[0] == odd);
  CHECK((-odd - zeros({1}, DType::i64)).to_vector<std::int64_t>()[0] == -odd);
  CHECK(maximum(zeros({1}, DType::u64), most).to_vector<std::uint64_t>()[0] == most);
  CHECK(scalar(odd, DType::i64).item<std::int64_t>() == odd);
  CHECK(full({2}, most, DType::u64).to_vector<std::uint64_t>()[1] == most);
  CHECK((zeros({1}, DType::i64) + 3.0).to_vector<std::int64_t>()[0] == 3);
  CHECK((zeros({1}, DType::f64) + odd).to_vector<double>()[0] == 9007199254740992.0);
  CHECK((zeros({1}, DType::c128) + odd).to_vector<std::complex<double>>()[0] == 9007199254740992.0);
}

TEST_CASE("ops: numbers just past the range of a dtype are refused", "[engine]") {
  const auto refused = [](const Tensor& x, const Operand& number, const char* text) {
    CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(x + number); }),
               HasId("number_not_held", {text}));
  };
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  refused(ones({1}, DType::i64), 9223372036854775808.0, "9.223372036854776e+18");  // 2^63
  refused(ones({1}, DType::i64), most, "18446744073709551615");
  refused(ones({1}, DType::u64), -1, "-1");
  refused(ones({1}, DType::u8), 256, "256");
  refused(ones({1}, DType::i8), -129.0, "-129");
}

TEST_CASE("ops: axes that come twice, gaps of negative size and arrays past all memory are refused",
          "[engine]") {
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(dot_general(ones({4, 3}), ones({4, 4, 2}), {{0, 0}, {0, 1}, {}, {}}));
             }),
             HasId("axis_repeated", {"f32[4, 3]", "axis 0"}));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(pad(ones({5}), {0}, {0}, {-1})); }),
             HasId("negative_gap", {"axis 0", "-1"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(zeros({1LL << 32, 1LL << 32}) + 1.0);
             }),
             HasId("too_many_elements", {"2^59"}));
  CHECK_THAT(error_of<core::DeviceError>([&] {
               static_cast<void>(matmul(ones({1 << 25, 1}), ones({1, 1 << 25})).eval());
             }),
             HasId("too_many_bytes", {"f32[33554432, 33554432]", "dot_general"}));
}

TEST_CASE("ops: the maximum of a window with NaN is NaN, wherever it stands", "[engine]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = reshape(row({nan, 1, 1, nan, 3, 2}), {1, 6, 1});
  const auto pooled = max_pool(x, {.window = {2}}).to_vector<double>();
  CHECK(std::isnan(pooled[0]));
  CHECK(std::isnan(pooled[1]));
  CHECK(pooled[2] == 3.0);
}

TEST_CASE("ops: complex to real is a choice the caller has to make", "[engine]") {
  const Tensor z = full({2}, {3.0, 4.0}, DType::c128);
  CHECK(abs(z).to_vector<double>() == std::vector<double>{5, 5});
  CHECK(imag(z).to_vector<double>() == std::vector<double>{4, 4});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(cast(z, DType::f64)); }),
             HasId("complex_to_real", {"f64", "real(x)", "abs(x)"}));
}

TEST_CASE("ops: pad crops, surrounds and spreads", "[engine]") {
  CHECK(pad(row({1, 2, 3}), {1}, {2}, {1}, 9.0).to_vector<double>() ==
        std::vector<double>{9, 1, 9, 2, 9, 3, 9, 9});
  CHECK(pad(row({1, 2, 3}), {-1}, {-1}).to_vector<double>() == std::vector<double>{2});
}
