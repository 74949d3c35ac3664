// SPDX-License-Identifier: Apache-2.0
// Symbols as in external_ops.hpp.
#include "engine/record/record.hpp"
#include "engine/transform/external_ops.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;
using ConstVectors = Eigen::Map<const Eigen::MatrixXd>;
using Vectors = Eigen::Map<Eigen::MatrixXd>;

const core::DifferentiableMap& map_of(R args) { return *args.as<ExternalAttrs>().map; }

/// The linearizations at every item.
class Linearizations final : public Opaque {
 public:
  using List = std::vector<std::unique_ptr<core::Linearization>>;
  Linearizations(Device device, List list) : Opaque(device, bytes_of(list)), items(std::move(list)) {}
  const List items;

 private:
  static std::size_t bytes_of(const List& list) {
    std::size_t total = 0;
    for (const auto& item : list) total += item->bytes();
    return total;
  }
};

const Linearizations::List& items_of(R args) {
  return static_cast<const Linearizations&>(*args.in[0].node().object).items;
}

/// Calls f(i, x_i, out_i) with the i-th of `n` pieces of a tensor and of the result, each column-major with
/// one vector per column.
template <class F>
Tensor for_pieces(const Tensor& in, Dim n, Dim to, F f) {
  const Dim from = in.shape().back();
  const Tensor out = new_array(with_last(in.aval(), to));
  const Dim columns = n > 0 ? out.count() / std::max<Dim>(to, 1) / n : 0;
  const double* source = in.data<double>().data();
  auto* target = reinterpret_cast<double*>(out.node().data());
  for (Dim i = 0; i < n && columns > 0; ++i)
    f(static_cast<std::size_t>(i), ConstVectors(source + i * from * columns, from, columns),
      Vectors(target + i * to * columns, to, columns));
  return out;
}

Dim count_items(const Shape& shape) {
  Dim items = 1;
  for (int axis = 0; axis + 1 < shape.rank(); ++axis) items *= shape[axis];
  return items;
}

}  // namespace

Aval with_last(const Aval& aval, Dim extent) {
  Aval result{aval.shape, DType::f64, aval.device};
  result.shape[result.shape.rank() - 1] = extent;
  return result;
}

Tensor run_external_call(R args) {
  const core::DifferentiableMap& map = map_of(args);
  return for_pieces(args.in[0], count_items(args.in[0].shape()), map.size_out(),
                    [&](std::size_t, const ConstVectors& x, Vectors out) { out = map.value(x.col(0)); });
}

Tensor run_external_linearize(R args) {
  const core::DifferentiableMap& map = map_of(args);
  const Tensor& x = args.in[0];
  const double* elements = x.data<double>().data();
  Linearizations::List items;
  for (Dim i = 0; i < count_items(x.shape()); ++i)
    items.push_back(
        map.linearize(Eigen::Map<const Eigen::VectorXd>(elements + i * map.size_in(), map.size_in())));
  NodePtr node(new Node);
  node->aval = x.aval();
  node->aval.kind = Kind::handle;
  node->object = OpaquePtr(new Linearizations(x.device(), std::move(items)));
  return Tensor(std::move(node));
}

Tensor run_external_value(R args) {
  const auto& items = items_of(args);
  const Dim n_out = map_of(args).size_out();
  const Tensor out = new_array(with_last(args.in[0].aval(), n_out));
  auto* target = reinterpret_cast<double*>(out.node().data());
  for (std::size_t i = 0; i < items.size(); ++i)
    std::copy_n(items[i]->value().data(), n_out, target + static_cast<Dim>(i) * n_out);
  return out;
}

Tensor run_external_jvp(R args) {
  const auto& items = items_of(args);
  return for_pieces(args.in[1], std::ssize(items), map_of(args).size_out(),
                    [&](std::size_t i, const ConstVectors& v, Vectors out) { out = items[i]->jvp(v); });
}

Tensor run_external_vjp(R args) {
  const auto& items = items_of(args);
  return for_pieces(args.in[1], std::ssize(items), map_of(args).size_in(),
                    [&](std::size_t i, const ConstVectors& w, Vectors out) { out = items[i]->vjp(w); });
}

}  // namespace lodestone::engine
