// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/transforms.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/batching.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/rules.hpp"

namespace lodestone::engine {
namespace {

void check_like(std::string_view what, const Tensors& given, const Tensors& like,
                const std::source_location& where) {
  bool fits = given.size() == like.size();
  for (std::size_t i = 0; fits && i < given.size(); ++i)
    fits =
        !given[i].is_valid() || (given[i].shape() == like[i].shape() && given[i].dtype() == like[i].dtype());
  if (fits) return;
  const auto list = [](const Tensors& tensors) {
    std::string text;
    for (const Tensor& each : tensors)
      text += (text.empty() ? "" : ", ") + (each.is_valid() ? each.aval().text() : std::string("none"));
    return text;
  };
  throw core::ShapeError(std::string(what) + "#wrong_tensors", "expected {}, got {} {}", list(like),
                         list(given), at_line(where));
}

/// Returns the real numbers that make up a tensor: [shape…] or, complex, [shape…, 2].
Tensor as_real(const Tensor& x) {
  if (!core::is_complex(x.dtype())) return x;
  const Tensor parts[] = {expand_dims(real(x), -1), expand_dims(imag(x), -1)};
  return concatenate(parts, -1);
}

Tensor as_complex(const Tensor& x) {
  return complex(squeeze(slice(x, -1, 0, 1), -1), squeeze(slice(x, -1, 1, 2), -1));
}

/// Returns one unit direction per element of x, as axis 0. shapes: [n, shape of x].
Tensor unit_directions(const Tensor& x) {
  const std::int64_t n = x.count();
  const Tensor diagonal = pad(ones({n, 1}, x.dtype(), x.device()), {0, 0},
                              {0, n});  // one row longer than square: shifted row by row
  return reshape(slice(reshape(diagonal, {n * (n + 1)}), 0, 0, n * n), x.shape().inserted(0, n));
}

}  // namespace

Linearized::Linearized(const Function& f, const Tensors& at, std::source_location where) {
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (!core::is_float(at[i].dtype()))
      throw core::InvalidArgument("linearize#not_floating_point",
                                  "expected floating-point inputs, got {} as input {} {}",
                                  at[i].aval().text(), i, at_line(where));
  }
  trace_ = std::make_shared<const Trace>(Trace::of(f, at, where));
}

Tensors Linearized::jvp(const Tensors& tangents, std::source_location where) const {
  check_like("jvp", tangents, trace_->inputs(), where);
  return tangents_or_zeros(trace_->push_forward(tangents), trace_->outputs());
}

Tensors Linearized::vjp(const Tensors& cotangents, std::source_location where) const {
  check_like("vjp", cotangents, trace_->outputs(), where);
  return tangents_or_zeros(trace_->pull_back(cotangents), trace_->inputs());
}

Linearized linearize(const Function& f, const Tensors& at, std::source_location where) {
  return {f, at, where};
}

ValueAndGradients value_and_grad(const Function& f, const Tensors& at, std::source_location where) {
  const Linearized linearized(f, at, where);
  if (linearized.value().size() != 1 || linearized.value()[0].count() != 1 ||
      !core::is_real_float(linearized.value()[0].dtype())) {
    throw core::ShapeError(
        "grad#not_one_real_number",
        "expected a function with one real number as its value, got {} outputs, the first {} {}",
        linearized.value().size(), linearized.value().empty() ? "none" : linearized.value()[0].aval().text(),
        at_line(where));
  }
  const Tensor& value = linearized.value()[0];
  return {value, linearized.vjp({ones_like(value)}, where)};
}

Function vmap(Function f, std::vector<bool> batched, std::source_location where) {
  return [f = std::move(f), batched = std::move(batched), where](const Tensors& inputs) -> Tensors {
    const std::vector<bool> which = batched.empty() ? std::vector<bool>(inputs.size(), true) : batched;
    if (which.size() != inputs.size())
      throw core::InvalidArgument("vmap#wrong_mark_count", "expected a mark for each of {} inputs, got {} {}",
                                  inputs.size(), which.size(), at_line(where));
    std::vector<Aval> avals;
    Dim size = -1;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      Aval aval = inputs[i].aval();
      if (which[i]) {
        if (aval.shape.rank() == 0 || (size >= 0 && aval.shape[0] != size))
          throw core::ShapeError(
              "vmap#unequal_extents",
              "expected an axis 0 of the same extent in every batched input, got {} as input {} {}",
              aval.text(), i, at_line(where));
        size = aval.shape[0];
        aval.shape = aval.shape.erased(0);
      }
      avals.push_back(aval);
    }
    if (size < 0)
      throw core::InvalidArgument("vmap#nothing_batched",
                                  "expected at least one batched input, but none is batched {}",
                                  at_line(where));
    return with_batches(Trace::without_values(f, avals, where), inputs, which, size);
  };
}

Tensor jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& at, JacobianMode mode,
                std::source_location where) {
  const bool complex_in = core::is_complex(at.dtype());
  const Function on_reals = [&](const Tensors& x) -> Tensors {
    return {as_real(f(complex_in ? as_complex(x[0]) : x[0]))};
  };
  const Tensor from = as_real(at);
  const Linearized linearized = linearize(on_reals, {from}, where);
  const Tensor& to = linearized.value()[0];
  const bool forward =
      mode == JacobianMode::forward || (mode == JacobianMode::automatic && from.count() <= to.count());
  Shape shape = to.shape();
  for (const Dim dim : from.shape()) shape.push_back(dim);
  if (forward) {
    const Tensor columns = vmap([&](const Tensors& v) { return linearized.jvp(v, where); }, {},
                                where)({unit_directions(from)})[0];
    return reshape(transpose(reshape(columns, {from.count(), to.count()})), shape);
  }
  const Tensor rows =
      vmap([&](const Tensors& w) { return linearized.vjp(w, where); }, {}, where)({unit_directions(to)})[0];
  return reshape(rows, shape);
}

Tensor hessian_product(const std::function<Tensor(const Tensor&)>& f, const Tensor& at,
                       const Tensor& direction, std::source_location where) {
  const Function gradient = [&](const Tensors& x) {
    return value_and_grad([&](const Tensors& y) -> Tensors { return {f(y[0])}; }, x, where).gradients;
  };
  return linearize(gradient, {at}, where).jvp({direction}, where)[0];
}

}  // namespace lodestone::engine
