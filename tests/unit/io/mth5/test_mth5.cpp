// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/emtf/xml.hpp"
#include "io/hdf5/file.hpp"
#include "io/info/info.hpp"
#include "io/mth5/mth5.hpp"
#include "io/survey/read.hpp"
#include "io/zfile/zfile.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/station_rows.hpp"
#include "tests/support/text_fixture.hpp"

#include <cmath>
#include <numbers>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using physics::mt::Complex;
using physics::mt::Element;
using physics::mt::StationData;

namespace {

constexpr double field = physics::mt::ohm_per_field_unit;
const std::string station = "Survey/Stations/s1", group = station + "/Transfer_Functions/t1";

/// A file of one period whose outputs and inputs stand in another order than usual.
struct Sample {
  std::string outputs = R"(["hz", "ey", "ex"])", inputs = R"(["hy", "hx"])", sign = "-", units = "ohm";
  std::int64_t n_periods = 1;
  bool has_function = true;

  [[nodiscard]] std::string write(const TemporaryFolder& folder) const {
    hdf5::Hdf5Sink sink(folder / "t.h5");
    sink.attribute("", "file.type", "MTH5");
    const std::vector<double> periods(static_cast<std::size_t>(n_periods), 4.0);
    core::write_vector(sink, group + "/period", periods);
    const std::vector<Complex> values{{0.1, 0.2}, {0.3, 0.4}, {-0.5, 0.6}, {-0.7, 0.8}, {0.9, -1.0}, {0, 0}};
    const std::vector<double> errors{0.1, 0.1, 0.2, 0.2, 0.3, 0.3};
    const auto put = [&](const char* name, core::DType type, std::span<const std::byte> bytes) {
      sink.write(group + "/" + name, {type, {1, 3, 2}}, bytes);
    };
    if (has_function) put("transfer_function", core::DType::c128, std::as_bytes(std::span(values)));
    put("transfer_function_error", core::DType::f64, std::as_bytes(std::span(errors)));
    if (has_function && !outputs.empty()) {
      sink.attribute(group + "/transfer_function", "output_channels", outputs);
      sink.attribute(group + "/transfer_function", "input_channels", inputs);
    }
    sink.attribute(station, "location.latitude", "-24.5");
    sink.attribute(station, "location.longitude", "190");
    sink.attribute(station, "orientation.angle_to_geographic_north", "12");
    sink.attribute(group, "sign_convention", sign);
    sink.attribute(group, "units", units);
    sink.attribute(group, "remote_references", R"(["r1"])");
    sink.commit();
    return folder / "t.h5";
  }
};

bool says(const StationData& of, const std::string& part) {
  return std::ranges::any_of(of.remarks, [&](const physics::mt::Remark& remark) {
    return remark.text.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("MTH5: both versions hold what the XML and the Z-file hold that they were made of", "[mth5]") {
  const StationData xml = emtf::read(source_path("tests/data/emtf/NMX20.xml"));
  const StationData tipper = zfile::read(source_path("tests/data/zfile/tf_zss_tipper.zss"));
  for (const char* name : {"tests/data/mth5/mth5_0.1.0.h5", "tests/data/mth5/mth5_0.2.0.h5"}) {
    INFO(name);
    const auto stations = survey::read(source_path(name));
    REQUIRE(stations.size() == 2);
    const StationData& full = stations[0];
    CHECK(full.site.name == "NMX20");
    CHECK(full.site.latitude_deg == xml.site.latitude_deg);
    CHECK(full.site.longitude_deg == xml.site.longitude_deg);
    CHECK(full.site.elevation_m == xml.site.elevation_m);
    REQUIRE(full.rows.size() == xml.rows.size());
    for (std::size_t k = 0; k < xml.rows.size(); ++k) {
      CHECK(full.rows[k].values[Element::zxy] == xml.rows[k].values[Element::zxy]);
      CHECK(full.rows[k].values[Element::tzx] == xml.rows[k].values[Element::tzx]);
      CHECK(full.rows[k].errors[Element::zyy] == Approx(xml.rows[k].errors[Element::zyy]).epsilon(1e-6));
      CHECK(full.rows[k].covariance.has_value());
    }
    const StationData& alone = stations[1];
    REQUIRE(alone.rows.size() == tipper.rows.size());
    CHECK(alone.rows[3].is_missing(Element::zxy));
    CHECK_FALSE(alone.rows[3].is_missing(Element::tzy));
    const auto file = info::describe_file(source_path(name));
    CHECK(file.format == "MTH5");
    CHECK(file.sites.size() == 2);
  }
}

TEST_CASE("MTH5: channels in any order, sign, units, frame and errors as the file states them", "[mth5]") {
  const TemporaryFolder folder;
  const auto read = [&](const Sample& sample) { return mth5::read(sample.write(folder)).at(0); };
  const StationData first = read({});
  CHECK(first.site.name == "s1");
  CHECK(first.site.latitude_deg == -24.5);
  CHECK(first.site.longitude_deg == -170.0);
  CHECK(std::isnan(first.site.elevation_m));
  CHECK(first.remote_reference == "r1");
  const auto& row = first.rows.at(0);
  CHECK(row.frequency_hz == 0.25);
  CHECK(row.azimuths.hx_deg == 12.0);
  CHECK(row.values[Element::tzy] == Complex(0.1, -0.2));
  CHECK(row.values[Element::tzx] == Complex(0.3, -0.4));
  CHECK(row.values[Element::zyy] == Complex(-0.5, -0.6));
  CHECK(row.values[Element::zyx] == Complex(-0.7, -0.8));
  CHECK(row.values[Element::zxy] == Complex(0.9, 1.0));
  CHECK(row.is_missing(Element::zxx));  // exactly 0
  CHECK(row.errors[Element::zxy] == Approx(0.3 / std::numbers::sqrt2));
  CHECK(read({.sign = "exp(+ i\\omega t)"}).rows[0].values[Element::zxy] == Complex(0.9, -1.0));
  CHECK(read({.units = "milliVolt per kilometer per nanoTesla"}).rows[0].values[Element::zxy].real() ==
        Approx(0.9 * field));
  const StationData unnamed = read({.outputs = ""});
  CHECK(unnamed.rows[0].values[Element::zxx] == Complex(0.1, -0.2));
  CHECK(says(unnamed, "no names of channels"));
}

TEST_CASE("MTH5: errors name the file and the object in it", "[mth5]") {
  const TemporaryFolder folder;
  const auto refusal = [&](const Sample& sample) {
    return error_of<core::FormatError>([&] { (void)mth5::read(sample.write(folder)); });
  };
  CHECK_THAT(refusal({.n_periods = 2}), HasId("wrong_shape", {"1", "2", group + "/period"}));
  CHECK_THAT(refusal({.inputs = "[\"hx\"]"}), HasId("no_inputs", {"hx"}));
  CHECK_THAT(refusal({.has_function = false}), HasId("no_transfer_function"));
  CHECK_THAT(refusal({.outputs = "[\"e1\"]"}), HasId("no_values"));
}
