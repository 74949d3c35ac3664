// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/results.hpp"

#include "engine/core/blas_setup.hpp"
#include "engine/core/build_info.hpp"
#include "engine/core/json_text.hpp"
#include "engine/core/parallel.hpp"

#include <Eigen/Core>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <ctime>

extern "C" {
void zgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const std::complex<double>* alpha, const std::complex<double>* a, const int* lda,
            const std::complex<double>* b, const int* ldb, const std::complex<double>* beta,
            std::complex<double>* c, const int* ldc);
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
}

namespace lodestone::bench {

namespace {

std::string number_or_null(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{:.6g}", *value) : "null";
}

std::string fact(const std::string& name) {
  for (const auto& [key, value] : core::build_info()) {
    if (key == name) return value;
  }
  return "unknown";
}

}  // namespace

void Results::add(Result result) { results_.push_back(std::move(result)); }

void Results::add_timed(const std::string& name, const std::string& metric,
                        const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = best_cpu_seconds(1, work);
  add({name,
       metric,
       "s",
       std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
       {},
       {},
       {}});
  add({name, metric, "s CPU", cpu, {}, {}, {}});
}

void Results::add_profile(const std::string& name, const Totals& totals, double flops_per_s,
                          double bytes_per_s) {
  for (const auto& [region, total] : totals) {
    Result result{name, region, "s", total.seconds, {}, {}, {}};
    if (total.flops > 0.0) {
      result.peer = "floor: its flops at the rate of gemm, its bytes at that of a copy, the larger";
      result.peer_value = std::max(total.flops / flops_per_s, total.bytes / bytes_per_s);
      add({name, region + " rate", "GFLOP/s", 1e-9 * total.flops / total.seconds, {}, {}, {}});
    }
    add(std::move(result));
  }
}

void Results::print(int ranks, const std::string& command) const {
  fmt::print(
      "{{\"header\": {{\"commit\": {}, \"compiler\": {}, \"machine\": null, \"ranks\": {}, \"threads\": "
      "{}}},\n \"results\": [",
      core::json_quoted(fact("commit")), core::json_quoted(fact("compiler")), ranks, core::threads());
  const char* separator = "\n  ";
  for (const Result& result : results_) {
    const auto ratio =
        result.peer_value ? std::optional<double>(*result.peer_value / result.value) : std::nullopt;
    const std::string met = result.target ? (result.value <= *result.target ? "true" : "false") : "null";
    fmt::print(
        "{}{{\"case\": {}, \"metric\": {}, \"unit\": {}, \"value\": {}, \"target\": {}, \"met\": {}, "
        "\"peer\": {}, \"peer_value\": {}, "
        "\"ratio\": {}, \"command\": {}{}}}",
        separator, core::json_quoted(result.name), core::json_quoted(result.metric),
        core::json_quoted(result.unit), number_or_null(result.value), number_or_null(result.target), met,
        result.peer ? core::json_quoted(*result.peer) : "null", number_or_null(result.peer_value),
        number_or_null(ratio), core::json_quoted(command),
        result.kernels ? ", \"kernels\": " + core::json_quoted(*result.kernels) : "");
    separator = ",\n  ";
  }
  fmt::print("\n ]}}\n");
}

double best_cpu_seconds(int repeats, const std::function<void()>& work) {
  double best = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const std::clock_t begin = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

Totals best_totals(int repeats, const std::function<void()>& work) {
  Totals best;
  for (int i = 0; i < repeats; ++i) {
    core::TimerTotals::global().clear();
    work();
    for (const auto& [region, total] : core::TimerTotals::global().totals()) {
      const auto [place, is_new] = best.emplace(region, total);
      if (!is_new && total.seconds < place->second.seconds) place->second = total;
    }
  }
  return best;
}

MachineRates measure_rates() {
  core::prepare_blas();
  constexpr int n = 512;
  constexpr double products = 1.0 * n * n * n;
  const Eigen::MatrixXcd a = Eigen::MatrixXcd::Random(n, n), b = Eigen::MatrixXcd::Random(n, n);
  const Eigen::MatrixXd c = a.real(), d = b.real();
  Eigen::MatrixXcd complex_product(n, n);
  Eigen::MatrixXd real_product(n, n);
  const std::complex<double> one = 1.0, zero = 0.0;
  const double real_one = 1.0, real_zero = 0.0;
  MachineRates rates;
  rates.zgemm_flops_per_s =
      8.0 * products / best_cpu_seconds(3, [&] {
        zgemm_("N", "N", &n, &n, &n, &one, a.data(), &n, b.data(), &n, &zero, complex_product.data(), &n);
      });
  rates.dgemm_flops_per_s = 2.0 * products / best_cpu_seconds(5, [&] {
                              dgemm_("N", "N", &n, &n, &n, &real_one, c.data(), &n, d.data(), &n, &real_zero,
                                     real_product.data(), &n);
                            });
  const std::vector<double> from(std::size_t{1} << 24, 1.0);
  std::vector<double> to(from.size(), 0.0);
  rates.copy_bytes_per_s = 16.0 * static_cast<double>(from.size()) /
                           best_cpu_seconds(3, [&] { std::copy(from.begin(), from.end(), to.begin()); });
  return rates;
}

}  // namespace lodestone::bench
