# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
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
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON
                        VERIFY_INTERFACE_HEADER_SETS ON)
  install(TARGETS ${target} EXPORT lodestone_${name}
          FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/lodestone")
  set_property(GLOBAL APPEND PROPERTY LODESTONE_MODULES ${name})
endfunction()
