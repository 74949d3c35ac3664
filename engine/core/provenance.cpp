// SPDX-License-Identifier: Apache-2.0
#include "engine/core/provenance.hpp"

#include "engine/core/build_info.hpp"
#include "engine/core/parallel.hpp"
#include "engine/core/process_memory.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <sys/utsname.h>
#include <thread>

namespace lodestone::core {

namespace {

std::string memory_size() {
  constexpr double bytes_per_gib = 1024.0 * 1024.0 * 1024.0;
  const std::size_t bytes = machine_memory_bytes();
  return bytes > 0 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / bytes_per_gib) : "unknown";
}

std::string system_name() {
  utsname facts{};
  return ::uname(&facts) == 0 ? fmt::format("{} {} {}", facts.sysname, facts.release, facts.machine)
                              : "unknown";
}

/// Returns the arguments of this process as they were typed, those with blanks in quotes.
std::string typed_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text;
  for (std::string argument; std::getline(file, argument, '\0');) {
    if (text.empty()) argument = argument.substr(argument.rfind('/') + 1);
    const bool is_one_word = argument.find_first_of(" \t\"'") == std::string::npos && !argument.empty();
    text += (text.empty() ? "" : " ") + (is_one_word ? argument : "\"" + argument + "\"");
  }
  return text;
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

std::string without_home(const std::string& text) {
  const char* home = std::getenv("HOME");
  const std::string folder = home == nullptr ? "" : home;
  if (folder.size() <= 1) return text;
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, begin)) {
    result.append(text, begin, at - begin).append("~");
    begin = at + folder.size();
  }
  return result.append(text, begin, std::string::npos);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

Provenance make_provenance(int n_ranks) {
  Provenance result;
  result.version = version();
  result.build = build_info();
  result.command_line = without_home(typed_line());
  result.started_utc = utc_now();
  result.host = {{"processor", processor_name()},
                 {"cores", std::to_string(std::thread::hardware_concurrency())},
                 {"memory", memory_size()},
                 {"system", system_name()},
                 {"MPI ranks", std::to_string(n_ranks)},
                 {"threads of a rank", std::to_string(threads())}};
  return result;
}

}  // namespace lodestone::core
