// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/format.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::io::hdf5 {
namespace {

std::string attribute_or_none(const core::ArraySource& source, const std::string& key) {
  return source.has_attribute("", key) ? fmt::format("\"{}\"", source.attribute("", key)) : "no attribute";
}

}  // namespace

void write_header(core::ArraySink& sink, const std::string& format, int version) {
  sink.attribute("", "format", format);
  sink.attribute("", "format_version", std::to_string(version));
}

int require_format(const core::ArraySource& source, const std::string& path,
                   const std::vector<std::string>& formats, const std::vector<int>& versions) {
  const std::string format = attribute_or_none(source, "format");
  if (std::ranges::none_of(formats, [&](const std::string& each) { return "\"" + each + "\"" == format; }))
    throw core::FormatError(
        "io::hdf5#other_format",
        "{}: expected a file of format \"{}\", got {} in \"format\"; is it the right file?", path,
        fmt::join(formats, "\" or \""), format);
  const std::string given = attribute_or_none(source, "format_version");
  for (const int version : versions) {
    if (fmt::format("\"{}\"", version) == given) return version;
  }
  throw core::FormatError(
      "io::hdf5#other_version",
      "{}: expected format version {}, got {} in \"format_version\"; read the file with the program version "
      "that wrote it",
      path, fmt::join(versions, " or "), given);
}

}  // namespace lodestone::io::hdf5
