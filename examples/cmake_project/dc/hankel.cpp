// SPDX-License-Identifier: Apache-2.0
#include "dc/hankel.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace dc {
namespace {

constexpr int n_nodes = 12;     // per panel
constexpr int n_halvings = 24;  // of the first half-wave: deep layers under short spacings act at small x
constexpr int n_whole = 8;      // half-waves taken whole
constexpr int n_averaged = 28;  // half-waves whose partial sums are averaged
using std::numbers::pi;

struct GaussRule {
  std::array<double, n_nodes> x, weight;  // on (−1, 1)
};

/// Gauss–Legendre: zeros of the Legendre polynomial by Newton's method.
GaussRule gauss_legendre() {
  GaussRule rule;
  for (int i = 0; i < n_nodes; ++i) {
    double x = std::cos(pi * (i + 0.75) / (n_nodes + 0.5)), slope = 1.0;
    for (int step = 0; step < 10; ++step) {
      double before = 1.0, value = x;
      for (int k = 2; k <= n_nodes; ++k) {
        const double next = ((2 * k - 1) * x * value - (k - 1) * before) / k;
        before = value;
        value = next;
      }
      slope = n_nodes * (x * value - before) / (x * x - 1.0);
      x -= value / slope;
    }
    rule.x[static_cast<std::size_t>(i)] = x;
    rule.weight[static_cast<std::size_t>(i)] = 2.0 / ((1.0 - x * x) * slope * slope);
  }
  return rule;
}

/// Returns zero number `k` = 1, 2 … of J₀ to 1e-3 (McMahon); the rule only needs breaks near the zeros.
double break_point(int k) {
  const double b = (k - 0.25) * pi;
  return b + 1.0 / (8.0 * b);
}

/// Returns the share of half-wave `j` = 1 … n_averaged in the mean of the partial sums, whose own weights are
/// binomial: P(at least j heads in n_averaged tosses).
double share(int j) {
  double binomial = 1.0, tail = 0.0;
  for (int k = 0; k <= n_averaged; ++k) {
    if (k >= j) tail += binomial;
    binomial *= static_cast<double>(n_averaged - k) / (k + 1);
  }
  return tail * std::pow(0.5, n_averaged);
}

}  // namespace

HankelRule make_hankel_rule() {
  const GaussRule gauss = gauss_legendre();
  HankelRule rule;
  const auto add_panel = [&](double left, double right, double factor) {
    for (std::size_t i = 0; i < n_nodes; ++i) {
      const double half = 0.5 * (right - left), x = left + half * (1.0 + gauss.x[i]);
      rule.x.push_back(x);
      rule.weight.push_back(factor * half * gauss.weight[i] * std::cyl_bessel_j(0.0, x));
    }
  };
  const double first = break_point(1);
  add_panel(0.0, std::ldexp(first, -n_halvings), 1.0);
  for (int i = n_halvings; i > 0; --i) add_panel(std::ldexp(first, -i), std::ldexp(first, 1 - i), 1.0);
  for (int k = 1; k < n_whole + n_averaged; ++k)
    add_panel(break_point(k), break_point(k + 1), k < n_whole ? 1.0 : share(k - n_whole + 1));
  return rule;
}

}  // namespace dc
