// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <fstream>
#include <string>

namespace lodestone::tests {

inline std::string write_text(const TemporaryFolder& folder, const std::string& name,
                              const std::string& text) {
  const std::string path = folder / name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

inline std::string source_path(const std::string& relative) {
  return std::string(LODESTONE_SOURCE_DIR) + "/" + relative;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace lodestone::tests
