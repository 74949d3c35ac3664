// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/findings.hpp"

#include "engine/core/array_io.hpp"
#include "engine/core/error.hpp"
#include "physics/mesh/earth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace lodestone::inversion::prior {
namespace {

constexpr double far_out = 2.0;  // of the mean square of codes, 1 for draws
constexpr double hardly_less =
    0.95;  // of the rms that a polish started from: what it gained is no fault of the prior
constexpr double rounding = 1.01;  // of the target

/// Describes how far the codes lie from their prior, where there is no coverage.
std::string about_codes(const PriorFindings& prior) {
  std::string text;
  for (const RegionFindings& region : prior.regions) {
    if (region.mean_square_code() > far_out)
      text += fmt::format(
          " In region \"{}\" it took codes far out in the prior: their mean square is {:.1f}, that of draws "
          "1.",
          region.name, region.mean_square_code());
  }
  return text;
}

/// Tests whether the final model has a subdomain that is no draw.
bool leaves_prior(const PriorFindings& prior) {
  return std::ranges::any_of(prior.regions, [](const RegionFindings& region) {
    return std::ranges::any_of(region.coverage,
                               [](const SubdomainCoverage& row) { return row.verdict == Verdict::outside; });
  });
}

}  // namespace

PriorFindings::Deviation PriorFindings::deviation(int region) const {
  double first = 0.0, last = 1e300;  // subdomains of the region: [first, last)
  if (region >= 0) {
    for (int r = 0; r < region; ++r)
      first += static_cast<double>(regions[static_cast<std::size_t>(r)].codes.cols());
    last = first + static_cast<double>(regions[static_cast<std::size_t>(region)].codes.cols());
  }
  double squares = 0.0, largest = 0.0, n = 0.0;
  for (Eigen::Index cell = 0; cell < subdomain.size(); ++cell) {
    if (!(subdomain[cell] >= first && subdomain[cell] < last)) continue;
    squares += deviation_decades[cell] * deviation_decades[cell];
    largest = std::max(largest, std::abs(deviation_decades[cell]));
    ++n;
  }
  return {n > 0.0 ? std::sqrt(squares / n) : 0.0, largest};
}

Eigen::VectorXd PriorFindings::in_cells(const std::function<double(const SubdomainCoverage&)>& number) const {
  std::vector<double> of_subdomain;
  for (const RegionFindings& region : regions) {
    for (const SubdomainCoverage& row : region.coverage) of_subdomain.push_back(number(row));
  }
  return subdomain.unaryExpr([&](double of_cell) {
    const auto k = static_cast<std::ptrdiff_t>(of_cell);
    return k >= 0 && k < std::ssize(of_subdomain) ? of_subdomain[static_cast<std::size_t>(k)]
                                                  : std::numeric_limits<double>::quiet_NaN();
  });
}

void check(const PriorFindings& prior, Eigen::Index n_cells) {
  for (const RegionFindings& region : prior.regions) {
    if (!region.coverage.empty() && std::ssize(region.coverage) != region.codes.cols())
      throw core::ShapeError("inversion::PriorFindings#wrong_coverage",
                             "region \"{}\": expected coverage of {} subdomains, got {}", region.name,
                             region.codes.cols(), region.coverage.size());
  }
  for (const auto& [name, values] : {std::pair{"subdomain", &prior.subdomain},
                                     {"decoded_log10_resistivity", &prior.decoded_log10_resistivity},
                                     {"deviation_decades", &prior.deviation_decades}}) {
    if (values->size() != n_cells)
      throw core::ShapeError("inversion::PriorFindings#wrong_size", "expected {} values in {}, got {}",
                             n_cells, name, values->size());
  }
}

