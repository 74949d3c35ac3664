// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/benchmarks/comparisons.hpp"
#include "physics/mt/d3/simulation.hpp"
#include "physics/mt/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lodestone::physics::mt::benchmarks {
namespace {

/// Sites and frequencies of a table, each once, and those of every row.
struct Places {
  std::vector<Station> stations;
  std::vector<double> frequencies_hz;
  std::vector<int> station, frequency;  ///< one per row

  explicit Places(const core::Table& table) {
    const auto &period_s = table.numbers("period_s"), &x_m = table.numbers("x_m"),
               &y_m = table.numbers("y_m");
    for (std::size_t row = 0; row < table.n_rows(); ++row) {
      const auto at = std::ranges::find_if(
          stations, [&](const Station& each) { return each.x_m == x_m[row] && each.y_m == y_m[row]; });
      station.push_back(static_cast<int>(at - stations.begin()));
      if (at == stations.end()) {
        stations.push_back({fmt::format("x{:g}y{:g}", x_m[row], y_m[row]), y_m[row]});
        stations.back().x_m = x_m[row];
      }
      const double hz = 1.0 / period_s[row];
      const auto of = std::ranges::find(frequencies_hz, hz);
      frequency.push_back(static_cast<int>(of - frequencies_hz.begin()));
      if (of == frequencies_hz.end()) frequencies_hz.push_back(hz);
    }
  }
};

/// Responses of a volume at the places of a table.
class Responses {
 public:
  Responses(MPI_Comm comm, const mesh::Model& volume, const Places& places,
            const d3::MeshDesignOptions& rules)
      : n_stations_(std::ssize(places.stations)), n_frequencies_(std::ssize(places.frequencies_hz)) {
    std::vector<Datum> data{Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx};
    for (const Element element : {Element::tzx, Element::tzy}) {
      data.push_back(real_part_of(element));
      data.push_back(partner_of(data.back()));
    }
    const Survey survey = full_survey(places.stations, places.frequencies_hz, data);
    const auto meshes = d3::design_meshes(volume, survey, rules);
    data_ = d3::data_map(comm, volume.earth, survey, meshes)->value(mesh::resistivity_ohm_m(volume));
  }
  /// Returns a datum in the order of the constructor: two of Zxy, two of Zyx, four of the tipper.
  [[nodiscard]] double operator()(int datum, int frequency, int station) const {
    return data_[(datum * n_frequencies_ + frequency) * n_stations_ + station];
  }

 private:
  Eigen::Index n_stations_, n_frequencies_;
  Eigen::VectorXd data_;
};

/// Returns a number of a column that some tables lack.
double number_or(const core::Table& table, const std::string& column, std::size_t row, double otherwise) {
  return table.has(column) ? table.numbers(column)[row] : otherwise;
}

/// The largest differences between two codes at each period; zero where a table has one.
class Spreads {
 public:
  Spreads(const core::Table& table, const Places& places)
      : rho_percent_(places.frequencies_hz.size(), 0.0), phase_deg_(places.frequencies_hz.size(), 0.0) {
    for (const std::string name : {"xy", "yx"}) {
      if (!table.has("rho_" + name + "_other_ohm_m")) continue;
      const auto &rho = table.numbers("rho_" + name + "_ohm_m"),
                 &other_rho = table.numbers("rho_" + name + "_other_ohm_m"),
                 &phase = table.numbers("phase_" + name + "_deg"),
                 &other_phase = table.numbers("phase_" + name + "_other_deg");
      for (std::size_t row = 0; row < table.n_rows(); ++row) {
        double &of_rho = rho_percent_[places.frequency[row]], &of_phase = phase_deg_[places.frequency[row]];
        of_rho = std::max(of_rho, 100.0 * std::abs(other_rho[row] / rho[row] - 1.0));
        of_phase = std::max(of_phase, std::abs(std::remainder(other_phase[row] - phase[row], 360.0)));
      }
    }
  }
  [[nodiscard]] double rho_percent(int frequency) const { return rho_percent_[frequency]; }
  [[nodiscard]] double phase_deg(int frequency) const { return phase_deg_[frequency]; }

 private:
  std::vector<double> rho_percent_, phase_deg_;
};

}  // namespace

std::vector<core::Comparison> compare_volume(MPI_Comm comm, const PublishedVolume& model,
                                             const core::Table& reference,
                                             const d3::MeshDesignOptions& rules) {
  const Places places(reference);
  const Responses ours(comm, model.volume, places, rules);
  const Spreads spreads(reference, places);
  std::vector<core::Comparison> result;
  for (std::size_t row = 0; row < reference.n_rows(); ++row) {
    const int f = places.frequency[row], s = places.station[row];
    const std::string where = fmt::format("{:g} s x = {:g} m y = {:g} m ", reference.numbers("period_s")[row],
                                          places.stations[s].x_m, places.stations[s].y_m);
    for (int pair = 0; pair < 2; ++pair) {
      const std::string name = pair == 0 ? "xy" : "yx";
      const double rho_reference = reference.numbers("rho_" + name + "_ohm_m")[row],
                   phase_reference = reference.numbers("phase_" + name + "_deg")[row],
                   rho = std::pow(10.0, ours(2 * pair, f, s)), phase = deg_per_rad * ours(2 * pair + 1, f, s),
                   change = number_or(reference, "relchange_Z" + name + "_between_meshes", row, 0.0);
      const bool judged = 200.0 * change <= model.rho_limit_percent;
      const double rho_limit =
                       std::max({model.rho_limit_percent, spreads.rho_percent(f),
                                 100.0 * number_or(reference, "rho_" + name + "_relspread", row, 0.0)}),
                   phase_limit = std::max({model.phase_limit_deg, spreads.phase_deg(f),
                                           number_or(reference, "phase_" + name + "_spread_deg", row, 0.0)});
      result.push_back({where + "rho_" + name, "ohm m", rho_reference, rho, rho_limit,
                        100.0 * (rho / rho_reference - 1.0), "%", judged});
      result.push_back({where + "phase_" + name, "deg", phase_reference, phase, phase_limit,
                        std::remainder(phase - phase_reference, 360.0), "°", judged});
    }
    if (!reference.has("Tzx_re")) continue;
    int datum = 4;
    for (const char* part : {"Tzx_re", "Tzx_im", "Tzy_re", "Tzy_im"}) {
      const double expected = reference.numbers(part)[row], got = ours(datum++, f, s);
      result.push_back({where + part, "1", expected, got, model.tipper_limit, got - expected, "", true});
    }
  }
  return result;
}

}  // namespace lodestone::physics::mt::benchmarks
