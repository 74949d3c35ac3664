// SPDX-License-Identifier: Apache-2.0
#include "engine/state/state_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/info/info.hpp"
#include "io/model/hdf5.hpp"
#include "io/model/read.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/read.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>
#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

TEST_CASE("info: an EDI file shows its site with components, periods, sign, units and frame", "[info]") {
  const auto info = info::describe_file(source_path("data/samtex/edi_kim_eto/SAMTEX.kim438.2004.edi"));
  CHECK(info.format == "EDI");
  CHECK(info.status == "ok");
  REQUIRE(info.sites.size() == 1);
  const auto& site = info.sites[0];
  CHECK(site.name == "kim438");
  CHECK(site.latitude_deg == Approx(-23.236867));
  CHECK(site.elevation_m == 1397.0);
  CHECK(site.n_periods == 80);
  CHECK(site.period_min_s == Approx(1.0 / 320.0));
  CHECK(site.period_max_s == Approx(1.0 / 0.00034).epsilon(1e-5));
  CHECK(site.components == std::vector<std::string>{"zxx", "zxy", "zyx", "zyy"});
  CHECK(site.n_masked == 0);
  CHECK(site.sign == "+");
  CHECK(site.units == "mV/km/nT");
  CHECK(site.frame_deg == 0.0);
  CHECK(info::describe_file(source_path("tests/data/edi/gv100.edi")).sites[0].components.size() == 6);
}

TEST_CASE("info: ModEM data and models are told apart and described", "[info]") {
  const auto data = info::describe_file(source_path("data/modem_block2_2d/d0_JT.dat"));
  CHECK(data.format == "ModEM 2-D data");
  CHECK(data.sites.size() == 40);
  CHECK(data.sites[0].components == std::vector<std::string>{"zxy", "zyx"});
  CHECK(data.sites[0].sign == "-");
  CHECK(data.sites[0].units == "V/m/T");
  CHECK(data.sites[0].n_masked == 12);
  CHECK(data.warnings.size() == 1);
  const auto model = info::describe_file(source_path("data/modem_block2_2d/m0.rho"));
  CHECK(model.format == "ModEM 2-D model");
  CHECK_THAT(model.facts.at(0), Catch::Contains("100") && Catch::Contains("31"));
}

TEST_CASE(
    "info: what cannot be read has its error text and the exit code of its class, and nothing is thrown",
    "[info]") {
  const TemporaryFolder folder;
  const auto missing = info::describe_file(folder / "none");
  CHECK(missing.code == core::ExitCode::file);
  CHECK_THAT(missing.status, Catch::Contains(folder / "none"));
  const auto binary = info::describe_file(write_text(folder, "b.edi", std::string("\x01\0\x02", 3)));
  CHECK(binary.code == core::ExitCode::format);
  CHECK_THAT(binary.status, Catch::Contains("b.edi:1") && Catch::Contains(">HEAD"));
  const auto other = info::describe_file(write_text(folder, "b.txt", "Dear all,\n"));
  CHECK(other.format == "unknown");
  CHECK_THAT(other.status, Catch::Contains("b.txt:1"));
  CHECK(other.code == core::ExitCode::format);
  const TemporaryFolder empty;
  const auto no_edi = info::describe_file(empty.path().string());
  CHECK(no_edi.code == core::ExitCode::file);
  CHECK_THAT(no_edi.status, Catch::Contains(empty.path().string()) && Catch::Contains("*.edi"));
  CHECK_THAT(info::describe_file(source_path("data/samtex/edi_kim_eto")).status,
             Catch::Contains("edi_kim_eto") && !Catch::Contains("*.edi"));
  const auto three_d = info::describe_file(write_text(
      folder, "3.dat", "# a\n# b\n> Full_Impedance\n> exp(+i\\omega t)\n> Ohm\n> 0\n> 0 0\n> 1 1\n"));
  CHECK(three_d.format == "ModEM 3-D data");
  CHECK(three_d.code == core::ExitCode::format);
}

