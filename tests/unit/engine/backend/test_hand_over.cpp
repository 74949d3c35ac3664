// SPDX-License-Identifier: Apache-2.0
// Kernels with hooks: what they hand over is finished, and complete; what a reader makes is what they read.
#include "engine/core/parallel.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/work_of.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

using namespace lodestone;
using namespace lodestone::engine;
using tests::Threads;

namespace {

/// Notes what a kernel hands over, and keeps it as it was then.
class NotingWriter final : public Writer {
 public:
  NotingWriter(const View& result, std::int64_t at_once)
      : result_(result),
        size_(static_cast<std::int64_t>(core::size_of(result.aval->dtype))),
        at_once_(at_once),
        taken_(static_cast<std::size_t>(result.count()), 0),
        then_(result.aval->bytes()) {}
  void open() const override { ++n_open_; }
  void take(std::int64_t first, std::int64_t n) const override {
    const std::lock_guard lock(mutex_);
    is_whole_ = is_whole_ && n_open_ > 0 && at_once_ > 0 && first % at_once_ == 0 && n % at_once_ == 0;
    for (std::int64_t i = first; i < first + n; ++i) ++taken_.at(static_cast<std::size_t>(i));
    std::copy_n(result_.data + first * size_, n * size_, then_.begin() + first * size_);
  }
  [[nodiscard]] double ns() const override { return 1.0; }

  /// Returns what is wrong, or "".
  [[nodiscard]] std::string fault() const {
    if (!is_whole_) return "pieces are not whole";
    if (std::ranges::any_of(taken_, [](int n) { return n != 1; }))
      return "not every element was handed over once";
    if (std::memcmp(then_.data(), result_.data, then_.size()) != 0) return "an element changed afterwards";
    return "";
  }

 private:
  const View result_;
  const std::int64_t size_, at_once_;
  mutable std::mutex mutex_;
  mutable std::atomic<int> n_open_ = 0;
  mutable bool is_whole_ = true;
  mutable std::vector<int> taken_;
  mutable std::vector<std::byte> then_;
};

/// Gives an array that lies somewhere, and counts what of it is read.
class NotingReader final : public Reader {
 public:
  NotingReader(const std::byte* array, const Aval& aval, std::int64_t at_once)
      : array_(array),
        size_(static_cast<std::int64_t>(core::size_of(aval.dtype))),
        at_once_(at_once),
        read_(static_cast<std::size_t>(aval.count()), 0) {}
  void open() const override { ++n_open_; }
  void read(std::int64_t first, std::int64_t n, std::byte* to) const override {
    const std::lock_guard lock(mutex_);
    is_whole_ = is_whole_ && n_open_ > 0 && first % at_once_ == 0 && n % at_once_ == 0;
    for (std::int64_t i = first; i < first + n; ++i) ++read_.at(static_cast<std::size_t>(i));
    std::copy_n(array_ + first * size_, n * size_, to);
  }
  [[nodiscard]] double ns() const override { return 1.0; }

  [[nodiscard]] std::string fault() const {
    if (!is_whole_) return "pieces are not whole";
    const bool is_once = std::ranges::all_of(read_, [](int n) { return n == 1; });
    return is_once ? "" : "not every element was read once";
  }

 private:
  const std::byte* array_;
  const std::int64_t size_, at_once_;
  mutable std::mutex mutex_;
  mutable std::atomic<int> n_open_ = 0;
  mutable bool is_whole_ = true;
  mutable std::vector<int> read_;
};

/// A use of an op with memory of its own.
class Use {
 public:
  Use(const OpInfo& op, const Attrs* attrs, const Tensors& inputs, const std::vector<Aval>& results)
      : kernel_(op.kernel(inputs[0].device(), inputs[0].dtype())), call_{op, attrs, {}, {}} {
    for (const Tensor& each : inputs) {
      const bool is_dense = each.eval().node().is_contiguous();
      const Tensor dense = is_dense ? each : record(op_named("copy"), {each}, {}, call_.where).eval();
      in_.push_back(dense);
      views_.push_back({dense.node().data(), &dense.aval(), &dense.node().look.strides});
    }
    for (const Aval& each : results) {
      out_.push_back(new_array(each));
      views_.push_back({out_.back().node().data(), &out_.back().aval(), &out_.back().node().look.strides});
    }
    call_.in = std::span(views_).first(in_.size());
    call_.out = std::span(views_).subspan(in_.size());
  }
  [[nodiscard]] bool is_empty() const { return out_[0].aval().count() == 0; }
  /// Returns what is wrong with what the kernel hands over or reads.
  [[nodiscard]] std::string fault_of_writer() {
    const NotingWriter writer(call_.out[0], kernel_.hands_over(call_));
    call_.writer = &writer;
    run();
    call_.writer = nullptr;
    return writer.fault();
  }
  [[nodiscard]] std::string fault_of_reader() {
    run();
    const std::vector<std::byte> right = bytes();
    const std::int64_t at_once = kernel_.reads_by(call_);
    if (at_once == 0) return "";
    const NotingReader reader(views_[0].data, in_[0].aval(), at_once);
    views_[0].data = nullptr;
    call_.reader = &reader;
    std::memset(call_.out[0].data, 0x42, out_[0].aval().bytes());
    run();
    return right == bytes() ? reader.fault() : "other bits than those of the array";
  }

