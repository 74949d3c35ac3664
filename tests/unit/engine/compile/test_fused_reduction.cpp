// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"

#include <map>

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::plan_of;
using tests::same_bits;
using tests::Threads;
using tests::Work;
using tests::work_of;

namespace {

constexpr Dim n = 240, m = 100;
constexpr std::size_t bytes = 8 * n * m;  // of an array of f64

using Reduce = Tensor (*)(const Located&, std::optional<Axes>, Keep);

/// A shape and the axes that are reduced, for each order in which elements are combined.
struct Case {
  std::string order;
  Shape shape;
  Axes axes;
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{{"rows", {7, 5}, {1}},
                                     {"rows", {3, 4, 5}, {1, 2}},
                                     {"rows", {2048, 16}, {1}},
                                     {"rows", {300, 1000}, {1}},
                                     {"rows", {3, 1024}, {1}},
                                     {"rows", {33, 1}, {1}},
                                     {"rows", {40, 3, 1}, {1}},
                                     {"columns", {20, 20}, {0}},
                                     {"columns", {9000, 3}, {0}},
                                     {"columns", {130, 17}, {0}},
                                     {"columns", {65, 300}, {0}},
                                     {"columns", {200, 513}, {0}},
                                     {"columns", {5, 70, 33}, {1}},
                                     {"columns", {3, 66, 4, 20}, {0, 2}},
                                     {"columns", {4200, 64}, {0}},
                                     {"columns", {1, 40}, {0}},
                                     {"columns", {12, 40}, {}},
                                     {"long row", {1025}, {0}},
                                     {"long row", {3, 2500}, {1}},
                                     {"long row", {70001}, {0}},
                                     {"long row", {400, 500}, {0, 1}},
                                     {"all", {40, 3, 50}, {0, 2}},
                                     {"all", {6, 3, 1100}, {0, 2}},
                                     {"all", {1, 1}, {0, 1}}};
  return all;
}

/// Returns a value of this shape made by several ops, of arrays that lie in several ways.
Tensor made_of(const Tensors& in) {
  const Tensor x = in[0] * in[1] + in[2];
  return core::is_real_float(x.dtype()) ? engine::tanh(x) * 1.5 : x - in[1];
}
/// Returns operands for it: dense, turned and one row for all.
Tensors operands(const Shape& shape, DType dtype) {
  Shape turned;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) turned.push_back(shape[axis]);
  return {drawn(shape, 3, dtype), transpose(drawn(turned, 4, dtype)).eval(),
          broadcast_to(drawn({shape.back()}, 5, dtype), shape).eval()};
}

}  // namespace

TEST_CASE("reductions of what is made: the bits of eager runs in every order, on 1, 2 and 3 threads",
          "[engine]") {
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128, DType::i32, DType::u8}) {
    for (const Reduce reduce : {Reduce(engine::sum), Reduce(engine::max), Reduce(engine::min)}) {
      if (core::is_complex(dtype) && reduce != Reduce(engine::sum)) continue;
      for (const Case& each : cases()) {
        INFO(core::name_of(dtype) << " " << each.order << " " << each.shape.text() << " over "
                                  << each.axes.text());
        const auto f = [&](const Tensors& in) -> Tensors {
          return {reduce(made_of(in), each.axes, Keep::no)};
        };
        const Tensors in = operands(each.shape, dtype), right = f(in);
        for (const int n_threads : {1, 2, 3}) {
          const Threads scope(n_threads);
          const auto plan = plan_of(f, in, Level::O1);
          CHECK(plan->n_launches() == 1);
          CHECK(same_bits(plan->run(in), right));
        }
      }
    }
  }
}

TEST_CASE("reductions of what is made: work that threads share", "[engine]") {
  const auto f = [](const Axes& axes) {
    return [axes](const Tensors& in) -> Tensors { return {sum(engine::tanh(in[0] * 0.5), axes)}; };
  };
  for (const auto& [shape, axes] : {std::pair{Shape{700, 1000}, Axes{1}},
                                    {Shape{700, 1000}, Axes{0}},
                                    {Shape{700000}, Axes{0}},
                                    {Shape{30000, 20}, Axes{0}},
                                    {Shape{20, 300, 100}, Axes{0, 2}},
                                    {Shape{30, 200, 100}, Axes{1}}}) {
    const Tensor x = drawn(shape);
    const Tensors right = f(axes)({x});
    for (const int n_threads : {2, 3}) {
      INFO(shape.text() << " over " << axes.text() << ", " << n_threads << " threads");
      const Threads scope(n_threads);
      CHECK(same_bits(plan_of(f(axes), {x}, Level::O1)->run(Tensors{x}), right));
    }
  }
}

