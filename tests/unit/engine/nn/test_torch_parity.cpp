// SPDX-License-Identifier: Apache-2.0
// Layers, losses and optimizers against arrays computed by torch in double precision
// (reference/make_torch_reference.py).
#include "engine/nn/activation.hpp"
#include "engine/nn/attention.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/nn/pooling.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/state/state_file.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"

using namespace lodestone;
using namespace lodestone::engine;

namespace {

const NamedTensors& reference() {
  static const NamedTensors all = read_state(std::filesystem::path(LODESTONE_SOURCE_DIR) /
                                             "tests/unit/engine/reference/torch.safetensors");
  return all;
}

Tensor stored(const std::string& name, DType dtype = DType::f64) {
  const auto found = reference().find(name);
  if (found == reference().end()) FAIL("no array \"" << name << "\" in the reference");
  return found->second.dtype() == DType::f64 ? cast(found->second, dtype) : found->second;
}

/// Largest deviation relative to the largest element: 1e-12 in f64, 1e-5 in f32.
void check_near(const std::string& name, const Tensor& computed) {
  const Tensor expected = stored(name);
  INFO(name << " in " << core::name_of(computed.dtype()));
  REQUIRE(computed.shape() == expected.shape());
  const double deviation =
      max(abs(cast(computed, DType::f64) - expected)).item<double>() / max(abs(expected)).item<double>();
  CHECK(deviation <= (computed.dtype() == DType::f64 ? 1e-12 : 1e-5));
}

std::size_t n_stored(const std::string& prefix) {
  return static_cast<std::size_t>(
      std::ranges::count_if(reference(), [&](const auto& each) { return each.first.starts_with(prefix); }));
}

using Make = std::function<Layer(InitialValues&)>;

void take_parameters(const std::string& name, const Layer& layer, DType dtype) {
  for (const auto& [path, variable] : layer.variables()) {
    if (variable.role() == Variable::Role::parameter)
      variable.assign(stored(name + ".parameter." + path, dtype));
  }
}

/// Outputs and gradients of a layer, in both precisions; what it holds afterwards too, where that is stored.
void check_layer(const std::string& name, const Make& make, Mode mode = Mode::training) {
  for (const DType dtype : {DType::f64, DType::f32}) {
    InitialValues initial(1, dtype);
    const Layer layer = make(initial);
    if (mode == Mode::evaluation) static_cast<void>(layer(stored("batch_norm.x", dtype)));
    layer.set_mode(mode);
    take_parameters(name, layer, dtype);
    const Variable x("x", stored(name + ".x", dtype));
    Variables all{x};
    for (const Variable& each : layer.parameters()) all.push_back(each);
    CHECK(all.size() == 1 + n_stored(name + ".parameter."));
    const auto result = value_and_grad_with_more(
        [&]() -> Tensors {
          const Tensor y = layer(x.value());
          return {sum(y * stored(name + ".w", dtype)), y};
        },
        all);
    check_near(name + ".y", result.more[0]);
    check_near(name + ".slope.x", result.gradients[0]);
    std::size_t at = 1;
    for (const auto& [path, variable] : layer.variables()) {
      if (variable.role() == Variable::Role::parameter)
        check_near(name + ".slope." + path, result.gradients[at++]);
      if (variable.role() == Variable::Role::state && n_stored(name + ".state.") > 0)
        check_near(name + ".state." + path, variable.value());
    }
  }
}

/// A loss of the stored input and target.
void check_loss(const std::string& name, const std::function<Tensor(const Tensor&, const Tensor&)>& loss) {
  check_layer(name, [&](InitialValues& initial) {
    return [&, dtype = initial.dtype()](const Tensor& x) { return loss(x, stored(name + ".target", dtype)); };
  });
}

Tensor part(const Tensor& x, Dim at) { return squeeze(slice(x, 0, at, at + 1), 0); }

}  // namespace

