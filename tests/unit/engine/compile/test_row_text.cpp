// SPDX-License-Identifier: Apache-2.0
// Clusters that combine the elements of rows, as functions of text: the bits of eager runs and of the
// interpreter.
#include "engine/compile/fused_op.hpp"
#include "engine/generate/emit.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/cumulative.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/compile/work_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <cstring>

using namespace lodestone;
using namespace lodestone::engine;
using tests::drawn;
using tests::plan_of;
using tests::same_bits;
using tests::Threads;

namespace {

using Reduce = Tensor (*)(const Located&, std::optional<Axes>, Keep);
struct Combining {
  std::string_view name;
  Reduce fn;
};
constexpr std::array combines{Combining{"sum", engine::sum}, Combining{"max", engine::max},
                              Combining{"min", engine::min}};
constexpr std::array dtypes{DType::f32, DType::f64, DType::i8,  DType::u8,
                            DType::i32, DType::u32, DType::i64, DType::u64};

/// A reduction of rows, of what is made of them, and of what is made of its results.
Function around(Reduce reduce) {
  return [reduce](const Tensors& in) -> Tensors {
    const Tensor direct = reduce(in[0], Axes{-1}, Keep::yes), made = in[0] - direct * in[1];
    return {made, reduce(made, Axes{-1}, Keep::no), direct};
  };
}

/// Checks that plans of the interpreter and of text give the bits of an eager run on 1, 2 and 3 threads;
/// returns the number of launches by text.
std::int64_t check_bits(const Function& f, const Tensors& in, HostJit& jit) {
  const Tensors right = f(in);
  eval(right);
  std::int64_t n_by_text = 0;
  for (const int n_threads : {1, 2, 3}) {
    const Threads scope(n_threads);
    const auto interpreted = plan_of(f, in, Level::O1), by_text = plan_of(f, in, Level::O1, jit);
    CHECK(interpreted->n_by_text() == 0);
    CHECK(same_bits(interpreted->run(in), right));
    CHECK(same_bits(by_text->run(in), right));
    n_by_text = by_text->n_by_text();
  }
  return n_by_text;
}

/// A function of elementwise ops on all places of a matrix and on one element for each row, and of reductions
/// of its rows; the same for each seed. Of odd ones other ops make the operands and take the results, which
/// may then lie in the places of the former.
class RowProgram {
 public:
  RowProgram(DType dtype, std::uint64_t seed) : dtype_(dtype), seed_(seed) {
    std::mt19937_64 random(seed);
    constexpr std::array<Dim, 16> lengths{2, 3, 5, 8, 15, 16, 17, 31, 32, 33, 48, 100, 511, 513, 1000, 1024};
    row_ = lengths[random() % lengths.size()];
    n_ = 1 + static_cast<Dim>(random() % (seed % 4 == 0 ? 3000 : 9));
    const Tensor turned = transpose(drawn(dtype, {row_, n_}, random)).eval();
    inputs_ = {drawn(dtype, {n_, row_}, random),
               random() % 2 == 0 ? turned : drawn(dtype, {n_, row_}, random), drawn(dtype, {n_, 1}, random),
               drawn(dtype, {row_}, random)};
  }
  [[nodiscard]] const Tensors& inputs() const { return inputs_; }
  [[nodiscard]] Function function() const {
    if (seed_ % 2 == 0) return [*this](const Tensors& in) { return outputs(in); };
    return [*this](Tensors in) {
      for (std::size_t i = 0; i < 3; ++i) in[i] = cumulative_max(in[i], 0);
      Tensors result = outputs(in);
      for (Tensor& each : result) each = cumulative_max(each, 0);
      return result;
    };
  }

