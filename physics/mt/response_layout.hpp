// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "physics/mt/survey.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace lodestone::physics::mt {

/// One complex number that a simulation predicts.
struct ResponseKey {
  Element element;
  int frequency;  ///< index into the frequencies of the survey
  int station;    ///< index into its stations
  friend constexpr auto operator<=>(const ResponseKey&, const ResponseKey&) = default;
};

/// The order of complex responses in a vector of real numbers: those of key k stand at 2k (real part) and
/// 2k + 1 (imaginary part). units: ohm, tipper none. sign: e^{+iωt}.
class ResponseLayout {
 public:
  ResponseLayout() = default;
  /// Sorts the keys by element, frequency and station, and drops repeated ones.
  /// `zero`: elements without keys that vanish over the earth of the simulation.
  explicit ResponseLayout(std::vector<ResponseKey> keys, Elements zero = {});

  [[nodiscard]] const std::vector<ResponseKey>& keys() const { return keys_; }
  /// Returns the number of real numbers, twice that of the keys.
  [[nodiscard]] Eigen::Index size() const { return 2 * static_cast<Eigen::Index>(keys_.size()); }
  /// Returns the place of a key among the keys, −1 where it is absent.
  [[nodiscard]] Eigen::Index find(const ResponseKey& key) const;
  /// Returns whether an element has no keys since it vanishes.
  [[nodiscard]] bool is_zero(Element element) const { return zero_.contains(element); }

 private:
  std::vector<ResponseKey> keys_;
  Elements zero_;
};

inline constexpr Elements every_element = all_impedances | all_tippers | all_interstation;

/// Returns every response that some datum of the survey is made of, out of those that a simulation predicts.
/// Others of data that it determines are zero.
[[nodiscard]] ResponseLayout needed_responses(const Survey& survey, Elements predicted = every_element);

}  // namespace lodestone::physics::mt
