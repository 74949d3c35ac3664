// SPDX-License-Identifier: Apache-2.0
// Indexing, accumulation along an axis, and functions that other ops express.
#include "engine/core/error.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>
#include <limits>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using Values = std::vector<double>;
using Indices = std::vector<std::int64_t>;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor at(const Indices& values) { return Tensor::from(values, {static_cast<Dim>(values.size())}); }
Tensor table_of(Dim n, Dim m) { return reshape(iota(n * m, DType::f64), {n, m}); }

}  // namespace

TEST_CASE("take: rows, columns, and one element of each line", "[engine]") {
  const Tensor x = table_of(3, 2);
  CHECK(take(x, at({2, 0, 2})).to_vector<double>() == Values{4, 5, 0, 1, 4, 5});
  CHECK(take(x, at({1}), -1).to_vector<double>() == Values{1, 3, 5});
  CHECK(take(x, reshape(at({0, 1, 2, 0}), {2, 2})).shape() == Shape{2, 2, 2});
  CHECK(take_along_axis(x, reshape(at({1, 0, 1}), {3, 1}), 1).to_vector<double>() == Values{1, 2, 5});
  CHECK(take_along_axis(x, reshape(at({2, 0}), {1, 2}), 0).to_vector<double>() == Values{4, 1});
}

TEST_CASE("scatter_add: equal indices add up, the gradient of a table of vectors counts their uses",
          "[engine]") {
  CHECK(scatter_add(zeros({3}, DType::f64), at({2, 0, 2}), row({1, 2, 4})).to_vector<double>() ==
        Values{2, 0, 5});
  const auto total = [](const Tensor& vectors) { return sum(take(vectors, at({1, 1, 0}))); };
  CHECK(grad(total)(table_of(3, 2)).to_vector<double>() == Values{1, 1, 2, 2, 0, 0});
}

TEST_CASE("take: an index outside the axis is an error with op and line, when it runs", "[engine]") {
  const Tensor outside = take(table_of(3, 2), at({0, 3})), negative_one = take(table_of(3, 2), at({-1}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(outside.eval()); }),
             HasId("index_out_of_range", {"[gather]", "< 3", "3 (test_indexing.cpp:"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(negative_one.eval()); }),
             HasId("index_out_of_range", {"-1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(take(table_of(3, 2), row({1}))); }),
             HasId("wrong_index_dtype", {"[gather]", "i32, i64", "f64[1]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(scatter_add(zeros({3}), at({0, 1}), zeros({3})));
             }),
             HasId("operands_do_not_fit", {"[scatter_add]"}));
}

TEST_CASE("argmax: the first of equals, a NaN before all", "[engine]") {
  CHECK(argmax(row({1, 3, 3, 2})).item<std::int64_t>() == 1);
  CHECK(argmin(row({1, std::nan(""), -3, std::nan("")})).item<std::int64_t>() == 1);
  CHECK(argmax(table_of(2, 3), 0).to_vector<std::int64_t>() == Indices{1, 1, 1});
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(argmax(zeros({0}))); }),
             HasId("empty_axis", {"[argmax]", "axis 0"}));
}

TEST_CASE("cumulative: both directions, zeros in a product, and ties of a maximum", "[engine]") {
  CHECK(cumulative_sum(row({1, 2, 3}), 0).to_vector<double>() == Values{1, 3, 6});
  CHECK(cumulative_sum(row({1, 2, 3}), 0, Direction::reverse).to_vector<double>() == Values{6, 5, 3});
  CHECK(cumulative_min(row({3, 1, 2}), 0).to_vector<double>() == Values{3, 1, 1});
  CHECK(linear_recurrence(row({9, 2, 2}), row({1, 1, 1}), 0).to_vector<double>() == Values{1, 3, 7});
  const auto last = [](Tensor (*f)(const Located&, int, Direction)) {
    return [f](const Tensor& x) { return sum(slice(f(x, 0, Direction::forward), 0, 2, 3)); };
  };
  CHECK(grad(last(cumulative_product))(row({2, 0, 3})).to_vector<double>() == Values{0, 6, 0});
  CHECK(grad(last(cumulative_max))(row({1, 5, 5})).to_vector<double>() == Values{0, 1, 0});
  CHECK(cumulative_logsumexp(row({1000, 1000}), 0).to_vector<double>()[1] ==
        Approx(1000 + std::log(2.0)).epsilon(1e-15));
  CHECK(cumulative_logsumexp(row({-infinity, -infinity, 2}), 0).to_vector<double>() ==
        Values{-infinity, -infinity, 2});
}

