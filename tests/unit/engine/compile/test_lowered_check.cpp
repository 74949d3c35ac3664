// SPDX-License-Identifier: Apache-2.0
// Faults that are planted in lowered programs: the verifier finds them, and bytes that nobody may read are
// never read.
#include "engine/compile/control_plan.hpp"
#include "engine/compile/launch_table.hpp"
#include "engine/compile/passes.hpp"
#include "engine/compile/plan.hpp"
#include "engine/memory/buffer.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/control.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <algorithm>
#include <cstring>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;
using tests::same_bits;

namespace {

Program recorded(const Function& f, const Tensors& like) {
  return Program::of(Trace::without_values(f, avals_of(like), std::source_location::current()));
}

/// Ops with and without workspaces, views of all kinds, and arrays that live long.
struct Mixed {
  Tensors in{(iota(512, DType::f64) * 0.01).eval(), (iota(512, DType::f64) * 0.02).eval()};
  Function f = [](const Tensors& x) -> Tensors {
    const Tensor a = sin(x[0]), b = reshape(a, {16, 32}), c = transpose(cumulative_sum(transpose(b), 0));
    return {matmul(b, transpose(c)), a + x[1], flip(a, 0) * x[0]};
  };
  Program program = recorded(f, in);
  Lowered plan = lowered(program, tests::strides_of(in));
};

core::Error error_with(const auto& change) {
  Mixed sample;
  change(sample.plan);
  return error_of<core::InvalidArgument>([&] { verify(sample.plan); });
}

/// Returns the first operand in a block that a launch reads, beginning at its first byte or not.
Access& read_in_block(Lowered& plan) {
  for (const Launch& each : plan.launches) {
    for (std::uint32_t i = 0; i < each.n_in; ++i) {
      Access& access = plan.accesses[each.first_access + i];
      if (access.source.in == Source::In::block) return access;
    }
  }
  throw std::logic_error("no operand lies in a block");
}

Launch& launch_of(Lowered& plan, std::string_view op) {
  return *std::ranges::find_if(plan.launches, [&](const Launch& each) { return each.op->name == op; });
}

/// Returns a launch that has a workspace.
Launch& launch_that_works(Lowered& plan) {
  return *std::ranges::find_if(plan.launches, [](const Launch& each) {
    return each.workspace.shared >= 64 || each.workspace.per_thread >= 64;
  });
}

}  // namespace

TEST_CASE("lowered: planted faults are found", "[engine]") {
  CHECK(error_with([](Lowered&) {}).id() == "nothing_thrown");
  // An operand that is not told where an input is, or told of another one.
  CHECK_THAT(error_with([](Lowered& plan) { plan.accesses_of[0].pop_back(); }), HasId("lost_patch", {"0"}));
  CHECK_THAT(error_with([](Lowered& plan) { std::swap(plan.accesses_of[0], plan.accesses_of[1]); }),
             HasId("lost_patch"));
  // Operands that lie elsewhere than they should.
  CHECK_THAT(error_with([](Lowered& plan) { read_in_block(plan).source.bytes += 8; }), HasId("overwritten"));
  CHECK_THAT(error_with([](Lowered& plan) { read_in_block(plan).source.bytes += 1 << 20; }),
             HasId("beyond_block"));
  CHECK_THAT(error_with([](Lowered& plan) {
               for (Access& each : plan.accesses)
                 if (each.source.in == Source::In::held) return void(each.source.bytes += 8);
             }),
             HasId("wrong_place", {"8 bytes"}));
  CHECK_THAT(error_with([](Lowered& plan) {  // flip reads from its last element on
               Launch& flipped = launch_of(plan, "multiply");
               plan.accesses[flipped.first_access].source.bytes = 0;
             }),
             HasId("beyond_block"));
  // Memory that is written too early, by another result or by a launch that works there.
  CHECK_THAT(error_with([](Lowered& plan) { launch_that_works(plan).scratch.bytes = 0; }),
             HasId("overwritten"));
  CHECK_THAT(error_with([](Lowered& plan) {
               Launch& launch = launch_that_works(plan);
               launch.scratch = plan.accesses[launch.first_access].source;
             }),
             HasId("overlap"));
  CHECK_THAT(error_with([](Lowered& plan) { std::swap(plan.launches[0], plan.launches[1]); }),
             HasId("overwritten"));
  // Workspaces.
  CHECK_THAT(error_with([](Lowered& plan) {
               Workspace& workspace = launch_that_works(plan).workspace;
               (workspace.shared >= 64 ? workspace.shared : workspace.per_thread) -= 64;
             }),
             HasId("small_workspace"));
  CHECK_THAT(error_with([](Lowered& plan) { plan.blocks[0].bytes -= 64; }), HasId("beyond_block"));
  // Launches and arrays that are left out.
  CHECK_THAT(error_with([](Lowered& plan) { plan.segments[0].end_launch -= 1; }), HasId("lost_launch"));
  CHECK_THAT(error_with([](Lowered& plan) { plan.segments[0].made.pop_back(); }), HasId("no_memory"));
  CHECK_THAT(error_with([](Lowered& plan) {
               plan.segments[0].released.push_back(plan.outputs[0].held);  // though the caller gets it
             }),
             HasId("not_made"));
}

