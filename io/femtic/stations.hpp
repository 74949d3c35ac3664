// SPDX-License-Identifier: Apache-2.0
// Private to io/femtic: blocks of observe.dat and the stations that they make.
#pragma once

#include "physics/mt/conventions.hpp"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::io::femtic {

enum class Block : std::uint8_t { impedance, rho_and_phase, vertical, horizontal, phase_tensor };

/// Returns the number of data of a row; as many errors follow them.
[[nodiscard]] constexpr std::size_t n_data_of(Block block) {
  return block == Block::vertical || block == Block::phase_tensor ? 4 : 8;
}

/// The stations of a file in the making: numbers in, and stations in e^{+iωt} out.
class Stations {
 public:
  Stations(std::string path, const physics::mt::Conventions& chosen);

  /// Adds a station of a block. returns: false where its number is taken.
  [[nodiscard]] bool add(int number, Block block, double x_m, double y_m);
  /// Sets the station that inter-station functions of the last one refer to.
  void set_reference(int number) { entries_.back().reference = number; }
  void note_remote_field() { ++n_remote_; }
  /// Takes a row of the last station: data and errors.
  void take(double frequency_hz, std::span<const double> data, std::span<const double> errors);
  void remark(const std::string& text) { remarks_.push_back(text); }

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// Returns the number of a reference that is none of the stations, or 0.
  [[nodiscard]] int unknown_reference() const;
  /// Joins those at one place, converts sign and units, and returns all.
  [[nodiscard]] std::vector<physics::mt::StationData> finish();

 private:
  struct Entry {
    physics::mt::StationData station;
    Block block;
    int number, reference;
  };
  void take_complex(std::span<const physics::mt::Element> elements, double frequency_hz,
                    std::span<const double> data, std::span<const double> errors);
  void take_rho_and_phase(double frequency_hz, std::span<const double> data, std::span<const double> errors);
  void take_rho_reading(bool is_xy, double frequency_hz, std::span<const double> datum,
                        std::span<const double> error);
  void take_phase_tensor(double frequency_hz, std::span<const double> data, std::span<const double> errors);
  void turn_phase_tensors();
  void join_places();
  void name_references();
  void add_remarks(physics::mt::StationData& first) const;

  std::string path_;
  physics::mt::Conventions chosen_;
  std::vector<Entry> entries_;
  std::map<int, std::size_t> by_number_;  ///< index of the entry, also after it was joined with another
  std::vector<std::string> remarks_;
  int n_off_ = 0, n_half_ = 0, n_excluded_ = 0, n_joined_ = 0, n_remote_ = 0, n_repeated_ = 0, n_unequal_ = 0;
  bool turns_tensors_ = false;
};

}  // namespace lodestone::io::femtic
