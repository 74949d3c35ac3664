// SPDX-License-Identifier: Apache-2.0
// The engine: what a small op costs, products and convolutions, a training step of the MT-VAE and the
// Jacobian of its decoder. Sample run: OMP_NUM_THREADS=2 bench_engine [dispatch | products | fusion |
// convolutions | training | fit | decoder | threads | fast | random | reads | trace | dry_run]
#include "benchmarks/fast_mode.hpp"
#include "benchmarks/fit_steps.hpp"
#include "benchmarks/mt_vae.hpp"
#include "benchmarks/packed_weights.hpp"
#include "benchmarks/random_words.hpp"
#include "benchmarks/reads.hpp"
#include "benchmarks/results.hpp"
#include "benchmarks/rows_by_text.hpp"
#include "benchmarks/trace_cost.hpp"
#include "benchmarks/two_threads.hpp"
#include "engine/compile/compile.hpp"
#include "engine/core/blas_setup.hpp"
#include "engine/core/error.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/generate/host_jit.hpp"
#include "engine/inspect/calibration.hpp"
#include "engine/inspect/dry_run.hpp"
#include "engine/inspect/profile.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/transforms.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <complex>
#include <cstdlib>
#include <memory>
#include <set>

using namespace lodestone;
using engine::DType;
using engine::Tensor;

template <class T>
using Gemm = void(const char* transa, const char* transb, const int* m, const int* n, const int* k,
                  const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                  const int* ldc);
extern "C" {
Gemm<float> sgemm_;
Gemm<double> dgemm_;
Gemm<std::complex<double>> zgemm_;
}

namespace {

constexpr int n_repeats = 21;
constexpr int chain_length = 1000;

/// Returns the median wall seconds of a call, after one that is not counted.
double median_seconds(const std::function<void()>& work) {
  std::vector<double> seconds;
  for (int i = 0; i <= n_repeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    if (i > 0)
      seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + n_repeats / 2, seconds.end());
  return seconds[n_repeats / 2];
}

/// The kernels that a computation runs, "add f32: cpu.loop, …". errors: InvalidArgument where one of them is
/// a plain loop.
std::string kernels_of(const std::function<void()>& work) {
  std::set<std::string> names;
  const engine::ExecutionObserver observer([&](const engine::Node& node) {
    if (engine::is_view(node) || node.op->run) return;
    const DType dtype = node.inputs.size() > 0 ? node.inputs[0]->aval.dtype : node.aval.dtype;
    const engine::Kernel& kernel = node.op->kernel(node.aval.device, dtype);
    const std::string name = fmt::format("{} {}: {}", node.op->name, core::name_of(dtype), kernel.name);
    if (kernel.name.starts_with("reference"))
      throw core::InvalidArgument("bench_engine", "expected tuned kernels only, got {} for {}", name,
                                  node.aval.text());
    names.insert(name);
  });
  work();
  return fmt::format("{}", fmt::join(names, ", "));
}

enum class Evaluate { at_end, each };

Tensor chain(Tensor x, const Tensor& other, Evaluate evaluate) {
  for (int i = 0; i < chain_length; ++i) {
    x = x + other;
    if (evaluate == Evaluate::each) x.eval();
  }
  return x;
}

constexpr std::array levels{
    std::pair{"O0", engine::CompileOptions{.level = engine::Level::O0, .by_text = false}},
    std::pair{"O1", engine::CompileOptions{.by_text = false}},
    std::pair{"O1 by text", engine::CompileOptions{}}};

void measure_dispatch(bench::Results& results) {
  const Tensor start = (engine::ones({16}) + 0.0).eval(), other = (engine::ones({16}) + 0.0).eval();
  const auto per_op = [](double seconds) { return seconds / chain_length; };
  const std::string name = "chain of 1000 additions of 16 f32";
  results.add({name,
               "record, run, free; per op",
               "s",
               per_op(median_seconds([&] { chain(start, other, Evaluate::at_end).eval(); })),
               4e-7,
               {},
               {}});
  results.add({name,
               "the same, evaluated one by one",
               "s",
               per_op(median_seconds([&] { chain(start, other, Evaluate::each); })),
               {},
               {},
               {}});
  const engine::Tensors both{start, other};
  const auto add_compiled = [&](const std::string& chain_name, double target, const engine::Function& f) {
    for (const auto& [level_name, options] : levels) {
      const engine::Compiled compiled = engine::compile(f, options);
      results.add({chain_name,
                   fmt::format("compiled, {}, per op", level_name),
                   "s",
                   per_op(median_seconds([&] { compiled(both); })),
                   target,
                   {},
                   {}});
    }
  };
  add_compiled(name, 1.2e-7, [&](const engine::Tensors& x) -> engine::Tensors {
    return {chain(x[0], x[1], Evaluate::at_end)};
  });
  const auto slope = engine::grad([&](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < chain_length; ++i) y = y * other;
    return engine::sum(y);
  });
  results.add({"chain of 1000 products of 16 f32",
               "value and gradient, per op",
               "s",
               per_op(median_seconds([&] { slope(start).eval(); })),
               {},
               {},
               {}});
  const engine::Function slopes = [](const engine::Tensors& x) -> engine::Tensors {
    const auto products = [&](const engine::Tensors& at) -> engine::Tensors {
      Tensor y = at[0];
      for (int i = 0; i < chain_length; ++i) y = y * x[1];
      return {engine::sum(y)};
    };
    const engine::ValueAndGradients result = engine::value_and_grad(products, {x[0]});
    return {result.value, result.gradients[0]};
  };
  add_compiled("chain of 1000 products of 16 f32, value and gradient", 3e-7, slopes);
}

