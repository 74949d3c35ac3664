// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/outcome.hpp"
#include "physics/mt/observations.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::report {

/// The content of pictures, whatever was inverted: impedances become apparent resistivity and phase. TE is xy
/// and TM yx; `tipper_re` and `tipper_im` are those of Tzy.
enum class Shown {
  rho_te,
  phase_te,
  rho_tm,
  phase_tm,
  tipper_re,
  tipper_im,
  rho_xx,
  phase_xx,
  rho_yy,
  phase_yy,
  tzx_re,
  tzx_im,
  phase_tensor_xx,
  phase_tensor_xy,
  phase_tensor_yx,
  phase_tensor_yy,
  rho_det,
  phase_det
};
inline constexpr std::array all_shown{Shown::rho_te,          Shown::phase_te,        Shown::rho_tm,
                                      Shown::phase_tm,        Shown::tipper_re,       Shown::tipper_im,
                                      Shown::rho_xx,          Shown::phase_xx,        Shown::rho_yy,
                                      Shown::phase_yy,        Shown::tzx_re,          Shown::tzx_im,
                                      Shown::phase_tensor_xx, Shown::phase_tensor_xy, Shown::phase_tensor_yx,
                                      Shown::phase_tensor_yy, Shown::rho_det,         Shown::phase_det};
[[nodiscard]] std::string title_of(Shown shown);  ///< "TE apparent resistivity"
[[nodiscard]] std::string slug_of(Shown shown);   ///< "te_apparent_resistivity", for file names
[[nodiscard]] bool is_phase(Shown shown);
[[nodiscard]] bool is_rho(Shown shown);

/// One datum as shown. units: log10(ohm m), degrees (TM folded by +180°), none for tipper. NaN where not
/// there.
struct ShownDatum {
  double observed, sigma, predicted;
  bool kept = false;  ///< used in the inversion
  bool interpolated = false;
  double residual;  ///< (observed − predicted)/σ, phases wrapped; NaN when not kept
};

/// The places of the stations: on a line, where xy is TE and yx TM, or on a map, where they are xy and yx.
enum class Places { line, map };

/// Magnetotelluric data and their predictions by what is shown, frequency and station.
class ShownData {
 public:
  /// shape: predicted (data.survey.keys.size()). errors: ShapeError.
  ShownData(physics::mt::Observations data, Eigen::VectorXd predicted, Places places = Places::line);
  [[nodiscard]] Places places() const { return places_; }
  [[nodiscard]] bool has(Shown shown) const;  ///< some datum is there
  [[nodiscard]] bool has_predictions() const { return predicted_.array().isFinite().any(); }
  [[nodiscard]] ShownDatum at(Shown shown, int frequency, int station) const;
  /// Returns the rms of all data used of a station, shown or not; NaN without any.
  [[nodiscard]] double rms(int station) const;
  [[nodiscard]] int n_frequencies() const { return n_frequencies_; }
  [[nodiscard]] int n_stations() const { return n_stations_; }
  [[nodiscard]] const physics::mt::Station& station(int k) const {
    return data_.survey.stations[static_cast<std::size_t>(k)];
  }
  [[nodiscard]] const std::vector<physics::mt::Station>& stations() const { return data_.survey.stations; }
  /// Returns the indices from the shortest period to the longest; stations along the profile.
  [[nodiscard]] std::vector<int> frequencies_by_period() const;
  /// Returns the same without those beyond the shortest and the longest period of the data used; all where
  /// none is.
  [[nodiscard]] std::vector<int> used_frequencies() const;
  [[nodiscard]] std::vector<int> stations_along() const;
  [[nodiscard]] double period_s(int frequency) const;

 private:
  [[nodiscard]] int key(physics::mt::Datum quantity, int frequency, int station) const;
  [[nodiscard]] ShownDatum direct(int key, Shown shown) const;
  [[nodiscard]] ShownDatum from_impedance(int real, int imaginary, Shown shown, int frequency) const;
  physics::mt::Observations data_;
  Eigen::VectorXd predicted_;
  Places places_;
  int n_frequencies_, n_stations_;
  std::vector<int> keys_;
};

/// Returns the data of an outcome as pictures show them; nothing where they are those of another physics.
[[nodiscard]] std::optional<ShownData> shown_data(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
