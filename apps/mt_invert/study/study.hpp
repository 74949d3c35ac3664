// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small on purpose: the selftest sees the study through this one function.

#include "apps/mt_invert/selftest/selftest.hpp"
#include "apps/mt_invert/study/options.hpp"

#include <mpi.h>

namespace lodestone::mt_invert::study {

/// Compares cells, Gaussian and learned priors on synthetic sections; takes minutes to an hour. collective:
/// all.
[[nodiscard]] selftest::SelftestReport selftest_vae_synthetic(MPI_Comm comm, const SyntheticOptions& options);

}  // namespace lodestone::mt_invert::study
