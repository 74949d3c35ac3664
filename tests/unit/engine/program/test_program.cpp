// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/program/program.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/control.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/sample_functions.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

Program program_of(const Function& f, const Tensors& like) {
  const std::vector<Aval> avals = avals_of(like);
  return Program::of(Trace::without_values(f, avals, std::source_location::current()));
}

/// Sums along an axis of x y + c.
Program sums(Axes axes = {0}, double c = 2.0) {
  const Tensor constant = full({2, 3}, c, DType::f64).eval();
  const auto f = [&](const Tensors& in) -> Tensors {
    const Tensor product = in[0] * in[1];
    return {sum(product + constant, axes), product};
  };
  return program_of(f, {zeros({2, 3}, DType::f64), zeros({2, 3}, DType::f64)});
}

/// Returns what is said of a program after `change` has changed its parts.
template <class Change>
core::Error error_after(const Program& program, const Change& change) {
  ProgramParts parts = program.parts();
  change(parts);
  return error_of<core::InvalidArgument>([&] { static_cast<void>(Program(std::move(parts))); });
}

}  // namespace

TEST_CASE("program: one line per instruction, constants by themselves", "[engine]") {
  const Program program = sums();
  CHECK(program.text() ==
        "%0: f64[2, 3] is an input\n"
        "%1: f64[2, 3] is an input\n"
        "%3: f64[2, 3] is a constant\n"
        "%2: f64[2, 3] = multiply(%0, %1)\n"
        "%4: f64[2, 3] = add(%2, %3)\n"
        "%5: f64[3] = sum(%4; axes=[0])\n"
        "return %5, %2\n");
}

TEST_CASE("program: tuples vanish, ops with several results have several values", "[engine]") {
  const Function body = checkpoint([](const Tensors& x) -> Tensors { return {x[0] * x[0], sin(x[0])}; });
  const auto f = [&](const Tensors& x) -> Tensors {
    const Tensors both = body(x);
    const Tensor pair = tuple({both[0], x[0]});
    return {record(op_named("get"), {pair}, make_attrs(ElementAttrs{1}), {}), both[1]};
  };
  const Program program = program_of(f, {row({1, 2})});
  REQUIRE(program.instructions().size() == 1);
  CHECK(program.instructions()[0].op->name == "call");
  CHECK(program.instructions()[0].n_results == 2);
  CHECK(program.outputs() == std::vector<ValueId>{0, 2});
  const auto whole = [](const Tensors& x) -> Tensors { return {tuple({x[0], x[0]})}; };
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(program_of(whole, {row({1})})); }),
             HasId("whole_tuple", {"(test_program.cpp:"}));
}

TEST_CASE("program: effects are kept in their order, though nobody needs them", "[engine]") {
  const core::MapPtr map = core::pointwise(
      "twice", 1, [](double t) { return 2.0 * t; }, [](double) { return 2.0; });
  const auto f = [&](const Tensors& x) -> Tensors {
    static_cast<void>(external(map, x[0]));
    static_cast<void>(sin(x[0]));
    return {external(map, x[0] + 1.0)};
  };
  const Program program = program_of(f, {row({1})});
  std::string names;
  for (const Instruction& each : program.instructions())
    names += each.op->name + (each.is_effect ? "! " : " ");
  CHECK(names == "external_call! add external_call! ");
}

TEST_CASE("program: the samples of all rows are programs, each equal to itself made again", "[engine]") {
  std::int64_t n_instructions = 0, n_programs = 0;
  tests::for_each_sample_function(2, [&](const tests::SampleFunction& sample) {
    INFO(sample.name);
    const Trace trace = sample.trace();
    const Program program = Program::of(trace), again = Program::of(trace);
    CHECK(program.same(again));
    CHECK(program.hash() == again.hash());
    CHECK(program.n_inputs() == sample.inputs.size());
    REQUIRE(program.outputs().size() == trace.outputs().size());
    for (std::size_t i = 0; i < trace.outputs().size(); ++i)
      CHECK(program.values()[program.outputs()[i]].aval == trace.outputs()[i].aval());
    n_instructions += std::ssize(program.instructions());
    ++n_programs;
  });
  CHECK(n_programs > 1000);
  CHECK(n_instructions > n_programs);
}

