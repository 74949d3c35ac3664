// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/attention.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/dropout.hpp"
#include "engine/nn/loss.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/nn/pooling.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/testing/difference.hpp"
#include "engine/transform/checkpoint.hpp"
#include "engine/transform/variables.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/engine/row.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::row;

namespace {

constexpr DType f64 = DType::f64;

/// Numbers without pattern.
Tensor drawn(const Shape& shape, std::uint64_t seed = 5) {
  return InitialValues(seed, f64).draw(shape, normal_around(0.0, 1.0));
}

class Autoencoder : public Module {
 public:
  explicit Autoencoder(InitialValues& initial)
      : encoder_(add("encoder", Sequential{Linear(6, 4, initial), engine::tanh, Dropout(0.5, initial)})),
        norm_(add("norm", BatchNorm(4, initial))),
        decoder_(add("decoder", Linear(4, 6, initial, {.bias = Bias::no}))) {}
  Tensor operator()(const Tensor& x) const { return decoder_(norm_(encoder_(x))); }

 private:
  Sequential encoder_;
  BatchNorm norm_;
  Linear decoder_;
};

std::vector<std::string> names_of(const Stateful& what) {
  std::vector<std::string> names;
  for (const NamedVariable& each : what.variables()) names.push_back(each.name);
  return names;
}

bool equal_bits(const NamedTensors& a, const NamedTensors& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, tensor] : a) {
    const auto found = b.find(name);
    if (found == b.end() || !std::ranges::equal(tensor.bytes(), found->second.bytes())) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("module: variables have path names, own first, then those of the parts", "[engine][nn]") {
  InitialValues initial(1);
  const Autoencoder net(initial);
  CHECK(names_of(net) == std::vector<std::string>{"encoder.0.weight", "encoder.0.bias", "encoder.2.key",
                                                  "norm.scale", "norm.shift", "norm.running_mean",
                                                  "norm.running_variance", "decoder.weight"});
  CHECK(net.parameters().size() == 5);
}

TEST_CASE("module: copies share variables and mode", "[engine][nn]") {
  InitialValues initial(1);
  const Autoencoder net(initial);
  const Autoencoder copy = net;
  copy.set_mode(Mode::evaluation);
  CHECK(net.mode() == Mode::evaluation);
  net.parameters()[0].assign(zeros({6, 4}));
  CHECK(copy.parameters()[0].value().to_vector<float>() == std::vector<float>(24, 0.0F));
}

TEST_CASE("module: a cell under two names counts once, and names cannot be taken twice", "[engine][nn]") {
  struct Tied : Module {
    explicit Tied(const Linear& inner) {
      add("first", inner);
      add("second", inner);
    }
    void again() const { add_state("n", zeros({})), add_state("n", zeros({})); }
  };
  InitialValues initial(1);
  const Tied tied(Linear(2, 2, initial));
  CHECK(names_of(tied) == std::vector<std::string>{"first.weight", "first.bias"});
  CHECK_THAT(error_of<core::InvalidArgument>([&] { tied.again(); }), HasId("variable_exists", {"\"n\""}));
}

TEST_CASE("module: the same seed gives the same bits, another seed others", "[engine][nn]") {
  InitialValues one(3), same(3), other(4);
  const Autoencoder a(one), b(same), c(other);
  CHECK(equal_bits(a.state(), b.state()));
  CHECK_FALSE(equal_bits(a.state(), c.state()));
  CHECK_FALSE(a.parameters()[0].value().bytes()[0] ==
              a.parameters()[4].value().bytes()[0]);  // streams of their own
}

TEST_CASE("module: a loaded state makes the same network", "[engine][nn]") {
  InitialValues one(3, f64), other(4, f64);
  const Autoencoder a(one), b(other);
  const Tensor x = drawn({5, 6});
  static_cast<void>(a(x));  // moves statistics and key
  b.load_state(a.state());
  CHECK(equal_bits(a.state(), b.state()));
  CHECK(a(x).to_vector<double>() == b(x).to_vector<double>());  // in training, dropout included
}

TEST_CASE("module: a state of another network is refused whole, with everything that differs",
          "[engine][nn]") {
  InitialValues initial(3);
  const Autoencoder net(initial);
  NamedTensors state = net.state();
  state.erase("norm.scale");
  state.emplace("norm.gain", ones({4}));
  state["decoder.weight"] = zeros({4, 7});
  state["encoder.0.bias"] = ones({4});
  const NamedTensors before = net.state();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { net.load_state(state); }),
             HasId("state_of_another_network", {"missing: norm.scale; unexpected: norm.gain",
                                                "decoder.weight", "f32[4, 6]", "f32[4, 7]"}));
  CHECK(equal_bits(net.state(), before));
}

