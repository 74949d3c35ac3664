// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/response_layout.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::mt {
ResponseLayout::ResponseLayout(std::vector<ResponseKey> keys) : keys_(std::move(keys)) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
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

}  // namespace lodestone::physics::mt
