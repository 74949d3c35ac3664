// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/analysis/strike.hpp"

#include "physics/mt/analysis/induction.hpp"
#include "physics/mt/analysis/phase_tensor.hpp"
#include "physics/mt/analysis/rotation.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace lodestone::physics::mt {
namespace {

constexpr double quarter_deg = 90.0, step_deg = 2.0;
constexpr double small_tipper = 0.05;
constexpr double other_azimuths_differ_by = 9.0;  // in χ² over its value per degree of freedom: 3 σ

/// Impedances of one row, x to the north, with their covariance.
struct Row {
  Eigen::Matrix2cd impedance;
  Eigen::Matrix4d covariance;  // of the real parts, and of the imaginary parts: Zxx, Zxy, Zyx, Zyy
};
struct Site {
  std::string name;
  std::vector<Row> rows;
};

bool is_in(const StationRow& row, const StrikeOptions& options) {
  const double period_s = 1.0 / row.frequency_hz;
  return period_s >= options.min_period_s && period_s < options.max_period_s;
}

Site site_of(const StationData& station, const StrikeOptions& options) {
  Site site{station.site.name, {}};
  for (const StationRow& row : station.rows) {
    if (!is_in(row, options)) continue;
    const StationRow north = rotated(row, 0.0);
    const auto z = impedance_of(north);
    if (!z || z->squaredNorm() == 0.0) continue;
    Eigen::Matrix4d covariance = 0.5 * impedance_covariance(north).real();
    for (double& each : covariance.reshaped())
      if (!std::isfinite(each)) each = 0.0;
    const double floor = options.relative_floor * z->norm() / std::numbers::sqrt2;
    for (double& variance : covariance.diagonal()) variance = std::max(variance, floor * floor);
    site.rows.push_back({*z, covariance});
  }
  return site;
}

/// One column of the impedances of a site in the frame of a strike.
struct Column {
  std::vector<Eigen::Vector2cd> value;
  std::vector<Eigen::Matrix2d> covariance;
};
using Columns = std::array<Column, 2>;

Columns columns_of(const Site& site, double azimuth_deg) {
  const Eigen::Matrix2d r = axes_turned_by(azimuth_deg);
  Columns out;
  for (const Row& row : site.rows) {
    const Eigen::Matrix2cd z = r * row.impedance * r.transpose();
    Eigen::Matrix4d turn;  // Z'_ij = Σ r_ik r_jl Z_kl
    for (int i = 0; i < 4; ++i)
      for (int k = 0; k < 4; ++k) turn(i, k) = r(i / 2, k / 2) * r(i % 2, k % 2);
    const Eigen::Matrix4d c = turn * row.covariance * turn.transpose();
    for (int j = 0; j < 2; ++j) {
      out[static_cast<std::size_t>(j)].value.emplace_back(z.col(j));
      out[static_cast<std::size_t>(j)].covariance.push_back(
          Eigen::Matrix2d{{c(j, j), c(j, j + 2)}, {c(j + 2, j), c(j + 2, j + 2)}});
    }
  }
  return out;
}

/// A real direction that the numbers of a column have in common, and what they have across it.
struct Direction {
  Eigen::Vector2d normal{0.0, 1.0};
  double chi_square = 0.0;
};

/// Returns the direction that leaves least across it: for given weights an eigenvector, and the weights
/// follow from the direction.
Direction common_direction(const Column& column) {
  constexpr int n_reweightings = 3;
  Direction out;
  Eigen::Vector2d weighting = Eigen::Vector2d::Constant(std::sqrt(0.5));
  for (int round = 0; round < n_reweightings; ++round) {
    Eigen::Matrix2d sum = Eigen::Matrix2d::Zero();
    for (std::size_t k = 0; k < column.value.size(); ++k) {
      const Eigen::Matrix2d& c = column.covariance[k];
      const double variance = round == 0 ? 0.5 * c.trace() : weighting.dot(c * weighting);
      sum += (column.value[k] * column.value[k].adjoint()).real() / variance;
    }
    Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen;
    eigen.computeDirect(sum);
    out = {eigen.eigenvectors().col(0), std::max(eigen.eigenvalues()[0], 0.0)};
    weighting = out.normal;
  }
  return out;
}

double chi_square(std::span<const Site> sites, double azimuth_deg) {
  double sum = 0.0;
  for (const Site& site : sites)
    for (const Column& column : columns_of(site, azimuth_deg)) sum += common_direction(column).chi_square;
  return sum;
}

SiteDistortion distortion_of(const Site& site, double azimuth_deg) {
  const Columns columns = columns_of(site, azimuth_deg);
  // C = T S leaves column 2 along twist + shear from x, and column 1 along twist − shear from y.
  const auto angle_deg = [](const Eigen::Vector2d& normal) {
    return std::atan(-normal[0] / normal[1]) * deg_per_rad;
  };
  const double second = angle_deg(common_direction(columns[1]).normal);
  const Eigen::Vector2d first_normal = common_direction(columns[0]).normal;
  const double first = angle_deg({-first_normal[1], first_normal[0]});
  return {site.name, 0.5 * (second + first), 0.5 * (second - first)};
}

/// The χ² over all azimuths with weights that do not depend on them. Elements of Z′ are sums of 1, cos 2θ and
/// sin 2θ. Their products are summed over the rows of a site once and for all.
class Overview {
 public:
  explicit Overview(std::span<const Site> sites) {
    for (const Site& site : sites) sums_.push_back(sums_of(site));
  }
  [[nodiscard]] double chi_square(double azimuth_deg) const {
    const double twice = 2.0 * azimuth_deg / deg_per_rad;
    const Eigen::Vector3d terms(1.0, std::cos(twice), std::sin(twice));
    double sum = 0.0;
    for (const Sums& site : sums_) {
      for (std::size_t column = 0; column < 2; ++column) {
        const auto product = [&](std::size_t a, std::size_t b) {
          return terms.dot(site[column][a][b] * terms);
        };
        const double xx = product(0, 0), yy = product(1, 1), xy = product(0, 1);
        sum += std::max(0.5 * (xx + yy - std::hypot(xx - yy, 2.0 * xy)), 0.0);  // the smaller eigenvalue
      }
    }
    return sum;
  }