 private:
  void run() {
    const Workspace workspace = kernel_.workspace == nullptr ? Workspace() : kernel_.workspace(call_);
    const int n_threads = Scratch::threads_of_call();
    std::vector<std::byte> memory(Scratch::bytes_of(workspace, n_threads) + Scratch::alignment,
                                  std::byte{0xff});
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    call_.scratch = Scratch(memory.data() + (Scratch::aligned(start) - start), workspace, n_threads);
    kernel_.run(call_);
  }
  [[nodiscard]] std::vector<std::byte> bytes() const {
    return {call_.out[0].data, call_.out[0].data + out_[0].aval().bytes()};
  }
  const Kernel& kernel_;
  KernelCall call_;
  Tensors in_, out_;
  std::vector<View> views_;
};

/// Returns a use of an op that was recorded.
Use use_of(const Tensor& recorded) {
  const Node& node = recorded.node();
  Tensors inputs;
  for (const NodePtr& each : node.inputs) inputs.emplace_back(each);
  const bool is_tuple = recorded.aval().kind == Kind::tuple;
  return {*node.op, node.attrs.get(), inputs, is_tuple ? avals_of(recorded) : std::vector{recorded.aval()}};
}

/// Calls visit(recorded) for samples of all rows with a kernel that gives elements.
template <class Visit>
void for_each_sample(const Visit& visit) {
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.run || row.view != nullptr) continue;
    for (int i = 0; i < core::n_dtypes; ++i) {
      const auto dtype = static_cast<DType>(i);
      for (std::uint64_t seed = 1; seed <= 4 && row.dtypes.contains(dtype); ++seed) {
        Sampler sampler(dtype, seed);
        const Sample sample = row.sample(sampler);
        const Tensors inputs = sample.prepare ? sample.prepare(sample.inputs) : sample.inputs;
        if (inputs.empty() || inputs[0].aval().kind != Kind::array) continue;
        const Tensor recorded = record(row, inputs, sample.attrs, std::source_location::current());
        const bool is_itself = recorded.node().op == &row && !recorded.node().is_evaluated();
        if (!is_itself || use_of(recorded).is_empty()) continue;
        visit(recorded);
      }
    }
  }
}

/// Work of every kernel with hooks, enough for several pieces and threads.
std::map<std::string, Tensor> large_uses(DType dtype) {
  const auto drawn = [&](const Shape& shape) {
    Sampler sampler(dtype, 1);
    return sampler.tensor(shape, -1, 1).eval();
  };
  const Tensor a = drawn({600, 300}), b = drawn({300, 500}), stack = drawn({3, 300, 300}),
               images = drawn({6, 30, 20, 16}), window = drawn({3, 3, 16, 24}), channels = drawn({16});
  const ConvOptions halved{.stride = {2, 2}, .low = {1, 1}, .high = {1, 1}};
  std::map<std::string, Tensor> uses{
      {"product in pieces", matmul(a, b)},
      {"product of a transposed operand", matmul(transpose(b), transpose(a))},
      {"stack of products", matmul(stack, stack)},
      {"stack times a matrix", matmul(stack, b)},
      {"small product", matmul(slice(a, 0, 0, 7), b)},
      {"row times a matrix", matmul(slice(a, 0, 0, 1), b)},
      {"product of packed axes", dot_general(images, drawn({20, 16, 5}), {{2, 3}, {0, 1}, {}, {}})},
      {"convolution", conv(images, window, {.low = {1, 1}, .high = {1, 1}})},
      {"convolution of two groups", conv(images, drawn({3, 3, 8, 24}), {.groups = 2})},
      {"transposed convolution", conv_transpose(drawn({6, 15, 10, 24}), window, {30, 20}, halved)},
      {"strided convolution", conv(images, window, halved)}};
  if (!core::is_complex(dtype)) {
    uses["softmax"] = softmax(a);
    uses["log_softmax"] = log_softmax(a);
    uses["normalized rows"] = normalize(a, Axes{1});
    uses["normalized columns"] = normalize(images, Axes{0, 1, 2});
    uses["batch norm"] = record(op_named("batch_norm"), Tensors{images, channels, channels},
                                make_attrs(EpsilonAttrs{1e-5}), std::source_location::current());
  }
  return uses;
}

