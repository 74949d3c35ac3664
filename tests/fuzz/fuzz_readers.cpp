// SPDX-License-Identifier: Apache-2.0
// Readers survive files that are cut off, changed or random: only errors thrown on purpose come out, each
// with a text, in bounded time.
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "io/edi/reader.hpp"
#include "io/edi/writer.hpp"
#include "io/emtf/xml.hpp"
#include "io/femtic/observe.hpp"
#include "io/gocad/sgrid.hpp"
#include "io/info/info.hpp"
#include "io/jones/jones.hpp"
#include "io/mare2dem/data.hpp"
#include "io/mare2dem/model.hpp"
#include "io/model/read.hpp"
#include "io/model/xyz.hpp"
#include "io/modem/covariance.hpp"
#include "io/modem/modem.hpp"
#include "io/mt2d/data.hpp"
#include "io/mth5/mth5.hpp"
#include "io/occam2d/data.hpp"
#include "io/occam2d/model.hpp"
#include "io/raster/raster.hpp"
#include "io/survey/responses.hpp"
#include "io/survey/sites.hpp"
#include "io/survey/store.hpp"
#include "io/toml/options.hpp"
#include "io/wsinv/data.hpp"
#include "io/zfile/zfile.hpp"
#include "io/zonge/zonge.hpp"
#include "physics/mt/selection.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <random>

using namespace lodestone;
using namespace lodestone::tests;

