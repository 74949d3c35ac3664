// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/plan.hpp"

#include "engine/compile/control_plan.hpp"
#include "engine/compile/launch_events.hpp"
#include "engine/compile/launch_table.hpp"
#include "engine/compile/passes.hpp"
#include "engine/compile/recompute.hpp"
#include "engine/core/error.hpp"
#include "engine/core/parallel.hpp"
#include "engine/dispatch/function_run.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::engine {
namespace {

/// Returns what tensors show; of handles no data.
std::vector<View> views_of(const Tensors& tensors) {
  std::vector<View> views;
  for (const Tensor& each : tensors) {
    const Node& node = each.node();
    views.push_back({node.buffer ? node.data() : nullptr, &node.aval, &node.look.strides});
  }
  return views;
}

/// Returns a number that no other plan has or had.
std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Returns whether the blocks of one plan can serve as those of another.
bool have_room_for(const std::vector<Block>& blocks, const std::vector<Block>& others) {
  return std::ranges::equal(blocks, others, [](const Block& large, const Block& small) {
    return large.device == small.device && large.bytes >= small.bytes;
  });
}

}  // namespace

std::optional<Program> optimized(const Program& program, std::span<const Strides> inputs, Level level,
                                 std::span<const Donor> donors, std::size_t budget) {
  const std::span<const Pass> passes = passes_of(level);
  if (budget == 0) return after(program, inputs, passes, donors);
  const auto n_before =
      static_cast<std::size_t>(std::ranges::find_if(passes, &Pass::follows_budget) - passes.begin());
  std::optional<Program> before = after(program, inputs, passes.first(n_before), donors);
  const bool has_passed = before.has_value();  // else there are no passes, or one of them is at fault
  Program within = within_budget(has_passed ? *std::move(before) : program, inputs, budget, level);
  std::optional<Program> result;
  if (has_passed) result = after(within, inputs, passes.subspan(n_before), donors);
  const bool fits = result && block_bytes(*result, inputs, level, budget) <= budget;
  return fits ? std::move(result) : std::move(within);
}

/// A plan with every call made ready, for one run at a time.
struct Plan::Instance {
  Instance(const Plan& plan, std::span<std::byte* const> memory)
      : launches(plan.lowered_, memory), held(plan.lowered_.held.size()) {
    const Program& program = plan.running();
    for (std::uint32_t i = 0; i < held.size(); ++i) {
      const Value& value = program.values()[plan.lowered_.held[i].value];
      if (value.from == Value::From::constant) held[i] = program.constants()[value.of];
    }
  }

  LaunchTable launches;
  Tensors held;
  LaunchEvents events;
  std::int64_t n_made = 0;  ///< functions of text at its last run

  /// Gives a tensor to the calls that use it.
  void hold(std::uint32_t number, const Tensor& tensor) {
    held[number] = tensor;
    launches.hold(number, tensor);
  }
};

/// Blocks for one run at a time, with the plans that have run there.
struct Plan::Room {
  std::vector<BufferPtr> blocks;
  std::vector<std::byte*> addresses;
  std::vector<std::pair<std::uint64_t, std::unique_ptr<Instance>>> instances;  ///< by number of a plan
  PackedMemory packed;
  std::uint64_t packed_for = 0;  ///< the number of the plan whose weights lie there

  [[nodiscard]] Instance& instance_of(const Plan& plan) {
    for (const auto& [owner, instance] : instances) {
      if (owner == plan.number_) return *instance;
    }
    return *instances.emplace_back(plan.number_, std::make_unique<Instance>(plan, addresses)).second;
  }
};

/// The rooms in which no run is under way.
struct Plan::Memory {
  explicit Memory(std::vector<Block> of_room) : blocks(std::move(of_room)) {}
  std::vector<Block> blocks;  ///< in each room
  std::mutex mutex;
  std::vector<std::unique_ptr<Room>> free;
};

Plan::Plan(Program program, std::span<const Strides> inputs, Level level, std::vector<Donor> donors,
           HostJit& jit, std::size_t budget)
    : Plan(program, engine::optimized(program, inputs, level, donors, budget), inputs, level, donors, jit,
           nullptr, budget == 0) {}

Plan::Plan(Program program, std::optional<Program> optimized, std::span<const Strides> inputs, Level level,
           std::vector<Donor> donors, HostJit& jit, const Plan* like, bool packs)
    : number_(next_number()),
      program_(std::move(program)),
      optimized_(std::move(optimized)),
      lowered_(engine::lowered(running(), inputs, level, Leaving::as_looks,
                               like == nullptr ? nullptr : &like->lowered_)),
      generated_(lowered_, jit),
      packed_(packs ? packed_operands(lowered_, donors) : PackedOperands()),
      donors_(std::move(donors)),
      donations_(engine::donations(running(), lowered_, donors_)),
      donation_of_(lowered_.held.size(), static_cast<std::uint32_t>(donations_.size())),
      memory_(like != nullptr && have_room_for(like->memory_->blocks, all_blocks())
                  ? like->memory_
                  : std::make_shared<Memory>(all_blocks())) {
  verify(lowered_, donations_);
  for (std::uint32_t i = 0; i < donations_.size(); ++i) donation_of_[donations_[i].held] = i;
}