TEST_CASE("lowered: a donated cell that is read late is found", "[engine]") {
  const Tensors in{row({1, 2}), row({3, 4})};
  const auto cell_then = [&](bool reads_late) {
    const Program program = recorded(
        [&](const Tensors& x) -> Tensors {
          const Tensor early = x[0] * x[1], after = x[0] + x[1];
          return {after, reads_late ? exp(after) * x[0] : early};
        },
        in);
    const Lowered plan = lowered(program, tests::strides_of(in));
    const std::vector<Donor> donors{{0, 0}};
    const bool is_donated = !donations(program, plan, donors).empty();
    const Donation planted{0, plan.outputs[0].held};
    CHECK(is_donated != reads_late);
    return error_of<core::InvalidArgument>([&] { verify(plan, std::span(&planted, 1)); });
  };
  CHECK(cell_then(false).id() == "nothing_thrown");
  CHECK_THAT(cell_then(true), HasId("overwritten"));
}

TEST_CASE("lowered: memory that somebody else holds changes where nobody asks who does", "[engine]") {
  const Tensors in{row({1, 2}), row({3, 4})};
  const Function f = [](const Tensors& x) -> Tensors { return {x[0] + x[1]}; };
  const Plan plan(recorded(f, in), tests::strides_of(in), Level::O0, {{0, 0}});
  const auto kept_after = [&](std::uint8_t given_up) {
    const Tensors cells{row({1, 2}), in[1]};
    CHECK(same_bits(plan.run(cells, std::array{given_up}), f(in)));
    return same_bits(cells[0], in[0]);
  };
  CHECK(kept_after(0));
  CHECK_FALSE(kept_after(1));  // as if nobody but a cell held it
}

TEST_CASE("lowered: one slot for two carries is found, and so is one that is lost", "[engine]") {
  const Function f = [](const Tensors& x) {
    const auto step = [](const Tensors& carry, const Tensors& now) -> Tensors {
      return {flip(carry[0], 0) + now[0], flip(carry[1], 0) * carry[0]};
    };
    return scan(step, {x[0], x[0] * 2.0}, {x[1]}).carry;
  };
  const Tensors in{row({1, 2, 3}), reshape(row({1, 2, 3, 4, 5, 6}), {2, 3}).eval()};
  const auto plan = tests::plan_of(f, in);
  const auto& launches = plan->lowered().launches;
  const auto with_control = [](const Launch& each) { return each.control != nullptr; };
  const ControlPlan& control = *std::ranges::find_if(launches, with_control)->control;
  const auto error_with = [&](const auto& change) {
    ControlPlan::Loop loop = control.loop();
    change(loop.carries);
    return error_of<core::InvalidArgument>([&] { verify(*control.bodies()[0], loop, control.bytes()); });
  };
  using Carries = std::vector<ControlPlan::Carry>;
  REQUIRE(std::ranges::none_of(control.loop().carries,
                               [](const auto& each) { return each.second == ControlPlan::Carry::none; }));
  CHECK(error_with([](Carries&) {}).id() == "nothing_thrown");
  CHECK_THAT(error_with([](Carries& all) { all[1].second = all[0].second; }), HasId("wrong_place"));
  CHECK_THAT(error_with([](Carries& all) { all[1].second += 64; }), HasId("wrong_place"));
  CHECK_THAT(error_with([](Carries& all) { all[0].second = ControlPlan::Carry::none; }), HasId("overlap"));
  CHECK_THAT(error_with([](Carries& all) { all[1].second = ControlPlan::Carry::none; }), HasId("overlap"));
}

