// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/response_layout.hpp"

#include <Eigen/Core>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::physics::mt {

/// Kinds of galvanic distortion by bodies near a station that no datum resolves. They turn its electric field
/// E into C E, and Z into C Z, with one real matrix C at all periods. Magnetic fields stay as they are.
/// source: Groom & Bailey 1989, J. Geophys. Res. 94, 1913.
enum class DistortionKind : std::uint8_t {
  static_shift,  ///< C_ii = 10^{p/2}: p is added to log10 ρₐ of a mode; C_ij = 0 elsewhere
  full           ///< C_ij = δ_ij + p
};

/// One unknown p of the matrix C of a station: the entry that it sets, rows and columns 0 (x) and 1 (y).
struct DistortionKey {
  int station;  ///< index into Survey::stations
  int row, column;
  friend constexpr auto operator<=>(const DistortionKey&, const DistortionKey&) = default;
};
/// Returns the row of C that belongs to the electric field of a mode.
[[nodiscard]] constexpr int row_of(Mode mode) { return mode == Mode::te ? 0 : 1; }

/// The numbers that distort the data of a survey, in the order of a vector of unknowns.
struct DistortionUnknowns {
  DistortionKind kind = DistortionKind::static_shift;
  std::vector<DistortionKey> keys{};
  [[nodiscard]] bool empty() const { return keys.empty(); }
  [[nodiscard]] Eigen::Index size() const { return std::ssize(keys); }
};

/// Returns the static shifts of a survey: every station and mode with an impedance or an apparent
/// resistivity. order: mode, then station.
[[nodiscard]] DistortionUnknowns static_shifts(const Survey& survey, const std::vector<Mode>& modes);
/// Returns true if a full matrix changes the datum: phase tensors, tippers and phases of the determinant
/// stay.
[[nodiscard]] bool is_distorted(Datum quantity);
/// Returns the four entries of every station with a datum that a matrix changes. order: station, then xx, xy,
/// yx, yy.
[[nodiscard]] DistortionUnknowns full_distortion(const Survey& survey);

/// Returns the matrix of each station that has one, from the unknowns p. order: by station. shape: p
/// (unknowns.size()).
[[nodiscard]] std::vector<std::pair<int, Eigen::Matrix2d>> distortion_matrices(
    const DistortionUnknowns& unknowns, const Eigen::VectorXd& p);

/// Returns a survey whose responses a distortion can mix: full matrices need both impedances of a column, so
/// it appends real parts of those that no datum is made of.
[[nodiscard]] Survey with_mixed_responses(Survey survey, const DistortionUnknowns& unknowns);

/// The factors of a distortion matrix, C = g T S A: gain, twist, shear and anisotropy. Each of T =
/// [1, −t; t, 1], S = [1, e; e, 1] and A = diag(1 + s, 1 − s) is divided by its norm. source: Groom & Bailey
/// 1989, J. Geophys. Res. 94, 1913.
struct GroomBaileyFactors {
  double gain = 1.0;
  double twist_deg = 0.0;   ///< arctan t, positive from x to y
  double shear_deg = 0.0;   ///< arctan e; ±45° where C has no inverse
  double anisotropy = 0.0;  ///< s
};
[[nodiscard]] GroomBaileyFactors groom_bailey(const Eigen::Matrix2d& c);

/// The map from responses and the unknowns of a distortion to distorted responses. Serial.
///
/// Unknowns: [simulated responses; p], one p per key. Outputs: distorted responses.
class Distortion final : public core::DifferentiableMap {
 public:
  /// Makes the map. errors: InvalidArgument on a repeated key, or an entry of a static shift beside the
  /// diagonal. Likewise on a layout without a response that a matrix mixes into another.
  Distortion(const ResponseLayout& layout, const DistortionUnknowns& unknowns);

  [[nodiscard]] Eigen::Index size_in() const override { return size_out() + n_unknowns_; }
  [[nodiscard]] Eigen::Index size_out() const override { return 2 * std::ssize(sums_); }
  [[nodiscard]] std::string name() const override { return "mt::Distortion"; }

 private:
  /// One product C_ij Z_jk of a distorted response.
  struct Term {
    Eigen::Index response;  ///< Z_jk among the complex responses
    Eigen::Index unknown;   ///< p of C_ij; −1: C_ij is that of no distortion, 1
    bool is_diagonal;       ///< i = j
  };
  [[nodiscard]] double entry(const Term& term, const core::ConstVectorRef& x) const;
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override;

  DistortionKind kind_;
  Eigen::Index n_unknowns_;
  std::vector<std::vector<Term>> sums_;  ///< those of each complex response
};

}  // namespace lodestone::physics::mt
