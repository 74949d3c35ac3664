// SPDX-License-Identifier: Apache-2.0
// Trainings that ranks share: the same bytes on any number of them.
#include "engine/core/error.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/nn/loss.hpp"
#include "engine/testing/difference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/engine/train/shared_training.hpp"

#include <algorithm>
#include <array>
#include <fstream>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::SharedOptions;
using tests::SharedTraining;
using tests::ThrowOn;

namespace {

/// Trains on n ranks and returns the bytes of the first. errors: InvalidArgument if another rank has others.
std::vector<std::byte> bytes_on(int n, int shards, const SharedOptions& options) {
  std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(n));
  run_ranks(n, [&](const World& world) {
    bytes[static_cast<std::size_t>(world->rank())] =
        SharedTraining(options).bytes_after(data_parallel(world, shards));
  });
  for (const auto& each : bytes) {
    if (each != bytes[0]) throw core::InvalidArgument("test#other_rank", "ranks have other results");
  }
  return bytes[0];
}

std::vector<char> bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Asks to stop on one rank alone.
class StopOn final : public Callback {
 public:
  StopOn(bool here, std::int64_t step) : here_(here), step_(step) {}
  void after_step(Training& training) override {
    if (training.any_rank(here_ && training.n_steps() == step_)) training.stop("asked");
  }

 private:
  bool here_;
  std::int64_t step_;
};

/// Refuses each third step after a look at its gradients.
class EveryThird final : public Judge {
 public:
  Verdict judge(Training&, const Step& step) override {
    return ++n_ % 3 == 0 && step.gradients[0].count() > 0 ? Verdict::skip : Verdict::take;
  }

 private:
  int n_ = 0;
};

}  // namespace

TEST_CASE("fit on ranks: the same bytes on 1 to 8 ranks", "[engine]") {
  const auto on = [](int n) { return bytes_on(n, 8, {}); };
  const auto expected = on(1);
  for (const int n : {2, 3, 4, 8}) {
    CAPTURE(n);
    CHECK(on(n) == expected);
  }
}

TEST_CASE("fit on ranks: figures and weights are those of one process to rounding", "[engine]") {
  const Tensors alone = SharedTraining({}).after({});
  const Tensors shared = SharedTraining({}).after(data_parallel(lone_rank(), 8));
  REQUIRE(alone.size() == shared.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (core::is_real_float(alone[i].dtype())) CHECK(difference(alone[i], shared[i]) < 2e-3);
  }
}

TEST_CASE("fit on ranks: judges, several batches per step and small batches keep the bytes", "[engine]") {
  const auto of = [](int way) {
    return way == 0   ? SharedOptions{.batches_per_step = 2}
           : way == 1 ? SharedOptions{.more = [] { return callbacks(EveryThird()); }}
                      : SharedOptions{.batch_size = 20};  // the last has 4 items, fewer than shards
  };
  for (const int way : {0, 1, 2}) {
    CAPTURE(way);
    CHECK(bytes_on(3, 8, of(way)) == bytes_on(1, 8, of(way)));
  }
}

TEST_CASE("fit on ranks: one rank writes, and a resume on others gives the same bytes", "[engine]") {
  const tests::TemporaryFolder folder;
  const auto whole = bytes_on(2, 4, {.checkpoint = folder / "whole.safetensors"});
  // Stopped by the last rank alone after five steps, of which the fourth was written.
  run_ranks(4, [&](const World& world) {
    const auto bytes = SharedTraining({.more = [&] { return callbacks(StopOn(world->rank() == 3, 5)); },
                                       .checkpoint = folder / "part.safetensors"})
                           .bytes_after(data_parallel(world, 4));
    CHECK(bytes != whole);
  });
  for (const int n : {1, 3}) {
    CAPTURE(n);
    CHECK(bytes_on(n, 4,
                   {.checkpoint = folder / "next.safetensors", .resume_from = folder / "part.safetensors"}) ==
          whole);
  }
  run_ranks(3, [&](const World& world) {
    const std::string own = world->rank() == 0 ? "other.safetensors" : "none.safetensors";
    (void)SharedTraining({.checkpoint = folder / own}).after(data_parallel(world, 4));
  });
  CHECK_FALSE(std::filesystem::exists(folder / "none.safetensors"));
  CHECK(bytes_of_file(folder / "other.safetensors") == bytes_of_file(folder / "whole.safetensors"));
}

