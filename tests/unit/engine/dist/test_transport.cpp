// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/transport/agree.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/dist/transport/moves.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/elements.hpp"
#include "tests/unit/engine/dist/random_layouts.hpp"

#include <array>
#include <atomic>

using namespace lodestone;
using namespace lodestone::engine;
using tests::elements;
using tests::error_of;
using tests::HasId;

namespace {

/// Exchanges one array with a rank before and one behind in a ring.
void around_the_ring(Transport& transport, std::vector<double>& mine, std::vector<double>& theirs,
                     std::uint64_t number) {
  const int n = transport.size(), rank = transport.rank();
  const Message send{(rank + 1) % n, elements(mine)}, receive{(rank + n - 1) % n, elements(theirs)};
  transport.exchange({&send, 1}, {&receive, 1}, number);
}

}  // namespace

TEST_CASE("transport: ranks exchange what they mean to, and count what they sent", "[engine]") {
  std::array<std::vector<double>, 4> got;
  run_ranks(4, [&](const World& world) {
    const int rank = world->rank();
    std::vector<double> mine{rank + 0.5, rank * 10.0, 1.0}, theirs(3);
    for (std::uint64_t number = 0; number < 3; ++number) around_the_ring(*world, mine, theirs, number);
    got[static_cast<std::size_t>(rank)] = theirs;
    if (world->counts().messages != 3 || world->counts().bytes != 3 * 24 || world->counts().waits > 3)
      throw core::InvalidArgument("test#counts", "{} messages of {} bytes, {} waits",
                                  world->counts().messages, world->counts().bytes, world->counts().waits);
  });
  for (int rank = 0; rank < 4; ++rank) {
    const int before = (rank + 3) % 4;
    CHECK(got[static_cast<std::size_t>(rank)] == std::vector<double>{before + 0.5, before * 10.0, 1.0});
  }
}

TEST_CASE("transport: exchanges that are open at once meet by their numbers and order", "[engine]") {
  std::vector<double> got(4);
  run_ranks(2, [&](const World& world) {
    if (world->rank() == 0) {
      std::vector<double> values{1, 2, 3, 4};
      std::vector<Message> send;
      for (std::size_t i = 0; i < 4; ++i)
        send.push_back({1, {reinterpret_cast<std::byte*>(&values[i]), {1}, {1}, sizeof(double)}});
      const auto first = world->start({&send[0], 1}, {}, 7), second = world->start({&send[1], 1}, {}, 8);
      const auto third = world->start({&send[2], 2}, {}, 7);
      for (const auto ticket : {third, first, second}) world->wait(ticket);
      if (!world->test(first)) throw core::InvalidArgument("test#not_over", "it was over before");
    } else {
      std::vector<Message> receive;
      for (std::size_t i = 0; i < 4; ++i)
        receive.push_back({0, {reinterpret_cast<std::byte*>(&got[i]), {1}, {1}, sizeof(double)}});
      world->exchange({&receive[0], 0}, {&receive[0], 1}, 8);
      world->exchange({}, {&receive[1], 3}, 7);
    }
  });
  CHECK(got == std::vector<double>{2, 1, 3, 4});
}

TEST_CASE("transport: messages of one number keep their order, whenever they come", "[engine]") {
  constexpr int n_messages = 8;
  std::atomic<int> n_wrong{0};
  run_ranks(2, [&](const World& world) {
    for (std::uint64_t round = 0; round < 3000; ++round) {
      std::vector<double> values(n_messages, -1.0);
      if (world->rank() == 0) std::iota(values.begin(), values.end(), 0.0);
      std::vector<Message> messages;
      for (double& each : values)
        messages.push_back(
            {1 - world->rank(), {reinterpret_cast<std::byte*>(&each), {1}, {1}, sizeof(double)}});
      if (world->rank() == 0) {
        world->exchange(messages, {}, round);
        continue;
      }
      // Two exchanges, which look for their messages again and again while these come.
      const auto receive = std::span<const Message>(messages);
      const auto first = world->start({}, receive.first(3), round),
                 second = world->start({}, receive.subspan(3), round);
      while (!world->test(second)) {
      }
      world->wait(first);
      for (int i = 0; i < n_messages; ++i) n_wrong += values[static_cast<std::size_t>(i)] == i ? 0 : 1;
    }
  });
  CHECK(n_wrong == 0);
}

