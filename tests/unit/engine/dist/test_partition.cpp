// SPDX-License-Identifier: Apache-2.0
// Programs cut over ranks by random pins give the bits of one rank with as many shards, and the numbers of
// the program as it was.
#include "engine/compile/rewrite.hpp"
#include "engine/core/error.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "engine/testing/difference.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/dist/cut_functions.hpp"
#include "tests/unit/engine/sample_functions.hpp"
#include "tests/unit/engine/sample_networks.hpp"

#include <map>

using namespace lodestone;
using namespace lodestone::engine;
using tests::bytes_of;

namespace {

/// A mesh for some number of ranks with as many shards on each of them, however many ranks they lie on.
struct RandomMesh {
  std::vector<MeshAxis> axes;
  int n_ranks = 1;
  [[nodiscard]] DeviceMesh on_ranks() const { return DeviceMesh(axes); }
  [[nodiscard]] DeviceMesh on_one() const {
    std::vector<MeshAxis> one = axes;
    for (MeshAxis& axis : one) axis = {axis.name, 1, axis.n_shards()};
    return DeviceMesh(one);
  }
};

RandomMesh random_mesh(std::uint64_t seed) {
  switch (seed % 5) {
    case 0:
      return {{{"a", 2, 0}}, 2};
    case 1:
      return {{{"a", 3, 5}}, 3};
    case 2:
      return {{{"a", 2, 0}, {"b", 2, 3}}, 4};
    case 3:
      return {{{"a", 5, 0}}, 5};
    default:
      return {{{"a", 1, 2}, {"b", 3, 0}}, 3};
  }
}

/// A way to cut a program over a mesh, which a seed decides.
using Cutter = CutProgram (*)(const Program&, const DeviceMesh&, std::uint64_t);

/// Returns what a program gives on a mesh, as rank 0 has it. errors: InvalidArgument if another rank has
/// other bytes.
Tensors cut_results(const Program& program, const DeviceMesh& mesh, std::uint64_t seed, const Tensors& inputs,
                    Cutter cut_by) {
  const auto cut = std::make_shared<const CutProgram>(cut_by(program, mesh, seed));
  std::vector<std::vector<std::byte>> bytes(static_cast<std::size_t>(mesh.size()));
  Tensors results;
  run_ranks(mesh.size(), [&](const World& world) {
    const Tensors got = without_gaps(partition(cut, world)(inputs));
    bytes[static_cast<std::size_t>(world->rank())] = bytes_of(got);
    if (world->rank() == 0) results = got;
  });
  for (const auto& each : bytes) {
    if (each != bytes[0]) throw core::InvalidArgument("test#other_rank", "ranks have other outputs");
  }
  return results;
}

/// Returns the difference of two results, relative to 1 where all elements are smaller: what cancels to
/// nothing has no digits.
double gap_of(const Tensor& a, const Tensor& b) {
  const auto with_one = [](const Tensor& x) {
    return concatenate(Tensors{reshape(x, {x.count()}), full({1}, 1, x.dtype(), x.device())}, 0);
  };
  return a.shape() == b.shape() ? difference(with_one(a), with_one(b)) : 1.0;
}

/// Compares a function on the ranks of a mesh with one rank of as many shards, and with no mesh.
void check_cut(const Function& f, const Tensors& inputs, std::uint64_t seed, const std::string& what,
               Cutter cut_by = tests::randomly_cut) {
  CAPTURE(what, seed);
  const Program program = tests::program_of(f, inputs);
  const RandomMesh mesh = random_mesh(seed);
  const Tensors on_ranks = cut_results(program, mesh.on_ranks(), seed, inputs, cut_by),
                on_one = cut_results(program, mesh.on_one(), seed, inputs, cut_by);
  const Tensors expected = without_gaps(f(inputs));
  REQUIRE(on_ranks.size() == expected.size());
  CHECK(bytes_of(on_ranks) == bytes_of(on_one));
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(gap_of(on_ranks[i], expected[i]) <= 16 * agreement(expected[i].dtype()));
}

/// Returns whether no row of a program holds a function, which belongs to the thread that has made it.
bool is_plain(const Program& program) {
  return std::ranges::all_of(program.instructions(), [](const Instruction& each) {
    return each.op->op_class != OpClass::control && each.op->op_class != OpClass::external;
  });
}

/// A function of ops on matrices [m, n], products and sums among them, the same for each seed.
class Mixture {
 public:
  explicit Mixture(std::uint64_t seed) : seed_(seed) {
    std::mt19937_64 random(seed);
    m_ = 1 + static_cast<Dim>(random() % 9);
    n_ = 1 + static_cast<Dim>(random() % 9);
    for (std::uint64_t i = 0; i < 3; ++i) inputs_.push_back(numbers({m_, n_}, random));
    inputs_.push_back(numbers({n_, n_}, random));
  }
  [[nodiscard]] const Tensors& inputs() const { return inputs_; }
  [[nodiscard]] Function function() const {
    return [*this](const Tensors& in) { return outputs(in); };
  }

