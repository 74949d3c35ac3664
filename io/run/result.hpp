// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "inversion/optimize/staged_history.hpp"
#include "inversion/prior/findings.hpp"
#include "inversion/uncertainty/findings.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/profile.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/survey.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lodestone::io::run {

/// How a result came about. Facts only of program and machine, never of persons.
struct Provenance {
  std::string version;
  std::vector<std::pair<std::string, std::string>> build;  ///< core::build_info()
  std::string command_line;
  std::string started_utc, finished_utc;                  ///< ISO 8601
  std::vector<std::pair<std::string, std::string>> host;  ///< processor, cores, memory, system, ranks …
};
/// Version, build and host of this process, and the time now as start. The home folder in the command line
/// becomes "~".
[[nodiscard]] Provenance make_provenance(const std::string& command_line, int n_ranks);
[[nodiscard]] std::string utc_now();  ///< "2024-05-31T12:00:00Z"

/// A static shift that was inverted for: it adds to log10 ρₐ of one station and mode.
struct StaticShift {
  physics::mt::Mode mode;
  int station;  ///< index into the survey's stations
  double decades;
};

/// Where the profile lies on the earth.
struct ProfileGeometry {
  double azimuth_deg = 0.0;        ///< of y, clockwise from north
  physics::mt::PlanePoint origin;  ///< of y = 0 in the projection's plane
  double origin_latitude_deg = 0.0, origin_longitude_deg = 0.0;
  std::string projection;              ///< definition understood by PROJ; empty: none (synthetic data)
  std::string distance = "projected";  ///< "projected" or "running_sum"
  std::vector<physics::mt::PlanePoint> stations;  ///< per station, in the same plane; may be empty
  std::vector<double> offset_m;                   ///< per station, distance from the line; may be empty
  double datum_elevation_m = 0.0;                 ///< of z = 0
};

/// Everything an inversion run leaves behind.
struct InversionResult {
  std::string title;
  std::string configuration_toml;
  Provenance provenance;
  physics::mt::ObservedData data;  ///< all keys, also the masked ones
  physics::mt::ErrorFloors floors;
  Eigen::VectorXd predicted;  ///< (n_keys), units of the keys' quantities; NaN where not computed
  physics::mesh::Earth earth{physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0})};
  Eigen::VectorXd start_log10_resistivity, log10_resistivity;  ///< (n_cells), order of the grid
  std::vector<StaticShift> static_shifts;   ///< none: not among the unknowns; `predicted` contains them
  double static_shift_sigma_decades = 0.0;  ///< of their prior
  std::optional<inversion::prior::PriorFindings> learned_prior;    ///< where the run had one
  std::optional<inversion::uncertainty::Uncertainty> uncertainty;  ///< where it was asked for
  ProfileGeometry profile;
  physics::mt::d2::MeshSet meshes;           ///< forward meshes of the final responses
  physics::mt::d2::Certificate certificate;  ///< no rows: none was made
  std::vector<inversion::optimize::StagedRecord> history;
  std::string stop_reason, stop_message;
  double rms = 0.0, target_rms = 1.0;  ///< of the final model at standard accuracy

  [[nodiscard]] physics::mesh::Model section() const;
};

/// errors: FileError (nothing half-written is left), ShapeError when parts do not fit together. layout:
/// docs/result-file.md
void write_result(const std::filesystem::path& path, const InversionResult& result);
/// errors: FileError, FormatError (not a result file, cut off, parts do not fit).
[[nodiscard]] InversionResult read_result(const std::filesystem::path& path);

/// A section alone, in the same layout. `read_section_hdf5` takes result files as well (their final model).
void write_section_hdf5(const std::filesystem::path& path, const physics::mesh::Model& section);
[[nodiscard]] physics::mesh::Model read_section_hdf5(const std::filesystem::path& path);

/// Responses of a forward run as arrays (periods, sites): groups `te` and `tm` with impedance, apparent
/// resistivity and phase (not folded), and the tipper in `te`; NaN where a response is not given. errors:
/// FileError; InvalidArgument when there is none.
void write_responses_hdf5(const std::filesystem::path& path,
                          const std::vector<physics::mt::Response>& responses);

}  // namespace lodestone::io::run
