// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/optimizer.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/feed.hpp"
#include "engine/record/state_scope.hpp"
#include "engine/transform/control.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace lodestone::engine {
namespace {

/// Returns |g|², of the dtype of g.
Tensor squared_size(const Tensor& g) {
  return core::is_complex(g.dtype()) ? cast(squared_modulus(g), g.dtype()) : square(g);
}

/// Returns how many steps a count is ahead of what its cell holds when the function that is recorded runs;
/// nothing where that is not known. `step` records each as the addition of a one.
std::optional<std::int64_t> steps_ahead(const Tensor& count) {
  static const OpInfo& add = op_named("add");
  std::int64_t n = 0;
  const Node* node = &count.node();
  for (; node->op == &add && !node->inputs[1]->is_abstract; node = node->inputs[0].get())
    n += Tensor(node->inputs[1]).item<std::int64_t>();
  if (node->op != nullptr || !FeedScope::is_open() || StateScope::is_nested()) return std::nullopt;
  return n;
}

}  // namespace

/// The numbers of a step as scalars like the parameters they are for, made once per dtype and device.
class Optimizer::Scalars {
 public:
  Scalars(std::vector<std::function<double()>> given, std::source_location where)
      : numbers_(std::move(given)), where_(where) {}
  [[nodiscard]] const Tensors& like(const Aval& parameter) {
    const auto found = std::ranges::find_if(made_, [&](const Tensors& each) {
      return each[0].dtype() == parameter.dtype && each[0].device() == parameter.device;
    });
    if (found != made_.end()) return *found;
    Tensors& all = made_.emplace_back();
    for (const auto& number : numbers_)
      all.push_back(fed([number] { return Number(number()); }, parameter.dtype, parameter.device, where_));
    return all;
  }

 private:
  std::vector<std::function<double()>> numbers_;
  std::source_location where_;
  std::vector<Tensors> made_;
};

Optimizer::Optimizer(const Stateful& net, Schedule learning_rate, std::vector<StepNumber> step_numbers)
    : schedule_(std::move(learning_rate)),
      numbers_(std::move(step_numbers)),
      n_steps_(add_state("n_steps", whole(0))),
      rate_factor_(add_state("rate_factor", scalar(1.0, DType::f64))) {
  if (numbers_.empty()) numbers_.emplace_back([](double rate, std::int64_t) { return rate; });
  for (const NamedVariable& each : net.variables()) {
    if (each.variable.role() != Variable::Role::parameter) continue;
    names_.push_back(each.name);
    trained_.push_back(each.variable);
  }
  if (trained_.empty())
    throw core::InvalidArgument("engine::Optimizer#no_parameters",
                                "expected a network with parameters, got one without");
}

Variables Optimizer::state_per_parameter(const std::string& name) const {
  struct PerParameter : Stateful {
    Variable make(const std::string& path, const Tensor& like) const {
      return add_state(path, zeros_like(like));
    }
  };
  const PerParameter all;
  Variables result;
  for (std::size_t i = 0; i < trained_.size(); ++i)
    result.push_back(all.make(names_[i], trained_[i].value()));
  add(name, all);
  return result;
}

/// Returns functions that give the numbers of the next step: those of a recorded one when it runs.
std::vector<std::function<double()>> Optimizer::numbers_of_step(const std::source_location& where) const {
  const Tensor count = n_steps_.value();
  std::function<std::int64_t()> n_made = [n = count.node().is_abstract ? 0 : n_steps()] { return n; };
  if (count.node().is_abstract) {
    const std::optional<std::int64_t> ahead = steps_ahead(count);
    if (!ahead)
      throw core::InvalidArgument("engine::Optimizer#unknown_step",
                                  "expected a step whose number is known before it runs, got one inside of a "
                                  "checkpoint, a branch, a loop or a transform without values; take it "
                                  "outside of it {}",
                                  at_line(where));
    n_made = [cell = n_steps_, ahead = *ahead] { return count_in(cell) + ahead; };
  }
  std::vector<std::function<double()>> result;
  for (const StepNumber& each : numbers_)
    result.emplace_back([each, n_made, schedule = schedule_, factor = rate_factor_] {
      const std::int64_t n = n_made();
      return each(schedule(n) * factor.value().item<double>(), n + 1);
    });
  return result;
}

void Optimizer::check(const Tensors& gradients) const {
  if (gradients.size() != trained_.size())
    throw core::ShapeError("engine::Optimizer#wrong_gradient_count",
                           "expected {} gradients, one per parameter, got {}", trained_.size(),
                           gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!(gradients[i].aval() == trained_[i].aval()))
      throw core::ShapeError("engine::Optimizer#wrong_gradient", "expected a gradient {} of \"{}\", got {}",
                             trained_[i].aval().text(), names_[i], gradients[i].aval().text());
  }
}

