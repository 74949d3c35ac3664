// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/checked_responses.hpp"

#include "engine/core/log.hpp"
#include "physics/mt/certificate_steps.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace lodestone::physics::mt::d2 {
namespace {

using Complex = std::complex<double>;

constexpr double coarser = 1.5;   // cells of the first estimate over those of the rules
constexpr double order = 1.71;    // power of the cell size with which errors fall: 1.5 times doubles them
constexpr double margin = 0.8;    // of the tolerance: an estimate above it calls for smaller cells
constexpr double aimed_at = 0.6;  // of the tolerance, by these
constexpr double smallest_step = 0.5;  // of the size of cells in one refinement
constexpr double largest_step = 0.85;  // a refinement by less would not show in an estimate
constexpr int most_refinements = 4;    // of a mesh, each of which costs more than all before
constexpr int unlimited_nodes = 1'000'000'000;

/// Returns the error of the finer of two meshes over the difference of their responses.
double share_of_difference(double size_ratio) { return 1.0 / (std::pow(size_ratio, order) - 1.0); }

/// Returns the difference of a response from another mesh's. Of the tipper it counts as that of an impedance
/// relative to it.
ResponseError difference_of(Element element, Complex finer, Complex other) {
  if (is_tipper(element)) return {200.0 * std::abs(finer - other), 0.0};
  const Complex change = std::log(finer / other);
  return {200.0 * std::abs(change.real()), deg_per_rad * std::abs(change.imag())};
}

/// Returns an error in units of the tolerance.
double in_tolerances(const ResponseError& error, const ResponseError& tolerance) {
  return std::max(error.rho_a_percent / tolerance.rho_a_percent, error.phase_deg / tolerance.phase_deg);
}

/// Tests for each station whether it stands on the edge of two columns that differ at the surface. Across it
/// E of the TM mode jumps, so that a mesh decides what the station gets.
std::vector<bool> on_contacts(const mesh::Model& model, const std::vector<Station>& stations) {
  constexpr double close = 1e-3;           // of the narrower column
  constexpr double least_contrast = 0.01;  // decades
  const mesh::TensorGrid& grid = model.earth.grid;
  const Eigen::VectorXd resistivity = mesh::resistivity_ohm_m(model);
  std::vector<bool> result;
  for (const Station& station : stations) {
    const double surface = model.earth.surface.profile().z_at(station.y_m);
    const int row = grid.reference() == mesh::DepthReference::surface ? 0 : grid.row_of(surface);
    bool found = false;
    for (int iy = 1; iy < grid.n_y(); ++iy) {
      const auto& y = grid.y_edges_m();
      found = found ||
              (std::abs(station.y_m - y[iy]) < close * std::min(y[iy] - y[iy - 1], y[iy + 1] - y[iy]) &&
               std::abs(std::log10(resistivity[grid.index(row, iy - 1)] / resistivity[grid.index(row, iy)])) >
                   least_contrast);
    }
    result.push_back(found);
  }
  return result;
}

/// The state of one mesh: its cells by station over those of the rules, and the error that was estimated
/// there.
struct Band {
  std::vector<double> size;
  std::vector<ResponseError> error;
};

/// The simulation on the meshes that were found, whose value at their model is known already.
class KnownResponses final : public core::DifferentiableMap {
 public:
  KnownResponses(core::MapPtr simulation, Eigen::VectorXd model, Eigen::VectorXd values)
      : simulation_(std::move(simulation)), model_(std::move(model)), values_(std::move(values)) {}
  [[nodiscard]] Eigen::Index size_in() const override { return simulation_->size_in(); }
  [[nodiscard]] Eigen::Index size_out() const override { return simulation_->size_out(); }
  [[nodiscard]] std::string name() const override { return simulation_->name(); }
  [[nodiscard]] int communicator_id() const override { return simulation_->communicator_id(); }

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    return x == model_ ? values_ : simulation_->value(x);
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    return simulation_->linearize(x);
  }

  core::MapPtr simulation_;
  Eigen::VectorXd model_, values_;
};

/// Finds meshes whose responses pass, by solving on finer and finer ones.
class Checker {
 public:
  Checker(MPI_Comm comm, const mesh::Model& model, const Survey& survey, const MeshDesignOptions& options,
          const ResponseCheck& check)
      : comm_(comm),
        model_(model),
        survey_(survey),
        options_(options),
        check_(check),
        on_contact_(on_contacts(model, survey.stations)) {
    out_.layout = needed_responses(survey);
    out_.meshes = design_meshes(model, survey, options);
    out_.bands.resize(out_.meshes.bands.size());
    out_.check = check;
  }

  [[nodiscard]] CheckedResponses run() && {
    solve_by_rules();
    for (int round = 0; round < most_refinements; ++round) {
      if (!refine_once()) break;
    }
    for (std::size_t b = 0; b < bands_.size(); ++b) out_.bands[b].error = bands_[b].error[worst_station(b)];
    name_places();
    for (std::size_t i = 0; i < on_contact_.size(); ++i) {
      if (on_contact_[i]) out_.left_out.push_back(survey_.stations[i].name);
    }
    out_.runs = work_ / work_of(out_.meshes, survey_);
    return std::move(out_);
  }

