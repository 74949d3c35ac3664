// SPDX-License-Identifier: Apache-2.0
#include "engine/dispatch/executor.hpp"

#include "engine/core/error.hpp"
#include "engine/core/timeline.hpp"
#include "engine/dispatch/function_run.hpp"
#include "engine/dispatch/kernel_run.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/record/rule_args.hpp"

#include <utility>

namespace lodestone::engine {
namespace {

thread_local int n_pending = 0;  // recorded on this thread since the last evaluation
thread_local int keep_depth = 0;
thread_local const ExecutionObserver* observer = nullptr;
thread_local std::vector<NodePtr> kept;  // evaluated while the graph was kept
thread_local std::uint8_t level = 0;
thread_local bool outside_keeps = false;         // a graph around the one that runs now is kept
thread_local std::vector<NodePtr> kept_outside;  // nodes of such a graph that were evaluated from inside
thread_local TogetherScope* together = nullptr;

std::string name_of(const Node& node) { return node.op == nullptr ? "placeholder" : node.op->name; }

void check_can_run(const Node& node) {
  if (node.is_abstract) refuse_values(node, node.where);
  if (node.thread != thread_number()) {
    throw core::InvalidArgument(name_of(node) + "#recorded_on_another_thread",
                                "expected a tensor of this thread or an evaluated one, got a recorded one of "
                                "another thread; call eval() there first {}",
                                at_line(node.where));
  }
}

/// The pending nodes that `outputs` need, inputs before users, each once. Its memory comes from the order
/// before: small graphs would spend a tenth of their time on it.
class Order {
 public:
  explicit Order(std::span<const NodePtr> outputs) : nodes_(std::exchange(spare(), {})) { collect(outputs); }
  ~Order() { spare().swap(nodes_); }
  Order(const Order&) = delete;
  Order& operator=(const Order&) = delete;
  /// Returns those without a value.
  [[nodiscard]] std::span<Node* const> pending() {
    std::erase_if(nodes_, [](const Node* node) { return node->is_evaluated(); });
    return nodes_;
  }
  /// Owns the nodes where one runs a graph of its own, which may run, and free, others that were to come.
  void hold() {
    if (runs_graphs_) owned_ = std::vector<NodePtr>(nodes_.begin(), nodes_.end());
  }
  /// Returns the next one that has not run, null at the end; what came before is not owned any more, so that
  /// an input without other users gives its buffer away.
  [[nodiscard]] Node* next();

 private:
  void collect(std::span<const NodePtr> outputs);
  static std::vector<Node*>& spare() {
    thread_local std::vector<Node*> list;
    return list;
  }
  std::vector<Node*> nodes_;
  std::vector<NodePtr> owned_;
  std::size_t next_ = 0;
  bool runs_graphs_ = false;
};

Node* Order::next() {
  for (; next_ < nodes_.size(); ++next_) {
    if (!owned_.empty() && next_ > 0) owned_[next_ - 1] = NodePtr();
    if (!nodes_[next_]->is_evaluated()) return nodes_[next_++];
  }
  return nullptr;
}

void Order::collect(std::span<const NodePtr> outputs) {
  thread_local std::vector<std::pair<Node*, std::size_t>> path;  // node and the next input to look at
  path.clear();
  nodes_.clear();
  const std::uint64_t visit = next_visit();
  for (const NodePtr& output : outputs) {
    if (!output->is_evaluated() && output->visit != visit) {
      output->visit = visit;
      path.emplace_back(output.get(), 0);
    }
    while (!path.empty()) {
      Node* node = path.back().first;
      if (path.back().second == 0) check_can_run(*node);
      if (path.back().second == node->inputs.size()) {
        nodes_.push_back(node);
        runs_graphs_ = runs_graphs_ || node->op->run;
        path.pop_back();
        continue;
      }
      Node* input = node->inputs[path.back().second++].get();
      if (input->is_evaluated() || input->visit == visit) continue;
      input->visit = visit;
      path.emplace_back(input, 0);
    }
  }
}

/// A value that no kernel computes.
void run_function(Node& node) {
  const Tensors inputs(node.inputs.begin(), node.inputs.end());
  const Tensor value = function_value(*node.op, inputs, node.attrs, node.aval, node.where);
  node.buffer = value.node().buffer;
  node.look = value.node().look;
  node.object = value.node().object;
}

/// Checks that a view stays within the buffer it looks at, which the rule of a row may get wrong.
void check_reach(const Node& node, const Look& look, const Buffer& buffer) {
  if (node.aval.count() == 0) return;
  const auto [low, high] = look.reach(node.aval.shape);
  const auto n = static_cast<std::int64_t>(buffer.bytes() / core::size_of(node.aval.dtype));
  if (low < 0 || high >= n)
    throw core::ShapeError(
        node.op->name + "#view_reaches_outside",
        "expected a view within the {} elements of its buffer, got {} from {} to {}; correct the "
        "view rule of the row {}",
        n, node.aval.text(), low, high, at_line(node.where));
}

/// Lets a node look at its input's buffer. False: its op is none that does, or no strides say it.
bool run_view(Node& node) {
  if (node.op->view == nullptr) return false;
  const Node& in = *node.inputs[0];
  const auto look = node.op->view(in.aval, in.look, node.attrs.get(), node.aval);
  if (!look) return false;
  check_reach(node, *look, *in.buffer);
  node.look = *look;
  node.buffer = in.buffer;
  return true;
}

/// An element of a tuple takes what the tuple has: nobody is told.
bool is_element(const Node& node) {
  static const OpInfo& get = op_named("get");
  return node.op == &get;
}

/// Gives a node its value, which is an event of the time line but for a view.
void compute(Node& node) {
  using core::Timeline;
  const Timeline::Ticks begin = Timeline::is_on() ? Timeline::now() : 0;
  if (run_view(node)) return;
  // What a transform around still needs must not be written over.
  const bool may_overwrite = keep_depth == 0 && !(outside_keeps && node.level < level);
  if (node.op->run)
    run_function(node);
  else
    run_kernel(node, may_overwrite);
  if (begin != 0) {
    const auto bytes = node.aval.kind == Kind::array ? static_cast<std::int64_t>(node.aval.bytes()) : 0;
    Timeline::add({&node.op->name, Timeline::Kind::op, begin, Timeline::now(), bytes});
  }
}

/// Lets a node that has its value forget how it came to be, unless a transform walks through it.
void forget_inputs(Node& node) {
  if (outside_keeps && node.level < level) {
    kept_outside.emplace_back(&node);
  } else if (keep_depth > 0) {
    kept.emplace_back(&node);
  } else {
    node.inputs.clear();
    node.attrs = AttrsPtr();
  }
}

void run(Node& node) {
  const ExecutionObserver* const told = is_element(node) ? nullptr : observer;
  if (told != nullptr) told->tell_begin(node);
  compute(node);
  if (told != nullptr) told->tell_end(node);
  forget_inputs(node);
}

/// No scope counts while nodes run, as some of them run graphs of their own.
class WithoutScope {
 public:
  WithoutScope() : before_(std::exchange(together, nullptr)) {}
  ~WithoutScope() { together = before_; }
  WithoutScope(const WithoutScope&) = delete;
  WithoutScope& operator=(const WithoutScope&) = delete;
  [[nodiscard]] TogetherScope* scope() const { return before_; }