TEST_CASE("transport: a rank to itself, and a lone rank", "[engine]") {
  const World world = lone_rank();
  std::vector<double> mine{1, 2}, theirs(2);
  around_the_ring(*world, mine, theirs, 0);
  CHECK(theirs == mine);
  CHECK(world->counts().messages == 0);
  CHECK(world->next_number(5) == 0);
  CHECK(world->next_number(5) == 1);
  CHECK(world->next_number(6) == 0);
  const Message wrong{1, elements(mine)};
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)world->start({&wrong, 1}, {}, 0);
             }),
             HasId("no_such_rank", {"1"}));
}

TEST_CASE("transport: boxes are copied element by element, whatever lies around them", "[engine]") {
  RandomLayouts random(5);
  for (int i = 0; i < 500; ++i) {
    Box around = Box::whole(random.shape(4, 5)), box = around, other = around;
    for (int axis = 0; axis < around.rank(); ++axis) {
      box.shape[axis] = random.integer(0, static_cast<int>(around.shape[axis]));
      box.first[axis] = random.integer(0, static_cast<int>(around.shape[axis] - box.shape[axis]));
      other.first[axis] = box.first[axis] - random.integer(0, 2);
      other.shape[axis] = box.end(axis) + random.integer(0, 2) - other.first[axis];
    }
    std::vector<std::int32_t> from(static_cast<std::size_t>(around.count())),
        to(static_cast<std::size_t>(other.count()), -1);
    std::iota(from.begin(), from.end(), 0);
    copy(box_in(reinterpret_cast<std::byte*>(from.data()), 4, around, box),
         box_in(reinterpret_cast<std::byte*>(to.data()), 4, other, box));
    std::int64_t n_copied = 0;
    for_indices(box, [&](const IntList& index) {
      REQUIRE(to[place_in(other, index)] == from[place_in(around, index)]);
      ++n_copied;
    });
    REQUIRE(std::count_if(to.begin(), to.end(), [](int each) { return each >= 0; }) == n_copied);
  }
}

TEST_CASE("transport: the failure of a rank wakes the others with its text", "[engine]") {
  std::array<std::string, 4> texts;
  const core::Error error = error_of<core::FormatError>([&] {
    run_ranks(4, [&](const World& world) {
      std::vector<double> mine(100), theirs(100);
      try {
        for (std::uint64_t number = 0; number < 10; ++number) {
          around_the_ring(*world, mine, theirs, number);
          if (world->rank() == 2) throw core::FormatError("reader#bad_line", "line {} is bad", 7);
        }
      } catch (const core::FormatError& failure) {
        texts[static_cast<std::size_t>(world->rank())] = failure.what();
        throw;
      }
    });
  });
  CHECK_THAT(error, HasId("bad_line", {"7"}));
  for (const std::size_t rank : {0U, 1U, 3U}) CHECK(texts[rank] == error.what());
  CHECK_THROWS_AS(run_ranks(3,
                            [](const World& world) {
                              if (world->rank() == 1) throw std::bad_alloc();
                              std::vector<double> mine(1), theirs(1);
                              around_the_ring(*world, mine, theirs, 0);
                            }),
                  std::bad_alloc);
}

TEST_CASE("transport: many failures at any moment end in one of their texts", "[engine]") {
  RandomLayouts random(6);
  std::atomic<int> n_woken{0};
  for (int round = 0; round < 200; ++round) {
    const int n = random.integer(2, 5), bad = random.integer(0, n - 1), at = random.integer(0, 3);
    const core::Error error = error_of<core::SolverError>([&] {
      run_ranks(n, [&](const World& world) {
        std::vector<double> mine(2000), theirs(2000);
        for (int step = 0; step < 4; ++step) {
          if (world->rank() == bad && step == at)
            throw core::SolverError("solver#diverged", "in step {}", step);
          try {
            around_the_ring(*world, mine, theirs, static_cast<std::uint64_t>(step));
          } catch (const core::SolverError&) {
            ++n_woken;
            throw;
          }
        }
      });
    });
    REQUIRE_THAT(error, HasId("diverged", {std::to_string(at)}));
  }
  CHECK(n_woken > 200);
}

TEST_CASE("transport: ranks that wait for each other in vain are told so", "[engine]") {
  const auto standstill = [](int n, const std::function<void(Transport&, const Message&)>& f) {
    return error_of<core::InvalidArgument>([&] {
      run_ranks(n, [&](const World& world) {
        std::vector<double> values(1);
        f(*world, {0, elements(values)});
      });
    });
  };
  CHECK_THAT(standstill(2,
                        [](Transport& transport, const Message& message) {
                          if (transport.rank() == 1) transport.exchange({}, {&message, 1}, 0);
                        }),
             HasId("standstill", {"rank 0 has ended", "rank 1 waits for rank 0"}));
  CHECK_THAT(standstill(2,
                        [](Transport& transport, Message message) {
                          message.peer = 1 - transport.rank();
                          const auto number = static_cast<std::uint64_t>(transport.rank());
                          transport.exchange({&message, 1}, {}, number);
                        }),
             HasId("standstill", {"rank 0 waits for rank 1", "rank 1 waits for rank 0"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               run_ranks(2, [](const World& world) {
                 std::vector<double> mine(1), theirs(world->rank() == 0 ? 2 : 1);
                 around_the_ring(*world, mine, theirs, 0);
               });
             }),
             HasId("wrong_length", {"16", "8"}));
  CHECK_THAT(error_of<core::InvalidArgument>([] { run_ranks(0, [](const World&) {}); }), HasId("no_ranks"));
}