namespace {

constexpr std::uint64_t seed = 20240531;
constexpr int n_variants = 60;  ///< per file of the corpus and way of damaging it

using Random = std::mt19937_64;
using Reader = std::function<void(const std::string& bytes, const std::string& path)>;

std::size_t below(Random& random, std::size_t n) {
  return n == 0 ? 0 : static_cast<std::size_t>(random() % n);
}

/// Damages by writers and transfers, and worse ones.
constexpr std::array<const char*, 22> words{"//99999999999",
                                            "//-1",
                                            "**",
                                            "1e999",
                                            "-1e999",
                                            "nan",
                                            ">",
                                            ">=",
                                            "\0x",
                                            "=",
                                            "[[[[[[[[",
                                            "\"",
                                            "1.5.5",
                                            "\r",
                                            "\xff\xfe",
                                            "2147483648",
                                            "-0",
                                            ">FREQ //0",
                                            "0 0 0 0",
                                            "1e-999",
                                            "#",
                                            ""};

std::string truncated(const std::string& text, Random& random) {
  return text.substr(0, below(random, text.size() + 1));
}

std::string with_changed_bytes(std::string text, Random& random) {
  for (std::size_t n = 1 + below(random, 20); n > 0 && !text.empty(); --n)
    text[below(random, text.size())] = static_cast<char>(random() & 0xFF);
  return text;
}

std::string with_changed_words(std::string text, Random& random) {
  for (std::size_t n = 1 + below(random, 4); n > 0; --n) {
    const std::size_t begin = below(random, text.size() + 1), length = below(random, 30);
    text.replace(begin, length, words[below(random, words.size())]);
  }
  return text;
}

std::string with_moved_lines(const std::string& text, Random& random) {
  const std::size_t a = below(random, text.size() + 1), b = below(random, text.size() + 1);
  const std::size_t low = std::min(a, b), high = std::max(a, b);
  return text.substr(high) + text.substr(low, high - low) + text.substr(0, low);
}

std::string random_bytes(const std::string& text, Random& random) {
  std::string out(below(random, std::min<std::size_t>(text.size(), 4096) + 1), '\0');
  for (char& c : out) c = static_cast<char>(random() & 0xFF);
  return out;
}

/// Reads every damaged variant; anything but core::Error ends the test with the variant's number.
void check_survives(const std::string& text, const Reader& read) {
  constexpr std::array<std::string (*)(const std::string&, Random&), 3> by_reference{
      truncated, with_moved_lines, random_bytes};
  constexpr std::array<std::string (*)(std::string, Random&), 2> by_value{with_changed_bytes,
                                                                          with_changed_words};
  const TemporaryFolder folder;
  for (int i = 0; i < 5 * n_variants; ++i) {
    Random random(seed + static_cast<std::uint64_t>(i));
    const auto way = static_cast<std::size_t>(i % 5);
    const std::string variant = way < 3 ? by_reference[way](text, random) : by_value[way - 3](text, random);
    INFO("variant " << i << " of " << variant.size() << " bytes");
    try {
      read(variant, write_text(folder, "variant", variant));
    } catch (const core::Error& error) {
      if (std::string_view(error.what()).size() < 20) FAIL("an error without a text: " << error.what());
    }
  }
  SUCCEED();
}

const std::string model_toml =
    "depth_reference = \"datum\"\n[background]\nthickness_m = [1000.0, 4000]\nresistivity_ohm_m = [10, 100, "
    "1e-6]\n[[box]]\ny_min_m = "
    "-500\ny_max_m = 500\n"
    "z_min_m = 250\nz_max_m = 2250\nresistivity_ohm_m = 0.5\n[surface]\ny_m = [-1000, 0, 1000]\nz_m = [0, "
    "-450, 0]\n"
    "[[polygon]]\npoints = [[0, 500], [2000, 500], [1000, 900]]\nresistivity_ohm_m = 3\n[sea]\nlevel_m = "
    "-100\nresistivity_ohm_m = 0.3\n";

const std::string volume_toml =
    "dimension = 3\n[background]\nthickness_m = [1000.0, 4000]\nresistivity_ohm_m = [10, 100, 1e-6]\n"
    "[[box]]\nx_min_m = -400\nx_max_m = 900\ny_min_m = -500\nz_min_m = 250\nresistivity_ohm_m = 0.5\n"
    "[surface]\nx_m = [-1000, 0]\ny_m = [-1000, 0, 1000]\nz_m = [[0, -450, 0],\n [10, 20, 30]]\n"
    "[[polygon]]\npoints = [[0, 500], [2000, 500], [1000, 900]]\nx_max_m = 50\nresistivity_ohm_m = 3\n"
    "[[prism]]\npoints = [[0, 500], [2000, 500], [1000, 900]]\nz_min_m = 50\nz_max_m = 800\n"
    "resistivity_ohm_m = 30\n[sea]\nlevel_m = -100\nresistivity_ohm_m = 0.3\n";

const std::string j_format =
    "# exp(+i omega t)\n>LATITUDE  = -24:30:00\n>LONGITUDE =\n>AZIMUTH   = 10\nkb7  10\nRXY\n 2\n"
    "-256.0 54.37 59.7 55.78 53.01 60.5 59.0 1.00 1.00\n 4.000 -1 45.0 -999. -999. -999. -999. 1.00 1.00\n"
    "ZXY S.I.\n 3\n-256.0 0.1671 0.2863 0.5974E-02 1.00\n-.1032E+05-.1504 0.7090 0.4126 1.00\n"
    "-999. -999. -999. -999. -999.\nTZX\n 1\n 42.68 -.1181 -.2649E-01 0.1212E-01 1.00\n";

const std::string occam2d_data =
    "FORMAT: OCCAM2MTDATA_1.0\nTITLE: x\nSITES: 2\n a\n b\nOFFSETS (M):\n 0.0\n 310\nFREQUENCIES: 2\n 100 "
    "0.3\n"
    "DATA BLOCKS: 6\nSITE FREQ TYPE DATUM ERROR\n 1 1 1 2.125 0.0434\n 1 1 2 47.25 2.86\n 1 2 9 100 10\n"
    " 2 1 6 33.125 1.5\n 2 2 3 -0.12 0.02\n 2 2 4 0.03 0.02\n";

const std::string femtic_data =
    "MT 1\n1 1 -13.0 2.5\n1\n0.1 1e-4 2e-4 6e-3 -7e-3 -5e-3 4e-3 3e-4 -4e-4\n -1e-5 1e-5 3e-4 -3e-4 -2e-4 "
    "2e-4 1 1\n"
    "VTF 1\n3 3 1 -13.0 2.5 1\n0.1 0.1 0.2 -0.3 0.4 0.01 0.01 0.02 -0.02\nHTF 1\n4 1 0 0\n1\n"
    "1 0.9 0.1 0 0 0 0 1.1 -0.1 .1 .1 .1 .1 .1 .1 .1 .1\nPT 1\n9 9 0 1\n1\n1 -0.9 0.1 0.2 -1.1 0.1 0.1 0.1 "
    "9999\n"
    "APP_RES_AND_PHS 1\n5 5 1 0 0 0\n1\n10 2 10 100 -50 200 130 3 20 0.1 1 5 2 4 -1 -1 1\nNMT 1\n 5 5 "
    "1\nEND\n";

const std::string wsinv_data =
    "2 1 8\nStation_Location: N-S\n-1000.5\n2000\nStation_Location: E-W\n0 10\nDATA_Period: 0.1\n"
    "1e-3 2e-3 2e-2 -2e-2\n-2e-2 2e-2 3e-4 -4e-4\n1e-3 2e-3 3e-2 -2e-2 -2e-2 2e-2 0 0\nERROR_Period: 0.1\n"
    "1e-4 1e-4 2e-3 2e-3 2e-3 2e-3 1e-4 1e-4\n1e-4 1e-4 3e-3 4e-3 2e-3 2e-3 1 1\nERMAP_Period: 0.1\n"
    "1 1 10 10 1 1 1 1\n1 1 1 1 1 1 1 1\n";

}  // namespace

