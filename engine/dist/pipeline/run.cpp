// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/run.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/pipeline/check.hpp"
#include "engine/dist/pipeline/follow.hpp"
#include "engine/dist/pipeline/leaf_sum.hpp"
#include "engine/dist/pipeline/shapes.hpp"
#include "engine/dist/transport/agree.hpp"
#include "engine/graph/attr_values.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"
#include "engine/transform/variables.hpp"

#include <numeric>
#include <optional>

namespace lodestone::engine {
namespace {

using Pass = PipelinePass;
using Key = std::pair<int, int>;  // chunk, leaf

void append(Tensors& to, const Tensors& more) { to.insert(to.end(), more.begin(), more.end()); }

/// The state of a rank during a step.
class Runner {
 public:
  Runner(const PipelineSchedule& schedule, const std::map<int, PipelineStage>& stages,
         const std::vector<PipelineLeaf>& leaves, ActivationTypes types, const PipelineOptions& options,
         const std::source_location& where)
      : schedule_(schedule),
        last_(schedule.n_chunks() - 1),
        stages_(stages),
        leaves_(leaves),
        types_(std::move(types)),
        options_(options),
        where_(where),
        losses_(schedule.n_leaves) {}

  [[nodiscard]] PipelineSteps steps() {
    PipelineSteps steps;
    steps.compute = [this](const PipelineItem& item) { compute(item); };
    steps.outgoing = [this](const PipelineItem& item) { return outgoing(item); };
    steps.incoming = [this](const PipelineItem& item) { return incoming(item); };
    steps.received = [this](const PipelineItem& item) { note_received(item); };
    steps.sent = [this](const PipelineItem& item) { results_of(item.pass).erase({item.chunk, item.leaf}); };
    return steps;
  }

  [[nodiscard]] PipelineStep result(const RankSchedule& rank) {
    PipelineStep step;
    for (const int chunk : rank.chunks) {
      step.gradients[chunk] = sums_.at(chunk).total();
      if (chunk == last_) step.loss = losses_.total()[0];
    }
    return step;
  }

 private:
  /// Activations and cotangents that wait for their use here or on another rank.
  std::map<Key, Tensors>& results_of(Pass pass) { return pass == Pass::forward ? outputs_ : cotangents_; }

  void compute(const PipelineItem& item) {
    const Key key{item.chunk, item.leaf};
    if (item.pass == Pass::forward) {
      run_forward(key);
    } else if (item.pass == Pass::weights) {
      Tensors gradients = std::move(gradients_.at(key));
      gradients_.erase(key);
      eval(gradients);
      add_gradients(key, std::move(gradients));
    } else {
      run_backward(key, item.pass == Pass::both);
    }
    options_.computed(item);
  }

  void run_forward(Key key) {
    const auto [chunk, leaf] = key;
    const PipelineStage& stage = stages_.at(chunk);
    const std::size_t n_parameters = stage.parameters.size();
    Tensors at = stage.parameters, first, targets;
    if (chunk == 0) first = leaves_[static_cast<std::size_t>(leaf)].inputs;
    if (chunk == last_) targets = leaves_[static_cast<std::size_t>(leaf)].targets;
    if (chunk > 0) {
      append(at, outputs_.at({chunk - 1, leaf}));
      outputs_.erase({chunk - 1, leaf});
    }
    // Inputs and targets of a leaf are constants.
    const Function f = [&](const Tensors& x) {
      Tensors all(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n_parameters));
      append(all, first);
      all.insert(all.end(), x.begin() + static_cast<std::ptrdiff_t>(n_parameters), x.end());
      append(all, targets);
      return stage.f(all);
    };
    Linearized linearized(f, at, where_);
    const Tensors& outputs = linearized.value();
    eval(outputs);
    if (chunk == last_) {
      check_loss(outputs);
      losses_.add(leaf, outputs);
    } else {
      outputs_[key] = outputs;
    }
    linearized_.emplace(key, std::move(linearized));
  }

  void check_loss(const Tensors& outputs) const {
    if (outputs.size() == 1 && outputs[0].count() == 1 && core::is_real_float(outputs[0].dtype())) return;
    throw core::ShapeError("run_schedule#not_one_real_number",
                           "expected one real number from the last chunk, got {} outputs, the first {} {}",
                           outputs.size(), outputs.empty() ? "none" : outputs[0].aval().text(),
                           at_line(where_));
  }

  void run_backward(Key key, bool has_weights) {
    const auto [chunk, leaf] = key;
    const auto found = linearized_.find(key);
    Tensors cotangents;
    if (chunk == last_) {
      cotangents = {ones_like(found->second.value()[0])};
    } else {
      cotangents = std::move(cotangents_.at({chunk + 1, leaf}));
      cotangents_.erase({chunk + 1, leaf});
    }
    Tensors all = found->second.vjp(cotangents, where_);
    linearized_.erase(found);
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(stages_.at(chunk).parameters.size());
    Tensors gradients(all.begin(), middle), activations(middle, all.end());
    if (has_weights) {
      eval(all);
      add_gradients(key, std::move(gradients));
    } else {
      eval(activations);
      gradients_[key] = std::move(gradients);
    }
    if (chunk > 0) cotangents_[key] = std::move(activations);
  }

