// SPDX-License-Identifier: Apache-2.0
// The text of kernels compiles for devices, too, and gives the same bits on one. Built where the CUDA toolkit
// is; without a device the texts are compiled only.
#include "engine/compile/fused_op.hpp"
#include "engine/dialect/kernel.hpp"
#include "engine/generate/emit.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/compile/random_programs.hpp"
#include "tests/unit/engine/generate/cuda_device.hpp"
#include "tests/unit/engine/row_expressions.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <set>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

using tests::CudaDevice;
using tests::DeviceKernels;

/// An expression on operands, with the name of its launch.
struct Case {
  Expr expr;
  Tensors in, right;
  std::string name;
};

/// Returns the bytes of an operand as an expression sees them, without gaps.
std::vector<std::byte> dense(const Tensor& x, const Expr::Load& load) {
  const std::size_t size = core::size_of(x.dtype());
  const auto from = x.bytes();
  std::vector<std::byte> result(static_cast<std::size_t>(load.shape.count()) * size);
  for (Dim i = 0; i < load.shape.count(); ++i) {
    Dim rest = i, at = 0;
    for (int axis = load.shape.rank() - 1; axis >= 0; --axis) {
      const Dim place = rest % load.shape[axis];
      rest /= load.shape[axis];
      if (load.from[axis] == AxisMap::added) continue;
      Dim stride = 1;
      for (int inner = static_cast<int>(load.from[axis]) + 1; inner < x.shape().rank(); ++inner)
        stride *= x.shape()[inner];
      at += place * stride;
    }
    std::memcpy(result.data() + static_cast<std::size_t>(i) * size,
                from.data() + static_cast<std::size_t>(at) * size, size);
  }
  return result;
}

/// A case in the memory of a device, which has its kernel.
class Placed {
 public:
  Placed(CudaDevice& device, const Case& what) : device_(device), case_(what) {
    const Expr& expr = what.expr;
    for (const Expr::Value& each : expr.values) {
      if (each.from != Expr::Value::From::load) continue;
      const Tensor& x = what.in[each.of];
      const auto as_it_is = x.bytes();
      const std::vector<std::byte> bytes = x.count() == 1
                                               ? std::vector<std::byte>(as_it_is.begin(), as_it_is.end())
                                               : dense(x, expr.loads[each.of]);
      add(bytes.size(), each).write(bytes);
    }
    for (const auto& number : expr.numbers) {
      memory_.push_back(std::make_unique<CudaDevice::Memory>(number.size()));
      memory_.back()->write(number);
      places_.push_back(memory_.back()->place(number.size(), number.size()));
    }
    for (const auto& [value, shape] : expr.stores) {
      const Expr::Value& of = expr.values[value];
      add(static_cast<std::size_t>(shape.count()) * core::size_of(of.dtype), of).fill(0x5a);
      n_rows_ = of.per_row ? shape.count() : shape.count() / expr.row;
    }
  }
  void launch() const { device_.launch(case_.name, n_rows_, case_.expr.row, places_); }
  [[nodiscard]] Tensors outputs() const {
    const auto& stores = case_.expr.stores;
    Tensors result;
    for (std::size_t i = 0; i < stores.size(); ++i) {
      result.push_back(new_array({stores[i].shape, case_.expr.values[stores[i].value].dtype, cpu}));
      memory_[memory_.size() - stores.size() + i]->read({result[i].node().data(), result[i].aval().bytes()});
    }
    return result;
  }
  /// Returns the bytes that a launch reads and writes.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  CudaDevice::Memory& add(std::size_t bytes, const Expr::Value& value) {
    const std::size_t element = core::size_of(value.dtype);
    const std::size_t row = value.per_row ? element : element * static_cast<std::size_t>(case_.expr.row);
    memory_.push_back(std::make_unique<CudaDevice::Memory>(std::max<std::size_t>(bytes, 1)));
    places_.push_back(memory_.back()->place(row, element));
    bytes_ += bytes;
    return *memory_.back();
  }

  CudaDevice& device_;
  const Case& case_;
  std::vector<std::unique_ptr<CudaDevice::Memory>> memory_;
  std::vector<TilePlace> places_;
  std::int64_t n_rows_ = 0;
  std::size_t bytes_ = 0;
};

Tensors value_on(CudaDevice& device, const Case& each) {
  const Placed placed(device, each);
  placed.launch();
  return placed.outputs();
}

