// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/random.hpp"
#include "engine/dist/collectives/collectives.hpp"
#include "engine/dist/collectives/relaid.hpp"
#include "engine/dist/collectives/shard_tree.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/ops.hpp"
#include "engine/testing/check_op.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/dist/random_layouts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;

namespace {

/// Returns numbers between -1 and 1 that hang on the seed alone.
template <class T = double>
Tensor numbers_of(const Shape& shape, std::uint64_t seed) {
  const core::Philox random(seed);
  std::vector<T> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(random.uniform(i) * 2.0 - 1.0);
  return Tensor::from(values, shape);
}

double dot(const Tensor& a, const Tensor& b) { return sum(a * b).item<double>(); }

/// Sums that the ranks of a test make of their own values.
class Total {
 public:
  void add(double value) {
    const std::lock_guard lock(mutex_);
    total_ += value;
  }
  [[nodiscard]] double value() const { return total_; }

 private:
  std::mutex mutex_;
  double total_ = 0.0;
};

/// Values that are to be equal on all ranks, of which one counts.
enum class Held { same, own };

/// Returns the gap between ⟨J t, w⟩ and ⟨t, Jᵀ w⟩, over the first, for a linear function on n ranks. Own
/// values count on every rank, same ones on rank 0.
double adjoint_gap(const DeviceMesh& mesh, Held in, Held out, const std::function<Shape(int rank)>& shape,
                   const std::function<Tensor(const World&, const Tensor&)>& f) {
  Total forward, back;
  run_ranks(mesh.size(), [&](const World& world) {
    const auto rank = static_cast<std::uint64_t>(world->rank());
    const auto seed = [&](Held held) { return held == Held::own ? rank + 1 : 0; };
    const auto of_world = [&](const Tensors& x) -> Tensors { return {f(world, x[0])}; };
    const Tensor x = numbers_of(shape(world->rank()), 10 + seed(in)),
                 t = numbers_of(shape(world->rank()), 100 + seed(in));
    const Linearized at_x = linearize(of_world, {x});
    const Tensor jt = at_x.jvp({t})[0];
    const Tensor w = numbers_of(jt.shape(), 1000 + seed(out));
    const Tensor jw = at_x.vjp({w})[0];
    if (out == Held::own || rank == 0) forward.add(dot(jt, w));
    if (in == Held::own || rank == 0) back.add(dot(t, jw));
  });
  return std::abs(forward.value() - back.value()) / std::abs(forward.value());
}

}  // namespace

TEST_CASE("collectives: rows have the derivatives and batches that they say", "[engine]") {
  for (const char* name : {"all_reduce", "as_own", "reduce_scatter", "all_gather", "own_piece", "exchange"}) {
    const OpCheckResult result = check_op(name);
    INFO(name << "\n" << result.report);
    CHECK(result.passed);
    CHECK(result.n_checks > 0);
  }
}

TEST_CASE("collectives: trees of shards halve their range, and ranks send few subtrees", "[engine]") {
  CHECK(subtrees_in({0, 8}, 8) == std::vector<ShardRange>{{0, 8}});
  CHECK(subtrees_in({2, 4}, 8) == std::vector<ShardRange>{{2, 4}});
  CHECK(subtrees_in({1, 7}, 8) == std::vector<ShardRange>{{1, 2}, {2, 4}, {4, 6}, {6, 7}});
  CHECK(subtrees_in({3, 3}, 8).empty());
  for (int n = 1; n <= 40; ++n) {
    for (int first = 0; first < n; ++first) {
      for (int last = first + 1; last <= n; ++last) {
        int at = first;
        for (const ShardRange& each : subtrees_in({first, last}, n)) {
          REQUIRE(each.first == at);
          at = each.second;
        }
        REQUIRE(at == last);
        REQUIRE(static_cast<double>(subtrees_in({first, last}, n).size()) <=
                std::max(1.0, 2.0 * std::log2(n)));
      }
    }
  }
}

