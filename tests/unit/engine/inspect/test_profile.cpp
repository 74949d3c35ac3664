// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace lodestone::engine;

namespace {

const OpProfile& of(const Profile& profile, const std::string& op) {
  const auto found = std::find_if(profile.ops().begin(), profile.ops().end(),
                                  [&](const OpProfile& each) { return each.op == op; });
  REQUIRE(found != profile.ops().end());
  return *found;
}

}  // namespace

TEST_CASE("a profile counts calls, operations and bytes, those of gradients too") {
  const Tensor a = (ones({30, 20}) + 0.0).eval(), b = (ones({20, 10}) + 0.0).eval();
  const auto f = [&](const Tensor& x) { return sum(exp(matmul(x, b))); };
  const Profile profile = Profile::of([&] { grad(f)(a).eval(); });

  const OpProfile& products = of(profile, "dot_general f32");
  CHECK(products.calls == 2);
  CHECK(products.flops == 2 * 2.0 * 30 * 20 * 10);
  CHECK(products.bytes == 2 * 4.0 * (30 * 20 + 20 * 10 + 30 * 10));
  CHECK(of(profile, "exp f32").flops == 30.0 * 10);
  CHECK(profile.total().seconds > 0.0);
  CHECK(profile.text().find("dot_general f32") != std::string::npos);
}

TEST_CASE("a profile counts convolutions by their windows, solves by their triangles, and views as nothing") {
  const Tensor x = (ones({2, 8, 3}, DType::f64) + 0.0).eval(), w = (ones({3, 3, 5}, DType::f64) + 0.0).eval();
  const Tensor spd = (eye(6, DType::f64) * 2.0).eval(), right = (ones({6, 4}, DType::f64) + 0.0).eval();
  const Profile profile = Profile::of([&] {
    conv(x, w, {.low = {1}, .high = {1}}).eval();
    solve_spd(spd, right).eval();
    transpose(x).eval();
  });
  CHECK(of(profile, "conv f64").flops == 2.0 * (2 * 8 * 5) * (3 * 3));
  CHECK(of(profile, "cholesky f64").flops == Approx(2.0 * 6 * 6 * 6 / 6));
  CHECK(of(profile, "triangular_solve f64").flops == Approx(2 * 2.0 * 6 * 4 * 6 / 2));
  CHECK(of(profile, "transpose f64").bytes == 0.0);
}

TEST_CASE("a profile counts an op with several results as one, by all that it reads and writes") {
  const Tensor x = (ones({8, 4, 3}) + 0.0).eval(), scale = (ones({3}) + 0.0).eval();
  const Profile profile = Profile::of([&] {
    const auto [y, mean, variance] = batch_norm(x, scale, scale);
    eval(Tensors{y, mean, variance});
  });
  const OpProfile& norm = of(profile, "batch_norm f32");
  CHECK(norm.calls == 1);
  CHECK(norm.bytes == 4.0 * (96 + 3 + 3 + 96 + 3 + 3));
  CHECK(norm.flops == 8.0 * 96);
  CHECK(profile.total().calls == 1);
}

TEST_CASE("a profile gives each op its own time, and what passes between evaluations to none") {
  using namespace std::chrono_literals;
  const Tensor x = (ones({2}, DType::f64) + 0.0).eval();
  constexpr double nap = 0.03;
  const auto sleep = [] { std::this_thread::sleep_for(30ms); };
  const lodestone::core::MapPtr slow = lodestone::core::pointwise(
      "slow", 2,
      [&](double t) {
        if (t == 1.0) sleep();
        return t;
      },
      [](double) { return 1.0; });
  const auto start = std::chrono::steady_clock::now();
  const Profile profile = Profile::of([&] {
    sleep();
    exp(x).eval();
    sleep();
    sin(checkpoint([&](const Tensors& at) -> Tensors { return {cos(external(slow, at[0]))}; })({x})[0])
        .eval();
  });
  const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(profile.seconds_between() >= 2 * nap);
  CHECK(of(profile, "external_call f64").seconds >= 2 * nap);
  CHECK(of(profile, "call").calls == 1);  // which ran it
  CHECK(profile.seconds_between() + profile.total().seconds <= all);
  CHECK_THAT(profile.text(), Catch::Contains("between ops"));
}