TEST_CASE("info: files that are known but not read say what they are and what to give", "[info]") {
  const TemporaryFolder folder;
  const auto says = [&](const std::string& text, const std::string& words) {
    const std::string path = write_text(folder, "f.txt", text);
    const auto info = info::describe_file(path);
    CHECK(info.code == core::ExitCode::format);
    CHECK_THAT(info.status, Catch::Contains("f.txt:1: ") && Catch::Contains(words));
    CHECK_THAT(error_of<core::FormatError>([&] { (void)survey::read(path); }), HasId("not_read", {words}));
    CHECK_THAT(error_of<core::FormatError>([&] { (void)model::read_model(path); }),
               HasId("not_read", {words}));
  };
  says("Format:  EMData_1.1\n! x\n# Frequencies: 1\n1\n", "data of Occam1D are not read");
  says(" Format:    EMResp_1.2\n", "responses of Occam1D are not read");
  says("Format: Resistivity1DMod_1.0\n#LAYERS: 2\n", "models of Occam1D are not read");
  says("Format: OCCAM2MTMOD_1.0\nModel Name: a\n", "give the iteration file");
  says("MESH FILE of a program\n   0  57  32  0  0  2\n 279.0 164.1\n", "mesh of an Occam2D model");
  says("1.0 1.0 5.0 0.0 4.8 4.9 -0.01\n1.0 1.0 6.0 0.0 8.5 7.0 0.17\n", "give the data file");
  says("#Format: EM2DModelFile\nNY: 2\n", "models of HMCMT are not read");
  says("9 2 0 0\n1 -5e5 -5e5\n2 -5e5 5e5\n", "give the .resistivity file");
  says("# sitename: A01 easting: 0 m\n# periods (s) ReZxx ImZxx\n0.56 1 2\n", "tables of impedances by site");
  says("# periods\trho\terho\tphs\tephs\n0.020\t0.712\t0.0434\t20.50\t4.50\n", "with a block RXY");
  says("#layerdepth\tLOG10(RES)\n0.3680\t2.00\n", "lists of depths and resistivities of layers");
  // Models of ModEM whose first lines are counts and widths stay models.
  CHECK(survey::kind_of_file(write_text(folder, "m", "3 2 1 0\n1 1 1\n1 1\n1\n1 2 3 4 5 6\n")) ==
        survey::FileKind::modem_model_3d);
}

TEST_CASE("info: iterations of Occam1D are told from those of Occam2D", "[info]") {
  const TemporaryFolder folder;
  const auto kind_with = [&](const std::string& names) {
    return survey::kind_of_file(
        write_text(folder, "ITER", "Format: OCCAMITER_FLEX\n" + names + "Param Count: 1\n 2.0\n"));
  };
  constexpr auto unknown = survey::FileKind::unknown, occam2d = survey::FileKind::occam2d_model;
  CHECK(kind_with("Model File: Model1D\nData File: d.dat\n") == unknown);
  CHECK(kind_with("Model File: m\nData File: d.dat\n") == occam2d);
  CHECK_THAT(error_of<core::FormatError>([&] {
               (void)model::read_model(write_text(
                   folder, "i", "Format: OCCAMITER_FLEX\nModel File: Model1D\nParam Count: 1\n 2.0\n"));
             }),
             HasId("not_read", {"i:1: ", "startup files of Occam1D", "[background]"}));
  write_text(folder, "d.dat", "Format:  EMData_1.1\n! x\n");
  CHECK(kind_with("Model File: m\nData File: d.dat\n") == unknown);  // the data beside it decide
  write_text(folder, "m", "Format: OCCAM2MTMOD_1.0\nModel Name: a\n");
  CHECK(kind_with("Model File: m\nData File: d.dat\n") == occam2d);  // the model beside it decides
  write_text(folder, "m", "Format: Resistivity1DMod_1.0\n#LAYERS: 2\n");
  CHECK(kind_with("Model File: m\nData File: e.dat\n") == unknown);
}