/// Measures functions of arrays far larger than any cache. Each moves as many bytes in one pass as a copy of
/// 16 M numbers: eager, as recorded, and merged.
void measure_fusion(bench::Results& results) {
  constexpr engine::Dim n = 1 << 24;
  const Tensor x = (engine::ones({n}) * 0.3).eval(), y = (engine::ones({n}) * 0.7).eval();
  const engine::Function chain_of_8 = [](const engine::Tensors& in) -> engine::Tensors {
    const Tensor z = engine::abs(0.5 - in[0] * 1.5) + 0.25;
    return {engine::maximum(-z * 0.75, 0.125) - 2.0};
  };
  const engine::Function mean_square = [](const engine::Tensors& in) -> engine::Tensors {
    return {engine::mean(engine::square(in[0] - in[1]))};
  };
  const engine::Function column_sums = [](const engine::Tensors& in) -> engine::Tensors {
    return {engine::sum(in[0] * in[1], engine::Axes{0})};
  };
  const engine::Function softmax = [](const engine::Tensors& in) -> engine::Tensors {
    const Tensor e = exp(in[0] - max(in[0], engine::Axes{1}, engine::Keep::yes));
    return {e / sum(e, engine::Axes{1}, engine::Keep::yes)};
  };
  const auto in_rows = [](const Tensor& of, engine::Dim length) {
    return reshape(of, {n / length, length}).eval();
  };
  std::vector<float> from(n, 1.0F), to(n);
  const std::ptrdiff_t pieces = core::threads();
  const auto copy = [&](std::ptrdiff_t i) {
    std::copy(from.begin() + n * i / pieces, from.begin() + n * (i + 1) / pieces,
              to.begin() + n * i / pieces);
  };
  const double copied = median_seconds([&] { core::parallel_for(pieces, copy); });
  const auto measure = [&](const std::string& name, std::optional<double> target, const engine::Function& f,
                           const engine::Tensors& in) {
    const auto add = [&](const std::string& metric, std::optional<double> limit,
                         const std::function<void()>& work) {
      results.add({name, metric, "s", median_seconds(work), limit, "copy of an array", copied});
    };
    add("eager", {}, [&] { f(in)[0].eval(); });
    for (const auto& [level_name, options] : levels) {
      const engine::Compiled compiled = engine::compile(f, options);
      add(fmt::format("compiled, {}", level_name), options.level == engine::Level::O1 ? target : std::nullopt,
          [&] { compiled(in); });
    }
  };
  measure("chain of 8 ops on 16 M f32", copied / (pieces == 1 ? 0.35 : 0.6), chain_of_8, {x});
  measure("mean square of a difference of 16 M f32", {}, mean_square, {x, y});
  measure("sums of 64 columns of products of 16 M f32", {}, column_sums, {in_rows(x, 64), in_rows(y, 64)});
  measure("softmax by hand of rows of 512, 16 M f32", {}, softmax, {in_rows(x, 512)});
}

// Products beside the library they call.

