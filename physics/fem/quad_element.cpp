// SPDX-License-Identifier: Apache-2.0
#include "physics/fem/quad_element.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <utility>

namespace lodestone::physics::fem {

namespace {

/// Points and weights on [0, 1], exact for polynomials of degree 2·order + 1.
std::vector<std::pair<double, double>> gauss_rule(int order) {
  if (order == 1) {
    const double d = 0.5 / std::sqrt(3.0);
    return {{0.5 - d, 0.5}, {0.5 + d, 0.5}};
  }
  const double d = 0.5 * std::sqrt(0.6);
  return {{0.5 - d, 5.0 / 18.0}, {0.5, 8.0 / 18.0}, {0.5 + d, 5.0 / 18.0}};
}

}  // namespace

QuadElement::QuadElement(int order) : order_(order) {
  if (order < 1 || order > 2)
    throw core::InvalidArgument("mt::QuadElement#wrong_order", "expected elements of order 1 or 2, got {}",
                                order);
  const auto rule = gauss_rule(order);
  for (const auto& [s, s_weight] : rule) {
    for (int a = 0; a <= order; ++a) {
      edge_load_[a] += s_weight * shape(a, s);
      for (int b = 0; b <= order; ++b) edge_mass_[a][b] += s_weight * shape(a, s) * shape(b, s);
    }
    for (const auto& [t, t_weight] : rule) {
      GaussPoint& point = points_.emplace_back();
      point.s = s;
      point.t = t;
      point.weight = s_weight * t_weight;
      for (int row = 0; row <= order; ++row) {
        for (int column = 0; column <= order; ++column) {
          point.shape.push_back(shape(column, s) * shape(row, t));
          point.d_s.push_back(slope(column, s) * shape(row, t));
          point.d_t.push_back(shape(column, s) * slope(row, t));
        }
      }
    }
  }
}

double QuadElement::shape(int a, double t) const {
  if (order_ == 1) return a == 0 ? 1.0 - t : t;
  return a == 0 ? (1.0 - 2.0 * t) * (1.0 - t) : a == 1 ? 4.0 * t * (1.0 - t) : t * (2.0 * t - 1.0);
}

double QuadElement::slope(int a, double t) const {
  if (order_ == 1) return a == 0 ? -1.0 : 1.0;
  return a == 0 ? 4.0 * t - 3.0 : a == 1 ? 4.0 - 8.0 * t : 4.0 * t - 1.0;
}

void QuadElement::integrate(double width_m, const std::array<double, 4>& z_m, double* out) const {
  const int n = n_nodes(), pairs = n_pairs();
  std::fill_n(out, 3 * pairs, 0.0);
  std::array<double, 9> dy{}, dz{};
  for (const GaussPoint& point : points_) {
    const double top = z_m[1] - z_m[0], bottom = z_m[3] - z_m[2], left = z_m[2] - z_m[0],
                 right = z_m[3] - z_m[1];
    const double z_s = (1.0 - point.t) * top + point.t * bottom,
                 z_t = (1.0 - point.s) * left + point.s * right;
    const double area = point.weight * width_m * z_t;  // y depends on s alone
    for (int a = 0; a < n; ++a) {
      dz[a] = point.d_t[a] / z_t;
      dy[a] = (point.d_s[a] - z_s * dz[a]) / width_m;
    }
    for (int a = 0, p = 0; a < n; ++a) {
      for (int b = a; b < n; ++b, ++p) {
        out[p] += area * dy[a] * dy[b];
        out[pairs + p] += area * dz[a] * dz[b];
        out[2 * pairs + p] += area * point.shape[a] * point.shape[b];
      }
    }
  }
}

}  // namespace lodestone::physics::fem
