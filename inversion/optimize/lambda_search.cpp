// SPDX-License-Identifier: Apache-2.0
#include "inversion/optimize/lambda_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

namespace lodestone::inversion::optimize {
namespace {

constexpr double step_growth = 1.5, largest_step = 1.0;  // in log10 λ
constexpr double worthwhile_gain = 0.01;  // relative fall of rms that pays for another forward run

/// The closeness to the target at which the search for the largest λ there ends.
struct Closeness {
  double share;      ///< share of the target that counts as met from below
  double tolerance;  ///< in log10 λ
};
Closeness closeness(const LambdaSearchOptions& options) {
  return options.any_at_target ? Closeness{0.97, 3.0 * options.tolerance}
                               : Closeness{0.99, options.tolerance};
}

/// Trials in x = log10 λ; everything it does follows from the rms values alone, so that all ranks search
/// alike.
class Search {
 public:
  Search(const std::function<double(double)>& rms_of, const LambdaSearchOptions& options)
      : rms_of_(rms_of), options_(options), close_(closeness(options)) {}

  LambdaSearchResult run(double x_start) {
    if (!lower_rms(x_start)) approach_target_from_below();
    return result();
  }

 private:
  [[nodiscard]] bool exhausted() const { return static_cast<int>(trials_.size()) >= options_.max_trials; }

  double run_trial(double x) {
    const double lambda = std::pow(10.0, x);
    const double rms = rms_of_(lambda);
    trials_.push_back({lambda, std::isfinite(rms) ? rms : std::numeric_limits<double>::infinity()});
    by_x_[x] = trials_.size() - 1;
    return trials_.back().rms;
  }
  [[nodiscard]] double rms_at(std::map<double, std::size_t>::const_iterator it) const {
    return trials_[it->second].rms;
  }
  [[nodiscard]] bool meets(double rms) const { return rms <= options_.target_rms; }

  /// Walks downhill from x and refines by a parabola; false as soon as a trial meets the target, true when
  /// the smallest (or a sufficient) rms is found without.
  bool lower_rms(double x) {
    const double start = run_trial(x);
    if (meets(start)) return false;
    if (start <= options_.sufficient_rms) return true;
    double best_x = x, best = start;
    const double first_direction = std::isfinite(start) && start <= options_.current_rms ? -1.0 : 1.0;
    for (const double direction : {first_direction, -first_direction}) {
      const bool moved = walk(direction, best_x, best);
      if (meets(best)) return false;
      if (moved) break;  // the other side of the start is known to be higher or flat
    }
    const bool none_helps = options_.current_rms > 0.0 && best > options_.current_rms;
    if (none_helps && climb(best_x, best)) return !meets(best);
    if (const auto vertex = parabola_vertex(best_x); vertex && !exhausted()) best = run_trial(*vertex);
    return !meets(best);
  }

  bool walk(double direction, double& best_x, double& best) {
    bool moved = false;
    double step = options_.first_step;
    while (!exhausted()) {
      const double x = best_x + direction * step;
      const double rms = run_trial(x);
      if (!std::isfinite(best) && !std::isfinite(rms) &&
          direction > 0.0) {  // keep climbing out of models that cannot be run
        best_x = x;
        step = std::min(step_growth * step, largest_step);
        continue;
      }
      if (!(rms < best)) return moved;
      const bool worthwhile = rms < (1.0 - worthwhile_gain) * best || !std::isfinite(best);
      best_x = x;
      best = rms;
      moved = true;
      if (meets(rms) || !worthwhile) return moved;
      step = std::min(step_growth * step, largest_step);
    }
    return moved;
  }

  /// Climbs from the largest λ of the trials, none of which helps: where steps are far too long for the
  /// linear problem, neighbours among them tell nothing. It ends at the first trial below the present rms, or
  /// where the rms rises. returns: whether there is one.
  bool climb(double& best_x, double& best) {
    double last = std::numeric_limits<double>::infinity();
    while (!exhausted()) {
      const double x = std::prev(by_x_.end())->first + largest_step;
      const double rms = run_trial(x);
      if (rms < best) {
        best_x = x;
        best = rms;
      }
      if (rms < options_.current_rms) return true;
      if (rms > last) return false;
      last = rms;
    }
    return false;
  }

