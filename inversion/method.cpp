// SPDX-License-Identifier: Apache-2.0
#include "inversion/method.hpp"

#include <utility>

namespace lodestone::inversion {
namespace {

/// Returns the options that hold the keys of every method.
template <class Options>
const Options& common(const Options& options) {
  return options;
}
const optimize::AlternatingOptions& common(const AlternatingMethod& method) { return method.pairs; }

}  // namespace

int max_iterations(const Method& method) {
  return std::visit([](const auto& options) { return common(options).max_iterations; }, method);
}

double target_rms(const Method& method) {
  return std::visit([](const auto& options) { return common(options).target_rms; }, method);
}

std::unique_ptr<optimize::Optimizer> make_optimizer(MPI_Comm comm, const Method& method) {
  if (const auto* both = std::get_if<AlternatingMethod>(&method))
    return std::make_unique<optimize::GaussNewton>(comm, both->polish);
  if (const auto* options = std::get_if<optimize::GaussNewtonOptions>(&method))
    return std::make_unique<optimize::GaussNewton>(comm, *options);
  return std::make_unique<optimize::Descent>(comm, std::get<optimize::DescentOptions>(method));
}

std::unique_ptr<optimize::Optimizer> make_alternating(MPI_Comm comm, const Method& method,
                                                      prior::CodedRoughness codes,
                                                      prior::EncodeOptions encode) {
  optimize::AlternatingOptions options = std::get<AlternatingMethod>(method).pairs;
  options.encode = encode;
  return std::make_unique<optimize::Alternating>(comm, options, std::move(codes));
}

}  // namespace lodestone::inversion
