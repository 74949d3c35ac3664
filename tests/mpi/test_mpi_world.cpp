// SPDX-License-Identifier: Apache-2.0
// Messages between processes: what arrives, what is told when a rank fails or does not come.
#include "engine/core/mpi/communicator.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/dist/per_rank.hpp"
#include "engine/dist/transport/agree.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/dist/transport/moves.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"
#include "tests/unit/engine/dist/elements.hpp"
#include "tests/unit/engine/dist/parallel_training.hpp"
#include "tests/unit/engine/dist/random_layouts.hpp"

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::elements;
using tests::error_of;
using tests::HasId;

namespace {

/// Exchanges one array with a rank before and one behind in a ring.
template <class T>
void around_the_ring(Transport& transport, std::vector<T>& mine, std::vector<T>& theirs,
                     std::uint64_t number) {
  const int n = transport.size(), rank = transport.rank();
  const Message send{(rank + 1) % n, elements(mine)}, receive{(rank + n - 1) % n, elements(theirs)};
  transport.exchange({&send, 1}, {&receive, 1}, number);
}

/// Checks that the error has the same text on all ranks, those that have it from another also name that.
void check_same_text(const core::Error& error) {
  const std::string of_first = core::broadcast_text(MPI_COMM_WORLD, error.what()), own = error.what();
  CHECK((own == of_first || own.ends_with(": " + of_first) || of_first.ends_with(": " + own)));
}

/// The loss over twelve parts of its input, and its gradients.
struct Step {
  double loss = 0.0;
  std::vector<double> gradients;
};

/// Takes a step whose input lies in pieces along "data".
Step training_step(const World& world, int size) {
  const DeviceMesh mesh({{"data", size, 12}});
  const auto layout = [&](const char* text) { return layout_from(text, mesh); };
  const GroupPtr data = group_of(world, mesh, {"data"});
  const Function loss =
      per_rank(world, mesh, {layout("[data, whole]"), layout("[whole]")}, {layout("[]")},
               [&](const Tensors& in) -> Tensors {
                 const Tensor parts = reshape(in[0], {data->n_own_shards(), 2, 5});
                 const Tensor terms = sum(square(tanh(parts * as_own(in[1], data))), Axes{1, 2});
                 return {all_reduce_shards(terms, data)};
               });
  std::vector<double> x(24 * 5), w(5);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(1.0 + static_cast<double>(i));
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = std::cos(2.0 * static_cast<double>(i));
  const auto result = value_and_grad(loss, {Tensor::from(x, {24, 5}), Tensor::from(w, {5})});
  Step step{.loss = result.value.to_vector<double>()[0], .gradients = {}};
  for (const Tensor& gradient : result.gradients) {
    const auto values = gradient.to_vector<double>();
    step.gradients.insert(step.gradients.end(), values.begin(), values.end());
  }
  return step;
}

/// Checks that a step has the bits of another one in its loss, and its gradients to rounding.
void check_same_step(const Step& got, const Step& expected) {
  CHECK(got.loss == expected.loss);
  REQUIRE(got.gradients.size() == expected.gradients.size());
  double gap = 0.0;
  for (std::size_t i = 0; i < got.gradients.size(); ++i)
    gap = std::max(gap, std::abs(got.gradients[i] - expected.gradients[i]));
  CHECK(gap < 1e-12);
}

}  // namespace

