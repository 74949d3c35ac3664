// SPDX-License-Identifier: Apache-2.0
// Component mesh: the cells of a layered earth.
#include "physics/mesh/cells.hpp"

namespace mesh = lodestone::physics::mesh;

int main() {
  const mesh::Cells cells = mesh::cells(mesh::Earth{mesh::TensorGrid::layers(1.5, 1.19, 42)});
  return cells.n_cells() == 42 && cells.faces.size() == 41 ? 0 : 1;
}
