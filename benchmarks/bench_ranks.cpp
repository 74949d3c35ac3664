// SPDX-License-Identifier: Apache-2.0
// Training steps that two ranks share, with one thread each, turn by turn with one rank alone and with steps
// whose messages are written by hand. Sample run: mpirun -n 2 --bind-to none bench_ranks
#include "benchmarks/mt_vae.hpp"
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dist/mpi/world.hpp"
#include "engine/dist/parallelize.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/nn/linear.hpp"
#include "engine/nn/loss.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/variables.hpp"
#include "models/vae/vae_loss.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <numeric>
#include <thread>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

constexpr int n_turns = 41;
constexpr double least_seconds = 0.1;  // of a turn

/// A network with its optimizer and the loss of a batch.
struct Task {
  std::string name;
  Adam adam;
  Function loss;  ///< one scalar
  Tensors batch;
};

/// The VAE of images of 32 × 32 cells, with the published channels.
Task image_vae() {
  InitialValues initial(7, DType::f32);
  const models::vae::VaeOptions options{
      .kind = models::vae::VaeKind::patch, .cells_z = 32, .cells_y = 32, .n_codes = 32};
  const models::vae::Vae net(options, initial);
  const models::vae::VaeLoss loss({}, std::vector<double>(1024, 1.0), 2.0, DType::f32);
  return {"image VAE, 64 draws",
          Adam(net, {.learning_rate = 8e-4}),
          [net, loss](const Tensors& in) -> Tensors { return {loss(net, in[0], in[1]).loss}; },
          {(3.0 + 0.5 * bench::normals({64, 1024}, 0, DType::f32)).eval(),
           bench::normals({64, 32}, 1, DType::f32)}};
}

/// Dense layers, whose step is the same written by hand: no statistics of the whole batch.
Task dense_layers() {
  InitialValues initial(7, DType::f32);
  const Sequential net{Linear(512, 1024, initial), engine::tanh, Linear(1024, 1024, initial), engine::tanh,
                       Linear(1024, 64, initial)};
  return {"dense layers, 512 items",
          Adam(net),
          [net](const Tensors& in) -> Tensors { return {mean_squared_error(net(in[0]), in[1])}; },
          {bench::normals({512, 512}, 2, DType::f32), bench::normals({512, 64}, 3, DType::f32)}};
}

Function step_of(const Task& task) {
  return [task](const Tensors& in) -> Tensors {
    const ValueAndGradients at = value_and_grad([&] { return task.loss(in)[0]; }, task.adam.trained());
    task.adam.step(at.gradients);
    return {at.value};
  };
}

/// Returns the part of each array that a rank has.
Tensors rows_of(const Tensors& batch, int rank, int size) {
  Tensors result;
  for (const Tensor& each : batch)
    result.push_back(slice(each, 0, each.dim(0) * rank / size, each.dim(0) * (rank + 1) / size).eval());
  return without_gaps(result);
}

/// A step whose gradients are summed by MPI_Allreduce, as one array.
class ByHand {
 public:
  ByHand(const Task& task, const Tensors& rows, int size)
      : rows_(rows),
        gradients_(compile([task](const Tensors& in) -> Tensors {
          const ValueAndGradients at = value_and_grad([&] { return task.loss(in)[0]; }, task.adam.trained());
          Tensors flat{reshape(at.value, {1})};
          for (const Tensor& each : at.gradients) flat.push_back(reshape(each, {-1}));
          return {concatenate(flat, 0)};
        })),
        update_(compile([task, size](const Tensors& in) -> Tensors {
          Tensors gradients;
          Dim at = 1;
          for (const Variable& each : task.adam.trained()) {
            const Dim n = each.aval().count();
            gradients.push_back(reshape(slice(in[0], 0, at, at + n), each.aval().shape) / size);
            at += n;
          }
          task.adam.step(gradients);
          return {slice(in[0], 0, 0, 1) / size};
        })) {}
  void operator()() {
    const Tensor flat = gradients_(rows_)[0];
    if (sum_.empty()) sum_.resize(static_cast<std::size_t>(flat.count()));
    MPI_Allreduce(flat.data<float>().data(), sum_.data(), static_cast<int>(sum_.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    (void)update_({Tensor::from(sum_, {static_cast<Dim>(sum_.size())})})[0].item<float>();
  }

 private:
  Tensors rows_;
  Compiled gradients_, update_;
  std::vector<float> sum_;
};

/// A way to take a step, on all ranks or on the first alone.
struct Way {
  std::string name;
  bool on_all;
  std::function<void()> step;
  const Transport* transport = nullptr;                ///< whose messages are counted
  std::vector<double> seconds = {}, cpu_seconds = {};  ///< seconds of a step, one for each turn
  TransportCounts counts = {};                         ///< counts of all steps
  int n_steps = 0;
};

/// Waits without a busy core until the first rank is there.
void meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::microseconds(200)))
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/// Returns the seconds that this process has kept a core busy.
double cpu_now() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Returns seconds of a step: by the clock, and of a core.
std::pair<double, double> timed(const Way& way, int n) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_now();
  for (int i = 0; i < n; ++i) way.step();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / n,
          (cpu_now() - cpu) / n};
}

