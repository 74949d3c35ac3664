// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/collectives/relaid.hpp"

#include "engine/core/error.hpp"
#include "engine/dist/collectives/shard_tree.hpp"
#include "engine/dist/transport/moves.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"

namespace lodestone::engine {
namespace {

void check_box(const Tensor& x, const Box* box, DType dtype, int rank) {
  const bool fits =
      x.is_valid() ? box != nullptr && x.shape() == box->shape && x.dtype() == dtype : box == nullptr;
  if (fits) return;
  throw core::ShapeError("relaid#wrong_box", "expected {} of {} on rank {}, got {}",
                         box == nullptr ? "no elements" : "the elements " + box->text(), core::name_of(dtype),
                         rank, x.is_valid() ? x.aval().text() : "none");
}

/// Returns the parts of a box combined.
Tensor combined_parts(const RouteStep& step, const Tensor& parts, const Shape& shape) {
  const auto part = [&](ShardRange range) {
    if (range.second - range.first > 1) return Tensor();
    return reshape(slice(parts, 0, range.first, range.second), shape);
  };
  return combined_in_tree(step.combine, {0, step.n_parts}, part).eval();
}

}  // namespace

Tensor relaid(Transport& transport, std::span<const RouteStep> steps, const Tensor& x, DType dtype,
              std::uint64_t number) {
  Tensor held = x;
  for (const RouteStep& step : steps) {
    check_box(held, box_of_rank(step.from, transport.rank()), dtype, transport.rank());
    const Box* to = box_of_rank(step.to, transport.rank());
    Tensor parts;
    if (to != nullptr) parts = new_array({to->shape.inserted(0, step.n_parts), dtype, default_device()});
    run_moves(transport, step, number, held.is_valid() ? held.bytes() : std::span<const std::byte>(),
              to == nullptr ? std::span<std::byte>() : std::span(parts.node().data(), parts.aval().bytes()),
              core::size_of(dtype));
    held = to == nullptr ? Tensor() : combined_parts(step, parts, to->shape);
  }
  return held;
}

}  // namespace lodestone::engine