TEST_CASE("fuzz: the EDI reader survives damaged files", "[fuzz]") {
  for (const char* name : {"data/samtex/edi_kim_eto/SAMTEX.kim443.2004.edi",
                           "data/samtex/edi_kim_eto/SAMTEX.ETO009A.2008.edi", "tests/data/edi/gv100.edi"}) {
    check_survives(text_of_file(source_path(name)), [](const std::string& bytes, const std::string& path) {
      (void)io::edi::parse(io::edi::text_of(io::edi::parse(bytes, path)).text, path);
    });
  }
}

TEST_CASE("fuzz: the readers of EMTF XML and of survey files survive damaged files", "[fuzz]") {
  const std::string xml = text_of_file(source_path("tests/data/emtf/NMX20.xml"));
  const std::string two_periods = xml.substr(0, xml.find("<Period value=\"7.3")) + "</Data></EM_TF>";
  const auto round = [](const std::string& bytes, const std::string& path) {
    (void)io::emtf::parse(io::emtf::text_of(io::emtf::parse(bytes, path)).text, path);
  };
  check_survives(two_periods, round);
  const TemporaryFolder folder;
  io::survey::write_survey(folder / "s.h5", {io::emtf::parse(two_periods, "s.xml")});
  check_survives(text_of_file(folder / "s.h5"),
                 [](const std::string&, const std::string& path) { (void)io::survey::read_survey(path); });
}

TEST_CASE("fuzz: the ModEM readers survive damaged files", "[fuzz]") {
  check_survives(text_of_file(source_path("data/modem_block2_2d/m0.rho")),
                 [](const std::string&, const std::string& path) { (void)io::modem::read_model(path); });
  const std::string data = text_of_file(source_path("data/modem_block2_2d/d0_JT.dat"));
  check_survives(data.substr(0, 6000),
                 [](const std::string&, const std::string& path) { (void)io::modem::read_data(path); });
  check_survives("2 3 2 0 LOGE\n10 20\n1 2 3\n5 6\n1 2\n3 4\n5 6\n1 2\n3 4\n5 6\n-15 -3 0\n0\n",
                 [](const std::string&, const std::string& path) { (void)io::modem::read_model(path); });
  const std::string volume = text_of_file(source_path("data/modem_block2_3d/de.dat"));
  check_survives(volume.substr(0, 3000) + volume.substr(volume.rfind("# Period") - 80, 3000),
                 [](const std::string&, const std::string& path) { (void)io::modem::read_data(path); });
  check_survives(text_of_file(source_path("data/modem_block2_3d/example.cov")),
                 [](const std::string&, const std::string& path) { (void)io::modem::read_covariance(path); });
}

