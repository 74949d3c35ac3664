// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/mt_vae.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/variables.hpp"

#include <cmath>

namespace lodestone::bench {
namespace {

using namespace engine;

constexpr Dim batch = 64, layers = 32, codes = 16;
constexpr double range = 2.0;  // decades

}  // namespace

Tensor normals(const Shape& shape, std::uint64_t stream, DType dtype) {
  const core::Philox random(11, stream);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = random.normal(i);
  return cast(Tensor::from(values, shape), dtype).eval();
}

MtVaeStep::MtVaeStep(DType dtype) : MtVaeStep(InitialValues(7, dtype)) {}

MtVaeStep::MtVaeStep(InitialValues initial)
    : net_({}, initial),
      loss_({}, std::vector<double>(layers, 1.0), range, initial.dtype()),
      adam_(net_, {.learning_rate = 8e-4}),
      profiles_((3.0 + 0.5 * normals({batch, layers}, 0, initial.dtype())).eval()),
      noise_(normals({batch, codes}, 1, initial.dtype())) {}

Tensor MtVaeStep::record(double most) const {
  const ValueAndGradients at =
      value_and_grad([&] { return loss_(net_, profiles_, noise_).loss; }, net_.parameters());
  if (std::isfinite(most) && cast(at.value, DType::f64).item<double>() > most)
    throw core::SolverError("bench::MtVaeStep#diverged", "expected a loss below {}", most);
  adam_.step(at.gradients);
  return cast(at.value, DType::f64);
}

Function MtVaeStep::step() const {
  return [this](const Tensors&) -> Tensors { return {record()}; };
}

Function MtVaeStep::step_that_reads() const {
  return [this](const Tensors&) -> Tensors { return {record(1e6)}; };
}

Compiled MtVaeStep::compiled(CompileOptions options) const {
  options.breaks = Breaks::refused;
  return compile(step(), options);
}

double MtVaeStep::run() const {
  Tensors results{record()};
  for (const Stateful* each : {static_cast<const Stateful*>(&net_), static_cast<const Stateful*>(&adam_)}) {
    for (const NamedVariable& named : each->variables()) results.push_back(named.variable.value());
  }
  eval(results);
  return results[0].item<double>();
}

}  // namespace lodestone::bench
