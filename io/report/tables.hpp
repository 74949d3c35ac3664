// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/run/result.hpp"

#include <string>

namespace lodestone::io::report {

// Parts of the page as HTML tables.
[[nodiscard]] std::string summary_table(const run::InversionResult& result);
[[nodiscard]] std::string data_table(
    const run::InversionResult& result);  ///< counts by type of datum and reason of masking
[[nodiscard]] std::string certificate_table(
    const run::InversionResult& result);  ///< empty when none was made
[[nodiscard]] std::string static_shift_table(
    const run::InversionResult& result);  ///< per station and mode, with means; empty when there are none
[[nodiscard]] std::string learned_prior_table(
    const inversion::prior::PriorFindings& prior);  ///< a row per region
[[nodiscard]] std::string coverage_table(
    const inversion::prior::PriorFindings& prior);  ///< a row per subdomain; empty where there is no coverage
[[nodiscard]] std::string history_table(const run::InversionResult& result);
[[nodiscard]] std::string provenance_table(const run::InversionResult& result);

}  // namespace lodestone::io::report
