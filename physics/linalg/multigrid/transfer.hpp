// SPDX-License-Identifier: Apache-2.0
// Private to physics/linalg: corrections from a coarser grid, and residuals to it.
#pragma once

#include "physics/linalg/multigrid/coarsening.hpp"
#include "physics/linalg/multigrid/field.hpp"

namespace lodestone::physics::linalg::multigrid {

/// Interpolation between two grids: circulations by their share of the length along an edge, linear across
/// it; potentials linear along each axis. It commutes with the gradient, so that with its transpose for
/// residuals ρ stays the divergence of r on every level.
template <class T>
class Transfer {
 public:
  Transfer(const fem::EdgeGrid& fine, const Coarsening& coarse);

  /// Computes coarse = Pᵀ fine.
  void restrict_to_coarse(const Field<T>& fine, Field<T>& coarse) const;
  /// Computes fine += P coarse.
  void add_from_coarse(const Field<T>& coarse, Field<T>& fine) const;

 private:
  /// A place of the finer grid between two of the coarser.
  struct Between {
    int first;
    T weights[2];
  };
  /// A place of the finer grid that contributes to one of the coarser.
  struct Child {
    int at;
    T weight;
  };
  /// Weights along one axis, of the nodes and of the edges along it.
  struct AxisWeights {
    std::vector<Between> nodes, edges;
    std::vector<std::vector<Child>> node_children, edge_children;  ///< lists of each coarse place
    [[nodiscard]] const std::vector<Between>& of(bool along) const { return along ? edges : nodes; }
    [[nodiscard]] const std::vector<std::vector<Child>>& children(bool along) const {
      return along ? edge_children : node_children;
    }
  };
  static AxisWeights weights_along(const fem::EdgeGrid& fine, const Coarsening& coarse, int axis);
  void restrict_slab(const Field<T>& fine, Field<T>& coarse, int j) const;
  void add_slab(const Field<T>& coarse, Field<T>& fine, int j) const;

  Layout fine_, coarse_;
  AxisWeights weights_[3];
};

}  // namespace lodestone::physics::linalg::multigrid
