// SPDX-License-Identifier: Apache-2.0
#include "inversion/mt/recipe.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/median.hpp"
#include "engine/core/mpi/communicator.hpp"
#include "inversion/mt/dimension.hpp"
#include "inversion/mt/start_models.hpp"
#include "inversion/mt/tables.hpp"
#include "physics/mt/sites.hpp"
#include "physics/mt/transform.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace lodestone::inversion::mt {
namespace {

namespace mesh = physics::mesh;
using physics::mt::Observations;

void check_sea(const ProblemOptions& options, const mesh::Surface& surface) {
  if (!options.sea) return;
  const double lowest_m = surface.lowest_m();
  if (options.sea->level_m >= lowest_m)
    throw core::ConfigError(
        "configuration#dry_sea",
        "{}: expected a sea with water in it, got level_m = {} and a surface that nowhere "
        "lies lower than z = {} m (z is down: a level above that is less); correct level_m, "
        "give the sea floor by profile.elevation = \"file\" or \"stations\", or remove [sea]",
        options.sea_place.empty() ? "sea" : options.sea_place, options.sea->level_m, lowest_m);
}

bool has_x(const mesh::Shape& shape) {
  if (const auto* outline = std::get_if<mesh::Polygon>(&shape)) return outline->plane() == mesh::Plane::plan;
  return std::get<mesh::Box>(shape).x_m != mesh::Interval{};
}

/// Refuses lines and regions that are drawn in plan where the earth is a section.
void check_planes(const ProblemOptions& options) {
  if (options.dimension == 3) return;
  const auto refuse = [](const std::string& place) {
    throw core::ConfigError("configuration#needs_volume",
                            "{}: expected places in the section, y and z, got x as well; invert a volume "
                            "(--dim 3) or remove x",
                            place);
  };
  if (options.areas)
    throw core::ConfigError("configuration#areas_need_volume",
                            "{}: expected --dim 3, whose cells the areas are of, got a section",
                            options.areas->place);
  for (const TearLine& each : options.tears) {
    if (each.tear.plane == mesh::Plane::plan) refuse(each.place);
  }
  for (const FixedRegion& each : options.fixed) {
    if (has_x(each.shape)) refuse(each.place);
  }
}

/// Puts the table of the distortion in front of those of the simulations.
auto with_distortion(decltype(Forward::tables) of_simulations, std::vector<physics::mt::Station> stations,
                     DistortionPrior prior) {
  return [of_simulations = std::move(of_simulations), stations = std::move(stations),
          prior = std::move(prior)](const Eigen::VectorXd& model, const Eigen::VectorXd& further) {
    log_distortion(prior, further);
    warn_of_large_distortion(stations, prior, further);
    std::vector<NamedTable> tables{distortion_table(stations, prior, further)};
    std::ranges::move(of_simulations(model, further), std::back_inserter(tables));
    return tables;
  };
}

/// Masks the data that the simulation does not predict, and logs the counts where there are some.
Observations predicted_data(const Observations& observed, physics::mt::Elements elements) {
  Observations out = physics::mt::without_unpredicted(observed, elements);
  const auto n = std::ranges::count(out.reason, physics::mt::MaskReason::not_predicted);
  if (n > 0)
    core::log::warning(
        core::log::Id("inversion::mt::problem#not_predicted"),
        "{} of {} data are made of elements that the simulation does not predict, and are masked\n{}", n,
        out.reason.size(), physics::mt::mask_table(out));
  return out;
}

/// Fills in what is the same for every way of inverting: texts, sites and frame.
template <class Target>
void describe(Target& target, const Observations& observed, mesh::Frame frame) {
  target.about.facts = facts_of(observed.floors, observed.profile);
  target.sites = site_table(observed.survey.stations, observed.profile);
  target.frame = std::move(frame);
}

/// Explains why all data fit worse than the soundings of them: these hold one curve of each station, and
/// layers have no others.
std::string misfit_in_words(const std::vector<SoundingModel>& models, const Observations& data,
                            const Eigen::VectorXd& residuals, physics::mt::SoundingMode mode) {
  using physics::mt::SoundingMode;
  const std::vector<physics::mt::Station>& stations = data.survey.stations;
  std::vector<RmsSum> sums(stations.size());
  for (std::size_t k = 0; k < data.survey.keys.size(); ++k)
    sums[static_cast<std::size_t>(data.survey.keys[k].station)].add(residuals[static_cast<Eigen::Index>(k)]);
  std::vector<double> of_soundings, of_stations;
  std::size_t worst = 0;
  for (const SoundingModel& model : models) {
    const auto station = static_cast<std::size_t>(model.station);
    of_soundings.push_back(model.rms);
    of_stations.push_back(sums[station].rms());
    if (of_stations.back() == *std::ranges::max_element(of_stations)) worst = station;
  }
  const std::string curve = mode == SoundingMode::average
                                ? "the mean of both modes"
                                : fmt::format("{} alone", mode == SoundingMode::te ? "TE" : "TM");
  return fmt::format(
      "; that counts both modes and tippers at each period, while a sounding fits {} (rms {:.2f} at the "
      "median, {:.2f} at most): by station the rms of all data is {:.2f} at the median and {:.2f} at the "
      "worst, {}",
      curve, core::median(of_soundings), *std::ranges::max_element(of_soundings), core::median(of_stations),
      sums[worst].rms(), stations[worst].name);
}

}  // namespace