Plan::~Plan() {
  const std::lock_guard lock(memory_->mutex);
  for (const std::unique_ptr<Room>& room : memory_->free)
    std::erase_if(room->instances, [&](const auto& each) { return each.first == number_; });
}

std::shared_ptr<const Plan> plan_or_recorded(const Program& program, std::span<const Strides> inputs,
                                             Level level, std::vector<Donor> donors, HostJit& jit,
                                             std::size_t budget) {
  try {
    return std::make_shared<const Plan>(program, inputs, level, std::move(donors), jit, budget);
  } catch (const BudgetTooSmall&) {
    throw;
  } catch (const std::exception& error) {
    auto plan = std::make_shared<const Plan>(program, inputs, Level::O0, std::vector<Donor>(),
                                             HostJit::none(), budget);
    forgive("plan", error);
    return plan;
  }
}

std::vector<Strides> Plan::input_strides() const {
  std::vector<Strides> result;
  for (std::size_t i = 0; i < program_.n_inputs(); ++i) result.push_back(lowered_.looks[i].strides);
  return result;
}

std::int64_t Plan::n_launches() const { return engine::n_launches(lowered_); }
std::int64_t Plan::n_copies() const { return engine::n_copies(lowered_); }

/// Returns the blocks of the launches, then those of packed weights.
std::vector<Block> Plan::all_blocks() const {
  std::vector<Block> blocks = lowered_.blocks;
  blocks.insert(blocks.end(), packed_.blocks.begin(), packed_.blocks.end());
  return blocks;
}

std::size_t Plan::block_bytes() const {
  std::size_t bytes = 0;
  for (const Block& each : all_blocks()) bytes += each.bytes;
  return bytes;
}

std::size_t Plan::most_alive_bytes() const {
  std::size_t bytes = 0;
  for (const Block& each : all_blocks()) bytes += each.most_alive;
  return bytes;
}

std::string Plan::generated_text() const {
  std::string text;
  for (const std::string& each : kernel_texts(lowered_)) text += each + "\n";
  return text;
}

std::unique_ptr<Plan::Room> Plan::new_room() const {
  auto room = std::make_unique<Room>();
  for (const Block& each : memory_->blocks) {
    room->blocks.emplace_back(new Buffer(each.device, each.bytes));
    room->addresses.push_back(room->blocks.back()->data());
  }
  return room;
}

std::unique_ptr<Plan::Room> Plan::take() const {
  {
    const std::lock_guard lock(memory_->mutex);
    if (!memory_->free.empty()) {
      auto taken = std::move(memory_->free.back());
      memory_->free.pop_back();
      return taken;
    }
  }
  return new_room();
}