TEST_CASE("fit on ranks: a rank that throws ends all with its error", "[engine]") {
  const core::Error error = error_of<core::FormatError>([] {
    run_ranks(3, [](const World& world) {
      (void)SharedTraining({.more = [&] {
        return callbacks(ThrowOn(world->rank() == 1));
      }}).after(data_parallel(world, 6));
    });
  });
  CHECK_THAT(error, HasId("broken", {"a broken callback"}));
}

TEST_CASE("fit on ranks: numbers that are not finite are found in the whole batch, with one text",
          "[engine]") {
  std::array<std::string, 2> said;
  run_ranks(2, [&](const World& world) {
    InitialValues initial(7, DType::f32);
    const Linear net(1, 1, initial);
    std::vector<float> x(16, 1.0F);
    x[13] = 1e30F;  // an item of the last rank
    const Dataset data(
        NamedTensors{{"input", Tensor::from(x, {16, 1})}, {"target", zeros({16, 1}, DType::f32)}});
    const Model model(net, tests::squared, Adam(net), {.parallel = data_parallel(world, 4)});
    said[static_cast<std::size_t>(world->rank())] =
        error_of<core::SolverError>([&] {
          (void)model.fit(Loader(data, {.batch_size = 16, .order = Order::stored}), {},
                          {.callbacks = callbacks(NanGuard())});
        }).what();
  });
  CHECK(said[0] == said[1]);
  CHECK(said[0].find("first number that is not finite came from") != std::string::npos);
}

TEST_CASE("fit on ranks: ranks, meshes and batches that do not fit are refused", "[engine]") {
  const auto refused = [](const std::function<Parallel(const World&)>& make) {
    return error_of<core::InvalidArgument>(
        [&] { run_ranks(2, [&](const World& world) { (void)SharedTraining({}).after(make(world)); }); });
  };
  CHECK_THAT(refused([](const World& world) { return data_parallel(world, 19); }),
             HasId("more_shards_than_items", {"19", "18"}));
  CHECK_THAT(refused([](const World& world) { return data_parallel(world, 1); }),
             HasId("too_many_ranks", {"1 shards", "2"}));
  CHECK_THAT(refused([](const World& world) {
               return Parallel{world, DeviceMesh({{"model", 2}})};
             }),
             HasId("no_such_axis", {"data", "model"}));
  CHECK_THAT(refused([](const World& world) {
               return Parallel{world, DeviceMesh({{"data", 1, 4}})};
             }),
             HasId("other_ranks", {"2 ranks"}));
}

TEST_CASE("loader: shards of a batch are its items, made shard by shard", "[engine]") {
  std::vector<std::int64_t> numbers(20);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Dataset data(NamedTensors{{"x", Tensor::from(numbers, {20})}});
  std::vector<Dim> seen;
  const auto transform = [&](NamedTensors batch, const Tensor&) {
    seen.push_back(batch.at("x").dim(0));
    return batch;
  };
  const Loader loader(data, {.batch_size = 11, .order = Order::stored, .transform = transform});
  const Loader part = loader.of_shards({1, 3, 4});  // items 2 … 7 of 11
  CHECK(part.n_items_of_next() == 11);
  CHECK(part.next()->at("x").to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 3, 4, 5, 6, 7});
  CHECK(seen == std::vector<Dim>{3, 3});
  CHECK(loader.n_items_of_next() == 9);  // the cursor is shared
  CHECK(part.next()->at("x").to_vector<std::int64_t>() == std::vector<std::int64_t>{13, 14, 15, 16});
  CHECK(part.n_items_of_next() == 0);
  CHECK_FALSE(part.next());
  CHECK(loader.of_shards({0, 1, 12}).next()->at("x").count() == 11);  // fewer items than shards: all
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)loader.of_shards({2, 2, 4});
             }),
             HasId("wrong_shards", {"0 to 3", "2 to 1"}));
}