std::string in_words(const PriorFindings& prior, double target_rms) {
  const bool fits = prior.features_rms <= rounding * target_rms;
  const std::string reached = fmt::format(
      "with the regions kept to what their prior allows the rms on the meshes of the steps comes to {:.3f}, "
      "the target is {:.3g}",
      prior.features_rms, target_rms);
  const bool strained = fits && !prior.polished && leaves_prior(prior);
  std::string text =
      strained
          ? fmt::format("The prior fits the data, but partly with earths at the edge of its training: {}.",
                        reached)
      : fits ? fmt::format("The prior fits the data: {}.", reached)
             : fmt::format("The prior does not fit the data to the target: {}.", reached);
  const std::string of_subdomains =
      prior.coverage_in_words.empty() ? about_codes(prior) : " " + prior.coverage_in_words;
  if (!prior.polished) return text + of_subdomains;
  const PriorFindings::Deviation deviation = prior.deviation();
  text += fmt::format(
      " The polish moved the cells on their own to rms {:.3f} and left the prior by {:.2f} decades rms, "
      "{:.2f} at most.",
      prior.final_rms, deviation.rms, deviation.largest);
  if (!fits && prior.final_rms > hardly_less * prior.features_rms)
    text += " Free cells hardly fit better: the prior is not the cause of the remaining misfit.";
  return text + of_subdomains;
}

namespace {

constexpr const char* group = "learned_prior";
constexpr std::array texts{"name", "network", "decoder", "origin"};

std::string place_of(std::size_t region) { return fmt::format("{}/region_{:02}", group, region); }

template <class Region>
auto texts_of(Region& region) {
  return std::array{&region.name, &region.network, &region.decoder, &region.origin};
}

constexpr const char* coverage_columns =
    "distance_decades, relative_distance, chi_square, tail, data_share, verdict";
constexpr int n_coverage_columns = 6;

void write_coverage(core::ArraySink& sink, const std::string& name,
                    const std::vector<SubdomainCoverage>& rows) {
  if (rows.empty()) return;
  Eigen::MatrixXd table(std::ssize(rows), n_coverage_columns);
  for (Eigen::Index i = 0; i < table.rows(); ++i) {
    const SubdomainCoverage& row = rows[static_cast<std::size_t>(i)];
    table.row(i) << row.distance_decades, row.relative_distance, row.chi_square, row.tail,
        row.data_share.value_or(std::numeric_limits<double>::quiet_NaN()), static_cast<int>(row.verdict);
  }
  core::write_matrix(sink, name, table);
  sink.attribute(name, "columns", coverage_columns);
}

std::vector<SubdomainCoverage> read_coverage(const core::ArraySource& source, const std::string& name,
                                             const RegionFindings& region) {
  const Eigen::Index n_subdomains = region.codes.cols();
  if (!source.contains(name)) return {};
  const Eigen::MatrixXd table = core::read_matrix(source, name);
  if (table.rows() != n_subdomains || table.cols() != n_coverage_columns)
    throw core::FormatError("inversion::prior::read_findings#wrong_size",
                            "array '{}': expected {} × {} entries, got {} × {}", name, n_subdomains,
                            n_coverage_columns, table.rows(), table.cols());
  std::vector<SubdomainCoverage> rows;
  for (const auto& row : table.rowwise()) {
    const double verdict = row[5];
    if (!(verdict == 0.0 || verdict == 1.0 || verdict == 2.0))
      throw core::FormatError("inversion::prior::read_findings#unknown_verdict",
                              "array '{}': expected a verdict of 0, 1 or 2, got {}", name, verdict);
    rows.push_back({.region = region.name,
                    .subdomain = static_cast<int>(rows.size()),
                    .distance_decades = row[0],
                    .relative_distance = row[1],
                    .chi_square = row[2],
                    .tail = row[3],
                    .data_share = std::isnan(row[4]) ? std::nullopt : std::optional<double>(row[4]),
                    .verdict = static_cast<Verdict>(static_cast<int>(verdict))});
  }
  return rows;
}

RegionFindings read_region(const core::ArraySource& source, const std::string& place) {
  RegionFindings region;
  for (std::size_t k = 0; k < texts.size(); ++k) *texts_of(region)[k] = source.attribute(place, texts[k]);
  const auto box = core::read_doubles(source, place + "/box_m");
  if (box.size() != 4 && box.size() != 6)
    throw core::FormatError("inversion::prior::read_findings#wrong_box",
                            "array '{}/box_m': expected 4 entries, or 6 of a volume, got {}", place,
                            box.size());
  region.y_from_m = box[0], region.y_to_m = box[1], region.z_from_m = box[2], region.z_to_m = box[3];
  if (box.size() == 6) region.x_m = physics::mesh::Interval{box[4], box[5]};
  region.reconstruction_rms_decades = core::read_number(source, place + "/reconstruction_rms_decades");
  region.codes = core::read_matrix(source, place + "/codes").transpose();
  region.coverage = read_coverage(source, place + "/coverage", region);
  return region;
}

}  // namespace