TEST_CASE("fuzz: the MARE2DEM and MT2DData readers survive damaged files", "[fuzz]") {
  const std::string marine = text_of_file(source_path("data/mare2dem_demo/DemoSynthMT.emdata"));
  check_survives(replaced(marine.substr(0, 6000), "1600", "50"),
                 [](const std::string&, const std::string& path) { (void)io::mare2dem::read_data(path); });
  const std::string impedances = text_of_file(source_path("data/coprod2/coprod2data.dat"));
  check_survives(replaced(impedances.substr(0, 5000), "470", "40"),
                 [](const std::string&, const std::string& path) { (void)io::mt2d::read_data(path); });
}

TEST_CASE("fuzz: the readers of Z-files, J-format and Zonge AVG survive damaged files", "[fuzz]") {
  const auto z = [](const std::string& bytes, const std::string& path) {
    (void)io::zfile::parse(io::zfile::text_of(io::zfile::parse(bytes, path)).text, path);
  };
  check_survives(text_of_file(source_path("tests/data/zfile/tf_zmm.zmm")).substr(0, 6000), z);
  const std::string tipper = text_of_file(source_path("tests/data/zfile/tf_zss_tipper.zss"));
  check_survives(replaced(tipper.substr(0, tipper.find("period :      0.06452")), "44", " 5"), z);
  check_survives(j_format, [](const std::string& bytes, const std::string& path) {
    (void)io::jones::parse(io::jones::text_of(io::jones::parse(bytes, path)).text, path);
  });
  check_survives(
      text_of_file(source_path("tests/data/zonge/tf_zonge.avg")).substr(0, 6000),
      [](const std::string& bytes, const std::string& path) { (void)io::zonge::parse(bytes, path); });
}

TEST_CASE("fuzz: the Occam2D reader survives damaged files", "[fuzz]") {
  check_survives(occam2d_data, [](const std::string&, const std::string& path) {
    (void)io::occam2d::text_of(stated_data(io::occam2d::read_data(path)), "");
  });
}

TEST_CASE("fuzz: the FEMTIC reader survives damaged files", "[fuzz]") {
  check_survives(femtic_data,
                 [](const std::string&, const std::string& path) { (void)io::femtic::read_data(path); });
}

TEST_CASE("fuzz: the WSINV3DMT reader survives damaged files", "[fuzz]") {
  check_survives(wsinv_data, [](const std::string&, const std::string& path) {
    (void)io::wsinv::text_of(io::wsinv::read_data(path));
  });
}

TEST_CASE("fuzz: the MTH5 reader survives files that are cut off", "[fuzz]") {
  // Bytes within HDF5's own metadata are for the library, which does not survive changes of all of them.
  const std::string whole = text_of_file(source_path("tests/data/mth5/mth5_0.2.0.h5"));
  const TemporaryFolder folder;
  for (std::size_t part = 0; part < 100; ++part) {
    INFO("part " << part);
    CHECK_THROWS_AS(io::mth5::read(write_text(folder, "cut.h5", whole.substr(0, whole.size() * part / 100))),
                    core::Error);
  }
}

TEST_CASE("fuzz: the reader of Occam2D models survives damaged files", "[fuzz]") {
  const TemporaryFolder folder;
  const std::array<std::string, 3> texts{
      "Format: OCCAMITER_FLEX\nModel File: " + folder / "m.mod" + "\nParam Count: 3\n 0.0 1.0\n 2.0\n",
      "Format: OCCAM2MTMOD_1.0\nMesh File: " + folder / "m.mesh" +
          "\nBinding Offset: -5\nNum Layers: 2\n 1 2\n 1 1\n 1 1\n 2\n",
      "title\n 0 3 3 0 0 2\n 10 20\n 5 6\n 0\n??\n??\n??\n??\n??\n??\n??\n??\n"};
  const std::array<const char*, 3> names{"i.iter", "m.mod", "m.mesh"};
  for (std::size_t damaged = 0; damaged < 3; ++damaged) {
    for (std::size_t i = 0; i < 3; ++i) (void)write_text(folder, names.at(i), texts.at(i));
    check_survives(texts.at(damaged), [&](const std::string& bytes, const std::string&) {
      (void)write_text(folder, names.at(damaged), bytes);
      (void)io::occam2d::read_model(folder / "i.iter");
    });
  }
}

