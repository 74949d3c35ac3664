// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "inversion/mt/tables.hpp"
#include "io/csv/table.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/format.hpp"
#include "io/model/hdf5.hpp"
#include "io/report/report.hpp"
#include "io/run/result.hpp"
#include "io/run/write.hpp"
#include "io/survey/responses.hpp"
#include "io/vtk/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"
#include "tests/unit/io/output_support.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <fstream>
#include <numbers>

using namespace lodestone;
using Catch::Matchers::Contains;
using test::OutputFolder;
namespace mt = physics::mt;
namespace mesh = physics::mesh;

namespace {

const test::SyntheticOptions small{
    .n_stations = 4, .n_frequencies = 3, .n_columns = 8, .n_rows = 6, .hill_m = 500.0};

bool same(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  if (a.size() != b.size()) return false;
  for (Eigen::Index k = 0; k < a.size(); ++k) {
    if (a[k] != b[k] && !(std::isnan(a[k]) && std::isnan(b[k]))) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("result: data, sites and predictions survive the file") {
  const OutputFolder folder;
  const inversion::Outcome written = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", written);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  CHECK(read.data == written.data);
  CHECK(read.sites == written.sites);
  CHECK(same(read.predicted, written.predicted));
  CHECK(read.sites.texts("name")[2] == "kim440");
  const auto observed = inversion::mt::observations(read.data, read.sites);
  REQUIRE(observed);
  CHECK(observed->survey.keys[20].station == 0);
  CHECK(observed->survey.stations[2].longitude_deg == read.sites.numbers("longitude_deg")[2]);
}

TEST_CASE("result: model, frame, tables, history and provenance survive the file") {
  const OutputFolder folder;
  inversion::Outcome written = test::synthetic_result(small);
  written.frame.bends = {{0.0, 1.0, 2.0}, {10.0, 4.0, 6.0}};
  written.further = Eigen::Vector2d(0.125, -1.0 / 3.0);
  written.tables.front().own_file = true;
  written.about.warnings = {{"mt::sites#close_sites", "kim438 and kim439"}, {"", "without an id"}};
  io::run::write_result(folder / "result.h5", written);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  CHECK(same(read.model.values, written.model.values));
  CHECK(same(read.start, written.start));
  CHECK(same(read.further, written.further));
  CHECK(read.model.property.units == "ohm m");
  CHECK(read.model.earth.grid.z_edges_m() == written.model.earth.grid.z_edges_m());
  CHECK(read.model.earth.grid.reference() == mesh::DepthReference::surface);
  CHECK(read.model.earth.surface.z_m() == written.model.earth.surface.z_m());
  CHECK(read.frame.projection == written.frame.projection);
  CHECK(read.frame.elevation_m == 1432.5);
  CHECK(read.frame.bends.at(1).east_m == 6.0);
  REQUIRE(read.tables.size() == 2);
  for (std::size_t k = 0; k < 2; ++k) {
    CHECK(read.tables[k].table == written.tables[k].table);
    CHECK(read.tables[k].note == written.tables[k].note);
    CHECK(read.tables[k].own_file == written.tables[k].own_file);
  }
  CHECK(read.table("certificate")->table.texts("where")[1] == "ETO026 780 s TM");
  CHECK(read.table("meshes")->table.numbers("coarsened")[1] == 1.25);
  REQUIRE(read.history.size() == 10);
  CHECK(read.history[3].lambda == written.history[3].lambda);
  CHECK(read.history[3].kind == inversion::optimize::StepKind::jump);
  CHECK(read.history[3].n_forward == 6);
  CHECK(read.about.configuration == written.about.configuration);
  CHECK(read.about.facts == written.about.facts);
  CHECK(read.about.warnings == written.about.warnings);
  CHECK(read.about.provenance.command_line == written.about.provenance.command_line);
  CHECK(read.about.provenance.build == written.about.provenance.build);
  CHECK(read.ending.message == written.ending.message);
  CHECK(read.ending.reason == written.ending.reason);
  CHECK(read.ending.rms == 1.2);
}

TEST_CASE("result: layers of another property survive the file") {
  const OutputFolder folder;
  const inversion::Outcome written = test::layers_of_density();
  io::run::write_result(folder / "result.h5", written);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  CHECK(read.model.earth.grid.dimension() == 1);
  CHECK(read.model.property.name == "density");
  CHECK(same(read.model.values, written.model.values));
  CHECK(read.data == written.data);
  CHECK_FALSE(inversion::mt::observations(read.data, read.sites));
}

TEST_CASE("result: a file of version 1 is read as an outcome") {
  const inversion::Outcome read =
      io::run::read_result(tests::source_path("tests/data/result/version_1.h5").c_str());
  CHECK(read.ending.rms == Approx(5.5255268746425115));
  CHECK(read.model.earth.grid.n_z() == 10);
  CHECK(read.model.values.size() == read.model.earth.grid.n_cells());
  CHECK(std::pow(10.0, read.model.values[0]) == Approx(61.63709385090264));
  CHECK(read.model.property.name == "resistivity");
  REQUIRE(read.sites.n_rows() == 7);
  CHECK(read.sites.numbers("y_m")[1] == -1000.0);
  const auto data = inversion::mt::observations(read.data, read.sites);
  REQUIRE(data);
  CHECK(data->survey.frequencies_hz.size() == 3);
  const double ohm = 4e-4 * std::numbers::pi;  // of 1 mV/km/nT
  CHECK(read.data.observed()[0] == Approx(159.24041534200916 * ohm));
  CHECK(read.data.key().texts("quantity")[0] == "zxy_re");
  CHECK(read.data.key().texts("site")[0] == "s0");
  CHECK(inversion::normalized_residuals(read.data, read.predicted).allFinite());
  const core::Table& shifts = read.table("static_shift")->table;
  CHECK(shifts.numbers("shift_decades")[0] == Approx(0.05631399155100154));
  CHECK(shifts.texts("mode")[0] == "TE");
  CHECK(read.further[1] == Approx(-0.01186657243340645));
  const core::Table& certificate = read.table("certificate")->table;
  REQUIRE(certificate.n_rows() == 8);
  CHECK(certificate.numbers("rho_a_percent")[0] == Approx(1.502).margin(5e-4));
  CHECK(certificate.numbers("passed")[1] == 0.0);
  CHECK(read.table("meshes") != nullptr);
  REQUIRE(read.history.size() == 5);
  CHECK(read.history[4].rms == Approx(1.3594117311913239));
  CHECK(read.ending.reason == inversion::optimize::StopReason::max_iterations);
  CHECK_FALSE(read.about.configuration.empty());
}

TEST_CASE("result: a file of version 1 without the later arrays is read") {
  const OutputFolder folder;
  std::filesystem::copy_file(tests::source_path("tests/data/result/version_1.h5"), folder / "old.h5");
  for (const char* name : {"survey/station/definition", "profile/datum_elevation_m", "meshes/band_000/order",
                           "meshes/band_000/coarsened"})
    test::remove_from_hdf5(folder / "old.h5", name);
  const inversion::Outcome read = io::run::read_result(folder / "old.h5");
  CHECK(read.sites.texts("definition")[1] == "horizontal");
  CHECK(read.frame.elevation_m == 0.0);
  CHECK(read.table("meshes")->table.numbers("order")[0] == 1.0);
}

TEST_CASE("run: write leaves result, section and tables, and nothing of a stopped run") {
  const OutputFolder folder;
  inversion::Outcome outcome = test::synthetic_result(small);
  outcome.tables.front().own_file = true;
  outcome.ending.code = core::ExitCode::ok;
  outcome.ending.text = "";
  const io::run::WriteOptions few{.vtk = false, .report = false};
  CHECK(io::run::write(MPI_COMM_SELF, folder / "run", outcome, few) == 0);
  CHECK(std::filesystem::exists(folder / "run" / "result.h5"));
  CHECK(std::filesystem::exists(folder / "run" / "section.csv"));
  CHECK_FALSE(std::filesystem::exists(folder / "run" / "vtk"));
  CHECK(io::csv::read_table(folder / "run" / "meshes.csv").numbers("coarsened")[1] == 1.25);
  CHECK(io::run::write(MPI_COMM_SELF, folder / "layers", test::layers_of_density()) == 0);
  CHECK(std::filesystem::exists(folder / "layers" / "vtk" / "model.vtu"));
  CHECK(std::filesystem::exists(folder / "layers" / "report.html"));
  CHECK_FALSE(std::filesystem::exists(folder / "layers" / "section.csv"));
  outcome.ending.code = core::ExitCode::solver;
  outcome.ending.text = "failed";
  CHECK_THAT(tests::error_of<core::SolverError>(
                 [&] { (void)io::run::write(MPI_COMM_SELF, folder / "failed", outcome, few); }),
             tests::HasId("inversion_failed", {"iteration 9", "result.h5"}));
  CHECK(std::filesystem::exists(folder / "failed" / "result.h5"));
  outcome.ending.code = core::ExitCode::interrupted;
  outcome.ending.text = "stopped from outside";
  CHECK(io::run::write(MPI_COMM_SELF, folder / "stopped", outcome) ==
        static_cast<int>(core::ExitCode::interrupted));
  CHECK_FALSE(std::filesystem::exists(folder / "stopped"));
}

TEST_CASE("run: the results are written before the certificate, which is then added to them") {
  const OutputFolder folder;
  const std::filesystem::path path = folder / "run";
  core::DataSetParts data{.observed = Eigen::Vector3d(1.0, 2.0, 1.5),
                          .sigma = Eigen::Vector3d::Constant(0.1)};
  data.reason.assign(3, 0);
  data.reasons = {"used"};
  const auto map = core::affine(Eigen::Matrix3d::Identity(), Eigen::Vector3d::Zero());
  inversion::Problem problem({mesh::TensorGrid::layers(10.0, 1.2, 3)}, core::DataSet(std::move(data)),
                             inversion::fixed(map));
  bool was_there = false;
  problem.forward.certificate = [&](const Eigen::VectorXd&, const inversion::CertificateTerms& terms) {
    was_there = std::filesystem::exists(path / "report.html") &&
                io::run::read_result(path / "result.h5").table("certificate") == nullptr;
    if (terms.stop()) return inversion::Certified{.stopped = true};
    inversion::NamedTable table{.name = "certificate", .title = "Accuracy of the forward meshes"};
    table.table.add_numbers("passed", "", {1.0});
    return inversion::Certified{.table = table};
  };
  inversion::Inversion run(MPI_COMM_SELF, problem);
  const io::run::WriteOptions options{.vtk = false};
  CHECK(io::run::write(MPI_COMM_SELF, path, run, run.minimize(), options) == 0);
  CHECK(was_there);
  CHECK(io::run::read_result(path / "result.h5").table("certificate") != nullptr);
  CHECK_THAT(test::slurp(path / "report.html"), Contains("Accuracy of the forward meshes"));

  inversion::Outcome again = run.minimize();
  run.set_stop([] { return std::optional(inversion::optimize::StopReason::interrupted); });
  CHECK(io::run::write(MPI_COMM_SELF, path, run, again, options) == 0);
  CHECK(was_there);
  CHECK(io::run::read_result(path / "result.h5").table("certificate") == nullptr);
}

TEST_CASE("run: the last line carries the ending's id and level in JSON") {
  const OutputFolder folder;
  inversion::Outcome outcome = test::synthetic_result(small);
  outcome.ending = {core::ExitCode::not_converged, "not converged",
                    core::Place("inversion::judge#above_target")};
  core::log::configure({.file = folder / "log.jsonl"});
  const int code = io::run::write(MPI_COMM_SELF, folder / "run", outcome, {.vtk = false, .report = false});
  core::log::configure({});
  CHECK(code == static_cast<int>(core::ExitCode::not_converged));
  std::ifstream log(folder / "log.jsonl");
  std::string line, last;
  while (std::getline(log, line)) last = line;
  CHECK_THAT(last,
             Contains("\"id\":\"above_target\"") && Contains("inversion::judge") && Contains("warning"));
}

TEST_CASE("result: ParaView files and report of a result read again are those of the run, byte by byte") {
  const OutputFolder run, again;
  inversion::Outcome result = test::synthetic_result(small);
  io::run::write_result(run / "result.h5", result);
  const inversion::Outcome read = io::run::read_result(run / "result.h5");
  io::report::write_report(run.path(), result);
  io::report::write_report(again.path(), read);
  CHECK(test::slurp(again / "report.html") == test::slurp(run / "report.html"));
  const auto first = io::vtk::write_result_vtk(MPI_COMM_SELF, run.path(), result),
             second = io::vtk::write_result_vtk(MPI_COMM_SELF, again.path(), read);
  REQUIRE(first.size() == 4);
  for (std::size_t k = 0; k < first.size(); ++k) CHECK(test::slurp(second[k]) == test::slurp(first[k]));
}

TEST_CASE("result: a result with no data, history or meshes survives the file") {
  const OutputFolder folder;
  inversion::Outcome empty;
  empty.model.values = empty.start = Eigen::VectorXd::Constant(1, 2.0);
  io::run::write_result(folder / "result.h5", empty);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  CHECK(read.data.size() == 0);
  CHECK(read.history.empty());
  CHECK(read.about.configuration.empty());
}

TEST_CASE("result: arrays carry units and the normalized residuals") {
  const OutputFolder folder;
  const inversion::Outcome written = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", written);
  const io::hdf5::Hdf5Source source(folder / "result.h5");
  CHECK(source.attribute("model/log10_resistivity", "units") == "log10(ohm m)");
  CHECK(source.info("model/log10_resistivity").shape == std::vector<std::int64_t>{6, 8, 1});
  const auto residual = core::read_doubles(source, "data/normalized_residual");
  const Eigen::VectorXd expected = inversion::normalized_residuals(written.data, written.predicted);
  CHECK(residual[0] == expected[0]);
  CHECK(std::isnan(residual[5]));
}

TEST_CASE("residuals: phases are wrapped, masked data are not counted") {
  mt::Observations data;
  data.survey = mt::full_survey({{"a", 0.0}}, {1.0}, {mt::Datum::phase_yx, mt::Datum::log10_rho_yx});
  data.value = Eigen::Vector2d(3.1, 2.0);
  data.sigma = Eigen::Vector2d(0.1, 0.5);
  data.reason = {mt::MaskReason::kept, mt::MaskReason::listed};
  const Eigen::VectorXd residual =
      inversion::normalized_residuals(data.data_set(), Eigen::Vector2d(-3.1, 1.0));
  CHECK(residual[0] == Approx((6.2 - 2.0 * std::numbers::pi) / 0.1));
  CHECK(std::isnan(residual[1]));
  CHECK_THROWS_AS(inversion::normalized_residuals(data.data_set(), Eigen::VectorXd::Zero(3)),
                  core::ShapeError);
}

TEST_CASE("result: parts that do not fit together are refused") {
  const OutputFolder folder;
  inversion::Outcome result = test::synthetic_result(small);
  result.model.values.conservativeResize(5);
  CHECK_THAT(tests::error_of<core::ShapeError>([&] { io::run::write_result(folder / "result.h5", result); }),
             tests::HasId("wrong_size", {"48", "final model", "5"}));
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("result: a full disk is a file error and leaves nothing") {
  const OutputFolder folder;
  const inversion::Outcome result = test::synthetic_result(small);
  const test::FullDisk full(4096);
  CHECK_THROWS_AS(io::run::write_result(folder / "result.h5", result), core::FileError);
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("result: cut files and files of another format are format errors") {
  const OutputFolder folder;
  io::run::write_result(folder / "result.h5", test::synthetic_result(small));
  const auto size = std::filesystem::file_size(folder / "result.h5");
  for (const double part : {0.0, 0.01, 0.5, 0.99}) {
    std::filesystem::copy_file(folder / "result.h5", folder / "cut.h5",
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(folder / "cut.h5",
                                 static_cast<std::uintmax_t>(part * static_cast<double>(size)));
    CHECK_THROWS_AS(io::run::read_result(folder / "cut.h5"), core::FormatError);
  }
  io::hdf5::Hdf5Sink sink(folder / "other.h5");
  core::write_vector(sink, "v", std::vector<double>{1.0});
  sink.commit();
  CHECK_THAT(tests::error_of<core::FormatError>([&] { (void)io::run::read_result(folder / "other.h5"); }),
             tests::HasId("other_format", {"other.h5", "\"lodestone result\""}));
  io::hdf5::Hdf5Sink newer(folder / "newer.h5");
  io::hdf5::write_header(newer, "lodestone result", 3);
  newer.commit();
  CHECK_THAT(tests::error_of<core::FormatError>([&] { (void)io::run::read_result(folder / "newer.h5"); }),
             tests::HasId("other_version", {"newer.h5", "\"3\"", "1", "2"}));
}

TEST_CASE("section: survives its own file and is found in a result") {
  const OutputFolder folder;
  const inversion::Outcome result = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", result);
  io::model::write_model_hdf5(folder / "section.h5", result.model);
  for (const char* name : {"result.h5", "section.h5"}) {
    const mesh::Model section = io::model::read_model_hdf5(folder / name);
    CHECK(section.earth.grid.y_edges_m() == result.model.earth.grid.y_edges_m());
    CHECK(section.earth.surface.z_m() == result.model.earth.surface.z_m());
    CHECK((mesh::log10_resistivity(section) - result.model.values).cwiseAbs().maxCoeff() < 1e-9);
  }
  CHECK_THAT(tests::error_of<core::FormatError>([&] { (void)io::run::read_result(folder / "section.h5"); }),
             tests::HasId("other_format", {"lodestone section"}));
}

TEST_CASE("section: edges that do not increase are a format error with the file's name") {
  const OutputFolder folder;
  {
    io::hdf5::Hdf5Sink sink(folder / "bad.h5");
    sink.attribute("", "format", "lodestone section");
    sink.attribute("", "format_version", "1");
    core::write_vector(sink, "model/y_edges_m", std::vector<double>{0.0, -1.0});
    core::write_vector(sink, "model/z_edges_m", std::vector<double>{0.0, 1.0});
    sink.attribute("model/z_edges_m", "measured_from", "surface");
    core::write_vector(sink, "model/surface_y_m", std::vector<double>{0.0});
    core::write_vector(sink, "model/surface_z_m", std::vector<double>{0.0});
    core::write_vector(sink, "model/log10_resistivity", std::vector<double>{2.0});
    sink.commit();
  }
  CHECK_THAT(tests::error_of<core::FormatError>([&] { (void)io::model::read_model_hdf5(folder / "bad.h5"); }),
             tests::HasId("wrong_grid", {"bad.h5"}));
}

TEST_CASE("responses: arrays are per mode, with units, missing values as NaN") {
  const OutputFolder folder;
  const std::vector<mt::Response> responses{{"a", mt::Mode::te, 10.0, 0.0, 0.0, {0.01, 0.01}, {0.1, 0.2}},
                                            {"b", mt::Mode::te, 10.0, 50.0, -3.0, {0.02, 0.02}, {0.0, 0.0}},
                                            {"a", mt::Mode::te, 1.0, 0.0, 0.0, {0.001, 0.001}, {0.3, 0.4}},
                                            {"b", mt::Mode::tm, 1.0, 50.0, -3.0, {-0.002, -0.002}, {}}};
  io::survey::write_responses_hdf5(folder / "r.h5", responses);
  const io::hdf5::Hdf5Source source(folder / "r.h5");
  CHECK(core::read_texts(source, "site") == std::vector<std::string>{"a", "b"});
  CHECK(core::read_doubles(source, "period_s") == std::vector<double>{0.1, 1.0});
  CHECK(core::read_doubles(source, "z_m") == std::vector<double>{0.0, -3.0});
  const Eigen::MatrixXd phase = core::read_matrix(source, "te/phase");
  CHECK(phase(0, 1) == Approx(45.0));
  CHECK(std::isnan(phase(1, 1)));
  CHECK(core::read_matrix(source, "tm/phase")(1, 1) == Approx(-135.0));
  std::vector<std::complex<double>> tipper(4);
  source.read("te/tipper", 0, std::as_writable_bytes(std::span(tipper)));
  CHECK(tipper[2] == std::complex<double>(0.3, 0.4));
  CHECK_FALSE(source.contains("tm/tipper"));
  CHECK(source.attribute("te/impedance", "units") == "ohm");
  CHECK_THROWS_AS(io::survey::write_responses_hdf5(folder / "none.h5", {}), core::InvalidArgument);
}

TEST_CASE("provenance: states program and machine, not persons") {
  const core::Provenance provenance = core::make_provenance(3);
  if (const char* home = std::getenv("HOME"); home != nullptr && std::string(home).size() > 1)
    CHECK(core::without_home(std::string("mt_invert info ") + home + "/data") == "mt_invert info ~/data");
  CHECK_FALSE(provenance.command_line.empty());
  CHECK_FALSE(provenance.version.empty());
  CHECK(provenance.started_utc.size() == 20);
  REQUIRE(provenance.host.size() > 2);
  CHECK(provenance.host[provenance.host.size() - 2] == std::pair<std::string, std::string>("MPI ranks", "3"));
  CHECK(provenance.host.back().first == "threads of a rank");
}

TEST_CASE("result: uncertainty survives the file, and is told in words") {
  const OutputFolder folder;
  inversion::Outcome written = test::synthetic_result(small);
  io::run::write_result(folder / "without.h5", written);
  CHECK_FALSE(io::run::read_result(folder / "without.h5").findings.uncertainty.has_value());
  const Eigen::Index n = written.model.earth.grid.n_cells();
  const Eigen::VectorXd ramp = Eigen::VectorXd::LinSpaced(n, 0.0, 1.0);
  inversion::uncertainty::Uncertainty& uncertainty = written.findings.uncertainty.emplace();
  inversion::uncertainty::PosteriorSpread& posterior = uncertainty.posterior.emplace();
  posterior.prior_deviation_decades = Eigen::VectorXd::Ones(n);
  posterior.deviation_decades = ramp;
  posterior.variance_reduction = 1.0 - ramp.array().square();
  posterior.resolution = ramp.reverse();
  posterior.resolution[3] = std::nan("");
  posterior.investigated = (ramp.array() < 0.5).cast<double>();
  posterior.degrees_of_freedom = 12.5;
  posterior.n_unknowns = 40;
  posterior.n_data = 60;
  posterior.unknowns = "codes";
  posterior.counting.codes = 0.95;
  uncertainty.ensemble = inversion::uncertainty::EnsembleSpread{.p5_log10_resistivity = ramp,
                                                                .p50_log10_resistivity = 2.0 * ramp,
                                                                .p95_log10_resistivity = 3.0 * ramp,
                                                                .deviation_decades = 0.5 * ramp,
                                                                .lambda = 2.0,
                                                                .smallest_rms = 1.0,
                                                                .largest_rms = 1.25,
                                                                .n_samples = 10,
                                                                .n_failed = 2,
                                                                .seed = 5,
                                                                .unknowns = "codes"};
  io::run::write_result(folder / "result.h5", written);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  REQUIRE(read.findings.uncertainty.has_value());
  CHECK(same(read.findings.uncertainty->posterior->resolution, posterior.resolution));
  CHECK(same(read.findings.uncertainty->posterior->investigated, posterior.investigated));
  CHECK(same(read.findings.uncertainty->ensemble->p95_log10_resistivity, 3.0 * ramp));
  CHECK(read.findings.uncertainty->ensemble->seed == 5);
  CHECK(read.findings.uncertainty->posterior->unknowns == "codes");
  CHECK(read.findings.uncertainty->posterior->counting.codes == 0.95);
  CHECK_THAT(inversion::uncertainty::in_words(*read.findings.uncertainty, read.model.earth.grid, 1.0),
             Contains("60 data determine 12.5 of 40 unknowns (codes)") && Contains("50 % of the cells") &&
                 Contains("10 models") && Contains("2 more failed") && Contains("So few samples"));
  CHECK_THAT(inversion::uncertainty::in_words(*read.findings.uncertainty, read.model.earth.grid, 1.0),
             !Contains("Errors count"));
  posterior.investigated.setZero();
  posterior.counting = uncertainty.ensemble->counting = {.error_scale = 2.5, .codes_in_run = 0.1};
  const std::string words =
      inversion::uncertainty::in_words(*written.findings.uncertainty, written.model.earth.grid, 1.0);
  CHECK_THAT(words, Contains("They determine no cell") && Contains("Errors count 2.50 times") &&
                        Contains("10.0 times narrower") && Contains("counts as trained"));
  CHECK(words.find("Errors count") == words.rfind("Errors count"));  // once for both
  posterior.counting.codes = 0.1;
  CHECK_THAT(inversion::uncertainty::in_words(*written.findings.uncertainty, written.model.earth.grid, 1.0),
             Contains("too small"));
  posterior.investigated.conservativeResize(3);
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
}

namespace {

/// Returns a run whose learned prior has one region of two subdomains, and was polished.
inversion::Outcome run_with_prior() {
  inversion::Outcome written = test::synthetic_result(small);
  const Eigen::Index n = written.model.earth.grid.n_cells();
  inversion::prior::PriorFindings& prior = written.findings.prior.emplace();
  prior.subdomain = Eigen::VectorXd::Constant(n, -1.0);
  prior.subdomain.head(2) << 0.0, 1.0;
  prior.deviation_decades = Eigen::VectorXd::Zero(n);
  prior.deviation_decades.head(2) << 0.3, -0.4;
  prior.decoded_log10_resistivity = written.model.values - prior.deviation_decades;
  prior.polished = true;
  prior.features_rms = 2.0;
  prior.final_rms = 1.0;
  prior.regions.push_back({"box", "vae.h5", "gaussian", "seed 1", 0.0, 2.0, 1.0, 3.0, 0.05,
                           Eigen::MatrixXd::Constant(3, 2, 2.0)});
  written.ending.target_rms = 1.0;
  return written;
}

}  // namespace

TEST_CASE("result: a learned prior survives the file") {
  const OutputFolder folder;
  inversion::Outcome written = run_with_prior();
  inversion::prior::PriorFindings& prior = *written.findings.prior;
  io::run::write_result(folder / "result.h5", written);
  const inversion::Outcome read = io::run::read_result(folder / "result.h5");
  REQUIRE(read.findings.prior);
  CHECK(same(read.findings.prior->subdomain, prior.subdomain));
  CHECK(same(read.findings.prior->decoded_log10_resistivity, prior.decoded_log10_resistivity));
  CHECK(read.findings.prior->regions[0].codes == prior.regions[0].codes);
  CHECK(read.findings.prior->regions[0].decoder == "gaussian");
  CHECK(read.findings.prior->regions[0].z_to_m == 3.0);
  CHECK_FALSE(read.findings.prior->regions[0].x_m);
  CHECK(read.findings.prior->deviation(0).largest == 0.4);
  CHECK(read.findings.prior->deviation(0).rms == Approx(std::sqrt(0.125)));
  CHECK_THAT(
      inversion::prior::in_words(*read.findings.prior, read.ending.target_rms),
      Contains("does not fit the data") && Contains("mean square is 4.0") && !Contains("remaining misfit"));
  CHECK(read.findings.prior->regions[0].coverage.empty());
  prior.regions[0].coverage = {
      {.distance_decades = 0.1, .relative_distance = 2.0, .chi_square = 1.5, .tail = 0.2},
      {.distance_decades = 0.4,
       .relative_distance = 8.0,
       .chi_square = 4.0,
       .tail = 1e-5,
       .data_share = 0.7,
       .verdict = inversion::prior::Verdict::outside}};
  prior.coverage_in_words = "1 of 2 subdomains";
  prior.regions[0].x_m = physics::mesh::Interval{-4.0, 5.0};  // as of a volume
  io::run::write_result(folder / "covered.h5", written);
  const inversion::Outcome covered = io::run::read_result(folder / "covered.h5");
  CHECK(covered.findings.prior->regions[0].x_m == physics::mesh::Interval{-4.0, 5.0});
  CHECK(covered.findings.prior->regions[0].coverage[1].data_share == 0.7);
  CHECK_FALSE(covered.findings.prior->regions[0].coverage[0].data_share);
  CHECK(covered.findings.prior->regions[0].coverage[1].verdict == inversion::prior::Verdict::outside);
  const Eigen::VectorXd distance = covered.findings.prior->in_cells(
      [](const inversion::prior::SubdomainCoverage& row) { return row.relative_distance; });
  CHECK(distance[1] == 8.0);
  CHECK(std::isnan(distance[2]));
  CHECK_THAT(inversion::prior::in_words(*covered.findings.prior, covered.ending.target_rms),
             Contains("1 of 2 subdomains") && !Contains("mean square"));
  prior.regions[0].coverage.pop_back();
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
  prior.regions[0].coverage.clear();
  prior.subdomain.conservativeResize(3);
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
}

TEST_CASE("result: a learned prior is judged in words") {
  inversion::Outcome written = run_with_prior();
  inversion::prior::PriorFindings& prior = *written.findings.prior;
  prior.final_rms = 1.98;
  CHECK_THAT(inversion::prior::in_words(*written.findings.prior, written.ending.target_rms),
             Contains("remaining misfit"));
  prior.features_rms = 1.0;
  prior.polished = false;
  CHECK_THAT(inversion::prior::in_words(*written.findings.prior, written.ending.target_rms),
             Contains("The prior fits the data:") && !Contains("polish"));
  prior.regions[0].coverage = {{}, {.verdict = inversion::prior::Verdict::outside}};
  CHECK_THAT(inversion::prior::in_words(*written.findings.prior, written.ending.target_rms),
             Contains("partly with earths at the edge of its training"));
}
