// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: from the fields of two polarizations to impedance, tipper, inter-station function.
#pragma once

#include "physics/mt/d3/receivers.hpp"
#include "physics/mt/element.hpp"

namespace lodestone::physics::mt::d3 {

/// Fields of both polarizations at one station and frequency: `of_polarization[p][channel]`.
using StationFields = std::array<std::array<Complex, n_channels>, n_polarizations>;

/// Ratios F H⁻¹ of the fields of two polarizations, with their slopes: F is E in impedances, H_z in tippers
/// and the horizontal magnetic field in inter-station functions. H is the horizontal magnetic field at the
/// reference, which for impedances and tippers is the station itself.
class TransferFunctions {
 public:
  TransferFunctions(const StationFields& fields, const StationFields& reference);
  /// False where the horizontal magnetic fields of both polarizations at the reference are nearly parallel.
  [[nodiscard]] bool is_determined() const;
  [[nodiscard]] Complex value(Element element) const;
  /// Returns the slopes of an element with respect to each field of F, and to each at the reference. They are
  /// complex derivatives.
  [[nodiscard]] StationFields slopes(Element element) const;
  [[nodiscard]] StationFields slopes_of_reference(Element element) const;

 private:
  using Pair = std::array<Complex, 2>;
  [[nodiscard]] static Channel numerator(Element element);
  [[nodiscard]] static int column(Element element);
  /// Returns the two elements of the row that a channel has, those of H_x and of H_y.
  [[nodiscard]] Pair row(Channel channel) const;
  StationFields fields_, reference_;
  std::array<Pair, 2> inverse_;  ///< H⁻¹: [polarization][of H_x, of H_y]
  Complex determinant_;
};

/// Fields of all units and stations: one number per row of `Simulation::Impl::row_of`.
using FieldTable = Eigen::VectorXcd;

}  // namespace lodestone::physics::mt::d3
