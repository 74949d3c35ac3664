// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "apps/mt_invert/selftest/selftest.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace lodestone::mt_invert::study {

/// Options of `selftest vae-synthetic` on the command line.
struct SyntheticOptions {
  bool quick = false;  ///< one model of each family, noise of 5 %, fewer stations, a network of a few epochs
  bool sweep = false;  ///< the weights of every method ×10 and ÷10 as well
  bool tm = false;     ///< TM data beside TE
  int n_models = 20;   ///< random models of each family; 0: the two cases alone
  std::vector<std::string> only{};  ///< "cases" and families; empty: all of them
  std::string network_path;         ///< empty: trained, and kept in the output folder
  std::string output_folder;        ///< empty: out/vae-synthetic
};

/// A family of random sections for `selftest vae-synthetic`, drawn as polygons, by other code and of other
/// shapes than the generators of `models/vae/prior`.
struct SyntheticFamily {
  std::string name, description;
  bool in_prior = true;  ///< formations, bodies and their resistivities are such as the prior knows; else it
                         ///< is a test of a wrong prior
};

/// wedge, blocks, relief, basin_dike; and rimmed, which the prior never draws.
[[nodiscard]] const std::vector<SyntheticFamily>& synthetic_families();

/// Section `number` of a family as the text of a model file (docs/model-files.md). It follows from family and
/// number alone. errors: InvalidArgument for a family there is not.
[[nodiscard]] std::string synthetic_model(const std::string& family, int number);

/// Compares cells, Gaussian and learned priors on synthetic sections; takes minutes to an hour. collective:
/// all.
[[nodiscard]] selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm, const SyntheticOptions& options);

}  // namespace lodestone::mt_invert::study