TEST_CASE("module: modes reach the parts, and come back as they were", "[engine][nn]") {
  InitialValues initial(3, f64);
  const BatchNorm frozen(6, initial);
  const Sequential net{frozen, Dropout(0.5, initial)};
  frozen.set_mode(Mode::evaluation);
  const Tensor x = drawn({4, 6});
  {
    const InMode evaluation(net, Mode::evaluation);
    CHECK(net(x).to_vector<double>() == frozen(x).to_vector<double>());
  }
  CHECK(net.mode() == Mode::training);
  CHECK(frozen.mode() == Mode::evaluation);
}

TEST_CASE("initial values: fans decide the deviation", "[engine][nn]") {
  const auto deviation = [](const Initializer& initializer) {
    const Tensor values = InitialValues(2, f64).draw({200, 300}, initializer, {200.0, 300.0});
    return std::sqrt(mean(square(values)).item<double>());
  };
  CHECK(deviation(kaiming_normal()) == Approx(std::sqrt(2.0 / 200.0)).epsilon(0.02));
  CHECK(deviation(kaiming_uniform()) == Approx(std::sqrt(2.0 / 200.0)).epsilon(0.02));
  CHECK(deviation(xavier_normal()) == Approx(std::sqrt(2.0 / 500.0)).epsilon(0.02));
  CHECK(deviation(xavier_uniform()) == Approx(std::sqrt(2.0 / 500.0)).epsilon(0.02));
  const Tensor values = InitialValues(2, f64).draw({1000}, fan_in_uniform(), {16.0, 1.0});
  CHECK(max(abs(values)).item<double>() <= 0.25);
  CHECK(max(abs(values)).item<double>() > 0.24);
  CHECK(InitialValues(2).draw({3}, constant(2.5)).to_vector<float>() == std::vector<float>(3, 2.5F));
}

TEST_CASE("dropout: drops the given share in training, nothing in evaluation, and never twice the same",
          "[engine][nn]") {
  InitialValues initial(3, f64);
  const Dropout dropout(0.25, initial);
  const Tensor x = ones({100, 100}, f64);
  const Tensor first = dropout(x), second = dropout(x);
  CHECK(mean(first).item<double>() == Approx(1.0).epsilon(0.02));
  CHECK(max(first).item<double>() == Approx(4.0 / 3.0));
  CHECK(mean(cast(equal(first, 0.0), f64)).item<double>() == Approx(0.25).epsilon(0.05));
  CHECK_FALSE(first.to_vector<double>() == second.to_vector<double>());
  dropout.set_mode(Mode::evaluation);
  CHECK(dropout(x).to_vector<double>() == x.to_vector<double>());
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(Dropout(1.0, initial)); }),
             HasId("wrong_probability", {"[0, 1)", "1"}));
}

TEST_CASE("dropout: the gradient goes where the elements went", "[engine][nn]") {
  InitialValues initial(3, f64);
  const Dropout dropout(0.5, initial);
  const Variable x("x", ones({50}, f64));
  const auto result = value_and_grad_with_more(
      [&]() -> Tensors {
        const Tensor y = dropout(x.value());
        return {sum(y), y};
      },
      {x});
  CHECK(result.gradients[0].to_vector<double>() == result.more[0].to_vector<double>());
}

TEST_CASE("batch norm: one op has the values, moments and slopes of those that it stands for",
          "[engine][nn]") {
  for (const auto& [dtype, rounding] : {std::pair{DType::f32, 2e-6}, {f64, 4e-15}}) {
    INFO(core::name_of(dtype));
    InitialValues initial(4, dtype);
    const auto numbers = [&](const Shape& shape) { return initial.draw(shape, normal_around(0.5, 1.0)); };
    const Tensors at{numbers({40, 7, 19}), numbers({19}), numbers({19})};
    const Axes axes{0, 1};
    const auto by_one = [](const Tensors& in) -> Tensors {
      const auto [y, mean, variance] = batch_norm(in[0], in[1], in[2], 0.1);
      return {y, mean, variance};
    };
    const auto one_by_one = [&](const Tensors& in) -> Tensors {
      const Tensor centre = mean(in[0], axes);
      return {scale_shift(normalize(in[0], axes, 0.1), in[1], in[2]), centre,
              mean(square(in[0] - centre), axes)};
    };
    CHECK(std::ranges::equal(by_one(at)[0].bytes(), one_by_one(at)[0].bytes()));
    const Tensors weights{numbers({40, 7, 19}), numbers({19}), numbers({19})};
    const Linearized fast = linearize(by_one, at), slow = linearize(one_by_one, at);
    const auto expect_close = [tolerance = rounding](const Tensors& a, const Tensors& b) {
      for (std::size_t i = 0; i < b.size(); ++i)
        CHECK(cast(max(abs(a[i] - b[i])), f64).item<double>() <=
              tolerance * cast(max(abs(b[i])), f64).item<double>());
    };
    expect_close(fast.value(), slow.value());
    expect_close(fast.vjp(weights), slow.vjp(weights));
    expect_close(fast.jvp(weights), slow.jvp(weights));
    const Tensors only_moments{zeros_like(weights[0]), weights[1], weights[2]};
    expect_close({fast.vjp(only_moments)[0]}, {slow.vjp(only_moments)[0]});
  }
}