 private:
  static Tensor numbers(const Shape& shape, std::mt19937_64& random) {
    std::vector<double> values(static_cast<std::size_t>(shape.count()));
    for (double& each : values) each = static_cast<double>(random() >> 11) * 0x1p-53 * 2.0 - 1.0;
    return Tensor::from(values, shape);
  }

  [[nodiscard]] Tensors outputs(const Tensors& in) const {
    std::mt19937_64 random(seed_ + 1);
    Tensors pool(in.begin(), in.end() - 1);
    const std::uint64_t n_steps = 10 + random() % 14;
    for (std::uint64_t i = 0; i < n_steps; ++i) {
      const Tensor x = pool[random() % pool.size()], y = pool[random() % pool.size()];
      pool.push_back(step(x, y, in.back(), random));
    }
    Tensors outputs{pool.back()};
    for (std::size_t i = in.size() - 1; i + 1 < pool.size(); i += 2) outputs.push_back(pool[i]);
    return outputs;
  }

  [[nodiscard]] Tensor step(const Tensor& x, const Tensor& y, const Tensor& w,
                            std::mt19937_64& random) const {
    const int axis = static_cast<int>(random() % 2);
    switch (random() % 12) {
      case 0:
        return tanh(matmul(x, w));
      case 1:
        return matmul(x, matmul(transpose(y), x)) * (1.0 / static_cast<double>(m_ * n_));
      case 2:
        return x - mean(x, Axes{axis}, Keep::yes);
      case 3:
        return x + max(y, Axes{axis}, Keep::yes);
      case 4:
        return reshape(tanh(reshape(x, {m_ * n_})), {m_, n_});
      case 5:
        return slice(concatenate(Tensors{x, y}, axis), axis, 1, 1 + (axis == 0 ? m_ : n_));
      case 6:
        return softmax(x, axis);
      case 7:
        return flip(x, axis);
      case 8:
        return transpose(reshape(transpose(x), {n_, m_})) * y;
      case 9:
        return tanh(cumulative_sum(x, axis));
      default:
        return tanh(x) + y * 0.5;
    }
  }

  std::uint64_t seed_;
  Dim m_ = 1, n_ = 1;
  Tensors inputs_;
};

}  // namespace

TEST_CASE("partition: random programs with random pins give the bits of one rank", "[engine]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Mixture mixture(seed);
    for (std::uint64_t pins = 0; pins < 5; ++pins)
      check_cut(mixture.function(), mixture.inputs(), 5 * seed + pins, "mixture");
  }
}

TEST_CASE("partition: every row gives the bits of one rank, however it is cut", "[engine]") {
  std::uint64_t n = 0;
  tests::for_each_sample_function(2, [&](const tests::SampleFunction& sample) {
    const OpInfo& row = op_named(sample.name.substr(0, sample.name.find(' ')));
    if (row.op_class != OpClass::control && is_plain(tests::program_of(sample.f, sample.inputs)))
      check_cut(sample.f, sample.inputs, ++n, sample.name);
  });
  CHECK(n > 1000);
}

TEST_CASE("partition: gradients of networks have the bits of one rank, however they are cut", "[engine]") {
  int n = 0;
  for (const tests::SampleNetwork& network : tests::SampleNetworks(DType::f64).all()) {
    if (!is_plain(tests::program_of(network.f, network.inputs))) continue;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) check_cut(network.f, network.inputs, seed, network.name);
    ++n;
  }
  CHECK(n > 20);
}

