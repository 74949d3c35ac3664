// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "models/study/data.hpp"
#include "models/study/domain.hpp"
#include "models/study/figures.hpp"
#include "models/study/settings.hpp"
#include "models/vae/trained_vae.hpp"

#include <memory>

namespace lodestone::models::study {

/// Data and the truth behind them.
struct Problem {
  const Domain* domain = nullptr;
  SyntheticData data;
  Eigen::VectorXd truth;  ///< log10 of ohm m in the cells of the domain's grid
};

struct Run {
  Figures figures;
  Eigen::VectorXd model;  ///< log10 of ohm m
};

/// The decoders of one prior on the domain.
class PriorMaps {
 public:
  /// Makes the decoders of a network. errors: InvalidArgument for a network of other cells.
  PriorMaps(const Domain& domain, const vae::TrainedVae& vae);
  /// Codes of the region's subdomains and the cells outside; without a decoder the cells alone.
  [[nodiscard]] std::shared_ptr<const inversion::prior::SubdomainMap> map(Method method) const;
  /// Returns the network's model nearest to another.
  [[nodiscard]] Eigen::VectorXd decoded(const Eigen::VectorXd& model) const;

 private:
  std::shared_ptr<const inversion::prior::SubdomainMap> cells_, gaussian_, feature_;
};

/// Runs Gauss–Newton with Occam's λ to chi rms 1 on this rank alone; where codes do not reach it, on in cells
/// from the decoded model, by the roughness of the deviation.
[[nodiscard]] Run run_method(const Problem& problem, const PriorMaps& prior, Method method, Start start,
                             const Settings& settings);

}  // namespace lodestone::models::study