TEST_CASE("softmax, logsumexp: neither overflow nor lose what is small", "[engine]") {
  CHECK(softmax(row({1000, 1000})).to_vector<double>() == Values{0.5, 0.5});
  CHECK(softmax(row({-infinity, 3})).to_vector<double>() == Values{0, 1});
  CHECK(log_softmax(row({0, 1000})).to_vector<double>() == Values{-1000, 0});
  CHECK(logsumexp(row({-infinity, -infinity})).item<double>() == -infinity);
  CHECK(logsumexp(row({1e4, 1e4})).item<double>() == Approx(1e4 + std::log(2.0)).epsilon(1e-15));
  CHECK(logsumexp(table_of(2, 2), Axes{1}).shape() == Shape{2});
  CHECK(grad([](const Tensor& x) { return logsumexp(x); })(row({800, 800})).to_vector<double>() ==
        Values{0.5, 0.5});
}

TEST_CASE("statistics: variance, deviation and norm, complex too, and the slope of a norm at zero",
          "[engine]") {
  CHECK(variance(row({1, 2, 3, 4})).item<double>() == 1.25);
  CHECK(variance(row({1, 2, 3, 4}), {}, Keep::no, 1.0).item<double>() == Approx(5.0 / 3.0));
  CHECK(variance(complex(row({1, -1}), row({1, -1}))).item<double>() == 2.0);
  CHECK(standard_deviation(row({1, 3})).item<double>() == 1.0);
  CHECK(norm(row({3, 4})).item<double>() == 5.0);
  CHECK(grad([](const Tensor& x) { return norm(x); })(row({0, 0})).to_vector<double>() == Values{0, 0});
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(variance(row({1}), {}, Keep::no, 1.0)); }),
             HasId("too_few_elements", {"[variance]", "1"}));
}

TEST_CASE("movement: stack, split, tile, repeat, diagonal, triangles", "[engine]") {
  const Tensor x = table_of(2, 3);
  CHECK(stack(Tensors{row({1, 2}), row({3, 4})}, 1).to_vector<double>() == Values{1, 3, 2, 4});
  CHECK(split(x, {1, 2}, 1)[1].to_vector<double>() == Values{1, 2, 4, 5});
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(split(x, {1, 1}, 1));
             }),
             HasId("wrong_extents", {"[split]", "3", "[1, 1]"}));
  CHECK(tile(row({1, 2}), {2}).to_vector<double>() == Values{1, 2, 1, 2});
  CHECK(repeat(row({1, 2}), 2, 0).to_vector<double>() == Values{1, 1, 2, 2});
  CHECK(diagonal(x).to_vector<double>() == Values{0, 4});
  CHECK(diagonal(x, 1).to_vector<double>() == Values{1, 5});
  CHECK(diagonal(x, -1).to_vector<double>() == Values{3});
  CHECK(diagonal(x, 3).to_vector<double>().empty());
  CHECK(lower_triangle(x).to_vector<double>() == Values{0, 0, 0, 3, 4, 0});
  CHECK(upper_triangle(x, 1).to_vector<double>() == Values{0, 1, 2, 0, 0, 5});
  CHECK(trace(eye(4, DType::f64)).item<double>() == 4.0);
  CHECK(outer(row({1, 2}), row({3, 4})).to_vector<double>() == Values{3, 4, 6, 8});
  CHECK(linspace(1, 2, 3, DType::f64).to_vector<double>() == Values{1, 1.5, 2});
  CHECK(one_hot(at({1, 5}), 3, DType::f64).to_vector<double>() == Values{0, 1, 0, 0, 0, 0});
  CHECK(clip(row({-1, 0.5, 3}), 0, 1).to_vector<double>() == Values{0, 0.5, 1});
  CHECK(softplus(row({-1000, 0, 1000})).to_vector<double>() == Values{0, std::log(2.0), 1000});
}