/// Checks a reader of a text, first whole, then damaged.
void check_reads_and_survives(const std::string& text, const Reader& read) {
  const TemporaryFolder folder;
  read(text, write_text(folder, "whole", text));
  check_survives(text, read);
}

/// Checks a reader of a file and of the one beside it, first whole, then each damaged in turn.
void check_pair_survives(const std::array<std::string, 2>& texts, const std::array<const char*, 2>& names,
                         const std::function<void(const std::string&)>& read) {
  const TemporaryFolder folder;
  for (std::size_t damaged = 0; damaged < 2; ++damaged) {
    for (std::size_t i = 0; i < 2; ++i) (void)write_text(folder, names.at(i), texts.at(i));
    read(folder / names[0]);
    check_survives(texts.at(damaged), [&](const std::string& bytes, const std::string&) {
      (void)write_text(folder, names.at(damaged), bytes);
      read(folder / names[0]);
    });
  }
}

TEST_CASE("fuzz: the readers of MARE2DEM models and of SGrids survive damaged files", "[fuzz]") {
  check_pair_survives(
      {text_of_file(source_path("data/mare2dem_demo/Demo.0.resistivity")),
       "6 2 0 0\n1 -9 -9\n2 9 -9\n3 9 0\n4 -9 0\n5 -9 9\n6 9 9\n7 0\n1 1 2\n2 2 3\n3 3 4\n4 4 1\n"
       "5 4 5\n6 5 6\n7 6 3\n0\n2\n1 0 -5 10 -1\n2 0 5 7 -1\n"},
      {"Demo.0.resistivity", "Demo.poly"},
      [](const std::string& path) { (void)io::mare2dem::read_model(path); });
  check_pair_survives(
      {"GOCAD SGrid 1\nHEADER {\nname:m\n}\nZPOSITIVE Elevation\nAXIS_N 2 2 2\nPROP_ALIGNMENT CELLS\n"
       "ASCII_DATA_FILE m__ascii@@\nPROPERTY 1 \"log10_resistivity\"\nEND\n",
       "* X Y Z r I J K\n0 0 0 1 0 0 0\n9 0 0 -9 1 0 0\n0 7 0 -9 0 1 0\n9 7 0 -9 1 1 0\n0 0 -5 -9 0 0 1\n"
       "9 0 -5 -9 1 0 1\n0 7 -5 -9 0 1 1\n9 7 -5 -9 1 1 1\n"},
      {"m.sg", "m__ascii@@"}, [](const std::string& path) { (void)io::gocad::read_model(path); });
}

TEST_CASE("fuzz: the readers of points, of cells and of lists of resistivities survive damaged files",
          "[fuzz]") {
  const std::string cells =
      "dimension = 2\n[cells]\ny_m = [0, 1, 2.5]\nz_m = [0, 3]\nlog10_resistivity = [1, 2.5]\n[surface]\n"
      "y_m = [0, 1]\nz_m = [-1, 2]\n[frame]\nprojection = \"EPSG:32611\"\n";
  check_reads_and_survives(
      cells, [](const std::string&, const std::string& path) { (void)io::model::read_placed_toml(path); });
  for (const char* points :
       {"# geometry, by which the file is read back:\n# dimension = 2\n# [cells]\n# y_m = [0, 2, 4]\n"
        "# z_m = [0, 6]\ny_m z_m log10_resistivity\n1 3 1\n3 3 2\n",
        "x_m,y_m,z_m,resistivity_ohm_m\n0,0,1,5\n0,0,2,5\n0,1,1,5\n0,1,2,5\n1,0,1,5\n1,0,2,5\n1,1,1,5\n1,1,2,"
        "5\n"})
    check_reads_and_survives(
        points, [](const std::string&, const std::string& path) { (void)io::model::read_xyz(path); });
  check_reads_and_survives(
      "# a\n2 1 3 4\n10 20\n5\n1 2 3\n1 10 100 0.3\n1 2\n4\n2\n3 3\n3\n1\n",
      [](const std::string&, const std::string& path) { (void)io::modem::read_model_file(path); });
}