/// Compiles the texts of cases together; on machines with a device it also gives their bits.
class Cases {
 public:
  void add(Expr expr, Tensors in, Tensors right) {
    const std::string name = kernels_.add(expr, tests::are_one(in));
    cases_.push_back({std::move(expr), std::move(in), std::move(right), name});
  }
  void check() {
    CHECK(kernels_.compile() == "");
    CudaDevice* const device = CudaDevice::first();
    if (device == nullptr || kernels_.code().empty()) return;
    device->load(kernels_);
    for (const Case& each : cases_) {
      INFO(each.expr.text() << " of " << each.in[0].aval().text() << " on " << device->name());
      CHECK(tests::same_bits(value_on(*device, each), each.right));
    }
  }
  [[nodiscard]] const std::vector<Case>& all() const { return cases_; }
  [[nodiscard]] DeviceKernels& kernels() { return kernels_; }

 private:
  DeviceKernels kernels_;
  std::vector<Case> cases_;
};

/// Adds the clusters of a compiled function that have text, with operands of their own; returns how many.
int add_clusters(Cases& cases, const Function& f, const Tensors& like) {
  int n = 0;
  const auto plan = tests::plan_of(f, like, Level::O1);
  const Program& program = plan->running();
  for (const Instruction& each : program.instructions()) {
    if (each.op != &fused_op()) continue;
    Tensors in;
    for (const ValueId operand : program.operands(each)) {
      const Aval& aval = program.values()[operand].aval;
      in.push_back(tests::drawn(aval.shape, operand + 1, aval.dtype));
    }
    const Tensors right = elements_of(record(*each.op, in, each.attrs, std::source_location::current()));
    eval(right);
    for_each_part(attrs_as<TileAttrs>(*each.attrs).programs, [&](const cpu_backend::TilePart& part) {
      const Expr& expr = part.program.expr();
      if (!has_text(expr) || !expr.words.empty()) return;
      const auto first_in = in.begin() + static_cast<std::ptrdiff_t>(part.first_in);
      const auto first_out = right.begin() + static_cast<std::ptrdiff_t>(part.first_out);
      cases.add(expr, Tensors(first_in, first_in + static_cast<std::ptrdiff_t>(part.n_in())),
                Tensors(first_out, first_out + static_cast<std::ptrdiff_t>(part.n_out())));
      ++n;
    });
  }
  return n;
}

}  // namespace

TEST_CASE("text: every row that has text gives its bits on a device", "[engine]") {
  std::map<DType, Cases> cases;  // by dtype of the first operand, so that few files are compiled
  std::set<std::string_view> rows;
  int n = 0;
  tests::for_each_case([&](const tests::RowCase& each) {
    const Tensor right = record(each.op, each.in, each.attrs, std::source_location::current()).eval();
    const Expr expr = tests::expr_of(each, right.dtype());
    if (!has_text(expr)) return;
    cases[each.in[0].dtype()].add(expr, each.in, {right});
    rows.insert(each.op.name);
    ++n;
  });
  for (auto& [dtype, of_dtype] : cases) {
    INFO(core::name_of(dtype));
    of_dtype.check();
  }
  CHECK(cases.size() == 9);
  CHECK(n > 250);
  CHECK(rows.size() > 50);
}

TEST_CASE("text: clusters of random programs give their bits on a device", "[engine]") {
  int n = 0;
  for (const DType dtype : {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64, DType::i8,
                            DType::u8, DType::b8}) {
    Cases cases;
    for (std::uint64_t seed = 2000; seed < 2008; ++seed) {
      const tests::RandomProgram random(dtype, seed, false);
      n += add_clusters(cases, random.function(), random.inputs());
    }
    INFO(core::name_of(dtype));
    cases.check();
  }
  CHECK(n > 30);
  DeviceKernels planted;
  CHECK_THROWS_AS(planted.add("#error planted", {{4}}, {4}, false), core::InvalidArgument);
  planted.add("namespace lodestone::engine::scalar { void lodestone_kernel(); }\n#error planted\n", {{4}},
              {4}, false);
  CHECK_FALSE(planted.compile().empty());
}

TEST_CASE("text: a kernel that a user wrote gives its bits on a device", "[engine]") {
  const Compiled gelu =
      kernel("gelu(x[n, k], b[k]) -> y[n, k]: t = x + b; y = 0.5 * t * (1 + erf(t * 0.7071067811865476))");
  Cases cases;
  CHECK(add_clusters(cases, gelu, {ones({400, 30}), ones({30})}) == 1);
  cases.check();
}