 private:
  /// Estimates the errors on the meshes of the rules from a coarser set.
  void solve_by_rules() {
    MeshSet coarse = out_.meshes;
    for (BandMesh& band : coarse.bands)
      band = designed(band.frequencies, std::vector(survey_.stations.size(), coarser * band.coarsened),
                      unlimited_nodes);
    std::vector<int> all(survey_.frequencies_hz.size());
    std::iota(all.begin(), all.end(), 0);
    const Eigen::VectorXd before = values_on(coarse, all);
    out_.values = values_on(out_.meshes, all);
    for (const BandMesh& band : out_.meshes.bands) {
      const std::size_t n = survey_.stations.size();
      bands_.push_back({std::vector(n, band.coarsened), std::vector<ResponseError>(n)});
      estimate(bands_.size() - 1, before, std::vector(n, coarser));
      out_.bands[bands_.size() - 1].of_rules = bands_.back().error[worst_station(bands_.size() - 1)];
    }
  }

  /// Solves on finer meshes what did not pass; returns false where nothing is left to do.
  bool refine_once() {
    std::vector<int> frequencies;
    std::vector<std::pair<std::size_t, std::vector<double>>> finer;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      if (worst_of(b) <= margin || out_.bands[b].stopped_by_nodes) continue;
      BandMesh& band = out_.meshes.bands[b];
      const std::vector<double> wanted = sizes_after(bands_[b]);
      BandMesh next = designed(band.frequencies, wanted, check_.max_nodes);
      const double relaxed = next.coarsened / std::ranges::min(wanted);
      if (relaxed > 1.0) out_.bands[b].stopped_by_nodes = true;
      if (next.coarsened > largest_step * std::ranges::min(bands_[b].size)) continue;  // no finer than before
      std::vector<double> sizes = wanted;
      for (double& size : sizes) size *= relaxed;
      frequencies.insert(frequencies.end(), band.frequencies.begin(), band.frequencies.end());
      finer.emplace_back(b, std::move(sizes));
      band = std::move(next);
      ++out_.bands[b].refinements;
    }
    if (finer.empty()) return false;
    std::ranges::sort(frequencies);
    const Eigen::VectorXd before = out_.values;
    out_.values = values_on(out_.meshes, frequencies);
    for (auto& [b, sizes] : finer) {
      std::vector<double> ratios = bands_[b].size;
      for (std::size_t i = 0; i < sizes.size(); ++i) ratios[i] /= sizes[i];
      bands_[b].size = std::move(sizes);
      estimate(b, before, ratios);
      if (worst_of(b) <= margin) out_.bands[b].stopped_by_nodes = false;
    }
    return true;
  }

  [[nodiscard]] double ratio(const ResponseError& error) const {
    return in_tolerances(error, check_.tolerance);
  }
  [[nodiscard]] std::size_t worst_station(std::size_t b) const {
    const auto worst = std::ranges::max_element(bands_[b].error, {},
                                                [&](const ResponseError& error) { return ratio(error); });
    return static_cast<std::size_t>(worst - bands_[b].error.begin());
  }
  [[nodiscard]] double worst_of(std::size_t b) const { return ratio(bands_[b].error[worst_station(b)]); }

  /// Returns the sizes of cells that bring every station below the tolerance, if errors fall as assumed.
  [[nodiscard]] std::vector<double> sizes_after(const Band& band) const {
    std::vector<double> sizes = band.size;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (const double error = ratio(band.error[i]); error > margin)
        sizes[i] *= std::clamp(std::pow(aimed_at / error, 1.0 / order), smallest_step, largest_step);
    }
    return sizes;
  }

  [[nodiscard]] BandMesh designed(std::vector<int> frequencies, const std::vector<double>& sizes,
                                  int max_nodes) const {
    MeshDesignOptions options = options_;
    options.max_nodes = max_nodes;
    return design_band(model_, survey_, std::move(frequencies), options, sizes);
  }

  /// Returns the responses with those of some frequencies solved on the given meshes.
  [[nodiscard]] Eigen::VectorXd values_on(const MeshSet& meshes, const std::vector<int>& frequencies) {
    const Survey part = survey_at(survey_, frequencies);
    const MeshSet some = meshes_at(meshes, frequencies);
    work_ += work_of(some, part);
    const ThreadsWithin memory(check_.bytes, largest_factor_bytes(some));
    const auto simulation = simulation_of(comm_, model_.earth, part, some);
    const Eigen::VectorXd values = simulation->value(mesh::resistivity_ohm_m(model_));
    Eigen::VectorXd all = out_.values.size() > 0 ? out_.values : Eigen::VectorXd::Zero(out_.layout.size());
    const auto& keys = simulation->layout().keys();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto& [element, frequency, station] = keys[k];
      const Eigen::Index at =
          out_.layout.find({element, frequencies[static_cast<std::size_t>(frequency)], station});
      all.segment<2>(2 * at) = values.segment<2>(2 * static_cast<Eigen::Index>(k));
    }
    return all;
  }

  /// Estimates the errors of one band from the values before. `ratios`: of the cells before to those now, by
  /// station; an estimate stays where the cells are the same.
  void estimate(std::size_t b, const Eigen::VectorXd& before, const std::vector<double>& ratios) {
    const std::vector<int>& frequencies = out_.meshes.bands[b].frequencies;
    std::vector<ResponseError> errors(ratios.size());
    const auto& keys = out_.layout.keys();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto& [element, frequency, station] = keys[k];
      if (on_contact_[static_cast<std::size_t>(station)] ||
          std::ranges::find(frequencies, frequency) == frequencies.end())
        continue;
      ResponseError& error = errors[static_cast<std::size_t>(station)];
      const ResponseError one = difference(k, before);
      error = {std::max(error.rho_a_percent, one.rho_a_percent), std::max(error.phase_deg, one.phase_deg)};
    }
    for (std::size_t i = 0; i < errors.size(); ++i) {
      if (ratios[i] * largest_step < 1.0) continue;
      const double share = share_of_difference(ratios[i]);
      bands_[b].error[i] = {share * errors[i].rho_a_percent, share * errors[i].phase_deg};
    }
  }

  [[nodiscard]] ResponseError difference(std::size_t key, const Eigen::VectorXd& before) const {
    const auto at = [&](const Eigen::VectorXd& values) {
      const auto row = 2 * static_cast<Eigen::Index>(key);
      return Complex(values[row], values[row + 1]);
    };
    return difference_of(out_.layout.keys()[key].element, at(out_.values), at(before));
  }

  /// Names the worst station of each band.
  void name_places() {
    const auto period = [&](int frequency) {
      return 1.0 / survey_.frequencies_hz[static_cast<std::size_t>(frequency)];
    };
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      const std::vector<int>& frequencies = out_.meshes.bands[b].frequencies;
      const double first = period(frequencies.front()), last = period(frequencies.back());
      out_.bands[b].where = fmt::format("{} {:.4g}{} s", survey_.stations[worst_station(b)].name, first,
                                        last > first ? fmt::format(" to {:.4g}", last) : "");
    }
  }

  MPI_Comm comm_;
  const mesh::Model& model_;
  const Survey& survey_;
  const MeshDesignOptions& options_;
  const ResponseCheck& check_;
  CheckedResponses out_;
  std::vector<bool> on_contact_;
  std::vector<Band> bands_;
  double work_ = 0.0;
};

}  // namespace

