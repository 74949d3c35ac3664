// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d2/checked_responses.hpp"

#include "engine/core/mpi/communicator.hpp"
#include "engine/core/parallel.hpp"
#include "physics/mt/certificate_steps.hpp"
#include "physics/mt/d2/cost.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <utility>

namespace lodestone::physics::mt::d2 {
namespace {

using Complex = std::complex<double>;

constexpr double coarser = 1.5;   // cells of an estimate over those of the mesh
constexpr double order = 1.71;    // power of the cell size with which errors fall: 1.5 times doubles them
constexpr double margin = 0.8;    // of the tolerance: an estimate above it calls for smaller cells
constexpr double aimed_at = 0.6;  // of the tolerance, by these
constexpr double smallest_step = 0.5;  // of the size of cells in one refinement
constexpr double largest_step = 0.85;  // a refinement by less is not worth its work
constexpr int most_refinements = 4;    // of a mesh, each of which costs more than all before
constexpr int unlimited_nodes = 1'000'000'000;

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

/// Responses that are checked wherever they are evaluated.
class CheckedMap final : public core::DifferentiableMap {
 public:
  CheckedMap(MPI_Comm comm, mesh::Earth earth, Survey survey, const MeshDesignOptions& options,
             const ResponseCheck& check, std::function<void(const CheckedResponses&)> found)
      : comm_(comm),
        earth_(std::move(earth)),
        survey_(std::move(survey)),
        options_(options),
        check_(check),
        found_(std::move(found)),
        size_out_(needed_responses(survey_, Simulation::predicted_elements).size()) {}
  [[nodiscard]] Eigen::Index size_in() const override { return earth_.grid.n_cells(); }
  [[nodiscard]] Eigen::Index size_out() const override { return size_out_; }
  [[nodiscard]] std::string name() const override { return "mt::d2::checked_map"; }
  [[nodiscard]] int communicator_id() const override { return Simulation::id_of(comm_); }

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    CheckedResponses checked =
        checked_responses(comm_, mesh::resistivity_model(earth_, x), survey_, options_, check_);
    found_(checked);
    return std::move(checked.values);
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    MeshSet meshes = design_meshes(mesh::resistivity_model(earth_, x), survey_, options_);
    return simulation_of(comm_, earth_, survey_, std::move(meshes))->linearize(x);
  }

  MPI_Comm comm_;
  mesh::Earth earth_;
  Survey survey_;
  MeshDesignOptions options_;
  ResponseCheck check_;
  std::function<void(const CheckedResponses&)> found_;
  Eigen::Index size_out_;
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
    out_.layout = needed_responses(survey, Simulation::predicted_elements);
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
    out_.runs = work_ / work_of_rules_;
    return std::move(out_);
  }

 private:
  void solve_by_rules() {
    std::vector<std::size_t> all;
    for (const BandMesh& band : out_.meshes.bands) {
      all.push_back(bands_.size());
      const std::size_t n = survey_.stations.size();
      bands_.push_back({std::vector(n, band.coarsened), std::vector<ResponseError>(n)});
    }
    work_of_rules_ = work_of(out_.meshes, survey_);
    solve(all);
    for (const std::size_t b : all) out_.bands[b].of_rules = bands_[b].error[worst_station(b)];
  }

