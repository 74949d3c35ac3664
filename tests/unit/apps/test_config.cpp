// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/config.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::mt_invert;
using physics::mt::Quantity;

namespace {

Config read(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const tests::TemporaryFolder folder;
  core::write_file(folder / "c.toml", text);
  return read_config(folder / "c.toml", assignments);
}

std::string refusal(const std::string& text, const std::vector<std::string>& assignments = {}) {
  return tests::message_of<core::ConfigError>([&] { static_cast<void>(read(text, assignments)); });
}

const std::string minimal = "[data]\nedi_folder = \"edi\"\n";

}  // namespace

TEST_CASE("configuration: a folder of EDI files is enough, the rest has defaults", "[apps]") {
  const Config config = read(minimal);
  CHECK(config.title == "c");
  CHECK(std::filesystem::path(config.data.edi_folder).filename() == "edi");
  CHECK(std::filesystem::path(config.data.edi_folder).is_absolute());
  CHECK(config.data.selection.quantities ==
        std::vector{Quantity::log10_rho_xy, Quantity::phase_xy, Quantity::log10_rho_yx, Quantity::phase_yx});
  CHECK(config.data.selection.floors.log10_rho == 0.0434);
  CHECK(config.start.resistivity_ohm_m == 100.0);
  CHECK(config.optimiser.max_iterations == 15);
  CHECK_FALSE(config.bounds.has_value());
  CHECK(config.forward.redesign == Redesigning::each_iteration);
}

TEST_CASE("configuration: the echo holds defaults and reads back to itself", "[apps]") {
  const Config config = read(minimal + "[inversion]\ntarget_rms = 2\n", {"grid.n_columns=7"});
  CHECK_THAT(config.toml,
             Catch::Contains("target_rms = 2.0") && Catch::Contains("n_columns = 7") && Catch::Contains("max_iterations = 15"));
  CHECK(read(config.toml).toml == config.toml);
}

TEST_CASE("configuration: unknown, contradictory and impossible keys are refused with their place", "[apps]") {
  CHECK_THAT(refusal(minimal + "[inversion]\ntarget = 1.0\n"), Catch::Contains("c.toml:4") && Catch::Contains("target_rms"));
  CHECK_THAT(refusal(minimal + "modem_file = \"d.dat\"\n"), Catch::Contains("c.toml:3") && Catch::Contains("excludes \"edi_folder\""));
  CHECK_THAT(refusal("[data]\n"), Catch::Contains("edi_folder, edi_files, modem_file, mare2dem_file and mt2d_file"));
  CHECK_THAT(refusal("[data]\nmodem_file = \"d.dat\"\nedi_sign = \"plus\"\n"), Catch::Contains("applies to EDI files"));
  CHECK_THAT(refusal(minimal + "frequencies_hz = [1.0, -2.0]\n"), Catch::Contains("positive frequencies"));
  CHECK_THAT(refusal(minimal + "modes = [\"tx\"]\n"), Catch::Contains("got \"tx\""));
  CHECK_THAT(refusal(minimal + "modes = []\n"), Catch::Contains("at least one mode"));
  CHECK_THAT(refusal(minimal + "[[data.mask]]\nquantities = [\"rho\"]\n"), Catch::Contains("quantities"));
  CHECK_THAT(refusal(minimal + "[bounds]\nresistivity_min_ohm_m = 1.0\n"), Catch::Contains("resistivity_max_ohm_m"));
  CHECK_THAT(refusal(minimal + "[profile]\nelevation = \"file\"\n"), Catch::Contains("surface_file"));
  CHECK_THAT(refusal(minimal + "[sea]\nlevel_m = 0.0\n"), Catch::Contains("resistivity of the sea water"));
  CHECK_THAT(refusal("[data]\nmare2dem_file = \"d\"\n[profile]\nazimuth_deg = 1\n"), Catch::Contains("stations of mare2dem_file"));
  CHECK_THAT(refusal(minimal, {"grid.layer_factor=0.5"}), Catch::Contains("at least 1"));
}

TEST_CASE("configuration: a sea has a level and a resistivity, and none without its table", "[apps]") {
  CHECK_FALSE(read(minimal).sea.has_value());
  const Config config = read(minimal + "[sea]\nlevel_m = -2.0\nresistivity_ohm_m = 0.25\n");
  CHECK(config.sea.value().level_m == -2.0);
  CHECK(config.sea.value().resistivity_ohm_m == 0.25);
  CHECK(read(config.toml).sea.value().resistivity_ohm_m == 0.25);
}

TEST_CASE("configuration: floors of ModEM files default to zero, bounds become decades", "[apps]") {
  const Config config = read(
      "[data]\nmodem_file = \"d.dat\"\nkind = \"impedance\"\nmodes = [\"tm\"]\ntipper = true\n[bounds]\nresistivity_min_ohm_m = "
      "0.1\nresistivity_max_ohm_m = 1000\n");
  CHECK(config.data.selection.floors.impedance_relative == 0.0);
  CHECK(config.data.selection.quantities == std::vector{Quantity::zyx_re, Quantity::zyx_im, Quantity::tzy_re, Quantity::tzy_im});
  CHECK(config.bounds->lower_log10 == Approx(-1.0));
  CHECK(config.bounds->upper_log10 == Approx(3.0));
}

TEST_CASE("configuration: every key of the demo is known", "[apps]") {
  for (const char* name : {"kim_eto.toml", "kim_eto_te.toml"}) {
    const Config config = read_config(std::string(LODESTONE_SOURCE_DIR "/examples/kim_eto/") + name);
    CHECK(config.data.edi.station_order.size() == 36);
    CHECK(config.data.selection.frequencies_hz.size() == 20);
    CHECK(config.data.selection.masks.size() == 14);
    CHECK(config.profile.options.azimuth_deg == 329.5);
  }
}