template <class T>
void blas_product(int n, const T* a, const T* b, T* c) {
  const T one(1), zero(0);
  Gemm<T>* gemm = nullptr;
  if constexpr (std::is_same_v<T, float>) {
    gemm = sgemm_;
  } else if constexpr (std::is_same_v<T, double>) {
    gemm = dgemm_;
  } else {
    gemm = zgemm_;
  }
  gemm("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n);
}

template <class T>
void measure_product(bench::Results& results, int n) {
  constexpr DType dtype = core::dtype_of<T>;
  const Tensor a = bench::normals({n, n}, 0, dtype), b = bench::normals({n, n}, 1, dtype);
  std::vector<T> c(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
  const auto x = a.to_vector<T>(), y = b.to_vector<T>();
  const int times = n <= 8 ? chain_length : 1;
  const double ours = median_seconds([&] {
    for (int i = 0; i < times; ++i) matmul(a, b).eval();
  });
  const double library = median_seconds([&] {
    for (int i = 0; i < times; ++i) blas_product(n, x.data(), y.data(), c.data());
  });
  const double each = library / times, limit = n <= 8 ? each + 3e-7 : each / 0.95;
  results.add({fmt::format("product of {} x {}, {}", n, n, core::name_of(dtype)), "product", "s",
               ours / times, limit, "BLAS, called directly", each, kernels_of([&] { matmul(a, b).eval(); })});
}

/// Measures a product on the tiles of convolutions, as one of window 1, beside that by BLAS.
void measure_product_on_tiles(bench::Results& results, int n, DType dtype) {
  const Tensor a = bench::normals({n, n}, 0, dtype), b = bench::normals({n, n}, 1, dtype);
  const Tensor x = reshape(a, {1, n, n}).eval(), w = reshape(b, {1, n, n}).eval();
  const int times = n <= 64 ? chain_length / n : 1;
  const auto seconds_of = [&](const std::function<Tensor()>& product) {
    return median_seconds([&] {
             for (int i = 0; i < times; ++i) product().eval();
           }) /
           times;
  };
  const double by_blas = seconds_of([&] { return matmul(a, b); });
  results.add({fmt::format("product of {0} x {0}, {1}, on tiles", n, core::name_of(dtype)),
               "product",
               "s",
               seconds_of([&] { return conv(x, w); }),
               {},
               core::blas_kernels(),
               by_blas});
}

/// Measures the seconds of dgemm for n × k times k × m. Products of narrow numbers with wide results, beside
/// one of f32.
void measure_narrow_product(bench::Results& results, int n) {
  const Tensor a = bench::normals({n, n}, 0, DType::f32), b = bench::normals({n, n}, 1, DType::f32);
  const double in_f32 = median_seconds([&] { matmul(a, b).eval(); });
  for (const auto& [dtype, scale] : {std::pair{DType::bf16, 1.0}, {DType::i8, 40.0}}) {
    const Tensor x = cast(a * scale, dtype).eval(), y = cast(b * scale, dtype).eval();
    const std::string name = fmt::format("product of {0} x {0}, {1}", n, core::name_of(dtype));
    const double seconds = median_seconds([&] { widening_dot_general(x, y, {{1}, {0}, {}, {}}).eval(); });
    results.add({name, "product", "s", seconds, {}, "f32", in_f32});
    results.add({name, "rate", "GFLOP/s", 2e-9 * std::pow(n, 3) / seconds, {}, {}, {}});
  }
}

double as_product(std::int64_t n, std::int64_t m, std::int64_t k) {
  const std::vector<double> a(static_cast<std::size_t>(n * k), 1.0), b(static_cast<std::size_t>(k * m), 1.0);
  std::vector<double> c(static_cast<std::size_t>(n * m));
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), inner = static_cast<int>(k);
  const double one = 1.0, zero = 0.0;
  return median_seconds([&] {
    dgemm_("N", "N", &rows, &columns, &inner, &one, b.data(), &rows, a.data(), &inner, &zero, c.data(),
           &rows);
  });
}

struct Convolution {
  std::string name;
  engine::Shape x, w;
  engine::Dim stride;
};

void measure_convolution(bench::Results& results, const Convolution& problem, DType dtype) {
  const int n = problem.x.rank() - 2;
  const auto all = [&](engine::Dim value) { return engine::IntList::filled(n, value); };
  const engine::ConvOptions options{.stride = all(problem.stride), .low = all(1), .high = all(1)};
  const Tensor x = bench::normals(problem.x, 0, dtype), w = bench::normals(problem.w, 1, dtype),
               y = conv(x, w, options).eval();
  const engine::Linearized linearized = engine::linearize(
      [&](const engine::Tensors& in) -> engine::Tensors { return {conv(in[0], in[1], options)}; }, {x, w});
  const Tensor slope = bench::normals(y.shape(), 2, dtype);
  const double flops = 2.0 * static_cast<double>(y.count() * w.count() / w.dim(-1));
  // The same sums as one product of matrices: f64 is to reach 60 % of its rate. f32 is judged beside torch,
  // which calls oneDNN.
  const double product =
      dtype == DType::f64 ? as_product(y.count() / y.dim(-1), w.dim(-1), w.count() / w.dim(-1)) : 0.0;
  const std::string name = fmt::format("convolution {}, {}", problem.name, core::name_of(dtype));
  const auto add = [&](const std::string& metric, const std::function<void()>& work) {
    const double seconds = median_seconds(work);
    if (product > 0.0) {
      results.add(
          {name, metric, "s", seconds, product / 0.6, "dgemm of the same sums", product, kernels_of(work)});
    } else {
      results.add({name, metric, "s", seconds, {}, {}, {}, kernels_of(work)});
    }
    results.add({name, metric + ", rate", "GFLOP/s", 1e-9 * flops / seconds, {}, {}, {}});
  };
  add("forward", [&] { conv(x, w, options).eval(); });
  add("slope in x", [&] { linearized.vjp({slope})[0].eval(); });
  add("slope in w", [&] { linearized.vjp({slope})[1].eval(); });
}

void measure_convolutions(bench::Results& results) {
  const Convolution problems[] = {
      {"3 x 3, 16 x 56 x 56 x 64 to 64", {16, 56, 56, 64}, {3, 3, 64, 64}, 1},
      {"4 x 4 by 2, 64 x 32 x 32 x 32 to 64", {64, 32, 32, 32}, {4, 4, 32, 64}, 2},
      {"3, 64 x 32 x 16 to 16", {64, 32, 16}, {3, 16, 16}, 1},
      {"3, 64 x 8 x 64 to 64", {64, 8, 64}, {3, 64, 64}, 1}};
  for (const DType dtype : {DType::f32, DType::f64}) {
    for (const Convolution& problem : problems) measure_convolution(results, problem, dtype);
  }
}

void measure_training(bench::Results& results) {
  for (const auto& [name, dtype, target] : {std::tuple{"MT-VAE training step, f32", DType::f32, 3e-3},
                                            {"MT-VAE training step, f64", DType::f64, 6e-3}}) {
    const bench::MtVaeStep step(dtype);
    results.add({name, "parameters", "", static_cast<double>(step.n_parameters()), {}, {}, {}});
    step.run();
    const engine::Profile profile = engine::Profile::of([&] { step.run(); });
    fmt::print(stderr, "{}\n{}", name, profile.text());
    const engine::OpProfile work = profile.total();
    results.add({name, "work", "GFLOP", 1e-9 * work.flops, {}, {}, {}});
    results.add({name, "operands", "MB", 1e-6 * work.bytes, {}, {}, {}});
    results.add({name, "ops", "", static_cast<double>(work.calls), {}, {}, {}});
    results.add({name,
                 "loss, gradients, Adam",
                 "s",
                 median_seconds([&] { step.run(); }),
                 target,
                 {},
                 {},
                 kernels_of([&] { step.run(); })});
    for (const auto& [level_name, options] : levels) {
      const bench::MtVaeStep other(dtype);
      const engine::Compiled compiled = other.compiled(options);
      const auto add = [&](std::string_view what, const char* unit, double value) {
        results.add({name, fmt::format("compiled, {}{}", level_name, what), unit, value, {}, {}, {}, {}});
      };
      add("", "s", median_seconds([&] { compiled({}); }));
      const engine::CompileStats stats = compiled.stats();
      add(": launches", "", static_cast<double>(stats.n_launches) / static_cast<double>(stats.n_calls));
      add(": kernels of text", "", static_cast<double>(stats.n_by_text));
      add(": recordings", "", static_cast<double>(stats.n_traces));
      add(": block", "MB", 1e-6 * static_cast<double>(stats.block_bytes));
      add(": most alive in it", "MB", 1e-6 * static_cast<double>(stats.most_alive_bytes));
      add(": cells with new memory, all calls", "", static_cast<double>(stats.n_undonated));
    }
  }
}

void measure_decoder(bench::Results& results) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    engine::InitialValues initial(7, dtype);
    const models::vae::VaeDecoderNet decoder({}, initial);
    decoder.set_mode(engine::Mode::evaluation);
    const Tensor codes = bench::normals({40, 16}, 3, dtype);
    const auto of_one = [&](const Tensor& one) { return squeeze(decoder(expand_dims(one, 0)), 0); };
    const auto columns = engine::vmap(
        [&](const Tensor& code) { return engine::jacobian(of_one, code, engine::JacobianMode::forward); });
    const std::string name = fmt::format("MT decoder, 40 columns, {}", core::name_of(dtype));
    const auto add = [&](const char* metric, std::optional<double> target,
                         const std::function<void()>& work) {
      results.add({name, metric, "s", median_seconds(work), target, {}, {}, kernels_of(work)});
    };
    add("values", {}, [&] { decoder(codes).eval(); });
    add("Jacobian", 3e-3, [&] { columns(codes).eval(); });
    for (const auto& [level_name, options] : levels) {
      const auto add_compiled = [&](const char* metric, const engine::Function& f) {
        const engine::Compiled compiled = engine::compile(f, options);
        results.add({name,
                     fmt::format("{}, compiled, {}", metric, level_name),
                     "s",
                     median_seconds([&] { compiled({codes}); }),
                     {},
                     {},
                     {},
                     {}});
      };
      add_compiled("values", [&](const engine::Tensors& x) -> engine::Tensors { return {decoder(x[0])}; });
      add_compiled("Jacobian", [&](const engine::Tensors& x) -> engine::Tensors { return {columns(x[0])}; });
    }
  }
}

