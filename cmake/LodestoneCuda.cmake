# SPDX-License-Identifier: Apache-2.0
# CUDA is detected, never required (unless LODESTONE_CUDA=ON). Result: LODESTONE_HAS_CUDA, CUDAToolkit_VERSION.
set(LODESTONE_HAS_CUDA FALSE)
if(NOT LODESTONE_CUDA STREQUAL "OFF")
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(LODESTONE_HAS_CUDA TRUE)
  elseif(LODESTONE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "LODESTONE_CUDA=ON, but no CUDA toolkit was found; set CUDAToolkit_ROOT or use LODESTONE_CUDA=AUTO")
  endif()
endif()
