// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae_decoder.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/transforms.hpp"

namespace lodestone::models {
namespace {

using namespace engine;
using Eigen::Index;
using Eigen::MatrixXd;

/// A column-major (rows, n) matrix is a row-major [n, rows] tensor.
Tensor tensor_of(const MatrixXd& columns) {
  return Tensor::from(std::span(columns.data(), static_cast<std::size_t>(columns.size())), {columns.cols(), columns.rows()});
}
MatrixXd columns_of(const Tensor& tensor) { return Eigen::Map<const MatrixXd>(tensor.data<double>().data(), tensor.dim(1), tensor.dim(0)); }

class VaeDecoder final : public inversion::Decoder {
 public:
  VaeDecoder(const TrainedVae& vae, std::string name) : name_(std::move(name)), net_(vae.net_in(DType::f64)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] Index n_codes() const override { return net_.options().n_codes; }
  [[nodiscard]] Index n_cells() const override { return net_.options().n_cells(); }

  [[nodiscard]] MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    if (codes.cols() == 0) return {n_cells(), 0};
    return finite("decode", columns_of(net_.decode(tensor_of(codes)).eval()));
  }

  [[nodiscard]] MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    const Index n = codes.cols();
    if (n == 0) return {n_cells(), 0};
    const auto of_one = [&](const Tensor& code) { return squeeze(net_.decode(expand_dims(code, 0)), 0); };
    const Tensor all = vmap([&](const Tensor& code) { return jacobian(of_one, code, JacobianMode::forward); })(tensor_of(codes));
    const Tensor by_column = transpose(all, Axes{0, 2, 1}).eval();  // [n, codes, cells], whose bytes are (cells, codes · n) by columns
    return finite("jacobians", Eigen::Map<const MatrixXd>(by_column.data<double>().data(), n_cells(), n_codes() * n));
  }

  [[nodiscard]] MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    check("cells", cells, n_cells());
    if (cells.cols() == 0) return {n_codes(), 0};
    return finite("encode", columns_of(net_.encode(tensor_of(cells)).mean.eval()));
  }

 private:
  void check(const char* what, const core::ConstMatrixRef& given, Index rows) const {
    if (given.rows() != rows)
      throw core::ShapeError("models::vae_decoder", "{}: expected {} {} per subdomain, got {}", name_, rows, what, given.rows());
    if (!given.allFinite()) throw core::SolverError("models::vae_decoder", "{}: expected finite {}, got a number that is not", name_, what);
  }
  [[nodiscard]] MatrixXd finite(const char* what, MatrixXd values) const {
    if (!values.allFinite()) throw core::SolverError("models::vae_decoder", "{}: {} gave a number that is not finite", name_, what);
    return values;
  }

  std::string name_;
  Vae net_;
};

}  // namespace

inversion::DecoderPtr vae_decoder(const TrainedVae& vae, std::string name) { return std::make_shared<VaeDecoder>(vae, std::move(name)); }

}  // namespace lodestone::models