void write(core::ArraySink& sink, const PriorFindings& prior, const physics::mesh::TensorGrid& grid) {
  const std::string place = std::string(group) + "/";
  physics::mesh::write_cells(sink, place + "subdomain", grid, prior.subdomain, "1");
  physics::mesh::write_cells(sink, place + "decoded_log10_resistivity", grid, prior.decoded_log10_resistivity,
                             "log10(ohm m)");
  physics::mesh::write_cells(sink, place + "deviation_decades", grid, prior.deviation_decades,
                             "log10(ohm m)");
  core::write_number(sink, place + "polished", prior.polished ? 1.0 : 0.0);
  core::write_number(sink, place + "features_rms", prior.features_rms, "1");
  core::write_number(sink, place + "final_rms", prior.final_rms, "1");
  core::write_number(sink, place + "n_regions", static_cast<double>(prior.regions.size()));
  if (!prior.coverage_in_words.empty()) sink.attribute(group, "coverage_in_words", prior.coverage_in_words);
  for (std::size_t r = 0; r < prior.regions.size(); ++r) {
    const RegionFindings& region = prior.regions[r];
    const std::string at = place_of(r);
    std::vector<double> box{region.y_from_m, region.y_to_m, region.z_from_m, region.z_to_m};
    if (region.x_m) box.insert(box.end(), {region.x_m->from, region.x_m->to});
    core::write_vector(sink, at + "/box_m", box);
    sink.attribute(at + "/box_m", "units", "m");
    core::write_number(sink, at + "/reconstruction_rms_decades", region.reconstruction_rms_decades,
                       "log10(ohm m)");
    core::write_matrix(sink, at + "/codes", region.codes.transpose());
    write_coverage(sink, at + "/coverage", region.coverage);
    for (std::size_t k = 0; k < texts.size(); ++k) sink.attribute(at, texts[k], *texts_of(region)[k]);
  }
}

std::optional<PriorFindings> read_findings(const core::ArraySource& source,
                                           const physics::mesh::TensorGrid& grid) {
  const std::string place = std::string(group) + "/";
  if (!source.contains(place + "n_regions")) return std::nullopt;
  PriorFindings prior;
  prior.subdomain = physics::mesh::read_cells(source, place + "subdomain", grid);
  prior.decoded_log10_resistivity =
      physics::mesh::read_cells(source, place + "decoded_log10_resistivity", grid);
  prior.deviation_decades = physics::mesh::read_cells(source, place + "deviation_decades", grid);
  prior.polished = core::read_number(source, place + "polished") != 0.0;
  prior.features_rms = core::read_number(source, place + "features_rms");
  prior.final_rms = core::read_number(source, place + "final_rms");
  if (source.has_attribute(group, "coverage_in_words"))
    prior.coverage_in_words = source.attribute(group, "coverage_in_words");
  const double n = core::read_number(source, place + "n_regions");
  for (std::size_t r = 0; static_cast<double>(r) < n; ++r)
    prior.regions.push_back(read_region(source, place_of(r)));
  return prior;
}

}  // namespace lodestone::inversion::prior
