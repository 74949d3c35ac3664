# SPDX-License-Identifier: Apache-2.0
# `cmake --install`: libraries, headers, and the package that find_package(lodestone COMPONENTS …) reads. Programs install themselves.
# Each module has an export of its own, so that a component loads only what it stands on.
include(CMakePackageConfigHelpers)
set(LODESTONE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/lodestone")
get_property(LODESTONE_MODULES GLOBAL PROPERTY LODESTONE_MODULES)

foreach(module IN LISTS LODESTONE_MODULES)
  install(EXPORT lodestone_${module} NAMESPACE lodestone:: FILE lodestone-${module}.cmake DESTINATION "${LODESTONE_CMAKE_DIR}")
endforeach()

# LODESTONE_MODULE_TABLE: a line of modules below and a line of packages for each module, from the links of its
# target. A module comes behind those it links, so that one pass makes the table complete.
set(LODESTONE_MODULE_TABLE "")
set(LODESTONE_VTK_COMPONENTS "")
foreach(module IN LISTS LODESTONE_MODULES)
  get_target_property(links lodestone_${module} LINK_LIBRARIES)
  set(below_${module} "")
  set(packages "")
  foreach(link IN LISTS links)
    if(link MATCHES "^lodestone::(.+)$")
      list(APPEND below_${module} ${below_${CMAKE_MATCH_1}} ${CMAKE_MATCH_1})
    elseif(link MATCHES "^PkgConfig::(.+)$")
      list(APPEND packages ${CMAKE_MATCH_1})
    elseif(link MATCHES "^([A-Za-z0-9_]+)::([A-Za-z0-9_]+)$")
      list(APPEND packages ${CMAKE_MATCH_1})
      if(CMAKE_MATCH_1 STREQUAL "VTK")
        list(APPEND LODESTONE_VTK_COMPONENTS ${CMAKE_MATCH_2})
      endif()
    endif()
  endforeach()
  list(REMOVE_DUPLICATES below_${module})
  list(REMOVE_DUPLICATES packages)
  list(JOIN below_${module} " " below)
  list(JOIN packages " " packages)
  string(APPEND LODESTONE_MODULE_TABLE
         "set(_lodestone_below_${module} ${below})\nset(_lodestone_packages_${module} ${packages})\n")
endforeach()
list(REMOVE_DUPLICATES LODESTONE_VTK_COMPONENTS)
list(JOIN LODESTONE_VTK_COMPONENTS " " LODESTONE_VTK_COMPONENTS)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/lodestoneConfig.cmake.in" "${PROJECT_BINARY_DIR}/lodestoneConfig.cmake"
                              INSTALL_DESTINATION "${LODESTONE_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/lodestoneConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/lodestoneConfig.cmake" "${PROJECT_BINARY_DIR}/lodestoneConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindPETSc.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindHYPRE.cmake"
        DESTINATION "${LODESTONE_CMAKE_DIR}")

if(LODESTONE_ENGINE_ONLY)
  return()
endif()
# For those who do not use CMake: all layers that need no file formats, from core to inversion_mt.
file(RELATIVE_PATH LODESTONE_PC_UP "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")  # Debian's libdir is two deep
list(JOIN PETSC_LDFLAGS " " LODESTONE_PC_PETSC)
list(JOIN MPI_CXX_LIBRARIES " " LODESTONE_PC_MPI)
list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE LODESTONE_PC_MPI_INCLUDES)
list(JOIN LODESTONE_PC_MPI_INCLUDES " " LODESTONE_PC_MPI_INCLUDES)
set(LODESTONE_PC_ONEDNN "")
if(dnnl_FOUND)
  set(LODESTONE_PC_ONEDNN "-ldnnl -lgomp")
endif()
list(JOIN BLAS_LIBRARIES " " LODESTONE_PC_BLAS)
list(REMOVE_DUPLICATES LAPACK_LIBRARIES)
list(JOIN LAPACK_LIBRARIES " " LODESTONE_PC_LAPACK)
configure_file("${PROJECT_SOURCE_DIR}/cmake/lodestone.pc.in" "${PROJECT_BINARY_DIR}/lodestone.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/lodestone.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