Problem problem(MPI_Comm comm, const Observations& observed, const ProblemOptions& options) {
  check_planes(options);
  const Observations data = predicted_data(observed, predicted_elements(options));
  Place place = place_of(data, options);
  check_sea(options, place.ground.surface);
  const mesh::Earth earth{grid_of(data, options), place.ground.surface, options.sea};
  physics::mt::warn_of_sites_outside(
      data.survey.stations, earth.grid,
      "check the origin of the start model, and the units and the origin of the stations");
  physics::mt::warn_of_close_sites(
      data.survey.stations, earth.grid,
      "take more columns (grid.n_columns), or leave one of the two out if they disagree");
  StartModels models = start_models(options, data, earth);
  check_tears(options.tears, earth);
  std::vector<Eigen::Index> free_cells = hold_cells(options.fixed, options.areas, mesh::cells(earth), models);
  advise_on_shifts(options.distortion, data, options.dimension);
  const DistortionPrior distortion = distortion_of(options.distortion, data.kept().survey, options.dimension);
  Problem out(earth, data.data_set(), forward_of(comm, earth, data, distortion.unknowns, options));
  if (!distortion.unknowns.empty())
    out.forward.tables = with_distortion(std::move(out.forward.tables), data.survey.stations, distortion);
  out.start = std::move(models.start);
  out.reference = std::move(models.reference);
  out.free_cells = std::move(free_cells);
  out.further = {.n = distortion.unknowns.size(), .sigma = distortion.sigma};
  for (const TearLine& each : options.tears) out.roughness.tears.push_back(each.tear);
  if (options.areas) out.roughness.areas = options.areas->areas;
  describe(out, data, std::move(place.frame));
  return out;
}

Outcome stitch_soundings(MPI_Comm comm, const Observations& observed, const ProblemOptions& options,
                         About about) {
  // a layered earth also predicts tippers: they are zero
  const Observations data = predicted_data(observed, physics::mt::section_elements);
  const core::Provenance provenance = core::make_provenance(core::size_of(comm));
  Place place = place_on_profile(data, options);
  const mesh::Surface& surface = place.ground.surface;
  const mesh::TensorGrid grid = section_grid(data, options);
  const std::vector<SoundingModel> models = invert_soundings(options.soundings, data, grid);
  Outcome out{.about = std::move(about), .model = {{grid, surface}, {}, {}}, .data = data.data_set()};
  describe(out, data, std::move(place.frame));
  out.about.provenance = provenance;
  out.start = out.model.values = stitched(models, data.survey.stations, grid, surface);
  out.predicted = responses_of(models, data.survey, grid);
  RmsSum sum;
  const Eigen::VectorXd residuals = normalized_residuals(out.data, out.predicted);
  for (const double residual : residuals) sum.add(residual);
  out.ending.rms = sum.rms();
  out.ending.target_rms = options.soundings.stop.target_rms;
  const auto n_reached = std::ranges::count(models, true, &SoundingModel::at_target);
  const bool all_reached = n_reached == std::ssize(models);
  out.ending.reason = all_reached ? optimize::StopReason::target_reached : optimize::StopReason::stagnated;
  out.ending.message = fmt::format("1-D: {} of {} soundings are at their target", n_reached, models.size());
  out.tables.push_back(sounding_table(models, data.survey.stations));
  out.ending.code = all_reached ? core::ExitCode::ok : core::ExitCode::not_converged;
  out.ending.text =
      fmt::format("{}; rms {:.4f} of all data with the responses of the layered earths{}", out.ending.message,
                  out.ending.rms, misfit_in_words(models, data, residuals, options.soundings.mode));
  out.ending.place = all_reached ? core::Place("inversion::mt::soundings#all_at_target")
                                 : core::Place("inversion::mt::soundings#some_above_target");
  out.about.provenance.finished_utc = core::utc_now();
  return out;
}

}  // namespace lodestone::inversion::mt
