// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/pipeline/shapes.hpp"

#include "engine/record/trace.hpp"

namespace lodestone::engine {
namespace {

using Types = std::vector<std::vector<Aval>>;  // per leaf
using Words = std::vector<std::int64_t>;

Strided elements(Words& words) {
  return {reinterpret_cast<std::byte*>(words.data()), {std::ssize(words)}, {1}, sizeof(std::int64_t)};
}

/// Writes types as numbers: per leaf how many, per type its dtype, rank and extents.
Words words_of(const Types& types) {
  Words words;
  for (const std::vector<Aval>& leaf : types) {
    words.push_back(std::ssize(leaf));
    for (const Aval& aval : leaf) {
      words.push_back(static_cast<std::int64_t>(aval.dtype));
      words.push_back(aval.shape.rank());
      words.insert(words.end(), aval.shape.begin(), aval.shape.end());
    }
  }
  return words;
}

Types types_from(const Words& words, std::size_t n_leaves) {
  Types types(n_leaves);
  std::size_t at = 0;
  for (std::vector<Aval>& leaf : types) {
    leaf.resize(static_cast<std::size_t>(words[at++]));
    for (Aval& aval : leaf) {
      aval.dtype = static_cast<DType>(words[at++]);
      const auto rank = static_cast<std::size_t>(words[at++]);
      aval.shape = IntList(std::span(words).subspan(at, rank));
      at += rank;
    }
  }
  return types;
}

void send(Transport& transport, int to, const Types& types, std::uint64_t number) {
  Words words = words_of(types), size{std::ssize(words)};
  const Message messages[] = {{to, elements(size)}, {to, elements(words)}};
  transport.exchange(messages, {}, number);
}

Types receive(Transport& transport, int from, std::size_t n_leaves, std::uint64_t number) {
  Words size(1);
  const Message first{from, elements(size)};
  transport.exchange({}, {&first, 1}, number);
  Words words(static_cast<std::size_t>(size[0]));
  const Message second{from, elements(words)};
  transport.exchange({}, {&second, 1}, number);
  return types_from(words, n_leaves);
}

std::vector<Aval> avals_of(const Tensors& tensors) {
  std::vector<Aval> avals;
  for (const Tensor& each : tensors) avals.push_back(each.aval());
  return avals;
}

/// Returns what a chunk gives for activations of these types. No cell is assigned.
std::vector<Aval> outputs_of(const PipelineStage& stage, const std::vector<Aval>& activations,
                             const std::source_location& where) {
  std::vector<Aval> inputs = avals_of(stage.parameters);
  inputs.insert(inputs.end(), activations.begin(), activations.end());
  const Trace::WithCells all = Trace::with_cells(stage.f, inputs, where);
  std::vector<Aval> outputs = avals_of(all.trace.outputs());
  outputs.resize(outputs.size() - all.assigned.size());
  return outputs;
}

}  // namespace

ActivationTypes activation_types(Transport& transport, const PipelineSchedule& schedule,
                                 const std::map<int, PipelineStage>& stages,
                                 const std::vector<PipelineLeaf>& leaves, std::uint64_t number,
                                 const std::source_location& where) {
  ActivationTypes types;
  const int last = schedule.n_chunks() - 1;
  for (int chunk = 0; chunk <= last; ++chunk) {
    if (schedule.rank_of(chunk) != transport.rank()) continue;
    Types inputs;
    if (chunk == 0) {
      for (const PipelineLeaf& leaf : leaves) inputs.push_back(avals_of(leaf.inputs));
    } else {
      const int from = schedule.rank_of(chunk - 1);
      if (from != transport.rank()) types[chunk - 1] = receive(transport, from, leaves.size(), number);
      inputs = types[chunk - 1];
    }
    if (chunk == last) continue;
    Types& outputs = types[chunk];
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      // Most leaves are alike.
      outputs.push_back(i > 0 && inputs[i] == inputs[i - 1] ? outputs[i - 1]
                                                            : outputs_of(stages.at(chunk), inputs[i], where));
    }
    const int to = schedule.rank_of(chunk + 1);
    if (to != transport.rank()) send(transport, to, outputs, number);
  }
  return types;
}

}  // namespace lodestone::engine