  /// Returns the bands that miss the tolerance, that with the largest error first.
  [[nodiscard]] std::vector<std::size_t> failed_bands() const {
    std::vector<std::size_t> failed;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      if (worst_of(b) > margin) failed.push_back(b);
    }
    std::ranges::stable_sort(failed, std::greater{}, [&](std::size_t b) { return worst_of(b); });
    return failed;
  }

  /// Returns the work of solving one band on a mesh and on larger cells.
  [[nodiscard]] double work_of_band(std::size_t b, const BandMesh& mesh) const {
    MeshSet meshes = out_.meshes;
    meshes.bands[b] = mesh;
    return least_check_runs *
           work_of(meshes_at(meshes, mesh.frequencies), survey_at(survey_, mesh.frequencies));
  }

  /// Solves on finer meshes what did not pass; returns false where nothing is left to do.
  bool refine_once() {
    std::vector<std::size_t> finer;
    double left = check_.max_runs * work_of_rules_ - work_;
    for (const std::size_t b : failed_bands()) {
      if (out_.bands[b].stopped_by_nodes) continue;
      std::vector<double> sizes = sizes_after(bands_[b]);
      BandMesh next = designed(out_.meshes.bands[b].frequencies, sizes, check_.max_nodes);
      const double relaxed = next.coarsened / std::ranges::min(sizes);
      const bool is_finer = next.coarsened <= largest_step * std::ranges::min(bands_[b].size);
      const double work = work_of_band(b, next);
      out_.bands[b].stopped_by_runs = is_finer && work > left;
      if (out_.bands[b].stopped_by_runs) continue;
      out_.bands[b].stopped_by_nodes = relaxed > 1.0;
      if (!is_finer) continue;
      left -= work;
      for (double& size : sizes) size *= relaxed;
      bands_[b].size = std::move(sizes);
      out_.meshes.bands[b] = std::move(next);
      ++out_.bands[b].refinements;
      finer.push_back(b);
    }
    if (finer.empty()) return false;
    std::ranges::sort(finer);
    solve(finer);
    for (const std::size_t b : finer) {
      if (worst_of(b) <= margin) out_.bands[b].stopped_by_nodes = false;
    }
    return true;
  }

  /// Solves some bands on their meshes and on larger cells, and estimates their errors.
  void solve(const std::vector<std::size_t>& which) {
    MeshSet coarse = out_.meshes;
    std::vector<int> frequencies;
    for (const std::size_t b : which) {
      std::vector<double> sizes = bands_[b].size;
      for (double& size : sizes) size *= coarser;
      const std::vector<int>& own = out_.meshes.bands[b].frequencies;
      coarse.bands[b] = designed(own, sizes, unlimited_nodes);
      frequencies.insert(frequencies.end(), own.begin(), own.end());
    }
    const Eigen::VectorXd of_coarse = values_on(coarse, frequencies);
    out_.values = values_on(out_.meshes, frequencies);
    for (const std::size_t b : which) estimate(b, of_coarse);
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

  /// Returns the responses with those of some frequencies, band by band, solved on the given meshes: as many
  /// at a time as occupy every thread of every rank, since large meshes take memory.
  [[nodiscard]] Eigen::VectorXd values_on(const MeshSet& meshes, const std::vector<int>& frequencies) {
    const auto batch = static_cast<std::size_t>(2 * core::threads() * core::size_of(comm_));
    Eigen::VectorXd all = out_.values.size() > 0 ? out_.values : Eigen::VectorXd::Zero(out_.layout.size());
    for (std::size_t first = 0; first < frequencies.size(); first += batch) {
      const std::size_t end = std::min(first + batch, frequencies.size());
      std::vector<int> some(frequencies.begin() + static_cast<std::ptrdiff_t>(first),
                            frequencies.begin() + static_cast<std::ptrdiff_t>(end));
      std::ranges::sort(some);
      solve_some(meshes, some, all);
    }
    return all;
  }

  /// Solves some frequencies and writes their responses into their rows of all.
  void solve_some(const MeshSet& meshes, const std::vector<int>& frequencies, Eigen::VectorXd& all) {
    const Survey part = survey_at(survey_, frequencies);
    const MeshSet some = meshes_at(meshes, frequencies);
    work_ += work_of(some, part);
    const ThreadsWithin memory(check_.bytes, largest_factor_bytes(some));
    const auto simulation = simulation_of(comm_, model_.earth, part, some);
    const Eigen::VectorXd values = simulation->value(mesh::resistivity_ohm_m(model_));
    const auto& keys = simulation->layout().keys();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto& [element, frequency, station] = keys[k];
      const Eigen::Index at =
          out_.layout.find({element, frequencies[static_cast<std::size_t>(frequency)], station});
      all.segment<2>(2 * at) = values.segment<2>(2 * static_cast<Eigen::Index>(k));
    }
  }

  /// Takes the difference from the values of larger cells as the error of each station.
  void estimate(std::size_t b, const Eigen::VectorXd& of_coarse) {
    const std::vector<int>& frequencies = out_.meshes.bands[b].frequencies;
    std::vector<ResponseError> errors(survey_.stations.size());
    const auto& keys = out_.layout.keys();
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto& [element, frequency, station] = keys[k];
      if (on_contact_[static_cast<std::size_t>(station)] ||
          std::ranges::find(frequencies, frequency) == frequencies.end())
        continue;
      ResponseError& error = errors[static_cast<std::size_t>(station)];
      const ResponseError one = difference(k, of_coarse);
      error = {std::max(error.rho_a_percent, one.rho_a_percent), std::max(error.phase_deg, one.phase_deg)};
    }
    bands_[b].error = std::move(errors);
  }

  [[nodiscard]] ResponseError difference(std::size_t key, const Eigen::VectorXd& of_coarse) const {
    const auto at = [&](const Eigen::VectorXd& values) {
      const auto row = 2 * static_cast<Eigen::Index>(key);
      return Complex(values[row], values[row + 1]);
    };
    return difference_of(out_.layout.keys()[key].element, at(out_.values), at(of_coarse));
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
  double work_ = 0.0, work_of_rules_ = 0.0;
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

std::string CheckedResponses::note_in_words() const {
  const auto fails = [&](const CheckedBand& band) {
    return in_tolerances(band.error, check.tolerance) > 1.0;
  };
  const auto n_failed = std::ranges::count_if(bands, fails);
  const auto n_by_nodes = std::ranges::count_if(
      bands, [&](const CheckedBand& band) { return fails(band) && band.stopped_by_nodes; });
  const auto n_by_runs = std::ranges::count_if(
      bands, [&](const CheckedBand& band) { return fails(band) && band.stopped_by_runs; });
  std::vector<std::string> sentences;
  if (n_by_nodes > 0)
    sentences.push_back(fmt::format("{} of {} meshes need more than the {} nodes that they may have.",
                                    n_by_nodes, bands.size(), check.max_nodes));
  if (n_by_runs > 0)
    sentences.push_back(
        fmt::format("{} of {} meshes need more work than the {:g} runs on the meshes of the rules that the "
                    "check may take.",
                    n_by_runs, bands.size(), check.max_runs));
  if (const auto others = n_failed - n_by_nodes - n_by_runs; others > 0)
    sentences.push_back(fmt::format("{} of {} meshes miss the tolerance after {} refinements.", others,
                                    bands.size(), most_refinements));
  if (!left_out.empty())
    sentences.push_back(fmt::format(
        "Not judged, since they stand on the edge of two columns, where E of the TM mode jumps: {}.",
        fmt::join(left_out, ", ")));
  return fmt::format("{}", fmt::join(sentences, " "));
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
  text += fmt::format("; tolerance {:g} % and {:g} degrees.", check.tolerance.rho_a_percent,
                      check.tolerance.phase_deg);
  if (const std::string note = note_in_words(); !note.empty()) text += " " + note;
  return text;
}

CheckedResponses checked_responses(MPI_Comm comm, const mesh::Model& model, const Survey& survey,
                                   const MeshDesignOptions& options, const ResponseCheck& check) {
  return Checker(comm, model, survey, options, check).run();
}

core::MapPtr checked_map(MPI_Comm comm, mesh::Earth earth, Survey survey, const MeshDesignOptions& options,
                         const ResponseCheck& check, std::function<void(const CheckedResponses&)> found) {
  return std::make_shared<const CheckedMap>(comm, std::move(earth), std::move(survey), options, check,
                                            std::move(found));
}

}  // namespace lodestone::physics::mt::d2
