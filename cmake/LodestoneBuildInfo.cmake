# SPDX-License-Identifier: Apache-2.0
# lodestone_configure_build_info(<template> <output>): what this build is made of, for logs, result files and `--version`.
function(lodestone_configure_build_info template output)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  set(LODESTONE_BUILD_TYPE "${CMAKE_BUILD_TYPE}")
  set(LODESTONE_BUILD_FLAGS "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
  string(REGEX REPLACE "[\"\\\\]" "" LODESTONE_BUILD_FLAGS "${LODESTONE_BUILD_FLAGS}")

  set(mpi_version "")
  set(mpi_text "")
  if(MPIEXEC_EXECUTABLE)
    execute_process(COMMAND "${MPIEXEC_EXECUTABLE}" --version OUTPUT_VARIABLE mpi_text ERROR_QUIET)
  endif()
  string(REGEX MATCH "[^\n]+" mpi_text "${mpi_text}")
  string(REGEX REPLACE "^[^(]*\\(([^)]*)\\) " "\\1 " mpi_version "${mpi_text}")
  string(REPLACE "OpenRTE" "Open MPI" mpi_version "${mpi_version}")  # mpiexec may name its run-time environment
  set(cuda_version "")
  if(LODESTONE_HAS_CUDA)
    set(cuda_version "${CUDAToolkit_VERSION}")
  endif()
  set(blas_library "")
  if(BLAS_FOUND)
    list(GET BLAS_LIBRARIES 0 blas_library)
  endif()
  set(petsc "")
  if(PETSc_FOUND)
    set(petsc "${PETSc_VERSION} (${PETSc_SCALAR} scalars)")
  endif()

  set(LODESTONE_LIBRARY_FACTS "")
  foreach(fact IN ITEMS "MPI=${mpi_version}" "PETSc=${petsc}" "Eigen=${Eigen3_VERSION}" "BLAS=${blas_library}" "oneDNN=${dnnl_VERSION}"
          "HDF5=${HDF5_VERSION}" "VTK=${VTK_VERSION}" "PROJ=${PROJ_VERSION}" "GDAL=${GDAL_VERSION}" "cairo=${CAIRO_VERSION}" "fmt=${fmt_VERSION}"
          "spdlog=${spdlog_VERSION}" "nlohmann-json=${nlohmann_json_VERSION}" "toml++=${tomlplusplus_VERSION}" "CLI11=${CLI11_VERSION}"
          "CUDA=${cuda_version}")
    string(REGEX MATCH "^([^=]*)=(.*)$" _ "${fact}")
    set(value "${CMAKE_MATCH_2}")
    if(value STREQUAL "")
      set(value "absent")
    endif()
    string(APPEND LODESTONE_LIBRARY_FACTS "    {\"${CMAKE_MATCH_1}\", \"${value}\"},\n")
  endforeach()
  configure_file("${template}" "${output}" @ONLY)
endfunction()

# lodestone_add_commit(<target> <template> <output>): compiles <output> into the target. Every build makes it from <template> with @LODESTONE_COMMIT@, and
# leaves the file alone when that did not change, so that nothing is compiled or linked for it.
function(lodestone_add_commit target template output)
  find_package(Git QUIET)
  add_custom_target(${target}_commit
    COMMAND "${CMAKE_COMMAND}" "-DGIT=${GIT_EXECUTABLE}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DTEMPLATE=${CMAKE_CURRENT_SOURCE_DIR}/${template}"
            "-DOUTPUT=${output}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/LodestoneCommit.cmake"
    BYPRODUCTS "${output}" COMMENT "Commit of this build" VERBATIM)
  target_sources(${target} PRIVATE "${output}")
  add_dependencies(${target} ${target}_commit)
endfunction()
