// SPDX-License-Identifier: Apache-2.0
// Parts of arrays at positions that are known when ops run, and cells that such parts are written to.
#include "engine/compile/compile.hpp"
#include "engine/core/error.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::same_bits;
using Values = std::vector<double>;

namespace {

Tensor table_of(Dim n, Dim m) { return reshape(iota(n * m, DType::f64), {n, m}).eval(); }
/// A position that is no number of the program.
Tensor at(std::int64_t position) { return whole(position); }

}  // namespace

TEST_CASE("slice_at: the part from positions on, along some axes or none", "[engine]") {
  const Tensor x = table_of(3, 4);
  CHECK(slice_at(x, {{0, at(1)}, {1, at(2)}}, {2, 2}).to_vector<double>() == Values{6, 7, 10, 11});
  CHECK(slice_at(x, {{-1, cast(at(3), DType::i32)}}, {3, 1}).to_vector<double>() == Values{3, 7, 11});
  CHECK(slice_at(x, {}, {1, 2}).to_vector<double>() == Values{0, 1});
  CHECK(slice_at(transpose(x), {{0, at(1)}}, {2, 3}).to_vector<double>() == Values{1, 5, 9, 2, 6, 10});
}

TEST_CASE("update_at: a part in place of what was there, all of it included", "[engine]") {
  const Tensor x = table_of(2, 3);
  const Tensor part = Tensor::from(Values{7, 8}, {1, 2});
  CHECK(update_at(x, part, {{0, at(1)}, {1, at(1)}}).to_vector<double>() == Values{0, 1, 2, 3, 7, 8});
  CHECK(update_at(x, part, {}).to_vector<double>() == Values{7, 8, 2, 3, 4, 5});
  CHECK(update_at(x, x * 2.0, {{0, at(0)}}).to_vector<double>() == Values{0, 2, 4, 6, 8, 10});
  const Tensor turned = update_at(transpose(x), Tensor::from(Values{9}, {1, 1}), {{0, at(2)}});
  CHECK(turned.to_vector<double>() == Values{0, 3, 1, 4, 9, 5});
}

TEST_CASE("slice_at, update_at: gradients go to the part and to the rest", "[engine]") {
  const Tensor x = row({1, 2, 3, 4}), part = row({5, 6});
  const auto loss = [](const Tensors& in) -> Tensors {
    return {sum(square(update_at(in[0], in[1], {{0, at(1)}})))};
  };
  const Tensors slopes = value_and_grad(loss, {x, part}).gradients;
  CHECK(slopes[0].to_vector<double>() == Values{2, 0, 0, 8});
  CHECK(slopes[1].to_vector<double>() == Values{10, 12});
  const auto of_slice = [](const Tensor& y) { return sum(square(slice_at(y, {{0, at(2)}}, {2}))); };
  CHECK(grad(of_slice)(x).to_vector<double>() == Values{0, 0, 6, 8});
}

TEST_CASE("slice_at, update_at: a batch has an array, a position, or both for each item", "[engine]") {
  const Tensor x = table_of(2, 4), positions = Tensor::from(std::vector<std::int64_t>{2, 0}, {2});
  const auto sliced = [](const Tensors& in) -> Tensors { return {slice_at(in[0], {{0, in[1]}}, {2})}; };
  CHECK(vmap(sliced)({x, positions})[0].to_vector<double>() == Values{2, 3, 4, 5});
  CHECK(vmap(sliced, {true, false})({x, at(1)})[0].to_vector<double>() == Values{1, 2, 5, 6});
  CHECK(vmap(sliced, {false, true})({row({1, 2, 3, 4}), positions})[0].to_vector<double>() ==
        Values{3, 4, 1, 2});
  const auto updated = [](const Tensors& in) -> Tensors { return {update_at(in[0], in[1], {{0, in[2]}})}; };
  const Tensor parts = Tensor::from(Values{1, 2}, {2, 1});
  CHECK(vmap(updated, {false, true, true})({row({9, 9, 9}), parts, positions})[0].to_vector<double>() ==
        Values{9, 9, 1, 2, 9, 9});
  CHECK(vmap(updated, {true, false, false})({x, row({-1}), at(3)})[0].to_vector<double>() ==
        Values{0, 1, 2, -1, 4, 5, 6, -1});
}

