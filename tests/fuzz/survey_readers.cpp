// SPDX-License-Identifier: Apache-2.0
// Readers of stations, sites and responses.
#include "engine/core/error.hpp"
#include "io/csv/table.hpp"
#include "io/edi/writer.hpp"
#include "io/emtf/xml.hpp"
#include "io/hdf5/file.hpp"
#include "io/jones/jones.hpp"
#include "io/mare2dem/data.hpp"
#include "io/mth5/mth5.hpp"
#include "io/occam2d/data.hpp"
#include "io/survey/read.hpp"
#include "io/survey/responses.hpp"
#include "io/survey/rows_csv.hpp"
#include "io/survey/sites.hpp"
#include "io/survey/store.hpp"
#include "io/text/text_file.hpp"
#include "io/wsinv/data.hpp"
#include "io/zfile/zfile.hpp"
#include "physics/mt/selection.hpp"
#include "tests/fuzz/hdf5_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lodestone::tests::fuzz {
namespace {

using io::survey::FileKind;
using physics::mt::StationData;
using Stations = std::vector<StationData>;
using TextOf = std::function<std::string(const Stations&)>;

constexpr std::int64_t kibi = 1024;

Stations read_as(const std::string& path, FileKind kind) {
  io::survey::ReadOptions options;
  options.kind = kind;
  return io::survey::read(path, options);
}

/// Reads a file, writes what was read and reads that.
std::function<void(const std::string&)> round_trip(FileKind kind, TextOf text_of) {
  return [kind, text_of = std::move(text_of)](const std::string& path) {
    const std::string text = text_of(read_as(path, kind));
    const std::string again = path + ".again";
    std::ofstream(again, std::ios::binary) << text;
    static_cast<void>(read_as(again, kind));
  };
}

std::function<void(const std::string&)> plain(FileKind kind) {
  return [kind](const std::string& path) { static_cast<void>(read_as(path, kind)); };
}

const std::string& source_root() {
  static const std::string root = std::string(LODESTONE_SOURCE_DIR) + "/";
  return root;
}

/// Returns a survey of two real stations as our files hold it.
std::vector<std::string> survey_file() {
  const TemporaryFolder folder;
  Stations stations{io::zfile::read(source_root() + "tests/data/zfile/tf_zmm.zmm")};
  stations.push_back(io::jones::read(source_root() + "tests/fuzz/corpus/jones/valid_readings"));
  io::survey::write_survey(folder / "s.h5", stations);
  return {text_of_hdf5(folder / "s.h5")};
}

std::string tree_file(const char* name) { return text_of_file(source_root() + name); }

/// Returns a real file up to its third period, and a period of it as our writer states it.
std::vector<std::string> emtf_of_few_periods() {
  const std::string whole = tree_file("tests/data/emtf/NMX20.xml"),
                    two = whole.substr(0, whole.find("<Period value=\"7.3")) + "</Data></EM_TF>";
  StationData station = io::emtf::parse(two, "two_periods");
  station.rows.resize(1);
  return {two, io::emtf::text_of(station).text};
}

/// Returns a Z-file of two periods, each number of all of them replaced.
std::vector<std::string> z_files_of_two_periods() {
  std::vector<std::string> texts;
  for (const char* name : {"tests/data/zfile/tf_zmm.zmm", "tests/data/zfile/tf_zss_tipper.zss"}) {
    std::string text = tree_file(name);
    std::size_t end = 0;
    for (int period = 0; period < 3; ++period) end = text.find("period :", end + 1);
    text.resize(end);
    const std::size_t count = text.find("number of frequencies");
    const std::size_t digits = text.find_first_of("0123456789", count);
    texts.push_back(text.replace(digits, text.find_first_not_of("0123456789", digits) - digits, "2"));
  }
  return texts;
}

/// Returns an AVG file with five rows of each component.
std::vector<std::string> zonge_of_few_rows() {
  std::string text;
  int n = 0;
  const std::string whole = tree_file("tests/data/zonge/tf_zonge.avg");
  for (const std::string_view line : io::text::split_lines(whole)) {
    const bool is_row = line.size() > 2 && line[1] == ',' && line[0] <= '9';
    n = is_row ? n + 1 : 0;
    if (n <= 5) text += std::string(line) + "\n";
  }
  return {text};
}

std::vector<std::string> mth5_files() {
  std::vector<std::string> texts;
  for (const char* version : {"0.1.0", "0.2.0"})
    texts.push_back(text_of_hdf5(source_root() + "tests/data/mth5/mth5_" + version + ".h5"));
  return texts;
}

std::vector<Reader> single_stations() {
  const auto first = [](auto text_of) {
    return [text_of](const Stations& stations) { return text_of(stations.front()).text; };
  };
  return {{.name = "edi",
           .read = round_trip(FileKind::edi, first(io::edi::text_of)),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::edi}},
          {.name = "emtf",
           .read = round_trip(FileKind::emtf_xml, first(io::emtf::text_of)),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::emtf_xml},
           .more_seeds = emtf_of_few_periods},
          {.name = "zfile",
           .read = round_trip(FileKind::z_file, first(io::zfile::text_of)),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::z_file},
           .more_seeds = z_files_of_two_periods},
          {.name = "jones",
           .read = round_trip(FileKind::j_format, first(io::jones::text_of)),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::j_format}},
          {.name = "zonge",
           .read = plain(FileKind::zonge_avg),
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::zonge_avg},
           .more_seeds = zonge_of_few_rows}};
}