 private:
  [[nodiscard]] Tensors outputs(const Tensors& in) const {
    std::mt19937_64 random(seed_ + 1);
    Tensors places{in[0], in[1]}, rows{in[2]};
    const auto pick = [&](const Tensors& of) { return of[random() % of.size()]; };
    for (std::uint64_t i = 0, n = 4 + random() % 12; i < n; ++i) {
      const Tensor x = pick(places);
      const Combining& combine = combines[random() % combines.size()];
      switch (random() % 6) {
        case 0:
        case 1:
          rows.push_back(combine.fn(random() % 3 == 0 ? in[0] : x, Axes{-1}, Keep::yes));
          break;
        case 2:
          rows.push_back(of_two(pick(rows), pick(rows), random));
          break;
        case 3:
          places.push_back(of_two(x, pick(rows), random));
          break;
        case 4:
          places.push_back(of_two(x, in[3], random));
          break;
        default:
          places.push_back(of_two(x, pick(places), random));
      }
    }
    rows.push_back(engine::sum(places.back(), Axes{-1}, Keep::yes));
    Tensors result{rows.back(), of_two(places.back(), rows.back(), random)};
    if (random() % 2 == 0) result.push_back(pick(rows));
    if (random() % 2 == 0) result.push_back(pick(places));
    return result;
  }

  [[nodiscard]] Tensor of_two(const Tensor& a, const Tensor& b, std::mt19937_64& random) const {
    const bool is_float = core::is_float(dtype_);
    switch (random() % (is_float ? 8 : 4)) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
        return maximum(a, b);
      case 3:
        return minimum(a, b);
      case 4:
        return engine::tanh(a) * b;
      case 5:
        return sin(a * b);  // has a loop of its own
      case 6:
        return a / (square(b) + 1.0);
      default:
        return exp(minimum(a, 3.0)) - b;
    }
  }

  DType dtype_;
  std::uint64_t seed_;
  Dim row_, n_;
  Tensors inputs_;
};

}  // namespace

TEST_CASE("clusters by text: rows of every length, dtype and combination have the bits of eager runs",
          "[engine]") {
  tests::TestJit jit;
  for (const DType dtype : dtypes) {
    for (const Combining& combine : combines) {
      const Function f = around(combine.fn);
      for (const Dim row :
           {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 48, 255, 257, 511, 512, 513, 1023, 1024, 1025}) {
        for (const Dim n : {1, 7, 300}) {
          if (row == 0 && combine.fn != Reduce(engine::sum)) continue;  // there is no extremum of nothing
          INFO(core::name_of(dtype) << " " << combine.name << " " << n << " x " << row);
          const Tensors in{drawn({n, row}, 1, dtype), drawn({n, 1}, 2, dtype)};
          CHECK((check_bits(f, in, *jit) > 0) == (row > 0 && row <= 1024));
        }
      }
    }
  }
  CHECK(jit->stats().n_made < 200);  // lengths are no part of text
}

TEST_CASE("clusters by text: rows with NaN, infinities and zeros of both signs", "[engine]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  tests::TestJit jit;
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Combining& combine : combines) {
      const Function f = around(combine.fn);
      const Function from_each_place = [&](const Tensors& in) -> Tensors {
        const Tensor one = combine.fn(in[0], Axes{-1}, Keep::yes);
        return {one, in[0] - one};
      };
      for (const Dim row : {2, 5, 31, 32, 37, 100}) {
        // Each of the numbers stands once at each place, among each of them.
        std::vector<double> values;
        Dim n = 0;
        for (const double others : {-0.0, 0.0, 1.0, infinity, -infinity, nan}) {
          for (const double one : {-0.0, 0.0, infinity, -infinity, nan}) {
            for (Dim at = 0; at < row; ++at, ++n) {
              for (Dim i = 0; i < row; ++i) values.push_back(i == at ? one : others);
            }
          }
        }
        INFO(core::name_of(dtype) << " " << combine.name << " of " << row);
        const Tensor x = cast(Tensor::from(values, {n, row}), dtype).eval();
        const Tensors both{x, drawn({n, 1}, 2, dtype)};
        CHECK(check_bits(f, both, *jit) == 1);
        CHECK(check_bits(from_each_place, Tensors{x}, *jit) == 1);
      }
    }
  }
}

