// SPDX-License-Identifier: Apache-2.0
// Attention as two rows: values with a statistic per query, and slopes, which take the weights from the
// statistics again, so that no matrix of weights is kept. source: Vaswani et al. 2017, arXiv:1706.03762;
// Dao et al. 2022, arXiv:2205.14135, appendix B
#include "engine/ops/attention.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/composite.hpp"
#include "engine/ops/indexing.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/register.hpp"
#include "engine/ops/rules.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lodestone::engine {
namespace {

using R = const RuleArgs&;

// Symbols: s = scale Σ_d q k, one per query, head and key; L = ln Σ e^s over the keys that a query sees.
// Inputs of values: q, k, v; of slopes: q, k, v, L, t and c = Σ_e t y − (cotangent of L).

/// Returns q's shape with another last extent, or without one.
Shape like_queries(const Aval& q, std::optional<Dim> columns = {}) {
  Shape shape = q.shape.erased(q.shape.rank() - 1);
  if (columns) shape.push_back(*columns);
  return shape;
}

/// Returns the shapes that queries, as they are, and numbers of keys and columns ask of all inputs.
std::vector<Shape> shapes_of_inputs(const InferArgs& args) {
  const Aval& q = args.aval(0);
  const Shape &of_k = args.aval(1).shape, &of_v = args.aval(2).shape;
  const int words = q.shape.rank() - 3;
  if (words < 0 || of_k.rank() <= words || of_v.rank() == 0)
    throw core::ShapeError(args.op.name + "#wrong_rank",
                           "expected inputs [batch…, words, heads, depth], got {}, {} and {} {}", q.text(),
                           args.aval(1).text(), args.aval(2).text(), at_line(args.where));
  Shape k = q.shape, v = like_queries(q, of_v.back());
  k[words] = v[words] = of_k[words];
  return {q.shape, k, v, like_queries(q), like_queries(q, of_v.back()), like_queries(q)};
}

Aval infer_attention(const InferArgs& args) {
  const std::vector<Shape> shapes = shapes_of_inputs(args);
  const Aval& q = args.aval(0);
  for (std::size_t i = 1; i < args.in.size(); ++i) {
    const Aval expected{shapes[i], q.dtype, q.device};
    if (!(args.aval(i) == expected))
      throw core::ShapeError(args.op.name + "#wrong_input",
                             "expected {} as input {} for queries, keys and values {}, {} and {}, got {} {}",
                             expected.text(), i, q.text(), args.aval(1).text(), args.aval(2).text(),
                             args.aval(i).text(), at_line(args.where));
  }
  const Dim n = q.shape[q.shape.rank() - 3], n_keys = shapes[1][q.shape.rank() - 3];
  if (n_keys == 0 || (args.as<AttentionAttrs>().causal && n_keys < n))
    throw core::ShapeError(args.op.name + "#too_few_keys",
                           "expected a key, and for causal attention one per query; got {} for {} queries, "
                           "keys {} for queries {} {}",
                           n_keys, n, args.aval(1).text(), q.text(), at_line(args.where));
  return tuple_aval(q.device);
}
std::vector<Aval> results_of_attention(const InferArgs& args) {
  const Aval& q = args.aval(0);
  return {{like_queries(q, args.aval(2).shape.back()), q.dtype, q.device},
          {like_queries(q), q.dtype, q.device}};
}

/// [batch…, words, heads, columns] ↔ [batch…, heads, words, columns]
Tensor heads_moved(const Tensor& x) { return move_axis(x, x.rank() - 3, x.rank() - 2); }
Tensor transposed(const Tensor& x) { return move_axis(x, x.rank() - 2, x.rank() - 1); }
/// [batch…, words, heads] → [batch…, heads, words, 1]
Tensor per_row(const Tensor& x) { return expand_dims(transposed(x), -1); }

/// Returns s [batch…, heads, queries, keys], −∞ where a query does not see a key: query i of n sees keys 0 …
/// i + (number of keys) − n.
Tensor scores_of(R args) {
  const auto& [scale, causal] = args.as<AttentionAttrs>();
  const Tensor &q = args.in[0], &k = args.in[1];
  const Tensor scores = matmul(heads_moved(q), transposed(heads_moved(k))) * scale;
  if (!causal) return scores;
  const Dim n = q.dim(-3), n_keys = k.dim(-3);
  const Tensor last = expand_dims(iota(n, DType::i64, q.device()) + (n_keys - n), 1);
  return select(less_equal(iota(n_keys, DType::i64, q.device()), last), scores,
                -std::numeric_limits<double>::infinity());
}

Tensor decompose_attention(R args) {
  const Tensor scores = scores_of(args), y = matmul(softmax(scores), heads_moved(args.in[2]));
  return tuple({heads_moved(y), transposed(logsumexp(scores, Axes{-1}))}, args.where);
}

Tensor decompose_slopes(R args) {
  const Tensor q = heads_moved(args.in[0]), k = heads_moved(args.in[1]), v = heads_moved(args.in[2]),
               t = heads_moved(args.in[4]), weights = exp(scores_of(args) - per_row(args.in[3]));
  const double scale = args.as<AttentionAttrs>().scale;
  const Tensor slopes = weights * (matmul(t, transposed(v)) - per_row(args.in[5])) * scale;
  return tuple({heads_moved(matmul(slopes, k)), heads_moved(matmul(transposed(slopes), q)),
                heads_moved(matmul(transposed(weights), t))},
               args.where);
}

Tensors pull_back_attention(R args, const Tensor& cotangent, const std::vector<bool>&) {
  const OpInfo &op = op_named("attention_slopes"), &sums = op_named("sum_products");
  const Tensor y = get(args.out, 0, args.where), statistics = get(args.out, 1, args.where);
  const Tensors of = elements_of(cotangent, args.where);  // y, statistics
  const Tensor t = tangent_or_zeros(of[0], y);
  Tensor c = record(sums, {t, y}, make_attrs(ReduceAttrs{Axes{y.rank() - 1}}), args.where);
  if (!is_zero_tangent(of[1])) c = c - of[1];
  const Tensors in{args.in[0], args.in[1], args.in[2], statistics, t, c};
  return elements_of(record(op, in, args.attrs, args.where), args.where);
}

/// Counts the operations of `n_products` products of all queries and the keys that they see.
std::function<double(const InferArgs&, const Aval&)> flops_of(double n_products) {
  return [n_products](const InferArgs& args, const Aval&) {
    const Shape &q = args.aval(0).shape, &v = args.aval(2).shape;
    const auto n = static_cast<double>(q[q.rank() - 3]), n_keys = static_cast<double>(v[q.rank() - 3]);
    const double seen = args.as<AttentionAttrs>().causal ? n_keys - 0.5 * (n - 1.0) : n_keys;
    return n_products * seen * static_cast<double>(q.count() + like_queries(args.aval(0), v.back()).count());
  };
}

/// Draws the first `n_inputs` of q, k, v, L, t and c.
Sample sample_inputs(Sampler& sampler, std::size_t n_inputs) {
  const auto extent = [&] { return sampler.chance(0.2) ? sampler.integer(17, 33) : sampler.integer(1, 5); };
  const bool causal = sampler.chance(0.5);
  const Dim n = sampler.chance(0.1) ? 0 : extent(), n_keys = (causal ? n : 0) + sampler.integer(1, 4);
  const Dim heads = sampler.integer(1, 2), depth = extent(), columns = extent();
  const Shape batch = sampler.chance(0.5) ? Shape{} : Shape{sampler.integer(0, 2)};
  Sample sample{{}, make_attrs(AttentionAttrs{sampler.real(0.2, 1.0), causal})};
  for (std::size_t i = 0; i < n_inputs; ++i) {
    Shape shape = batch;
    for (const Dim each : {i == 1 || i == 2 ? n_keys : n, heads}) shape.push_back(each);
    if (i != 3 && i != 5) shape.push_back(i < 2 ? depth : columns);
    sample.inputs.push_back(sampler.tensor(shape, -1, 1));
  }
  return sample;
}

Sample sample_attention(Sampler& sampler) {
  Sample sample = sample_inputs(sampler, 3);
  sample.finish = [](const Tensor& t) { return get(t, 0) + exp(expand_dims(get(t, 1), -1)); };
  return sample;
}

Sample sample_slopes(Sampler& sampler) {
  Sample sample = sample_inputs(sampler, 6);
  sample.finish = [](const Tensor& t) {
    Tensors parts;  // the slopes of different numbers of words
    for (std::size_t i = 0; i < 3; ++i) parts.push_back(sum(get(t, i) * (0.7 + 0.2 * double(i)), Axes{-3}));
    return concatenate(parts, -1);
  };
  return sample;
}

/// Labels are those of queries [batch…, words, heads, depth], then keys and columns. Items and heads are
/// apart, and the words of attention that sees all keys.
AxisMap axes_by_head(const AxisArgs& args) {
  const Shape &q = args.in[0].shape, &v = args.in[2].shape;
  const int words = q.rank() - 3, depth = q.rank() - 1, keys = q.rank(), columns = keys + 1;
  const bool is_forward = args.in.size() == 3;
  AxisMap map = needing_all({args.in, args.in[0], args.attrs}, Label::Kind::free);
  map.add(Label::Kind::whole, v[words]);
  map.add(is_forward ? Label::Kind::free : Label::Kind::whole, v.back());
  map.labels[static_cast<std::size_t>(depth)].kind = Label::Kind::whole;
  if (!is_forward || args.as<AttentionAttrs>().causal)
    map.labels[static_cast<std::size_t>(words)].kind = Label::Kind::whole;
  map.outputs.clear();
  for (std::size_t i = 0; i < args.in.size(); ++i) {
    IntList labels = IntList::counting(args.in[i].shape.rank());
    if (i == 1 || i == 2) labels[words] = keys;
    if (i == 2 || i == 4) labels[depth] = columns;
    for (int axis = 0; axis < labels.size(); ++axis) map.set(i, axis, same_as(labels[axis]));
    if (i < 3) map.outputs.push_back(labels);
  }
  if (is_forward) map.outputs = {map.outputs[0], IntList::counting(depth)};
  if (is_forward) map.outputs[0][depth] = columns;
  return map;
}

/// Returns the row with all that both have in common.
OpInfo headwise_row(OpInfo row) {
  row.infer = infer_attention;
  row.op_class = OpClass::product;
  row.axes = axes_by_head;
  row.stacks = true;
  return row;
}

}  // namespace