 private:
  using Sums = std::array<std::array<std::array<Eigen::Matrix3d, 2>, 2>, 2>;  // column, both rows

  static Sums sums_of(const Site& site) {
    Sums out{};
    for (auto& column : out)
      for (auto& row : column) row.fill(Eigen::Matrix3d::Zero());
    for (const Row& row : site.rows) {
      const Eigen::Matrix2cd& z = row.impedance;
      const double weight = 4.0 / row.covariance.trace();
      const Complex s = 0.5 * (z(0, 0) + z(1, 1)), d = 0.5 * (z(0, 0) - z(1, 1)),
                    o = 0.5 * (z(0, 1) + z(1, 0)), a = 0.5 * (z(0, 1) - z(1, 0));
      const Eigen::Vector3cd xx(s, d, o), yy(s, -d, -o), xy(a, o, -d), yx(-a, o, -d);
      const std::array<std::array<Eigen::Vector3cd, 2>, 2> columns{{{xx, yx}, {xy, yy}}};
      for (std::size_t column = 0; column < 2; ++column)
        for (std::size_t k = 0; k < 2; ++k)
          for (std::size_t l = 0; l < 2; ++l)
            out[column][k][l] += weight * (columns[column][k] * columns[column][l].adjoint()).real();
    }
    return out;
  }

  std::vector<Sums> sums_;
};

/// Returns the azimuth of the least χ² near one of the overview, by sections of the interval.
double refined(std::span<const Site> sites, double azimuth_deg) {
  constexpr double golden = 0.6180339887498949, precise_deg = 0.05;
  double low = azimuth_deg - step_deg, high = azimuth_deg + step_deg;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = chi_square(sites, a), at_b = chi_square(sites, b);
  while (high - low > precise_deg) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = chi_square(sites, a);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = chi_square(sites, b);
    }
  }
  return 0.5 * (low + high);
}