TEST_CASE("collectives: sums over shards have the same bits on any number of ranks", "[engine]") {
  for (const int shards : {8, 6, 11}) {
    const Tensor terms = (numbers_of<float>({shards, 5, 7}, 1) * 1e3F).eval();
    std::vector<float> reduced, scattered;
    for (int n = 1; n <= std::min(shards, 8); ++n) {
      std::vector<float> whole(35), pieces(35);
      std::mutex mutex;
      run_ranks(n, [&](const World& world) {
        const DeviceMesh mesh({{"x", n, shards}});
        const GroupPtr group = group_of(world, mesh, {"x"});
        const auto [first, last] = group->shards_of(group->index());
        const Tensor own = slice(terms, 0, first, last);
        const Tensor all = all_reduce_shards(own, group), piece = reduce_scatter_shards(own, group, 1);
        const Tensor gathered = all_gather(piece, group, {1, 7});
        const std::lock_guard lock(mutex);
        if (world->rank() == 0) pieces = gathered.to_vector<float>();
        if (world->rank() == n - 1) whole = all.to_vector<float>();
      });
      if (n == 1) {
        reduced = whole;
        scattered = pieces;
        const std::vector<float> plain = sum(terms, Axes{0}).to_vector<float>();
        for (std::size_t i = 0; i < plain.size(); ++i) CHECK(whole[i] == Approx(plain[i]).margin(1e-3));
      }
      CHECK(whole == reduced);
      CHECK(pieces == scattered);
    }
    CHECK(reduced == scattered);
  }
}

TEST_CASE("collectives: extrema, pieces, permutations and exchanges give what they say", "[engine]") {
  run_ranks(3, [](const World& world) {
    const DeviceMesh mesh({{"x", 3}});
    const GroupPtr group = group_of(world, mesh, {"x"});
    const int rank = world->rank();
    const auto expect = [&](const Tensor& got, const std::vector<double>& expected) {
      if (got.to_vector<double>() != expected)
        throw core::InvalidArgument("test#wrong_elements", "expected {}, got {} on rank {}",
                                    fmt::join(expected, " "), fmt::join(got.to_vector<double>(), " "), rank);
    };
    const Tensor x = Tensor::from(std::vector<double>{1.0 * rank, 5.0 - rank}, {2});
    expect(all_reduce(x, group), {3, 12});
    expect(all_reduce(x, group, Terms::max), {2, 5});
    expect(all_reduce(x, group, Terms::min), {0, 3});
    expect(permute(x, group, 1), {(rank + 2) % 3 * 1.0, 5.0 - (rank + 2) % 3});
    expect(permute(x, group, -4), {(rank + 1) % 3 * 1.0, 5.0 - (rank + 1) % 3});
    const Tensor whole = Tensor::from(std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}, {2, 4});
    const Tensor piece = own_piece(whole, group, 1);
    expect(piece, rank == 0   ? std::vector<double>{0, 4}
                  : rank == 1 ? std::vector<double>{1, 5}
                              : std::vector<double>{2, 3, 6, 7});
    expect(all_gather(piece, group, {1, 4}), {0, 1, 2, 3, 4, 5, 6, 7});
    expect(all_gather_own(piece, group, {1, 4}), {0, 1, 2, 3, 4, 5, 6, 7});
    // Two rows for three ranks: the first has none.
    expect(all_to_all(piece, group, {1, 4}, {0, 2}), rank == 0   ? std::vector<double>{}
                                                     : rank == 1 ? std::vector<double>{0, 1, 2, 3}
                                                                 : std::vector<double>{4, 5, 6, 7});
    expect(reduce_scatter(whole * (rank + 1.0), group, 0), rank == 0   ? std::vector<double>{}
                                                           : rank == 1 ? std::vector<double>{0, 6, 12, 18}
                                                                       : std::vector<double>{24, 30, 36, 42});
  });
}