TEST_CASE("batch norm: running statistics converge to those of the data and are used in evaluation",
          "[engine][nn]") {
  InitialValues initial(3, f64);
  const BatchNorm norm(3, initial);
  const Tensor x = 2.0 * drawn({50, 3}) + 7.0;
  for (int i = 0; i < 200; ++i) static_cast<void>(norm(x));
  norm.set_mode(Mode::evaluation);
  const Tensor y = norm(x);
  for (const double each : mean(y, Axes{0}).to_vector<double>()) CHECK(std::abs(each) < 1e-6);
  for (const double each : mean(square(y), Axes{0}).to_vector<double>())
    CHECK(each == Approx(49.0 / 50.0).epsilon(1e-4));
}

TEST_CASE("module: Jacobians of a network, for all items of a batch at once", "[engine][nn]") {
  InitialValues initial(3, f64);
  const Sequential net{
      Linear(2, 8, initial),
      BatchNorm(8, initial),
      swish,
      [](const Tensor& x) {
        return reshape(x, {x.dim(0), 4, 2});
      },
      ConvTranspose(2, 3, initial,
                    {.conv = {.window = {3}, .stride = {2}, .padding = {1}}, .output_padding = {1}}),
      flatten};
  net.set_mode(Mode::evaluation);
  const Tensor codes = drawn({5, 2});
  const auto one = [&](const Tensor& code) { return squeeze(net(expand_dims(code, 0)), 0); };
  const Tensor all = vmap([&](const Tensor& code) { return jacobian(one, code); })(codes);
  REQUIRE(all.shape() == Shape{5, 24, 2});
  for (Dim i = 0; i < 5; ++i) {
    const Tensor code = squeeze(slice(codes, 0, i, i + 1), 0),
                 expected = jacobian(one, code, JacobianMode::reverse);
    CHECK(max(abs(squeeze(slice(all, 0, i, i + 1), 0) - expected)).item<double>() < 1e-13);
  }
  net.set_mode(Mode::training);
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(vmap(one)(codes)); }),
             HasId("too_few_numbers", {"[BatchNorm]"}));
}

TEST_CASE("module: inside a checkpoint it has the same gradients, with the same elements dropped again",
          "[engine][nn]") {
  const auto gradients = [](const auto& wrap) {
    InitialValues initial(3, f64);
    const Sequential net{Linear(4, 8, initial), engine::tanh, Dropout(0.5, initial), Linear(8, 1, initial)};
    const Function f = wrap([&](const Tensors& x) -> Tensors { return {net(x[0])}; });
    return value_and_grad([&] { return sum(square(f({drawn({5, 4})})[0])); }, net.parameters()).gradients;
  };
  const Tensors plain = gradients([](Function f) { return f; }),
                again = gradients([](Function f) { return checkpoint(std::move(f)); });
  for (std::size_t i = 0; i < plain.size(); ++i)
    CHECK(plain[i].to_vector<double>() == again[i].to_vector<double>());
  InitialValues initial(3, f64);
  const BatchNorm norm(4, initial);
  const Function f = checkpoint([&](const Tensors& x) -> Tensors { return {norm(x[0])}; });
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(vmap(f)({drawn({2, 5, 4})}));
             }),
             HasId("no_values_while_tracing", {"\"running_mean\""}));
}

