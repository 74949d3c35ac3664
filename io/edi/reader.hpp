// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/error.hpp"
#include "physics/mt/transfer_functions.hpp"

#include <string>
#include <vector>

namespace lodestone::io::edi {

/// What a .VAR block holds; files do not say.
enum class EdiVariance {
  of_complex_element,  ///< variance of the complex number: σ of each part is √(VAR/2)
  of_each_part,        ///< variance of the real and of the imaginary part: σ = √VAR
};
enum class EdiSign { vote, plus, minus };  ///< e^{±iωt}; vote: by the quadrants of Zxy and Zyx
enum class EdiUnits { vote, field, ohm };  ///< mV/km/nT or V/A; vote: by the size of ρₐ

struct EdiOptions {
  EdiVariance variance = EdiVariance::of_complex_element;
  EdiSign sign = EdiSign::vote;
  EdiUnits units = EdiUnits::vote;
};

/// One station from a SEG EDI file (impedance, ρₐ/phase or spectra sections), in the frame of geographic
/// north, SI ohm, e^{+iωt}.
///
/// Every assumption made on the way stands in `warnings`, with file:line. A tipper that is zero everywhere is
/// none. errors: FileError (missing, unreadable), FormatError with file:line (not an EDI file, truncated, no
/// frequency, no transfer function).
[[nodiscard]] physics::mt::TransferFunctions read_edi(const std::string& path,
                                                      const EdiOptions& options = {});

/// The same from bytes in memory; `path` is only used in messages.
[[nodiscard]] physics::mt::TransferFunctions parse_edi(const std::string& bytes, const std::string& path,
                                                       const EdiOptions& options = {});

/// A set of EDI files read as one survey, and the files that could not be read.
struct EdiFolder {
  struct Skipped {
    std::string path, reason;
    core::ExitCode code = core::ExitCode::format;
  };
  std::vector<physics::mt::TransferFunctions> stations;
  std::vector<Skipped> skipped;  ///< also logged as warnings
};

struct EdiFolderOptions {
  EdiOptions edi;
  std::vector<std::string> station_order;  ///< names; only these, in this order. Empty: all, by file name
};

/// Every *.edi of a folder (any case, not recursive). A bad file is reported and skipped; equal station names
/// get a suffix. errors: FileError (no such folder, no EDI file in it, none readable), ConfigError (a name of
/// `station_order` is not there).
[[nodiscard]] EdiFolder read_edi_folder(const std::string& folder, const EdiFolderOptions& options = {});
[[nodiscard]] EdiFolder read_edi_files(const std::vector<std::string>& paths,
                                       const EdiFolderOptions& options = {});

}  // namespace lodestone::io::edi
