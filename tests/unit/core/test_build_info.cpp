// SPDX-License-Identifier: Apache-2.0
#include "engine/core/build_info.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>

using lodestone::core::build_info;

TEST_CASE("build_info: names version, compiler and every library, none of them empty", "[core]") {
  for (const char* key : {"version", "commit", "compiler", "build type", "flags", "PETSc", "Eigen", "HDF5",
                          "VTK", "MPI", "PROJ", "cairo", "CUDA"}) {
    const auto found = std::ranges::find(build_info(), key, &std::pair<std::string, std::string>::first);
    INFO(key);
    REQUIRE(found != build_info().end());
    CHECK_FALSE(found->second.empty());
  }
  CHECK(build_info().front().second == lodestone::core::version());
}

TEST_CASE("build_info: PETSc has complex scalars, and is absent from the engine alone", "[core]") {
  const auto petsc = std::ranges::find(build_info(), "PETSc", &std::pair<std::string, std::string>::first);
  CHECK(petsc->second.find(LODESTONE_ENGINE_ALONE ? "absent" : "complex") != std::string::npos);
}
