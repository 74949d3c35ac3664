# SPDX-License-Identifier: Apache-2.0
# Finds hypre, whose Debian package has neither a CMake nor a pkg-config file.
# Result: HYPRE::HYPRE. Hint: HYPRE_ROOT.
find_path(HYPRE_INCLUDE_DIR HYPRE.h PATH_SUFFIXES hypre)
find_library(HYPRE_LIBRARY HYPRE)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HYPRE REQUIRED_VARS HYPRE_LIBRARY HYPRE_INCLUDE_DIR)
if(HYPRE_FOUND AND NOT TARGET HYPRE::HYPRE)
  add_library(HYPRE::HYPRE UNKNOWN IMPORTED GLOBAL)
  set_target_properties(HYPRE::HYPRE PROPERTIES IMPORTED_LOCATION "${HYPRE_LIBRARY}"
                        INTERFACE_INCLUDE_DIRECTORIES "${HYPRE_INCLUDE_DIR}")
endif()
mark_as_advanced(HYPRE_INCLUDE_DIR HYPRE_LIBRARY)
