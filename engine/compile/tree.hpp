// SPDX-License-Identifier: Apache-2.0
// Compiled functions of more than lists of tensors: of numbers, vectors, maps, tuples and structs of them.
#pragma once

#include "engine/compile/compile.hpp"
#include "engine/graph/attrs.hpp"

#include <array>
#include <tuple>
#include <typeinfo>

namespace lodestone::engine {

/// An argument that decides on what is recorded: for another value the function is recorded again.
template <class T>
struct StaticArg {
  T value;
};
/// Returns such an argument, of which the function receives the value: a number, a text, an enumeration with
/// words, a dtype, a device or a list of integers.
template <class T>
[[nodiscard]] StaticArg<T> static_arg(T value) {
  return {std::move(value)};
}

namespace detail {

template <class T>
concept IsNumber = std::is_arithmetic_v<T> || std::is_same_v<T, std::complex<double>>;
template <class T>
concept IsMap = requires {
  typename T::mapped_type;
};
template <class T>
concept IsTuple = requires {
  std::tuple_size<T>::value;
};
template <class T>
concept HasFields = requires {
  T::fields();
};
template <class T>
concept HasText = requires(const T& value) {
  attr_text(value);
};

/// Calls visit with every tensor in a value, in their order. Its other parts are left alone.
template <class T, class Visit>
void for_each_tensor(T& value, const Visit& visit) {
  using Plain = std::remove_const_t<T>;
  const auto in_all = [&](auto&... part) { (for_each_tensor(part, visit), ...); };
  if constexpr (std::is_same_v<Plain, Tensor>) {
    visit(value);
  } else if constexpr (HasText<Plain>) {
  } else if constexpr (IsMap<Plain>) {
    for (auto& [_, part] : value) for_each_tensor(part, visit);
  } else if constexpr (IsTuple<Plain>) {
    std::apply(in_all, value);
  } else if constexpr (HasFields<Plain>) {
    std::apply([&](const auto&... field) { in_all(value.*field.member...); }, Plain::fields());
  } else {
    for (auto& part : value) for_each_tensor(part, visit);
  }
}

/// Makes of arguments what the function receives, and writes down all that decides on the recording beside
/// their tensors.
class TreeForm {
 public:
  [[nodiscard]] Tensor received(const Tensor& tensor) {
    text_ += '*';
    return tensor;
  }
  template <IsNumber T>
  [[nodiscard]] Tensor received(T number) {
    using Element = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, std::int64_t, T>;
    const std::array elements{static_cast<Element>(number)};
    return received(Tensor::from(std::span<const Element>(elements), {}));
  }
  template <class T>
  [[nodiscard]] T received(const StaticArg<T>& arg) {
    write(typeid(T).name() + attr_text(arg.value));
    return arg.value;
  }
  template <class T>
  [[nodiscard]] auto received(const std::vector<T>& list) {
    std::vector<decltype(received(list[0]))> result;
    text_ += '[';
    for (const T& each : list) result.push_back(received(each));
    text_ += ']';
    return result;
  }
  template <class T, class Order>
  [[nodiscard]] auto received(const std::map<std::string, T, Order>& map) {
    std::map<std::string, decltype(received(map.begin()->second)), Order> result;
    text_ += '{';
    for (const auto& [name, each] : map) {
      write(name);
      result.emplace(name, received(each));
    }
    text_ += '}';
    return result;
  }
  template <class... T>
  [[nodiscard]] auto received(const std::tuple<T...>& tuple) {
    text_ += '(';
    auto result = std::apply(
        [&](const T&... each) { return std::tuple<decltype(received(each))...>{received(each)...}; }, tuple);
    text_ += ')';
    return result;
  }
  template <class A, class B>
  [[nodiscard]] auto received(const std::pair<A, B>& pair) {
    auto [first, second] = received(std::tie(pair.first, pair.second));
    return std::pair(std::move(first), std::move(second));
  }
  /// Members of a struct that are neither tensors nor made of them decide on the recording.
  template <HasFields T>
  [[nodiscard]] T received(T value) {
    const auto receive = [&](auto& member) {
      if constexpr (HasText<std::remove_reference_t<decltype(member)>>) {
        write(attr_text(member));
      } else {
        member = received(member);
      }
    };
    std::apply([&](const auto&... field) { (receive(value.*field.member), ...); }, T::fields());
    return value;
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  void write(const std::string& part) { text_ += fmt::format("{}:{}", part.size(), part); }
  std::string text_;
};

}  // namespace detail

/// A function of trees of arguments with its plans; copies share them.
template <class F>
class CompiledOnTrees {
 public:
  CompiledOnTrees(F f, CompileOptions options, std::source_location where)
      : f_(std::move(f)), where_(where), compiled_(Compiled::on_trees(options, where)) {}

  /// Returns f of the arguments; tensors in the result are evaluated. errors and effects: as of `Compiled`.
  template <class... Args>
  auto operator()(const Args&... args) const {
    detail::TreeForm form;
    const auto arguments = form.received(std::tuple<const Args&...>(args...));
    using Result = std::remove_cvref_t<decltype(std::apply(f_, arguments))>;
    static_assert(!std::is_void_v<Result>, "give an empty Tensors where there is no result");
    TreeCall call{.f = {}, .form = form.take(), .result = {}};
    call.f = [&](const Tensors& tensors) {
      auto result = std::apply(f_, filled(arguments, tensors));
      Tensors outputs;
      detail::for_each_tensor(result, [&](Tensor& each) { outputs.push_back(std::exchange(each, {})); });
      call.result = std::make_shared<const Result>(std::move(result));
      return outputs;
    };
    Tensors inputs;
    detail::for_each_tensor(arguments, [&](const Tensor& each) { inputs.push_back(each); });
    const Tensors outputs = compiled_.call(inputs, call, where_);
    return filled(*static_cast<const Result*>(call.result.get()), outputs);
  }
  [[nodiscard]] CompileStats stats() const { return compiled_.stats(); }
  [[nodiscard]] std::string text(Stage stage = Stage::recorded) const { return compiled_.text(stage); }

 private:
  /// Returns a value with other tensors.
  template <class T>
  static T filled(T value, const Tensors& tensors) {
    std::size_t next = 0;
    detail::for_each_tensor(value, [&](Tensor& each) { each = tensors[next++]; });
    return value;
  }
  F f_;
  std::source_location where_;
  Compiled compiled_;
};

/// As `compile` of a function of tensors. Arguments are tensors, numbers, vectors, maps by name, pairs and
/// tuples of them, and structs with `fields()`; so is the result. A number is given to f as a scalar on the
/// default device, of i64, or of its own type where it has a fraction: one recording serves all
/// numbers. The numbers of elements of vectors, the names in maps, static arguments and members of structs
/// that are no tensors belong to the key. Numbers in a result that f makes on the host are those of the
/// recording. The parameters of f must have types.
template <class F>
requires(!std::is_convertible_v<F, Function>)
    [[nodiscard]] CompiledOnTrees<F> compile(F f, CompileOptions options = {},
                                             std::source_location where = std::source_location::current()) {
  return CompiledOnTrees<F>(std::move(f), options, where);
}

}  // namespace lodestone::engine
