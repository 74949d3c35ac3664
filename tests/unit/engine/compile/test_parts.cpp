// SPDX-License-Identifier: Apache-2.0
// Parts of a concatenation that are written where they stand: which are, which are not, and with which bits.
#include "engine/compile/control_plan.hpp"
#include "engine/compile/parts.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::plan_of;
using tests::row;
using tests::same_bits;

namespace {

Tensor joined(const Tensors& parts, int axis = 0) { return concatenate(parts, axis); }

/// Returns the operands of all concatenations of a program, and of the bodies in it, that stand in place.
std::size_t n_in_place(const Lowered& plan) {
  std::size_t n = 0;
  for (const Launch& each : plan.launches) {
    for (std::size_t i = 0; i < each.n_in; ++i) n += stands_in_place(plan, each, i) ? 1 : 0;
    if (each.control == nullptr) continue;
    for (const ControlPlan::BodyPtr& body : each.control->bodies()) n += n_in_place(body->lowered());
  }
  return n;
}

/// Checks the bits of both levels, and returns the number of operands in place without passes.
std::size_t n_in_place(const Function& f, const Tensors& in) {
  for (const Level level : {Level::O0, Level::O1}) {
    const auto plan = plan_of(f, in, level);
    for (int run = 0; run < 2; ++run) CHECK(same_bits(plan->run(in), f(in)));
  }
  return n_in_place(plan_of(f, in)->lowered());
}

const Tensors& arguments() {
  static const Tensors in{row({1, 2, 3, 4, 5, 6}), row({7, 8, 9})};
  return in;
}

}  // namespace

TEST_CASE("parts: results that only a concatenation takes, or others as well, stand in place", "[engine]") {
  const auto n = [](const Function& f) { return n_in_place(f, arguments()); };
  CHECK(n([](const Tensors& x) -> Tensors { return {joined({sin(x[0]), cos(x[1])})}; }) == 2);
  CHECK(n([](const Tensors& x) -> Tensors {
          return {cumulative_sum(joined({sin(x[0]), cos(x[1])}), 0)};
        }) == 2);
  // Behind another shape, and in rows.
  CHECK(n([](const Tensors& x) -> Tensors {
          return {joined({reshape(sin(x[0]), {2, 3}), reshape(cos(x[1]), {1, 3})})};
        }) == 2);
  // Along a later axis, behind extents of 1.
  CHECK(n([](const Tensors& x) -> Tensors {
          return {joined({expand_dims(sin(x[0]), 0), expand_dims(cos(x[1]), 0)}, 1)};
        }) == 2);
  // A part that is used before and behind it, and would be written over without it.
  CHECK(n([](const Tensors& x) -> Tensors {
          const Tensor part = sin(x[0]), early = exp(part), all = joined({part, cos(x[1])});
          return {early, exp(part), cumulative_sum(all, 0)};
        }) == 2);
  // One in the other: what stands in the inner one stands in the outer one.
  CHECK(n([](const Tensors& x) -> Tensors {
          const Tensor inner = joined({cos(x[1]), sin(x[0])});
          return {exp(inner), joined({sin(x[1]), inner, tan(x[0])})};
        }) == 5);
}

TEST_CASE("parts: a concatenation that also reads what stands in a part of it copies that part", "[engine]") {
  const auto n = [](const Function& f) { return n_in_place(f, arguments()); };
  const auto with = [&](const std::function<Tensor(const Tensor&)>& view) {
    return n([&](const Tensors& x) -> Tensors {
      const Tensor a = sin(x[0]), inner = joined({a, cos(x[1])});
      return {cumulative_sum(joined({inner, view(a)}), 0)};
    });
  };
  CHECK(with([](const Tensor& a) { return a; }) == 2);
  CHECK(with([](const Tensor& a) { return slice(a, 0, 0, 1); }) == 2);
  CHECK(with([](const Tensor& a) { return flip(a, 0); }) == 2);
  CHECK(with([](const Tensor& a) { return exp(a); }) == 4);
}