TEST_CASE("slice_at, update_at: a position without room is an error with op and line, when it runs",
          "[engine]") {
  const Tensor x = table_of(3, 4), part = table_of(1, 4);
  for (const std::int64_t wrong : {-1, 3}) {
    INFO(wrong);
    CHECK_THAT(error_of<core::InvalidArgument>([&] {
                 update_at(x, part, {{0, at(wrong)}}).eval();
               }),
               HasId("index_out_of_range",
                     {"[checked_position]", "< 3", std::to_string(wrong), "(test_position.cpp:"}));
    CHECK_THAT(error_of<core::InvalidArgument>([&] {
                 slice_at(x, {{0, at(wrong)}}, {1, 4}).eval();
               }),
               HasId("index_out_of_range", {"[checked_position]"}));
  }
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(slice_at(x, {{0, at(0)}}, {4, 4}));
             }),
             HasId("wrong_positions", {"[slice_at]", "f64[3, 4]", "[4, 4]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(slice_at(x, {{0, at(0)}, {0, at(1)}}, {1, 1}));
             }),
             HasId("wrong_positions", {"axis 0"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(slice_at(x, {{0, scalar(0.0)}}, {1, 1}));
             }),
             HasId("wrong_dtype", {"[checked_position]"}));
}

TEST_CASE("update_at: a compiled function writes parts into the memory of its cells", "[engine]") {
  const Variable keys("keys", zeros({4, 16, 3}, DType::f64) + 0.0, Variable::Role::state),
      values("values", zeros({4, 16, 3}, DType::f64) + 1.0, Variable::Role::state);
  const Function f = [&](const Tensors& in) -> Tensors {
    keys.assign(update_at(keys.value(), in[0], {{1, in[1]}}));
    values.assign(update_at(values.value(), in[0] * 2.0, {{1, in[1]}}));
    return {sum(slice(keys.value(), 1, 0, 8) * slice(values.value(), 1, 0, 8))};
  };
  const Compiled step = compile(f, {.breaks = Breaks::refused});
  const auto part = [](double number) { return full({4, 1, 3}, number, DType::f64) + 0.0; };
  static_cast<void>(step({part(1), at(0)}));  // whoever made the first values may hold them
  const void *of_keys = keys.value().node().data(), *of_values = values.value().node().data();
  const std::int64_t n_undonated = step.stats().n_undonated;
  double expected = 0.0;
  for (std::int64_t i = 1; i < 16; ++i) {
    const double number = static_cast<double>(i) + 1.0;
    static_cast<void>(step({part(number), at(i)}));
    expected += number;
    CHECK(keys.value().node().data() == of_keys);
    CHECK(values.value().node().data() == of_values);
  }
  CHECK(step.stats().n_undonated == n_undonated);
  CHECK(step.stats().n_traces == 1);
  CHECK(sum(slice(keys.value(), 1, 1, 16)).item<double>() == 12.0 * expected);
  const Tensor before = keys.value();
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(step({part(5), at(16)}));
             }),
             HasId("index_out_of_range", {"< 16", "16"}));
  CHECK(same_bits(keys.value(), before));
}

TEST_CASE("a run that fails at an index leaves cells as they were, though their memory is given up",
          "[engine]") {
  const Variable sums("sums", zeros({4}, DType::f64) + 0.0, Variable::Role::state);
  const Function f = [&](const Tensors& in) -> Tensors {
    sums.assign(sums.value() + in[0]);
    return {scatter_add(zeros({4}, DType::f64), in[1], in[0])};
  };
  const auto indices = [](std::int64_t last) {
    return Tensor::from(std::vector<std::int64_t>{0, 1, 2, last}, {4});
  };
  const Compiled compiled = compile(f, {.level = Level::O0, .breaks = Breaks::refused});
  for (int i = 0; i < 2; ++i) static_cast<void>(compiled({row({1, 2, 3, 4}), indices(3)}));
  CHECK_THROWS_AS(compiled({row({1, 2, 3, 4}), indices(4)}), core::InvalidArgument);
  CHECK(sums.value().to_vector<double>() == Values{2, 4, 6, 8});
}
