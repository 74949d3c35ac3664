// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/transform/external_ops.hpp"

#include <cmath>

namespace lodestone::engine {
namespace {

/// Returns sin(A x + b), a map that every rule can be checked on.
AttrsPtr small_map(Sampler& sampler) {
  const Dim n_in = sampler.integer(1, 4), n_out = sampler.integer(1, 4);
  Eigen::MatrixXd a(n_out, n_in);
  for (double& each : a.reshaped()) each = sampler.real(-1.0, 1.0);
  const core::MapPtr linear = core::affine(a, Eigen::VectorXd::LinSpaced(n_out, -1.0, 1.0));
  const core::MapPtr map = core::compose(
      core::pointwise(
          "sin", n_out, [](double t) { return std::sin(t); }, [](double t) { return std::cos(t); }),
      linear);
  return make_attrs(ExternalAttrs{map});
}

Shape items_and(Sampler& sampler, Dim last) {
  Shape shape;
  for (Dim axis = sampler.integer(0, 2); axis > 0; --axis)
    shape.push_back(sampler.chance(0.1) ? 0 : sampler.integer(1, 3));
  shape.push_back(last);
  return shape;
}

Tensor recorded(std::string_view name, const Tensor& in, const AttrsPtr& attrs) {
  return record(op_named(name), {in}, attrs, {});
}

}  // namespace

Sample sample_external_call(Sampler& sampler) {
  const AttrsPtr attrs = small_map(sampler);
  const Dim n_in = attrs_as<ExternalAttrs>(*attrs).map->size_in();
  return {{sampler.tensor(items_and(sampler, n_in), -1.0, 1.0)}, attrs};
}

Sample sample_external_linearize(Sampler& sampler) {
  Sample sample = sample_external_call(sampler);
  sample.finish = [attrs = sample.attrs](const Tensor& h) { return recorded("external_value", h, attrs); };
  return sample;
}

Sample sample_external_value(Sampler& sampler) {
  Sample sample = sample_external_call(sampler);
  sample.prepare = [attrs = sample.attrs](const Tensors& in) -> Tensors {
    return {recorded("external_linearize", in[0], attrs)};
  };
  return sample;
}

Sample sample_external_product(Sampler& sampler, bool forward) {
  Sample sample = sample_external_call(sampler);
  const auto& map = *attrs_as<ExternalAttrs>(*sample.attrs).map;
  Shape directions = sample.inputs[0].shape().erased(sample.inputs[0].rank() - 1);
  for (Dim axis = sampler.integer(0, 1); axis > 0; --axis) directions.push_back(sampler.integer(1, 5));
  directions.push_back(forward ? map.size_in() : map.size_out());
  sample.inputs.push_back(sampler.tensor(directions, -1.0, 1.0));
  sample.prepare = [attrs = sample.attrs](const Tensors& in) -> Tensors {
    return {recorded("external_linearize", in[0], attrs), in[1]};
  };
  sample.constants = {0};
  return sample;
}

}  // namespace lodestone::engine
