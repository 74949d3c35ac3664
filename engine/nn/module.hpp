// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/stateful.hpp"

#include <functional>
#include <optional>

namespace lodestone::engine {

/// The mode of a module. In training dropout drops, and batch norms use and update the statistics of the
/// batch.
enum class Mode : std::uint8_t { training, evaluation };

/// A piece of a network: a function of tensors with variables. Copies share variables and mode, so that
/// modules are passed and kept by value.
///
/// A module of one's own derives from it, makes its variables with `add_parameter` and `add_state` and its
/// parts with `add`, and has an `operator()`:
///
///     class Encoder : public Module {
///      public:
///       explicit Encoder(InitialValues& initial) : dense_(add("dense", Linear(256, 16, initial))) {}
///       Tensor operator()(const Tensor& x) const { return tanh(dense_(x)); }
///      private:
///       Linear dense_;
///     };
class Module : public Stateful {
 public:
  [[nodiscard]] Mode mode() const;
  /// Sets the mode of this module and all its parts; new modules are in training.
  void set_mode(Mode mode) const;

 protected:
  Module() = default;
};

/// While one lives, a module and its parts are in this mode; afterwards each is in its own again.
class InMode {
 public:
  InMode(const Module& module, Mode mode);
  ~InMode();
  InMode(const InMode&) = delete;
  InMode& operator=(const InMode&) = delete;

 private:
  std::vector<std::pair<std::shared_ptr<Stateful::Members>, Mode>> before_;
};

/// Any module or function from one tensor to one: what networks are put together from.
class Layer : public Module {
 public:
  template <class F>
  requires((std::invocable<const F&, const Tensor&> ||
            std::invocable<const F&, const Located&>)&&!std::derived_from<F, Layer>)
      Layer(F function)  // NOLINT(google-explicit-constructor): a module is a layer
      : Module(module_of(function)), call_([f = std::move(function)](const Located& x) -> Tensor {
          if constexpr (std::invocable<const F&, const Located&>) {
            return f(x);
          } else {
            return f(x.tensor);
          }
        }) {}
  [[nodiscard]] Tensor operator()(const Located& x) const { return call_(x); }

 private:
  struct Plain : Module {};
  template <class F>
  static Module module_of(const F& function) {
    if constexpr (std::derived_from<F, Module>) return function;
    return Plain();
  }
  std::function<Tensor(const Located&)> call_;  ///< keeps the line of the call
};

/// Layers one after the other; their variables are named by their place, counted from 0: "2.weight".
class Sequential : public Module {
 public:
  Sequential(std::initializer_list<Layer> layers) : Sequential(std::vector<Layer>(layers)) {}
  explicit Sequential(std::vector<Layer> layers);
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  std::vector<Layer> layers_;
};

/// x + inner(x), or shortcut(x) + inner(x); variables are named "inner.…" and "shortcut.…".
/// source: He et al. 2016, doi:10.1109/CVPR.2016.90
class Residual : public Module {
 public:
  explicit Residual(const Layer& inner);
  Residual(const Layer& inner, const Layer& shortcut);
  [[nodiscard]] Tensor operator()(const Located& x) const;

 private:
  Layer inner_;
  std::optional<Layer> shortcut_;
};

}  // namespace lodestone::engine
