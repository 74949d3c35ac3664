// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mt/responses.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Returns one row per response as text:
/// `site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition`; empty field
/// = no value.
[[nodiscard]] std::string responses_csv_text(const std::vector<physics::mt::Response>& responses);
/// Reads a file of such rows. errors: FileError, FormatError with file:line.
[[nodiscard]] std::vector<physics::mt::Response> read_responses_csv(const std::string& path);

/// Writes responses of a forward run as arrays (periods, sites): groups `te` and `tm` with impedance,
/// apparent resistivity and phase (not folded), and the tipper in `te`; NaN where a response is not given.
/// errors: FileError; InvalidArgument when there is none.
void write_responses_hdf5(const std::filesystem::path& path,
                          const std::vector<physics::mt::Response>& responses);

/// Returns all elements over a volume as text, one row per period and site:
/// `site,period_s,x_m,y_m,Zxx_re_ohm,…,Zyy_im_ohm,rho_xy_ohm_m,phase_xy_deg,rho_yx_ohm_m,phase_yx_deg,
/// Tzx_re,Tzx_im,Tzy_re,Tzy_im`; empty field = no value. Phases are not folded. errors: ShapeError.
[[nodiscard]] std::string full_responses_csv_text(const physics::mt::Survey& survey,
                                                  const Eigen::VectorXd& predicted);
/// Writes all elements over a volume as arrays (periods, sites): `impedance/zxx` to `impedance/zyy`,
/// `tipper/tzx` and `tipper/tzy`, apparent resistivities and phases of the off-diagonal elements. shape: z_m
/// (stations). errors: FileError; ShapeError.
void write_full_responses_hdf5(const std::filesystem::path& path, const physics::mt::Survey& survey,
                               const Eigen::VectorXd& predicted, const std::vector<double>& z_m);

/// The content of a file of responses without its numbers.
struct StoredResponses {
  std::vector<std::string> sites;
  std::vector<double> frequencies_hz;
  std::vector<std::string> elements;  ///< "zxy" …
};
/// Reads what such a file holds. errors: FormatError.
[[nodiscard]] StoredResponses stored_responses(const core::ArraySource& source);

}  // namespace lodestone::io::survey