TEST_CASE("collectives: each row and its transpose agree on inner products", "[engine]") {
  const DeviceMesh line({{"x", 4}}), three({{"x", 3}}), square({{"x", 2}, {"y", 2}});
  const auto plain = [](int) { return Shape{3, 8}; };
  const auto group = [](const World& world, const DeviceMesh& mesh) { return group_of(world, mesh, {"x"}); };
  const auto piece = [&](int rank) { return Shape{3, rank == 0 ? 2 : 3}; };  // 8 in three pieces
  const auto gap = [&](Held in, Held out, const auto& shape, const DeviceMesh& mesh, const auto& f) {
    return adjoint_gap(mesh, in, out, shape,
                       [&](const World& world, const Tensor& x) { return f(x, group(world, mesh)); });
  };
  using T = const Tensor&;
  using G = const GroupPtr&;
  CHECK(gap(Held::own, Held::same, plain, line, [](T x, G g) { return all_reduce(x, g); }) < 1e-12);
  CHECK(gap(Held::own, Held::same, plain, line, [](T x, G g) { return all_reduce(x, g, Terms::max); }) <
        1e-12);
  CHECK(gap(Held::same, Held::own, plain, line, [](T x, G g) { return as_own(x, g); }) < 1e-12);
  CHECK(gap(Held::own, Held::same, piece, three, [](T x, G g) { return all_gather(x, g, {1, 8}); }) < 1e-12);
  CHECK(gap(Held::own, Held::own, piece, three, [](T x, G g) {
          return all_gather_own(x, g, {1, 8});
        }) < 1e-12);
  CHECK(gap(Held::same, Held::own, plain, three, [](T x, G g) { return own_piece(x, g, 1); }) < 1e-12);
  CHECK(gap(Held::own, Held::own, plain, three, [](T x, G g) { return reduce_scatter(x, g, 1); }) < 1e-12);
  CHECK(gap(Held::own, Held::own, piece, three, [](T x, G g) {
          return all_to_all(x, g, {1, 8}, {0, 3});
        }) < 1e-12);
  CHECK(gap(Held::own, Held::own, plain, line, [](T x, G g) { return permute(x, g, 3); }) < 1e-12);
  const auto halo = [](T x, G g) {
    std::vector<Holding> have, want;
    for (int i = 0; i < 4; ++i) {
      have.push_back({i, {{0, 8 * i}, {3, 8}}});
      const Dim begin = std::max(8 * i - 10, 0), end = std::min(8 * i + 11, 32);
      want.push_back({i, {{0, begin}, {3, end - begin}}});
    }
    return exchange(x, g, std::make_shared<const RouteStep>(step_between(have, want)));
  };
  CHECK(gap(Held::own, Held::own, plain, line, halo) < 1e-12);
  // Each rank of a group of two; the other axis of the mesh has groups of its own.
  CHECK(gap(Held::own, Held::own, plain, square, [](T x, G g) { return permute(sin(x), g, 1); }) < 1e-12);
  // Several shards on a rank.
  const DeviceMesh many({{"x", 2, 5}});
  const auto shards = [](int rank) { return Shape{rank == 0 ? 2 : 3, 4}; };
  CHECK(gap(Held::own, Held::same, shards, many, [](T x, G g) { return all_reduce_shards(x, g); }) < 1e-12);
  CHECK(gap(Held::same, Held::own, plain, many, [](T x, G g) { return as_own(x, g); }) < 1e-12);
  const auto two_or_three = [](int rank) { return Shape{3, rank == 0 ? 3 : 5}; };  // 8 in 2 and 3 of 5 parts
  CHECK(gap(Held::own, Held::own, two_or_three, many, [](T x, G g) {
          return all_gather_own(x, g, {1, 8});
        }) < 1e-12);
  CHECK(gap(Held::own, Held::own, shards, many, [](T x, G g) { return reduce_scatter_shards(x, g, 0); }) <
        1e-12);
}

namespace {

/// Returns the term that a part has of the element with this number, of n parts. Of `one`, a single part has
/// the element, which may be −0; all bits of the others are zero.
double term(Terms how, int at, int part, int n) {
  if (how != Terms::one) return at * 0.5 + part * (at % 3 - 1);
  return at % n != part ? 0.0 : at % 2 == 0 ? -0.0 : at + 0.5;
}

double combined_terms(Terms how, int at, int n) {
  if (how == Terms::one) return term(how, at, at % n, n);
  double result = term(how, at, 0, n);
  for (int part = 1; part < n; ++part) {
    const double next = term(how, at, part, n);
    result = how == Terms::max   ? std::max(result, next)
             : how == Terms::min ? std::min(result, next)
                                 : result + next;
  }
  return result;
}

}  // namespace

