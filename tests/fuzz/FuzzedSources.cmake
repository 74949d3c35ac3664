# SPDX-License-Identifier: Apache-2.0
# A library of what readers need and nothing else, so that its build takes two minutes: no engine, solvers or pictures.
# A symbol that is missing when it is linked stands in a file that belongs on this list.
set(fuzzed
  "engine/core/(array_io|atomic_file|clean_text|crc32c|data_set|dtype|json_text|log|nearest_word|options|regular_file|table|words)[.]"
  "engine/state/safetensors_"
  "inversion/(checkpoint|optimize/state)[.]"
  "io/(csv|edi|emtf|femtic|gocad|hdf5|jones|mare2dem|modem|mt2d|mth5|occam2d|raster|text|toml|wsinv|zfile|zonge)/"
  "io/geodesy/(map_system|projection)[.]"
  "io/model/(cells|depth_maps|elevations|hdf5|lattice|points|read|shapes|surface|toml|xyz)[.]"
  "io/survey/(kinds|read|responses|rows_csv|sites|store|unread)[.]"
  "physics/mesh/(earth|earth_arrays|frame|mean_surface|sampling|shapes|surface|tensor_grid)[.]"
  "physics/mt/(conventions|datum|holdings|merge|observations|profile|responses|rho_phase|selection|selection_steps|sites|station_data|survey|survey_votes)[.]")
list(JOIN fuzzed "|" fuzzed)
add_library(lodestone_fuzzed STATIC)
foreach(module IN ITEMS core engine inversion io mesh physics)
  get_target_property(sources lodestone_${module} SOURCES)
  get_target_property(folder lodestone_${module} SOURCE_DIR)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${folder}" NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE name)
    if(name MATCHES "^(${fuzzed})" AND name MATCHES "cpp$")
      target_sources(lodestone_fuzzed PRIVATE "${source}")
    endif()
  endforeach()
endforeach()
target_include_directories(lodestone_fuzzed PUBLIC "${PROJECT_SOURCE_DIR}")
target_link_libraries(lodestone_fuzzed PUBLIC Eigen3::Eigen fmt::fmt spdlog::spdlog Threads::Threads nlohmann_json::nlohmann_json HDF5::HDF5
  MPI::MPI_C PkgConfig::PROJ GDAL::GDAL pugixml::pugixml tomlplusplus::tomlplusplus)
lodestone_precompile(lodestone_fuzzed)