TEST_CASE("program: a constant that repeats its elements takes no more memory for its hash", "[engine]") {
  const auto with = [](double number) {
    return program_of(
        [=](const Tensors& in) -> Tensors {
          return {in[0] + full({500, 700}, number, DType::f64)};
        },
        {zeros({500, 700}, DType::f64)});
  };
  const Program program = with(2.0), other = with(3.0);
  Arena& arena = Arena::of(default_device());
  arena.reset_peak();
  const std::size_t before = arena.stats().in_use;
  CHECK(program.hash() != other.hash());
  CHECK_FALSE(program.same(other));
  CHECK(program.same(with(2.0)));
  CHECK(arena.stats().peak - before < 100'000);
  CHECK(arena.stats().in_use == before);
}

TEST_CASE("program: another attribute, constant, shape, operand or output makes another one", "[engine]") {
  const Program program = sums();
  CHECK(program.same(sums()));
  CHECK(program.hash() == sums().hash());
  const auto differs = [&](const Program& other) {
    return !program.same(other) && !other.same(program) && program.hash() != other.hash();
  };
  const auto changed = [&](const auto& change) {
    ProgramParts parts = program.parts();
    change(parts);
    return differs(Program(std::move(parts)));
  };
  CHECK(differs(sums({1})));
  const auto flipped = [](int axis) {
    return program_of([&](const Tensors& in) -> Tensors { return {flip(in[0], axis)}; }, {zeros({2, 2})});
  };
  CHECK_FALSE(flipped(0).same(flipped(1)));
  CHECK(flipped(0).hash() != flipped(1).hash());
  CHECK(differs(sums({0}, 2.0 + 1e-15)));
  CHECK(differs(sums({0}, -2.0)));
  CHECK(changed([](ProgramParts& parts) { parts.operands[0] = 1; }));
  CHECK(changed([](ProgramParts& parts) { std::swap(parts.operands[0], parts.operands[1]); }));
  CHECK(changed([](ProgramParts& parts) { parts.outputs = {5, 4}; }));
  CHECK(changed([](ProgramParts& parts) { parts.outputs.pop_back(); }));
  CHECK(changed([](ProgramParts& parts) { parts.instructions[0].op = &op_named("subtract"); }));
  const auto smaller = [](const Tensors& in) -> Tensors { return {in[0] * in[1]}; };
  CHECK_FALSE(
      program_of(smaller, {row({1}), row({1})}).same(program_of(smaller, {row({1, 2}), row({1, 2})})));
}

TEST_CASE("program: constants of equal bits in another order of memory are others", "[engine]") {
  const Tensor rows = Tensor::from(std::vector<double>{1, 2, 2, 1}, {2, 2});
  const auto with = [](const Tensor& constant) {
    return program_of([&](const Tensors& in) -> Tensors { return {in[0] + constant}; }, {zeros({2, 2})});
  };
  CHECK(with(cast(rows, DType::f32)).same(with(cast(rows, DType::f32))));
  CHECK_FALSE(with(cast(rows, DType::f32)).same(with(transpose(cast(rows, DType::f32)))));
}

TEST_CASE("program: planted faults are found", "[engine]") {
  const Program right = sums();
  const auto found = [&](const char* id, const auto& change) {
    CHECK_THAT(error_after(right, change), HasId(id));
  };
  found("used_before_made", [](ProgramParts& parts) { parts.operands[0] = 4; });
  found("used_before_made", [](ProgramParts& parts) { parts.operands[0] = 2; });
  found("used_before_made", [](ProgramParts& parts) { parts.operands[0] = 100; });
  found("used_before_made", [](ProgramParts& parts) {  // an operand that has not come yet
    std::swap(parts.operands[0], parts.operands[4]);
  });
  found("no_origin", [](ProgramParts& parts) { parts.instructions.pop_back(); });
  found("no_origin", [](ProgramParts& parts) { parts.values[5].of = 1; });
  found("no_origin", [](ProgramParts& parts) { parts.values[0].of = 1; });
  found("no_origin", [](ProgramParts& parts) { parts.constants.clear(); });
  found("no_origin", [](ProgramParts& parts) { parts.constants.push_back(row({1})); });
  found("no_origin", [](ProgramParts& parts) { parts.values[3].aval.dtype = DType::i32; });
  found("no_origin", [](ProgramParts& parts) { parts.instructions.erase(parts.instructions.begin()); });
  found("wrong_operands", [](ProgramParts& parts) { parts.instructions[1].first_operand = 1; });
  found("wrong_operands", [](ProgramParts& parts) { parts.operands.push_back(0); });
  found("refused_by_row", [](ProgramParts& parts) {
    parts.instructions[0].n_operands = 1;  // which multiply refuses
  });
  found("wrong_operands", [](ProgramParts& parts) { parts.operands.pop_back(); });
  found("wrong_aval", [](ProgramParts& parts) { parts.values[2].aval.shape = {3, 2}; });
  found("wrong_aval", [](ProgramParts& parts) { parts.values[5].aval.dtype = DType::f32; });
  found("wrong_aval",
        [](ProgramParts& parts) { parts.instructions[2].attrs = sums({1}).instructions()[2].attrs; });
  found("refused_by_row", [](ProgramParts& parts) { parts.instructions[2].attrs = AttrsPtr(); });
  found("refused_by_row",
        [](ProgramParts& parts) { parts.instructions[2].attrs = make_attrs(ElementAttrs{0}); });
  found("refused_by_row", [](ProgramParts& parts) { parts.values[1].aval.shape = {4}; });
  found("no_origin", [](ProgramParts& parts) {
    parts.instructions[2].first_result = 4;  // which the instruction before gives
  });
  found("wrong_results", [](ProgramParts& parts) { parts.instructions[2].n_results = 2; });
  found("wrong_effect", [](ProgramParts& parts) { parts.instructions[1].is_effect = true; });
  found("wrong_output", [](ProgramParts& parts) { parts.outputs[0] = 6; });
  CHECK(error_after(right, [](ProgramParts&) {}).id() == "nothing_thrown");
}