TEST_CASE("mpi world: arrays of any length arrive, and are counted", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    const int rank = world->rank(), before = (rank + world->size() - 1) % world->size();
    std::uint64_t number = std::uint64_t{1} << 40;
    for (const int n : {0, 1, 511, 512, 513, 100'000}) {
      std::vector<double> mine(static_cast<std::size_t>(n), rank + 0.25), theirs(mine.size(), -1.0);
      if (n > 0) mine.back() = 7.0 * rank;
      around_the_ring(*world, mine, theirs, number++);
      CHECK(std::ranges::all_of(theirs.begin(), theirs.end() - (n > 0 ? 1 : 0),
                                [&](double each) { return each == before + 0.25; }));
      if (n > 0) CHECK(theirs.back() == 7.0 * before);
    }
    const bool alone = world->size() == 1;
    CHECK(world->counts().messages == (alone ? 0 : 6));
    CHECK(world->counts().bytes == (alone ? 0 : 8 * (1 + 511 + 512 + 513 + 100'000)));
  });
}

TEST_CASE("mpi world: exchanges that are open at once meet by their numbers and order", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    const int last = world->size() - 1;
    for (const std::size_t n : {std::size_t{3}, std::size_t{5000}}) {
      std::vector<std::vector<double>> sent, got(4, std::vector<double>(n));
      std::vector<Message> send, receive;
      for (int i = 0; i < 4; ++i) sent.emplace_back(n, i + 1.0);
      for (std::size_t i = 0; i < 4; ++i) {
        send.push_back({last, elements(sent[i])});
        receive.push_back({0, elements(got[i])});
      }
      std::vector<Transport::Ticket> tickets;
      if (world->rank() == 0)
        tickets = {world->start({&send[0], 1}, {}, 7), world->start({&send[1], 1}, {}, 8),
                   world->start({&send[2], 2}, {}, 7)};
      if (world->rank() == last) {
        world->exchange({}, {&receive[0], 1}, 8);
        world->exchange({}, {&receive[1], 3}, 7);
        std::vector<double> firsts;
        for (const auto& each : got) firsts.push_back(each.back());
        CHECK(firsts == std::vector<double>{2, 1, 3, 4});
      }
      for (const auto ticket : tickets) world->wait(ticket);
    }
  });
}

TEST_CASE("mpi world: routes give each rank what a global copy has", "[engine][mpi]") {
  with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
    RandomLayouts random(11);
    for (int i = 0; i < 200; ++i) {
      const Shape shape = random.shape(3, i % 10 == 0 ? 40 : 9);
      const DeviceMesh mesh = random.mesh(world->size(), false), other = random.mesh(world->size(), false);
      const Placement from{random.layout(shape, mesh), mesh}, to{random.layout(shape, other), other};
      const Box whole = Box::whole(shape);
      INFO(text_of(from.layout, mesh) << " to " << text_of(to.layout, other) << " of " << shape.text());
      std::vector<double> array;
      const std::vector<RouteStep> steps = route(from, to, shape);
      if (const Box* box = box_of_rank(steps[0].from, world->rank()))
        for_indices(*box,
                    [&](const IntList& at) { array.push_back(static_cast<double>(place_in(whole, at))); });
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const Box* box = box_of_rank(steps[k].to, world->rank());
        std::vector<double> next(static_cast<std::size_t>(box == nullptr ? 0 : box->count()), -1.0);
        run_moves(*world, steps[k], k, std::as_bytes(std::span(array)),
                  std::as_writable_bytes(std::span(next)), sizeof(double));
        array = next;
      }
      if (const Box* box = box_of_rank(steps.back().to, world->rank())) {
        std::size_t k = 0;
        bool is_right = true;
        for_indices(*box, [&](const IntList& at) {
          is_right = is_right && array[k++] == static_cast<double>(place_in(whole, at));
        });
        CHECK(is_right);
      }
    }
  });
}

TEST_CASE("mpi world: a loss over pieces has the bits that threads and one rank have", "[engine][mpi]") {
  const Step alone = training_step(lone_rank(), 1);
  CHECK(alone.loss > 0.1);
  Step on_threads;
  run_ranks(2, [&](const World& world) {
    const Step mine = training_step(world, 2);
    if (world->rank() == 0) on_threads = mine;
  });
  check_same_step(on_threads, alone);
  with_mpi_world(MPI_COMM_WORLD,
                 [&](const World& world) { check_same_step(training_step(world, world->size()), alone); });
}