 private:
  TogetherScope* before_;
};

/// Runs nodes as a scope does. Elements of tuples that have their values take them at once. False: nodes are
/// left that have to run one by one.
bool has_run_by(TogetherScope* scope, Order& order) {
  if (scope == nullptr || observer != nullptr) return false;
  for (Node* node : order.pending()) {
    if (is_element(*node) && node->inputs[0]->is_evaluated()) run(*node);
  }
  const std::span<Node* const> nodes = order.pending();
  const std::span<Node* const> leaving =
      nodes.empty() ? nodes : scope->run(nodes, keep_depth > 0 || outside_keeps);
  for (Node* node : leaving) forget_inputs(*node);  // others, which only these own, go with that
  return nodes.empty() || !leaving.empty();
}

}  // namespace

void refuse_values(const Node& node, const std::source_location& where) {
  throw NoValues(
      core::Worded{fmt::format("[{}] expected elements that exist, but {} was asked for them inside of a "
                               "function that is recorded without values; use select, cond or scan for "
                               "what depends on them, or move the host code out of it {}",
                               name_of(node), node.aval.text(), at_line(where)),
                   name_of(node) + "#no_values_while_tracing"},
      "elements of " + node.aval.text(), where);
}

void evaluate(std::span<const NodePtr> outputs) {
  Order order(outputs);
  const WithoutScope own;
  if (!has_run_by(own.scope(), order)) {
    order.hold();
    while (Node* node = order.next()) run(*node);
  }
  n_pending = 0;
}

void note_recorded(const NodePtr& node) {
  if (node->is_abstract || ++n_pending < most_pending || keep_depth > 0) return;
  evaluate(std::span(&node, 1));
}

OwnGraph::OwnGraph() : depth_(std::exchange(keep_depth, 0)), outside_keeps_(outside_keeps) {
  outside_keeps = outside_keeps || depth_ > 0;
  kept_.swap(kept);
  ++level;
}
OwnGraph::~OwnGraph() {
  --level;
  outside_keeps = outside_keeps_;
  keep_depth = depth_;
  kept_.swap(kept);
}

std::uint8_t graph_level() { return level; }

KeepGraph::KeepGraph() { ++keep_depth; }
KeepGraph::~KeepGraph() {
  if (--keep_depth > 0) return;
  for (const NodePtr& node : kept) node->inputs.clear();
  kept.clear();
  const auto belongs_here = [](const NodePtr& node) { return node->level >= level; };
  for (const NodePtr& node : kept_outside) {
    if (belongs_here(node)) node->inputs.clear();
  }
  std::erase_if(kept_outside, belongs_here);
}

bool is_view(const Node& node) {
  return node.op->view != nullptr && node.inputs.size() == 1 && node.buffer == node.inputs[0]->buffer;
}

ExecutionObserver::ExecutionObserver(std::function<void(const Node&)> seen,
                                     std::function<void(const Node&)> begins)
    : seen_(std::move(seen)), begins_(std::move(begins)), outer_(observer) {
  observer = this;
}
ExecutionObserver::~ExecutionObserver() { observer = outer_; }
bool ExecutionObserver::is_watching() { return observer != nullptr; }

TogetherScope::TogetherScope() : outer_(std::exchange(together, this)) { n_pending = 0; }
TogetherScope::~TogetherScope() { together = outer_; }
bool TogetherScope::is_open() { return together != nullptr; }

}  // namespace lodestone::engine
