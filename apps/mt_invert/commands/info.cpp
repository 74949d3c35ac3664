// SPDX-License-Identifier: Apache-2.0
#include "io/info/info.hpp"

#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/text/scan.hpp"

#include <algorithm>
#include <filesystem>

namespace lodestone::mt_invert::commands {
namespace {

/// A folder stands for the EDI files in it (for itself where there are none, which is then an error).
std::vector<std::string> expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) {
    std::vector<std::string> inside;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path, error)) {
      if (io::text::lower(entry.path().extension().string()) == ".edi")
        inside.push_back(entry.path().string());
    }
    std::ranges::sort(inside);
    if (inside.empty()) inside.push_back(path);
    result.insert(result.end(), inside.begin(), inside.end());
  }
  return result;
}

}  // namespace

int run_info(MPI_Comm comm, const cli::InfoArguments& arguments) {
  int code = 0;
  std::vector<io::info::FileInfo> files;
  for (const std::string& path : expanded(arguments.paths)) {
    files.push_back(io::info::describe_file(path));
    if (code == 0) code = static_cast<int>(files.back().code);
  }
  core::on_rank_zero(comm, [&] {
    core::log::print_out(arguments.json ? io::info::info_json(files) : io::info::info_text(files));
  });
  return code;
}

}  // namespace lodestone::mt_invert::commands