TEST_CASE("transport: ranks that are about to do different things are told what", "[engine]") {
  const std::vector<int> ranks{2, 0, 3};
  run_ranks(4, [&](const World& world) {
    for (int i = 0; i < 5 && world->rank() != 1; ++i)
      agree(*world, ranks, 9, "all_reduce of f32[3]", world->rank() == 0 ? "(a.cpp:3)" : "(b.cpp:4)");
  });
  std::array<std::string, 4> texts;
  const core::Error error = error_of<core::InvalidArgument>([&] {
    run_ranks(4, [&](const World& world) {
      if (world->rank() == 1) return;
      try {
        agree(*world, ranks, 9, "0 all_reduce", "(a.cpp:3)");
        agree(*world, ranks, 9, world->rank() == 3 ? "1 all_gather" : "1 all_reduce", "(b.cpp:4)");
      } catch (const core::InvalidArgument& failure) {
        texts[static_cast<std::size_t>(world->rank())] = failure.what();
        throw;
      }
    });
  });
  CHECK_THAT(error,
             HasId("other_collective", {"rank 3", "rank 2", "1 all_reduce (b.cpp:4)", "1 all_gather"}));
  for (const std::size_t rank : {0U, 2U, 3U}) CHECK(texts[rank] == error.what());
}

TEST_CASE("transport: routes on threads give each rank what a global copy has", "[engine]") {
  RandomLayouts random(7);
  std::int64_t n_moved = 0;
  for (int i = 0; i < 150; ++i) {
    const Shape shape = random.shape(3, 8);
    const bool has_terms = random.chance(0.3);
    const DeviceMesh mesh = random.mesh(8), other = random.mesh(8);
    const Placement from{random.layout(shape, mesh, has_terms ? Terms::sum : Terms::no), mesh},
        to{random.layout(shape, other), other};
    const std::vector<RouteStep> steps = route(from, to, shape);
    const Box whole = Box::whole(shape);
    INFO(text_of(from.layout, mesh) << " to " << text_of(to.layout, other) << " of " << shape.text());
    const auto value = [&](const IntList& index, int part) {
      return static_cast<double>(place_in(whole, index)) * (part + 1);
    };
    std::atomic<bool> is_right{true};
    std::atomic<std::int64_t> sent{0};
    run_ranks(16, [&](const World& world) {
      std::vector<double> array;
      for (const Holding& each : steps[0].from) {
        if (each.rank == world->rank())
          for_indices(each.box, [&](const IntList& index) { array.push_back(value(index, each.part)); });
      }
      for (std::size_t k = 0; k < steps.size(); ++k) {
        const Box* box = box_of_rank(steps[k].to, world->rank());
        const auto count = static_cast<std::size_t>(box == nullptr ? 0 : box->count());
        const auto n_parts = static_cast<std::size_t>(steps[k].n_parts);
        std::vector<double> parts(count * n_parts), result(count);
        run_moves(*world, steps[k], k, std::as_bytes(std::span(array)),
                  std::as_writable_bytes(std::span(parts)), sizeof(double));
        for (std::size_t at = 0; at < parts.size(); ++at) result[at % count] += parts[at];
        array = result;
      }
      const int n = steps[0].n_parts;
      if (const Box* box = box_of_rank(steps.back().to, world->rank()); box != nullptr) {
        std::size_t at = 0;
        for_indices(*box, [&](const IntList& index) {
          if (array[at++] != value(index, 0) * n * (n + 1) / 2) is_right = false;
        });
        if (at != array.size()) is_right = false;
      }
      sent += world->counts().bytes;
    });
    CHECK(is_right);
    std::int64_t planned = 0;
    for (const RouteStep& step : steps) {
      for (const auto& [_, traffic] : traffic_of(step)) planned += traffic.sent * 8;
    }
    CHECK(sent == planned);
    n_moved += planned;
  }
  CHECK(n_moved > 30000);
}