/// One run, on an instance that is free again afterwards.
class Plan::Run {
 public:
  Run(const Plan& plan, std::span<const std::uint8_t> given_up, Watcher* watcher)
      : plan_(plan),
        lowered_(plan.lowered_),
        given_up_(given_up),
        watcher_(watcher),
        room_(plan.take()),
        instance_(&room_->instance_of(plan)) {
    plan.generated_.update(instance_->n_made, [&](std::uint32_t launch, const Attrs& attrs) {
      instance_->launches.replace_attrs(launch, attrs);
    });
  }
  ~Run() {
    for (std::size_t i = 0; i < lowered_.held.size(); ++i) {
      if (lowered_.held[i].from != Held::From::constant) instance_->held[i] = Tensor();
    }
    const std::lock_guard lock(plan_.memory_->mutex);
    plan_.memory_->free.push_back(std::move(room_));
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  [[nodiscard]] Tensors outputs(std::span<const Tensor> inputs);

 private:
  void hold(std::uint32_t number, const Tensor& tensor) { instance_->hold(number, tensor); }
  void find_packed();
  void run(const Segment& segment);
  void launch(const Segment& segment) const;
  void launch_watched(std::uint32_t number) const;
  void call(const FunctionCall& call);
  [[nodiscard]] Tensor tensor(const Given& given) const;
  [[nodiscard]] Tensor to_be_written(std::uint32_t number) const;

  const Plan& plan_;
  const Lowered& lowered_;
  std::span<const std::uint8_t> given_up_;  ///< by donation
  Watcher* watcher_;
  std::unique_ptr<Room> room_;
  Instance* instance_;
};

void Plan::Run::launch(const Segment& segment) const {
  const core::CloseLoops close;
  instance_->events.begin(lowered_);
  for (std::uint32_t next = segment.first_launch; next < segment.end_launch; ++next) {
    if (watcher_ != nullptr)
      launch_watched(next);
    else
      instance_->launches.run(next);
    instance_->events.add(next);
  }
}

/// Runs a launch under the eyes of the watcher.
void Plan::Run::launch_watched(std::uint32_t number) const {
  const Instruction* const instruction = lowered_.launches[number].instruction;
  if (instruction != nullptr) watcher_->begin(*instruction);
  instance_->launches.run(number);
  if (instruction != nullptr) watcher_->end(*instruction, instance_->launches.results(number));
}

/// Returns a value as a tensor: what is held, or a view of it.
Tensor Plan::Run::tensor(const Given& given) const {
  const Tensor& held = instance_->held[given.held];
  if (lowered_.held[given.held].value == given.value) return held;
  NodePtr node(new Node);
  node->aval = plan_.running().values()[given.value].aval;
  node->buffer = held.node().buffer;
  node->look = lowered_.looks[given.value];
  node->look.offset += held.node().look.offset;
  return Tensor(std::move(node));
}

void Plan::Run::call(const FunctionCall& call) {
  const Instruction& instruction = *call.instruction;
  Tensors operands;
  for (const Given& each : call.operands) operands.push_back(tensor(each));
  if (watcher_ != nullptr) watcher_->begin(instruction);
  const bool is_tuple = instruction.op->results != nullptr;
  const Aval expected =
      is_tuple ? tuple_aval(operands[0].device()) : plan_.running().values()[instruction.first_result].aval;
  const Tensor value =
      function_value(*instruction.op, operands, instruction.attrs, expected, instruction.where);
  const Tensors results = without_gaps(is_tuple ? evaluated_elements(value.node()) : Tensors{value});
  for (std::size_t i = 0; i < results.size(); ++i) hold(call.results[i], results[i]);
  if (watcher_ != nullptr) watcher_->end(instruction, views_of(results));
}

/// Returns an array for launches to write: new memory, or that of an input which was given up.
Tensor Plan::Run::to_be_written(std::uint32_t number) const {
  const Aval& aval = plan_.running().values()[lowered_.held[number].value].aval;
  const std::uint32_t donation = plan_.donation_of_[number];
  if (donation >= given_up_.size() || given_up_[donation] == 0) return new_array(aval);
  const Node& before = instance_->held[plan_.donations_[donation].input].node();
  NodePtr node(new Node);
  node->aval = aval;
  node->buffer = before.buffer;
  node->look = before.look;
  return Tensor(std::move(node));
}

void Plan::Run::run(const Segment& segment) {
  for (const std::uint32_t number : segment.made) hold(number, to_be_written(number));
  launch(segment);
  if (segment.call) {
    const core::TimelineScope event(core::Timeline::Kind::function, segment.call->instruction->op->name);
    call(*segment.call);
  }
  for (const std::uint32_t number : segment.released) instance_->held[number] = Tensor();
}

/// Lets launches find the weights that are packed, and packs those that it has seen before.
void Plan::Run::find_packed() {
  if (plan_.packed_.all.empty()) return;
  if (std::exchange(room_->packed_for, plan_.number_) != plan_.number_) room_->packed.clear();
  const auto blocks = std::span<std::byte* const>(room_->addresses).subspan(lowered_.blocks.size());
  plan_.n_packed_ += room_->packed.update(plan_.packed_, instance_->held, instance_->launches, blocks);
}

Tensors Plan::Run::outputs(std::span<const Tensor> inputs) {
  for (std::uint32_t i = 0; i < inputs.size(); ++i) hold(i, inputs[i]);
  find_packed();
  for (const Segment& each : lowered_.segments) run(each);
  Tensors result;
  result.reserve(lowered_.outputs.size());
  for (const Given& each : lowered_.outputs) result.push_back(tensor(each));
  return result;
}

void Plan::check(std::span<const Tensor> inputs) const {
  if (inputs.size() != program_.n_inputs())
    throw core::InvalidArgument("engine::Plan#wrong_input_count", "expected {} inputs, got {}",
                                program_.n_inputs(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool is_array = inputs[i].aval().kind == Kind::array;
    if (!(inputs[i].aval() == running().values()[i].aval) ||
        (is_array &&
         !same_steps(inputs[i].shape(), inputs[i].node().look.strides, lowered_.looks[i].strides)))
      throw core::InvalidArgument("engine::Plan#wrong_input",
                                  "expected {} with strides {} as input {}, got {} with strides {}",
                                  running().values()[i].aval.text(), lowered_.looks[i].strides.text(), i,
                                  inputs[i].aval().text(), inputs[i].node().look.strides.text());
  }
  if (Scratch::threads_of_call() > lowered_.n_threads)
    throw core::InvalidArgument("engine::Plan#more_threads",
                                "expected at most {} threads, as when the plan was made, got {}",
                                lowered_.n_threads, Scratch::threads_of_call());
}

Tensors Plan::run(std::span<const Tensor> inputs, std::span<const std::uint8_t> given_up,
                  Watcher* watcher) const {
  for (const Tensor& each : inputs) each.eval();
  check(inputs);
  return Run(*this, given_up, watcher).outputs(inputs);
}

}  // namespace lodestone::engine