TEST_CASE("partition: searched layouts give the bits of one rank, too", "[engine]") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const Mixture mixture(seed);
    check_cut(mixture.function(), mixture.inputs(), seed, "mixture", tests::searched_cut);
  }
  std::uint64_t n = 0;
  tests::for_each_sample_function(2, [&](const tests::SampleFunction& sample) {
    const OpInfo& row = op_named(sample.name.substr(0, sample.name.find(' ')));
    if (row.op_class != OpClass::control && is_plain(tests::program_of(sample.f, sample.inputs)))
      check_cut(sample.f, sample.inputs, ++n, sample.name, tests::searched_cut);
  });
  for (const tests::SampleNetwork& network : tests::SampleNetworks(DType::f64).all()) {
    if (is_plain(tests::program_of(network.f, network.inputs)))
      check_cut(network.f, network.inputs, ++n, network.name, tests::searched_cut);
  }
  CHECK(n > 1000);
}

TEST_CASE("partition: with one shard a program stays as it is, with two it gains moves alone", "[engine]") {
  const auto loss = [](const Tensors& in) -> Tensors {
    return {sum(square(tanh(matmul(tanh(matmul(in[0], in[1])), in[2]))))};
  };
  const auto f = [&](const Tensors& in) { return value_and_grad(loss, in).gradients; };
  const Tensors inputs{zeros({6, 4}), zeros({4, 5}), zeros({5, 3})};
  const Program program = tests::program_of(f, inputs);
  const auto rows_of = [](const Program& its) {
    std::map<std::string, int> n;
    const Rewritten plain = rewritten(its);
    for (const Instruction& each : plain.program.instructions()) {
      if (each.op->name != "reshape") ++n[each.op->name];  // looks at what has no gaps
    }
    return n;
  };
  const std::map<std::string, int> expected = rows_of(program);
  for (const int size : {1, 2}) {
    const DeviceMesh mesh({{"data", size}});
    const MeshLayout rows = layout_from("[data, whole]", mesh);
    const MeshLayout whole = whole_layout(2, mesh);
    LayoutTable table = propagate(program, mesh, {.pins = {{0, rows, "x"}}});
    const auto cut = std::make_shared<const CutProgram>(
        CutProgram{program, std::move(table), {rows, whole, whole}, {rows, whole, whole}, mesh});
    std::map<std::string, int> got;
    run_ranks(size, [&](const World& world) {
      Tensors pieces = inputs;
      pieces[0] = zeros({6 / size, 4});
      const Program of_rank = tests::program_of(partition(cut, world), pieces);
      if (world->rank() == 0) got = rows_of(of_rank);
    });
    if (size == 2) {
      CHECK(got["all_reduce"] == 2);  // of the two weights
      got.erase("all_reduce");
    }
    CHECK(got == expected);
  }
}

TEST_CASE("partition: a sum that is to be cut is scattered, for half the bytes", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors { return {matmul(transpose(in[0]), in[0])}; };
  const Tensors inputs{zeros({6, 8}, DType::f64)};
  const Program program = tests::program_of(f, inputs);
  const DeviceMesh mesh({{"data", 2}});
  const MeshLayout rows = layout_from("[data, whole]", mesh);
  const auto cut_for = [&](const MeshLayout& out) {
    LayoutTable table = propagate(
        program, mesh, {.pins = {{0, rows, "x"}, {program.outputs()[0], out, "out"}}, .held_in_pieces = {0}});
    return std::make_shared<const CutProgram>(CutProgram{program, std::move(table), {rows}, {out}, mesh});
  };
  const auto scattered = cut_for(rows), same = cut_for(whole_layout(2, mesh));
  CHECK(movement_of(*scattered).instructions.back() == 64 * 8);
  CHECK(movement_of(*same).instructions.back() == 2 * 64 * 8);
  std::string text;
  run_ranks(2, [&](const World& world) {
    const std::string its =
        tests::program_of(partition(scattered, world), {zeros({3, 8}, DType::f64)}).text();
    if (world->rank() == 0) text = its;
  });
  CHECK(text.find("= reduce_scatter(") != std::string::npos);
  CHECK(text.find("= all_reduce(") == std::string::npos);
}
