// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/commands/commands.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "io/info/info.hpp"
#include "io/model/read.hpp"
#include "io/modem/modem.hpp"
#include "io/survey/responses.hpp"
#include "io/survey/sites.hpp"
#include "io/text/text_file.hpp"
#include "physics/mt/d2/certificate.hpp"
#include "physics/mt/d2/simulation.hpp"
#include "physics/mt/responses.hpp"
#include "physics/mt/units.hpp"

#include <cmath>
#include <map>
#include <tuple>

namespace lodestone::mt_invert::commands {
namespace {

namespace mt = physics::mt;

/// Responses by mode, frequency and station.
class ResponseTable {
 public:
  ResponseTable(const mt::Survey& survey, const Eigen::VectorXd& predicted) {
    for (std::size_t i = 0; i < survey.keys.size(); ++i) {
      const auto& key = survey.keys[i];
      values_[{key.quantity, key.frequency, key.station}] = predicted[static_cast<Eigen::Index>(i)];
    }
  }
  [[nodiscard]] mt::Complex impedance(mt::Mode mode, int frequency, int station) const {
    const bool te = mode == mt::Mode::te;
    return {values_.at({te ? mt::Datum::zxy_re : mt::Datum::zyx_re, frequency, station}),
            values_.at({te ? mt::Datum::zxy_im : mt::Datum::zyx_im, frequency, station})};
  }
  [[nodiscard]] double operator()(const mt::DatumKey& key, double frequency_hz) const {
    const mt::DatumRule& rule = mt::rule_of(key.quantity);
    if (rule.floor != mt::FloorKind::log10_rho && rule.floor != mt::FloorKind::phase)
      return values_.at({key.quantity, key.frequency, key.station});
    return mt::value_of(rule, impedance(mt::mode_of(key.quantity), key.frequency, key.station),
                        mt::omega(frequency_hz));
  }

 private:
  std::map<std::tuple<mt::Datum, int, int>, double> values_;
};

/// Returns the error that is written where there was no data file to take them from.
double default_sigma(const mt::DatumKey& key, const ResponseTable& table) {
  constexpr double relative = 0.05;  // of |Z|
  constexpr mt::ErrorFloors errors{.impedance_relative = relative,
                                   .log10_rho = 2.0 * relative / mt::ln10,
                                   .phase_deg = relative * mt::deg_per_rad,
                                   .tipper_absolute = 0.02};
  const mt::DatumRule& rule = mt::rule_of(key.quantity);
  const bool is_impedance = rule.floor == mt::FloorKind::impedance;
  return floor_of(
      rule, errors,
      is_impedance ? std::abs(table.impedance(mt::mode_of(key.quantity), key.frequency, key.station)) : 0.0);
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

/// Returns predictions in place of a ModEM file's data, errors kept, also where they are placeholders; for
/// CSV sites full impedances with errors of 5 %.
mt::Observations as_observed(const io::survey::ForwardSites& sites, const Eigen::VectorXd& predicted) {
  const ResponseTable table(sites.survey, predicted);
  mt::Observations data;
  if (sites.modem) {
    data = *sites.modem;
  } else {
    data.survey = sites.survey;
    const auto n = sites.survey.keys.size();
    data.reason.assign(n, mt::MaskReason::kept);
    data.interpolated.assign(n, 0);
    data.value.resize(static_cast<Eigen::Index>(n));
    data.sigma.resize(static_cast<Eigen::Index>(n));
  }
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const auto& key = data.survey.keys[i];
    const auto at = static_cast<Eigen::Index>(i);
    data.value[at] = table(key, data.survey.frequencies_hz[static_cast<std::size_t>(key.frequency)]);
    if (data.reason[i] != mt::MaskReason::missing)
      data.reason[i] = mt::MaskReason::kept;  // placeholder errors ask for a prediction all the same
    if (!sites.modem || !std::isfinite(data.sigma[at])) data.sigma[at] = default_sigma(key, table);
  }
  return data;
}

/// Writes CSV, HDF5 or ModEM data by the ending of the name; CSV on standard output without a name. Call on
/// one rank.
void write_output(const cli::ForwardArguments& arguments, const io::survey::ForwardSites& sites,
                  const Eigen::VectorXd& predicted) {
  const std::string& path = arguments.output_path;
  if (path.ends_with(".dat")) {
    io::modem::write_data(path, as_observed(sites, predicted), conventions_of(sites));
  } else {
    const auto responses = mt::responses_from(sites.survey, predicted, sites.z_m);
    if (path.ends_with(".h5")) {
      io::survey::write_responses_hdf5(path, responses);
    } else if (!path.empty()) {
      io::survey::write_responses_csv(path, responses);
    } else {
      core::log::print_out(io::survey::responses_csv_text(responses));
    }
  }
  if (!path.empty()) core::log::info("wrote {}", path);
}

/// Prints mesh sizes and the certificate of the meshes; warns when it fails. collective.
void print_mesh_report(MPI_Comm comm, const physics::mesh::Model& section, const mt::Survey& survey,
                       const mt::d2::MeshSet& meshes, mt::d2::Accuracy accuracy) {
  core::on_rank_zero(comm, [&] { core::log::print_out(meshes.summary() + "\n"); });
  const auto certificate = mt::d2::certify(comm, section, survey, mt::d2::design_options(accuracy),
                                           mt::d2::tolerance_of(accuracy));
  core::on_rank_zero(comm, [&] { core::log::print_out(certificate.table() + "\n"); });
  if (!certificate.passed)
    core::log::warning(
        core::log::Id("mt_invert#certificate_failed"),
        "the certificate fails: the responses of these meshes may miss the tolerance where it says so");
}

}  // namespace

int run_forward(MPI_Comm comm, const cli::ForwardArguments& arguments) {
  const bool prints_csv = arguments.output_path.empty() && !arguments.mesh_report;
  if (prints_csv)
    core::log::configure({.level = core::log::Level::warning});  // nothing but CSV on standard output
  if (!arguments.output_path.empty())
    core::on_rank_zero(comm, [&] {
      check_output_path(arguments.output_path, std::vector{arguments.model_path, arguments.sites_path});
    });

  // 1. The earth, and where and when its response is wanted
  const auto section = io::model::read_model(arguments.model_path);
  if (section.earth.grid.dimension() != 2)
    throw core::ConfigError("mt_invert#model_not_a_section",
                            "{}: expected a section, with the axes y and z, got {} axes; give a model in 2-D",
                            arguments.model_path, section.earth.grid.dimension());
  auto sites = io::survey::read_forward_sites(arguments.sites_path, arguments.periods_s, section,
                                              arguments.off_surface);
  if (arguments.definition) {
    for (auto& station : sites.survey.stations) station.definition = *arguments.definition;
  }

  // 2. Meshes that resolve both
  const auto meshes =
      mt::d2::design_meshes(section, sites.survey, mt::d2::design_options(arguments.accuracy));
  if (arguments.mesh_report) print_mesh_report(comm, section, sites.survey, meshes, arguments.accuracy);

  // 3. Responses
  if (prints_csv || !arguments.output_path.empty()) {
    const auto simulation = physics::mt::d2::data_map(comm, section.earth, sites.survey, meshes);
    const Eigen::VectorXd predicted = simulation->value(resistivity_ohm_m(section));
    core::on_rank_zero(comm, [&] { write_output(arguments, sites, predicted); });
  }
  return 0;
}

}  // namespace lodestone::mt_invert::commands