TEST_CASE("layers: a linear layer with products in bf16 learns what one in f32 learns", "[engine][nn]") {
  const auto final_loss = [](std::optional<DType> product) {
    InitialValues initial(3);
    const Sequential net{Linear(8, 64, initial, {.product = product}), engine::tanh,
                         Linear(64, 1, initial, {.product = product})};
    const Tensor x = cast(drawn({64, 8}), DType::f32), y = sum(x, Axes{1}, Keep::yes) * 0.3;
    const auto loss = [&] { return mean_squared_error(net(x), y); };
    const Adam adam(net, {.learning_rate = 1e-2});
    for (int i = 0; i < 60; ++i) adam.step(value_and_grad(loss, net.parameters()).gradients);
    CHECK(net.parameters()[0].value().dtype() == DType::f32);
    return static_cast<double>(loss().item<float>());
  };
  const double in_f32 = final_loss({}), in_bf16 = final_loss(DType::bf16);
  CHECK(in_bf16 < 0.01);
  CHECK(in_bf16 != in_f32);
  CHECK(std::abs(in_bf16 - in_f32) < 2e-3);
  InitialValues initial(3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { Linear(2, 2, initial, {.product = DType::f64}); }),
             HasId("wrong_product_dtype", {"bf16 or f16", "f64"}));
}

TEST_CASE("layers: a quantized layer gives what the layer gives, to 1 % of the largest", "[engine][nn]") {
  InitialValues initial(5);
  const Linear layer(96, 40, initial);
  const QuantizedLinear quantized(layer);
  CHECK(quantized.state().at("weight").dtype() == DType::i8);
  const Tensor x = cast(drawn({3, 50, 96}), DType::f32);
  CHECK(difference(quantized(x), layer(x)) < 0.02);
  CHECK(difference(quantized(x), layer(x)) > 1e-4);
  CHECK(difference(quantized(zeros({1, 96})), layer(zeros({1, 96}))) == 0.0);
}

TEST_CASE("layers: attention word by word gives what it gives for all words at once", "[engine][nn]") {
  InitialValues initial(9);
  const SelfAttention attention(6, initial, {.heads = 2, .causal = true});
  const Tensor words = cast(drawn({5, 6}), DType::f32), all = attention(words);
  const KeyValues cache = empty_key_values(2, 16, 3);
  for (std::int64_t i = 0; i < 5; ++i) {
    const Tensor word = slice(words, 0, i, i + 1);
    const Tensor next = attention.next(word, cache, Tensor::from(std::vector{i}, {}), 8);
    CHECK(difference(next, slice(all, 0, i, i + 1)) < 1e-6);
  }
  const SelfAttention both_ways(6, initial, {.heads = 2});
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(
                   both_ways.next(zeros({1, 6}), cache, Tensor::from(std::vector{std::int64_t{0}}, {}), 8));
             }),
             HasId("not_causal", {"[SelfAttention]", "causal"}));
}

TEST_CASE("layers: an input that does not fit is refused by the layer's name and the caller's line",
          "[engine][nn]") {
  InitialValues initial(3);
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Linear(3, 2, initial)(zeros({4, 5})));
             }),
             HasId("wrong_channels", {"[Linear]", "[batch…, 3]", "f32[4, 5]", "(test_nn.cpp:"}));
  const Conv conv(2, 4, initial, {.window = {3}});
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(SelfAttention(6, initial, {.heads = 4})); }),
      HasId("uneven_heads", {"[SelfAttention]", "6", "4"}));
  const SelfAttention attention(6, initial, {.heads = 2});
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(attention(drawn({6}))); }),
             HasId("no_words", {"[SelfAttention]", "f64[6]", "(test_nn.cpp:"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(conv(zeros({1, 8, 3})));
             }),
             HasId("wrong_channels", {"[Conv]", "[batch…, 2]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(conv(zeros({1, 8, 8, 2})));
             }),
             HasId("wrong_rank", {"[Conv]", "[n, 1 spatial axes, 2]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(LayerNorm({4}, initial)(zeros({4, 5})));
             }),
             HasId("wrong_last_axes", {"[LayerNorm]", "[4]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(BatchNorm(4, initial)(zeros({1, 4})));
             }),
             HasId("too_few_numbers", {"[BatchNorm]"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(AvgPool({.window = {3}})(zeros({1, 2, 4})));
             }),
             HasId("wrong_window", {"[AvgPool]"}));
}

TEST_CASE("layers: options that cannot be are refused when the layer is made", "[engine][nn]") {
  InitialValues initial(3);
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(Conv(2, 4, initial, {.window = {3, 3}, .stride = {1}}));
             }),
             HasId("wrong_list_length", {"[3, 3]", "[1]"}));
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(Conv(2, 4, initial, {.window = {3}, .groups = 3})); }),
             HasId("wrong_groups", {"3", "2", "4"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               static_cast<void>(ConvTranspose(
                   2, 4, initial, {.conv = {.window = {3}, .stride = {2}}, .output_padding = {2}}));
             }),
             HasId("wrong_output_padding", {"[2]"}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { static_cast<void>(GroupNorm(5, initial, {.groups = 2})); }),
      HasId("wrong_groups", {"2", "5"}));
}

