// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/response_layout.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::mt {
ResponseLayout::ResponseLayout(std::vector<ResponseKey> keys) : keys_(std::move(keys)) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

Elements ResponseLayout::elements() const {
  Elements elements;
  for (const ResponseKey& key : keys_) elements.insert(key.element);
  return elements;
}

Eigen::Index ResponseLayout::find(const ResponseKey& key) const {
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
  return found == keys_.end() || *found != key ? -1 : found - keys_.begin();
}

ResponseLayout needed_responses(const Survey& survey) {
  std::vector<ResponseKey> keys;
  for (const DatumKey& key : survey.keys) {
    for (const Element element : all_elements) {
      if (rule_of(key.quantity).needs.contains(element))
        keys.push_back({element, key.frequency, key.station});
    }
  }
  return ResponseLayout(std::move(keys));
}

ResponseLayout restricted(const ResponseLayout& layout, Elements predicted) {
  std::vector<ResponseKey> keys;
  for (const ResponseKey& key : layout.keys()) {
    if (predicted.contains(key.element)) keys.push_back(key);
  }
  return ResponseLayout(std::move(keys));
}

Survey response_survey(const ResponseLayout& layout, std::vector<Station> stations,
                       std::vector<double> frequencies_hz) {
  Survey survey{std::move(stations), std::move(frequencies_hz), {}};
  for (const auto& [element, frequency, station] : layout.keys()) {
    const Datum real = real_part_of(element);
    survey.keys.push_back({real, frequency, station});
    survey.keys.push_back({partner_of(real), frequency, station});
  }
  survey.validate();
  return survey;
}

}  // namespace lodestone::physics::mt
