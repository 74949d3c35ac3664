// SPDX-License-Identifier: Apache-2.0
// Rates of machines in a JSON file, and those of this machine, measured once for all processes of a user.
#pragma once

#include "engine/inspect/machine_rates.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace lodestone::engine {

/// Writes a file of rates. errors: FileError.
void write_rates(const std::string& path, const MachineRates& rates);
/// Returns the rates in a file that this version can read. errors: FileError; FormatError for another or a
/// damaged file.
[[nodiscard]] std::vector<MachineRates> read_rates(const std::string& path);
/// Returns those for a number of threads, where the file has several the ones of this build. errors: as
/// `read_rates`; InvalidArgument for a file that has none, or several.
[[nodiscard]] MachineRates rates_for_threads(const std::string& path, int n_threads);

enum class Kept : std::uint8_t { used, replaced };

/// Returns the rates of a machine that `machine.json` in a folder keeps; where it has none, or these are to
/// be replaced, they are measured and kept. Of several processes one does that, and the others wait, but no
/// longer than `most_wait`: then they measure, too, and keep nothing. Rates that are not complete are not
/// kept. When rates are kept, damaged records are dropped; a file that is damaged as a whole, or may be
/// another's, is replaced. Warnings say so, and why nothing can be kept. A file that cannot be read stays.
/// errors: those of `measure`.
[[nodiscard]] MachineRates kept_rates(const std::filesystem::path& folder, const MachineKey& machine,
                                      const std::function<MachineRates()>& measure, Kept which = Kept::used,
                                      std::chrono::milliseconds most_wait = std::chrono::seconds(30));

/// Returns the rates of this machine for the process's number of threads, kept in `core::cache_folder`.
/// Measuring them takes up to five seconds, and is said in the log. errors: those of `calibrated_rates`.
[[nodiscard]] MachineRates rates_of_this_machine(Kept which = Kept::used);

}  // namespace lodestone::engine