TEST_CASE("parts: no output loses the place of an input by them", "[engine]") {
  const Tensors in{tests::row(std::vector<double>(1024, 0.5)), row({3})};
  const Function f = [](const Tensors& x) -> Tensors {
    const Tensor a = cumulative_sum(slice(x[0], 0, 0, 512) * x[1], 0);
    return {joined({a, cumulative_sum(slice(x[0], 0, 512, 1024), 0)})};
  };
  const Plan plan(Program::of(Trace::without_values(f, avals_of(in), std::source_location::current())),
                  tests::strides_of(in), Level::O0, {{0, 0}});
  CHECK(plan.donations().size() == 1);
  CHECK(n_in_place(plan.lowered()) == 0);
  CHECK(same_bits(plan.run(in), f(in)));
}

TEST_CASE("parts: what has its place elsewhere is copied", "[engine]") {
  const auto n = [](const Function& f) { return n_in_place(f, arguments()); };
  CHECK(n([](const Tensors& x) -> Tensors { return {joined({x[0], cos(x[1])})}; }) == 1);  // an argument
  CHECK(n([](const Tensors& x) -> Tensors {
          const Tensor part = sin(x[0]);
          return {part, joined({part, cos(x[1])})};  // the caller gets one
        }) == 1);
  CHECK(n([](const Tensors& x) -> Tensors {
          const Tensor part = sin(x[0]);
          return {joined({part, part})};
        }) == 0);
  CHECK(n([](const Tensors& x) -> Tensors { return {joined({flip(sin(x[0]), 0), cos(x[1])})}; }) == 1);
  CHECK(n([](const Tensors& x) -> Tensors { return {joined({slice(sin(x[0]), 0, 0, 3), cos(x[1])})}; }) == 1);
  CHECK(n([](const Tensors& x) -> Tensors {
          return {joined({reshape(sin(x[0]), {3, 2}), reshape(cos(x[1]), {3, 1})}, 1)};  // between rows
        }) == 0);
  CHECK(n([](const Tensors& x) -> Tensors {
          const Tensor part = sin(x[0]);  // it stands in one of them
          return {joined({part, cos(x[1])}), joined({exp(x[1]), part})};
        }) == 3);
}

TEST_CASE("parts: a block never grows by them", "[engine]") {
  // The early part would hold the place of the large one through the middle.
  const Tensors in{full({8}, 0.5, DType::f64).eval()};
  const auto f = [](const Tensors& x) -> Tensors {
    const Tensor early = sin(x[0]);
    const Tensor large = cumulative_sum(broadcast_to(x[0], {512, 8}), 0);
    const Tensor middle = sum(flip(large, 0) * large, Axes{0});
    const Tensor late = cumulative_sum(broadcast_to(middle + early, {256, 8}), 0);
    return {sum(cumulative_sum(joined({expand_dims(early, 0), late}), 0))};
  };
  CHECK(n_in_place(f, in) == 0);
  CHECK(plan_of(f, in)->block_bytes() >= 2 * 512 * 8 * sizeof(double));
  // At the concatenation both parts and the whole would live at once: four arrays in place of two.
  const auto short_f = [](const Tensors& x) -> Tensors {
    const Tensor part = broadcast_to(x[0], {512, 8});
    return {sum(joined({part + 1.0, exp(part)}))};
  };
  CHECK(n_in_place(short_f, in) == 2);
  CHECK(plan_of(short_f, in)->block_bytes() < 3 * 512 * 8 * sizeof(double));
}

TEST_CASE("parts: loops and branches write them in place as well", "[engine]") {
  const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors {
    const Tensor window = joined({slice(carry[0], 0, 1, 3), expand_dims(sin(now[0]) + sum(carry[0]), 0)});
    return {window, joined({exp(window), window})};
  };
  const Tensors in{row({1, 2, 3}), row({0.1, 0.2, 0.3, 0.4})};
  CHECK(n_in_place(
            [&](const Tensors& x) -> Tensors {
              const Scanned all = scan(step, {x[0]}, {x[1]});
              return {all.carry[0], all.ys[0]};
            },
            in) == 2);
  const auto yes = [](const Tensors& x) -> Tensors { return {joined({sin(x[0]), cos(x[1])})}; };
  const auto no = [](const Tensors& x) -> Tensors { return {joined({x[0], exp(x[1])})}; };
  CHECK(n_in_place([&](const Tensors& x) { return cond(greater(sum(x[0]), 0.0), yes, no, x); },
                   arguments()) == 3);
}

