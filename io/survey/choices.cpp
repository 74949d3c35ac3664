// SPDX-License-Identifier: Apache-2.0
#include "io/survey/choices.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/hdf5/file.hpp"
#include "io/mth5/mth5.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace lodestone::io::survey {
namespace {

using enum FileKind;

/// Kinds whose readers take a choice; of HDF5 files those of MTH5 do.
constexpr std::array taking_units{edi, emtf_xml, femtic_data, wsinv_data, z_file, j_format, hdf5};
constexpr std::array taking_sign{edi,      emtf_xml, femtic_data, wsinv_data,  z_file,
                                 j_format, hdf5,     zonge_avg,   occam2d_data};
constexpr std::array taking_variance{edi};
constexpr std::array taking_declination{z_file};
constexpr std::array taking_errors{j_format};
constexpr std::array taking_flagged{zonge_avg};

/// A choice on the command line.
struct Choice {
  const char* option;
  bool is_given;
  std::span<const FileKind> kinds;
  bool is_of_many_kinds;  ///< then files beside them are worth a warning
};

std::array<Choice, 6> choices_of(const ReadOptions& given) {
  const ReadOptions usual;
  return {{{"--sign (data.edi_sign)", given.edi.sign != usual.edi.sign, taking_sign, true},
           {"--units (data.edi_units)", given.edi.units != usual.edi.units, taking_units, true},
           {"--edi-variance (data.edi_variance)", given.edi.variance != usual.edi.variance, taking_variance,
            false},
           {"--z-declination", given.zfile.declination != usual.zfile.declination, taking_declination, false},
           {"--j-errors", given.jones.error != usual.jones.error, taking_errors, false},
           {"--zonge-flagged", given.zonge.flagged != usual.zonge.flagged, taking_flagged, false}}};
}

/// Returns the kind of a file; unknown for one that cannot be looked into, and for a survey file csv_rows,
/// which states everything like that.
FileKind kind_of(const std::string& path) {
  try {
    const FileKind kind = kind_of_file(path);
    if (kind != hdf5) return kind;
    return mth5::is_mth5(hdf5::Hdf5Source(path)) ? hdf5 : csv_rows;
  } catch (const core::Error&) {
    return unknown;
  }
}

}  // namespace

void require_taken(const std::vector<std::string>& files, const ReadOptions& options) {
  const auto choices = choices_of(options);
  if (std::ranges::none_of(choices, &Choice::is_given)) return;
  std::vector<FileKind> kinds;
  for (const std::string& file : files) kinds.push_back(kind_of(file));
  for (const Choice& choice : choices) {
    if (!choice.is_given) continue;
    std::vector<std::string> others;
    bool is_taken = false;
    for (std::size_t k = 0; k < files.size(); ++k) {
      const bool takes = std::ranges::find(choice.kinds, kinds[k]) != choice.kinds.end();
      is_taken |= takes;
      if (!takes && kinds[k] != unknown) others.push_back(files[k]);
    }
    if (others.empty()) continue;
    if (!is_taken)
      throw core::ConfigError(
          "io::survey::choices#not_taken",
          "{} has no effect on {}{}: files of this kind state it, or have nothing of that "
          "kind; leave it out, or correct what the file states",
          choice.option, others.front(),
          others.size() > 1 ? fmt::format(" and {} more", others.size() - 1) : "");
    if (choice.is_of_many_kinds)
      core::log::warning(
          core::log::Id("io::survey::choices#not_taken"),
          "{} has no effect on {} of {} files, of which {} is the first: they go by what they state",
          choice.option, others.size(), files.size(), others.front());
  }
}

}  // namespace lodestone::io::survey