TEST_CASE("info: ModEM 3-D files state cells, sites, origin, sign, units and areas", "[info]") {
  const auto data = info::describe_file(source_path("data/modem_block2_3d/de.dat"));
  CHECK((data.format == "ModEM 3-D data" && data.status == "ok" && data.sites.size() == 198));
  CHECK((data.sites[0].sign == "-" && data.sites[0].units == "V/m/T" && data.sites[0].n_periods == 4));
  CHECK(data.sites[0].components == std::vector<std::string>{"zxy", "zyx", "tzy", "zxx", "zyy", "tzx"});
  CHECK(data.facts.at(0) == "198 sites, x 41000 to 79000 m, y 39375 to 80625 m");
  CHECK(data.facts.at(1) == "origin not stated, x along 0° from north");
  const auto model = info::describe_file(source_path("data/modem_block2_3d/m0.ws"));
  CHECK((model.format == "ModEM 3-D model" && model.status == "ok"));
  CHECK(model.facts.at(0) == "21 x 28 x 11 cells along x, y and z");
  CHECK_THAT(model.facts.at(2), Catch::Contains("33.3") && Catch::Contains("1000"));
  const auto covariance = info::describe_file(source_path("data/modem_block2_3d/example.cov"));
  CHECK((covariance.format == "ModEM covariance" && covariance.status == "ok"));
  CHECK_THAT(covariance.facts.at(0), Catch::Contains("21 x 28 x 11") && Catch::Contains("2 times"));
}

TEST_CASE("info: TOML models, configurations, site lists and HDF5 models are recognized by content",
          "[info]") {
  const TemporaryFolder folder;
  CHECK(info::describe_file(write_text(folder, "x", "[background]\nresistivity_ohm_m = [1]\n")).format ==
        "TOML model");
  const auto inversion = info::describe_file(write_text(folder, "y", "[run]\ntitle = \"t\"\n[data]\n"));
  CHECK(inversion.format == "TOML inversion");
  CHECK_THAT(inversion.facts.at(0), Catch::Contains("\"t\"") && Catch::Contains("mt_invert invert"));
  const auto prior = info::describe_file(source_path("examples/kim_eto/prior.toml"));
  CHECK(prior.format == "TOML prior");
  CHECK_THAT(prior.facts.at(0), Catch::Contains("mt_invert train"));
  CHECK_THAT(info::describe_file(write_text(folder, "w", "[run]\n")).facts.at(0),
             Catch::Contains("[background]") && Catch::Contains("[prior]"));
  const auto sites = info::describe_file(write_text(folder, "z", "site,y_m\na,1\nb,-2.5\n"));
  CHECK(sites.sites.at(0).name == "a");
  CHECK_THAT(sites.facts.at(0), Catch::Contains("2 sites") && Catch::Contains("-2.5 to 1 m"));
  const auto benchmark = info::describe_file(source_path("data/benchmarks/commemi2d4.csv"));
  CHECK(benchmark.format == "CSV table");
  CHECK(benchmark.status == "ok");
  CHECK_THAT(benchmark.facts.at(0), Catch::Contains("mode,definition,period_s"));
  CHECK_THAT(info::describe_file(write_text(folder, "s.csv", "y_m,z_m\n0,1\n")).facts.at(1),
             Catch::Contains("profile.surface_file"));
  CHECK_THAT(
      info::describe_file(write_text(folder, "e.csv", "longitude_deg,latitude_deg,elevation_m\n1,2,3\n"))
          .facts.at(1),
      Catch::Contains("a map of elevations") && Catch::Contains("profile.surface_file"));
  const auto grid = info::describe_file(
      write_text(folder, "e.asc", "ncols 2\nnrows 1\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n"));
  CHECK(grid.format == "Arc/Info ASCII Grid");
  CHECK_THAT(grid.facts.at(0), Catch::Contains("a grid of numbers, 2 x 1 pixels") &&
                                   Catch::Contains("does not state the quantity") &&
                                   Catch::Contains("profile.surface_file"));
  CHECK(info::describe_file(write_text(folder, "n.csv", "1,2\n3,4\n")).format == "unknown");
  const auto section = model::read_model(source_path("data/modem_block2_2d/m0.rho"));
  model::write_model_hdf5(folder / "m.h5", section);
  CHECK(info::describe_file(folder / "m.h5").format == "HDF5 model");
  CHECK(survey::kind_of_file(folder / "m.h5") == survey::FileKind::hdf5);
}