TEST_CASE("reductions of what is made: launches and bytes are the fewest there can be", "[engine]") {
  const Tensor x = drawn({n, m}), y = drawn({n, m}, 2), b = drawn({m}, 3);
  const auto mean_square = [](const Tensors& in) -> Tensors { return {mean(square(in[0] - in[1]))}; };
  CHECK(work_of(mean_square, {x, y}) == Work{2, 2 * bytes + 8 + 3 * 8});
  const auto by_columns = [](const Tensors& in) -> Tensors { return {sum(in[0] * in[1], Axes{0})}; };
  CHECK(work_of(by_columns, {x, b}) == Work{1, bytes + 2 * 8 * m});
  const auto largest = [](const Tensors& in) -> Tensors { return {max(engine::abs(in[0]), Axes{1})}; };
  CHECK(work_of(largest, {x}) == Work{1, bytes + 8 * n});
  const auto reshaped = [](const Tensors& in) -> Tensors {
    return {sum(reshape(exp(in[0]), {n * m / 2, 2}), Axes{0})};
  };
  CHECK(work_of(reshaped, {x}) == Work{1, bytes + 2 * 8});
}

TEST_CASE("reductions of what is made: others that need the array have it stored", "[engine]") {
  const Tensor x = drawn({n, m});
  const auto f = [](const auto& g) { return [g](const Tensors& in) -> Tensors { return g(exp(in[0])); }; };
  const auto alone = [](const Tensor& e) -> Tensors { return {sum(e, Axes{0})}; };
  CHECK(work_of(f(alone), {x}).n_launches == 1);
  const auto given = [](const Tensor& e) -> Tensors { return {sum(e, Axes{0}), e}; };
  CHECK(work_of(f(given), {x}) == Work{2, 3 * bytes + 8 * m});
  const auto given_flat = [](const Tensor& e) -> Tensors { return {sum(e, Axes{0}), reshape(e, {n * m})}; };
  CHECK(work_of(f(given_flat), {x}).n_launches == 2);
  const auto twice = [](const Tensor& e) -> Tensors { return {sum(e, Axes{0}), max(e, Axes{0})}; };
  CHECK(work_of(f(twice), {x}).n_launches == 3);
  const auto in_a_product = [](const Tensor& e) -> Tensors {
    return {sum(e, Axes{0}), matmul(transpose(e), e)};
  };
  CHECK(work_of(f(in_a_product), {x}).n_launches == 3);
  const auto turned = [](const Tensor& e) -> Tensors { return {sum(transpose(e), Axes{0})}; };
  CHECK(work_of(f(turned), {x}).n_launches == 2);  // its order of adding is that of another array
  // Other results of the cluster are stored on the way.
  const auto beside = [](const Tensor& e) -> Tensors { return {sum(sin(e), Axes{0}), e}; };
  CHECK(work_of(f(beside), {x}) == Work{1, 2 * bytes + 8 * m});
  const auto two = [](const Tensor& e) -> Tensors { return {sum(sin(e), Axes{0}), sum(cos(e), Axes{1})}; };
  CHECK(work_of(f(two), {x}).n_launches == 2);
}

TEST_CASE("reductions of what is made: functions stand between, limits hold", "[engine]") {
  const Tensor x = (ones({n, m}, DType::f64) * 0.5).eval();
  const core::MapPtr map = core::pointwise(
      "same", n * m, [](double t) { return t; }, [](double) { return 1.0; });
  const auto f = [&](bool with_effect) {
    return [&map, with_effect](const Tensors& in) -> Tensors {
      const Tensor before = exp(in[0]);
      if (with_effect) static_cast<void>(external(map, reshape(in[0], {n * m})));
      return {sum(before)};
    };
  };
  CHECK(work_of(f(false), {x}).n_launches == 1);
  CHECK(work_of(f(true), {x}).n_launches == 2);
  const auto sum_of = [](const Tensors& in) -> Tensors {
    Tensor total = in[0];
    for (std::size_t i = 1; i < in.size(); ++i) total = total + in[i];
    return {sum(total)};
  };
  CHECK(work_of(sum_of, Tensors(12, x)).n_launches == 1);
  CHECK(work_of(sum_of, Tensors(13, x)).n_launches == 2);
  const auto outputs = [](int count) {
    return [count](const Tensors& in) -> Tensors {
      Tensors all{in[0]};
      for (int i = 0; i < count; ++i) all.push_back(exp(all.back()));
      all.push_back(sum(sin(all.back())));
      return all;
    };
  };
  CHECK(work_of(outputs(3), {x}).n_launches == 1);
  CHECK(work_of(outputs(4), {x}).n_launches == 2);
}

TEST_CASE("reductions of what is made: other outputs may take the places of operands", "[engine]") {
  for (const Axes& axes : {Axes{0}, Axes{1}, Axes{0, 1}}) {
    const auto f = [&](const Tensors& in) -> Tensors {
      const Tensor before = softmax(in[0]), half = before * 0.5, of_half = sum(exp(half), axes);
      return {softmax(half), of_half};
    };
    const Tensor x = drawn({1500, 70});
    const Tensors right = f({x});
    for (const int n_threads : {1, 3}) {
      const Threads scope(n_threads);
      const auto plan = plan_of(f, {x}, Level::O1);
      CHECK(plan->n_launches() == 3);
      CHECK(plan->block_bytes() < 2 * x.aval().bytes());
      CHECK(same_bits(plan->run(Tensors{x}), right));
    }
  }
}
