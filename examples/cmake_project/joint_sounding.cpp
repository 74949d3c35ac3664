// SPDX-License-Identifier: Apache-2.0
// What this shows: a physics written outside Lodestone is inverted alone and together with Lodestone's
// magnetotellurics; tables, checkpoints and CSV files come from the library, and a stopped run goes on from
// its checkpoint to the same bits.
//
// Equation: data = stack(DC, MT)(m), m = log10 resistivity of layers: a thin resistive top only DC sees,
// depths only MT reaches
//
// Sample run: joint_sounding [FOLDER]
#include "dc/simulation.hpp"
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "engine/core/random.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "inversion/prior/roughness.hpp"
#include "io/csv/table.hpp"
#include "io/hdf5/file.hpp"
#include "io/run/folder.hpp"
#include "physics/mt/d1/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace core = lodestone::core;
namespace inversion = lodestone::inversion;
namespace io = lodestone::io;
namespace mt = lodestone::physics::mt;

namespace {

constexpr int n_layers = 42;
constexpr double sigma_dc = 0.013,
                 sigma_mt = 0.02;   // decades (3 % of apparent resistivity); decades and radian
constexpr double shallow_m = 60.0;  // what lies above is judged on its own

// The earth that is sought: a thin resistive top, a conductor at depth
const std::vector<double> true_thickness_m{12.0, 200.0, 1800.0, 3000.0};
const Eigen::VectorXd true_log10 = (Eigen::VectorXd(5) << 3.3, 1.5, 2.3, 0.8, 2.5).finished();

struct Layers {
  lodestone::physics::mesh::TensorGrid column = lodestone::physics::mesh::TensorGrid::section(
      {0.0, 1000.0}, lodestone::physics::mesh::geometric_edges_m(1.5, 1.19, n_layers));

  [[nodiscard]] std::vector<double> thickness_m() const {
    std::vector<double> result;
    for (std::size_t i = 0; i + 1 < n_layers; ++i)
      result.push_back(column.z_edges_m()[i + 1] - column.z_edges_m()[i]);
    return result;
  }
  [[nodiscard]] double true_value(int layer) const {
    double bottom = 0.0;
    for (std::size_t i = 0; i < true_thickness_m.size(); ++i) {
      bottom += true_thickness_m[i];
      if (column.z_centre_m(layer) < bottom) return true_log10[static_cast<Eigen::Index>(i)];
    }
    return true_log10[true_log10.size() - 1];
  }
};

/// A forward map and the data that are compared with its outputs.
struct Measured {
  core::MapPtr forward;
  core::DataSet data;

