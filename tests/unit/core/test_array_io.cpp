// SPDX-License-Identifier: Apache-2.0
#include "engine/core/array_io.hpp"
#include "engine/core/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/memory_arrays.hpp"

using namespace lodestone;
using namespace lodestone::core;
using tests::error_of;
using tests::HasId;

TEST_CASE("array_io: every dtype knows its size and name", "[core]") {
  CHECK(size_of(DType::u8) == 1);
  CHECK(size_of(DType::i32) == 4);
  CHECK(size_of(DType::i64) == 8);
  CHECK(size_of(DType::f32) == 4);
  CHECK(size_of(DType::f64) == 8);
  CHECK(size_of(DType::c64) == 8);
  CHECK(size_of(DType::c128) == 16);
  CHECK(name_of(DType::u8) == "u8");
  CHECK(name_of(DType::c128) == "c128");
}

TEST_CASE("array_io: vectors, matrices and texts come back as they were written", "[core]") {
  tests::MemoryArrays arrays;
  const std::vector<double> reals{1.5, -2.0, 1e300};
  const std::vector<std::complex<double>> complexes{{1.0, -2.0}, {0.0, 3.0}};
  const std::vector<std::int64_t> integers{-5, 0, std::int64_t{1} << 40};
  const std::vector<std::uint8_t> bytes{0, 1, 255};
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  const std::vector<std::string> texts{"kim438", "", "a longer name"};
  write_vector(arrays, "reals", std::span(reals));
  write_vector(arrays, "complexes", std::span(complexes));
  write_vector(arrays, "integers", std::span(integers));
  write_vector(arrays, "bytes", std::span(bytes));
  write_matrix(arrays, "matrix", matrix);
  write_texts(arrays, "texts", texts);
  CHECK(read_doubles(arrays, "reals") == reals);
  CHECK(read_complexes(arrays, "complexes") == complexes);
  CHECK(read_integers(arrays, "integers") == integers);
  CHECK(read_bytes(arrays, "bytes") == bytes);
  CHECK(read_matrix(arrays, "matrix") == matrix);
  CHECK(read_texts(arrays, "texts") == texts);
}

TEST_CASE("array_io: texts that another program wrote are UTF-8 without control characters", "[core]") {
  tests::MemoryArrays arrays;
  write_texts(arrays, "texts", {"S\xE9\x1B[31m", "two\nlines"});
  CHECK(read_texts(arrays, "texts") == std::vector<std::string>{"Sé [31m", "two\nlines"});
}

TEST_CASE("array_io: a matrix lies row by row in the file", "[core]") {
  tests::MemoryArrays arrays;
  Eigen::MatrixXd matrix(2, 3);
  matrix << 1, 2, 3, 4, 5, 6;
  write_matrix(arrays, "matrix", matrix);
  CHECK(arrays.info("matrix").shape == std::vector<std::int64_t>{2, 3});
  CHECK(read_doubles(arrays, "matrix") == std::vector<double>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("array_io: empty arrays survive", "[core]") {
  tests::MemoryArrays arrays;
  write_vector(arrays, "none", std::span<const double>());
  write_texts(arrays, "no texts", {});
  CHECK(read_doubles(arrays, "none").empty());
  CHECK(read_texts(arrays, "no texts").empty());
}

TEST_CASE("array_io: a missing array or another dtype is a format error that names both", "[core]") {
  tests::MemoryArrays arrays;
  write_vector(arrays, "model", std::span<const std::int64_t>(std::vector<std::int64_t>{1, 2}));
  CHECK_THAT(error_of<FormatError>([&] { (void)read_doubles(arrays, "data"); }),
             HasId("missing_array", {"[core::read]", "\"data\""}));
  CHECK_THAT(error_of<FormatError>([&] { (void)read_doubles(arrays, "model"); }),
             HasId("other_array", {"[core::read]", "\"model\"", "2"}));
  CHECK_THAT(error_of<FormatError>([&] { (void)read_matrix(arrays, "model"); }),
             HasId("other_array", {"[core::read]", "\"model\"", "2"}));
}
