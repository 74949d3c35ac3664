// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/optimizer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

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

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

constexpr double largest = 1e100;  // of all numbers of a run
bool is_possible(double value) { return std::abs(value) <= largest; }
bool is_weight(double value) { return value >= 0.0 && is_possible(value); }
bool is_count(double value) { return value >= 0.0 && value <= 1e9 && value == std::floor(value); }

/// Tests a row of the history as it stands in the file.
bool is_record(const Eigen::RowVectorXd& row) {
  constexpr std::array counts{0, 1, 7, 8};
  constexpr std::array weights{2, 3, 6};
  return std::ranges::all_of(row, is_possible) &&
         std::ranges::all_of(counts, [&](int i) { return is_count(row[i]); }) &&
         std::ranges::all_of(weights, [&](int i) { return is_weight(row[i]); }) &&
         row[1] < static_cast<double>(core::all_words<StepKind>().size());
}

/// Refuses what no run writes: counters that do not fit together, numbers that are not finite or huge.
void check(const InversionState& state, const Eigen::MatrixXd& history, const std::string& group) {
  const auto is_wild = [](const auto& values) {
    return !std::ranges::all_of(values.reshaped(), is_possible);
  };
  Eigen::Index wild = 0;
  while (wild < history.rows() && is_record(history.row(wild))) ++wild;
  std::string what;
  if (wild < history.rows())
    what = fmt::format("[{}] in row {} of the history", fmt::join(history.row(wild), ", "), wild);
  else if (state.iteration != static_cast<int>(history(history.rows() - 1, 0)))
    what = fmt::format("counters of iteration {} beside a history to iteration {}", state.iteration,
                       history(history.rows() - 1, 0));
  else if (state.n_stagnated < 0 || state.n_stagnated > state.iteration ||
           state.design_iteration > state.iteration + 1 || state.design_iteration < -1)
    what = fmt::format("counters {}, {} after {} iterations", state.n_stagnated, state.design_iteration,
                       state.iteration);
  else if (is_wild(state.model) || is_wild(state.design_model) || is_wild(state.memory))
    what = fmt::format("numbers beyond {:g} in model, design_model or memory", largest);
  else if (!is_weight(state.lambda) || !is_weight(state.creep_lambda))
    what = fmt::format("lambda {} and {}", state.lambda, state.creep_lambda);
  if (!what.empty())
    throw core::FormatError(
        "inversion::read_state#impossible",
        "{}: expected the state of a run in \"{}\", got {}; the checkpoint is damaged: start the run anew",
        state.origin, group, what);
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
  const Eigen::VectorXd lambda = core::read_finite(source, group + "/lambda", 2);
  const Eigen::MatrixXd history = core::read_matrix(source, group + "/history");
  if (counters.size() != 3 || (history.cols() != n_columns && history.cols() != n_columns_before) ||
      history.rows() == 0)
    throw core::FormatError(
        "inversion::read_state#wrong_layout",
        "{}: expected 3 counters and a history of {} columns, got {} and {} x {}; was the checkpoint "
        "written by another version?",
        source.location(), n_columns, counters.size(), history.rows(), history.cols());
  InversionState state;
  state.origin = source.location();
  state.iteration = static_cast<int>(counters[0]);
  state.n_stagnated = static_cast<int>(counters[1]);
  state.design_iteration = static_cast<int>(counters[2]);
  state.lambda = lambda[0];
  state.creep_lambda = lambda[1];
  state.model = core::read_finite(source, group + "/model");
  if (source.contains(group + "/memory")) state.memory = core::read_matrix(source, group + "/memory");
  if (state.design_iteration >= 0 || source.contains(group + "/design_model"))
    state.design_model = core::read_finite(source, group + "/design_model", state.model.size());
  check(state, history, group);
  for (Eigen::Index i = 0; i < history.rows(); ++i) state.history.push_back(record_of(history.row(i)));
  return state;
}

}  // namespace lodestone::inversion::optimize