TEST_CASE("text: rows that are combined give their bits on a device, short and long ones", "[engine]") {
  const auto f = [](const Tensors& in) -> Tensors {
    const Tensor total = sum(in[0], Axes{-1}, Keep::yes), rest = in[0] - total;
    return {rest - max(rest, Axes{-1}, Keep::yes) * min(rest, Axes{-1}, Keep::yes), total};
  };
  for (const DType dtype :
       {DType::f32, DType::f64, DType::i32, DType::u32, DType::i64, DType::u64, DType::i8, DType::u8}) {
    Cases cases;
    for (const Dim row : {5, 100}) CHECK(add_clusters(cases, f, {tests::drawn({600, row}, 1, dtype)}) == 1);
    INFO(core::name_of(dtype));
    for (const Case& each : cases.all()) CHECK(each.expr.row > 1);
    cases.check();
  }
}

TEST_CASE("text: another function in place of one is found on a device", "[engine]") {
  CudaDevice* const device = CudaDevice::first();
  if (device == nullptr) WARN("no device: texts are compiled, and none is run");
  const Tensors in{tests::patterns(DType::f32, 1), tests::patterns(DType::f32, 40503)};
  const auto check = [&](std::string_view op, bool contracts, bool is_right) {
    DeviceKernels kernels;
    ExprWriter writer;
    std::vector<ExprId> ids;
    for (const Tensor& each : in) ids.push_back(writer.load(each.dtype(), {0, 1}, each.shape()));
    const ExprId product = writer.apply(op_named("multiply"), {ids[0], ids[1]});
    writer.store(writer.apply(op_named(op), {product, ids[1]}), in[0].shape());
    std::string text = kernel_text(writer.expr(), {false, false});
    if (contracts) {
      constexpr std::string_view from = "f1(v2, p1[i])";
      REQUIRE(text.find(from) != std::string::npos);
      text.replace(text.find(from), from.size(), "std::fma(p0[i], p1[i], p1[i])");
    }
    const Case each{
        writer.expr(), in, {(in[0] * in[1] + in[1]).eval()}, kernels.add(text, {{4}, {4}}, {4}, false)};
    REQUIRE(kernels.compile() == "");
    if (device == nullptr) return;
    device->load(kernels);
    CHECK(tests::same_bits(value_on(*device, each), each.right) == is_right);
  };
  check("add", false, true);
  check("subtract", false, false);
  check("add", true, false);
}

// Prints a table: build/release/tests/unit/engine/test_device_text "[device speed]".
TEST_CASE("text: what launches on a device take beside a copy of their bytes", "[.][device speed]") {
  CudaDevice* const device = CudaDevice::first();
  REQUIRE(device != nullptr);
  constexpr Dim n = Dim{1} << 24, row = 64;
  const auto chain = [](const Tensors& in) -> Tensors {
    const Tensor z = abs(0.5 - in[0] * 1.5) + 0.25;
    return {maximum(-z * 0.75, 0.125) - 2.0};
  };
  const auto gelu_of = [](const Tensors& in) -> Tensors {
    return {in[0] * 0.5 * (1.0 + erf(in[0] * 0.7071067811865476))};
  };
  const auto of_two = [](const Tensors& in) -> Tensors { return {in[0] * in[1] + in[0]}; };
  const auto softmax_of = [](const Tensors& in) -> Tensors {
    const Tensor e = exp(in[0] - max(in[0], Axes{-1}, Keep::yes));
    return {e / sum(e, Axes{-1}, Keep::yes)};
  };
  const auto median = [&](const auto& work) {
    std::vector<double> seconds(21);
    for (double& each : seconds) each = device->seconds(work);
    std::ranges::nth_element(seconds, seconds.begin() + 10);
    return seconds[10];
  };
  const std::array<std::pair<const char*, Function>, 4> functions{
      {{"a b + a", of_two}, {"8 ops", chain}, {"gelu", gelu_of}, {"softmax of rows of 64", softmax_of}}};
  fmt::print("{}, 2^24 elements, medians of 21\n{:<24}{:<6}{:>8}{:>8}{:>8}\n", device->name(), "function",
             "dtype", "ms", "copy", "GB/s");
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const auto& [name, f] : functions) {
      const Tensor x = tests::drawn({n / row, row}, 1, dtype);
      Cases cases;
      REQUIRE(add_clusters(cases, f, name == functions[0].first ? Tensors{x, x} : Tensors{x}) == 1);
      REQUIRE(cases.kernels().compile() == "");
      device->load(cases.kernels());
      const Placed placed(*device, cases.all()[0]);
      CudaDevice::Memory from(placed.bytes() / 2), to(placed.bytes() / 2);
      placed.launch();
      const double seconds = median([&] { placed.launch(); });
      const double copied = median([&] { to.copy(from); });
      fmt::print("{:<24}{:<6}{:>8.3f}{:>8.2f}{:>8.0f}\n", name, core::name_of(dtype), 1e3 * seconds,
                 copied / seconds, static_cast<double>(placed.bytes()) / seconds * 1e-9);
    }
  }
}
