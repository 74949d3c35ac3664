// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the face of the study for the command line.
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

/// Compares cells, Gaussian and learned priors on synthetic sections; takes minutes to an hour. collective:
/// all.
[[nodiscard]] selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm, const SyntheticOptions& options);

}  // namespace lodestone::mt_invert::study