double within(double azimuth_deg, double turn_deg) {
  const double rest = std::fmod(azimuth_deg, turn_deg);
  return rest < 0.0 ? rest + turn_deg : rest;
}

std::optional<Strike> strike_of_sites(std::vector<Site> sites) {
  std::erase_if(sites, [](const Site& site) { return site.rows.empty(); });
  Strike out{.n_stations = static_cast<int>(sites.size())};
  for (const Site& site : sites) out.n_rows += static_cast<int>(site.rows.size());
  const int n_freedom = 4 * out.n_rows - 2 * out.n_stations - 1;
  if (n_freedom <= 0) return {};
  out.n_freedom = n_freedom;
  const Overview overview(sites);
  double best = 0.0, worst = 0.0;
  for (double azimuth = 0.0; azimuth < quarter_deg; azimuth += step_deg) {
    if (overview.chi_square(azimuth) < overview.chi_square(best)) best = azimuth;
    if (overview.chi_square(azimuth) > overview.chi_square(worst)) worst = azimuth;
  }
  best = refined(sites, best);
  const double least = chi_square(sites, best), most = std::max(chi_square(sites, worst), least);
  const double per_freedom = std::max(least / n_freedom, std::numeric_limits<double>::min());
  constexpr double arm_deg = 2.0;
  const double curvature =
      (chi_square(sites, best + arm_deg) - 2.0 * least + chi_square(sites, best - arm_deg)) /
      (arm_deg * arm_deg);
  out.azimuth_deg = within(best, quarter_deg);
  out.error_deg =
      curvature > 0.0 ? std::min(std::sqrt(2.0 * std::max(per_freedom, 1.0) / curvature), 45.0) : 45.0;
  out.rms = std::sqrt(per_freedom);
  out.worst_rms = std::sqrt(most / n_freedom);
  for (const Site& site : sites) out.distortion.push_back(distortion_of(site, best));
  return out;
}

}  // namespace

bool Strike::is_determined() const {
  const double excess = (worst_rms * worst_rms - rms * rms) * n_freedom;
  return excess > other_azimuths_differ_by * std::max(rms * rms, 1.0);
}

std::optional<Strike> strike(const std::vector<StationData>& stations, const StrikeOptions& options) {
  std::vector<Site> sites;
  for (const StationData& station : stations) sites.push_back(site_of(station, options));
  return strike_of_sites(std::move(sites));
}

std::optional<Strike> strike(const StationData& station, const StrikeOptions& options) {
  return strike_of_sites({site_of(station, options)});
}

std::optional<TipperStrike> tipper_strike(const std::vector<StationData>& stations,
                                          const StrikeOptions& options) {
  Eigen::Matrix2d sum = Eigen::Matrix2d::Zero();
  TipperStrike out;
  for (const StationData& station : stations) {
    for (const StationRow& row : station.rows) {
      if (!is_in(row, options) || row.is_missing(Element::tzx) || row.is_missing(Element::tzy)) continue;
      const StationRow north = rotated(row, 0.0);
      const Eigen::Vector2cd tipper{north.values[Element::tzx], north.values[Element::tzy]};
      if (tipper.norm() < least_recorded_tipper) continue;
      // Rows count alike unless they are small, so that no single station decides.
      sum += (tipper * tipper.adjoint()).real() / (tipper.squaredNorm() + small_tipper * small_tipper);
      ++out.n_rows;
    }
  }
  if (out.n_rows == 0 || sum.trace() == 0.0) return {};
  Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d> eigen;
  eigen.computeDirect(sum);
  const Eigen::Vector2d along = eigen.eigenvectors().col(0);
  out.azimuth_deg = within(std::atan2(along[1], along[0]) * deg_per_rad, 180.0);
  out.share_along = std::sqrt(std::max(eigen.eigenvalues()[0], 0.0) / eigen.eigenvalues()[1]);
  return out;
}

double resolved_azimuth_deg(double azimuth_deg, double guess_deg) {
  const double off = std::abs(std::remainder(azimuth_deg - guess_deg, 180.0));
  return within(off <= 45.0 ? azimuth_deg : azimuth_deg + quarter_deg, 180.0);
}

}  // namespace lodestone::physics::mt
