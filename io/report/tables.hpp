// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the parts of a page that are tables; pictures do not include it.
#pragma once

#include "inversion/outcome.hpp"

#include <string>

namespace lodestone::io::report {

// Parts of the page as HTML tables.
[[nodiscard]] std::string summary_table(const inversion::Outcome& outcome);
[[nodiscard]] std::string warnings_table(const inversion::Outcome& outcome);  ///< texts and ids
/// Returns a row per site in the order along the line: places, data used and masked, rms; "" where the data
/// have no sites.
[[nodiscard]] std::string station_table(const inversion::Outcome& outcome);
[[nodiscard]] std::string data_table(
    const inversion::Outcome& outcome);  ///< counts by type of datum and reason of masking
/// Returns any table, numbers with four significant digits; numbers of a column "passed" as words.
[[nodiscard]] std::string table_of(const core::Table& table);
[[nodiscard]] std::string learned_prior_table(
    const inversion::prior::PriorFindings& prior);  ///< a row per region
[[nodiscard]] std::string coverage_table(
    const inversion::prior::PriorFindings& prior);  ///< a row per subdomain; empty where there is no coverage
[[nodiscard]] std::string history_table(const inversion::Outcome& outcome);
[[nodiscard]] std::string provenance_table(const inversion::Outcome& outcome);

}  // namespace lodestone::io::report
