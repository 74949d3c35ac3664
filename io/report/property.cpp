// SPDX-License-Identifier: Apache-2.0
#include "io/report/property.hpp"

#include <fmt/format.h>

namespace lodestone::io::report {

namespace mesh = physics::mesh;

bool is_resistivity(const mesh::Property& property) {
  return property.name == mesh::Property{}.name && property.units == mesh::Property{}.units;
}

bool shows_log10(const mesh::Property& property) {
  return property.scale == mesh::Scale::log10 || is_resistivity(property);
}

Eigen::VectorXd values_in_picture(const mesh::Model& model) {
  return is_resistivity(model.property) ? mesh::log10_resistivity(model) : model.values;
}

std::string title_of(const mesh::Property& property) {
  std::string title = property.name;
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z')
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  return title;
}

std::string label_of(const mesh::Property& property) {
  return property.units.empty() ? title_of(property)
                                : fmt::format("{} ({})", title_of(property), property.units);
}

}  // namespace lodestone::io::report
