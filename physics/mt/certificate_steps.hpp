// SPDX-License-Identifier: Apache-2.0
// Private to physics/mt: the steps of a certificate that are the same in every dimension.
#pragma once

#include "physics/mt/certificate.hpp"
#include "physics/mt/survey.hpp"

#include <Eigen/Core>

namespace lodestone::physics::mt {

/// The cost of the checks of one frequency.
struct FrequencyCost {
  int frequency = 0;
  double work = 0.0, bytes = 0.0;  ///< bytes of the largest system among its checks
};

/// Chooses as many frequencies as the limits allow, evenly over the list; of a single one the least
/// expensive.
[[nodiscard]] CertificateCost cost_within(std::vector<FrequencyCost> all, const CertificateLimits& limits);

/// Returns the keys of some frequencies alone, which are then numbered in the order of the list.
[[nodiscard]] Survey survey_at(const Survey& all, const std::vector<int>& frequencies);

/// Holds fewer threads in its scope where so many systems at a time would need too much memory.
class ThreadsWithin {
 public:
  ThreadsWithin(double bytes, double bytes_of_one);
  ~ThreadsWithin();
  ThreadsWithin(const ThreadsWithin&) = delete;
  ThreadsWithin& operator=(const ThreadsWithin&) = delete;

 private:
  int before_;
};

/// The rows of a certificate while its periods are measured, some at a time.
class CertificateRows {
 public:
  /// `component`: the name of what a datum of ρₐ belongs to, as it stands before the station.
  CertificateRows(const std::vector<std::string>& checks, const ResponseError& tolerance,
                  std::function<std::string(Datum)> component);

  /// Adds the differences of data to a row. They are log10 ρₐ and phases in the order of the keys of `part`.
  /// `shares`: of each datum, the share of the difference that counts as its error; all of it by default.
  void compare(std::size_t row, const Survey& part, const Eigen::VectorXd& ours,
               const Eigen::VectorXd& reference, const std::vector<double>& shares = {});
  /// Judges what was measured and ends the rows.
  [[nodiscard]] std::vector<CertificateRow> take();

 private:
  std::vector<CertificateRow> rows_;
  std::function<std::string(Datum)> component_;
};

/// Adds some frequencies, indices of all, to the rows.
using Measure = std::function<void(const std::vector<int>& frequencies, CertificateRows& rows)>;
/// Calls `measure` for the frequencies of a cost, `batch` of them at a time, unless it is stopped between two
/// batches; logs progress where it can be. Then judges the rows.
[[nodiscard]] Certificate measured(const CertificateCost& cost, const CertificateLimits& limits,
                                   std::size_t n_frequencies, std::size_t batch, CertificateRows rows,
                                   const Measure& measure);

}  // namespace lodestone::physics::mt
