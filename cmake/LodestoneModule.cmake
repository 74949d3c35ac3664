# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
option(LODESTONE_PRECOMPILED_HEADERS "Compile the heavy headers of other libraries once per target" ON)
# lodestone_precompile(target HEADERS…) compiles these third-party headers once for all sources of the target, on top of
# the ones that nearly every source needs. Headers stay self-contained: the style tests compile each one without this.
function(lodestone_precompile target)
  if(NOT LODESTONE_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <Eigen/Dense> <fmt/format.h> <algorithm> <array> <complex> <filesystem>
    <functional> <map> <memory> <optional> <span> <string> <string_view> <utility> <vector> ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # lets ccache see through the precompiled header
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")  # likewise
  endif()
endfunction()

# lodestone_add_module(name SOURCES … HEADERS … LINKS … PRIVATE_LINKS …)
# makes lodestone_<name> with alias lodestone::<name>, its header set (installed as include/lodestone/<path>) and its export.
function(lodestone_add_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINKS;PRIVATE_LINKS" ${ARGN})
  set(target lodestone_${name})
  add_library(${target} STATIC)
  add_library(lodestone::${name} ALIAS ${target})
  target_sources(${target} PRIVATE ${arg_SOURCES}
                 PUBLIC FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
  lodestone_precompile(${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
                        VERIFY_INTERFACE_HEADER_SETS ON)
  install(TARGETS ${target} EXPORT lodestone_${name}
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/lodestone")
  set_property(GLOBAL APPEND PROPERTY LODESTONE_MODULES ${name})
endfunction()
