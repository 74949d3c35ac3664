// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/distortion.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "physics/mt/curve_offsets.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace lodestone::inversion::mt {

namespace mt = physics::mt;

namespace {

using mt::DistortionKey;
using mt::DistortionKind;
using mt::DistortionUnknowns;

constexpr std::array<std::string_view, 4> entries{"xx", "xy", "yx", "yy"};

/// Returns "TE" of a static shift, "Cxy" of an entry of a matrix.
std::string name_of(DistortionKind kind, const DistortionKey& key) {
  if (kind == DistortionKind::static_shift) return key.row == 0 ? "TE" : "TM";
  return fmt::format("C{}", entries.at(static_cast<std::size_t>(2 * key.row + key.column)));
}

const std::string& name_of(const std::vector<mt::Station>& stations, int station) {
  return stations.at(static_cast<std::size_t>(station)).name;
}

double at(const Eigen::VectorXd& p, std::size_t i) { return p[static_cast<Eigen::Index>(i)]; }

DistortionPrior matrices_of(const DistortionMatrixOptions& options, const mt::Survey& survey, int dimension) {
  if (dimension != 3)
    throw core::InvalidArgument(
        "inversion::mt::problem#distortion_of_section",
        "expected a volume together with distortion matrices, got {} dimensions; a section predicts no "
        "diagonal impedances that a matrix mixes with the others; invert with --dim 3, or estimate static "
        "shifts (static_shift.enabled)",
        dimension);
  DistortionPrior prior{mt::full_distortion(survey), options.sigma};
  if (prior.unknowns.empty())
    throw core::InvalidArgument(
        "inversion::mt::problem#nothing_distorted",
        "expected data that a distortion matrix changes, but there are phase tensors, tippers or phases of "
        "the determinant alone, which have none; add impedances (data.kind = \"full_impedance\") or remove "
        "[distortion]");
  core::log::info("distortion: {} unknowns, matrices of {} stations, entries {:g} wide around the identity",
                  prior.unknowns.size(), prior.unknowns.size() / 4, prior.sigma);
  return prior;
}

NamedTable shift_table(const std::vector<mt::Station>& stations, const DistortionPrior& prior,
                       const Eigen::VectorXd& p) {
  core::Table::Texts sites, modes;
  core::Table::Numbers decades, factors;
  for (std::size_t i = 0; i < prior.unknowns.keys.size(); ++i) {
    const DistortionKey& key = prior.unknowns.keys[i];
    sites.push_back(name_of(stations, key.station));
    modes.push_back(name_of(prior.unknowns.kind, key));
    decades.push_back(at(p, i));
    factors.push_back(std::pow(10.0, at(p, i)));
  }
  core::Table table;
  table.add_texts("site", std::move(sites));
  table.add_texts("mode", std::move(modes));
  table.add_numbers("shift_decades", "", std::move(decades));
  table.add_numbers("rho_a_factor", "1", std::move(factors));
  return {.name = "static_shift",
          .title = "Static shifts",
          .note = fmt::format("Decades added to log10 ρₐ of each site and mode; the prior is 0 ± {:.3g}. "
                              "Predictions contain them.",
                              prior.sigma),
          .table = std::move(table),
          .own_file = true};
}

NamedTable matrix_table(const std::vector<mt::Station>& stations, const DistortionPrior& prior,
                        const Eigen::VectorXd& p) {
  core::Table::Texts sites;
  std::array<core::Table::Numbers, 4> of_entries;
  core::Table::Numbers gain, twist, shear, anisotropy, deviation;
  for (const auto& [station, c] : mt::distortion_matrices(prior.unknowns, p)) {
    const mt::GroomBaileyFactors factors = mt::groom_bailey(c);
    sites.push_back(name_of(stations, station));
    for (std::size_t k = 0; k < 4; ++k)
      of_entries[k].push_back(c(static_cast<int>(k) / 2, static_cast<int>(k) % 2));
    gain.push_back(factors.gain);
    twist.push_back(factors.twist_deg);
    shear.push_back(factors.shear_deg);
    anisotropy.push_back(factors.anisotropy);
    deviation.push_back((c - Eigen::Matrix2d::Identity()).norm() / (2.0 * prior.sigma));
  }
  core::Table table;
  table.add_texts("site", std::move(sites));
  for (std::size_t k = 0; k < 4; ++k)
    table.add_numbers(fmt::format("c_{}", entries[k]), "1", std::move(of_entries[k]));
  table.add_numbers("gain", "1", std::move(gain));
  table.add_numbers("twist_deg", "degree", std::move(twist));
  table.add_numbers("shear_deg", "degree", std::move(shear));
  table.add_numbers("anisotropy", "1", std::move(anisotropy));
  table.add_numbers("deviation", "1", std::move(deviation));
  return {
      .name = "distortion",
      .title = "Galvanic distortion",
      .note = fmt::format(
          "The matrix C of each site, C times Z at all periods, and its factors C = gain · twist · shear · "
          "anisotropy (Groom & Bailey 1989); the prior of an entry is the identity ± {:.3g}, deviation "
          "the root mean square distance from it in this unit. A gain shared by all sites is the level "
          "of the model, and held by the prior alone. Predictions contain the matrices.",
          prior.sigma),
      .table = std::move(table),
      .own_file = true};
}

}  // namespace