/// Runs all ways in turn, with as many steps in each turn as one rank takes in the least time.
void run_in_turn(std::vector<Way>& ways, int rank) {
  int n = 1;
  for (int turn = -1; turn < n_turns; ++turn) {
    for (Way& way : ways) {
      meet();
      if (!way.on_all && rank != 0) continue;
      const TransportCounts before = way.transport != nullptr ? way.transport->counts() : TransportCounts();
      const auto [seconds, cpu_seconds] = timed(way, turn < 0 ? 2 : n);
      if (turn < 0) continue;
      way.seconds.push_back(seconds);
      way.cpu_seconds.push_back(cpu_seconds);
      way.n_steps += n;
      if (way.transport == nullptr) continue;
      const TransportCounts& now = way.transport->counts();
      way.counts.bytes += now.bytes - before.bytes;
      way.counts.messages += now.messages - before.messages;
      way.counts.waits += now.waits - before.waits;
      way.counts.seconds += now.seconds - before.seconds;
    }
    if (turn < 0 && rank == 0) n = std::max(1, static_cast<int>(least_seconds / timed(ways[0], 1).first));
    MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Returns a step over shards on some ranks, each of which has its rows.
Way sharded(const std::string& name, const Task& task, const World& world, int size, int shards) {
  const int rank = size == 1 ? 0 : world->rank();
  const DeviceMesh mesh({{"data", size, shards}});
  const Parallelized step = parallelize(step_of(task), world, mesh,
                                        {.pins = {{"batch.*", "[data]"}}, .inputs = {"batch.0", "batch.1"}});
  const Tensors rows = rows_of(task.batch, rank, size);
  std::vector<Shape> whole;
  for (const Tensor& each : task.batch) whole.push_back(each.shape());
  return {name, size > 1, [=] { (void)step.of_pieces(rows, whole)[0].item<float>(); }, world.get()};
}

void measure(bench::Results& results, const World& world, Task (*make)()) {
  const int rank = world->rank(), size = world->size();
  const World alone = lone_rank();
  const Task one = make(), by_hand = make();
  const auto whole = [f = compile(step_of(one)), batch = one.batch] { (void)f(batch)[0].item<float>(); };
  std::vector<Way> ways{{"one rank", false, whole},
                        sharded(fmt::format("one rank, {} shards", size), make(), alone, 1, size),
                        sharded("one rank, 8 shards", make(), alone, 1, 8),
                        sharded(fmt::format("{} ranks", size), make(), world, size, size),
                        sharded(fmt::format("{} ranks, 8 shards", size), make(), world, size, 8),
                        {"by hand", true, ByHand(by_hand, rows_of(by_hand.batch, rank, size), size)}};
  run_in_turn(ways, rank);
  std::vector<double> busiest;
  for (const Way& way : ways) {
    const double own = way.cpu_seconds.empty() ? 0.0 : median(way.cpu_seconds);
    MPI_Reduce(&own, &busiest.emplace_back(), 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  }
  if (rank != 0) return;
  const double of_one = median(ways[0].seconds), of_hand = median(ways.back().seconds);
  for (const Way& way : ways) {
    const double seconds = median(way.seconds), n = way.n_steps;
    const bool is_main = &way == &ways[3];
    results.add({one.name, way.name + ", s of a step", "s", seconds,
                 is_main ? std::optional(of_one / 1.8) : std::nullopt, "one rank", of_one});
    results.add({one.name, way.name + ", busiest rank", "s CPU",
                 busiest[static_cast<std::size_t>(&way - ways.data())],
                 is_main ? std::optional(busiest[0] / 1.8) : std::nullopt, "one rank", busiest[0]});
    results.add({one.name,
                 way.name + ", s of a step, fastest turn",
                 "s",
                 std::ranges::min(way.seconds),
                 {},
                 "one rank",
                 std::ranges::min(ways[0].seconds)});
    if (is_main) results.add({one.name, "share of by hand", "1", seconds / of_hand, 1.05, {}, {}});
    if (way.transport == nullptr || !way.on_all) continue;
    results.add(
        {one.name, way.name + ", bytes sent", "B", static_cast<double>(way.counts.bytes) / n, {}, {}, {}});
    results.add({one.name,
                 way.name + ", messages sent",
                 "1",
                 static_cast<double>(way.counts.messages) / n,
                 {},
                 {},
                 {}});
    results.add({one.name, way.name + ", s of waits", "s", way.counts.seconds / n, {}, {}, {}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return core::mpi_program(argc, argv, [](MPI_Comm comm) {
    core::set_threads(1);
    bench::Results results;
    with_mpi_world(comm, [&](const World& world) {
      measure(results, world, image_vae);
      measure(results, world, dense_layers);
      if (world->rank() == 0)
        results.print(world->size(), fmt::format("mpirun -n {} --bind-to none build/release/bin/bench_ranks",
                                                 world->size()));
    });
    return 0;
  });
}
