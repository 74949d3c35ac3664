// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/network_decoder.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/function_map.hpp"
#include "engine/transform/transforms.hpp"

#include <utility>

namespace lodestone::inversion::prior {
namespace {

using namespace engine;
using Eigen::Index;
using Eigen::MatrixXd;

/// A column-major (rows, n) matrix is a row-major [n, rows] tensor.
Tensor tensor_of(const MatrixXd& columns) {
  return Tensor::from(std::span(columns.data(), static_cast<std::size_t>(columns.size())),
                      {columns.cols(), columns.rows()});
}
MatrixXd columns_of(const Tensor& tensor) {
  return Eigen::Map<const MatrixXd>(tensor.data<double>().data(), tensor.dim(1), tensor.dim(0));
}

class NetworkDecoder final : public Decoder {
 public:
  NetworkDecoder(NetworkDecoderOptions options, Layer decode, std::optional<Layer> encode)
      : options_(std::move(options)), decode_(std::move(decode)), encode_(std::move(encode)) {
    if (n_codes() < 1 || n_cells() < 1)
      throw core::InvalidArgument("inversion::network_decoder#no_code_or_cell",
                                  "{}: expected at least one code and one cell, got {} and {}", options_.name,
                                  n_codes(), n_cells());
    check_layer("a decoder", decode_, n_codes(), n_cells());
    if (encode_) check_layer("an encoder", *encode_, n_cells(), n_codes());
  }

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] Index n_codes() const override { return options_.n_codes; }
  [[nodiscard]] Index n_cells() const override { return options_.n_cells; }

  [[nodiscard]] MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    if (codes.cols() == 0) return {n_cells(), 0};
    return finite("decode", columns_of(called(decode_, tensor_of(codes)).eval()));
  }

  [[nodiscard]] MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    const Index n = codes.cols();
    if (n == 0) return {n_cells(), 0};
    const auto of_one = [&](const Tensor& code) { return squeeze(called(decode_, expand_dims(code, 0)), 0); };
    const Tensor all = vmap(
        [&](const Tensor& code) { return jacobian(of_one, code, JacobianMode::forward); })(tensor_of(codes));
    const Tensor by_column = transpose(all, Axes{0, 2, 1})
                                 .eval();  // [n, codes, cells], whose bytes are (cells, codes · n) by columns
    return finite("jacobians",
                  Eigen::Map<const MatrixXd>(by_column.data<double>().data(), n_cells(), n_codes() * n));
  }

  [[nodiscard]] MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    check("cells", cells, n_cells());
    if (cells.cols() == 0 || !encode_) return MatrixXd::Zero(n_codes(), cells.cols());
    return finite("encode", columns_of(called(*encode_, tensor_of(cells)).eval()));
  }

 private:
  [[nodiscard]] static Tensor called(const Layer& layer, const Tensor& x) {
    const InMode evaluation(layer, Mode::evaluation);
    return layer(x);
  }
  /// Two items, so that a layer which forgets the batch is found out.
  void check_layer(const char* what, const Layer& layer, Index n_in, Index n_out) const {
    const Tensor out = called(layer, zeros({2, n_in}, DType::f64));
    if (out.dtype() != DType::f64 || out.shape() != Shape{2, n_out})
      throw core::InvalidArgument("inversion::network_decoder#wrong_network",
                                  "{}: expected {} from f64[2, {}] to f64[2, {}], got {}; its sizes, or the "
                                  "dtype of its parameters, differ",
                                  options_.name, what, n_in, n_out, out.aval().text());
  }
  void check(const char* what, const core::ConstMatrixRef& given, Index rows) const {
    if (given.rows() != rows)
      throw core::ShapeError("inversion::network_decoder#wrong_rows",
                             "{}: expected {} {} per subdomain, got {}", options_.name, rows, what,
                             given.rows());
    if (!given.allFinite())
      throw core::SolverError("inversion::network_decoder#input_not_finite",
                              "{}: expected finite {}, got a number that is not", options_.name, what);
  }
  [[nodiscard]] MatrixXd finite(const char* what, MatrixXd values) const {
    if (!values.allFinite())
      throw core::SolverError("inversion::network_decoder#output_not_finite",
                              "{}: {} gave a number that is not finite", options_.name, what);
    return values;
  }

  NetworkDecoderOptions options_;
  Layer decode_;
  std::optional<Layer> encode_;
};

}  // namespace

core::MapPtr network_map(Layer module, Index n_in, std::string name) {
  const auto call = [module = std::move(module)](const Tensor& x) -> Tensor {
    const InMode evaluation(module, Mode::evaluation);
    const Tensor out = module(expand_dims(x, 0));
    return reshape(out, {out.aval().count()});
  };
  return function_map(call, {.name = std::move(name), .n_in = n_in});
}

DecoderPtr network_decoder(NetworkDecoderOptions options, Layer decode, std::optional<Layer> encode) {
  return std::make_shared<NetworkDecoder>(std::move(options), std::move(decode), std::move(encode));
}

}  // namespace lodestone::inversion::prior
