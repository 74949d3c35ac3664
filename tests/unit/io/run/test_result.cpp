// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/report/report.hpp"
#include "io/run/residuals.hpp"
#include "io/run/result.hpp"
#include "io/vtk/run.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/io/output_support.hpp"

#include <cmath>
#include <complex>
#include <cstdlib>
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

TEST_CASE("result: data, masks and predictions survive the file") {
  const OutputFolder folder;
  io::run::InversionResult written = test::synthetic_result(small);
  written.data.survey.stations[1].definition = mt::Definition::slope_parallel;
  io::run::write_result(folder / "result.h5", written);
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  CHECK(same(read.data.value, written.data.value));
  CHECK(same(read.data.sigma, written.data.sigma));
  CHECK(same(read.predicted, written.predicted));
  CHECK(read.data.mask == written.data.mask);
  CHECK(read.data.interpolated == written.data.interpolated);
  CHECK(read.data.survey.frequencies_hz == written.data.survey.frequencies_hz);
  REQUIRE(read.data.survey.keys.size() == written.data.survey.keys.size());
  const mt::DatumKey& key = read.data.survey.keys[20];
  CHECK(key.quantity == written.data.survey.keys[20].quantity);
  CHECK(key.frequency == written.data.survey.keys[20].frequency);
  CHECK(key.station == written.data.survey.keys[20].station);
  CHECK(read.data.survey.stations[2].name == "kim440");
  CHECK(read.data.survey.stations[2].longitude_deg == written.data.survey.stations[2].longitude_deg);
  CHECK(read.floors.phase_deg == 2.86);
  for (std::size_t k = 0; k < 4; ++k)
    CHECK(read.data.survey.stations[k].definition == written.data.survey.stations[k].definition);
}

TEST_CASE("result: model, geometry, meshes, history and provenance survive the file") {
  const OutputFolder folder;
  const io::run::InversionResult written = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", written);
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  CHECK(same(read.log10_resistivity, written.log10_resistivity));
  CHECK(same(read.start_log10_resistivity, written.start_log10_resistivity));
  CHECK(read.earth.grid.z_edges_m() == written.earth.grid.z_edges_m());
  CHECK(read.earth.grid.reference() == mesh::DepthReference::surface);
  CHECK(read.earth.surface.z_m() == written.earth.surface.z_m());
  CHECK(read.profile.projection == written.profile.projection);
  CHECK(read.profile.stations[1].east_m == written.profile.stations[1].east_m);
  CHECK(read.profile.offset_m == written.profile.offset_m);
  REQUIRE(read.meshes.bands.size() == 2);
  CHECK(read.meshes.bands[1].mesh.z(3, 2) == written.meshes.bands[1].mesh.z(3, 2));
  CHECK(read.meshes.bands[1].mesh.n_air() == 4);
  CHECK(read.meshes.bands[1].perfect_conductor_below);
  CHECK(read.meshes.bands[1].order == 2);
  CHECK(read.meshes.bands[1].coarsened == 1.25);
  CHECK(read.meshes.summary() == written.meshes.summary());
  CHECK(read.profile.datum_elevation_m == 1432.5);
  CHECK(read.meshes.bands[1].frequencies == std::vector<int>{1});
  REQUIRE(read.certificate.rows.size() == 2);
  CHECK(read.certificate.rows[1].where == "ETO026 780 s TM");
  CHECK_FALSE(read.certificate.rows[1].passed);
  REQUIRE(read.history.size() == 10);
  CHECK(read.history[3].lambda == written.history[3].lambda);
  CHECK(read.history[3].kind == inversion::optimize::StepKind::jump);
  CHECK(read.history[3].n_forward == 6);
  CHECK(read.configuration_toml == written.configuration_toml);
  CHECK(read.provenance.command_line == written.provenance.command_line);
  CHECK(read.provenance.build == written.provenance.build);
  CHECK(read.stop_message == written.stop_message);
  CHECK(read.rms == 1.2);
}

TEST_CASE("result: ParaView files and report of a result read again are those of the run, byte by byte") {
  const OutputFolder run, again;
  io::run::InversionResult result = test::synthetic_result(small);
  result.data.survey.stations[1].definition = mt::Definition::slope_parallel;
  io::run::write_result(run / "result.h5", result);
  const io::run::InversionResult read = io::run::read_result(run / "result.h5");
  io::report::write_report(run.path(), result);
  io::report::write_report(again.path(), read);
  CHECK(test::slurp(again / "report.html") == test::slurp(run / "report.html"));
  const auto first = io::vtk::write_result_vtk(run.path(), result),
             second = io::vtk::write_result_vtk(again.path(), read);
  REQUIRE(first.size() == 4);
  for (std::size_t k = 0; k < first.size(); ++k) CHECK(test::slurp(second[k]) == test::slurp(first[k]));
}

