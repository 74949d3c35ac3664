// SPDX-License-Identifier: Apache-2.0
#include "io/run/result.hpp"

#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"
#include "io/run/version_1.hpp"

namespace lodestone::io::run {
namespace {

constexpr const char* format = "lodestone result";
constexpr int version = 2;

}  // namespace

void write_result(const std::filesystem::path& path, const inversion::Outcome& outcome) {
  check(outcome);
  hdf5::Hdf5Sink sink(path);
  hdf5::write_header(sink, format, version);
  inversion::write(sink, outcome);
  sink.commit();
}

inversion::Outcome read_result(const std::filesystem::path& path) {
  const hdf5::Hdf5Source source(path);
  const int given = hdf5::require_format(source, path.string(), {format}, {1, version});
  try {
    inversion::Outcome outcome = given == 1 ? read_version_1(source) : inversion::read_outcome(source);
    check(outcome);
    return outcome;
  } catch (const core::Error& error) {  // also grids and data that their constructors refuse
    throw core::FormatError("io::run::read_result#damaged",
                            "{}: the file is damaged or of another version: {}", path.string(), error.what());
  }
}

}  // namespace lodestone::io::run
