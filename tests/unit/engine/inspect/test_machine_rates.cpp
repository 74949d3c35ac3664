// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/control_plan.hpp"
#include "engine/core/build_info.hpp"
#include "engine/inspect/calibration.hpp"
#include "engine/inspect/launch_work.hpp"
#include "engine/inspect/lone_launch.hpp"
#include "engine/inspect/machine_rates.hpp"
#include "engine/inspect/rates_file.hpp"
#include "engine/memory/arena.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/inspect/made_up_rates.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::made_up_rates;
namespace fs = std::filesystem;

namespace {

constexpr double launch = 1e-6;  // of the rates that are made up

LaunchWork product_of(double n, double bytes, DType dtype = DType::f64) {
  LaunchWork work;
  work.kernels.push_back({with_dtype("dot_general", dtype), "product", dtype, n, bytes});
  work.bytes = bytes;
  return work;
}

bool is_close(const std::optional<double>& seconds, double expected) {
  CAPTURE(seconds.value_or(-1.0), expected);
  return seconds && std::abs(*seconds - expected) < 1e-12 * expected;
}

/// Returns the work of each launch of a plan.
std::vector<LaunchWork> works_of(const Function& f, const Tensors& in, Level level) {
  const auto plan = tests::plan_of(f, in, level);
  std::vector<LaunchWork> works;
  for (const Launch& each : plan->lowered().launches)
    if (each.control == nullptr) works.push_back(work_of(plan->lowered(), each));
  return works;
}

/// A clock that is a second later at each look.
struct CountingClock {
  std::shared_ptr<double> looks = std::make_shared<double>(0.0);
  double operator()() const { return ++*looks; }
};

/// Returns uses of one function of a square matrix.
std::function<std::vector<SampleUse>(DType)> uses_of(const Function& f) {
  return [f](DType dtype) { return std::vector<SampleUse>{{f, {Aval{{64, 64}, dtype, default_device()}}}}; };
}

/// Returns how often a calibration looked at the clock.
double looks_of(double most_s, int most_rounds) {
  const CountingClock clock;
  static_cast<void>(calibrated_rates({.most_s = most_s, .most_rounds = most_rounds, .now = clock}));
  return *clock.looks;
}

}  // namespace

TEST_CASE("machine rates: a launch takes the longer of its operations and its bytes, and its own cost",
          "[engine]") {
  const MachineRates rates = made_up_rates();
  CHECK(is_close(rates.seconds(product_of(1e5, 1e3)), 1e5 * 1e-9 + launch));
  CHECK(is_close(rates.seconds(product_of(2e5, 1e3)), 2e5 * 1e-9 + launch));
  CHECK(is_close(rates.seconds(product_of(1.0, 1e6)), 1e6 * 1e-11 + launch));
  CHECK(is_close(rates.seconds(product_of(1.0, 2e6)), 2e6 * 1e-10 + launch));  // the second level
  CHECK(is_close(rates.seconds(product_of(1.0, 1e9)), 1e9 * 1e-10 + launch));  // beyond the last
  CHECK(is_close(rates.seconds(product_of(1e4, 1e6)), 1e4 * 1e-9 + launch));   // as long as its bytes
}

TEST_CASE("machine rates: an op has its own rate, else that of its kind, else of the nearest dtype",
          "[engine]") {
  MachineRates rates = made_up_rates();
  const auto f32 = product_of(1e5, 1e3, DType::f32);
  CHECK_FALSE(rates.seconds(f32));
  CHECK(is_close(rates.seconds(product_of(1e5, 1e3, DType::c128)), 1e5 * 1e-9 + launch));
  CHECK(is_close(rates.seconds(product_of(1e5, 1e3, DType::i64)), 1e5 * 1e-9 + launch));
  rates.alone.kinds["product f32"] = 2e9;
  CHECK(is_close(rates.seconds(f32), 1e5 * 0.5e-9 + launch));
  CHECK(is_close(rates.seconds(product_of(1e5, 1e3, DType::bf16)), 1e5 * 0.5e-9 + launch));
  rates.alone.rates["dot_general f32"] = {{0.0, 4e9}};
  CHECK(is_close(rates.seconds(f32), 1e5 * 0.25e-9 + launch));
  rates.alone.levels.clear();
  CHECK_FALSE(rates.seconds(f32));
}

