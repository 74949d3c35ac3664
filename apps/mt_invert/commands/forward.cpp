// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/info/info.hpp"
#include "io/model/read.hpp"
#include "io/modem/modem.hpp"
#include "io/survey/kinds.hpp"
#include "io/survey/responses.hpp"
#include "io/survey/sites.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/checked_responses.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/d3/certificate.hpp"
#include "physics/mt/d3/simulation.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/sites.hpp"
#include "physics/mt/transform.hpp"

#include <fmt/format.h>

#include <utility>

namespace lodestone::mt_invert::commands {
namespace {

namespace mt = physics::mt;

/// Warns of sites outside the cells of a model file. Models of TOML files have no end.
void warn_of_sites_outside(const std::string& model_path, const physics::mesh::Model& model,
                           const mt::Survey& survey) {
  if (io::survey::kind_of_file(model_path) == io::survey::FileKind::toml) return;
  mt::warn_of_sites_outside(survey.stations, model.earth.grid,
                            "check the origin of the model, and the units of the sites (m)");
}

/// Returns sign and units as in the file the sites came from.
io::modem::ModemDataOptions conventions_of(const io::survey::ForwardSites& sites) {
  io::modem::ModemDataOptions options;
  options.comment = "responses computed by mt_invert";
  if (!sites.modem) return options;
  const io::info::FileInfo info = io::info::describe_file(sites.path);
  if (info.sites.empty()) return options;
  const io::info::SiteInfo& site = info.sites.front();
  if (site.sign == "-") options.sign = io::modem::ModemSign::minus;
  if (site.units == "ohm") options.units = io::modem::ModemUnits::ohm;
  if (site.units == "V/m/T") options.units = io::modem::ModemUnits::volt_per_metre_per_tesla;
  return options;
}

/// Writes CSV or HDF5; CSV on standard output without a name.
void write_responses(const std::string& path, const io::survey::ForwardSites& sites,
                     const Eigen::VectorXd& predicted, bool is_volume) {
  namespace survey = io::survey;
  if (path.ends_with(".h5")) {
    is_volume ? survey::write_full_responses_hdf5(path, sites.survey, predicted, sites.z_m)
              : survey::write_responses_hdf5(path, mt::responses_from(sites.survey, predicted, sites.z_m));
    return;
  }
  const std::string text =
      is_volume ? survey::full_responses_csv_text(sites.survey, predicted)
                : survey::responses_csv_text(mt::responses_from(sites.survey, predicted, sites.z_m));
  path.empty() ? core::log::print_out(text) : io::text::write_bytes_atomically(path, text);
}

/// Writes CSV, HDF5 or ModEM data by the ending of the name. Call on one rank.
void write_output(const std::string& path, const io::survey::ForwardSites& sites,
                  const Eigen::VectorXd& predicted, bool is_volume) {
  if (path.ends_with(".dat")) {
    io::modem::ModemDataOptions options = conventions_of(sites);
    options.dimension = is_volume ? 3 : 2;
    io::modem::write_data(
        path, mt::as_observed(sites.survey, predicted, sites.modem ? &*sites.modem : nullptr), options);
  } else {
    write_responses(path, sites, predicted, is_volume);
  }
  if (!path.empty()) core::log::info("wrote {}", path);
}

/// Prints meshes and their certificate; warns when it fails. collective.
void report_meshes(MPI_Comm comm, const std::string& summary, const mt::Certificate& certificate) {
  core::on_rank_zero(comm, [&] { core::log::print_out(summary + "\n" + certificate.table() + "\n"); });
  if (!certificate.passed)
    core::log::warning(core::log::Id("mt_invert#certificate_failed"),
                       "the certificate fails: the responses of these meshes may miss the tolerance where it "
                       "says so; take a finer --accuracy");
}

/// Returns the map from resistivities to the responses of a section or a volume, on meshes that resolve both.
/// Reports on these where that is asked for. collective.
template <class Design>
core::MapPtr map_of(MPI_Comm comm, const physics::mesh::Model& model, const mt::Survey& survey,
                    const Design& design, const mt::ResponseError& tolerance, bool mesh_report) {
  auto meshes = design_meshes(model, survey, design);
  if (mesh_report) report_meshes(comm, meshes.summary(), certify(comm, model, survey, design, tolerance));
  return data_map(comm, model.earth, survey, std::move(meshes));
}

/// Likewise of a section whose responses are checked when they are computed; refines their meshes to so many
/// nodes.
core::MapPtr refined_map_of(MPI_Comm comm, const physics::mesh::Model& model, const mt::Survey& survey,
                            const cli::ForwardArguments& arguments) {
  const auto report = [comm, &model, &survey, &arguments](const mt::d2::CheckedResponses& checked) {
    const std::string found = fmt::format("{} This took the work of {:.1f} runs on the meshes of the rules.",
                                          checked.in_words(), checked.runs);
    core::log::info("{}", found);
    if (arguments.mesh_report)
      report_meshes(comm, checked.meshes.summary() + found + "\n",
                    certify_meshes(comm, model, survey, checked.meshes, checked.check.tolerance));
  };
  mt::d2::ResponseCheck check{.tolerance = mt::d2::tolerance_of(arguments.accuracy),
                              .max_nodes = arguments.refined_nodes};
  if (arguments.check_runs > 0.0) check.max_runs = arguments.check_runs;
  core::MapPtr responses =
      checked_map(comm, model.earth, survey, mt::d2::design_options(arguments.accuracy), check, report);
  return mt::data_map(std::move(responses), mt::needed_responses(survey), survey);
}

core::MapPtr map_of(MPI_Comm comm, const physics::mesh::Model& model, const mt::Survey& survey,
                    const cli::ForwardArguments& arguments) {
  const mt::Accuracy accuracy = arguments.accuracy;
  const bool is_volume = model.earth.grid.dimension() == 3;
  if (is_volume && arguments.refined_nodes > 0)
    throw core::ConfigError(
        "mt_invert#refine_volume",
        "--refine expects a section, got a volume, {}; leave it out, or take --accuracy fine",
        arguments.model_path);
  if (is_volume)
    return map_of(comm, model, survey, mt::d3::design_options(accuracy), mt::d3::tolerance_of(accuracy),
                  arguments.mesh_report);
  if (arguments.refined_nodes > 0) return refined_map_of(comm, model, survey, arguments);
  return map_of(comm, model, survey, mt::d2::design_options(accuracy), mt::d2::tolerance_of(accuracy),
                arguments.mesh_report);
}

}  // namespace

int run_forward(MPI_Comm comm, const cli::ForwardArguments& arguments, const cli::CommandLine& line) {
  const bool prints_csv = arguments.output_path.empty() && !arguments.mesh_report;
  if (prints_csv)  // nothing but CSV on standard output
    core::log::configure({.level = core::log::Level::warning, .format = line.log_format()});
  if (!arguments.output_path.empty())
    core::on_rank_zero(comm, [&] {
      check_output_path(arguments.output_path, std::vector{arguments.model_path, arguments.sites_path});
    });

  // 1. The earth, and where and when its response is wanted
  const auto model = io::model::read_model(arguments.model_path);
  const int dimension = model.earth.grid.dimension();
  if (dimension < 2)
    throw core::ConfigError(
        "mt_invert#model_of_layers",
        "{}: expected a section or a volume, got layers alone; give a model in 2-D or 3-D",
        arguments.model_path);
  auto sites =
      io::survey::read_forward_sites(arguments.sites_path, arguments.periods_s, model, arguments.off_surface);
  warn_of_sites_outside(arguments.model_path, model, sites.survey);
  if (arguments.definition) {
    for (auto& station : sites.survey.stations) station.definition = *arguments.definition;
  }

  // 2. Meshes that resolve both
  const core::MapPtr map = map_of(comm, model, sites.survey, arguments);

  // 3. Responses
  const bool writes = prints_csv || !arguments.output_path.empty();
  if (writes || arguments.refined_nodes > 0) {
    const Eigen::VectorXd predicted = map->value(resistivity_ohm_m(model));
    if (writes)
      core::on_rank_zero(comm,
                         [&] { write_output(arguments.output_path, sites, predicted, dimension == 3); });
  }
  return 0;
}

}  // namespace lodestone::mt_invert::commands
