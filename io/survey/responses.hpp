// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "physics/mt/responses.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace lodestone::io::survey {

/// Writes one row per response:
/// `site,mode,period_s,y_m,z_m,rho_a_ohm_m,phase_deg,Z_re_ohm,Z_im_ohm,Tzy_re,Tzy_im,definition`; empty field
/// = no value. errors: FileError.
void write_responses_csv(const std::string& path, const std::vector<physics::mt::Response>& responses);
/// Returns the same table as text.
[[nodiscard]] std::string responses_csv_text(const std::vector<physics::mt::Response>& responses);
/// Reads the rows of such a file. errors: FileError, FormatError with file:line.
[[nodiscard]] std::vector<physics::mt::Response> read_responses_csv(const std::string& path);

/// Writes responses of a forward run as arrays (periods, sites): groups `te` and `tm` with impedance,
/// apparent resistivity and phase (not folded), and the tipper in `te`; NaN where a response is not given.
/// errors: FileError; InvalidArgument when there is none.
void write_responses_hdf5(const std::filesystem::path& path,
                          const std::vector<physics::mt::Response>& responses);

/// The content of a file of `write_responses_hdf5` without its numbers.
struct StoredResponses {
  std::vector<std::string> sites;
  std::vector<double> frequencies_hz;
  bool has_te = false, has_tm = false;
};
/// Reads what such a file holds. errors: FormatError.
[[nodiscard]] StoredResponses stored_responses(const core::ArraySource& source);

}  // namespace lodestone::io::survey