/// Returns the decoder of the MT-VAE with its first weights.
engine::Function decoder_of(DType dtype) {
  engine::InitialValues initial(7, dtype);
  const auto decoder = std::make_shared<models::vae::VaeDecoderNet>(models::vae::VaeOptions{}, initial);
  decoder->set_mode(engine::Mode::evaluation);
  return [decoder](const engine::Tensors& codes) -> engine::Tensors { return {(*decoder)(codes[0])}; };
}

// Times that a dry run announces, beside those of runs.

/// Returns the loss and the slopes of layers of tanh.
engine::Tensors train_dense(const engine::Tensors& in) {
  const auto loss = [](const engine::Tensors& x) -> engine::Tensors {
    Tensor y = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) y = engine::tanh(matmul(y, x[i]));
    return {engine::mean(engine::square(y))};
  };
  engine::ValueAndGradients result = engine::value_and_grad(loss, in);
  result.gradients.push_back(result.value);
  return result.gradients;
}

/// Returns rows of softmax of x xᵀ, times x: attention without weights.
engine::Tensors attend(const engine::Tensors& in) {
  const Tensor& x = in[0];
  return {matmul(engine::softmax(matmul(x, engine::transpose(x)), -1), x)};
}

/// Returns the loss and the slopes of convolutions of images.
engine::Tensors train_images(const engine::Tensors& in) {
  const auto loss = [](const engine::Tensors& x) -> engine::Tensors {
    const engine::ConvOptions around{.low = {2, 2}, .high = {2, 2}};
    Tensor y = x[0];
    for (std::size_t i = 1; i < x.size(); ++i) y = engine::swish(conv(y, x[i], around));
    return {engine::mean(engine::square(y - x[0]))};
  };
  engine::ValueAndGradients result = engine::value_and_grad(loss, in);
  result.gradients.push_back(result.value);
  return result.gradients;
}