TEST_CASE("result: files of version 1 without the later arrays are read") {
  const OutputFolder folder;
  io::run::InversionResult written = test::synthetic_result(small);
  written.profile.datum_elevation_m = 0.0;
  for (auto& band : written.meshes.bands) band.order = 1, band.coarsened = 1.0;
  io::run::write_result(folder / "result.h5", written);
  for (const char* name : {"survey/station/definition", "profile/datum_elevation_m", "meshes/band_000/order",
                           "meshes/band_000/coarsened", "meshes/band_001/order", "meshes/band_001/coarsened"})
    test::remove_from_hdf5(folder / "result.h5", name);
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  CHECK(read.data.survey.stations[1].definition == mt::Definition::horizontal);
  CHECK(read.profile.datum_elevation_m == 0.0);
  CHECK(read.meshes.summary() == written.meshes.summary());
}

TEST_CASE("result: static shifts survive the file, and a file without them has none") {
  const OutputFolder folder;
  io::run::InversionResult written = test::synthetic_result(small);
  io::run::write_result(folder / "without.h5", written);
  CHECK(io::run::read_result(folder / "without.h5").static_shifts.empty());
  written.static_shifts = {{mt::Mode::te, 0, 0.125}, {mt::Mode::tm, 1, -1.0 / 3.0}};
  written.static_shift_sigma_decades = 0.15;
  io::run::write_result(folder / "with.h5", written);
  const io::run::InversionResult read = io::run::read_result(folder / "with.h5");
  REQUIRE(read.static_shifts.size() == 2);
  CHECK(read.static_shifts[1].mode == mt::Mode::tm);
  CHECK(read.static_shifts[1].station == 1);
  CHECK(read.static_shifts[1].decades == -1.0 / 3.0);
  CHECK(read.static_shift_sigma_decades == 0.15);
}

TEST_CASE("result: a result with no data, history or meshes survives the file") {
  const OutputFolder folder;
  io::run::InversionResult empty;
  empty.log10_resistivity = empty.start_log10_resistivity = Eigen::VectorXd::Constant(1, 2.0);
  io::run::write_result(folder / "result.h5", empty);
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  CHECK(read.data.survey.keys.empty());
  CHECK(read.history.empty());
  CHECK(read.configuration_toml.empty());
}

TEST_CASE("result: arrays carry units and the normalized residuals") {
  const OutputFolder folder;
  const io::run::InversionResult written = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", written);
  const io::hdf5::Hdf5Source source(folder / "result.h5");
  CHECK(source.attribute("model/log10_resistivity", "units") == "log10(ohm m)");
  CHECK(source.attribute("data/quantity", "codes").find("zxy_re (") != std::string::npos);
  CHECK(source.info("model/log10_resistivity").shape == std::vector<std::int64_t>{6, 8});
  const auto residual = core::read_doubles(source, "data/normalised_residual");
  const Eigen::VectorXd expected = io::run::normalized_residuals(written.data, written.predicted);
  CHECK(residual[0] == expected[0]);
  CHECK(std::isnan(residual[5]));
}

TEST_CASE("residuals: phases are wrapped, masked data are not counted") {
  mt::ObservedData data;
  data.survey = mt::full_survey({{"a", 0.0}}, {1.0}, {mt::Quantity::phase_yx, mt::Quantity::log10_rho_yx});
  data.value = Eigen::Vector2d(3.1, 2.0);
  data.sigma = Eigen::Vector2d(0.1, 0.5);
  data.mask = {mt::MaskReason::kept, mt::MaskReason::listed};
  const Eigen::VectorXd residual = io::run::normalized_residuals(data, Eigen::Vector2d(-3.1, 1.0));
  CHECK(residual[0] == Approx((6.2 - 2.0 * std::numbers::pi) / 0.1));
  CHECK(std::isnan(residual[1]));
  CHECK_THROWS_AS(io::run::normalized_residuals(data, Eigen::VectorXd::Zero(3)), core::ShapeError);
}