TEST_CASE("clusters by text: random programs with rows have the bits of eager runs", "[engine]") {
  const std::vector<std::uint64_t> seeds = tests::seeds_of_programs(0, 16);
  tests::TestJit jit;
  std::int64_t n_by_text = 0;
  for (const DType dtype : dtypes) {
    for (const std::uint64_t seed : seeds) {
      INFO(core::name_of(dtype) << ", seed " << seed);
      const RowProgram random(dtype, seed);
      n_by_text += check_bits(random.function(), random.inputs(), *jit);
    }
  }
  CHECK(n_by_text >= (seeds.size() > 1 ? 128 : 0));
}

TEST_CASE("clusters by text: an output takes the place of an operand that rows read before it", "[engine]") {
  const Function f = [](const Tensors& in) -> Tensors {
    const Tensor x = cumulative_max(in[0], 0), y = x + x;
    const Tensor rest = x - sum(y, Axes{1}, Keep::yes), largest = max(rest, Axes{1});
    return {cumulative_max(y * 0.75, 0), largest};
  };
  tests::TestJit jit;
  for (const Dim row : {5, 300}) {
    const Tensors in{drawn({2000, row}, 1, DType::f32)};
    CHECK(check_bits(f, in, *jit) == 1);
    CHECK(plan_of(f, in, Level::O1)->block_bytes() < 2 * in[0].aval().bytes());
  }
}

TEST_CASE("clusters by text: another order of lanes, a missing element and another start are found",
          "[engine]") {
  constexpr Dim n = 40, row = 100;
  tests::TestJit jit;
  const Kernel& kernel = op_named("sum").kernel(cpu, DType::f32);
  ExprWriter writer(row);
  const ExprId x = writer.load(DType::f32, {0, 1}, {n, row});
  const ExprId total = writer.reduce(*kernel.row_body, x);
  const ExprId rest = writer.apply(op_named("subtract"), {x, total});
  writer.store(rest, {n, row});
  writer.store(total, {n});
  const std::string text = kernel_text(writer.expr(), {false});
  const auto value = [&](const Tensor& of, ExprFn function) {
    const auto program = std::make_shared<const cpu_backend::TileProgram>(writer.expr(), function);
    for (const Shape& shape : {Shape{n, row}, Shape{n}}) {  // what is not written is not right by chance
      const Tensor before = new_array({shape, DType::f32, default_device()});
      std::memset(before.node().data(), 1, before.aval().bytes());
    }
    const AttrsPtr attrs = make_attrs(TileAttrs{{program}});
    Tensors result = elements_of(record(fused_op(), {of}, attrs, std::source_location::current()));
    eval(result);
    return result;
  };
  const auto is_right = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    const GeneratedKernelPtr made = jit->kernel(changed);
    REQUIRE(made->function() != nullptr);
    return std::ranges::all_of(std::array{drawn({n, row}, 1, DType::f32), (zeros({n, row}) * -1.0).eval()},
                               [&](const Tensor& of) {
                                 const Tensor sums = sum(of, Axes{1});
                                 const Tensors right{of - reshape(sums, {n, 1}), sums};
                                 CHECK(same_bits(value(of, nullptr), right));
                                 return same_bits(value(of, made->function()), right);
                               });
  };
  const std::string block = "cpu_backend::combine_block(x, n, 1, combine)";
  CHECK(is_right(block, block));
  CHECK_FALSE(is_right(block, "cpu_backend::combine_block(x, n - 1, 1, combine)"));
  CHECK_FALSE(is_right(block, "cpu_backend::combine_block(x + n - 1, n, -1, combine)"));
  CHECK_FALSE(is_right(block,
                       "combine(cpu_backend::combine_block(x, n / 2, 1, combine), "
                       "cpu_backend::combine_block(x + n / 2, n - n / 2, 1, combine))"));
  CHECK_FALSE(is_right("T(0)", "T(-0.0)"));
  CHECK_FALSE(is_right("i < (r + 1) * length", "i < (r + 1) * length - 1"));
  CHECK_FALSE(is_right("+ i * length, length)", "+ i * length, length - 1)"));
  CHECK_FALSE(is_right("row += at_once", "row += at_once + 1"));
}