std::vector<Reader> many_stations() {
  const auto stated = [](auto text_of) {
    return [text_of](const Stations& stations) { return text_of(stated_data(stations), ""); };
  };
  return {
      {.name = "modem_data",
       .read = plain(FileKind::modem_data_3d),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::modem_data_2d, FileKind::modem_data_3d}},
      {.name = "mare2dem_data",
       .read = round_trip(FileKind::emdata, stated(io::mare2dem::text_of)),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::emdata}},
      {.name = "mt2d",
       .read = plain(FileKind::mt2d_data),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::mt2d_data}},
      {.name = "occam2d_data",
       .read = round_trip(FileKind::occam2d_data, stated(io::occam2d::text_of)),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::occam2d_data}},
      {.name = "femtic",
       .read = plain(FileKind::femtic_data),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::femtic_data}},
      {.name = "wsinv",
       .read = round_trip(FileKind::wsinv_data,
                          [](const Stations& stations) { return io::wsinv::text_of(stations).text; }),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::wsinv_data}},
      {.name = "rows_csv",
       .read = round_trip(FileKind::csv_rows,
                          [](const Stations& stations) { return io::survey::rows_csv_text(stations).text; }),
       .beside_bytes = 128 * kibi,
       .kinds = {FileKind::csv_rows}}};
}

std::vector<Reader> surveys() {
  return {{.name = "survey",  // of whatever kind, by the content
           .read =
               [](const std::string& path) {
                 if (!is_hdf5(path)) static_cast<void>(io::survey::read(path));
               },
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::edi, FileKind::emtf_xml, FileKind::z_file, FileKind::zonge_avg,
                     FileKind::mt2d_data, FileKind::emdata, FileKind::modem_data_2d}},
          {.name = "survey_file",
           .read = [](const std::string& path) { static_cast<void>(io::survey::read_survey(path)); },
           .beside_bytes = 3072 * kibi,
           .is_hdf5 = true,
           .more_seeds = survey_file},
          {.name = "mth5",
           .read = [](const std::string& path) { static_cast<void>(io::mth5::read(path)); },
           .beside_bytes = 3072 * kibi,
           .is_hdf5 = true,
           .more_seeds = mth5_files}};
}

std::vector<Reader> tables() {
  return {{.name = "sites_csv",
           .read = [](const std::string& path) { static_cast<void>(io::survey::read_sites_csv(path)); },
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::csv_sites}},
          {.name = "responses_csv",
           .read = [](const std::string& path) { static_cast<void>(io::survey::read_responses_csv(path)); },
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::csv_responses}},
          {.name = "table_csv",
           .read =
               [](const std::string& path) {
                 io::csv::write_table(path + ".again", io::csv::read_table(path));
                 static_cast<void>(io::csv::read_table(path + ".again"));
               },
           .beside_bytes = 128 * kibi,
           .kinds = {FileKind::csv_table}}};
}

}  // namespace

std::vector<Reader> survey_readers() {
  std::vector<Reader> all;
  for (auto* family : {single_stations, many_stations, surveys, tables})
    for (Reader& reader : family()) all.push_back(std::move(reader));
  return all;
}

}  // namespace lodestone::tests::fuzz
