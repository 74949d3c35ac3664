// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/earths/generator.hpp"
#include "models/earths/randomness.hpp"
#include "physics/mesh/shapes.hpp"

#include <optional>
#include <vector>

namespace lodestone::models::earths {

/// An outline of one resistivity. The part above the surface or beside the section is of no effect.
struct Body {
  std::vector<physics::mesh::Point> outline;
  double log10_resistivity = 0.0;
  physics::mesh::Interval x_m{};  ///< its reach along x, in a volume
};

/// The options that all families of bodies share.
struct BodiesOptions {
  GeneratorPtr background;       ///< earth around the bodies
  double section_width_m = 0.0;  ///< width of the section in which bodies are placed and from which the grid
                                 ///< is cut at a random place; 0: as wide as the patch, for a single column
                                 ///< as wide as the grid is deep. In a volume likewise along x.
};

/// Bodies in a background. A family draws the bodies; later ones cover earlier ones. A cell that a body
/// fills in part has the mean of log10 over its area.
class Bodies : public Generator {
 public:
  [[nodiscard]] Eigen::MatrixXd draw(const core::Philox& random, const TensorGrid& grid) const final;
  /// Checks that bodies reach up into the grid. errors: InvalidArgument otherwise, and those of the
  /// background.
  void check_grid(const TensorGrid& grid) const final;

 protected:
  /// Checks the options. errors: InvalidArgument (no background, a width that is negative or not finite).
  explicit Bodies(BodiesOptions options);
  /// Returns the bodies of one draw, in a section from y = 0 to its width.
  [[nodiscard]] virtual std::vector<Body> bodies(Draws& draws, double section_width_m) const = 0;
  /// Returns the depth above which no point of any body lies; negative: above the surface.
  [[nodiscard]] virtual double least_depth_m() const = 0;
  /// Gives the bodies of a draw their reach along x in a volume of this length. A family without it is
  /// refused there.
  virtual void place_along_x(std::vector<Body>& /*bodies*/, Draws& /*draws*/, double /*length_m*/) const {}
  [[nodiscard]] virtual bool has_length() const { return false; }
  /// Checks keys that one of sections and volumes alone has. errors: InvalidArgument.
  virtual void check_length(const TensorGrid& /*grid*/) const {}

 private:
  BodiesOptions options_;
};

/// Rectangles, level or tilted; in a volume prisms along x. Their middles lie anywhere. Lengths have no
/// default.
struct BlocksOptions {
  BodiesOptions bodies;
  IntegerRange number{1, 3};
  Range top_m{};                    ///< top of the level rectangle
  Range width_m{};                  ///< log-uniform
  Range height_m{};                 ///< log-uniform
  std::optional<Range> length_m{};  ///< along x of a volume, log-uniform; absent: as the width
  Range tilt_deg{0.0, 0.0};         ///< about the middle, down to the right
  Range log10_resistivity{0.0, 4.0};
};

class Blocks final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Blocks(const BlocksOptions& options);
  [[nodiscard]] std::string kind() const override { return "blocks"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override;
  void place_along_x(std::vector<Body>& bodies, Draws& draws, double length_m) const override;
  [[nodiscard]] bool has_length() const override { return true; }
  void check_length(const TensorGrid& grid) const override;
  BlocksOptions options_;
};

/// A layer that thins out from one end to the other, either way round. Lengths have no default.
struct WedgeOptions {
  BodiesOptions bodies;
  Range top_m{};               ///< at the middle, which lies anywhere along the section
  Range length_m{};            ///< across the profile, log-uniform
  Range thickness_m{};         ///< thickness of the thick end, log-uniform
  Range thin_share{0.0, 0.3};  ///< thickness of the thin end, as a share of the other's
  Range dip_deg{-5.0, 5.0};    ///< dip of the top, down to the right
  Range log10_resistivity{0.0, 1.5};
};

class Wedge final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Wedge(const WedgeOptions& options);
  [[nodiscard]] std::string kind() const override { return "wedge"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override;
  WedgeOptions options_;
};

/// A fill with a level top and a bottom z = top + thickness·(1 − |s|^shape), s from −1 to 1 across. Lengths
/// have no default.
struct BasinOptions {
  BodiesOptions bodies;
  Range top_m{0.0, 0.0};
  Range width_m{};        ///< log-uniform; the middle lies anywhere along the section
  Range thickness_m{};    ///< at the middle, log-uniform
  Range shape{1.5, 6.0};  ///< 1: a V, 2: a parabola, large: steep sides and a level floor
  Range log10_resistivity{0.0, 1.5};
};

class Basin final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Basin(const BasinOptions& options);
  [[nodiscard]] std::string kind() const override { return "basin"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override { return options_.top_m.lower; }
  BasinOptions options_;
};

/// Steep sheets. Their tops lie anywhere along the section. Lengths have no default.
struct DikesOptions {
  BodiesOptions bodies;
  IntegerRange number{1, 3};
  Range top_m{};
  Range width_m{};             ///< along the profile, log-uniform
  Range height_m{};            ///< from top to bottom, log-uniform
  Range dip_deg{60.0, 120.0};  ///< from the horizontal; below 90 down to the right, above down to the left
  Range log10_resistivity{0.0, 1.5};
};

class Dikes final : public Bodies {
 public:
  /// Checks the options. errors: InvalidArgument (ranges, no background).
  explicit Dikes(const DikesOptions& options);
  [[nodiscard]] std::string kind() const override { return "dikes"; }

 private:
  [[nodiscard]] std::vector<Body> bodies(Draws& draws, double section_width_m) const override;
  [[nodiscard]] double least_depth_m() const override { return options_.top_m.lower; }
  DikesOptions options_;
};

}  // namespace lodestone::models::earths
