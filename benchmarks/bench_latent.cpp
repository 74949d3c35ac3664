// SPDX-License-Identifier: Apache-2.0
// One Gauss–Newton step in the codes of a decoder, through a 2-D simulation: 40 columns × 32 cells of the
// long profile (mesh of the KIM–ETO line) are set by 40 × 16 codes. Without a dense matrix (conjugate
// gradients on products with J and Jᵀ) and with one. Sample run: bench_latent
#include "benchmarks/long_profile.hpp"
#include "benchmarks/mt_vae.hpp"
#include "benchmarks/results.hpp"
#include "engine/core/mpi/mpi_scope.hpp"
#include "engine/ops/linalg.hpp"
#include "engine/ops/ops.hpp"
#include "engine/transform/external.hpp"
#include "engine/transform/transforms.hpp"
#include "physics/linalg/petsc_scope.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/d2/simulation.hpp"

#include <chrono>
#include <cmath>

using namespace lodestone;
using namespace lodestone::engine;
namespace mt = physics::mt;

namespace {

constexpr Dim columns = 40, first_column = 30, cells = 32, codes = 16;
constexpr double sigma = 0.02, damping = 1.0;  // of log10 ρₐ and of phases in rad; of the codes

Tensor dot(const Tensor& a, const Tensor& b) { return sum(a * b); }

/// The data as a function of the codes, and what a step needs.
class Problem {
 public:
  Problem(core::MapPtr simulation, const physics::mesh::Model& section, InitialValues initial)
      : simulation_(std::move(simulation)),
        decoder_({}, initial),
        n_z_(section.earth.grid.n_z()),
        n_y_(section.earth.grid.n_y()) {
    decoder_.set_mode(Mode::evaluation);
    std::vector<double> background(static_cast<std::size_t>(section.values.size()));
    for (std::size_t i = 0; i < background.size(); ++i)
      background[i] = std::log(section.values[static_cast<Eigen::Index>(i)]);
    background_ = Tensor::from(background, {n_z_, n_y_});
    const Tensor output = decoder_(bench::normals({columns, codes}, 6, DType::f64));
    gain_ = 1.0 / std::sqrt(mean(square(output - mean(output))).item<double>());
  }

  /// Returns the deviations of ln ρ: the untrained decoder's output, scaled so that codes of unit size make
  /// deviations of unit size. shapes: [40, 16] → [40, 32].
  [[nodiscard]] Tensor decode(const Tensor& of) const { return gain_ * decoder_(of); }
  /// Returns the resistivities, with deviations of ln ρ in the deepest cells of the columns. shapes: [40, 16]
  /// → [n_z n_y].
  [[nodiscard]] Tensor model(const Tensor& of) const {
    const Tensor deviation =
        pad(transpose(decode(of)), {n_z_ - cells, first_column}, {0, n_y_ - first_column - columns});
    return reshape(exp(background_ + deviation), {n_z_ * n_y_});
  }
  [[nodiscard]] Tensor predict(const Tensor& of) const { return external(simulation_, model(of)); }

  /// Returns the derivative of the data with respect to the codes as a matrix: physics' Jacobian, columns of
  /// the region, times those of the decoders.
  [[nodiscard]] Tensor dense_jacobian(const Tensor& of, const Eigen::MatrixXd& of_physics) const {
    const Eigen::MatrixXd by_rows =
        of_physics.transpose();  // column-major (cells, data) is row-major [data, cells]
    const Tensor all =
        Tensor::from(std::span<const double>(by_rows.data(), static_cast<std::size_t>(by_rows.size())),
                     {by_rows.cols(), n_z_, n_y_});
    const Tensor scaled = all * reshape(model(of), {1, n_z_, n_y_});  // per ln ρ
    const Tensor region =
        slice(slice(scaled, 1, n_z_ - cells, n_z_), 2, first_column, first_column + columns);
    const auto of_one = [&](const Tensor& code) { return squeeze(decode(expand_dims(code, 0)), 0); };
    const Tensor decoders = vmap([&](const Tensor& code) {
      return jacobian(of_one, code, JacobianMode::forward);
    })(of);                                                                      // [40, 32, 16]
    const Tensor product = dot_general(region, decoders, {{1}, {1}, {2}, {0}});  // [40, data, 16]
    return reshape(transpose(product, Axes{1, 0, 2}), {by_rows.cols(), columns * codes});
  }