TEST_CASE("machine rates: the rate follows the operations per byte between those that were measured",
          "[engine]") {
  MachineRates rates = made_up_rates();
  rates.alone.rates["dot_general f64"] = {{1.0, 1e8}, {4.0, 4e8}, {16.0, 4e9}};
  const auto at = [&](double per_byte) { return rates.seconds(product_of(1e5, 1e5 / per_byte)); };
  CHECK(is_close(at(0.5), 1e5 / 1e8 + launch));
  CHECK(is_close(at(1.0), 1e5 / 1e8 + launch));
  CHECK(is_close(at(2.0), 1e5 / 2e8 + launch));
  CHECK(is_close(at(4.0), 1e5 / 4e8 + launch));
  CHECK(is_close(at(8.0), 1e5 / std::sqrt(4e8 * 4e9) + launch));
  CHECK(is_close(at(99.0), 1e5 / 4e9 + launch));
}

TEST_CASE("machine rates: a launch is shared by threads where that takes less than waking them", "[engine]") {
  const MachineRates rates = made_up_rates(2);
  CHECK(is_close(rates.seconds(product_of(3e3, 1.0)), 3e-6 + launch));  // shared 1.5 + 2
  CHECK(is_close(rates.seconds(product_of(1e5, 1.0)), 0.5e-4 + 2e-6 + launch));
  CHECK(rates.text().find("on all threads") != std::string::npos);
  CHECK(made_up_rates().text().find("on all threads") == std::string::npos);
}

TEST_CASE("machine rates: work of a launch is that of its kernel and its functions", "[engine]") {
  const Tensor x = ones({10, 20}, DType::f64).eval(), w = ones({20, 30}, DType::f64).eval();
  const auto f = [](const Tensors& in) -> Tensors { return {exp(matmul(in[0], in[1])) / 3.0}; };
  const auto joined = works_of(f, {x, w}, Level::O1);
  REQUIRE(joined.size() == 1);
  REQUIRE(joined[0].kernels.size() == 1);
  const WorkPart& product = joined[0].kernels[0];
  CHECK(product.of == "dot_general f64");
  CHECK(product.kind == "product");
  CHECK(product.n == 2 * 10 * 20 * 30);
  CHECK(product.bytes == 8 * (200 + 600 + 300));
  const std::vector<WorkPart> parts = joined[0].parts();
  REQUIRE(parts.size() == 3);
  CHECK(parts[1].kind == "function");
  CHECK(parts[2].kind == "arithmetic");
  CHECK(parts[2].of == "a / b f64");
  for (const std::size_t i : {1, 2}) CHECK(parts[i].n == 300);

  const auto apart = works_of(f, {x, w}, Level::O0);
  REQUIRE(apart.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    REQUIRE(apart[i].parts().size() == 1);
    CHECK(apart[i].parts()[0].of == parts[i].of);
    CHECK(apart[i].parts()[0].n == parts[i].n);
  }
  const auto copies =
      works_of([](const Tensors& in) -> Tensors { return {concatenate(in, 0)}; }, {x, x}, Level::O0);
  REQUIRE(copies.size() == 1);
  CHECK(copies[0].flops == 0.0);
  CHECK(copies[0].kernels[0].n == 400);  // elements, where no operations are counted
  const auto choices = works_of(
      [](const Tensors& in) -> Tensors { return {select(less(in[0], 2.0), in[0], in[0])}; }, {x}, Level::O0);
  CHECK(choices.back().parts()[0].of == "c ? a : b f64");  // of the choices, not of the condition
  const auto rows = works_of(
      [](const Tensors& in) -> Tensors {
        const Tensor y = in[0] * in[0];
        return {y - in[0] * sum(y, Axes{1}, Keep::yes)};
      },
      {x}, Level::O1);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].flops == 4.0 * 200);
  const std::vector<WorkPart> of_rows = rows[0].parts();
  const auto combined = std::ranges::find(of_rows, "rows", &WorkPart::kind);
  REQUIRE(combined != of_rows.end());
  CHECK(combined->of == "rows of static_cast<T>(a + b) f64");
  CHECK(combined->n == 200);
}

