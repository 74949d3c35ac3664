# SPDX-License-Identifier: Apache-2.0
# Every third-party package the project uses, each found once. `docs/build.md` says what each is for.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED CONFIG)
find_package(fmt REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json 3.10 REQUIRED CONFIG)
include(LodestoneCuda)  # optional; reported by build_info
find_package(dnnl QUIET CONFIG)  # optional: faster kernels
if(LODESTONE_ENGINE_ONLY)  # with these where they are, without MPI: no part of the engine needs it yet
  find_package(BLAS QUIET)
  find_package(LAPACK QUIET)
  return()
endif()
find_package(MPI REQUIRED COMPONENTS C CXX)
find_package(PETSc 3.18 REQUIRED)
find_package(HYPRE REQUIRED)
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(VTK 9.1 REQUIRED COMPONENTS CommonCore CommonDataModel IOXML)
find_package(PkgConfig REQUIRED)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
pkg_check_modules(PROJ REQUIRED IMPORTED_TARGET proj)
find_package(GDAL 3.2 REQUIRED)
find_package(pugixml REQUIRED CONFIG)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)