 private:
  core::MapPtr simulation_;
  models::vae::VaeDecoderNet decoder_;
  Dim n_z_, n_y_;
  double gain_ = 1.0;
  Tensor background_;
};

struct Step {
  Tensor codes;  ///< [40, 16]
  int iterations = 0;
};

/// (Jᵀ W J + λ) p = Jᵀ W r − λ v by conjugate gradients.
Step matrix_free(const Linearized& at, const Tensor& observed, const Tensor& v) {
  const double weight = 1.0 / (sigma * sigma);
  const auto normal = [&](const Tensor& p) { return at.vjp({weight * at.jvp({p})[0]})[0] + damping * p; };
  Step step{zeros_like(v)};
  Tensor r = (at.vjp({weight * (observed - at.value()[0])})[0] - damping * v).eval(), p = r;
  double size = dot(r, r).item<double>();
  const double enough = 1e-26 * size;
  for (; size > enough && step.iterations < 2 * columns * codes; ++step.iterations) {
    const Tensor q = normal(p).eval();
    const double along = size / dot(p, q).item<double>();
    step.codes = (step.codes + along * p).eval();
    r = (r - along * q).eval();
    const double next = dot(r, r).item<double>();
    p = (r + (next / size) * p).eval();
    size = next;
  }
  return step;
}

Step dense(const Tensor& jacobian, const Tensor& residual, const Tensor& v) {
  const double weight = 1.0 / (sigma * sigma);
  const Tensor transposed = transpose(jacobian);
  const Tensor left = weight * matmul(transposed, jacobian) + damping * eye(columns * codes, DType::f64);
  const Tensor right = weight * matmul(transposed, residual) - damping * reshape(v, {columns * codes});
  return {reshape(solve_spd(left, right), v.shape()).eval()};
}

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(bench::Results& results, MPI_Comm comm) {
  const auto section = bench::long_section();
  const auto survey = bench::long_survey();
  const auto simulation = mt::d2::data_map(
      comm, section.earth, survey,
      mt::d2::design_meshes(section, survey, mt::d2::design_options(mt::d2::Accuracy::iteration)));
  const Problem problem(simulation, section, InitialValues(7, DType::f64));
  const Tensor truth = bench::normals({columns, codes}, 5, DType::f64), v = zeros_like(truth).eval();
  const Tensor observed = problem.predict(truth).eval();
  const std::string name = "Gauss-Newton step in 40 x 16 codes";
  const auto add = [&](const std::string& metric, double seconds) {
    results.add({name, metric, "s", seconds, {}, {}, {}});
  };

  std::optional<Linearized> at;
  add("linearize decoder and simulation", seconds_of([&] {
        at.emplace([&](const Tensors& x) -> Tensors { return {problem.predict(x[0])}; }, Tensors{v});
        at->value()[0].eval();
      }));
  Step free, with_matrix;
  add("without matrix: conjugate gradients", seconds_of([&] { free = matrix_free(*at, observed, v); }));
  results.add({name, "without matrix: iterations", "", static_cast<double>(free.iterations), {}, {}, {}});

  Eigen::MatrixXd of_physics;
  std::unique_ptr<core::Linearization> linearization;
  const Tensor resistivity = problem.model(v).eval();
  const std::vector<double> x = resistivity.to_vector<double>();
  linearization =
      simulation->linearize(Eigen::Map<const Eigen::VectorXd>(x.data(), static_cast<Eigen::Index>(x.size())));
  add("with matrix: Jacobian of the simulation", seconds_of([&] { of_physics = linearization->jacobian(); }));
  Tensor jacobian;
  add("with matrix: Jacobian of the decoders and product",
      seconds_of([&] { jacobian = problem.dense_jacobian(v, of_physics).eval(); }));
  add("with matrix: normal equations",
      seconds_of([&] { with_matrix = dense(jacobian, observed - at->value()[0], v); }));
  const double difference =
      std::sqrt(dot(free.codes - with_matrix.codes, free.codes - with_matrix.codes).item<double>() /
                dot(with_matrix.codes, with_matrix.codes).item<double>());
  results.add({name, "relative difference of the two steps", "", difference, 1e-10, {}, {}});
  const double misfit_before = dot(observed - at->value()[0], observed - at->value()[0]).item<double>();
  const Tensor after = observed - problem.predict(v + free.codes);
  results.add({name,
               "misfit after the step, of that before",
               "",
               dot(after, after).item<double>() / misfit_before,
               {},
               {},
               {}});
}

/// Measures one more right-hand side and the derivatives of a solve.
void measure_derivatives(bench::Results& results, MPI_Comm comm) {
  const auto section = bench::long_section();
  const auto survey = bench::long_survey();
  const auto simulation = mt::d2::data_map(
      comm, section.earth, survey,
      mt::d2::design_meshes(section, survey, mt::d2::design_options(mt::d2::Accuracy::iteration)));
  const auto& x = section.values;
  const auto linearization = simulation->linearize(x);
  const Tensor at =
      Tensor::from(std::span<const double>(x.data(), static_cast<std::size_t>(x.size())), {x.size()});
  const Linearized engine_side =
      linearize([&](const Tensors& in) -> Tensors { return {external(simulation, in[0])}; }, {at});
  engine_side.value()[0].eval();
  const Eigen::Index n_data = simulation->size_out();
  const auto median = [](const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int i = 0; i < 7; ++i) seconds.push_back(seconds_of(work));
    std::nth_element(seconds.begin(), seconds.begin() + 3, seconds.end());
    return seconds[3];
  };
  const Eigen::MatrixXd one = Eigen::MatrixXd::Ones(n_data, 1),
                        direction = Eigen::MatrixXd::Ones(x.size(), 1);
  const std::string name = "products with the Jacobian of the simulation";
  const double vjp = median([&] { (void)linearization->vjp(one); }),
               jvp = median([&] { (void)linearization->jvp(direction); });
  const Tensor w = ones({n_data}, DType::f64), many = ones({32, x.size()}, DType::f64);
  results.add({name, "vjp through the engine", "s", median([&] { engine_side.vjp({w})[0].eval(); }),
               1.2 * vjp, "the map's own vjp, one adjoint solve", vjp});
  const double tangents =
      median([&] { vmap([&](const Tensors& v) { return engine_side.jvp(v); })({many})[0].eval(); });
  const Eigen::MatrixXd directions = Eigen::MatrixXd::Ones(x.size(), 32);
  const double own = median([&] { (void)linearization->jvp(directions); });
  results.add({name, "32 tangents through the engine", "s", tangents, 5.0 * jvp,
               "the map's own jvp of one direction", jvp});
  results.add(
      {name, "32 tangents through the engine", "s", tangents, {}, "the map's own jvp of 32 directions", own});
}

}  // namespace

int main(int argc, char** argv) {
  core::Session session;
  const auto& mpi = session.start<core::MpiScope>(argc, argv);
  session.start<physics::PetscScope>();
  return session.run([&] {
    bench::Results results;
    measure(results, mpi.world());
    measure_derivatives(results, mpi.world());
    if (mpi.rank() == 0) results.print(mpi.size(), "make bench BENCH=latent");
    return 0;
  });
}
