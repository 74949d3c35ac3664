// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/vtk/survey.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <vtkCellData.h>
#include <vtkNew.h>
#include <vtkPointData.h>
#include <vtkPolyData.h>
#include <vtkSmartPointer.h>
#include <vtkXMLPolyDataReader.h>

#include <cmath>

using namespace lodestone;
using test::OutputFolder;
namespace mt = physics::mt;

namespace {

vtkSmartPointer<vtkPolyData> read_vtp(const std::filesystem::path& path) {
  const vtkNew<vtkXMLPolyDataReader> reader;
  reader->SetFileName(path.c_str());
  reader->Update();
  return reader->GetOutput();
}

double value(vtkDataSetAttributes* data, const char* name, int component = 0) {
  REQUIRE(data->GetArray(name) != nullptr);
  return data->GetArray(name)->GetComponent(0, component);
}

/// Returns a station with x and y of its own. Its phase tensor has tan 60° along x and tan 30° along y, its
/// tipper (0.3 − 0.1i, −0.2 + 0.05i).
mt::StationData station(const std::string& name, double x_m, double y_m, double z_m) {
  mt::StationData data;
  data.site = {.name = name, .y_m = y_m, .z_m = z_m, .x_m = x_m};
  data.local_frame = mt::LocalFrame{};
  for (const double frequency_hz : {10.0, 0.1}) {
    mt::StationRow& row = data.row_at(frequency_hz);
    // Φ = X⁻¹ Y with X = [[0, 1], [−1, 0]]
    const double along_x = std::sqrt(3.0), along_y = 1.0 / std::sqrt(3.0);
    row.values[mt::Element::zxx] = 0.0;
    row.values[mt::Element::zyy] = 0.0;
    row.values[mt::Element::zxy] = {1.0, along_y};
    row.values[mt::Element::zyx] = {-1.0, -along_x};
    row.values[mt::Element::tzx] = {0.3, -0.1};
    row.values[mt::Element::tzy] = {-0.2, 0.05};
  }
  return data;
}

}  // namespace

TEST_CASE("vtk: a survey has arrows, angles and ellipses in the axes of the file") {
  const OutputFolder folder;
  const auto paths = io::vtk::write_survey(
      (folder / "s.pvd").string(), {station("a", 100.0, 200.0, -50.0), station("b", 100.0, 1200.0, 0.0)});
  REQUIRE(paths ==
          std::vector<std::string>{(folder / "s.pvd").string(), (folder / "s_ellipses.pvd").string()});
  CHECK(test::slurp(folder / "s.pvd").find("timestep=\"0.1\" part=\"0\" file=\"s/stations_0000.vtp\"") !=
        std::string::npos);
  CHECK(test::slurp(folder / "s_ellipses.pvd")
            .find("timestep=\"10\" part=\"0\" file=\"s/ellipses_0001.vtp\"") != std::string::npos);
  const auto points = read_vtp(folder / "s/stations_0000.vtp");
  REQUIRE(points->GetNumberOfPoints() == 2);
  CHECK(points->GetPoint(0)[0] == 200.0);
  CHECK(points->GetPoint(0)[1] == 100.0);
  CHECK(points->GetPoint(0)[2] == 50.0);
  vtkPointData* at = points->GetPointData();
  CHECK(value(at, "period_s") == Approx(0.1));
  CHECK(value(at, "elevation_m") == 50.0);
  CHECK(value(at, "induction_real", 0) == Approx(0.2));
  CHECK(value(at, "induction_real", 1) == Approx(-0.3));
  CHECK(value(at, "induction_imaginary", 0) == Approx(-0.05));
  CHECK(value(at, "induction_imaginary", 1) == Approx(0.1));
  CHECK(value(at, "phase_xy_deg") == Approx(30.0));
  CHECK(value(at, "rho_xy_ohm_m") ==
        Approx(mt::apparent_resistivity_ohm_m({1.0, 1.0 / std::sqrt(3.0)}, 10.0)));
  CHECK(value(at, "phi_max_deg") == Approx(60.0));
  CHECK(value(at, "phi_min_deg") == Approx(30.0));
  CHECK(value(at, "skew_beta_deg") == Approx(0.0).margin(1e-9));
  CHECK(value(at, "ellipse_azimuth_deg") == Approx(0.0).margin(1e-9));

  // The larger half axis is 0.4 of the distance, along x, which is the second coordinate
  const auto ellipses = read_vtp(folder / "s/ellipses_0000.vtp");
  REQUIRE(ellipses->GetNumberOfCells() == 2);
  CHECK(value(ellipses->GetCellData(), "phi_max_deg") == Approx(60.0));
  double bounds[6];
  ellipses->GetCellBounds(0, bounds);
  CHECK(bounds[3] - bounds[2] == Approx(800.0));
  CHECK(bounds[1] - bounds[0] == Approx(800.0 / 3.0));
  CHECK(bounds[4] == 50.0);
}

TEST_CASE("vtk: a survey without a tipper or an impedance has arrows of no length and no ellipse") {
  const OutputFolder folder;
  mt::StationData data = station("a", 0.0, 0.0, 0.0);
  for (mt::StationRow& row : data.rows) {
    row.values[mt::Element::tzy] = {mt::not_given, mt::not_given};
    row.values[mt::Element::zxy] = {mt::not_given, mt::not_given};
  }
  static_cast<void>(io::vtk::write_survey((folder / "s.vtp").string(), {data}));
  const auto points = read_vtp(folder / "s.vtp");
  REQUIRE(points->GetNumberOfPoints() == 2);
  CHECK(value(points->GetPointData(), "induction_real", 1) == 0.0);
  CHECK(std::isnan(value(points->GetPointData(), "phi_max_deg")));
  CHECK(read_vtp(folder / "s_ellipses.vtp")->GetNumberOfCells() == 0);
  data.rows.clear();
  CHECK_THAT(tests::error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(io::vtk::write_survey((folder / "no.vtp").string(), {data})); }),
             tests::HasId("no_frequency"));
  CHECK_FALSE(std::filesystem::exists(folder / "no.vtp"));
}