TEST_CASE("torch: linear layers and convolutions have the same outputs and gradients", "[engine][nn]") {
  check_layer("linear", [](InitialValues& initial) { return Linear(5, 3, initial); });
  check_layer("conv_1d", [](InitialValues& initial) {
    return Conv(4, 6, initial, {.window = {3}, .stride = {2}, .padding = {2}, .dilation = {2}, .groups = 2});
  });
  check_layer("conv_1d_plain",
              [](InitialValues& initial) { return Conv(3, 2, initial, {.window = {4}, .bias = Bias::no}); });
  check_layer("conv_2d", [](InitialValues& initial) {
    return Conv(2, 3, initial, {.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}});
  });
  check_layer("conv_3d", [](InitialValues& initial) {
    return Conv(2, 4, initial, {.window = {2, 3, 2}, .stride = {1, 2, 1}, .padding = {1, 1, 0}, .groups = 2});
  });
}

TEST_CASE("torch: an embedding has the same output and gradient", "[engine][nn]") {
  for (const DType dtype : {DType::f64, DType::f32}) {
    InitialValues initial(1, dtype);
    const Embedding embedding(5, 3, initial);
    take_parameters("embedding", embedding, dtype);
    const Tensor y = embedding(stored("embedding.x"));
    check_near("embedding.y", y);
    const auto f = [&] { return sum(embedding(stored("embedding.x")) * stored("embedding.w", dtype)); };
    check_near("embedding.slope.weight", value_and_grad(f, embedding.parameters()).gradients[0]);
  }
}

TEST_CASE("torch: transposed convolutions have the same outputs and gradients", "[engine][nn]") {
  check_layer("conv_transpose_1d", [](InitialValues& initial) {
    const ConvLayerOptions conv{.window = {3}, .stride = {2}, .padding = {1}, .dilation = {2}, .groups = 2};
    return ConvTranspose(4, 6, initial, {.conv = conv, .output_padding = {1}});
  });
  check_layer("conv_transpose_2d", [](InitialValues& initial) {
    return ConvTranspose(
        2, 3, initial,
        {.conv = {.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0}}, .output_padding = {1, 0}});
  });
  check_layer("conv_transpose_3d", [](InitialValues& initial) {
    return ConvTranspose(
        2, 2, initial,
        {.conv = {.window = {2, 3, 2}, .stride = {2, 1, 1}, .padding = {0, 1, 0}, .bias = Bias::no}});
  });
}

TEST_CASE("torch: normalisations have the same outputs, gradients and running statistics", "[engine][nn]") {
  check_layer("batch_norm", [](InitialValues& initial) { return BatchNorm(3, initial); });
  check_layer(
      "batch_norm_evaluated", [](InitialValues& initial) { return BatchNorm(3, initial); }, Mode::evaluation);
  check_layer("layer_norm", [](InitialValues& initial) { return LayerNorm({3, 4}, initial); });
  check_layer("group_norm", [](InitialValues& initial) { return GroupNorm(6, initial, {.groups = 2}); });
}

TEST_CASE("torch: attention has the same outputs and gradients", "[engine][nn]") {
  for (const bool causal : {false, true})
    check_layer(causal ? "attention_causal" : "attention", [causal](InitialValues& initial) {
      return SelfAttention(6, initial, {.heads = 2, .causal = causal, .linear = {.bias = Bias::no}});
    });
}

TEST_CASE("torch: pools have the same outputs and gradients", "[engine][nn]") {
  check_layer("max_pool_1d",
              [](InitialValues&) { return MaxPool({.window = {3}, .stride = {2}, .padding = {1}}); });
  check_layer("max_pool_2d", [](InitialValues&) { return MaxPool({.window = {2, 2}}); });
  check_layer("avg_pool_1d", [](InitialValues&) { return AvgPool({.window = {2}}); });
  check_layer("avg_pool_2d", [](InitialValues&) {
    return AvgPool({.window = {3, 2}, .stride = {2, 1}, .padding = {1, 0}});
  });
  check_layer("avg_pool_3d", [](InitialValues&) { return AvgPool({.window = {2, 2, 2}}); });
}

