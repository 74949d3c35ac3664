// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lodestone::core {

/// Named facts in order, such as rows of a table of two columns.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The origin of a result: facts of program and machine, never of persons.
struct Provenance {
  std::string version{};
  Facts build{};  ///< as `build_info`
  std::string command_line{};
  std::string started_utc{}, finished_utc{};  ///< ISO 8601
  Facts host{};                               ///< processor, cores, memory, system, ranks …
};

/// Returns version, build, host and command line of this process, and the time now as its start. The home
/// folder in the command line becomes "~".
[[nodiscard]] Provenance make_provenance(int n_ranks);
/// Returns a text without the home folder of the user, which becomes "~".
[[nodiscard]] std::string without_home(const std::string& text);
/// Returns the processor as the system calls it: "AMD EPYC"; "unknown" where it does not say.
[[nodiscard]] std::string processor_name();
/// Returns the time now: "2024-05-31T12:00:00Z".
[[nodiscard]] std::string utc_now();

}  // namespace lodestone::core