/// Returns sums of rows of some elementary functions.
engine::Tensors combine_functions(const engine::Tensors& in) {
  const Tensor& x = in[0];
  return {engine::sum(engine::log1p(engine::exp(x)) * engine::sin(x) - engine::sqrt(engine::abs(x)),
                      engine::Axes{1})};
}

/// Measures the time of functions beside those that dry runs announce by kernels and by rates, and the time
/// of these dry runs themselves.
void measure_dry_runs(bench::Results& results) {
  std::shared_ptr<const engine::MachineRates> rates;
  const auto seconds_of = [](const auto& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const double measured =
      seconds_of([&] { rates = std::make_shared<const engine::MachineRates>(engine::calibrated_rates()); });
  results.add({"rates of this machine", "measured", "s", measured, 5.0, {}, {}});
  const auto add = [&](const std::string& name, const engine::Function& f, const engine::Tensors& in) {
    const engine::Compiled compiled = engine::compile(f, {.by_text = false});
    const double took = median_seconds([&] { compiled(in); });
    for (const auto& [options, way] :
         {std::pair{engine::DryRunOptions{.times = engine::Times::kernels}, "by kernels"},
          {engine::DryRunOptions{.times = engine::Times::rates, .machine = rates}, "by rates"}}) {
      double announced = 0.0;
      const double spent =
          seconds_of([&] { announced = engine::dry_run(f, engine::avals_of(in), options).seconds(); });
      results.add({name, "compiled", "s", took, {}, fmt::format("announced {}", way), announced});
      results.add({name, fmt::format("dry run {}", way), "s", spent, {}, {}, {}});
    }
  };
  const auto chain_of_ops = [](const engine::Tensors& x) -> engine::Tensors {
    return {chain(x[0], x[0], Evaluate::at_end)};
  };
  for (const DType dtype : {DType::f32, DType::f64}) {
    const auto named = [&](const char* what) { return fmt::format("{}, {}", what, core::name_of(dtype)); };
    const bench::MtVaeStep step(dtype);
    add(named("MT-VAE training step"), step.step(), {});
    add(named("MT decoder, 40 columns"), decoder_of(dtype), {bench::normals({40, 16}, 3, dtype)});
    engine::Tensors dense{bench::normals({256, 512}, 0, dtype)};
    for (std::uint64_t i = 1; i <= 4; ++i)
      dense.push_back((bench::normals({512, 512}, i, dtype) * 0.05).eval());
    add(named("step of 4 dense layers of 512"), train_dense, dense);
    add(named("attention of 512 words"), attend, {bench::normals({512, 64}, 5, dtype)});
    add(named("1000 additions of 4096"), chain_of_ops, {bench::normals({4096}, 6, dtype)});
    // Two that no sample of the rates is like.
    add(named("step of 3 convolutions of images"), train_images,
        {bench::normals({4, 64, 64, 3}, 7, dtype), bench::normals({5, 5, 3, 24}, 8, dtype),
         bench::normals({5, 5, 24, 24}, 9, dtype), bench::normals({5, 5, 24, 3}, 10, dtype)});
    add(named("functions of 2 000 000 numbers"), combine_functions,
        {bench::normals({2000, 1000}, 11, dtype)});
  }
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("LODESTONE_JIT", "wait", 0);  // unless told otherwise: rows "by text" are to be that
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  return session.run([&] {
    bench::Results results;
    const std::string_view only = argc == 2 ? argv[1] : "";
    if (only.empty() || only == "dispatch") measure_dispatch(results);
    if (only.empty() || only == "products") {
      for (const int n : {8, 256, 1024}) {
        measure_product<float>(results, n);
        measure_product<double>(results, n);
        measure_product<std::complex<double>>(results, n);
      }
      for (const int n : {64, 256, 1024}) measure_narrow_product(results, n);
      for (const DType dtype : {DType::f32, DType::f64}) {
        for (const int n : {8, 16, 32, 64, 128, 256, 512, 1024}) measure_product_on_tiles(results, n, dtype);
      }
    }
    if (only.empty() || only == "fusion") measure_fusion(results);
    if (only.empty() || only == "convolutions") measure_convolutions(results);
    if (only.empty() || only == "training") measure_training(results);
    if (only.empty() || only == "fit") bench::measure_fit(results);
    if (only.empty() || only == "decoder") measure_decoder(results);
    if (only.empty() || only == "packed") bench::measure_packed_weights(results);
    if (only.empty() || only == "fast") bench::measure_fast_mode(results);
    if (only.empty() || only == "random") bench::measure_random_words(results);
    if (only.empty() || only == "reads") bench::measure_reads(results);
    if (only.empty() || only == "rows") bench::measure_rows_by_text(results);
    if (only == "threads") bench::measure_two_threads(results);
    if (only.empty() || only == "trace") bench::measure_trace(results);
    if (only.empty() || only == "dry_run") measure_dry_runs(results);
    const engine::JitStats made = engine::HostJit::of_process().stats();
    results.add({"functions made of text", "made", "", static_cast<double>(made.n_made), {}, {}, {}});
    if (made.n_compiled > 0)
      results.add({"functions made of text",
                   "compiler, per function",
                   "s",
                   made.seconds / static_cast<double>(made.n_compiled),
                   {},
                   {},
                   {}});
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=engine");
    return 0;
  });
}