DistortionPrior distortion_of(const DistortionOptions& options, const mt::Survey& survey, int dimension) {
  if (const auto* matrices = std::get_if<DistortionMatrixOptions>(&options))
    return matrices_of(*matrices, survey, dimension);
  const auto* shifts = std::get_if<StaticShiftOptions>(&options);
  if (shifts == nullptr) return {};
  DistortionPrior prior{mt::static_shifts(survey, shifts->modes), shifts->sigma_decades};
  if (prior.unknowns.empty())
    throw core::InvalidArgument(
        "inversion::mt::problem#nothing_shifted",
        "expected data that a static shift of one mode changes, ρₐ or parts of Zxy and Zyx, but there are "
        "none; a determinant mixes the shifts of both modes: invert both modes (data.kind), or remove "
        "[static_shift]");
  core::log::info("static shifts: {} unknowns, {:g} decades wide", prior.unknowns.size(), prior.sigma);
  return prior;
}

void advise_on_shifts(const DistortionOptions& options, const mt::Observations& data, int dimension) {
  if (dimension != 2 || !std::holds_alternative<std::monostate>(options)) return;
  const mt::CurveOffsets offsets = mt::curve_offsets(data);
  if (!offsets.demand_shifts()) return;
  core::log::info(
      "{} curves of apparent resistivity lie {:.2f} decades beside those of their neighbours, and by {:.2f} "
      "from period to period: the data have static shifts, which static_shift.enabled = true makes unknowns",
      offsets.n_curves, offsets.level, offsets.change);
}

NamedTable distortion_table(const std::vector<mt::Station>& stations, const DistortionPrior& prior,
                            const Eigen::VectorXd& p) {
  return prior.unknowns.kind == DistortionKind::full ? matrix_table(stations, prior, p)
                                                     : shift_table(stations, prior, p);
}

void log_distortion(const DistortionPrior& prior, const Eigen::VectorXd& p) {
  const auto& [kind, keys] = prior.unknowns;
  std::vector<std::string> names;  // of entries, in the order of the keys
  for (const DistortionKey& key : keys) {
    const std::string name = name_of(kind, key);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  const bool is_shift = kind == DistortionKind::static_shift;
  for (const std::string& name : names) {
    double sum = 0.0, squares = 0.0, n = 0.0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (name_of(kind, keys[i]) != name) continue;
      sum += at(p, i);
      squares += at(p, i) * at(p, i);
      n += 1.0;
    }
    core::log::info("{}, {}: mean {:+.3f}, root mean square {:.3f}{} over {:.0f} stations (prior {:g})",
                    is_shift ? "static shifts" : "distortion beside the identity", name, sum / n,
                    std::sqrt(squares / n), is_shift ? " decades" : "", n, prior.sigma);
  }
}

void warn_of_large_distortion(const std::vector<mt::Station>& stations, const DistortionPrior& prior,
                              const Eigen::VectorXd& p) {
  constexpr double most_sigma = 3.0;
  const auto& [kind, keys] = prior.unknowns;
  std::vector<std::size_t> beyond;
  const auto size_of = [&](std::size_t i) { return std::abs(at(p, i)); };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (size_of(i) > most_sigma * prior.sigma) beyond.push_back(i);
  }
  if (beyond.empty()) return;
  std::ranges::stable_sort(beyond, std::ranges::greater{}, size_of);
  const bool is_shift = kind == DistortionKind::static_shift;
  std::vector<std::string> named;
  for (const std::size_t i : beyond) {
    const std::string remark = is_shift ? fmt::format("ρₐ times {:.3g}", std::pow(10.0, at(p, i)))
                                        : fmt::format("{:+.3g} beside the identity", at(p, i));
    named.push_back(
        fmt::format("{} {} ({})", name_of(stations, keys[i].station), name_of(kind, keys[i]), remark));
  }
  core::log::warning(is_shift ? core::log::Id("inversion::mt::problem#large_shifts")
                              : core::log::Id("inversion::mt::problem#large_distortion"),
                     "{} of {} {} lie beyond {:g} deviations of their prior (±{:.3g}{}): "
                     "{}. Structure or a "
                     "fault of the data hides in them; look at these stations, mask them, or widen {}",
                     beyond.size(), keys.size(),
                     is_shift ? "static shifts" : "entries of distortion matrices", most_sigma, prior.sigma,
                     is_shift ? " decades" : "", fmt::join(named, ", "),
                     is_shift ? "static_shift.sigma_decades" : "distortion.sigma");
}

}  // namespace lodestone::inversion::mt
