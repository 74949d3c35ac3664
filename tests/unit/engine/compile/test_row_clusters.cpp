// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::plan_of;
using tests::same_bits;
using tests::Threads;
using tests::Work;
using tests::work_of;

namespace {

constexpr Dim n = 24, m = 10;
constexpr std::size_t bytes = 8 * n * m;  // of an array of f64

Tensors softmax_of_rows(const Tensors& in) {
  const Tensor e = exp(in[0] - max(in[0], Axes{-1}, Keep::yes));
  return {e / sum(e, Axes{-1}, Keep::yes)};
}

/// x, scale and shift of the last axis.
Tensors layer_norm(const Tensors& in) {
  const Tensor centred = in[0] - mean(in[0], Axes{-1}, Keep::yes);
  const Tensor r = reciprocal(sqrt(mean(square(centred), Axes{-1}, Keep::yes) + 1e-5));
  return {scale_shift(centred * r, in[1], in[2])};
}

}  // namespace

TEST_CASE("rows: softmax, layer norm, their slopes and losses are one launch", "[engine]") {
  const Tensor x = drawn({n, m}), y = drawn({n, m}, 2), scale = drawn({m}, 3), shift = drawn({m}, 4);
  CHECK(work_of(softmax_of_rows, {x}) == Work{1, 2 * bytes});
  CHECK(work_of(layer_norm, {x, scale, shift}) == Work{1, 2 * bytes + 2 * 8 * m});
  const auto softmax_slope = [](const Tensors& in) -> Tensors {
    const Tensor ty = in[0] * in[1];
    return {ty - in[0] * sum(ty, Axes{1}, Keep::yes)};
  };
  CHECK(work_of(softmax_slope, {x, y}) == Work{1, 3 * bytes});
  const auto mean_square = [](const Tensors& in) -> Tensors { return {mean(square(in[0] - in[1]))}; };
  CHECK(work_of(mean_square, {x, y}) == Work{1, 2 * bytes + 8});
  const auto norms = [](const Tensors& in) -> Tensors { return {sqrt(sum(square(in[0]), Axes{1}))}; };
  CHECK(work_of(norms, {x}) == Work{1, bytes + 8 * n});
  const auto several_axes = [](const Tensors& in) -> Tensors {
    const Tensor cube = reshape(in[0], {n / 2, 2, m});
    return {cube - max(cube, Axes{1, 2}, Keep::yes)};
  };
  CHECK(work_of(several_axes, {x}) == Work{1, 2 * bytes});
  const auto spread_twice = [](const Tensors& in) -> Tensors {
    const Tensor cube = reshape(in[0], {n / 2, 2, m});
    const Tensor total = broadcast_to(reshape(sum(cube, Axes{1, 2}), {n / 2, 1}), {n / 2, 2});
    return {cube - broadcast_to(reshape(total, {n / 2, 2, 1}), {n / 2, 2, m})};
  };
  CHECK(work_of(spread_twice, {x}) == Work{1, 2 * bytes});
}

TEST_CASE("rows: the bits of eager runs for every dtype and length, on 1, 2 and 3 threads", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor large = in[0] * in[1], total = sum(large, Axes{-1}, Keep::yes), rest = in[0] - total * in[2];
    return {rest * in[1], sum(rest, Axes{-1}), total + in[2]};
  };
  const auto extrema = [](const Tensors& in) -> Tensors {
    const Tensor top = max(in[0] + in[1], Axes{-1}, Keep::yes), low = min(in[0], Axes{-1}, Keep::yes);
    return {in[0] - top * low, top - in[2]};
  };
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32, DType::u8}) {
    for (const auto& [n_rows, row] : {std::pair<Dim, Dim>{1, 2},
                                      {7, 5},
                                      {5000, 3},
                                      {70, 31},
                                      {70, 32},
                                      {70, 33},
                                      {3, 1000},
                                      {9, 1024},
                                      {9, 1025},
                                      {900, 600}}) {
      INFO(core::name_of(dtype) << " " << n_rows << " x " << row);
      const Tensors in{drawn({n_rows, row}, 1, dtype), transpose(drawn({row, n_rows}, 2, dtype)).eval(),
                       drawn({n_rows, 1}, 3, dtype)};
      std::vector<Function> functions{f};
      if (!core::is_complex(dtype)) functions.emplace_back(extrema);
      for (const Function& each : functions) {
        const Tensors right = each(in);
        for (const int n_threads : {1, 2, 3}) {
          const Threads scope(n_threads);
          const auto plan = plan_of(each, in, Level::O1);
          CHECK((plan->n_launches() == 1) == (row <= 1024));
          CHECK(same_bits(plan->run(in), right));
        }
      }
    }
  }
}

TEST_CASE("rows: just refused", "[engine]") {
  const Tensor x = drawn({n, m});
  // Rows are combined in the order of an array that lies otherwise.
  CHECK(work_of(softmax_of_rows, {transpose(drawn({m, n})).eval()}).n_launches > 1);
  const auto turned = [](const Tensors& in) -> Tensors { return softmax_of_rows({transpose(exp(in[0]))}); };
  CHECK(work_of(turned, {x}).n_launches > 2);
  // One element per column, not per row, in a square.
  const Tensor square_of = drawn({m, m}, 5);
  const auto by_columns = [](const Tensors& in) -> Tensors {
    return {in[0] - broadcast_to(reshape(sum(in[0], Axes{1}), {1, m}), {m, m})};
  };
  CHECK(work_of(by_columns, {square_of}).n_launches == 2);
  const auto scaled = [](const Tensors& in) -> Tensors {
    const Tensor total = sum(in[0] * 2.0, Axes{1});
    return {scale_shift(in[0] * 2.0, total, total)};
  };
  CHECK(work_of(scaled, {square_of}).n_launches == 2);
  // Rows of two lengths.
  const auto two_lengths = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0]);
    return {sum(e, Axes{1}), sum(reshape(e, {n / 2, 2 * m}), Axes{1})};
  };
  CHECK(work_of(two_lengths, {x}).n_launches == 2);
  // Rows of rows.
  const auto nested = [](const Tensors& in) -> Tensors { return {sum(sum(exp(in[0]), Axes{1}))}; };
  CHECK(work_of(nested, {x}).n_launches == 2);
  // A row's element that others need, too, is stored, and its repetition stays a view.
  const auto needed = [](const Tensors& in) -> Tensors {
    const Tensor total = broadcast_to(sum(in[0], Axes{1}, Keep::yes), {n, m});
    return {exp(in[0] - total), matmul(transpose(total), in[0]), total};
  };
  CHECK(work_of(needed, {x}).n_launches >= 2);
}

TEST_CASE("rows: a value on all places is stored as such", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor total = sum(in[0], Axes{1}, Keep::yes);
    return {exp(broadcast_to(total, {n, m})), sum(exp(broadcast_to(total, {n, m})) * in[0], Axes{1})};
  };
  CHECK(work_of(f, {drawn({n, m})}).n_launches == 1);
}