void Optimizer::assign_updated(const Tensors& gradients, Scalars& scalars) const {
  for (std::size_t i = 0; i < gradients.size(); ++i)
    trained_[i].assign(updated(i, gradients[i], scalars.like(trained_[i].aval())));
}

void Optimizer::step(const Tensors& gradients, std::source_location where) const {
  check(gradients);
  Scalars scalars(numbers_of_step(where), where);
  assign_updated(gradients, scalars);
  n_steps_.assign(n_steps_.value() + 1);
}

void Optimizer::step_if(const Tensor& predicate, const Tensors& gradients, std::source_location where) const {
  check(gradients);
  Scalars scalars(numbers_of_step(where), where);
  for (const Variable& each : trained_)  // what the host gives is given whether the step is made or not
    static_cast<void>(scalars.like(each.aval()));
  const Function make_it = [&](const Tensors& in) -> Tensors {
    assign_updated(in, scalars);
    return {};
  };
  static_cast<void>(cond(
      {predicate, where}, make_it, [](const Tensors&) -> Tensors { return {}; }, gradients));
  const Tensor n_made = cast(copy_to(predicate, n_steps_.aval().device), n_steps_.aval().dtype);
  n_steps_.assign(n_steps_.value() + reshape(n_made, {}));
}

double Optimizer::learning_rate() const { return schedule_(n_steps()) * rate_factor_.value().item<double>(); }

void Optimizer::scale_learning_rate(double factor) const {
  rate_factor_.assign(scalar(factor * rate_factor_.value().item<double>(), DType::f64));
}

std::int64_t Optimizer::n_steps() const { return n_steps_.value().item<std::int64_t>(); }

Sgd::Sgd(const Stateful& net, SgdOptions options)
    : Optimizer(net, options.learning_rate), options_(std::move(options)) {
  if (options_.momentum != 0.0) momentum_ = state_per_parameter("momentum");
}

Tensor Sgd::updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const {
  const Tensor& learning_rate = scalars[0];
  const Tensor p = trained()[i].value();
  Tensor g = options_.weight_decay == 0.0 ? gradient : gradient + options_.weight_decay * p;
  if (!momentum_.empty()) {
    const Tensor b = options_.momentum * momentum_[i].value() + g;
    momentum_[i].assign(b);
    g = options_.kind == Momentum::nesterov ? g + options_.momentum * b : b;
  }
  return p - learning_rate * g;
}

namespace {

/// Returns rate and scale of `adam_step`, and what is left of a parameter by the decay of AdamW.
std::vector<std::function<double(double, std::int64_t)>> numbers_of(const AdamOptions& options) {
  const auto bias = [](double beta, std::int64_t n) { return 1.0 - std::pow(beta, static_cast<double>(n)); };
  return {[=, beta = options.beta_1](double rate, std::int64_t n) { return rate / bias(beta, n); },
          [=, beta = options.beta_2](double, std::int64_t n) { return 1.0 / bias(beta, n); },
          [decay = options.weight_decay](double rate, std::int64_t) { return 1.0 - rate * decay; }};
}

}  // namespace

Adam::Adam(const Stateful& net, AdamOptions options)
    : Optimizer(net, options.learning_rate, numbers_of(options)),
      options_(std::move(options)),
      first_moment_(state_per_parameter("first_moment")),
      second_moment_(state_per_parameter("second_moment")) {}

Tensor Adam::moved(const Tensor& p, std::size_t i, const Tensor& gradient, const Tensors& scalars) const {
  const Tensor &rate = scalars[0], &scale = scalars[1];
  const auto average = [](const Tensor& before, const Tensor& newest, double beta) {
    return core::is_complex(newest.dtype()) ? beta * before + (1.0 - beta) * newest
                                            : blend(before, newest, {beta, 1.0 - beta});
  };
  const Tensor m = average(first_moment_[i].value(), gradient, options_.beta_1);
  const Tensor v = average(second_moment_[i].value(), squared_size(gradient), options_.beta_2);
  first_moment_[i].assign(m);
  second_moment_[i].assign(v);
  if (core::is_complex(p.dtype())) return p - rate * m / (sqrt(v * scale) + options_.epsilon);
  return adam_step(p, m, v, {rate, scale, options_.epsilon});
}

Tensor Adam::updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const {
  const Tensor p = trained()[i].value();
  const Tensor g = options_.weight_decay == 0.0 ? gradient : gradient + options_.weight_decay * p;
  return moved(p, i, g, scalars);
}

Tensor AdamW::updated(std::size_t i, const Tensor& gradient, const Tensors& scalars) const {
  return moved(trained()[i].value() * scalars[2], i, gradient, scalars);
}

}  // namespace lodestone::engine
