// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/selftest/selftest.hpp"
#include "engine/core/error.hpp"
#include "io/csv/table.hpp"
#include "io/model/read.hpp"

#include <cstdlib>
#include <filesystem>

namespace lodestone::mt_invert::selftest {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("LODESTONE_DATA")) folders.emplace_back(chosen);
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) folders.push_back(program.parent_path().parent_path() / "share" / "lodestone");
  folders.emplace_back(LODESTONE_SOURCE_DATA);
  return folders;
}

}  // namespace

std::string data_file(const std::string& name) {
  std::string tried;
  for (const fs::path& folder : data_folders()) {
    const fs::path path = folder / name;
    if (fs::exists(path)) return path.string();
    tried += (tried.empty() ? "" : ", ") + path.string();
  }
  throw core::FileError(
      "mt_invert#no_bundled_file",
      "expected the bundled file {} at one of: {}; set LODESTONE_DATA to the folder that holds it", name,
      tried);
}

core::Table benchmark_table(const std::string& name) {
  return io::csv::read_table(data_file("benchmarks/" + name + ".csv"));
}

physics::mt::benchmarks::PublishedModel benchmark_model(const std::string& name,
                                                        physics::mt::d2::Accuracy accuracy) {
  const auto read = [](const std::string& model, double refine) {
    return io::model::read_model_toml(data_file("benchmarks/" + model + ".toml"), refine);
  };
  return physics::mt::benchmarks::published_model(name, read, accuracy);
}

}  // namespace lodestone::mt_invert::selftest