  [[nodiscard]] inversion::objective::DataMisfit misfit() const {
    return inversion::objective::DataMisfit(data);
  }
};

Eigen::VectorXd noisy(Eigen::VectorXd data, double sigma, std::uint64_t seed) {
  const core::Philox noise(seed);
  for (Eigen::Index i = 0; i < data.size(); ++i)
    data[i] += sigma * noise.normal(static_cast<std::uint64_t>(i));
  return data;
}

Measured dc_data(const Layers& layers) {
  const auto survey = dc::schlumberger_survey(1.5, 500.0, 26);
  const Eigen::VectorXd observed =
      noisy(dc::Simulation(true_thickness_m, survey).value(true_log10), sigma_dc, 3);
  return {
      std::make_shared<dc::Simulation>(layers.thickness_m(), survey),
      core::DataSet({.observed = observed, .sigma = Eigen::VectorXd::Constant(observed.size(), sigma_dc)})};
}

Measured mt_data(const Layers& layers) {
  std::vector<double> frequencies_hz;
  for (int i = 0; i < 26; ++i) frequencies_hz.push_back(std::pow(10.0, 2.0 - 0.2 * i));
  const mt::Survey survey =
      mt::full_survey({{"site"}}, frequencies_hz, {mt::Datum::log10_rho_xy, mt::Datum::phase_xy});
  const Eigen::VectorXd observed =
      noisy(mt::d1::data_map(true_thickness_m, survey)->value(true_log10), sigma_mt, 5);
  Eigen::VectorXd turn = Eigen::VectorXd::Zero(observed.size());  // phases are the second half
  turn.tail(observed.size() / 2).setConstant(mt::rule_of(mt::Datum::phase_xy).turn);
  return {mt::d1::data_map(layers.thickness_m(), survey),
          core::DataSet({.observed = observed,
                         .sigma = Eigen::VectorXd::Constant(observed.size(), sigma_mt),
                         .turn = std::move(turn)})};
}

/// Returns both data sets of the same unknowns.
Measured joined(const Measured& first, const Measured& second) {
  const auto below = [&](const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
    return (Eigen::VectorXd(a.size() + b.size()) << a, b).finished();
  };
  const core::DataSet &a = first.data, &b = second.data;
  return {core::stack({first.forward, second.forward}),
          core::DataSet({.observed = below(a.observed(), b.observed()),
                         .sigma = below(a.sigma(), b.sigma()),
                         .turn = below(a.turn(), b.turn())})};
}

class Inversions {
 public:
  Inversions(MPI_Comm comm, std::filesystem::path folder) : comm_(comm), folder_(std::move(folder)) {
    core::on_rank_zero(comm_, [&] { core::make_folder(folder_); });
  }

  inversion::optimize::InversionSummary invert(const std::string& name, const Measured& data,
                                               int stop_after = 1000) {
    core::log::info("\n{}: {} data", name, data.data.size());
    auto summary = optimizer().minimize(objective(data), start(), hooks(name, stop_after));
    core::log::info("{}", summary.brief());
    return summary;
  }

  /// Goes on from the checkpoint of a stopped run.
  inversion::optimize::InversionSummary resume(const std::string& name, const Measured& data) {
    const io::hdf5::Hdf5Source source(checkpoint_of(name));
    return optimizer().resume(objective(data), inversion::optimize::read_state(source), hooks(name, 1000));
  }

  void write_model(const std::string& name, const Layers& layers, const Eigen::VectorXd& model) const {
    core::Table rows;
    rows.add_numbers("z_top_m", "m").add_numbers("z_bottom_m", "m").add_numbers("resistivity_ohm_m", "ohm m");
    for (std::size_t i = 0; i < n_layers; ++i)
      rows.append_row({layers.column.z_edges_m()[i], layers.column.z_edges_m()[i + 1],
                       std::pow(10.0, model[static_cast<Eigen::Index>(i)])});
    core::on_rank_zero(comm_, [&] { io::csv::write_table(folder_ / (name + "_model.csv"), rows); });
  }

 private:
  [[nodiscard]] static Eigen::VectorXd start() { return Eigen::VectorXd::Constant(n_layers, 2.0); }
  [[nodiscard]] std::string checkpoint_of(const std::string& name) const {
    return folder_ / (name + "_checkpoint.h5");
  }

  [[nodiscard]] static inversion::optimize::Objective objective(const Measured& data) {
    const auto roughness = inversion::prior::roughness_operator(
        Layers().column, {.depth_weight_exponent = 1.0, .depth_weight_z0_m = 1.5});
    return {data.forward, data.misfit(),
            std::make_shared<const inversion::objective::Regularization>(roughness, start())};
  }

