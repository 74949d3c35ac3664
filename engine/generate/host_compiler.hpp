// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: the C++ compiler of this machine.
#pragma once

#include "engine/backend/cpu/isa.hpp"

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace lodestone::engine {

class HostCompiler {
 public:
  /// Returns the compiler of this name or path; for an empty one the first of c++, g++ and clang++ that the
  /// search path has. Nothing where there is none.
  [[nodiscard]] static std::optional<HostCompiler> find(const std::string& name);

  /// Returns its path, size and time of change, which another version does not share.
  [[nodiscard]] std::string identity() const;

  struct Outcome {
    bool is_made;
    std::string message;  ///< the first words of the compiler where it is not
  };
  /// Makes a shared library of C++. The compiler and its children end with the request to stop, or after
  /// `limit`; `is_nice` leaves the processor to others. errors: FileError without room for temporary files.
  [[nodiscard]] Outcome make_library(const std::string& text, const std::vector<std::string>& flags,
                                     const std::string& path, const std::stop_token& stop, bool is_nice,
                                     std::chrono::seconds limit = std::chrono::seconds(120)) const;

 private:
  explicit HostCompiler(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

/// Returns the flags with which text gives the bits of the engine's kernels on an instruction set.
[[nodiscard]] std::vector<std::string> compiler_flags(cpu_backend::Isa isa);

}  // namespace lodestone::engine
