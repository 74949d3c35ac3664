// SPDX-License-Identifier: Apache-2.0
#include "models/earths/synthetic.hpp"

#include "engine/core/error.hpp"
#include "engine/core/random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace lodestone::models::earths {
namespace {

constexpr double resolution_m = 125.0;      // pieces of slanted edges; cells that an edge cuts hold the mean
constexpr std::uint64_t seed = 20'240'117;  // no training has it

/// One number after the other: never two of them in one expression whose order is open.
class Draws {
 public:
  explicit Draws(std::uint64_t stream) : random_(seed, stream) {}
  double between(double low, double high) { return low + (high - low) * random_.uniform(next_++); }
  int whole(int low, int high) { return std::min(high, static_cast<int>(between(low, high + 1.0))); }
  bool heads() { return between(0.0, 1.0) < 0.5; }

 private:
  core::Philox random_;
  std::uint64_t next_ = 0;
};

struct Corner {
  double y_m, z_m;
};
using Corners = std::vector<Corner>;

std::string polygon(const Corners& corners, double log10_rho) {
  std::string points;
  for (const Corner& corner : corners)
    points += fmt::format("{}[{:.2f}, {:.2f}]", points.empty() ? "" : ", ", corner.y_m, corner.z_m);
  return fmt::format("\n[[polygon]]\npoints = [{}]\nresistivity_ohm_m = {:.6g}\n", points,
                     std::pow(10.0, log10_rho));
}

/// A formation as a geologist would know it from the area; the training prior has these ranges as well.
struct Formation {
  double thickness_from_m, thickness_to_m, log10_from, log10_to;
};
constexpr Formation upper{110, 240, 1.45, 1.95}, middle{270, 550, 2.1, 2.5}, lower{0, 0, 2.5, 2.9};
double conductor(Draws& draws) { return draws.between(0.52, 0.88); }
double resistor(Draws& draws) { return draws.between(2.87, 3.13); }

/// Returns an interface from −20 to 30 km: a broad arch or trough of two sines, level beyond the profile.
Corners interface_at(Draws& draws, double depth_m, double relief_m) {
  const double first = draws.between(0.0, 2.0 * std::numbers::pi),
               second = draws.between(0.0, 2.0 * std::numbers::pi);
  const double length_m = draws.between(3500.0, 9000.0), share = draws.between(0.2, 0.5);
  Corners line{{-20000.0, depth_m}};
  for (double y = -1000.0; y <= 11000.0; y += 1000.0) {
    const double along = 2.0 * std::numbers::pi * y / length_m;
    line.push_back({y, depth_m + relief_m * ((1.0 - share) * std::sin(along + first) +
                                             share * std::sin(2.3 * along + second))});
  }
  line.push_back({30000.0, depth_m});
  return line;
}

/// Returns all above a line, from a little above the surface.
std::string all_above(Corners line, double log10_rho) {
  line.push_back({30000.0, -50.0});
  line.push_back({-20000.0, -50.0});
  return polygon(line, log10_rho);
}

/// Returns three formations; the deepest is the background, each of the others all that lies above its floor.
std::string formations(Draws& draws, double most_relief_m) {
  const double first_m = draws.between(upper.thickness_from_m, upper.thickness_to_m);
  const double second_m = first_m + draws.between(middle.thickness_from_m, middle.thickness_to_m);
  std::string text = fmt::format("[background]\nresistivity_ohm_m = [{:.6g}]\n",
                                 std::pow(10.0, draws.between(lower.log10_from, lower.log10_to)));
  Corners floor = interface_at(draws, second_m, draws.between(0.3, 1.0) * most_relief_m);
  text += all_above(std::move(floor), draws.between(middle.log10_from, middle.log10_to));
  floor = interface_at(draws, first_m, draws.between(0.1, 0.5) * most_relief_m);
  return text + all_above(std::move(floor), draws.between(upper.log10_from, upper.log10_to));
}

constexpr double gentle_m = 30.0;

/// Returns a body that is thick at one end and thin at the other, its top and floor bent in the middle.
std::string wedge(Draws& draws) {
  const std::string text = formations(draws, gentle_m);
  const double from = draws.between(3050.0, 3900.0), to = draws.between(5300.0, 6900.0),
               middle_y = draws.between(0.35, 0.65);
  double thick = draws.between(120.0, 280.0), thin = draws.between(40.0, 70.0),
         top = draws.between(230.0, 420.0);
  double end = std::clamp(top + draws.between(-120.0, 160.0), 220.0, 650.0);
  if (draws.heads()) std::swap(thick, thin);
  const double bend = draws.between(-25.0, 25.0), at = from + middle_y * (to - from);
  const auto mean = [&](double a, double b) { return a + middle_y * (b - a); };
  return text + polygon({{from, top},
                         {at, mean(top, end) + bend},
                         {to, end},
                         {to, end + thin},
                         {at, mean(top + thick, end + thin) + bend},
                         {from, top + thick}},
                        conductor(draws));
}

/// Returns one to three boxes with slanted sides, side by side.
std::string blocks(Draws& draws) {
  const int n = draws.whole(1, 3);
  std::string text = formations(draws, gentle_m);
  const double pitch = 3800.0 / n;
  for (int i = 0; i < n; ++i) {
    const double width = draws.between(0.4, 0.75) * std::min(pitch, 2000.0);
    const double left = 3100.0 + pitch * i + draws.between(0.0, pitch - width),
                 slant = draws.between(-60.0, 60.0);
    const double top = draws.between(230.0, 480.0), bottom = top + draws.between(90.0, 260.0),
                 tilt = draws.between(-30.0, 30.0);
    text += polygon({{left, top},
                     {left + width, top + tilt},
                     {left + width + slant, bottom + tilt},
                     {left + slant, bottom}},
                    draws.between(0.0, 1.0) < 0.65 ? conductor(draws) : resistor(draws));
  }
  return text;
}

/// Returns formations with strong relief, and a conductive bed that follows a relief of its own and ends
/// within the region or goes on.
std::string relief(Draws& draws) {
  std::string text = formations(draws, 80.0);
  const double depth = draws.between(320.0, 560.0), amplitude = draws.between(20.0, 70.0),
               thickness = draws.between(60.0, 140.0);
  const Corners top = interface_at(draws, depth, amplitude);
  const auto first = static_cast<std::size_t>(draws.whole(3, 5)),
             last = static_cast<std::size_t>(draws.whole(8, 12));
  Corners bed(top.begin() + static_cast<std::ptrdiff_t>(first),
              top.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  for (std::size_t i = bed.size(); i-- > 0;) bed.push_back({bed[i].y_m, bed[i].z_m + thickness});
  return text + polygon(bed, conductor(draws));
}

/// Returns a filled trough with a round floor, or one or two steep slabs.
std::string basin_dike(Draws& draws) {
  std::string text = formations(draws, gentle_m);
  if (draws.heads()) {
    const double middle_y = draws.between(4400.0, 5600.0), half = draws.between(800.0, 1700.0),
                 top = draws.between(210.0, 320.0);
    const double depth = draws.between(120.0, 320.0), skew = draws.between(-0.3, 0.3);
    Corners corners{{middle_y + half, top}, {middle_y - half, top}};
    for (int i = 1; i < 8; ++i) {
      const double x = std::cos(std::numbers::pi * (1.0 - i / 8.0));
      corners.push_back({middle_y + half * (x + skew * (1.0 - x * x)), top + depth * std::sqrt(1.0 - x * x)});
    }
    return text + polygon(corners, conductor(draws));
  }
  const int n = draws.whole(1, 2);
  for (int i = 0; i < n; ++i) {
    const double left = (n == 1 ? draws.between(3600.0, 5600.0)
                                : 3400.0 + 1900.0 * i + draws.between(0.0, 900.0)),
                 width = draws.between(250.0, 600.0);
    const double top = draws.between(230.0, 350.0), bottom = draws.between(560.0, 740.0),
                 shift = draws.between(-250.0, 250.0);
    text +=
        polygon({{left, top}, {left + width, top}, {left + width + shift, bottom}, {left + shift, bottom}},
                draws.heads() ? conductor(draws) : resistor(draws));
  }
  return text;
}

Corners ellipse(double y_m, double z_m, double half_width_m, double half_height_m) {
  Corners corners;
  for (int i = 0; i < 20; ++i) {
    const double angle = 2.0 * std::numbers::pi * (i + 0.5) / 20.0;
    corners.push_back({y_m + half_width_m * std::cos(angle), z_m + half_height_m * std::sin(angle)});
  }
  return corners;
}

/// Returns an intrusion of 3000 to 10 000 ohm m inside a rim of 1 to 2.5 ohm m: two bodies in every profile
/// through it, both beyond the prior's resistivities.
std::string rimmed(Draws& draws) {
  std::string text = formations(draws, gentle_m);
  const double y = draws.between(4300.0, 5700.0), z = draws.between(420.0, 520.0),
               width = draws.between(700.0, 1200.0), height = draws.between(130.0, 190.0);
  const double rim = draws.between(40.0, 60.0);
  text += polygon(ellipse(y, z, width, height), draws.between(0.0, 0.4));
  return text + polygon(ellipse(y, z, width - 4.0 * rim, height - rim), draws.between(3.5, 4.0));
}

struct Family {
  SyntheticFamily about;
  std::function<std::string(Draws&)> draw;
};

const std::vector<Family>& families() {
  static const std::vector<Family> all{
      {{"wedge", "a bent wedge, thick at one end"}, wedge},
      {{"blocks", "one to three boxes with slanted sides"}, blocks},
      {{"relief", "formations and a bed with strong relief"}, relief},
      {{"basin_dike", "a trough with a round floor, or steep slabs"}, basin_dike},
      {{"rimmed", "an intrusion inside a conductive rim, out of the prior's family", false}, rimmed},
  };
  return all;
}

}  // namespace

const std::vector<SyntheticFamily>& synthetic_families() {
  static const std::vector<SyntheticFamily> all = [] {
    std::vector<SyntheticFamily> result;
    for (const Family& family : families()) result.push_back(family.about);
    return result;
  }();
  return all;
}

std::string synthetic_model(const std::string& family, int number) {
  const auto found =
      std::ranges::find(families(), family, [](const Family& each) { return each.about.name; });
  if (found == families().end())
    throw core::InvalidArgument("models::synthetic_model#unknown_family",
                                "no family of synthetic models is called \"{}\"", family);
  Draws draws(static_cast<std::uint64_t>(found - families().begin()) * 100'000 +
              static_cast<std::uint64_t>(number));
  return fmt::format("# {} {}: {}\nresolution_m = {:g}\n\n{}", family, number, found->about.description,
                     resolution_m, found->draw(draws));
}

}  // namespace lodestone::models::earths
