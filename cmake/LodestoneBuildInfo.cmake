# SPDX-License-Identifier: Apache-2.0
# lodestone_configure_build_info(<template> <output>): what this build is made of, for logs, result files and `--version`.
function(lodestone_configure_build_info template output)
  set(LODESTONE_GIT_COMMIT "unknown")
  find_package(Git QUIET)
  if(GIT_FOUND)
    execute_process(COMMAND "${GIT_EXECUTABLE}" -C "${PROJECT_SOURCE_DIR}" describe --always --dirty --abbrev=12
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(LODESTONE_GIT_COMMIT "${commit}")
    endif()
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  set(LODESTONE_BUILD_TYPE "${CMAKE_BUILD_TYPE}")
  set(LODESTONE_BUILD_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  string(REGEX REPLACE "[\"\\\\]" "" LODESTONE_BUILD_FLAGS "${LODESTONE_BUILD_FLAGS}")

  set(mpi_version "")
  execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version OUTPUT_VARIABLE mpi_text ERROR_QUIET)
  string(REGEX MATCH "[^\n]+" mpi_text "${mpi_text}")
  string(REGEX REPLACE "^[^(]*\\(([^)]*)\\) " "\\1 " mpi_version "${mpi_text}")
  string(REPLACE "OpenRTE" "Open MPI" mpi_version "${mpi_version}")  # mpiexec may name its run-time environment
  set(hypre_version "")
  if(HYPRE_LIBRARY AND EXISTS "${HYPRE_INCLUDE_DIR}/HYPRE_config.h")
    file(STRINGS "${HYPRE_INCLUDE_DIR}/HYPRE_config.h" hypre_line REGEX "HYPRE_RELEASE_VERSION")
    string(REGEX REPLACE ".*\"(.*)\".*" "\\1" hypre_version "${hypre_line}")
  endif()
  set(cuda_version "")
  if(LODESTONE_HAS_CUDA)
    set(cuda_version "${CUDAToolkit_VERSION}")
  endif()
  list(GET BLAS_LIBRARIES 0 blas_library)

  set(LODESTONE_LIBRARY_FACTS "")
  foreach(fact IN ITEMS "MPI=${mpi_version}" "PETSc=${PETSc_VERSION} (${PETSc_SCALAR} scalars)" "Eigen=${Eigen3_VERSION}" "BLAS=${blas_library}"
          "HDF5=${HDF5_VERSION}" "VTK=${VTK_VERSION}" "PROJ=${PROJ_VERSION}" "cairo=${CAIRO_VERSION}" "fmt=${fmt_VERSION}"
          "spdlog=${spdlog_VERSION}" "nlohmann-json=${nlohmann_json_VERSION}" "toml++=${tomlplusplus_VERSION}" "CLI11=${CLI11_VERSION}"
          "oneDNN=${dnnl_VERSION}" "hypre=${hypre_version}" "CUDA=${cuda_version}")
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${fact}")
    set(value "${CMAKE_MATCH_2}")
    if(value STREQUAL "")
      set(value "absent")
    endif()
    string(APPEND LODESTONE_LIBRARY_FACTS "    {\"${CMAKE_MATCH_1}\", \"${value}\"},\n")
  endforeach()
  configure_file("${template}" "${output}" @ONLY)
endfunction()
