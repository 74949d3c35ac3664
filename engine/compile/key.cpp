// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/key.hpp"

#include "engine/graph/scratch.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

Strides strides_of(const Tensor& tensor) {
  return tensor.aval().kind == Kind::array ? tensor.node().look.strides : Strides();
}

template <class T>
std::string changed(std::string_view what, const T& before, const T& now) {
  return fmt::format("{} was {}, is {}", what, before, now);
}

/// Returns "extent of axis 0 was 64, is 17"; nothing for equal ones.
std::string difference_of(const Aval& before, const Aval& now) {
  if (before.kind != now.kind) return changed("it", before.text(), now.text());
  if (before.dtype != now.dtype)
    return changed("dtype", core::name_of(before.dtype), core::name_of(now.dtype));
  if (before.shape.rank() != now.shape.rank())
    return changed("number of axes", before.shape.rank(), now.shape.rank());
  for (int axis = 0; axis < now.shape.rank(); ++axis) {
    if (before.shape[axis] != now.shape[axis])
      return changed(fmt::format("extent of axis {}", axis), before.shape[axis], now.shape[axis]);
  }
  if (!(before.device == now.device)) return changed("device", before.device.text(), now.device.text());
  return {};
}

}  // namespace

Key Key::of(std::span<const Tensor> inputs, std::size_t n_arguments, std::string form,
            std::vector<HostChoice> choices) {
  Key key;
  for (const Tensor& each : inputs) key.inputs.push_back({each.aval(), strides_of(each)});
  key.n_arguments = n_arguments;
  key.form = std::move(form);
  key.n_threads = Scratch::threads_of_call();
  key.choices = std::move(choices);
  return key;
}

bool Key::fits_choices() const {
  return std::ranges::all_of(choices, [](const HostChoice& each) { return each.now() == each.then; });
}

bool Key::fits_process() const { return n_threads == Scratch::threads_of_call() && fits_choices(); }

bool Key::fits(std::span<const Tensor> some, std::size_t first) const {
  for (std::size_t i = 0; i < some.size(); ++i) {
    const Input& input = inputs[first + i];
    const Node& node = some[i].node();
    if (!(node.aval == input.aval)) return false;
    if (node.aval.kind == Kind::array && !same_steps(node.aval.shape, node.look.strides, input.strides))
      return false;
  }
  return true;
}

std::vector<Strides> Key::strides() const {
  std::vector<Strides> result;
  for (const Input& each : inputs) result.push_back(each.strides);
  return result;
}

std::optional<Recompile> Key::difference(const Key& now, const std::source_location& where) const {
  if (form != now.form)
    return Recompile{Cause::form, changed("form of the arguments", form, now.form), where};
  if (n_arguments != now.n_arguments)
    return Recompile{Cause::inputs, changed("number of inputs", n_arguments, now.n_arguments), where};
  const std::size_t n = std::min(inputs.size(), now.inputs.size());
  const auto name = [&](std::size_t i) {
    return i < n_arguments ? fmt::format("input {}", i) : fmt::format("cell {}", i - n_arguments);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const std::string text = difference_of(inputs[i].aval, now.inputs[i].aval);
    if (!text.empty()) return Recompile{Cause::inputs, fmt::format("{}: {}", name(i), text), where};
  }
  for (std::size_t i = 0; i < n; ++i) {
    const Strides &before = inputs[i].strides, &after = now.inputs[i].strides;
    if (!same_steps(now.inputs[i].aval.shape, before, after))
      return Recompile{Cause::strides,
                       fmt::format("{}: {}", name(i), changed("strides", before.text(), after.text())),
                       where};
  }
  if (n_threads != now.n_threads)
    return Recompile{Cause::threads, changed("number of threads", n_threads, now.n_threads), where};
  if (!fits_choices()) return Recompile{Cause::host_state, "the mode of a module has changed", where};
  return std::nullopt;
}

}  // namespace lodestone::engine
