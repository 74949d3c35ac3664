// SPDX-License-Identifier: Apache-2.0
#include "io/survey/lines.hpp"

#include "engine/core/error.hpp"
#include "io/text/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>

namespace lodestone::io::survey {
namespace {

using physics::mt::FilePart;
using physics::mt::Finding;
using physics::mt::StationData;

/// The beginning of the line of a part, in capitals, without blanks.
struct Beginning {
  std::string_view format;
  FilePart part;
  std::string_view text;
};
constexpr std::array beginnings{
    Beginning{"EDI", FilePart::name, "DATAID="},
    Beginning{"EDI", FilePart::latitude, "LAT="},
    Beginning{"EDI", FilePart::latitude, "LATITUDE="},
    Beginning{"EDI", FilePart::longitude, "LONG="},
    Beginning{"EDI", FilePart::longitude, "LON="},
    Beginning{"EDI", FilePart::longitude, "LONGITUDE="},
    Beginning{"EDI", FilePart::elevation, "ELEV="},
    Beginning{"EDI", FilePart::axes, ">ZROT"},
    Beginning{"EDI", FilePart::zxy, ">ZXYR"},
    Beginning{"EDI", FilePart::zyx, ">ZYXR"},
    Beginning{"EDI", FilePart::tipper, ">TXR"},
    Beginning{"EMTF XML", FilePart::latitude, "<LATITUDE"},
    Beginning{"EMTF XML", FilePart::longitude, "<LONGITUDE"},
    Beginning{"EMTF XML", FilePart::elevation, "<ELEVATION"},
    Beginning{"EMTF XML", FilePart::axes, "<ORIENTATION"},
    Beginning{"J-format", FilePart::latitude, ">LATITUDE"},
    Beginning{"J-format", FilePart::longitude, ">LONGITUDE"},
    Beginning{"J-format", FilePart::elevation, ">ELEVATION"},
    Beginning{"J-format", FilePart::axes, ">AZIMUTH"},
    Beginning{"J-format", FilePart::zxy, "ZXY"},
    Beginning{"J-format", FilePart::zyx, "ZYX"},
    Beginning{"J-format", FilePart::tipper, "TZX"},
    Beginning{"Z-file", FilePart::latitude, "COORDINATE"},
    Beginning{"Z-file", FilePart::longitude, "COORDINATE"},
    Beginning{"Z-file", FilePart::axes, "ORIENTATIONS"},
};

/// Returns true where a line begins with a text, whatever its blanks and its case.
bool begins_with(std::string_view line, std::string_view text) {
  std::size_t n = 0;
  for (const char c : line) {
    if (c == ' ' || c == '\t') continue;
    if (n == text.size() || std::toupper(static_cast<unsigned char>(c)) != text[n]) break;
    ++n;
  }
  return n == text.size();
}

/// The bytes of files, each read once; empty where a file cannot be read.
class Files {
 public:
  const std::string& at(const std::string& path) {
    const auto [file, is_new] = bytes_.try_emplace(path);
    if (!is_new) return file->second;
    try {
      file->second = text::read_bytes(path);
    } catch (const core::Error&) {  // a survey file names files that may be gone; then no line is known
      file->second.clear();
    }
    return file->second;
  }

 private:
  std::map<std::string, std::string> bytes_;
};

}  // namespace

std::optional<std::size_t> line_of(std::string_view file, std::string_view format, FilePart part) {
  std::optional<std::size_t> found;
  std::size_t n = 0;
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = std::min(file.find('\n', begin), file.size());
    const std::string_view line = file.substr(begin, end - begin);
    begin = end + 1;
    ++n;
    const bool is_it = std::ranges::any_of(beginnings, [&](const Beginning& each) {
      return each.format == format && each.part == part && begins_with(line, each.text);
    });
    if (!is_it) continue;
    if (found) return {};
    found = n;
  }
  return found;
}

void add_lines(std::vector<Finding>& findings, const std::vector<StationData>& stations) {
  Files files;
  for (Finding& finding : findings) {
    if (finding.part == FilePart::whole) continue;
    const auto station = std::ranges::find_if(
        stations, [&](const StationData& each) { return each.site.name == finding.station; });
    if (station == stations.end() || station->path != finding.place || !station->changes.empty()) continue;
    if (const auto line = line_of(files.at(station->path), station->format, finding.part))
      finding.place = fmt::format("{}:{}", station->path, *line);
  }
}

}  // namespace lodestone::io::survey
