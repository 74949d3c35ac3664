// SPDX-License-Identifier: Apache-2.0
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/implicit_ops.hpp"

#include <Eigen/LU>

namespace lodestone::engine {
namespace {

using Matrix = Eigen::Matrix<std::complex<double>, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns a tensor [rows, cols] of any floating dtype as a matrix.
Matrix matrix_of(const Tensor& x) {
  const Tensor wide = reshape(cast(x, DType::c128), {-1, x.rank() > 0 ? x.shape().back() : 1});
  return Eigen::Map<const Matrix>(wide.data<std::complex<double>>().data(), wide.dim(0), wide.dim(1));
}
Tensor tensor_of(const Matrix& x, DType dtype) {
  const Tensor wide =
      Tensor::from(std::span(x.data(), static_cast<std::size_t>(x.size())), {x.rows(), x.cols()});
  return cast(core::is_complex(dtype) ? wide : real(wide), dtype);
}

class DenseFactors final : public ImplicitFactors {
 public:
  DenseFactors(const Matrix& a, DType dtype) : inverse_(a.inverse()), dtype_(dtype) {}
  Tensor solve(const Tensor& b) const override {
    return tensor_of(matrix_of(b) * inverse_.transpose(), dtype_);
  }
  Tensor solve_adjoint(const Tensor& b) const override {
    return tensor_of(matrix_of(b) * inverse_.conjugate(), dtype_);
  }

 private:
  Matrix inverse_;
  DType dtype_;
};

Solution newton(const Matrix& coupling, const Tensors& m, DType dtype) {
  const Matrix p = matrix_of(m[0]), q = matrix_of(m[1]);
  Eigen::VectorXcd u = Eigen::VectorXcd::Zero(coupling.rows());
  Matrix a;
  for (int step = 0; step < 30; ++step) {
    const Eigen::VectorXcd diagonal = p.row(0).transpose() + 0.2 * u;
    a = coupling;
    a.diagonal() += diagonal;
    const Eigen::VectorXcd residual =
        (a * u).array() - 0.1 * u.array().square() - q.row(0).transpose().array();
    u -= a.inverse() * residual;
  }
  return {reshape(tensor_of(u.transpose(), dtype), {coupling.rows()}),
          std::make_unique<DenseFactors>(a, dtype)};
}

AttrsPtr small_problem(Sampler& sampler, Dim n) {
  const Tensor c = sampler.tensor({n, n}, -0.5, 0.5).eval();
  const auto residual = [c](const Tensor& u, const Tensors& m) {
    return matmul(c, u) + m[0] * u + 0.1 * square(u) - m[1];
  };
  const auto solve = [coupling = matrix_of(c), dtype = c.dtype()](const Tensors& m) {
    return newton(coupling, m, dtype);
  };
  const auto problem =
      std::make_shared<const ImplicitProblem>(ImplicitProblem{"sample", {n}, c.dtype(), residual, solve});
  return make_attrs(ImplicitAttrs{problem, 0, sampler.chance(0.5) ? Side::adjoint : Side::itself});
}

Tensor solution(const Tensors& m, const AttrsPtr& attrs) {
  return record(op_named("implicit_solve"), {m[0], m[1]}, attrs, {});
}
Tensor value(const Tensor& h, const Tensors& m, const AttrsPtr& attrs) {
  return record(op_named("implicit_value"), {h, m[0], m[1]}, attrs, {});
}

}  // namespace

Sample sample_implicit_solve(Sampler& sampler) {
  const Dim n = sampler.integer(1, 4);
  Sample sample{{sampler.tensor({n}, 3.0, 4.0), sampler.tensor({n}, -1.0, 1.0)}, small_problem(sampler, n)};
  sample.finish = [attrs = sample.attrs](const Tensor& h) {
    const Shape m = attrs_as<ImplicitAttrs>(*attrs).problem->unknown;
    const Tensor unused = zeros(m, h.dtype());  // only the derivative of the value looks at the parameters
    return value(h, {unused, unused}, attrs);
  };
  return sample;
}

Sample sample_implicit_value(Sampler& sampler) {
  Sample sample = sample_implicit_solve(sampler);
  sample.finish = {};
  sample.prepare = [attrs = sample.attrs](const Tensors& m) -> Tensors {
    return {solution(m, attrs), m[0], m[1]};
  };
  return sample;
}

Sample sample_implicit_apply(Sampler& sampler) {
  Sample sample = sample_implicit_value(sampler);
  Shape right_hand_sides;
  for (Dim axis = sampler.integer(0, 2); axis > 0; --axis)
    right_hand_sides.push_back(sampler.chance(0.1) ? 0 : sampler.integer(1, 4));
  right_hand_sides.push_back(sample.inputs[0].count());
  sample.inputs.push_back(sampler.tensor(right_hand_sides, -1.0, 1.0));
  sample.prepare = [attrs = sample.attrs](const Tensors& in) -> Tensors {
    const Tensor h = solution(in, attrs);
    return {h, value(h, in, attrs), in[0], in[1], in[2]};
  };
  return sample;
}

}  // namespace lodestone::engine