/// A product of rows and columns that hands over rows too early, or not all, or not whole ones.
enum class Fault { none, early, lost, torn };
template <Fault fault>
void faulty_product(const KernelCall& call) {
  const auto *a = call.in[0].as<double>(), *b = call.in[1].as<double>();
  auto* const out = call.out[0].as<double>();
  const Dim n = call.out[0].shape()[0], m = call.out[0].shape()[1], k = call.in[0].shape()[1];
  call.writer->open();
  std::fill_n(out, n * m, 0.0);
  for (Dim i = 0; i < n; ++i) {
    for (Dim s = 0; s < k; ++s) {
      if (fault == Fault::early && s == k - 1) call.writer->take(i * m, m);
      for (Dim j = 0; j < m; ++j) out[i * m + j] += a[i * k + s] * b[s * m + j];
    }
    if (fault == Fault::torn) {
      call.writer->take(i * m, 1);
      call.writer->take(i * m + 1, m - 1);
    } else if (fault != Fault::early && !(fault == Fault::lost && i == n - 1)) {
      call.writer->take(i * m, m);
    }
  }
}
template <Fault fault>
std::string found() {
  OpInfo op = op_named("dot_general");
  op.with_kernel(Backend::processor, DType::f64,
                 {.name = "test", .run = faulty_product<fault>, .hands_over = [](const KernelCall& call) {
                    return call.out[0].shape()[1];
                  }});
  Sampler sampler(DType::f64, 1);
  const Tensors in{sampler.tensor({4, 3}, 1, 2), sampler.tensor({3, 5}, 1, 2)};
  return Use(op, nullptr, in, {{{4, 5}, DType::f64, in[0].device()}}).fault_of_writer();
}

}  // namespace

TEST_CASE("hand over: what kernels hand over is finished and complete, and readers are read once",
          "[engine]") {
  int n_writers = 0, n_readers = 0;
  const auto check = [&](const Tensor& recorded) {
    const Kernel& kernel =
        recorded.node().op->kernel(recorded.device(), Tensor(recorded.node().inputs[0]).dtype());
    if (kernel.hands_over != nullptr) CHECK(use_of(recorded).fault_of_writer() == "");
    if (kernel.reads_by != nullptr) CHECK(use_of(recorded).fault_of_reader() == "");
    n_writers += kernel.hands_over != nullptr ? 1 : 0;
    n_readers += kernel.reads_by != nullptr ? 1 : 0;
  };
  for_each_sample([&](const Tensor& recorded) {
    INFO(recorded.node().op->name << " of " << Tensor(recorded.node().inputs[0]).aval().text());
    check(recorded);
  });
  CHECK(n_writers > 50);
  CHECK(n_readers > 20);
  for (const DType dtype : {DType::f32, DType::f64, DType::c64, DType::c128}) {
    for (const auto& [name, recorded] : large_uses(dtype)) {
      for (const int n_threads : {1, 2, 3}) {
        INFO(name << " of " << core::name_of(dtype) << " on " << n_threads << " threads");
        const Threads scope(n_threads);
        check(recorded);
      }
    }
  }
}

TEST_CASE("hand over: pieces that are early, lost or torn are found", "[engine]") {
  CHECK(found<Fault::none>() == "");
  CHECK(found<Fault::early>() == "an element changed afterwards");
  CHECK(found<Fault::lost>() == "not every element was handed over once");
  CHECK(found<Fault::torn>() == "pieces are not whole");
}
