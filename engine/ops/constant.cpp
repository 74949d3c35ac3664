// SPDX-License-Identifier: Apache-2.0
// Numbers that stand in the code, and the memory that equal ones share.
#include "engine/ops/constant.hpp"

#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace lodestone::engine {
namespace {

Aval aval_of(const ConstantAttrs& number) { return {{}, number.dtype, number.device}; }

/// Every number that a tensor holds, once. Numbers that none holds any more go when there are as many of them
/// as of the others. Thread safe.
class Literals {
 public:
  /// Lends attributes and memory of a number to a node.
  void lend(const ConstantAttrs& number, Node& to) {
    const std::lock_guard lock(mutex_);
    const Literal& same = at(number);
    to.attrs = same.attrs;
    to.buffer = same.buffer;
  }

 private:
  static constexpr std::size_t few = 256;
  struct Literal {
    AttrsPtr attrs;
    BufferPtr buffer;
  };
  struct Hash {
    std::size_t operator()(const ConstantAttrs& number) const { return detail::fields_hash(number); }
  };
  struct Equal {
    bool operator()(const ConstantAttrs& a, const ConstantAttrs& b) const {
      return detail::fields_equal(a, b);
    }
  };
  const Literal& at(const ConstantAttrs& number) {
    const auto found = all_.find(number);
    if (found != all_.end()) return found->second;
    if (all_.size() >= most_) drop_unused();
    const auto bytes = std::span(number.bytes).first(core::size_of(number.dtype));
    return all_[number] = {make_attrs(number), Tensor::from_bytes(bytes, aval_of(number)).node().buffer};
  }
  void drop_unused() {
    std::erase_if(all_, [](const auto& each) { return each.second.buffer->has_one_owner(); });
    most_ = std::max(few, 2 * all_.size());
  }
  std::mutex mutex_;
  std::unordered_map<ConstantAttrs, Literal, Hash, Equal> all_;
  std::size_t most_ = few;
};

Literals& literals() {
  static auto* const all = new Literals;  // never destroyed: tensors of static lifetime may be made late
  return *all;
}

}  // namespace

Tensor literal(const ConstantAttrs& number) {
  static const OpInfo& op = op_named("constant");
  NodePtr node(new Node);
  node->op = &op;
  node->aval.dtype = number.dtype;
  node->aval.device = number.device;
  literals().lend(number, *node);
  return Tensor(std::move(node));
}

void register_constants(OpTable& table) {
  OpInfo row;
  row.name = "constant";
  row.formula = "a number";
  row.n_inputs = 0;
  row.dtypes = any_stored;
  row.infer = [](const InferArgs& args) { return aval_of(args.as<ConstantAttrs>()); };
  row.run = [](const RuleArgs& args) { return literal(args.as<ConstantAttrs>()); };
  row.derivative = no_derivative("it has no inputs");
  row.sample = [](Sampler& sampler) {
    const Tensor x = sampler.tensor({}, -2, 2);
    ConstantAttrs number{{}, x.dtype(), x.device()};
    std::ranges::copy(x.bytes(), number.bytes.begin());
    return Sample{{}, make_attrs(number)};
  };
  table.add(std::move(row));
}

}  // namespace lodestone::engine
