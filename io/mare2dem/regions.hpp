// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to io/mare2dem, geometry without files.
#pragma once

#include <cstddef>
#include <vector>

namespace lodestone::io::mare2dem {

/// A node of a plane in metres, z down.
struct PlaneNode {
  double y_m = 0.0, z_m = 0.0;
};
/// A line between two nodes.
struct PlaneSegment {
  std::size_t from = 0, to = 0;
};
/// A point in a region, and the number of the region, from 0.
struct RegionSeed {
  PlaneNode at;
  int region = 0;
};
inline constexpr int no_region = -1;

/// A part of a vertical line within one face.
struct PlanePiece {
  double from_m, to_m;  ///< z
  int region;           ///< `no_region`: no seed lies in the face
};

/// The regions into which segments cut a plane. Segments meet at nodes alone.
class Regions {
 public:
  /// `columns_m`: places along y at which faces within others are looked for; a face that none of them
  /// crosses is not joined to what surrounds it.
  Regions(std::vector<PlaneNode> nodes, const std::vector<PlaneSegment>& segments,
          const std::vector<RegionSeed>& seeds, const std::vector<double>& columns_m);

  /// Returns the parts of the vertical line at y between the uppermost and the lowest segment, from the top.
  [[nodiscard]] std::vector<PlanePiece> along(double y_m) const;
  /// Returns the numbers of the seeds whose face has another seed of another region already.
  [[nodiscard]] const std::vector<std::size_t>& contested() const { return contested_; }

  /// A segment from left to right with the regions on its sides.
  struct Side {
    PlaneNode left, right;
    int above, below;
  };
  /// Returns the segments that are not vertical.
  [[nodiscard]] std::vector<Side> sides() const;
  /// Returns all segments, the lesser y first.
  [[nodiscard]] std::vector<std::pair<PlaneNode, PlaneNode>> segments() const;

 private:
  struct Crossing {
    double z_m, slope;
    std::size_t segment;
  };
  [[nodiscard]] std::vector<Crossing> crossings(double y_m) const;
  [[nodiscard]] std::size_t face_of(std::size_t half_edge) const;
  void join(std::size_t a, std::size_t b);
  void join_around_nodes();

  // Half-edge 2i of segment i runs from left to right and has its face above, 2i + 1 runs back, its face
  // below.
  std::vector<PlaneNode> nodes_;
  std::vector<PlaneSegment> segments_;
  mutable std::vector<std::size_t> parent_;  ///< half-edges joined to faces, the last for the outer one
  std::vector<int> region_;                  ///< by the face's root
  std::vector<std::size_t> contested_;
};

}  // namespace lodestone::io::mare2dem
