// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/response_layout.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::physics::mt {
ResponseLayout::ResponseLayout(std::vector<ResponseKey> keys, Elements zero)
    : keys_(std::move(keys)), zero_(zero) {
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

Eigen::Index ResponseLayout::find(const ResponseKey& key) const {
  const auto found = std::lower_bound(keys_.begin(), keys_.end(), key);
  return found == keys_.end() || *found != key ? -1 : found - keys_.begin();
}

ResponseLayout needed_responses(const Survey& survey, Elements predicted) {
  std::vector<ResponseKey> keys;
  Elements zero;
  for (const DatumKey& key : survey.keys) {
    const DatumRule& rule = rule_of(key.quantity);
    const bool is_determined = determines(predicted, rule);
    for (const Element element : all_elements) {
      if (!rule.needs.contains(element)) continue;
      if (is_determined && !predicted.contains(element))
        zero.insert(element);
      else
        keys.push_back({element, key.frequency, key.station});
    }
  }
  return ResponseLayout(std::move(keys), zero);
}

}  // namespace lodestone::physics::mt