CertificateRow CheckedResponses::row() const {
  const CheckedBand& worst = *std::ranges::max_element(
      bands, {}, [&](const CheckedBand& band) { return in_tolerances(band.error, check.tolerance); });
  return {.check = "estimate from cells 1.5 times as large",
          .worst = worst.error,
          .where = worst.where,
          .passed = in_tolerances(worst.error, check.tolerance) <= 1.0,
          .tolerance = check.tolerance};
}

std::string CheckedResponses::limit_in_words() const {
  const auto n = std::ranges::count_if(bands, &CheckedBand::stopped_by_nodes);
  if (n == 0) return {};
  return fmt::format("{} of {} meshes need more than the {} nodes that they may have.", n, bands.size(),
                     check.max_nodes);
}

std::string CheckedResponses::in_words() const {
  const CheckedBand& rules = *std::ranges::max_element(
      bands, {}, [&](const CheckedBand& band) { return in_tolerances(band.of_rules, check.tolerance); });
  const auto n_refined =
      std::ranges::count_if(bands, [](const CheckedBand& band) { return band.refinements > 0; });
  const auto words = [](const ResponseError& error) {
    return fmt::format("{:.2g} % and {:.2g} degrees", error.rho_a_percent, error.phase_deg);
  };
  std::string text = fmt::format("estimated errors of the final responses: {} on the meshes of the rules",
                                 words(rules.of_rules));
  if (n_refined > 0)
    text += fmt::format(", {} ({}) with {} of {} meshes refined", words(row().worst), row().where, n_refined,
                        bands.size());
  text += fmt::format("; tolerance {:g} % and {:g} degrees. {}", check.tolerance.rho_a_percent,
                      check.tolerance.phase_deg, limit_in_words());
  if (!left_out.empty())
    text += fmt::format(
        " Not judged, since they stand on the edge of two columns, where E of the TM mode jumps: {}.",
        fmt::join(left_out, ", "));
  return text;
}

core::MapPtr CheckedResponses::map(MPI_Comm comm, const mesh::Model& model, const Survey& survey) const {
  return std::make_shared<const KnownResponses>(simulation_of(comm, model.earth, survey, meshes),
                                                mesh::resistivity_ohm_m(model), values);
}

CheckedResponses checked_responses(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                   const MeshDesignOptions& options, const ResponseCheck& check) {
  return Checker(comm, model, survey, options, check).run();
}

}  // namespace lodestone::physics::mt::d2
