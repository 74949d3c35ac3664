// SPDX-License-Identifier: Apache-2.0
#include "apps/mt_invert/method/observations.hpp"
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "io/mare2dem/data.hpp"
#include "io/modem/modem.hpp"
#include "io/mt2d/data.hpp"
#include "physics/mt/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace lodestone::mt_invert::method {
namespace {

namespace mt = physics::mt;

/// |Z| at one station and frequency, from both parts.
class ImpedanceSizes {
 public:
  explicit ImpedanceSizes(const mt::ObservedData& data) {
    for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
      const auto& key = data.survey.keys[i];
      double& sum = squares_[place(key)];
      sum += data.value[static_cast<Eigen::Index>(i)] * data.value[static_cast<Eigen::Index>(i)];
    }
  }
  [[nodiscard]] double operator()(const mt::DatumKey& key) const {
    return std::sqrt(squares_.at(place(key)));
  }

 private:
  using Place = std::tuple<int, int, int>;
  static Place place(const mt::DatumKey& key) {
    return {static_cast<int>(key.quantity) / 2, key.frequency, key.station};
  }
  std::map<Place, double> squares_;
};

void apply_floors(mt::ObservedData& data, const mt::ErrorFloors& floors) {
  const ImpedanceSizes sizes(data);
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    double& sigma = data.sigma[static_cast<Eigen::Index>(i)];
    const auto& key = data.survey.keys[i];
    const double floor = floor_of(mt::rule_of(key.quantity), floors, sizes(key));
    if (std::isfinite(floor)) sigma = std::isfinite(sigma) ? std::max(sigma, floor) : floor;
  }
}

bool applies(const mt::MaskRule& rule, const mt::DatumKey& key, const mt::Survey& survey) {
  const double frequency = survey.frequencies_hz[static_cast<std::size_t>(key.frequency)];
  return (rule.station.empty() ||
          rule.station == survey.stations[static_cast<std::size_t>(key.station)].name) &&
         (rule.quantities.empty() ||
          std::ranges::find(rule.quantities, key.quantity) != rule.quantities.end()) &&
         frequency >= rule.min_frequency_hz && frequency <= rule.max_frequency_hz;
}

void check_rules(const std::vector<mt::MaskRule>& rules, const mt::Survey& survey) {
  for (const auto& rule : rules) {
    if (!rule.station.empty() &&
        std::ranges::find(survey.stations, rule.station, &mt::Station::name) == survey.stations.end()) {
      throw core::ConfigError(
          "mt_invert", "a mask names station \"{}\", which the data file does not hold; check the name",
          rule.station);
    }
  }
}

/// Frequencies inside the band (and the list, if given); their new index, −1 for those left out.
std::vector<int> choose_frequencies(mt::Survey& survey, const config::DataConfig& config) {
  const auto& wanted = config.selection.frequencies_hz;
  std::vector<int> index(survey.frequencies_hz.size(), -1);
  std::vector<double> kept;
  for (std::size_t i = 0; i < survey.frequencies_hz.size(); ++i) {
    const double frequency = survey.frequencies_hz[i], period_s = 1.0 / frequency;
    const bool listed = wanted.empty() || std::ranges::any_of(wanted, [&](double each) {
                          return std::abs(each / frequency - 1.0) <= config.selection.frequency_tolerance;
                        });
    if (!listed || period_s < config.period_min_s || period_s > config.period_max_s) continue;
    index[i] = static_cast<int>(kept.size());
    kept.push_back(frequency);
  }
  survey.frequencies_hz = std::move(kept);
  return index;
}

/// The data of the chosen quantities and frequencies.
mt::ObservedData select(const mt::ObservedData& all, const config::DataConfig& config) {
  mt::ObservedData result;
  result.survey.stations = all.survey.stations;
  result.survey.frequencies_hz = all.survey.frequencies_hz;
  const std::vector<int> frequency = choose_frequencies(result.survey, config);
  std::vector<double> values, sigmas;
  for (std::size_t i = 0; i < all.survey.keys.size(); ++i) {
    mt::DatumKey key = all.survey.keys[i];
    key.frequency = frequency[static_cast<std::size_t>(key.frequency)];
    if (key.frequency < 0 ||
        std::ranges::find(config.selection.quantities, key.quantity) == config.selection.quantities.end())
      continue;
    result.survey.keys.push_back(key);
    values.push_back(all.value[static_cast<Eigen::Index>(i)]);
    sigmas.push_back(all.sigma[static_cast<Eigen::Index>(i)]);
    result.mask.push_back(all.mask[i]);
    result.interpolated.push_back(0);
  }
  result.value = Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  result.sigma = Eigen::Map<const Eigen::VectorXd>(sigmas.data(), static_cast<Eigen::Index>(sigmas.size()));
  return result;
}

/// The whole file, whichever format it has.
io::profile::ProfileData read_file(const config::DataConfig& config) {
  if (!config.mare2dem_file.empty()) return io::mare2dem::read_emdata(config.mare2dem_file);
  if (!config.mt2d_file.empty()) return io::mt2d::read_mt2d_data(config.mt2d_file);
  return {.data = io::modem::read_data(config.modem_file), .z_m = {}, .tilt_deg = {}, .warnings = {}};
}

}  // namespace

io::profile::ProfileData load_profile_data(const config::DataConfig& config) {
  io::profile::ProfileData file = read_file(config);
  for (const auto& warning : file.warnings) core::log::warning("{}", warning);
  mt::ObservedData& data = file.data;
  data = select(data, config);
  check_rules(config.selection.masks, data.survey);
  apply_floors(data, config.selection.floors);
  for (std::size_t i = 0; i < data.survey.keys.size(); ++i) {
    const bool listed = std::ranges::any_of(config.selection.masks, [&](const auto& rule) {
      return applies(rule, data.survey.keys[i], data.survey);
    });
    if (listed && data.mask[i] == mt::MaskReason::kept) data.mask[i] = mt::MaskReason::listed;
  }
  if (data.value.size() == 0 || data.n_kept() == 0) {
    throw core::InvalidArgument("mt_invert",
                                "{}: no datum is left; data.modes, data.kind, data.tipper and the periods "
                                "must match what the file holds",
                                config.profile_source().second);
  }
  data.survey.validate();
  return file;
}

}  // namespace lodestone::mt_invert::method