TEST_CASE(
    "model files: HDF5, ModEM and TOML are read whatever their names, others are refused by what they are",
    "[model]") {
  const TemporaryFolder folder;
  const auto modem = model::read_model(source_path("data/modem_block2_2d/m0.rho"));
  CHECK(modem.earth.grid.n_y() == 100);
  model::write_model_hdf5(folder / "m.dat", modem);
  CHECK(model::read_model(folder / "m.dat").values.isApprox(modem.values, 1e-12));
  CHECK(model::read_model(write_text(folder, "model", "[background]\nresistivity_ohm_m = [5]\n")).values[0] ==
        5.0);
  CHECK_THAT(error_of<core::FormatError>(
                 [] { (void)model::read_model(source_path("data/modem_block2_2d/d0_JT.dat")); }),
             HasId("not_a_model", {"ModEM 2-D data"}));
  CHECK_THAT(
      error_of<core::FormatError>([&] { (void)model::read_model(write_text(folder, "t", "hello world")); }),
      HasId("not_a_model", {"t:1"}));
  physics::mesh::Model section = modem;
  section.values[section.earth.grid.index(2, 3)] = 1e13;
  model::write_model_hdf5(folder / "air.h5", section);
  CHECK_THAT(error_of<core::FormatError>([&] { (void)model::read_model(folder / "air.h5"); }),
             HasId("resistivity_out_of_range", {"air.h5", "1e-06", "1e+12", "1e+13", "2", "3"}));
  CHECK_THROWS_AS(model::read_model(folder / "none"), core::FileError);
}

TEST_CASE("info: a trained network shows its cells, depths and codes before its arrays", "[info]") {
  const auto info = info::describe_file(source_path("data/kim_eto_prior/vae.h5"));
  CHECK(info.format == "HDF5 network");
  CHECK(info.status == "ok");
  CHECK(info.facts.at(0) == "network of subdomains: 32 x 1 cells, depths 1059.26 to 84027.6 m, 16 codes");
  CHECK(info.facts.at(2) == "format: lodestone vae");
  CHECK(std::ranges::count(info.facts, "statistics/covariance: f64 [32, 32]") == 1);

  const TemporaryFolder folder;
  hdf5::Hdf5Sink sink(folder / "half.h5");
  sink.attribute("", "format", "lodestone vae");
  core::write_vector(sink, "options/sizes", std::vector<std::int64_t>{32, 1});
  core::write_vector(sink, "grid/depth_m", std::vector<double>{1.0, 2.0});
  sink.commit();
  CHECK_THAT(info::describe_file(folder / "half.h5").status, Catch::Contains("half.h5"));
  CHECK(info::describe_file(folder / "half.h5").code == core::ExitCode::format);
}

