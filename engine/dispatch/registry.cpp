// SPDX-License-Identifier: Apache-2.0
// The table of all ops: the one place that names every registration.
#include "engine/backend/register.hpp"
#include "engine/dist/collectives/register.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/register.hpp"
#include "engine/transform/register.hpp"

namespace lodestone::engine {
namespace {

void register_own(OpTable& table) {
  register_constants(table);
  register_elementwise(table);
  register_reductions(table);
  register_movement(table);
  register_products(table);
  register_convolutions(table);
  register_pooling(table);
  register_normalization(table);
  register_activations(table);
  register_batch_norm(table);
  register_updates(table);
  register_random(table);
  register_indexing(table);
  register_positions(table);
  register_cumulative(table);
  register_softmax(table);
  register_attention(table);
  register_linalg(table);
  register_external(table);
  register_implicit(table);
  register_tuples(table);
  register_calls(table);
  register_custom(table);
  register_control(table);
  register_scan(table);
  register_collectives(table);
  register_reference_kernels(table);
  register_cpu_kernels(table);
}

}  // namespace

OpTable& OpTable::global() {
  static OpTable& table = *[] {
    auto* made = new OpTable;  // never destroyed: tensors of static lifetime name their op
    register_own(*made);
    return made;
  }();
  return table;
}

}  // namespace lodestone::engine
