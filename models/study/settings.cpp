// SPDX-License-Identifier: Apache-2.0
#include "models/study/settings.hpp"

#include "engine/core/error.hpp"

namespace lodestone::models::study {

const MethodWeights& Settings::weights_of(Method method) const {
  return method == Method::pixel ? pixel : method == Method::gaussian ? gaussian : feature;
}

Settings with_variant(Settings settings, const std::string& variant) {
  if (variant.empty()) return settings;
  if (variant == "other norm") {
    for (MethodWeights* weights : {&settings.gaussian, &settings.feature})
      weights->between_epsilon = weights->between_epsilon > 0.0 ? 0.0 : usual_between_epsilon;
    return settings;
  }
  const std::size_t blank = variant.find(' ');
  const std::string name = variant.substr(0, blank),
                    factor_text = blank == std::string::npos ? "" : variant.substr(blank + 1);
  const double factor = factor_text == "x10" ? 10.0 : factor_text == "/10" ? 0.1 : 0.0;
  double MethodWeights::*member = name == "horizontal" ? &MethodWeights::horizontal
                                  : name == "code"     ? &MethodWeights::code
                                  : name == "between"  ? &MethodWeights::between
                                                       : nullptr;
  if (member == nullptr || factor == 0.0)
    throw core::InvalidArgument(
        "models::study#unknown_variant",
        "expected a variant \"horizontal|code|between x10|/10\" or \"other norm\", got \"{}\"", variant);
  for (MethodWeights* weights : {&settings.pixel, &settings.gaussian, &settings.feature})
    weights->*member *= factor;
  return settings;
}

}  // namespace lodestone::models::study