TEST_CASE("torch: activations have the same outputs and gradients", "[engine][nn]") {
  const auto check = [](const std::string& name, const Layer& activation) {
    check_layer(name, [&](InitialValues&) { return activation; });
  };
  check("relu", relu);
  check("leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.2); });
  check("elu", [](const Tensor& x) { return elu(x, 0.7); });
  check("gelu", gelu);
  check("silu", silu);
  check("sigmoid", sigmoid);
  check("tanh", engine::tanh);
  check("softplus", softplus);
  check("softmax", [](const Tensor& x) { return softmax(x); });
  check("log_softmax", [](const Tensor& x) { return log_softmax(x, 0); });
}

TEST_CASE("torch: a small network has the same output and gradients of all its parameters", "[engine][nn]") {
  check_layer("network", [](InitialValues& initial) {
    const Sequential inner{Conv(4, 4, initial, {.window = {3}, .padding = {1}}), engine::tanh};
    return Sequential{Conv(1, 4, initial, {.window = {3}, .padding = {1}, .bias = Bias::no}),
                      BatchNorm(4, initial),
                      silu,
                      MaxPool({.window = {2}}),
                      Residual(inner),
                      flatten,
                      Linear(16, 2, initial)};
  });
}

TEST_CASE("torch: losses have the same values and gradients", "[engine][nn]") {
  check_loss("mean_squared_error", [](const Tensor& x, const Tensor& t) { return mean_squared_error(x, t); });
  check_loss("mean_absolute_error",
             [](const Tensor& x, const Tensor& t) { return mean_absolute_error(x, t, Reduction::sum); });
  check_loss("huber", [](const Tensor& x, const Tensor& t) { return huber_loss(x, t, {.threshold = 0.8}); });
  check_loss("cross_entropy", [](const Tensor& x, const Tensor& t) { return cross_entropy(x, t); });
  check_loss("cross_entropy_probabilities",
             [](const Tensor& x, const Tensor& t) { return cross_entropy(x, t); });
  check_loss("binary_cross_entropy",
             [](const Tensor& x, const Tensor& t) { return binary_cross_entropy(x, t); });
  check_loss("divergence", [](const Tensor& x, const Tensor& t) { return normal_divergence(x, t); });
  check_loss("divergence_between", [](const Tensor& x, const Tensor& t) {
    return normal_divergence({part(x, 0), part(x, 1)}, {part(t, 0), part(t, 1)}, Reduction::sum);
  });
  check_loss("similarity", [](const Tensor& x, const Tensor& t) { return structural_similarity(x, t); });
  check_loss("similarity_window", [](const Tensor& x, const Tensor& t) {
    return structural_similarity(x, t, {.window = {5, 5}});
  });
}

TEST_CASE("torch: optimisers take the same three steps", "[engine][optim]") {
  struct Vector : Module {
    explicit Vector(const Tensor& at) : x(add_parameter("x", at)) {}
    Variable x;
  };
  const auto check = [](const std::string& name, const auto& make) {
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Vector vector(stored("optimizer.start", dtype));
      const auto optimizer = make(vector);
      Tensors path;
      for (Dim i = 0; i < 3; ++i) {
        optimizer.step({part(stored("optimizer.gradients", dtype), i)});
        path.push_back(expand_dims(vector.x.value(), 0));
      }
      check_near(name + ".path", concatenate(path, 0));
    }
  };
  check("sgd", [](const Vector& v) { return Sgd(v, {.learning_rate = 0.1, .weight_decay = 0.05}); });
  check("sgd_momentum", [](const Vector& v) { return Sgd(v, {.learning_rate = 0.1, .momentum = 0.9}); });
  check("sgd_nesterov", [](const Vector& v) {
    return Sgd(v, {.learning_rate = 0.1, .momentum = 0.9, .kind = Momentum::nesterov, .weight_decay = 0.05});
  });
  check("adam", [](const Vector& v) {
    return Adam(v,
                {.learning_rate = 0.1, .beta_1 = 0.8, .beta_2 = 0.95, .epsilon = 1e-6, .weight_decay = 0.05});
  });
  check("adam_w", [](const Vector& v) { return AdamW(v, {.learning_rate = 0.1, .weight_decay = 0.05}); });
}
