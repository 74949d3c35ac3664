// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/optimizer.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/variable.hpp"

#include <cmath>

namespace lodestone::engine {
namespace {

/// |g|², of the dtype of g.
Tensor squared_size(const Tensor& g) {
  return core::is_complex(g.dtype()) ? cast(squared_modulus(g), g.dtype()) : square(g);
}

}  // namespace

Optimizer::Optimizer(const Stateful& net, Schedule learning_rate)
    : schedule_(std::move(learning_rate)),
      n_steps_(add_state("n_steps", whole(0))),
      rate_factor_(add_state("rate_factor", scalar(1.0, DType::f64))) {
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

void Optimizer::step(const Tensors& gradients) const {
  if (gradients.size() != trained_.size())
    throw core::ShapeError("engine::Optimizer#wrong_gradient_count",
                           "expected {} gradients, one per parameter, got {}", trained_.size(),
                           gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!(gradients[i].aval() == trained_[i].aval()))
      throw core::ShapeError("engine::Optimizer#wrong_gradient", "expected a gradient {} of \"{}\", got {}",
                             trained_[i].aval().text(), names_[i], gradients[i].aval().text());
  }
  const double rate = learning_rate();
  const std::int64_t n = n_steps() + 1;
  for (std::size_t i = 0; i < gradients.size(); ++i) trained_[i].assign(updated(i, gradients[i], rate, n));
  n_steps_.assign(whole(n));
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

Tensor Sgd::updated(std::size_t i, const Tensor& gradient, double learning_rate, std::int64_t) const {
  const Tensor p = trained()[i].value();
  Tensor g = options_.weight_decay == 0.0 ? gradient : gradient + options_.weight_decay * p;
  if (!momentum_.empty()) {
    const Tensor b = options_.momentum * momentum_[i].value() + g;
    momentum_[i].assign(b);
    g = options_.kind == Momentum::nesterov ? g + options_.momentum * b : b;
  }
  return p - learning_rate * g;
}

Adam::Adam(const Stateful& net, AdamOptions options)
    : Optimizer(net, options.learning_rate),
      options_(std::move(options)),
      first_moment_(state_per_parameter("first_moment")),
      second_moment_(state_per_parameter("second_moment")) {}

Tensor Adam::moved(const Tensor& p, std::size_t i, const Tensor& gradient, double learning_rate,
                   std::int64_t n_steps) const {
  const auto& [_, beta_1, beta_2, epsilon, weight_decay] = options_;
  const auto n = static_cast<double>(n_steps);
  const auto average = [](const Tensor& before, const Tensor& newest, double beta) {
    return core::is_complex(newest.dtype()) ? beta * before + (1.0 - beta) * newest
                                            : blend(before, newest, {beta, 1.0 - beta});
  };
  const Tensor m = average(first_moment_[i].value(), gradient, beta_1);
  const Tensor v = average(second_moment_[i].value(), squared_size(gradient), beta_2);
  first_moment_[i].assign(m);
  second_moment_[i].assign(v);
  const double rate = learning_rate / (1.0 - std::pow(beta_1, n)), scale = 1.0 / (1.0 - std::pow(beta_2, n));
  if (core::is_complex(p.dtype())) return p - rate * m / (sqrt(v * scale) + epsilon);
  return adam_step(p, m, v, {rate, scale, epsilon});
}

Tensor Adam::updated(std::size_t i, const Tensor& gradient, double learning_rate,
                     std::int64_t n_steps) const {
  const Tensor p = trained()[i].value();
  const Tensor g = options_.weight_decay == 0.0 ? gradient : gradient + options_.weight_decay * p;
  return moved(p, i, g, learning_rate, n_steps);
}

Tensor AdamW::updated(std::size_t i, const Tensor& gradient, double learning_rate,
                      std::int64_t n_steps) const {
  return moved(trained()[i].value() * (1.0 - learning_rate * options_.weight_decay), i, gradient,
               learning_rate, n_steps);
}

}  // namespace lodestone::engine