TEST_CASE("activations: large inputs overflow nowhere, neither in value nor in slope", "[engine][nn]") {
  const Tensor x = row({-1e3, -1.0, 0.5, 1e3});
  for (const auto& f : std::vector<std::function<Tensor(const Tensor&)>>{
           [](const Tensor& t) { return relu(t); }, [](const Tensor& t) { return leaky_relu(t); },
           [](const Tensor& t) { return elu(t); }, [](const Tensor& t) { return gelu(t); },
           [](const Tensor& t) { return silu(t); }, [](const Tensor& t) { return softplus(t); },
           [](const Tensor& t) { return softmax(t); }, [](const Tensor& t) { return log_softmax(t); },
           [](const Tensor& t) {
             return binary_cross_entropy(t, row({0, 1, 0.5, 1}), Reduction::none);
           }}) {
    for (const double each : f(x).to_vector<double>()) CHECK(std::isfinite(each));
    for (const double each : grad([&](const Tensor& t) { return sum(f(t)); })(x).to_vector<double>())
      CHECK(std::isfinite(each));
  }
  CHECK(std::isnan(relu(row({NAN})).item<double>()));
  CHECK(sum(softmax(x)).item<double>() == Approx(1.0));
}

TEST_CASE("losses: zero for what is right, and known values", "[engine][nn]") {
  const Tensor x = drawn({4, 6, 2});
  CHECK(mean_squared_error(x, x).item<double>() == 0.0);
  CHECK(structural_similarity(x, x).item<double>() == Approx(1.0));
  CHECK(structural_similarity(x, x, {.window = {3}}).item<double>() == Approx(1.0));
  CHECK(normal_divergence(zeros({3}, f64), zeros({3}, f64)).item<double>() == 0.0);
  CHECK(huber_loss(row({0.5, 3.0}), row({0.0, 0.0}), {.reduction = Reduction::none}).to_vector<double>() ==
        std::vector<double>{0.125, 2.5});
  CHECK(mean_squared_error(full({1}, {3.0, 4.0}, DType::c128), full({1}, 0.0, DType::c128)).item<double>() ==
        25.0);
  const Tensor logits = drawn({5, 3}), labels = Tensor::from(std::vector<std::int32_t>{2, 0, 1, 1, 2}, {5});
  CHECK(cross_entropy(logits, labels).item<double>() ==
        Approx(cross_entropy(logits, one_hot(labels, 3, f64)).item<double>()));
  const Tensor mean_1 = drawn({4}, 1), log_1 = drawn({4}, 2);
  CHECK(normal_divergence({mean_1, log_1}, {zeros({4}, f64), zeros({4}, f64)}).item<double>() ==
        Approx(normal_divergence(mean_1, log_1).item<double>()));
  CHECK_THAT(error_of<core::ShapeError>([&] { static_cast<void>(mean_squared_error(x, row({1}))); }),
             HasId("target_unlike_prediction", {"f64[4, 6, 2]", "f64[1]"}));
}

TEST_CASE("similarity: a common offset that is large compared with the contrast does not spoil it",
          "[engine][nn]") {
  const Tensor x = drawn({1, 30, 1}, 1), y = drawn({1, 30, 1}, 2);
  const SimilarityOptions local{.window = {7}, .luminance = 0.0};
  CHECK(structural_similarity(x + 1e7, y + 1e7, local).item<double>() ==
        Approx(structural_similarity(x + 1e5, y + 1e5, local).item<double>()).epsilon(1e-6));
}

TEST_CASE("residual: input plus what the layers inside make of it", "[engine][nn]") {
  InitialValues initial(3, f64);
  const Linear inner(4, 4, initial), shortcut(4, 4, initial);
  const Tensor x = drawn({2, 4});
  CHECK(Residual(inner)(x).to_vector<double>() == (x + inner(x)).to_vector<double>());
  CHECK(Residual(inner, shortcut)(x).to_vector<double>() == (shortcut(x) + inner(x)).to_vector<double>());
  CHECK(names_of(Residual(inner, shortcut)) ==
        std::vector<std::string>{"inner.weight", "inner.bias", "shortcut.weight", "shortcut.bias"});
}
