// SPDX-License-Identifier: Apache-2.0
#include "inversion/method.hpp"

#include <utility>

namespace lodestone::inversion {

StopRules stop_rules(const Method& method) {
  return std::visit([](const auto& options) -> StopRules { return options.stop; }, method);
}

Method with_price(Method method, double jacobian_products) {
  if (auto* gauss_newton = std::get_if<optimize::GaussNewtonOptions>(&method))
    gauss_newton->jacobian_products = jacobian_products;
  else if (auto* both = std::get_if<AlternatingOptions>(&method))
    both->polish.jacobian_products = jacobian_products;
  return method;
}

Method before_another(Method method) {
  if (auto* gauss_newton = std::get_if<optimize::GaussNewtonOptions>(&method)) {
    if (auto* occam = std::get_if<optimize::Occam>(&gauss_newton->lambda)) occam->raise_target = false;
  }
  return method;
}

Method for_last_steps(Method method, const optimize::InversionSummary& iterated) {
  constexpr int few = 5, few_of_descents = 10;
  method = before_another(std::move(method));  // what the iterations reached, meshes must not raise
  std::visit([&](auto& options) { options.stop.target_rms = iterated.target_rms; }, method);
  if (auto* gauss_newton = std::get_if<optimize::GaussNewtonOptions>(&method)) {
    gauss_newton->stop.max_iterations = few;
    gauss_newton->lambda_start = iterated.lambda;
  } else if (auto* descent = std::get_if<optimize::DescentOptions>(&method)) {
    descent->stop.max_iterations = few_of_descents;
    descent->lambda_start = iterated.lambda;
  } else if (auto* both = std::get_if<AlternatingOptions>(&method)) {
    both->stop.max_iterations = few;
    both->polish.lambda_start = iterated.lambda;
  }
  return method;
}

std::unique_ptr<optimize::Optimizer> make_optimizer(MPI_Comm comm, const Method& method) {
  if (const auto* both = std::get_if<AlternatingOptions>(&method)) {
    optimize::GaussNewtonOptions polish = both->polish;
    polish.stop = both->stop;
    return std::make_unique<optimize::GaussNewton>(comm, polish);
  }
  if (const auto* options = std::get_if<optimize::GaussNewtonOptions>(&method))
    return std::make_unique<optimize::GaussNewton>(comm, *options);
  return std::make_unique<optimize::Descent>(comm, std::get<optimize::DescentOptions>(method));
}

std::unique_ptr<optimize::Optimizer> make_alternating(MPI_Comm comm, const Method& method,
                                                      prior::CodedRoughness codes,
                                                      prior::EncodeOptions encode) {
  const auto& both = std::get<AlternatingOptions>(method);
  optimize::AlternatingOptions options = both.pairs;
  options.stop = both.stop;
  options.encode = encode;
  options.space = both.polish.space;
  options.inner = both.polish.inner;
  options.jacobian_products = both.polish.jacobian_products;
  options.jacobian_bytes = both.polish.jacobian_bytes;
  return std::make_unique<optimize::Alternating>(comm, options, std::move(codes));
}

}  // namespace lodestone::inversion