  /// Returns the minimum of the parabola through the best trial and its neighbours where it promises a
  /// worthwhile gain.
  [[nodiscard]] std::optional<double> parabola_vertex(double best_x) const {
    const auto middle = by_x_.find(best_x);
    if (middle == by_x_.begin() || std::next(middle) == by_x_.end()) return std::nullopt;
    const auto left = std::prev(middle), right = std::next(middle);
    if (!std::isfinite(rms_at(left)) || !std::isfinite(rms_at(right))) return std::nullopt;
    const double to_left = left->first - best_x, to_right = right->first - best_x;
    const double slope_left = (rms_at(left) - rms_at(middle)) / to_left,
                 slope_right = (rms_at(right) - rms_at(middle)) / to_right;
    const double curvature = (slope_right - slope_left) / (to_right - to_left);
    if (!(curvature > 0.0)) return std::nullopt;
    const double slope = slope_left - curvature * to_left;
    const double gain = 0.25 * slope * slope / curvature;
    if (gain < worthwhile_gain * rms_at(middle)) return std::nullopt;
    return best_x - 0.5 * slope / curvature;
  }

  /// A trial meets the target: brackets the largest such λ and closes in on it.
  void approach_target_from_below() {
    double step = options_.first_step;
    while (!exhausted()) {
      const auto low = largest_that_meets();
      const auto high = std::next(low);
      if (rms_at(low) >= close_.share * options_.target_rms ||
          (options_.suffices && options_.suffices(low->second)))
        return;
      if (high == by_x_.end()) {
        run_trial(low->first + step);
        step = std::min(step_growth * step, largest_step);
      } else {
        if (high->first - low->first <= close_.tolerance) return;
        run_trial(between(low, high));
      }
    }
  }

  [[nodiscard]] std::map<double, std::size_t>::const_iterator largest_that_meets() const {
    auto it = std::prev(by_x_.end());
    while (!meets(rms_at(it))) --it;
    return it;
  }

  /// Returns the λ at which ln rms, linear between two trials, falls just below the target. Without a
  /// finite rms at both it is the middle.
  [[nodiscard]] double between(std::map<double, std::size_t>::const_iterator low,
                               std::map<double, std::size_t>::const_iterator high) const {
    double share = 0.5;
    if (std::isfinite(rms_at(high)) && rms_at(low) > 0.0) {
      const double aim = 0.5 * (1.0 + close_.share) * options_.target_rms;
      share = std::log(aim / rms_at(low)) / std::log(rms_at(high) / rms_at(low));
    }
    return low->first + std::clamp(share, 0.1, 0.9) * (high->first - low->first);
  }

  [[nodiscard]] LambdaSearchResult result() const {
    LambdaSearchResult result{.trials = trials_, .best = 0, .target_reached = false};
    for (const auto& [x, index] : by_x_) {
      const double rms = trials_[index].rms;
      if (meets(rms)) {
        result.best = index;  // in ascending λ: the last one is the largest
        result.target_reached = true;
      } else if (!result.target_reached && rms <= trials_[result.best].rms) {
        result.best = index;  // of equal ones the larger λ
      }
    }
    return result;
  }

  const std::function<double(double)>& rms_of_;
  const LambdaSearchOptions& options_;
  Closeness close_;
  std::vector<LambdaTrial> trials_;
  std::map<double, std::size_t> by_x_;
};

}  // namespace

LambdaSearchResult search_lambda(const std::function<double(double)>& rms_of, double lambda_start,
                                 const LambdaSearchOptions& options) {
  return Search(rms_of, options).run(std::log10(lambda_start));
}

}  // namespace lodestone::inversion::optimize
