// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/network_decoder.hpp"

#include "engine/compile/compile.hpp"
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/function_map.hpp"
#include "engine/transform/transforms.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::inversion::prior {
namespace {

using namespace engine;
using Eigen::Index;
using Eigen::MatrixXd;

Tensor called(const Layer& layer, const Tensor& x) {
  const InMode evaluation(layer, Mode::evaluation);
  return layer(x);
}

/// Arrays of some tens of subdomains lie in cache, where running elementwise ops together gains nothing:
/// docs/results/engine.md.
constexpr CompileOptions options_of_decoders{.level = Level::O0};

/// Returns a layer in evaluation mode as a function that runs often.
Compiled compiled(const Layer& layer) {
  return compile([layer](const Tensors& x) -> Tensors { return {called(layer, x[0])}; }, options_of_decoders);
}

/// Returns the derivatives of each item by its own codes. shapes: [n, codes] → [n, codes, cells].
Compiled compiled_jacobians(const Layer& decode) {
  const auto all = [decode](const Tensors& codes) -> Tensors {
    const auto of_one = [&](const Tensor& code) { return squeeze(called(decode, expand_dims(code, 0)), 0); };
    const auto by_code =
        vmap([&](const Tensor& code) { return jacobian(of_one, code, JacobianMode::forward); });
    return {transpose(by_code(codes[0]), Axes{0, 2, 1})};
  };
  return compile(all, options_of_decoders);
}

/// Subdomains that go through a network together: activations of more would fill the memory.
constexpr Index at_once = 512;

/// Returns what `of_some` makes of items, side by side, by parts of bounded size.
template <class OfSome>
MatrixXd in_parts(const MatrixXd& items, const OfSome& of_some) {
  if (items.cols() <= at_once) return of_some(items);
  MatrixXd all;
  for (Index first = 0; first < items.cols(); first += at_once) {
    const MatrixXd part = of_some(items.middleCols(first, std::min(at_once, items.cols() - first)));
    const Index per_item = part.cols() / std::min(at_once, items.cols() - first);
    if (first == 0) all.resize(part.rows(), per_item * items.cols());
    all.middleCols(per_item * first, part.cols()) = part;
  }
  return all;
}

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
  NetworkDecoder(NetworkDecoderOptions options, const Layer& decode, const std::optional<Layer>& encode)
      : options_(std::move(options)), decode_(compiled(decode)), jacobians_(compiled_jacobians(decode)) {
    if (n_codes() < 1 || n_cells() < 1)
      throw core::InvalidArgument("inversion::network_decoder#no_code_or_cell",
                                  "{}: expected at least one code and one cell, got {} and {}", options_.name,
                                  n_codes(), n_cells());
    check_layer("a decoder", decode, n_codes(), n_cells());
    if (encode) check_layer("an encoder", *encode, n_cells(), n_codes());
    if (encode) encode_ = compiled(*encode);
  }

  [[nodiscard]] std::string name() const override { return options_.name; }
  [[nodiscard]] Index n_codes() const override { return options_.n_codes; }
  [[nodiscard]] Index n_cells() const override { return options_.n_cells; }

  [[nodiscard]] MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    if (codes.cols() == 0) return {n_cells(), 0};
    return finite("decode", in_parts(codes, [&](const MatrixXd& some) {
                    return columns_of(decode_({tensor_of(some)})[0]);
                  }));
  }

  [[nodiscard]] MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    check("codes", codes, n_codes());
    if (codes.cols() == 0) return {n_cells(), 0};
    return finite("jacobians", in_parts(codes, [&](const MatrixXd& some) -> MatrixXd {
                    // [n, codes, cells], whose bytes are (cells, codes · n) by columns
                    const Tensor by_column = jacobians_({tensor_of(some)})[0];
                    return Eigen::Map<const MatrixXd>(by_column.data<double>().data(), n_cells(),
                                                      n_codes() * some.cols());
                  }));
  }

  [[nodiscard]] MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    check("cells", cells, n_cells());
    if (cells.cols() == 0 || !encode_) return MatrixXd::Zero(n_codes(), cells.cols());
    return finite("encode", in_parts(cells, [&](const MatrixXd& some) {
                    return columns_of((*encode_)({tensor_of(some)})[0]);
                  }));
  }

 private:
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
  Compiled decode_, jacobians_;
  std::optional<Compiled> encode_;
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
  return std::make_shared<NetworkDecoder>(std::move(options), decode, encode);
}

}  // namespace lodestone::inversion::prior
