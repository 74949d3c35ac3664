// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/transfer_functions.hpp"

namespace lodestone::physics::mt::d3 {

namespace {

constexpr double least_determinant = 1e-6;  // over the product of the norms
constexpr int h_x = static_cast<int>(Channel::h_x), h_y = static_cast<int>(Channel::h_y);

}  // namespace

TransferFunctions::TransferFunctions(const StationFields& fields, const StationFields& reference)
    : fields_(fields), reference_(reference) {
  const auto& [a, b] = reference_;  // polarizations
  determinant_ = a[h_x] * b[h_y] - a[h_y] * b[h_x];
  inverse_ = {Pair{b[h_y] / determinant_, -b[h_x] / determinant_},
              Pair{-a[h_y] / determinant_, a[h_x] / determinant_}};
}

bool TransferFunctions::is_determined() const {
  const auto size = [](const auto& fields) {
    return std::hypot(std::abs(fields[h_x]), std::abs(fields[h_y]));
  };
  return std::abs(determinant_) > least_determinant * size(reference_[0]) * size(reference_[1]);
}

Channel TransferFunctions::numerator(Element element) {
  constexpr PerElement<Channel> channels{{Channel::e_x, Channel::e_x, Channel::e_y, Channel::e_y,
                                          Channel::h_z, Channel::h_z, Channel::h_x, Channel::h_x,
                                          Channel::h_y, Channel::h_y}};
  return channels[element];
}

int TransferFunctions::column(Element element) { return static_cast<int>(index_of(element)) % 2; }

TransferFunctions::Pair TransferFunctions::row(Channel channel) const {
  Pair result{};
  for (int p = 0; p < n_polarizations; ++p) {
    for (int c = 0; c < 2; ++c) result[c] += fields_[p][static_cast<int>(channel)] * inverse_[p][c];
  }
  return result;
}

Complex TransferFunctions::value(Element element) const { return row(numerator(element))[column(element)]; }

/// From G H = F: dG = (dF − G dH) H⁻¹.
StationFields TransferFunctions::slopes(Element element) const {
  StationFields result{};
  for (int p = 0; p < n_polarizations; ++p)
    result[p][static_cast<int>(numerator(element))] = inverse_[p][column(element)];
  return result;
}

StationFields TransferFunctions::slopes_of_reference(Element element) const {
  const Pair elements = row(numerator(element));
  StationFields result{};
  for (int p = 0; p < n_polarizations; ++p) {
    result[p][h_x] = -elements[0] * inverse_[p][column(element)];
    result[p][h_y] = -elements[1] * inverse_[p][column(element)];
  }
  return result;
}

}  // namespace lodestone::physics::mt::d3
