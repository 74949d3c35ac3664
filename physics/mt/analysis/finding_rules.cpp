// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/finding_rules.hpp"

#include <algorithm>
#include <array>

namespace lodestone::physics::mt {
namespace {

using enum Severity;
using Kind = FindingKind;

constexpr std::array of_readers{
    FindingRule{Kind::unreadable_file, error, "unreadable_file",
                "no option reads it: correct the file as the message says, or leave it out"},
    FindingRule{Kind::damaged_file, warning, "damaged_file",
                "no option brings back what is missing: get the whole file from where it came from, or take "
                "its periods out with convert --mask SITE:FROM,TO"},
    FindingRule{Kind::conjugated_by_reader, warning, "time_factor",
                "none is needed if that is right, and convert writes exp(+i omega t); else: check --sign "
                "plus on the files it came from, in a configuration data.edi_sign = \"plus\""},
    FindingRule{Kind::ohm_by_reader, warning, "units",
                "none is needed if that is right, and convert writes the units of each format; else: check "
                "--units field on the files it came from, in a configuration data.edi_units = \"field\""},
    FindingRule{
        Kind::open_units, warning, "units",
        "check --units field or check --units ohm, whichever is right; in a configuration data.edi_units"},
    FindingRule{
        Kind::open_sign, warning, "time_factor",
        "check --sign plus or check --sign minus, whichever is right; in a configuration data.edi_sign"},
    FindingRule{Kind::remark, note, "remark",
                "none is needed where that is right; else correct the file, as no option changes it"},
};

constexpr std::array of_curves{
    FindingRule{Kind::time_factor, error, "time_factor",
                "check --fix OUT.h5 conjugates the values, as check --sign minus does for all files; in a "
                "configuration data.edi_sign = \"minus\""},
    FindingRule{Kind::swapped_components, error, "swapped_components",
                "no option mends it, as these two mistakes look alike: exchange ZXY and ZYX in the file, or "
                "change the signs of all; convert --mask SITE leaves the station out"},
    FindingRule{Kind::reversed_channel, error, "reversed_channel",
                "check --fix OUT.h5 reverses the channel; or change the signs of its two elements in the "
                "file"},
    FindingRule{Kind::out_of_quadrant, note, "out_of_quadrant",
                "look at the phases: data.phase_min_deg and data.phase_max_deg mask them, volumes take them "
                "as they are"},
    FindingRule{Kind::units, error, "units",
                "check --fix OUT.h5 changes the units; for all files: check --units {}, in a configuration "
                "data.edi_units = \"{}\""},
    FindingRule{Kind::unclear_units, error, "units",
                "look at the impedances: check --units field or ohm, or data.edi_units, if the units are "
                "wrong; else convert --mask SITE leaves the station out"},
    FindingRule{Kind::no_errors, warning, "no_errors",
                "a floor: convert --floor impedance=0.05, or [data.floors]"},
    FindingRule{Kind::no_errors_of_tensors, warning, "no_errors",
                "a floor: convert --floor phase_tensor=0.03, or [data.floors]"},
    FindingRule{Kind::errors_too_small, warning, "errors_too_small",
                "a floor: convert --floor impedance=0.05, or [data.floors]"},
    FindingRule{Kind::errors_too_large, warning, "errors_too_large",
                "check --edi-variance of_each_part or of_complex_element, or data.edi_variance, if .VAR was "
                "meant otherwise; else convert --mask SITE:FROM,TO takes the periods out"},
    FindingRule{Kind::scatter, note, "scatter",
                "a floor of that size: convert --floor impedance={}, or data.floors.impedance_relative = {}"},
    FindingRule{Kind::inconsistent_curve, warning, "inconsistent_curve",
                "no option mends it: look at rho and phase beside each other; a section cannot fit such a "
                "curve, and data.modes leaves its mode out"},
    FindingRule{Kind::outliers, note, "outliers",
                "convert --mask SITE:FROM,TO or [[data.mask]] takes periods out; misfit.huber_threshold "
                "gives them less weight"},
    FindingRule{Kind::large_tipper, warning, "tipper_size",
                "look at the channel Hz: [[data.mask]] leaves out tzx and tzy of the station, data.tipper = "
                "false those of all"},
    FindingRule{Kind::dead_tipper, warning, "tipper_size",
                "[[data.mask]] leaves out tzx and tzy of the station, data.tipper = false those of all"},
    FindingRule{Kind::gap, note, "gap",
                "none is needed; where AMT and LMT of one place are two files, convert --merge METRES joins "
                "them"},
};

constexpr std::array of_places{
    FindingRule{Kind::same_place, note, "same_place",
                "inversions merge bands within data.same_place_m, convert --merge METRES does so in files; "
                "else leave one out: convert --sites LIST, or data.station_order"},
    FindingRule{Kind::same_name_elsewhere, warning, "contradictory_duplicate",
                "correct the name or the place in the file, or leave one out: convert --sites LIST, or "
                "data.station_order"},
    FindingRule{Kind::contradictory_duplicate, warning, "contradictory_duplicate",
                "look at both curves, and leave one out: convert --sites LIST, or data.station_order"},
    FindingRule{Kind::impossible_place, error, "impossible_place",
                "no option mends it: correct latitude or longitude in the file"},
    FindingRule{Kind::exchanged_place, error, "impossible_place",
                "no option mends it, as no other station confirms it: exchange latitude and longitude in "
                "the file"},
    FindingRule{Kind::metres_as_degrees, error, "impossible_place",
                "no option mends it: write latitude and longitude in degrees into the file, converted from "
                "the zone of the survey"},
    FindingRule{Kind::no_place, warning, "no_place",
                "no option adds a place: write latitude and longitude into the file"},
    FindingRule{Kind::elevation, warning, "elevation",
                "no option mends it: correct the elevation, or its unit, in the file"},
    FindingRule{Kind::coordinates, error, "coordinates",
                "check --fix OUT.h5 moves the station there; or, in the file: {}"},
    FindingRule{Kind::ambiguous_coordinates, error, "coordinates",
                "no option chooses: look which of the two it is, and correct the file"},
    FindingRule{Kind::far_away, warning, "far_away",
                "correct the coordinates in the file, or leave the station out: convert --sites LIST, or "
                "data.station_order"},
    FindingRule{Kind::far_group, note, "far_group",
                "none is needed for a survey of several areas, but one section or volume may want one of "
                "them: convert --sites LIST, or data.station_order"},
};

constexpr std::array of_frames{
    FindingRule{Kind::wrong_frame, warning, "wrong_frame",
                "correct the azimuths or the rotation angle in the file; or add {} degrees to them, of this "
                "file alone: convert --declination {}"},
    FindingRule{Kind::other_frame, note, "other_frame",
                "inversions rotate all to one frame; convert --rotate DEGREES does it in files"},
    FindingRule{Kind::distorted, note, "distorted",
                "phase tensors are free of distortion: data.kind = \"phase_tensor\"; volumes may solve for "
                "it: [distortion]"},
};

/// Joins lists of rules.
template <std::size_t... Sizes>
constexpr auto joined(const std::array<FindingRule, Sizes>&... lists) {
  std::array<FindingRule, (Sizes + ...)> out{};
  std::size_t n = 0;
  (std::ranges::for_each(lists, [&](const FindingRule& each) { out[n++] = each; }), ...);
  return out;
}

constexpr auto rules = joined(of_readers, of_curves, of_places, of_frames);

constexpr bool are_in_order() {
  for (std::size_t k = 0; k < rules.size(); ++k)
    if (static_cast<std::size_t>(rules[k].kind) != k) return false;
  return rules.size() == static_cast<std::size_t>(Kind::distorted) + 1;
}
static_assert(are_in_order(), "every kind of finding has a rule, in the order of the kinds");

}  // namespace

std::span<const FindingRule> finding_rules() { return rules; }

const FindingRule& rule_of(FindingKind kind) { return rules[static_cast<std::size_t>(kind)]; }

}  // namespace lodestone::physics::mt