void register_attention(OpTable& table) {
  OpInfo row =
      headwise_row(composite("attention",
                             "(Σ_j e^(s_ij - L_i) v_j, L), s_ij = scale q_i k_j of the keys that i sees, "
                             "L_i = ln Σ_j e^s_ij, head by head",
                             3, real_floats, decompose_attention));
  row.results = results_of_attention;
  row.derivative.pull_back = pull_back_attention;
  row.derivative.formula = "attention_slopes of the cotangent; forward that of the decomposition";
  row.flops = flops_of(2.0);
  row.sample = sample_attention;
  table.add(std::move(row));

  OpInfo slopes =
      headwise_row(composite("attention_slopes",
                             "(scale Σ_j g_ij k_j, scale Σ_i g_ij q_i, Σ_i p_ij t_i), p_ij = e^(s_ij - "
                             "L_i), g_ij = p_ij (t_i v_j - c_i), of q, k, v, L, t, c",
                             6, real_floats, decompose_slopes));
  slopes.results = [](const InferArgs& args) {
    return std::vector{args.aval(0), args.aval(1), args.aval(2)};
  };
  slopes.flops = flops_of(5.0);
  slopes.sample = sample_slopes;
  table.add(std::move(slopes));
}

Tensor attention(const Located& q, const Located& k, const Located& v, const AttentionOptions& options) {
  static const OpInfo& op = op_named("attention");
  const double depth = q.tensor.rank() == 0 ? 1.0 : std::max<double>(1.0, q.tensor.dim(-1));
  const AttentionAttrs attrs{options.scale.value_or(1.0 / std::sqrt(depth)), options.causal};
  return get(record(op, {q.tensor, k.tensor, v.tensor}, make_attrs(attrs), q.where), 0, q.where);
}

}  // namespace lodestone::engine