TEST_CASE("info: the card of a network and the samples of a run say in short what they hold", "[info]") {
  const TemporaryFolder folder;
  const std::string card =
      R"({"format": "lodestone vae card", "network": {"kind": "column", "cells_z": 20, "cells_y": 1, "n_codes": 8},
    "training": {"draws": 100, "seed": 3}, "grid": {"from_m": 10.500000000000002, "to_m": 90}, "scores": {"epochs": 2, "reconstruction_rms_decades": 0.02)";
  const auto info = info::describe_file(write_text(folder, "card.json", card + R"(, "codes_used": 7}})"));
  CHECK(info.format == "card of a network");
  CHECK(info.facts ==
        std::vector<std::string>{
            "network of a column of 20 x 1 cells, depths 10.5 to 90 m, 8 codes, 7 of them in use",
            "trained on 100 draws, seed 3, 2 epochs; reconstruction error 0.02 decades rms"});
  CHECK_THAT(info::describe_file(write_text(folder, "half.json", card + "}}")).status,
             Catch::Contains("/scores/codes_used"));
  CHECK(info::describe_file(write_text(folder, "cut.json", card)).code == core::ExitCode::format);

  hdf5::Hdf5Sink sink(folder / "ensemble.h5");
  sink.attribute("", "format", "lodestone ensemble");
  core::write_vector(sink, "ensemble/seed", std::vector<std::int64_t>{5, 3});
  core::write_vector(sink, "ensemble/lambda", std::vector<double>{2.5});
  Eigen::MatrixXd records(3, 6);
  records << 0, 1.5, 0, 3, 1, 0, 1, 9.0, 0, 3, 0, 1, 2, 1.25, 0, 3, 1, 0;
  core::write_matrix(sink, "ensemble/records", records);
  sink.commit();
  const auto samples = info::describe_file(folder / "ensemble.h5");
  CHECK(samples.format == "HDF5 samples");
  CHECK(samples.facts.at(0) == "2 samples of the final model (1 more failed), seed 5, lambda 2.5");
  CHECK(samples.facts.at(1) == "rms of the samples 1.250 to 1.500, by the errors they were drawn with");
}

TEST_CASE("info: the state of a network shows its arrays, from safetensors and from HDF5, damage is told",
          "[info]") {
  const TemporaryFolder folder;
  const engine::NamedTensors state{
      {"net.0.weight", engine::Tensor::from(std::vector<double>(6), {2, 3})},
      {"optimizer.n_steps", engine::Tensor::from(std::vector<std::int64_t>{7}, {})}};
  const std::string path = folder / "state.safetensors";
  engine::save_state(path, state);
  hdf5::Hdf5Sink sink(folder / "state.h5");
  engine::write_state(sink, state);
  sink.commit();
  CHECK(survey::kind_of_file(path) == survey::FileKind::safetensors);
  const auto info = info::describe_file(path);
  CHECK(info.format == "safetensors");
  CHECK(info.status == "ok");
  CHECK(info.facts.at(0) == "2 arrays, 7 numbers");
  CHECK(info.facts.at(1) == "format: lodestone state");
  CHECK(info.facts.at(4) == "net.0.weight: f64 [2, 3]");
  CHECK(info.facts.at(5) == "optimizer.n_steps: i64 []");
  CHECK(info::describe_file(folder / "state.h5").format == "HDF5 state");
  CHECK(info::describe_file(folder / "state.h5").facts == info.facts);
  std::string bytes = text_of_file(path);
  bytes.back() ^= 1;
  const auto damaged = info::describe_file(write_text(folder, "damaged", bytes));
  CHECK(damaged.code == core::ExitCode::format);
  CHECK_THAT(damaged.status, Catch::Contains("\"optimizer.n_steps\""));
  CHECK(info::describe_file(write_text(folder, "cut", bytes.substr(0, 100))).code == core::ExitCode::format);
}

TEST_CASE("info: a station's name in Latin-1 or with control characters leaves the JSON whole", "[info]") {
  const TemporaryFolder folder;
  std::string text = text_of_file(source_path("data/samtex/edi_kim_eto/SAMTEX.kim438.2004.edi"));
  const auto at = text.find("DATAID");
  REQUIRE(at != std::string::npos);
  text.replace(at, text.find_first_of("\r\n", at) - at, "DATAID=\"K\xEDm \x1B[31m\x9D\"");
  const auto info = info::describe_file(write_text(folder, "x.edi", text));
  REQUIRE(info.status == "ok");
  REQUIRE(info.sites.size() == 1);
  CHECK(info.sites[0].name == "Kím  [31m\xEF\xBF\xBD");
  CHECK_THAT(info::info_json({info}), Catch::Contains("\"Kím  [31m\xEF\xBF\xBD\""));
}