TEST_CASE("fuzz: the reader of rasters survives damaged texts", "[fuzz]") {
  for (const char* grid :
       {"ncols 3\nnrows 2\nxllcorner 15\nyllcorner -21\ncellsize 1\nNODATA_value -9\n1 2 3\n4 -9 6\n",
        "0 30 1\n10 30 2\n20 30 3\n0 20 4\n10 20 5\n20 20 6\n"})
    check_reads_and_survives(grid, [](const std::string&, const std::string& path) {
      const io::raster::ElevationRaster raster(path);
      if (raster.n_columns() < 1000 && raster.n_rows() < 1000)
        raster.visit([](const io::raster::Pixel&, int) {});
    });
}

TEST_CASE("fuzz: the TOML readers survive damaged files", "[fuzz]") {
  check_survives(model_toml, [](const std::string& bytes, const std::string& path) {
    (void)io::toml::parse_options_toml(bytes, path);
  });
  for (const std::string& text : {model_toml, volume_toml})
    check_survives(
        text, [](const std::string&, const std::string& path) { (void)io::model::read_model_toml(path); });
}

TEST_CASE("fuzz: the CSV readers survive damaged files", "[fuzz]") {
  check_survives("site,y_m,z_m\na,1.5,2\n\"b,c\",2e3,\nd,-7,1e-3\n",
                 [](const std::string&, const std::string& path) { (void)io::survey::read_sites_csv(path); });
  check_survives(
      "site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition\na,TE,1,0,"
      "0,10,45,1e-3,1e-3,0.1,0.2,"
      "horizontal\na,TM,1,0,0,10,"
      "-135,-1e-3,-1e-3,,,horizontal\n",
      [](const std::string&, const std::string& path) { (void)io::survey::read_responses_csv(path); });
}

TEST_CASE("fuzz: telling files apart survives damaged files and never throws", "[fuzz]") {
  for (const std::string& text :
       {text_of_file(source_path("data/modem_block2_2d/m0.rho")).substr(0, 3000), model_toml,
        text_of_file(source_path("data/modem_block2_2d/d0_JT.dat")).substr(0, 3000),
        text_of_file(source_path("tests/data/edi/gv100.edi")).substr(0, 6000), j_format,
        text_of_file(source_path("tests/data/zfile/tf_zmm.zmm")).substr(0, 3000),
        text_of_file(source_path("tests/data/zonge/tf_zonge.avg")).substr(0, 3000), occam2d_data, femtic_data,
        wsinv_data}) {
    check_survives(text, [](const std::string&, const std::string& path) {
      const auto info = io::info::describe_file(path);
      if (info.status.empty()) FAIL("a file without a status");
    });
    check_survives(text,
                   [](const std::string&, const std::string& path) { (void)io::model::read_model(path); });
  }
}

TEST_CASE("fuzz: the safetensors reader survives damaged files", "[fuzz]") {
  const TemporaryFolder folder;
  engine::SafetensorsSink sink(folder / "x.safetensors");
  core::write_vector(sink, "net/weight", std::vector<double>{1.0, 2.0, 3.0});
  core::write_vector(sink, "net/spectrum", std::vector<std::complex<double>>{{1.0, -1.0}});
  core::write_texts(sink, "names", {"a", "bc"});
  sink.attribute("net/weight", "units", "ohm m");
  sink.commit();
  check_survives(text_of_file(folder / "x.safetensors"), [](const std::string&, const std::string& path) {
    const engine::SafetensorsSource source(path);
    for (const std::string& name : source.names()) {
      const core::ArrayInfo info = source.info(name);
      std::vector<std::byte> bytes(static_cast<std::size_t>(info.count()) * core::size_of(info.dtype));
      source.read(name, 0, bytes);
    }
    source.verify();
  });
}