TEST_CASE("result: parts that do not fit together are refused") {
  const OutputFolder folder;
  io::run::InversionResult result = test::synthetic_result(small);
  result.log10_resistivity.conservativeResize(5);
  CHECK_THROWS_WITH(io::run::write_result(folder / "result.h5", result),
                    Contains("expected 48 values in the final model, got 5"));
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("result: a full disk is a file error and leaves nothing") {
  const OutputFolder folder;
  const io::run::InversionResult result = test::synthetic_result(small);
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
  CHECK_THROWS_WITH(io::run::read_result(folder / "other.h5"),
                    Contains("other.h5") && Contains("expected a 'lodestone result' file"));
}

TEST_CASE("section: survives its own file and is found in a result") {
  const OutputFolder folder;
  const io::run::InversionResult result = test::synthetic_result(small);
  io::run::write_result(folder / "result.h5", result);
  io::run::write_section_hdf5(folder / "section.h5", result.section());
  for (const char* name : {"result.h5", "section.h5"}) {
    const mesh::Model section = io::run::read_section_hdf5(folder / name);
    CHECK(section.earth.grid.y_edges_m() == result.earth.grid.y_edges_m());
    CHECK(section.earth.surface.z_m() == result.earth.surface.z_m());
    CHECK((section.values - result.section().values).cwiseAbs().maxCoeff() < 1e-9);
  }
  CHECK_THROWS_WITH(io::run::read_result(folder / "section.h5"), Contains("lodestone section"));
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
  CHECK_THROWS_AS(io::run::read_section_hdf5(folder / "bad.h5"), core::FormatError);
  CHECK_THROWS_WITH(io::run::read_section_hdf5(folder / "bad.h5"), Contains("bad.h5"));
}

TEST_CASE("responses: arrays are per mode, with units, missing values as NaN") {
  const OutputFolder folder;
  const std::vector<mt::Response> responses{{"a", mt::Mode::te, 10.0, 0.0, 0.0, {0.01, 0.01}, {0.1, 0.2}},
                                            {"b", mt::Mode::te, 10.0, 50.0, -3.0, {0.02, 0.02}, {0.0, 0.0}},
                                            {"a", mt::Mode::te, 1.0, 0.0, 0.0, {0.001, 0.001}, {0.3, 0.4}},
                                            {"b", mt::Mode::tm, 1.0, 50.0, -3.0, {-0.002, -0.002}, {}}};
  io::run::write_responses_hdf5(folder / "r.h5", responses);
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
  CHECK_THROWS_AS(io::run::write_responses_hdf5(folder / "none.h5", {}), core::InvalidArgument);
}

TEST_CASE("provenance: says program and machine, not persons") {
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  const io::run::Provenance provenance = io::run::make_provenance("mt_invert info " + home + "/data", 3);
  CHECK(provenance.command_line ==
        (home.size() > 1 ? "mt_invert info ~/data" : "mt_invert info " + home + "/data"));
  CHECK_FALSE(provenance.version.empty());
  CHECK(provenance.started_utc.size() == 20);
  REQUIRE(provenance.host.size() > 2);
  CHECK(provenance.host[provenance.host.size() - 2] == std::pair<std::string, std::string>("MPI ranks", "3"));
  CHECK(provenance.host.back() == std::pair<std::string, std::string>("threads of a rank", "1"));
}

TEST_CASE("result: uncertainty survives the file, and is told in words") {
  const OutputFolder folder;
  io::run::InversionResult written = test::synthetic_result(small);
  io::run::write_result(folder / "without.h5", written);
  CHECK_FALSE(io::run::read_result(folder / "without.h5").uncertainty.has_value());
  const Eigen::Index n = written.earth.grid.n_cells();
  const Eigen::VectorXd ramp = Eigen::VectorXd::LinSpaced(n, 0.0, 1.0);
  inversion::uncertainty::Uncertainty& uncertainty = written.uncertainty.emplace();
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
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  REQUIRE(read.uncertainty.has_value());
  CHECK(same(read.uncertainty->posterior->resolution, posterior.resolution));
  CHECK(same(read.uncertainty->posterior->investigated, posterior.investigated));
  CHECK(same(read.uncertainty->ensemble->p95_log10_resistivity, 3.0 * ramp));
  CHECK(read.uncertainty->ensemble->seed == 5);
  CHECK(read.uncertainty->posterior->unknowns == "codes");
  CHECK(read.uncertainty->posterior->counting.codes == 0.95);
  CHECK_THAT(inversion::uncertainty::in_words(*read.uncertainty, read.earth.grid),
             Contains("60 data determine 12.5 of 40 unknowns (codes)") && Contains("50 % of the cells") &&
                 Contains("10 models") && Contains("2 more failed") && Contains("So few samples"));
  CHECK_THAT(inversion::uncertainty::in_words(*read.uncertainty, read.earth.grid), !Contains("Errors count"));
  posterior.investigated.setZero();
  posterior.counting = uncertainty.ensemble->counting = {.error_scale = 2.5, .codes_in_run = 0.1};
  const std::string words = inversion::uncertainty::in_words(*written.uncertainty, written.earth.grid);
  CHECK_THAT(words, Contains("They see no cell") && Contains("Errors count 2.50 times") &&
                        Contains("10.0 times narrower") && Contains("counts as trained"));
  CHECK(words.find("Errors count") == words.rfind("Errors count"));  // once for both
  posterior.counting.codes = 0.1;
  CHECK_THAT(inversion::uncertainty::in_words(*written.uncertainty, written.earth.grid),
             Contains("too small"));
  posterior.investigated.conservativeResize(3);
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
}

TEST_CASE("result: a learned prior survives the file, and is judged in words") {
  const OutputFolder folder;
  io::run::InversionResult written = test::synthetic_result(small);
  const Eigen::Index n = written.earth.grid.n_cells();
  inversion::prior::PriorFindings& prior = written.learned_prior.emplace();
  prior.subdomain = Eigen::VectorXd::Constant(n, -1.0);
  prior.subdomain.head(2) << 0.0, 1.0;
  prior.deviation_decades = Eigen::VectorXd::Zero(n);
  prior.deviation_decades.head(2) << 0.3, -0.4;
  prior.decoded_log10_resistivity = written.log10_resistivity - prior.deviation_decades;
  prior.polished = true;
  prior.features_rms = 2.0;
  prior.final_rms = 1.0;
  prior.regions.push_back({"box", "vae.h5", "gaussian", "seed 1", 0.0, 2.0, 1.0, 3.0, 0.05,
                           Eigen::MatrixXd::Constant(3, 2, 2.0)});
  written.target_rms = 1.0;
  io::run::write_result(folder / "result.h5", written);
  const io::run::InversionResult read = io::run::read_result(folder / "result.h5");
  REQUIRE(read.learned_prior);
  CHECK(same(read.learned_prior->subdomain, prior.subdomain));
  CHECK(same(read.learned_prior->decoded_log10_resistivity, prior.decoded_log10_resistivity));
  CHECK(read.learned_prior->regions[0].codes == prior.regions[0].codes);
  CHECK(read.learned_prior->regions[0].decoder == "gaussian");
  CHECK(read.learned_prior->regions[0].z_to_m == 3.0);
  CHECK(read.learned_prior->deviation(0).largest == 0.4);
  CHECK(read.learned_prior->deviation(0).rms == Approx(std::sqrt(0.125)));
  CHECK_THAT(
      inversion::prior::in_words(*read.learned_prior, read.target_rms),
      Contains("does not fit the data") && Contains("mean square is 4.0") && !Contains("prior's fault"));
  CHECK(read.learned_prior->regions[0].coverage.empty());
  prior.regions[0].coverage = {
      {.distance_decades = 0.1, .relative_distance = 2.0, .chi_square = 1.5, .tail = 0.2},
      {.distance_decades = 0.4,
       .relative_distance = 8.0,
       .chi_square = 4.0,
       .tail = 1e-5,
       .data_share = 0.7,
       .verdict = inversion::prior::Verdict::outside}};
  prior.coverage_in_words = "1 of 2 subdomains";
  io::run::write_result(folder / "covered.h5", written);
  const io::run::InversionResult covered = io::run::read_result(folder / "covered.h5");
  CHECK(covered.learned_prior->regions[0].coverage[1].data_share == 0.7);
  CHECK_FALSE(covered.learned_prior->regions[0].coverage[0].data_share);
  CHECK(covered.learned_prior->regions[0].coverage[1].verdict == inversion::prior::Verdict::outside);
  const Eigen::VectorXd distance = covered.learned_prior->in_cells(
      [](const inversion::prior::SubdomainCoverage& row) { return row.relative_distance; });
  CHECK(distance[1] == 8.0);
  CHECK(std::isnan(distance[2]));
  CHECK_THAT(inversion::prior::in_words(*covered.learned_prior, covered.target_rms),
             Contains("1 of 2 subdomains") && !Contains("mean square"));
  prior.regions[0].coverage.pop_back();
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
  prior.regions[0].coverage.clear();
  prior.coverage_in_words.clear();
  prior.final_rms = 1.98;
  CHECK_THAT(inversion::prior::in_words(*written.learned_prior, written.target_rms),
             Contains("not the prior's fault"));
  prior.features_rms = 1.0;
  prior.polished = false;
  CHECK_THAT(inversion::prior::in_words(*written.learned_prior, written.target_rms),
             Contains("The prior fits the data:") && !Contains("polish"));
  prior.regions[0].coverage = {{}, {.verdict = inversion::prior::Verdict::outside}};
  CHECK_THAT(inversion::prior::in_words(*written.learned_prior, written.target_rms),
             Contains("partly with earths that it hardly knows"));
  prior.subdomain.conservativeResize(3);
  CHECK_THROWS_AS(io::run::write_result(folder / "other.h5", written), core::ShapeError);
}
