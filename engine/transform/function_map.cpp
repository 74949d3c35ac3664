// SPDX-License-Identifier: Apache-2.0
#include "engine/transform/function_map.hpp"

#include "engine/core/error.hpp"
#include "engine/transform/transforms.hpp"

namespace lodestone::engine {
namespace {

using core::ConstMatrixRef;
using core::ConstVectorRef;

Tensor vector_of(const ConstVectorRef& x) {
  return Tensor::from(std::span(x.data(), static_cast<std::size_t>(x.size())), {x.size()});
}

Eigen::VectorXd elements(const Tensor& x) {
  return Eigen::Map<const Eigen::VectorXd>(x.data<double>().data(), x.count());
}

class FunctionLinearization final : public core::Linearization {
 public:
  FunctionLinearization(Linearized at, Eigen::Index n_in, std::source_location where)
      : Linearization(n_in, elements(at.value()[0])), at_(std::move(at)), where_(where) {}

 private:
  /// Columns are the items of a batch: the same bytes as rows of a tensor.
  template <class Product>
  [[nodiscard]] Eigen::MatrixXd batch(const ConstMatrixRef& directions, Eigen::Index n_rows,
                                      Product product) const {
    if (directions.size() == 0 || n_rows == 0) return Eigen::MatrixXd::Zero(n_rows, directions.cols());
    const Eigen::MatrixXd columns = directions;
    const Tensor rows = Tensor::from(std::span(columns.data(), static_cast<std::size_t>(columns.size())),
                                     {columns.cols(), columns.rows()});
    const Tensor result = vmap(Function(product), {}, where_)({rows})[0];
    return Eigen::Map<const Eigen::MatrixXd>(result.data<double>().data(), n_rows, directions.cols());
  }
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& v) const override {
    return batch(v, size_out(), [&](const Tensors& each) { return at_.jvp(each, where_); });
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& w) const override {
    return batch(w, size_in(), [&](const Tensors& each) { return at_.vjp(each, where_); });
  }
  Linearized at_;
  std::source_location where_;
};

class FunctionMap final : public core::DifferentiableMap {
 public:
  FunctionMap(std::function<Tensor(const Tensor&)> f, FunctionMapOptions options, std::source_location where)
      : f_(std::move(f)), options_(std::move(options)), where_(where) {
    const Aval in{{options_.n_in}, DType::f64};
    const Aval out = Trace::without_values([&](const Tensors& x) -> Tensors { return {f_(x[0])}; },
                                           std::span(&in, 1), where)
                         .outputs()[0]
                         .aval();
    if (out.dtype != DType::f64 || out.shape.rank() != 1)
      throw core::ShapeError("function_map#wrong_outputs", "expected f64[n] from \"{}\", got {} {}",
                             options_.name, out.text(), at_line(where));
    n_out_ = out.shape[0];
  }
  Eigen::Index size_in() const override { return options_.n_in; }
  Eigen::Index size_out() const override { return n_out_; }
  std::string name() const override { return options_.name; }
  int communicator_id() const override { return options_.communicator_id; }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return elements(f_(vector_of(x))); }
  std::unique_ptr<core::Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<FunctionLinearization>(
        engine::linearize([&](const Tensors& at) -> Tensors { return {f_(at[0])}; }, {vector_of(x)}, where_),
        size_in(), where_);
  }
  std::function<Tensor(const Tensor&)> f_;
  FunctionMapOptions options_;
  std::source_location where_;
  Eigen::Index n_out_ = 0;
};

}  // namespace

core::MapPtr function_map(std::function<Tensor(const Tensor&)> f, FunctionMapOptions options,
                          std::source_location where) {
  if (!f || options.n_in < 0)
    throw core::InvalidArgument("function_map#no_function",
                                "expected a function and its number of unknowns for \"{}\" {}", options.name,
                                at_line(where));
  return std::make_shared<FunctionMap>(std::move(f), std::move(options), where);
}

}  // namespace lodestone::engine