TEST_CASE("parts: functions take them whole, and part them from those before", "[engine]") {
  const core::MapPtr map = core::pointwise(
      "square", 3, [](double t) { return t * t; }, [](double t) { return 2.0 * t; });
  const auto n = [](const Function& f) { return n_in_place(f, arguments()); };
  CHECK(n([&](const Tensors& x) -> Tensors {
          const Tensor before = sin(x[0]), squares = external(map, x[1]);
          return {joined({before, cos(squares)})};  // the memory of the result is new behind the function
        }) == 1);
  const core::MapPtr of_nine = core::pointwise(
      "square", 9, [](double t) { return t * t; }, [](double t) { return 2.0 * t; });
  CHECK(n([&](const Tensors& x) -> Tensors {
          return {external(of_nine, joined({sin(x[0]), cos(x[1])}))};
        }) == 2);
  CHECK(n([&](const Tensors& x) -> Tensors {
          const Tensor part = sin(x[1]);
          return {external(map, part), joined({part, cos(x[0])})};  // the function may keep its operand
        }) == 1);
}

TEST_CASE("parts: they are neither read nor written again", "[engine]") {
  const Tensors in{tests::row(std::vector<double>(1024, 0.5))};
  const auto bytes = [&](const Function& f) {
    const auto plan = plan_of(f, in);
    return bytes_moved(plan->lowered(), plan->lowered().launches.back());
  };
  CHECK(bytes([](const Tensors& x) -> Tensors { return {joined({sin(x[0]), cos(x[0])})}; }) == 0.0);
  CHECK(bytes([](const Tensors& x) -> Tensors { return {joined({sin(x[0]), x[0]})}; }) == 2.0 * 8.0 * 1024);
}

TEST_CASE("parts: planted faults are found", "[engine]") {
  const Tensors& in = arguments();
  const Function f = [](const Tensors& x) -> Tensors {
    return {cumulative_sum(joined({sin(x[0]), cos(x[1])}), 0)};
  };
  const Program program =
      Program::of(Trace::without_values(f, avals_of(in), std::source_location::current()));
  const auto error_with = [&](const auto& change) {
    Lowered plan = lowered(program, tests::strides_of(in));
    REQUIRE(n_in_place(plan) == 2);
    change(plan);
    return error_of<core::InvalidArgument>([&] { verify(plan); });
  };
  const auto written_by = [](Lowered& plan, std::size_t launch) -> Access& {
    return plan.accesses[plan.launches[launch].first_access + plan.launches[launch].n_in];
  };
  CHECK(error_with([](Lowered&) {}).id() == "nothing_thrown");
  CHECK_THAT(error_with([&](Lowered& plan) { written_by(plan, 1).source.bytes -= 8; }), HasId("overwritten"));
  CHECK_THAT(error_with([&](Lowered& plan) { std::swap(written_by(plan, 0), written_by(plan, 1)); }),
             HasId("wrong_place"));
  CHECK_THAT(error_with([&](Lowered& plan) {  // both where the second stands
               for (const std::size_t operand : {0, 1})
                 plan.accesses[plan.launches[2].first_access + operand].source = written_by(plan, 1).source;
             }),
             HasId("overwritten"));
  CHECK_THAT(error_with([&](Lowered& plan) { std::swap(plan.launches[1], plan.launches[2]); }),
             HasId("overwritten"));
  CHECK_THAT(error_with([&](Lowered& plan) { written_by(plan, 2).source.bytes += 8; }), HasId("overlap"));
}

TEST_CASE("parts: a cell that is read behind the first part is copied into, not joined", "[engine]") {
  const Tensors in{row({1, 2, 3, 4}), row({5, 6})};
  const auto donated = [&](bool reads_late) {
    const auto f = [&](const Tensors& x) -> Tensors {
      const Tensor a = sin(x[1]), b = reads_late ? cos(slice(x[0], 0, 2, 4)) : cos(x[1]);
      return {joined({a, b})};
    };
    const Program program =
        Program::of(Trace::without_values(f, avals_of(in), std::source_location::current()));
    const Lowered plan = lowered(program, tests::strides_of(in));
    CHECK(n_in_place(plan) == (reads_late ? 0 : 2));
    const std::vector<Donor> donors{{0, 0}};
    const Donation planted{0, plan.outputs[0].held};
    verify(plan, std::span(&planted, 1));
    return !donations(program, plan, donors).empty();
  };
  CHECK(donated(false));
  CHECK(donated(true));
}