TEST_CASE("machine rates: a lone launch works on numbers that differ, and on places in every array",
          "[engine]") {
  const Tensors in{(ones({200'000}) + 0.0F).eval(), Tensor::from(std::vector<std::int64_t>(10, 3), {10})};
  const auto plan =
      tests::plan_of([](const Tensors& x) -> Tensors { return {take(x[0], x[1])}; }, in, Level::O0);
  REQUIRE(plan->lowered().launches.size() == 1);
  Launch launch = plan->lowered().launches[0];
  static std::set<float> numbers;
  static std::set<std::int64_t> places;
  numbers.clear();
  places.clear();
  launch.run = [](const KernelCall& call) {
    REQUIRE(call.in.size() == 2);
    for (std::int64_t i = 0; i < call.in[0].count(); ++i) numbers.insert(call.in[0].as<float>()[i]);
    for (std::int64_t i = 0; i < call.in[1].count(); ++i) places.insert(call.in[1].as<std::int64_t>()[i]);
  };
  LoneLaunch(plan->lowered(), launch).run();
  CHECK(numbers.size() > 50'000);
  CHECK(*numbers.begin() >= 0.25F);
  CHECK(*numbers.rbegin() <= 0.75F);
  CHECK(places == std::set<std::int64_t>{0});
}

TEST_CASE("machine rates: what is measured has a rate for every launch of thirty networks", "[engine]") {
  const MachineRates rates = calibrated_rates({.most_s = 1e9, .most_rounds = 1, .now = CountingClock()});
  const DType dtype = GENERATE(DType::f32, DType::f64);
  const Level level = GENERATE(Level::O0, Level::O1);
  for (const tests::SampleNetwork& each : tests::SampleNetworks(dtype).all()) {
    CAPTURE(each.name);
    for (const LaunchWork& work : works_of(each.f, each.inputs, level)) {
      CAPTURE(work.parts()[0].of);
      CHECK(rates.seconds(work).value_or(0.0) > rates.launch_s);
    }
  }
}

TEST_CASE("calibration: rates are operations over the median of the seconds of a call", "[engine]") {
  constexpr double all = 1e9;
  const MachineRates rates = calibrated_rates({.most_s = all, .most_rounds = 1, .now = CountingClock()});
  CHECK(rates.machine == MachineKey::of_process());
  CHECK(rates.launch_s == 1.0 / 256);  // of the calls in a chain, which takes a second
  REQUIRE(rates.alone.levels.size() == 7);
  for (double bytes = 65536.0; const KernelRates::Level& level : rates.alone.levels) {
    CHECK(level == KernelRates::Level{bytes, bytes});
    bytes *= 4.0;
  }
  CHECK(rates.alone.levels.back().bytes == 256.0 * 1024 * 1024);
  const auto& sums = rates.alone.rates.at("sum f64");
  CHECK(sums == std::vector{KernelRates::Rate{std::exp2(-3.0), 65536.0}});
  CHECK(rates.alone.rates.at("conv f32").size() > 2);
  CHECK(rates.alone.rates.at("vmath::exp(x) f32") == std::vector{KernelRates::Rate{0.0, 2048.0}});
  CHECK(rates.alone.rates.contains("c ? a : b f64"));  // a function of no kernel in the table
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const char* op :
         {"attention_slopes", "batch_norm", "concatenate", "conv_weights", "cumulative_sum", "dot_general",
          "gather", "max", "max_pool", "normalize", "softmax", "triangular_solve"}) {
      CAPTURE(op, core::name_of(dtype));
      CHECK(rates.alone.rates.contains(with_dtype(op, dtype)));
    }
    for (const char* kind :
         {"arithmetic", "function", "movement", "opaque", "product", "reduction", "rows", "scan", "window"}) {
      CAPTURE(kind, core::name_of(dtype));
      CHECK(rates.alone.kinds.contains(with_dtype(kind, dtype)));
    }
  }
  CHECK(rates.alone.kinds.contains("random u64"));  // the dtype of keys
  CHECK(rates.wake_s == 0.0);
  CHECK(rates.shared == KernelRates());
}

TEST_CASE("calibration: two threads are measured alone and together", "[engine]") {
  const tests::ThreadCount two(2);
  const MachineRates rates = calibrated_rates({.most_s = 1e9, .most_rounds = 1, .now = CountingClock()});
  CHECK(rates.machine.n_threads == 2);
  CHECK(rates.wake_s == 1.0);
  CHECK(rates.shared.rates.at("vmath::exp(x) f32")[0].per_s == 2.0 * 2048.0);  // each thread does a call
}

TEST_CASE("calibration: the time that threads need to begin is in no rate", "[engine]") {
  const tests::ThreadCount two(2);
  const auto now = [n_looks = 0, seconds = 0.0]() mutable {
    constexpr int n_of_costs = 1 + 2 * 2 * 4;  // two probes, alone and shared, take four looks each
    return seconds += ++n_looks > n_of_costs ? 4.0 : 1.0;
  };
  const MachineRates rates = calibrated_rates({.most_s = 1e9, .most_rounds = 1, .now = now});
  CHECK(rates.wake_s == 1.0);
  CHECK(rates.alone.levels.front().bytes_per_s == 65536.0 / 4.0);
  CHECK(rates.shared.levels.front().bytes_per_s == 65536.0 / (4.0 - 1.0));
  CHECK(rates.shared.rates.at("sum f64")[0].per_s ==
        Approx(rates.alone.rates.at("sum f64")[0].per_s * 4.0 / (4.0 - 1.0)));
  CHECK(rates.shared.rates.at("vmath::exp(x) f32")[0].per_s ==
        2.0 * 2048.0 / 4.0);  // calls take no such time

  const MachineRates even = calibrated_rates({.most_s = 1e9, .most_rounds = 1, .now = CountingClock()});
  CHECK(even.shared.levels.front().bytes_per_s == 65536.0 / 0.5);  // no faster than by two threads
}

TEST_CASE("calibration: a kernel that refuses has no rate, and a warning names it", "[engine]") {
  const auto refuses = uses_of([](const Tensors& x) -> Tensors {
    return {cholesky(x[0]), sum(x[0], Axes{0})};
  });
  MachineRates rates;
  const int n_before = core::log::count(core::log::Level::warning);
  const auto warnings = tests::warnings_of([&] {
    rates = calibrated_rates({.most_s = 1e9, .most_rounds = 2, .now = CountingClock(), .uses = refuses});
  });
  CHECK(core::log::count(core::log::Level::warning) == n_before + 2);  // per dtype, not per round
  REQUIRE(warnings.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(warnings[i].id == "engine::calibrated_rates#refused");
    CHECK_THAT(warnings[i].text, Catch::Contains(i == 0 ? "cholesky f32" : "cholesky f64"));
  }
  CHECK(rates.is_complete);
  CHECK_FALSE(rates.alone.rates.contains("cholesky f32"));
  CHECK(rates.alone.rates.contains("sum f32"));
}

TEST_CASE("calibration: it runs on the first device, whose libraries the others may not have", "[engine]") {
  const Device second{Device::Kind::cpu, 1};
  const auto uses = uses_of([](const Tensors& x) -> Tensors { return {matmul(x[0], x[0])}; });
  Arena& arena = Arena::of(second);
  arena.reset_peak();
  const std::size_t before = arena.stats().peak;
  const DefaultDevice scope(second);
  const MachineRates rates = calibrated_rates({.most_rounds = 1, .now = CountingClock(), .uses = uses});
  CHECK(arena.stats().peak == before);
  CHECK(default_device() == second);
}

TEST_CASE("calibration: rates are not complete, nor kept, where the time ends in the first round",
          "[engine]") {
  const auto uses = uses_of([](const Tensors& x) -> Tensors { return {matmul(x[0], x[0])}; });
  const auto measured = [&](double most_s) {
    return calibrated_rates({.most_s = most_s, .most_rounds = 3, .now = CountingClock(), .uses = uses});
  };
  CHECK(measured(1e9).is_complete);
  CHECK(measured(1e9).text().find("the time ended") == std::string::npos);
  const MachineRates cut = measured(100.0);
  CHECK_FALSE(cut.is_complete);
  CHECK(cut.text().find("the time ended") != std::string::npos);

  const tests::TemporaryFolder folder;
  const fs::path path = folder.path() / "cache" / "lodestone";
  const auto ids = [&](double most_s) {
    std::vector<std::string> all;
    for (const auto& each : tests::warnings_of([&] {
           static_cast<void>(kept_rates(path, MachineKey::of_process(), [&] { return measured(most_s); }));
         }))
      all.push_back(each.id);
    return all;
  };
  CHECK(ids(100.0) == std::vector<std::string>{"engine::kept_rates#incomplete"});
  CHECK_FALSE(fs::exists(path / "machine.json"));
  CHECK(ids(1e9).empty());
  CHECK(ids(0.0).empty());  // those that are kept
}

TEST_CASE("machine rates: the key of a machine tells builds with other libraries apart", "[engine]") {
  const std::string build = MachineKey::of_process().build;
  for (const auto& [name, fact] : core::build_info()) {
    CAPTURE(build, name);
    const bool decides =
        std::set<std::string>{"version", "compiler", "build type", "flags", "BLAS", "oneDNN"}.contains(name);
    CHECK((build.find(name + " " + fact) != std::string::npos) == decides);
  }
}

TEST_CASE("calibration: nothing is begun after its time but costs and passes", "[engine]") {
  const MachineRates none = calibrated_rates({.most_s = 0.0, .now = CountingClock()});
  CHECK(none.launch_s > 0.0);
  CHECK(none.alone.levels.size() == 7);
  CHECK(none.alone.rates.empty());
  const double of_needed = looks_of(0.0, 1), of_one = looks_of(1e9, 1), of_three = looks_of(1e9, 3);
  CHECK(of_one > of_needed + 100.0);
  CHECK(looks_of(1e9, 0) == 1.0);
  CHECK(of_three - of_one == 2.0 * (looks_of(1e9, 2) - of_one));                    // rounds are alike
  for (const double most : {100.0, 500.0}) CHECK(looks_of(most, 3) <= most + 8.0);  // a probe takes four
}