  void add_gradients(Key key, Tensors gradients) {
    const auto [chunk, leaf] = key;
    sums_.try_emplace(chunk, schedule_.n_leaves).first->second.add(leaf, std::move(gradients));
  }

  [[nodiscard]] std::vector<Strided> outgoing(const PipelineItem& item) {
    std::vector<Strided> arrays;
    for (const Tensor& each : results_of(item.pass).at({item.chunk, item.leaf})) {
      const std::span<const std::byte> bytes = each.bytes(where_);
      // A transport only reads what it sends.
      arrays.push_back({const_cast<std::byte*>(bytes.data()), {std::ssize(bytes)}, {1}, 1});
    }
    return arrays;
  }

  /// Returns the types of what a message holds. Cotangents are like the activations before them.
  [[nodiscard]] const std::vector<Aval>& types_of(const PipelineItem& item) const {
    const int chunk = item.pass == Pass::forward ? item.chunk : item.chunk - 1;
    return types_.at(chunk)[static_cast<std::size_t>(item.leaf)];
  }

  [[nodiscard]] std::vector<Strided> incoming(const PipelineItem& item) {
    std::vector<Strided> arrays;
    arriving_.clear();
    for (const Aval& aval : types_of(item)) arriving_.emplace_back(aval.bytes());
    for (std::vector<std::byte>& each : arriving_)
      arrays.push_back({each.data(), {std::ssize(each)}, {1}, 1});
    return arrays;
  }

  void note_received(const PipelineItem& item) {
    Tensors& tensors = results_of(item.pass)[{item.chunk, item.leaf}];
    for (std::size_t i = 0; i < arriving_.size(); ++i)
      tensors.push_back(Tensor::from_bytes(arriving_[i], types_of(item)[i], where_));
    arriving_.clear();
  }

  const PipelineSchedule& schedule_;
  int last_;  ///< chunk
  const std::map<int, PipelineStage>& stages_;
  const std::vector<PipelineLeaf>& leaves_;
  ActivationTypes types_;
  const PipelineOptions& options_;
  std::source_location where_;
  LeafSum losses_;
  std::map<Key, Linearized> linearized_;
  std::map<Key, Tensors> outputs_, cotangents_;  ///< by the chunk that computes them
  std::map<Key, Tensors> gradients_;             ///< recorded by B, evaluated by W
  std::map<int, LeafSum> sums_;                  ///< by chunk
  std::vector<std::vector<std::byte>> arriving_;
};

void check_arguments(const Transport& transport, const PipelineSchedule& schedule,
                     const std::map<int, PipelineStage>& stages, const std::vector<PipelineLeaf>& leaves,
                     const PipelineOptions& options, const std::source_location& where) {
  require_sound(schedule, options.n_buffers);
  if (static_cast<int>(schedule.ranks.size()) != transport.size())
    throw core::InvalidArgument("run_schedule#other_ranks", "expected a schedule of {} ranks, got {} {}",
                                transport.size(), schedule.ranks.size(), at_line(where));
  if (static_cast<int>(leaves.size()) != schedule.n_leaves)
    throw core::InvalidArgument("run_schedule#other_leaves", "expected {} leaves, got {} {}",
                                schedule.n_leaves, leaves.size(), at_line(where));
  for (const int chunk : schedule.ranks[static_cast<std::size_t>(transport.rank())].chunks) {
    if (!stages.contains(chunk))
      throw core::InvalidArgument(
          "run_schedule#missing_stage", "expected a stage for chunk {} on rank {}, which has chunks {} {}",
          chunk, transport.rank(),
          fmt::join(schedule.ranks[static_cast<std::size_t>(transport.rank())].chunks, ", "), at_line(where));
  }
}

/// Returns the number of the messages of a step. Ranks with different schedules are told.
std::uint64_t begin(Transport& transport, const PipelineSchedule& schedule,
                    const std::source_location& where) {
  constexpr std::uint64_t id = 0x70697065;  // apart from those of groups
  std::vector<int> ranks(static_cast<std::size_t>(transport.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::uint64_t number = transport.next_number(id);
  agree(transport, ranks, id, fmt::format("step {} of the schedule {}", number, text_of(schedule)),
        at_line(where));
  return detail::mixed(id, number + 1);
}

}  // namespace

PipelineStage stage_of(const Variables& variables, Function f) {
  const Function of_all = [variables, f = std::move(f)](const Tensors& all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(variables.size());
    const Tensors activations(middle, all.end());
    return function_of(variables, [&] { return f(activations); })(Tensors(all.begin(), middle));
  };
  return {of_all, values_of(variables)};
}

PipelineStep run_schedule(const World& world, const PipelineSchedule& schedule,
                          const std::map<int, PipelineStage>& stages, const std::vector<PipelineLeaf>& leaves,
                          const PipelineOptions& options, std::source_location where) {
  check_arguments(*world, schedule, stages, leaves, options, where);
  const std::uint64_t number = begin(*world, schedule, where);
  Runner runner(schedule, stages, leaves, activation_types(*world, schedule, stages, leaves, number, where),
                options, where);
  try {
    follow(*world, schedule, runner.steps(), number, options.n_buffers);
  } catch (...) {
    // Others may be reading tensors that go with the exception.
    world->fail(failure_of(std::current_exception()));
    throw;
  }
  return runner.result(schedule.ranks[static_cast<std::size_t>(world->rank())]);
}

}  // namespace lodestone::engine
