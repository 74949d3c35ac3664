// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/nn/stateful.hpp"
#include "engine/optim/schedule.hpp"

namespace lodestone::engine {

/// Changes parameters along their gradients. All it remembers is state: the number of steps ("n_steps"), a
/// factor on the learning rate ("rate_factor") and what the method keeps per parameter
/// ("momentum.encoder.0.weight").
///
/// Works in compiled functions: the numbers of a step are given by the host before every run, so that one
/// recording serves all steps.
///
/// A method of one's own derives from it, makes its state in the constructor and overrides `updated`, which
/// is called when a step is recorded: what changes from step to step is state, or a number of the step.
class Optimizer : public Stateful {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  /// Makes one step: records the new values of parameters and state. They are evaluated when they are used,
  /// best all at once: `eval(values_of(…))`. errors: ShapeError when the gradients are not those of the
  /// parameters in their order; InvalidArgument inside of a checkpoint, a branch or a loop, where the host
  /// cannot know the number of the step.
  void step(const Tensors& gradients, std::source_location where = std::source_location::current()) const;
  /// Makes a step where the predicate, one boolean, is true; else parameters and state stay. errors: as those
  /// of `step`.
  void step_if(const Tensor& predicate, const Tensors& gradients,
               std::source_location where = std::source_location::current()) const;
  /// Returns the learning rate of the next step: schedule × factor.
  [[nodiscard]] double learning_rate() const;
  /// Multiplies the learning rate from here on, for callers who watch the training.
  void scale_learning_rate(double factor) const;
  [[nodiscard]] std::int64_t n_steps() const;
  /// Returns the variables that the optimizer changes, in the order of the gradients.
  [[nodiscard]] const Variables& trained() const { return trained_; }

 protected:
  /// A number that all parameters share in a step, by the learning rate and the count of this step (from 1).
  using StepNumber = std::function<double(double learning_rate, std::int64_t n_steps)>;
  /// Takes the parameters of the network. `step_numbers`: what a step is made with; the learning rate by
  /// itself if there are none. errors: InvalidArgument when there is no parameter.
  Optimizer(const Stateful& net, Schedule learning_rate, std::vector<StepNumber> step_numbers = {});
  /// Makes a variable of zeros beside each parameter.
  [[nodiscard]] Variables state_per_parameter(const std::string& name) const;
  /// Returns the new value of parameter i and assigns the method's own state. shapes: `scalars`, the numbers
  /// of the step in their order, of the parameter's dtype.
  [[nodiscard]] virtual Tensor updated(std::size_t i, const Tensor& gradient,
                                       const Tensors& scalars) const = 0;

 private:
  class Scalars;
  void check(const Tensors& gradients) const;
  void assign_updated(const Tensors& gradients, Scalars& scalars) const;
  [[nodiscard]] std::vector<std::function<double()>> numbers_of_step(const std::source_location& where) const;
  std::vector<std::string> names_;
  Variables trained_;
  Schedule schedule_;
  std::vector<StepNumber> numbers_;
  Variable n_steps_, rate_factor_;
};

enum class Momentum : std::uint8_t { classical, nesterov };
struct SgdOptions {
  Schedule learning_rate = 1e-2;
  double momentum = 0.0;  ///< μ
  Momentum kind = Momentum::classical;
  double weight_decay = 0.0;  ///< λ: λ p is added to the gradient of p
};
/// Gradient descent: b ← μ b + g, p ← p − η b, or p − η (g + μ b) after Nesterov. source: Sutskever et al.
/// 2013, proceedings.mlr.press/v28/sutskever13
class Sgd final : public Optimizer {
 public:
  explicit Sgd(const Stateful& net, SgdOptions options = {});

 private:
  [[nodiscard]] Tensor updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const override;
  SgdOptions options_;
  Variables momentum_;
};

struct AdamOptions {
  Schedule learning_rate = 1e-3;
  double beta_1 = 0.9, beta_2 = 0.999;  ///< shares of the first and second moments kept each step
  double epsilon = 1e-8;                ///< added to the square root of the second moment
  double weight_decay =
      0.0;  ///< λ: λ p is added to the gradient of p (Adam), p shrinks by η λ by itself (AdamW)
};
/// Adaptive moments; of complex parameters the second moment is that of the modulus. source: Kingma & Ba
/// 2015, arXiv:1412.6980, algorithm 1
class Adam : public Optimizer {
 public:
  explicit Adam(const Stateful& net, AdamOptions options = {});

 protected:
  [[nodiscard]] Tensor updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const override;
  /// Returns the step without weight decay, from p.
  [[nodiscard]] Tensor moved(const Tensor& p, std::size_t i, const Tensor& gradient,
                             const Tensors& scalars) const;
  AdamOptions options_;
  Variables first_moment_, second_moment_;
};

/// Adam whose weight decay does not pass through the moments. source: Loshchilov & Hutter 2019,
/// arXiv:1711.05101, algorithm 2
class AdamW final : public Adam {
 public:
  explicit AdamW(const Stateful& net, AdamOptions options = {.weight_decay = 1e-2})
      : Adam(net, std::move(options)) {}

 private:
  [[nodiscard]] Tensor updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const override;
};

}  // namespace lodestone::engine