TEST_CASE("collectives: routes with terms give each rank what a global copy has", "[engine]") {
  RandomLayouts random(11);
  int n_combined = 0;
  for (int i = 0; i < 120; ++i) {
    const Terms how =
        std::array{Terms::sum, Terms::max, Terms::min, Terms::one}[static_cast<std::size_t>(i % 4)];
    const Shape shape = random.shape(3, 6);
    const DeviceMesh mesh = random.mesh(8), other = random.mesh(8);
    const Placement from{random.layout(shape, mesh, how), mesh}, to{random.layout(shape, other), other};
    const std::vector<RouteStep> steps = route(from, to, shape);
    const int n = steps[0].n_parts;
    n_combined += n > 1 ? 1 : 0;
    const auto number = [&](const IntList& index) {
      return static_cast<int>(place_in(Box::whole(shape), index));
    };
    run_ranks(16, [&](const World& world) {
      const auto of_rank = [&](const std::vector<Holding>& holdings) {
        return std::find_if(holdings.begin(), holdings.end(),
                            [&](const Holding& each) { return each.rank == world->rank(); });
      };
      Tensor x;
      if (const auto own = of_rank(steps[0].from); own != steps[0].from.end()) {
        std::vector<double> values;
        for_indices(own->box,
                    [&](const IntList& index) { values.push_back(term(how, number(index), own->part, n)); });
        x = Tensor::from(values, own->box.shape);
      }
      const Tensor got = relaid(*world, steps, x, DType::f64, 1);
      const auto target = of_rank(steps.back().to);
      if (got.is_valid() != (target != steps.back().to.end()))
        throw core::InvalidArgument("test#wrong_rank", "rank {} has or lacks a box", world->rank());
      if (!got.is_valid()) return;
      std::size_t at = 0;
      const auto values = got.to_vector<double>();
      for_indices(target->box, [&](const IntList& index) {
        const double wanted = combined_terms(how, number(index), n), value = values.at(at++);
        if (value != wanted || std::signbit(value) != std::signbit(wanted))
          throw core::InvalidArgument("test#wrong_element", "{} instead of {} for {} of {} in {}", value,
                                      wanted, index.text(), shape.text(), text_of(from.layout, mesh));
      });
    });
  }
  CHECK(n_combined > 40);
  CHECK_THAT(error_of<core::ShapeError>([] {
               const RouteStep step = step_between({{0, {{0}, {2}}}}, {{0, {{0}, {1}}}});
               (void)relaid(*lone_rank(), {&step, 1}, numbers_of({3}, 1), DType::f64, 0);
             }),
             HasId("wrong_box", {"0:2", "f64[3]"}));
}

TEST_CASE("collectives: ranks that do not fit together are told so", "[engine]") {
  const auto fails = [](const std::function<void(const World&, const GroupPtr&)>& f, int shards = 2) {
    return error_of<core::Error>([&] {
      run_ranks(2, [&](const World& world) {
        f(world, group_of(world, DeviceMesh({{"x", 2, shards}}), {"x"}));
      });
    });
  };
  const Tensor x = numbers_of({4}, 1);
  CHECK_THAT(fails([&](const World& world, const GroupPtr& group) {
               if (world->rank() == 0) {
                 (void)all_reduce(x, group);
               } else {
                 (void)permute(x, group, 1);
               }
             }),
             HasId("other_collective", {"all_reduce", "exchange", "rank 1"}));
  CHECK_THAT(fails([&](const World& world, const GroupPtr& group) {
               (void)all_reduce(numbers_of({2 + world->rank()}, 1), group);
             }),
             HasId("other_collective", {"[2]", "[3]"}));
  CHECK_THAT(fails([&](const World& world, const GroupPtr& group) {
               if (world->rank() == 0) (void)all_reduce(x, group);
             }),
             HasId("standstill", {"rank 1 has ended"}));
  CHECK_THAT(fails([&](const World&, const GroupPtr& group) { (void)all_reduce(x, group); }, 4),
             HasId("many_shards", {"2"}));
  CHECK_THAT(fails([&](const World&, const GroupPtr& group) { (void)all_reduce_shards(x, group); }, 4),
             HasId("wrong_shards", {"2"}));
  CHECK_THAT(fails([&](const World&, const GroupPtr& group) {
               (void)all_gather(x, group, {0, 9});
             }),
             HasId("wrong_extent", {"5"}));
}
