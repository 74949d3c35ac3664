// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/transfer_functions.hpp"

namespace lodestone::physics::mt::d3 {

namespace {

constexpr double least_determinant = 1e-6;  // over the product of the norms
constexpr int h_x = static_cast<int>(Channel::h_x), h_y = static_cast<int>(Channel::h_y);

}  // namespace

TransferFunctions::TransferFunctions(const StationFields& fields) : fields_(fields) {
  const auto& [a, b] = fields_;  // polarizations
  determinant_ = a[h_x] * b[h_y] - a[h_y] * b[h_x];
  inverse_ = {Pair{b[h_y] / determinant_, -b[h_x] / determinant_},
              Pair{-a[h_y] / determinant_, a[h_x] / determinant_}};
}

bool TransferFunctions::is_determined() const {
  const auto size = [](const auto& fields) {
    return std::hypot(std::abs(fields[h_x]), std::abs(fields[h_y]));
  };
  return std::abs(determinant_) > least_determinant * size(fields_[0]) * size(fields_[1]);
}

Channel TransferFunctions::numerator(Element element) {
  if (is_tipper(element)) return Channel::h_z;
  return element == Element::zxx || element == Element::zxy ? Channel::e_x : Channel::e_y;
}

int TransferFunctions::column(Element element) {
  return element == Element::zxx || element == Element::zyx || element == Element::tzx ? 0 : 1;
}

TransferFunctions::Pair TransferFunctions::row(Channel channel) const {
  Pair result{};
  for (int p = 0; p < n_polarizations; ++p) {
    for (int c = 0; c < 2; ++c) result[c] += fields_[p][static_cast<int>(channel)] * inverse_[p][c];
  }
  return result;
}

Complex TransferFunctions::value(Element element) const { return row(numerator(element))[column(element)]; }

/// From F H = f: dF = (df − F dH) H⁻¹.
StationFields TransferFunctions::slopes(Element element) const {
  const Channel channel = numerator(element);
  const Pair elements = row(channel);
  StationFields result{};
  for (int p = 0; p < n_polarizations; ++p) {
    const Complex factor = inverse_[p][column(element)];
    result[p][static_cast<int>(channel)] = factor;
    result[p][h_x] = -elements[0] * factor;
    result[p][h_y] = -elements[1] * factor;
  }
  return result;
}

}  // namespace lodestone::physics::mt::d3
