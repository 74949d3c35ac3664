// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/uncertainty/ensemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace lodestone::inversion::uncertainty {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int n_columns = 6;

/// Returns a quantile of sorted values: a further draw lies below it with probability `share`. With too few
/// values it is an extreme.
double quantile(const VectorXd& sorted, double share) {
  const double place = std::clamp(share * static_cast<double>(sorted.size() + 1) - 1.0, 0.0,
                                  static_cast<double>(sorted.size() - 1));
  const auto below = static_cast<Index>(std::floor(place));
  const Index above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

/// Reads seed, λ and records: all but the models.
Ensemble read_records(const core::ArraySource& source) {
  const auto seed = core::read_integers(source, "ensemble/seed");
  const VectorXd lambda = core::read_finite(source, "ensemble/lambda", 1);
  const MatrixXd records = core::read_matrix(source, "ensemble/records");
  if (seed.size() != 2 || records.cols() != n_columns || records.rows() != seed[1])
    throw core::FormatError(
        "inversion::read_ensemble#wrong_layout",
        "{}: expected 2 numbers and {} records of {} columns, got {} and {} x {}; was the file written by "
        "another version?",
        source.location(), seed.size() > 1 ? seed[1] : 0, n_columns, seed.size(), records.rows(),
        records.cols());
  Ensemble ensemble{.seed = static_cast<std::uint64_t>(seed[0]),
                    .lambda = lambda[0],
                    .start = {},
                    .records = {},
                    .models = {},
                    .stopped = {}};
  for (Index i = 0; i < records.rows(); ++i) {
    const auto row = records.row(i);
    ensemble.records.push_back({.number = static_cast<int>(row[0]),
                                .rms = row[1],
                                .objective = row[2],
                                .n_iterations = static_cast<int>(row[3]),
                                .converged = row[4] != 0.0,
                                .failure = row[5] != 0.0 ? "failed in an earlier call" : ""});
  }
  return ensemble;
}

}  // namespace

EnsembleStatistics statistics(const MatrixXd& values) {
  if (values.cols() < 2)
    throw core::InvalidArgument("inversion::statistics#too_few_samples",
                                "expected at least 2 samples, got {}", values.cols());
  const Index n = values.rows();
  EnsembleStatistics result{VectorXd(n), VectorXd(n), VectorXd(n), values.rowwise().mean(), VectorXd(n)};
  result.deviation =
      ((values.colwise() - result.mean).rowwise().squaredNorm() / static_cast<double>(values.cols() - 1))
          .cwiseSqrt();
  for (Index i = 0; i < n; ++i) {
    VectorXd sorted = values.row(i).transpose();
    std::sort(sorted.begin(), sorted.end());
    result.p5[i] = quantile(sorted, 0.05);
    result.p50[i] = quantile(sorted, 0.5);
    result.p95[i] = quantile(sorted, 0.95);
  }
  return result;
}

MatrixXd mapped(const core::DifferentiableMap& map, const MatrixXd& models) {
  MatrixXd result(map.size_out(), models.cols());
  for (Index sample = 0; sample < models.cols(); ++sample) result.col(sample) = map.value(models.col(sample));
  return result;
}

void write_ensemble(core::ArraySink& sink, const Ensemble& ensemble) {
  const std::array<std::int64_t, 2> seed{static_cast<std::int64_t>(ensemble.seed),
                                         std::ssize(ensemble.records)};
  core::write_vector(sink, "ensemble/seed", std::span<const std::int64_t>(seed));
  sink.attribute("ensemble/seed", "meaning", "seed, samples tried");
  const std::array<double, 1> lambda{ensemble.lambda};
  core::write_vector(sink, "ensemble/lambda", std::span<const double>(lambda));
  core::write_vector(
      sink, "ensemble/start",
      std::span<const double>(ensemble.start.data(), static_cast<std::size_t>(ensemble.start.size())));
  MatrixXd records(std::ssize(ensemble.records), n_columns);
  for (Index i = 0; i < records.rows(); ++i) {
    const SampleRecord& r = ensemble.records[static_cast<std::size_t>(i)];
    records.row(i) << r.number, r.rms, r.objective, r.n_iterations, r.converged ? 1.0 : 0.0,
        r.failure.empty() ? 0.0 : 1.0;
  }
  core::write_matrix(sink, "ensemble/records", records);
  sink.attribute("ensemble/records", "columns", "number, rms, objective, iterations, converged, failed");
  if (ensemble.models.cols() > 0) core::write_matrix(sink, "ensemble/models", ensemble.models);
}

Ensemble read_ensemble(const core::ArraySource& source) {
  Ensemble ensemble = read_records(source);
  ensemble.start = core::read_finite(source, "ensemble/start");
  ensemble.models = source.contains("ensemble/models") ? core::read_matrix(source, "ensemble/models")
                                                       : MatrixXd(ensemble.start.size(), 0);
  const Index n_models = std::ssize(ensemble.records) - ensemble.n_failed();
  if (ensemble.models.rows() != ensemble.start.size() || ensemble.models.cols() != n_models)
    throw core::FormatError("inversion::read_ensemble#wrong_size",
                            "{}: expected models ({}, {}), got ({}, {})", source.location(),
                            ensemble.start.size(), n_models, ensemble.models.rows(), ensemble.models.cols());
  const auto is_wild = [](const SampleRecord& r) { return r.failure.empty() && !std::isfinite(r.rms); };
  if (!ensemble.models.allFinite() || std::ranges::any_of(ensemble.records, is_wild))
    throw core::FormatError("inversion::read_ensemble#not_finite",
                            "{}: expected finite models and records, got some that are not; remove the file "
                            "to draw the models anew",
                            source.location());
  return ensemble;
}

std::vector<std::string> describe_ensemble(const core::ArraySource& source) {
  const Ensemble ensemble = read_records(source);
  const int n_failed = ensemble.n_failed();
  std::vector<std::string> facts{fmt::format(
      "{} samples of the final model{}, seed {}, lambda {:.4g}", std::ssize(ensemble.records) - n_failed,
      n_failed > 0 ? fmt::format(" ({} more failed)", n_failed) : std::string(), ensemble.seed,
      ensemble.lambda)};
  double least = std::nan(""), most = std::nan("");
  for (const SampleRecord& record : ensemble.records) {
    if (!record.failure.empty()) continue;
    least = std::fmin(least, record.rms);
    most = std::fmax(most, record.rms);
  }
  if (std::isfinite(least))
    facts.push_back(
        fmt::format("rms of the samples {:.3f} to {:.3f}, by the errors they were drawn with", least, most));
  return facts;
}

}  // namespace lodestone::inversion::uncertainty