TEST_CASE("mpi world: a training that was cut has the bytes that one rank gives", "[engine][mpi]") {
  const std::vector<Pin> pins{{"batch.*", "[data]"},
                              {"optimizer.*moment*", zero_over("data")},
                              {"net.*.up.weight", zero_over("data")}};
  const auto trained = [&](const World& world, int size) {
    return tests::Training::transformer().trained(world, DeviceMesh({{"data", size, 4}}), pins, 3);
  };
  const Tensors alone = trained(lone_rank(), 1);
  with_mpi_world(MPI_COMM_WORLD, [&](const World& world) {
    const Tensors got = trained(world, world->size());
    CHECK(tests::bytes_of(got) == tests::bytes_of(alone));
    CHECK((world->counts().bytes == 0) == (world->size() == 1));
  });
}

TEST_CASE("mpi world: the failure of a rank ends all with its text", "[engine][mpi]") {
  const int bad = core::size_of(MPI_COMM_WORLD) - 1;
  for (const int at : {0, 3}) {
    const core::Error error = error_of<core::FormatError>([&] {
      with_mpi_world(MPI_COMM_WORLD, [&](const World& world) {
        std::vector<double> mine(100), theirs(100);
        for (int step = 0; step < 6; ++step) {
          if (world->rank() == bad && step == at)
            throw core::FormatError("reader#bad_line", "line {} is bad", at);
          around_the_ring(*world, mine, theirs, static_cast<std::uint64_t>(step));
        }
      });
    });
    CHECK_THAT(error, HasId("bad_line", {std::to_string(at)}));
    check_same_text(error);
  }
}

TEST_CASE("mpi world: a message of another length is told to both", "[engine][mpi]") {
  if (core::size_of(MPI_COMM_WORLD) == 1) return;
  const core::Error error = error_of<core::InvalidArgument>([] {
    with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
      std::vector<double> mine(1), theirs(world->rank() == 0 ? 2 : 1);
      around_the_ring(*world, mine, theirs, 0);
    });
  });
  CHECK_THAT(error, HasId("wrong_length", {"16", "8"}));
  check_same_text(error);
}

TEST_CASE("mpi world: ranks that do different things are told what", "[engine][mpi]") {
  if (core::size_of(MPI_COMM_WORLD) == 1) return;
  const core::Error error = error_of<core::InvalidArgument>([] {
    with_mpi_world(MPI_COMM_WORLD, [](const World& world) {
      std::vector<int> all(static_cast<std::size_t>(world->size()));
      std::iota(all.begin(), all.end(), 0);
      agree(*world, all, 3, world->rank() == 1 ? "all_gather" : "all_reduce", "(a.cpp:1)");
    });
  });
  CHECK_THAT(error, HasId("other_collective", {"rank 1", "all_gather", "all_reduce (a.cpp:1)"}));
  check_same_text(error);
}

TEST_CASE("mpi world: a wait without end becomes a table of who waits for whom", "[engine][mpi]") {
  if (core::size_of(MPI_COMM_WORLD) == 1) return;
  const auto begin = std::chrono::steady_clock::now();
  const core::Error error = error_of<core::SolverError>([] {
    with_mpi_world(MPI_COMM_WORLD,
                   [](const World& world) {
                     std::vector<double> values(1);
                     if (world->rank() == 1)
                       std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // computes
                     const Message message{world->rank() == 0 ? 1 : 0, elements(values)};
                     world->exchange({}, {&message, 1}, 5);
                   },
                   {.patience_s = 0.3, .answer_s = 0.5});
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK_THAT(error, HasId("hang", {"waits for rank", "rank 1 did not answer in 0.5 s"}));
  check_same_text(error);
  CHECK(took.count() < 5.0);
  CHECK_THAT(error_of<core::InvalidArgument>([] { (void)mpi_world(MPI_COMM_WORLD, {.patience_s = 0.0}); }),
             HasId("no_patience"));
}