  [[nodiscard]] inversion::optimize::GaussNewton optimizer() const {
    return inversion::optimize::GaussNewton(comm_, {.stop = {.max_iterations = 30}});
  }
  [[nodiscard]] inversion::optimize::Hooks hooks(const std::string& name, int stop_after) const {
    inversion::optimize::Hooks result;
    result.directives.push_back(std::make_shared<inversion::optimize::IterationTable>());
    result.directives.push_back(
        std::make_shared<inversion::optimize::IterationsCsv>(comm_, folder_ / (name + "_iterations.csv")));
    result.directives.push_back(std::make_shared<inversion::optimize::CheckpointDirective>(
        [this, path = checkpoint_of(name)](const auto& state) {
          core::on_rank_zero(comm_, [&] {
            io::hdf5::Hdf5Sink sink(path);
            inversion::optimize::write_state(sink, state);
            sink.commit();
          });
        }));
    result.stop = [stop_after, n_asked = 0]() mutable {
      return n_asked++ < stop_after ? std::nullopt
                                    : std::optional(inversion::optimize::StopReason::interrupted);
    };
    return result;
  }

  MPI_Comm comm_;
  std::filesystem::path folder_;
};

/// Returns the mean absolute deviation from the true log10 resistivity over the layers between two depths.
double deviation(const Layers& layers, const Eigen::VectorXd& model, double from_m, double to_m) {
  double sum = 0.0;
  int n = 0;
  for (int i = 0; i < n_layers; ++i) {
    if (layers.column.z_centre_m(i) < from_m || layers.column.z_centre_m(i) >= to_m) continue;
    sum += std::abs(model[i] - layers.true_value(i));
    ++n;
  }
  return sum / n;
}

struct Found {
  double rms, shallow, deep, whole;
};

Found judge(const std::string& name, const Layers& layers,
            const inversion::optimize::InversionSummary& summary) {
  constexpr double bottom_m = 8e3;
  const Found found{summary.rms, deviation(layers, summary.model, 0.0, shallow_m),
                    deviation(layers, summary.model, shallow_m, bottom_m),
                    deviation(layers, summary.model, 0.0, bottom_m)};
  core::log::info("{:<6} {:>8.3f} {:>10.3f} {:>10.3f} {:>10.3f}", name, found.rms, found.shallow, found.deep,
                  found.whole);
  return found;
}

int run(MPI_Comm comm, const std::filesystem::path& folder) {
  const Layers layers;
  const Measured dc = dc_data(layers), mt = mt_data(layers), both = joined(dc, mt);

  // 1. Alone and together
  Inversions inversions(comm, folder);
  const auto of_dc = inversions.invert("dc", dc), of_mt = inversions.invert("mt", mt),
             of_both = inversions.invert("joint", both);
  inversions.write_model("dc", layers, of_dc.model);
  inversions.write_model("mt", layers, of_mt.model);
  inversions.write_model("joint", layers, of_both.model);

  // 2. A run stopped after two iterations goes on from its checkpoint
  (void)inversions.invert("stopped", both, 2);
  const auto resumed = inversions.resume("stopped", both);
  const bool same = resumed.model == of_both.model;
  core::log::info("\nstopped after two iterations and resumed: the model is {}",
                  same ? "the same, bit by bit" : "ANOTHER");

  // 3. Who sees what
  core::log::info("\n{:<6} {:>8} {:>10} {:>10} {:>10}   mean deviation from the true log10 resistivity", "",
                  "rms", "0-60 m", "60 m-8 km", "all");
  const Found a = judge("dc", layers, of_dc), b = judge("mt", layers, of_mt),
              c = judge("joint", layers, of_both);
  core::log::info("\njoint model: rms {:.3f} of DC, {:.3f} of MT",
                  dc.misfit().rms(dc.forward->value(of_both.model)),
                  mt.misfit().rms(mt.forward->value(of_both.model)));
  const bool fits = std::max({a.rms, b.rms, c.rms}) <= 1.0 + 1e-9;
  const bool sees =
      c.shallow < 0.5 * b.shallow && c.deep < 0.75 * a.deep && c.whole < 0.75 * std::min(a.whole, b.whole);
  return static_cast<int>(fits && sees && same ? core::ExitCode::ok : core::ExitCode::not_converged);
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  core::log::set_silent(mpi.rank() != 0);
  return session.run([&] { return run(mpi.world(), argc > 1 ? argv[1] : "out"); });
}
