// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config/config.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::mt_invert;
using physics::mt::Datum;
using tests::HasId;

namespace {

config::Config read(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const tests::TemporaryFolder folder;
  core::write_file(folder / "c.toml", text);
  return config::read_config(folder / "c.toml", assignments);
}

core::Error refusal(const std::string& text, const std::vector<std::string>& assignments = {}) {
  return tests::error_of<core::ConfigError>([&] { static_cast<void>(read(text, assignments)); });
}

const std::string minimal = "[data]\nedi_folder = \"edi\"\n";

}  // namespace

TEST_CASE("configuration: a folder of EDI files is enough, the rest has defaults", "[apps]") {
  const config::Config config = read(minimal);
  CHECK(config.title == "c");
  CHECK(std::filesystem::path(config.data.edi_folder).filename() == "edi");
  CHECK(std::filesystem::path(config.data.edi_folder).is_absolute());
  CHECK(config.data.selection.data ==
        std::vector{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
  CHECK(config.data.floors.log10_rho == 0.0434);
  CHECK(config.start.resistivity_ohm_m == 100.0);
  CHECK(config.inversion.max_iterations() == 15);
  CHECK_FALSE(config.bounds.has_value());
  CHECK_FALSE(config.forward.redesign.has_value());
}

TEST_CASE(
    "configuration: meshes follow the model always, until it is near the target, or never, and may be finer",
    "[apps]") {
  const config::ForwardConfig near =
      read(minimal +
           "[forward]\nredesign = \"until_near_target\"\nnear_target = 2.0\niteration_coarsen = 0.5\n")
          .forward;
  CHECK(near.redesign == config::Redesigning::until_near_target);
  CHECK(near.near_target == 2.0);
  CHECK(near.iteration_coarsen == 0.5);
  CHECK(read(minimal + "[forward]\nredesign = \"never\"\n").forward.redesign == config::Redesigning::never);
  CHECK(read(minimal + "[forward]\nredesign = \"as_rms_falls\"\n").forward.redesign ==
        config::Redesigning::as_rms_falls);
  CHECK_THAT(refusal(minimal + "[forward]\nredesign = \"never\"\nnear_target = 2.0\n"),
             HasId("not_chosen", {"c.toml:5", "near_target", "redesign = \"until_near_target\""}));
  CHECK_THAT(refusal(minimal + "[forward]\nredesign = \"until_near_target\"\nnear_target = 0.9\n"),
             HasId("out_of_range", {"near_target", "1 to 100", "0.9"}));
  CHECK_THAT(refusal(minimal + "[forward]\niteration_coarsen = 0.1\n"),
             HasId("out_of_range", {"c.toml:4", "iteration_coarsen", "0.25 to 4", "0.1"}));
  CHECK_THAT(refusal(minimal + "[forward]\niteration_coarsen = nan\n"),
             HasId("wrong_type", {"iteration_coarsen"}));
  CHECK(near.solver == physics::mt::d2::SystemSolver::lines);
  CHECK(read(minimal + "[forward]\nsolver = \"petsc\"\n").forward.solver ==
        physics::mt::d2::SystemSolver::petsc);
  CHECK_THAT(refusal(minimal + "[forward]\nsolver = \"mumps\"\n"),
             HasId("unknown_word", {"solver", "petsc", "mumps"}));
}

TEST_CASE("configuration: the echo holds defaults and reads back to itself", "[apps]") {
  const config::Config config = read(minimal + "[inversion]\ntarget_rms = 2\n", {"grid.n_columns=7"});
  CHECK_THAT(config.toml, Catch::Contains("target_rms = 2.0") && Catch::Contains("n_columns = 7") &&
                              Catch::Contains("max_iterations = 15"));
  CHECK(read(config.toml).toml == config.toml);
}

TEST_CASE("configuration: a target that nobody asked for may be raised, one that was given may not",
          "[apps]") {
  const auto raises = [](const config::Config& config) {
    const auto& options = std::get<inversion::optimize::GaussNewtonOptions>(config.inversion.method);
    return std::get<inversion::optimize::Occam>(options.lambda).raise_target;
  };
  CHECK(raises(read(minimal)));
  CHECK(raises(read(read(minimal).toml)));  // although the echo states the target
  CHECK_FALSE(raises(read(minimal + "[inversion]\ntarget_rms = 1.0\n")));
  CHECK(raises(read(minimal + "[inversion]\ntarget_rms = 1.5\nraise_target = true\n")));
}

TEST_CASE("configuration: the algorithm decides which keys of [inversion] there are", "[apps]") {
  const config::Config descent =
      read(minimal + "[inversion]\nalgorithm = \"lbfgs\"\nmemory = 5\n[misfit]\nhuber_threshold = 1.5\n");
  CHECK(descent.inversion.max_iterations() == 100);
  CHECK_FALSE(descent.inversion.needs_jacobian());
  CHECK(std::get<inversion::optimize::DescentOptions>(descent.inversion.method).memory == 5);
  CHECK(descent.huber_threshold == 1.5);
  CHECK(read(descent.toml).toml == descent.toml);
  const config::Config cooling =
      read(minimal + "[inversion]\nlambda_strategy = \"cooling\"\ncooling_rate = 3\nspace = \"model\"\n");
  const auto& options = std::get<inversion::optimize::GaussNewtonOptions>(cooling.inversion.method);
  CHECK(std::get<inversion::optimize::Cooling>(options.lambda).rate == 3);
  CHECK(options.space == inversion::optimize::SystemSpace::model);
  CHECK(cooling.inversion.needs_jacobian());
  const config::Config products = read(minimal +
                                       "[inversion]\nspace = \"matrix_free\"\nmax_inner_steps = 20\n"
                                       "forcing = 0.1\n");
  const auto& inner = std::get<inversion::optimize::GaussNewtonOptions>(products.inversion.method).inner;
  CHECK(inner.max_steps == 20);
  CHECK(inner.forcing == 0.1);
  CHECK(read(products.toml).toml == products.toml);
  CHECK_THAT(refusal(minimal + "[inversion]\nspace = \"data\"\nmax_inner_steps = 20\n"),
             HasId("not_chosen", {"max_inner_steps", "matrix_free"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nspace = \"matrix_free\"\njacobian_memory_bytes = 1e9\n"),
             HasId("not_chosen", {"jacobian_memory_bytes", "auto"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nforcing = 1.0\n"), HasId("out_of_range", {"forcing", "1"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nalgorithm = \"nlcg\"\nspace = \"data\"\n"),
             HasId("not_chosen", {"c.toml:5", "space", "gauss_newton"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nmemory = 5\n"), HasId("not_chosen", {"memory", "lbfgs"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nlambda_strategy = \"cooling\"\nmax_lambda_trials = 3\n"),
             HasId("not_chosen", {"max_lambda_trials", "occam"}));
  CHECK_THAT(refusal(minimal + "[inversion]\nlambda_strategy = \"cooling\"\ncooling_factor = 1.0\n"),
             HasId("out_of_range", {"cooling_factor", "1"}));
  CHECK_THAT(refusal(minimal + "[misfit]\nhuber_threshold = -1.0\n"),
             HasId("out_of_range", {"huber_threshold", "0.1 to 100", "-1"}));
  CHECK_THAT(refusal(minimal + "[misfit]\nhuber_threshold = 1e-300\n"),
             HasId("out_of_range", {"c.toml:4", "1e-300"}));
}

TEST_CASE("configuration: uncertainty is asked for piece by piece", "[apps]") {
  CHECK_FALSE(read(minimal).uncertainty.has_value());
  CHECK_FALSE(read(minimal + "[uncertainty]\nsamples = 0\n").uncertainty.has_value());
  const config::Config both =
      read(minimal + "[uncertainty]\nposterior = true\nsamples = 20\nseed = 7\nseen_share = 0.5\n");
  REQUIRE(both.uncertainty.has_value());
  CHECK(both.uncertainty->posterior);
  CHECK(both.uncertainty->investigation.share == 0.5);
  CHECK(both.uncertainty->investigation.largest_prior == 1.0);
  REQUIRE(both.uncertainty->ensemble.has_value());
  CHECK(both.uncertainty->ensemble->n_samples == 20);
  CHECK(both.uncertainty->ensemble->seed == 7);
  CHECK(both.uncertainty->ensemble->max_iterations == 3);
  CHECK(read(both.toml).toml == both.toml);
  CHECK_THAT(refusal(minimal + "[uncertainty]\nsamples = 1\n"),
             HasId("out_of_range", {"c.toml:4", "samples", "2"}));
  CHECK_THAT(refusal(minimal + "[uncertainty]\nposterior = true\nseed = 1\n"),
             HasId("not_chosen", {"uncertainty.seed", "samples"}));
  CHECK_THAT(refusal(minimal + "[uncertainty]\nsamples = 5\nseen_share = 0.5\n"),
             HasId("not_chosen", {"seen_share", "posterior = true"}));
  CHECK_THAT(refusal(minimal + "[uncertainty]\nposterior = true\nseen_share = 1.0\n"),
             HasId("out_of_range", {"seen_share", "0", "1"}));
  CHECK_THAT(refusal(minimal + "[uncertainty]\nsamples = 5\n[misfit]\nhuber_threshold = 1.5\n"),
             HasId("exclusive_tables", {"samples", "huber_threshold = 1.5"}));
}

TEST_CASE("configuration: unknown, contradictory and impossible keys are refused with their place",
          "[apps]") {
  CHECK_THAT(refusal(minimal + "[inversion]\ntarget = 1.0\n"),
             HasId("unknown_key", {"c.toml:4", "target_rms"}));
  CHECK_THAT(refusal("[dat]\nedi_folder = \"edi\"\n[inversions]\n"),
             HasId("unknown_key", {"c.toml:1", "\"dat\"; did you mean [data]?", "c.toml:3", "[inversion]?"}));
  CHECK_THAT(refusal("[somewhere]\n"),
             HasId("unknown_key", {"c.toml:1", "\"somewhere\"", "[bounds], [data]"}));
  CHECK_THAT(refusal("[data]\nkind = \"impedance\"\nedi_foldr = \"edi\"\n"),
             HasId("unknown_key", {"c.toml:3", "data.edi_foldr", "did you mean \"data.edi_folder\"?"}));
  CHECK_THAT(refusal(minimal + "modem_file = \"d.dat\"\n"),
             HasId("exclusive_keys", {"c.toml:3", "modem_file", "edi_folder"}));
  CHECK_THAT(refusal(minimal + "frequencies_hz = [1.0]\nfrequencies = \"all\"\n"),
             HasId("exclusive_keys", {"c.toml:4", "frequencies", "frequencies_hz"}));
  CHECK_THAT(
      refusal("[data]\n"),
      HasId("no_data", {"edi_folder, edi_files, station_files, modem_file, mare2dem_file, mt2d_file"}));
  CHECK_THAT(refusal("[data]\nmodem_file = \"d.dat\"\nedi_sign = \"plus\"\n"),
             HasId("not_chosen", {"data.edi_sign", "EDI"}));
  CHECK_THAT(refusal(minimal + "frequencies_hz = [1.0, -2.0]\n"),
             HasId("out_of_range", {"frequencies_hz", "1e-09 to 1e+09 Hz", "-2"}));
  CHECK_THAT(refusal(minimal + "modes = [\"tx\"]\n"), HasId("unknown_word", {"modes", "tx"}));
  CHECK_THAT(refusal(minimal + "modes = []\n"), HasId("nothing_to_invert", {"modes", "tipper"}));
  CHECK_THAT(refusal(minimal + "[[data.mask]]\nquantities = [\"rho\"]\n"),
             HasId("unknown_word", {"quantities", "rho"}));
  CHECK_THAT(refusal(minimal + "[bounds]\nresistivity_min_ohm_m = 1.0\n"),
             HasId("missing_key", {"resistivity_max_ohm_m"}));
  for (const char* table : {"start", "reference", "sea"})
    CHECK_THAT(
        refusal(minimal + "[" + table + "]\nresistivity_ohm_m = 1e-30\n"),
        HasId("out_of_range", {std::string(table) + ".resistivity_ohm_m", "1e-06 to 1e+12 ohm m", "1e-30"}));
  CHECK_THAT(refusal(minimal + "[bounds]\nresistivity_min_ohm_m = 1.0\nresistivity_max_ohm_m = 1e13\n"),
             HasId("out_of_range", {"bounds.resistivity_max_ohm_m", "1e+12 ohm m", "1e+13"}));
  CHECK_THAT(refusal(minimal + "[profile]\nelevation = \"file\"\n"),
             HasId("elevation_and_file", {"surface_file"}));
  CHECK_THAT(refusal(minimal + "[sea]\nlevel_m = 0.0\n"), HasId("no_resistivity", {"sea.resistivity_ohm_m"}));
  CHECK_THAT(refusal(minimal + "[data.floors]\nimpedance_relative = 1e300\n"),
             HasId("out_of_range", {"c.toml:4", "data.floors.impedance_relative", "0 to 10", "1e+300"}));
  CHECK_THAT(refusal(minimal + "[data.floors]\nlog10_rho = 10.5\n"),
             HasId("out_of_range", {"log10_rho", "0 to 10"}));
  CHECK_THAT(refusal(minimal + "[data.floors]\ntipper_absolute = 11\n"),
             HasId("out_of_range", {"tipper_absolute", "0 to 10"}));
  CHECK_THAT(refusal(minimal + "[data.floors]\nphase_deg = 361\n"),
             HasId("out_of_range", {"phase_deg", "0 to 360"}));
  CHECK_THAT(refusal(minimal + "[[regularization.tear]]\ny_m = [0, nan]\nz_m = [0, 1]\n"),
             HasId("wrong_type", {"y_m", "2", "nan"}));
  CHECK_THAT(refusal("[data]\nmare2dem_file = \"d\"\n[profile]\nazimuth_deg = 1\n"),
             HasId("not_chosen", {"profile.azimuth_deg", "EDI"}));
  CHECK_THAT(refusal(minimal, {"grid.layer_factor=0.5"}), HasId("out_of_range", {"layer_factor", "1"}));
}

TEST_CASE("configuration: numbers that no survey needs are refused at their keys, with range and value",
          "[apps]") {
  const std::string tear = "[[regularization.tear]]\ny_m = [0, 1e300]\nz_m = [0, 1]\n";
  const auto refused = [](const char* assignment, const std::vector<std::string>& parts) {
    INFO(assignment);
    CHECK_THAT(refusal(minimal, {assignment}), HasId("out_of_range", parts));
  };
  refused("data.frequencies_hz=[1.0, 1e308]", {"data.frequencies_hz", "1e-09 to 1e+09 Hz", "1e+308"});
  refused("data.period_min_s=1e300", {"data.period_min_s", "1e-09 to 1e+09 s", "1e+300"});
  refused("data.period_max_s=1e-300", {"data.period_max_s", "1e-300"});
  refused("data.frequency_tolerance=1e300", {"data.frequency_tolerance", "1e+300"});
  refused("data.phase_max_deg=1e300", {"data.phase_max_deg", "-360 to 360"});
  refused("profile.azimuth_deg=1e308", {"profile.azimuth_deg", "-360 to 360", "1e+308"});
  refused("grid.first_layer_m=1e308", {"grid.first_layer_m", "0 or 0.001 to 1e+08 m", "1e+308"});
  refused("grid.first_layer_m=1e-300", {"grid.first_layer_m", "1e-300"});
  refused("grid.layer_factor=1e300", {"grid.layer_factor", "1 to 100", "1e+300"});
  refused("grid={n_layers=900, layer_factor=90.0}", {"grid.layer_factor", "899"});
  refused("grid.margin=1e300", {"grid.margin", "0 to 100"});
  refused("grid.n_columns=1000000000", {"grid.n_columns", "0 to 10000", "1e+09"});
  refused("regularization.horizontal_weight=1e308", {"regularization.horizontal_weight", "1e+308"});
  refused("regularization.vertical_weight=1e-300", {"regularization.vertical_weight", "1e-300"});
  refused("regularization.depth_weight_exponent=1e308", {"regularization.depth_weight_exponent"});
  refused("regularization.smallness_length_m=1e-300", {"regularization.smallness_length_m"});
  refused("inversion.lambda_start=1e308", {"inversion.lambda_start", "0 or 1e-12 to 1e+12", "1e+308"});
  refused("inversion.max_iterations=1000000000", {"inversion.max_iterations", "0 to 10000"});
  refused("uncertainty.samples=1000000000", {"uncertainty.samples", "0 to 100000"});
  refused("sea={level_m=-1e300, resistivity_ohm_m=0.3}", {"sea.level_m", "-1e+300"});
  CHECK_THAT(refusal(minimal + tear), HasId("out_of_range", {"c.toml:4", "y_m", "1e+300"}));
  CHECK_THAT(refusal(minimal + "[[regularization.fixed]]\ny_min_m = -1e300\n"),
             HasId("out_of_range", {"c.toml:4", "y_min_m", "-1e+300"}));
}

TEST_CASE("configuration: items of lists are not empty and stand once, and a title is not empty", "[apps]") {
  CHECK_THAT(refusal(minimal + "modes = [\"\", \"te\"]\n"), HasId("empty_item", {"c.toml:3", "modes"}));
  CHECK_THAT(refusal(minimal + "station_order = [\"a\", \"\"]\n"), HasId("empty_item", {"station_order"}));
  CHECK_THAT(refusal(minimal + "station_order = [\"a\", \"a\"]\n"), HasId("repeated", {"station_order"}));
  CHECK_THAT(refusal(minimal + "frequencies_hz = [1.0, 0.1, 1.0]\n"),
             HasId("repeated", {"c.toml:3", "frequencies_hz", "1 Hz"}));
  CHECK_THAT(refusal(minimal + "[run]\ntitle = \"\"\n"), HasId("empty", {"c.toml:4", "run.title"}));
}

TEST_CASE("configuration: a sea has a level and a resistivity, and none without its table", "[apps]") {
  CHECK_FALSE(read(minimal).sea.has_value());
  const config::Config config = read(minimal + "[sea]\nlevel_m = -2.0\nresistivity_ohm_m = 0.25\n");
  CHECK(config.sea.value().level_m == -2.0);
  CHECK(config.sea.value().resistivity_ohm_m == 0.25);
  CHECK(read(config.toml).sea.value().resistivity_ohm_m == 0.25);
}

TEST_CASE("configuration: strike and declination are those of the selection, unset ones leave its defaults",
          "[apps]") {
  const physics::mt::Selection usual = read(minimal).data.selection;
  CHECK_FALSE(read(minimal).profile.line.strike_deg.has_value());
  CHECK(usual.declination_deg == 0.0);
  const config::Config config = read(minimal + "declination_deg = -12.5\n[profile]\nstrike_deg = 30\n");
  CHECK(config.profile.line.strike_deg == 30.0);
  CHECK(config.data.selection.declination_deg == -12.5);
  CHECK(read(config.toml).toml == config.toml);
  CHECK_THAT(refusal(minimal + "[profile]\nstrike_deg = 361\n"),
             HasId("out_of_range", {"strike_deg", "361"}));
  CHECK_THAT(refusal("[data]\nmt2d_file = \"d\"\n[profile]\nstrike_deg = 1\n"),
             HasId("not_chosen", {"profile.strike_deg", "EDI"}));
  CHECK_THAT(refusal(minimal + "[profile]\nstrike_deg = 1\nstrike = \"from_data\"\n"),
             HasId("two_strikes", {"strike_deg", "from_data"}));
  CHECK(read(minimal + "frequencies_per_decade = 6\n").data.selection.frequencies_per_decade == 6.0);
  CHECK(read(minimal + "same_place_m = 50\n").data.selection.same_place_m == 50.0);
  CHECK(usual.frequencies == physics::mt::FrequencyChoice::all);
  CHECK(read(minimal + "frequencies = \"shared\"\n").data.selection.frequencies ==
        physics::mt::FrequencyChoice::shared);
}

TEST_CASE("configuration: floors of data that are not inverted are refused, or named once the files are read",
          "[apps]") {
  const std::string rho = minimal + "kind = \"log10_rho_phase\"\n";
  CHECK_THAT(
      refusal(rho + "[data.floors]\nimpedance_relative = 0.05\n"),
      HasId("not_chosen", {"c.toml:5", "data.floors.impedance_relative", "needs impedances among the data"}));
  CHECK_THAT(refusal(rho + "[data.floors]\nlog10_rho = 0.1\ntipper_absolute = 0.02\n"),
             HasId("not_chosen", {"c.toml:6", "tipper_absolute", "needs tippers"}));
  CHECK_THAT(refusal(rho + "[[data.floor]]\nkind = \"impedance\"\nfloor = 0.05\n"),
             HasId("not_chosen", {"c.toml:5", "data.floor[0].kind", "needs impedances"}));
  CHECK(read(rho + "tipper = true\n[data.floors]\ntipper_absolute = 0.02\n").data.floors.tipper_absolute ==
        0.02);
  // A choice on the command line leaves the floors of the file alone.
  const config::Config chosen = read(minimal + "[data.floors]\nimpedance_relative = 0.05\nphase_deg = 2.0\n",
                                     {"data.kind=log10_rho_phase"});
  CHECK((chosen.data.floors.phase_deg == 2.0 && chosen.toml.find("impedance_relative") == std::string::npos));
  // Without a kind it is the files that tell.
  const config::DataConfig open =
      read(minimal + "[data.floors]\nimpedance_relative = 0.06\nphase_deg = 2.0\n").data;
  const std::vector<std::string> idle = config::floors_without_effect(open, open.selection);
  REQUIRE(idle.size() == 1);
  CHECK_THAT(idle[0], Catch::Matchers::Contains("c.toml:4: data.floors.impedance_relative"));
  const config::Config echoed = read(rho);
  CHECK(echoed.toml.find("impedance_relative") == std::string::npos);
  CHECK(read(echoed.toml).data.floors.log10_rho == echoed.data.floors.log10_rho);
}

TEST_CASE("configuration: floors and masks of single stations, modes and periods follow the general ones",
          "[apps]") {
  using physics::mt::FloorKind;
  using physics::mt::Mode;
  const std::size_t n_general = read(minimal).data.selection.floors.size();
  const std::string floor = minimal + "[[data.floor]]\nkind = \"phase\"\n",
                    log10_rho = minimal + "[[data.floor]]\nkind = \"log10_rho\"\n";
  const config::Config config =
      read(floor +
           "floor = 20\nstation = \"a\"\nmode = \"tm\"\nperiod_min_s = 2\nperiod_max_s = 100\n"
           "[[data.floor]]\nkind = \"impedance\"\nfloor = 0.1\n[[data.mask]]\nmode = \"te\"\n");
  const auto& floors = config.data.selection.floors;
  REQUIRE(floors.size() == n_general + 2);
  const physics::mt::FloorRule& first = floors[n_general];
  CHECK(first.kind == FloorKind::phase);
  CHECK(first.floor == 20.0);
  CHECK(first.where.station == "a");
  CHECK(first.where.mode == Mode::tm);
  CHECK(first.where.min_frequency_hz == Approx(0.01).epsilon(1e-3));
  CHECK(first.where.min_frequency_hz < 0.01);
  CHECK(first.where.max_frequency_hz == Approx(0.5).epsilon(1e-3));
  CHECK(first.where.max_frequency_hz > 0.5);
  CHECK(floors.back().floor == 0.1);
  CHECK(physics::mt::general_floors(floors).impedance_relative == 0.1);
  CHECK(config.data.selection.masks.at(0).mode == Mode::te);
  CHECK(read(config.toml).toml == config.toml);
  const auto of_one =
      read(minimal + "[[data.floor]]\nkind = \"impedance\"\nfloor = 0.2\nquantities = [\"zxy_re\"]\n");
  CHECK(of_one.data.selection.floors.back().where.data == std::vector{physics::mt::Datum::zxy_re});
  CHECK(physics::mt::general_floors(of_one.data.selection.floors).impedance_relative == 0.05);
  CHECK_THAT(refusal(log10_rho + "floor = 1\nquantities = [\"phase_xy\"]\n"),
             HasId("other_kind", {"quantities", "log10_rho", "phase_xy"}));
  CHECK_THAT(refusal(floor), HasId("missing_key", {"data.floor[0].floor"}));
  CHECK_THAT(refusal(log10_rho + "floor = 20\n"), HasId("out_of_range", {"c.toml:5", "0 to 10", "20"}));
  CHECK_THAT(refusal(log10_rho + "floor = 1\nperiod_min_s = 2\nperiod_max_s = 1\n"),
             HasId("empty_interval", {"period_min_s", "period_max_s = 1"}));
  CHECK_THAT(refusal(minimal + "[[data.floor]]\nkind = \"rho\"\nfloor = 1\n"),
             HasId("unknown_word", {"kind", "log10_rho", "rho"}));
}

TEST_CASE("configuration: floors of ModEM files default to zero, bounds become decades", "[apps]") {
  const config::Config config = read(
      "[data]\nmodem_file = \"d.dat\"\nkind = \"impedance\"\nmodes = [\"tm\"]\ntipper = "
      "true\n[bounds]\nresistivity_min_ohm_m = "
      "0.1\nresistivity_max_ohm_m = 1000\n");
  CHECK(config.data.floors.impedance_relative == 0.0);
  CHECK(config.data.selection.data ==
        std::vector{Datum::zyx_re, Datum::zyx_im, Datum::tzy_re, Datum::tzy_im});
  CHECK(config.bounds->lower == Approx(-1.0));
  CHECK(config.bounds->upper == Approx(3.0));
}

TEST_CASE("configuration: norms, tears and fixed regions are read, and the echo of them reads back",
          "[apps]") {
  const config::Config config =
      read(minimal +
           "[regularization]\nnorm = \"mgs\"\n[[regularization.tear]]\ny_m = [0, 1]\nz_m = [0, 2.5]\nweight "
           "= 0.25\n"
           "[[regularization.fixed]]\ny_m = [0, 1, 1]\nz_m = [0, 0, 1]\nresistivity_ohm_m = 0.3\n"
           "[[regularization.fixed]]\nz_min_m = 100\n");
  CHECK(config.regularization.norm.norm == inversion::prior::RoughnessNorm::minimum_gradient_support);
  CHECK(config.regularization.norm.epsilon == 0.5);
  REQUIRE(config.regularization.roughness.tears.size() == 1);
  CHECK(config.regularization.roughness.tears[0].points[1].z_m == 2.5);
  CHECK(config.regularization.roughness.tears[0].weight == 0.25);
  REQUIRE(config.regularization.fixed.size() == 2);
  CHECK(config.regularization.fixed[0].resistivity_ohm_m == 0.3);
  CHECK(contains(config.regularization.fixed[1].shape, physics::mesh::Point{0.0, 1e6, 101.0}));
  CHECK_FALSE(contains(config.regularization.fixed[1].shape, physics::mesh::Point{0.0, 0.0, 99.0}));
  CHECK(read(config.toml).toml == config.toml);
  CHECK(read(minimal).regularization.norm.norm == inversion::prior::RoughnessNorm::l2);
}

TEST_CASE("configuration: an autoregression takes its smoothing from a covariance file alone", "[apps]") {
  const std::string covariance = minimal + "[regularization]\noperator = \"autoregression\"\n",
                    with_file = covariance + "modem_covariance_file = \"m.cov\"\n";
  const config::Config config = read(with_file);
  CHECK(config.regularization.smoothing == config::SmoothingOperator::autoregression);
  CHECK(read(config.toml).toml == config.toml);
  CHECK_THAT(refusal(covariance), HasId("no_covariance_file", {"modem_covariance_file"}));
  CHECK_THAT(refusal(with_file + "horizontal_weight = 2\n"),
             HasId("not_chosen", {"horizontal_weight", "derivatives"}));
  CHECK_THAT(refusal(with_file + "norm = \"l1\"\n"), HasId("norm_of_derivatives", {"norm"}));
  CHECK_THAT(refusal(with_file + "[[regularization.tear]]\ny_m = [0, 1]\nz_m = [0, 1]\n"),
             HasId("tears_of_derivatives", {"areas"}));
  CHECK_THAT(refusal(with_file + "[inversion]\nalgorithm = \"lbfgs\"\n"),
             HasId("needs_derivatives", {"descends"}));
}

TEST_CASE("configuration: tears and fixed regions of volumes are drawn in plan, with depths", "[apps]") {
  using physics::mesh::Point;
  const config::Config config =
      read(minimal +
           "[regularization]\nmodem_covariance_file = \"a/m.cov\"\n"
           "[[regularization.tear]]\nx_m = [0, 10]\ny_m = [0, 5]\nz_max_m = 300\n"
           "[[regularization.fixed]]\nx_m = [0, 10, 10]\ny_m = [0, 0, 10]\nz_min_m = 5\nz_max_m = 50\n"
           "[[regularization.fixed]]\nx_min_m = 100\nz_max_m = 7\n");
  CHECK(config.regularization.covariance_file.ends_with("a/m.cov"));
  const inversion::mt::TearLine& tear = config.regularization.tears.at(0);
  CHECK(tear.tear.plane == physics::mesh::Plane::plan);
  CHECK(tear.tear.points[1] == Point{10.0, 5.0, 0.0});
  CHECK(tear.tear.z_m.to == 300.0);
  const auto& fixed = config.regularization.fixed;
  CHECK((contains(fixed.at(0).shape, Point{9.0, 1.0, 0.0}) &&
         !contains(fixed.at(0).shape, Point{1.0, 9.0, 0.0})));
  CHECK(fixed.at(0).z_m == physics::mesh::Interval{5.0, 50.0});
  CHECK((contains(fixed.at(1).shape, Point{101.0, 0.0, 6.0}) &&
         !contains(fixed.at(1).shape, Point{99.0, 0.0, 6.0})));
  CHECK(read(config.toml).toml == config.toml);
  const std::string tears = minimal + "[[regularization.tear]]\n";
  CHECK_THAT(refusal(tears + "x_m = [0, 1]\ny_m = [0, 1]\nz_m = [0, 1]\n"),
             HasId("three_lists", {"z_min_m"}));
  CHECK_THAT(refusal(tears + "y_m = [0, 1]\nz_m = [0, 1]\nz_max_m = 3\n"),
             HasId("depths_of_section_line", {"z_max_m"}));
  CHECK_THAT(refusal(minimal + "[[regularization.fixed]]\nx_m = [0, 1, 1]\ny_m = [0, 0, 1]\ny_max_m = 3\n"),
             HasId("polygon_or_box", {"x_max_m"}));
}

TEST_CASE(
    "configuration: a polygon that crosses itself, a lone norm_epsilon and a prior without width are refused",
    "[apps]") {
  CHECK_THAT(refusal(minimal + "[[regularization.fixed]]\ny_m = [0, 1, 1, 0]\nz_m = [0, 1, 0, 1]\n"),
             HasId("bad_polygon", {"c.toml:4", "regularization.fixed[0]", "1–2", "3–4"}));
  CHECK_THAT(refusal(minimal + "[[regularization.fixed]]\nresistivity_ohm_m = 1.0\n"),
             HasId("polygon_or_box", {"y_m", "z_max_m"}));
  CHECK_THAT(refusal(minimal + "[[regularization.tear]]\ny_m = [0]\nz_m = [0]\n"),
             HasId("bad_points", {"y_m", "2"}));
  CHECK_THAT(refusal(minimal + "[regularization]\nnorm_epsilon = 0.1\n"),
             HasId("not_chosen", {"norm_epsilon", "l1", "mgs"}));
  CHECK_THAT(refusal(minimal + "[static_shift]\nenabled = true\nsigma_decades = 0.0\n"),
             HasId("out_of_range", {"sigma_decades", "0"}));
  CHECK_THAT(refusal(minimal + "[static_shift]\nmodes = [\"te\"]\n"),
             HasId("not_chosen", {"modes", "enabled = true"}));
}

TEST_CASE("configuration: distortion matrices exclude static shifts and need data that they change",
          "[apps]") {
  const std::string on = "[distortion]\nenabled = true\n";
  const auto config = read(minimal + on + "sigma = 0.3\n");
  CHECK(std::get<inversion::mt::DistortionMatrixOptions>(config.distortion).sigma == 0.3);
  CHECK(read(config.toml).toml == config.toml);
  CHECK(std::holds_alternative<std::monostate>(read(minimal).distortion));
  CHECK_THAT(refusal(minimal + on + "[static_shift]\nenabled = true\n"),
             HasId("exclusive_tables", {"distortion", "enabled", "static_shift.enabled"}));
  CHECK_THAT(refusal(minimal + "[distortion]\nsigma = 0.1\n"),
             HasId("not_chosen", {"sigma", "enabled = true"}));
  CHECK_THAT(refusal(minimal + on + "sigma = 0.0\n"), HasId("out_of_range", {"sigma", "0"}));
  CHECK_THAT(refusal(minimal + "kind = \"phase_tensor\"\n" + on),
             HasId("nothing_distorted", {"distortion", "data.kind"}));
  CHECK_THROWS_AS(config::require_soundings_alone(config), core::ConfigError);
}

TEST_CASE("configuration: the start model's kind follows from its keys or is said by \"from\"", "[apps]") {
  CHECK(read(minimal + "[start]\nfrom = \"soundings\"\n").start.from_soundings);
  CHECK_FALSE(read(minimal + "[start]\nfrom = \"soundings\"\n").reference.from_soundings);
  CHECK_FALSE(read(minimal + "[start]\nmodel_file = \"m.h5\"\n").reference.file.empty());
  CHECK(read(minimal + "[start]\nmodel_file = \"m.h5\"\n[reference]\nfrom = \"half_space\"\n")
            .reference.file.empty());
  CHECK_THAT(refusal(minimal + "[start]\nmodel_file = \"m.h5\"\n[reference]\nfrom = \"file\"\n"),
             HasId("no_model_file", {"reference.model_file"}));
  CHECK(read(minimal).start.is_open);
  CHECK_FALSE(read(minimal + "[start]\nresistivity_ohm_m = 30.0\n").start.is_open);
  CHECK(read(read(minimal).toml).start.is_open);
  const config::Config same = read(minimal + "[start]\nmodel_file = \"m.h5\"\n");
  CHECK(read(same.toml).toml == same.toml);
  CHECK_THAT(refusal(minimal + "[start]\nfrom = \"half_space\"\nmodel_file = \"m.h5\"\n"),
             HasId("not_chosen", {"start.model_file", "from = \"file\""}));
  CHECK_THAT(refusal(minimal + "[start]\nfrom = \"file\"\n"), HasId("no_model_file", {"start.model_file"}));
}

TEST_CASE("configuration: every key of the demo is known", "[apps]") {
  for (const char* name : {"kim_eto.toml", "kim_eto_te.toml"}) {
    const config::Config config =
        config::read_config(std::string(LODESTONE_SOURCE_DIR "/examples/kim_eto/") + name);
    CHECK(config.data.station_order.size() == 36);
    CHECK(config.data.selection.frequencies_hz.size() == 20);
    CHECK(config.data.selection.masks.size() == 14);
    CHECK(config.profile.line.azimuth_deg == 329.5);
  }
}

TEST_CASE(
    "configuration: regions of a learned prior are set one by one or all together, and keys that are missing "
    "name those that are there",
    "[apps]") {
  const std::string text = minimal + "[[learned_prior.region]]\nnetwork = \"a.h5\"\ny_m = [0, 1]\n";
  const auto config = read(text, {"learned_prior.region[0].codes=9"});
  CHECK(config.learned_prior->regions.at(0).options.n_codes == 9);
  const auto other = read(text, {"learned_prior.region=[{network = \"b.h5\", y_m = [2, 3]}]"});
  REQUIRE(other.learned_prior->regions.size() == 1);
  CHECK(other.learned_prior->regions[0].network_as_written == "b.h5");
  CHECK_FALSE(read(text, {"learned_prior.region=[]"}).learned_prior);
  CHECK_THAT(refusal(text, {"learned_prior.region[1].codes=9"}),
             HasId("no_such_element", {"learned_prior.region[0]", "[0]"}));
  CHECK_THAT(refusal(minimal + "[[learned_prior.region]]\nnetwork = \"a.h5\"\ny = [0, 1]\n"),
             HasId("missing_key", {"c.toml:3", "learned_prior.region[0].y_m", "\"y\""}));
}

TEST_CASE("configuration: that of a training is told as such", "[apps]") {
  CHECK_THAT(refusal("[grid]\nn_layers = 8\n[[prior.generator]]\nkind = \"layers\"\n"),
             HasId("other_command", {"c.toml", "[data]", "[prior]", "mt_invert train"}));
  CHECK_THAT(refusal("[inversion]\ntarget_rms = 2\n[prior]\nseed = 1\n"),
             HasId("unknown_key", {"c.toml:3", "\"prior\""}));
}

TEST_CASE("configuration: soundings alone refuse the tables that they cannot honour, by name", "[apps]") {
  CHECK_NOTHROW(config::require_soundings_alone(read(minimal)));
  const auto config = read(minimal +
                           "[static_shift]\nenabled = true\n[bounds]\nresistivity_min_ohm_m = "
                           "1\nresistivity_max_ohm_m = 1e4\n[uncertainty]\nposterior = true\n");
  try {
    config::require_soundings_alone(config);
    FAIL("no error");
  } catch (const core::ConfigError& error) {
    CHECK(error.id() == "needs_section");
    for (const char* table : {"[static_shift]", "[bounds]", "[uncertainty]"})
      CHECK_THAT(error.what(), Catch::Contains(table));
  }
}

TEST_CASE("configuration: empty lists and names are refused at their keys, and not in force when absent",
          "[apps]") {
  for (const char* key : {"frequencies_hz = []", "station_order = []", "interpolate_stations = []"})
    CHECK_THAT(refusal(minimal + key + "\n"),
               HasId("empty", {"c.toml:3", "data." + std::string(key, std::string(key).find(' '))}));
  CHECK_THAT(refusal(minimal + "[profile]\norigin_station = \"\"\n"),
             HasId("empty", {"c.toml:4", "profile.origin_station"}));
  CHECK_THAT(refusal(minimal + "[[data.mask]]\nstation = \"\"\n"), HasId("empty", {"data.mask[0].station"}));
  CHECK_THAT(refusal(minimal + "[[data.mask]]\nquantities = []\n"),
             HasId("empty", {"data.mask[0].quantities"}));
  CHECK(read(minimal).toml.find("= \"\"") == std::string::npos);
  CHECK(read(read(minimal).toml).toml == read(minimal).toml);
}

TEST_CASE("configuration: a missing source of data is missing in the file, also with --set", "[apps]") {
  CHECK_THAT(refusal("[data]\nkind = \"impedance\"\n", {"data.tipper=true"}),
             HasId("no_data", {"c.toml:1", "data.edi_folder"}));
  CHECK_THAT(refusal("[grid]\nn_columns = 4\n", {"data.kind=impedance"}),
             HasId("no_data", {"c.toml", "data.edi_folder"}));
  CHECK_THAT(refusal("[data]\ntipper = true\n", {"data={kind=\"impedance\"}"}),
             HasId("no_data", {"c.toml:1", "data.edi_folder"}));
}

TEST_CASE("configuration: a file whose name is no UTF-8 is found", "[apps]") {
  const tests::TemporaryFolder folder;
  const std::string name = "caf\xE9.dat";
  core::write_file(folder / name, "data");
  core::write_file(folder / "c.toml", "[data]\nmodem_file = \"" + name + "\"\n");
  CHECK(std::filesystem::exists(config::read_config(folder / "c.toml", {}).data.modem_file));
  const auto set = config::read_config(folder / "c.toml", {"data.modem_file=" + name});
  CHECK(std::filesystem::exists(set.data.modem_file));
  CHECK(set.toml.find("café.dat") != std::string::npos);
}
