// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <array>

namespace lodestone::inversion::optimize {
namespace {

constexpr int n_columns = 11,
              n_columns_before = 10;  // files before there were pairs in programs lack the last one

Eigen::RowVectorXd row_of(const IterationRecord& r) {
  return (Eigen::RowVectorXd(n_columns) << r.iteration, static_cast<double>(r.kind), r.lambda, r.rms,
          r.roughness, r.step, r.rms_at_start, r.n_forward, r.n_jacobian, r.seconds, r.code_lambda)
      .finished();
}

IterationRecord record_of(const Eigen::RowVectorXd& row) {
  return {.iteration = static_cast<int>(row[0]),
          .kind = static_cast<StepKind>(static_cast<int>(row[1])),
          .lambda = row[2],
          .rms = row[3],
          .roughness = row[4],
          .step = row[5],
          .rms_at_start = row[6],
          .n_forward = static_cast<int>(row[7]),
          .n_jacobian = static_cast<int>(row[8]),
          .seconds = row[9],
          .code_lambda = row.size() == n_columns ? row[10] : 0.0};
}

Eigen::VectorXd vector_of(const core::ArraySource& source, const std::string& name) {
  const std::vector<double> values = core::read_doubles(source, name);
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

}  // namespace

void write_state(core::ArraySink& sink, const InversionState& state, const std::string& group) {
  const std::array<std::int64_t, 3> counters{state.iteration, state.n_stagnated, state.design_iteration};
  core::write_vector(sink, group + "/counters", std::span<const std::int64_t>(counters));
  sink.attribute(
      group + "/counters", "meaning",
      "iteration, iterations in a row without progress, iteration of the last redesign (-1: none)");
  const std::array<double, 2> lambdas{state.lambda, state.creep_lambda};
  core::write_vector(sink, group + "/lambda", std::span<const double>(lambdas));
  sink.attribute(group + "/lambda", "meaning",
                 "of the last jump, or in force (0: none), of the last step if that crept (0: it jumped)");
  core::write_vector(sink, group + "/model", span_of(state.model));
  if (state.memory.size() > 0) core::write_matrix(sink, group + "/memory", state.memory);
  if (state.design_model.size() > 0)
    core::write_vector(sink, group + "/design_model", span_of(state.design_model));
  Eigen::MatrixXd history(static_cast<Eigen::Index>(state.history.size()), n_columns);
  for (Eigen::Index i = 0; i < history.rows(); ++i)
    history.row(i) = row_of(state.history[static_cast<std::size_t>(i)]);
  core::write_matrix(sink, group + "/history", history);
  sink.attribute(group + "/history", "columns",
                 "iteration, kind (0 start, 1 jump, 2 creep, 3 descent, 4 pair), lambda, rms, roughness, "
                 "step, rms_at_start, n_forward, "
                 "n_jacobian, seconds, lambda of the codes of a pair");
}

InversionState read_state(const core::ArraySource& source, const std::string& group) {
  const auto counters = core::read_integers(source, group + "/counters");
  const auto lambda = core::read_doubles(source, group + "/lambda");
  const Eigen::MatrixXd history = core::read_matrix(source, group + "/history");
  if (counters.size() != 3 || lambda.size() != 2 ||
      (history.cols() != n_columns && history.cols() != n_columns_before) || history.rows() == 0)
    throw core::FormatError(
        "inversion::read_state#wrong_layout",
        "expected 3 counters, 2 lambdas and a history of {} columns, got {}, {} and {} x {}; "
        "was the checkpoint written by another version?",
        n_columns, counters.size(), lambda.size(), history.rows(), history.cols());
  InversionState state;
  state.iteration = static_cast<int>(counters[0]);
  state.n_stagnated = static_cast<int>(counters[1]);
  state.design_iteration = static_cast<int>(counters[2]);
  state.lambda = lambda[0];
  state.creep_lambda = lambda[1];
  state.model = vector_of(source, group + "/model");
  if (source.contains(group + "/memory")) state.memory = core::read_matrix(source, group + "/memory");
  if (source.contains(group + "/design_model"))
    state.design_model = vector_of(source, group + "/design_model");
  for (Eigen::Index i = 0; i < history.rows(); ++i) state.history.push_back(record_of(history.row(i)));
  return state;
}

}  // namespace lodestone::inversion::optimize
