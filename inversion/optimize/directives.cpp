// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/directives.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/log.hpp"
#include "engine/core/mpi/rank_zero.hpp"
#include "inversion/optimize/gauss_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

namespace lodestone::inversion::optimize {

void IterationTable::on_iteration(const IterationView& view) {
  if (!has_heading_) {
    if (!rms_.empty()) core::log::info("{}:", rms_);
    core::log::info("{:>4} {:>5} {:>10} {:>9} {:>11} {:>6} {:>8} {:>9} {:>8}", "iter", "kind", "lambda",
                    "rms", "roughness", "step", "forward", "jacobian", "seconds");
    has_heading_ = true;
  }
  const IterationRecord& row = view.record;
  core::log::info("{:>4} {:>5} {:>10.3e} {:>9.4f} {:>11.4e} {:>6.3f} {:>8} {:>9} {:>8.1f}", row.iteration,
                  core::word(row.kind), row.lambda, row.rms, row.roughness, row.step, row.n_forward,
                  row.n_jacobian, row.seconds);
}

ProgressBar::ProgressBar(int max_iterations) : max_iterations_(std::max(1, max_iterations)) {}

void ProgressBar::on_iteration(const IterationView& view) {
  iteration_ = view.record.iteration;
  if (!core::log::is_interactive()) return;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

void ProgressBar::on_progress(const std::string& what) {
  if (!core::log::is_interactive()) return;
  constexpr int width = 30;
  const int done = std::min(width, width * iteration_ / max_iterations_);
  const std::string bar = std::string(static_cast<std::size_t>(done), '=') +
                          std::string(static_cast<std::size_t>(width - done), ' ');
  fmt::print(stdout, "\r\033[K[{}] iteration {}/{}: {}", bar, iteration_ + 1, max_iterations_, what);
  std::fflush(stdout);
}

IterationsCsv::IterationsCsv(MPI_Comm comm, std::string path, std::optional<StagedHistory> stages)
    : comm_(comm), path_(std::move(path)), stages_(std::move(stages)) {}

void IterationsCsv::on_iteration(const IterationView& view) {
  core::on_rank_zero(comm_, [&] {
    std::string text = "iteration,kind,lambda,rms,roughness,step,rms_at_start,n_forward,n_jacobian,seconds";
    text += stages_ ? ",stage\n" : "\n";
    for (const StagedRecord& row : stages_.value_or(StagedHistory{}).with(view.state.history)) {
      fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{},{},{:.3f}", row.iteration,
                     core::word(row.kind), row.lambda, row.rms, row.roughness, row.step, row.rms_at_start,
                     row.n_forward, row.n_jacobian, row.seconds);
      text += stages_ ? "," + row.stage + "\n" : "\n";
    }
    core::write_file(path_, text);
  });
}

CheckpointDirective::CheckpointDirective(std::function<void(const InversionState&)> store)
    : store_(std::move(store)) {}

void CheckpointDirective::on_iteration(const IterationView& view) { store_(view.state); }

}  // namespace lodestone::inversion::optimize