namespace {

/// Runs a lowered program in memory of its own. Bytes that no later launch may read are 0xff,
/// and so is what a launch is about to write or to work in.
class Poisoned {
 public:
  Poisoned(const Lowered& plan, const Tensors& in) : plan_(plan) {
    for (const Block& each : plan.blocks) {
      blocks_.emplace_back(new Buffer(each.device, each.bytes));
      addresses_.push_back(blocks_.back()->data());
      std::memset(addresses_.back(), 0xff, each.bytes);
    }
    table_ = std::make_unique<LaunchTable>(plan, addresses_);
    for (std::uint32_t i = 0; i < in.size(); ++i) table_->hold(i, in[i]);
    for (std::uint32_t i = 0; i < plan.held.size(); ++i) {
      const Value& value = plan.program->values()[plan.held[i].value];
      held_.push_back(i < in.size()                         ? in[i]
                      : value.from == Value::From::constant ? plan.program->constants()[value.of]
                                                            : new_array(value.aval));
      if (value.from == Value::From::result) {
        std::memset(held_[i].node().data(), 0xff, value.aval.bytes());
        table_->hold(i, held_[i]);
      }
    }
  }

  [[nodiscard]] Tensors run() {
    for (std::uint32_t i = 0; i < plan_.launches.size(); ++i) {
      poison(i, [i](const Piece& piece) { return piece.first == i && piece.in_place_of == Piece::none; });
      table_->run(i);
      poison(i, [i](const Piece& piece) { return piece.last == i; });
    }
    Tensors result;
    for (const Given& each : plan_.outputs) {
      NodePtr node(new Node);
      node->aval = plan_.program->values()[each.value].aval;
      node->buffer = held_[each.held].node().buffer;
      node->look = plan_.looks[each.value];
      node->look.offset += held_[each.held].node().look.offset;
      result.emplace_back(std::move(node));
    }
    return result;
  }

 private:
  /// Fills such pieces, unless another is written in place of them by this launch.
  void poison(std::uint32_t launch, const auto& is_meant) {
    const std::vector<Piece>& pieces = plan_.pieces.pieces;
    for (std::uint32_t i = 0; i < pieces.size(); ++i) {
      const auto goes_on = [&](const Piece& other) {
        return other.in_place_of == i && other.first == launch;
      };
      if (!is_meant(pieces[i]) || std::ranges::any_of(pieces, goes_on)) continue;
      const Source& place = plan_.pieces.places[i];
      std::memset(addresses_[place.of] + place.bytes, 0xff, pieces[i].bytes);
      ++n_filled_;
    }
  }

  const Lowered& plan_;
  std::vector<BufferPtr> blocks_;
  std::vector<std::byte*> addresses_;
  std::unique_ptr<LaunchTable> table_;
  Tensors held_;

 public:
  int n_filled_ = 0;
};

}  // namespace

TEST_CASE("lowered: pieces filled with 0xff before and after their use change no bit", "[engine]") {
  int n_run = 0, n_filled = 0;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const tests::SampleNetwork& each : tests::SampleNetworks(dtype).all()) {
      for (const Level level : {Level::O0, Level::O1}) {
        const auto plan = tests::plan_of(each.f, each.inputs, level);
        const Lowered& lowered = plan->lowered();
        if (lowered.segments.size() > 1) continue;  // functions stand in it
        INFO(each.name << " on level " << static_cast<int>(level));
        Poisoned poisoned(lowered, each.inputs);
        CHECK(same_bits(poisoned.run(), each.f(each.inputs)));
        n_filled += poisoned.n_filled_;
        ++n_run;
      }
    }
  }
  CHECK(n_run >= 60);
  CHECK(n_filled > 1000);
}

TEST_CASE("lowered: a lifetime that is cut is found by the bytes that are gone", "[engine]") {
  Mixed sample;
  std::vector<Piece>& pieces = sample.plan.pieces.pieces;
  const Tensors right = sample.f(sample.in);
  CHECK(same_bits(Poisoned(sample.plan, sample.in).run(), right));
  int n_cut = 0;
  for (Piece& each : pieces) {
    const auto continues = [&](const Piece& other) {
      return other.in_place_of == static_cast<std::uint32_t>(&each - pieces.data());
    };
    if (each.first == each.last || std::ranges::any_of(pieces, continues)) continue;
    each.last -= 1;
    CHECK_FALSE(same_bits(Poisoned(sample.plan, sample.in).run(), right));
    each.last += 1;
    ++n_cut;
  }
  CHECK(n_cut > 1);
}
