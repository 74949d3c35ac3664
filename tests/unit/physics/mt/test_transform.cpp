// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_checks.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/error_id.hpp"

#include <cmath>
#include <numeric>
#include <random>

using namespace lodestone;
using namespace lodestone::physics::mt;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

std::vector<Datum> every_datum() {
  std::vector<Datum> data;
  for (std::size_t row = 0; row < n_datum_rows; ++row) data.push_back(static_cast<Datum>(row));
  return data;
}

Survey two_stations(const std::vector<Datum>& data) {
  Station a{"a", 0.0}, b{"b", 100.0};
  a.reference = "b";
  b.reference = "a";
  return full_survey({a, b}, {1.0, 10.0}, data);
}

Eigen::VectorXd some_responses(const ResponseLayout& layout) {
  std::mt19937 bits(3);
  std::uniform_real_distribution<double> draw(0.5, 2.0);
  return Eigen::VectorXd::NullaryExpr(layout.size(), [&] { return draw(bits); });
}

std::vector<Eigen::Index> every_index(Eigen::Index n) {
  std::vector<Eigen::Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Eigen::Index{0});
  return all;
}

Eigen::VectorXd joined(const Eigen::VectorXd& above, const Eigen::VectorXd& below) {
  Eigen::VectorXd both(above.size() + below.size());
  both << above, below;
  return both;
}

}  // namespace

TEST_CASE("response layout: holds what the data need, each once, by element, frequency and station",
          "[physics][mt][transform]") {
  const ResponseLayout layout =
      needed_responses(two_stations({Datum::phase_yx, Datum::log10_rho_yx, Datum::zxy_im}));
  REQUIRE(layout.keys().size() == 8);
  CHECK(layout.size() == 16);
  CHECK(layout.keys()[1] == ResponseKey{Element::zxy, 0, 1});
  CHECK(layout.find({Element::zyx, 1, 0}) == 6);
  CHECK(layout.find({Element::zxx, 1, 0}) == -1);
  const ResponseLayout tensor = needed_responses(two_stations({datum("phase_det")}));
  REQUIRE(tensor.keys().size() == 16);
  for (std::size_t k = 0; k < 16; ++k) CHECK(tensor.keys()[k].element == all_elements[k / 4]);
}

TEST_CASE("transform: data have the bits of their rules", "[physics][mt][transform]") {
  const Survey survey = two_stations(every_datum());
  const ResponseLayout layout = needed_responses(survey);
  const Eigen::VectorXd responses = some_responses(layout), data = Transform(survey, layout).value(responses);
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& [datum, frequency, station] = survey.keys[i];
    Elements::Values f;
    for (const Element element : all_elements) {
      const Eigen::Index at = 2 * layout.find({element, frequency, station});
      f[element] = {responses[at], responses[at + 1]};
    }
    INFO(name_of(datum));
    CHECK(data[static_cast<Eigen::Index>(i)] ==
          rule_of(datum).value(f, omega(survey.frequencies_hz[static_cast<std::size_t>(frequency)])));
  }
}

TEST_CASE("transform: names the datum whose element is not predicted", "[physics][mt][transform]") {
  const Survey survey = two_stations({Datum::zxy_re, datum("tzx_re")});
  const ResponseLayout predicted = needed_responses(two_stations({Datum::zxy_re, Datum::zyx_re}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)Transform(survey, predicted); }),
             HasId("not_predicted", {"tzx_re", "a", "1", "Tzx"}));
}

TEST_CASE("transform: over layers and along strike a determinant is made of Zxy and Zyx alone",
          "[physics][mt][transform]") {
  const Survey survey = two_stations({datum("phase_det"), datum("log10_rho_ssq")});
  const ResponseLayout layout = needed_responses(survey, section_elements);
  REQUIRE(layout.size() == 16);  // two elements, frequencies and stations, two parts
  const Eigen::VectorXd responses = some_responses(layout);
  const Transform transform(survey, layout);
  const Eigen::VectorXd data = transform.value(responses);
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& [quantity, frequency, station] = survey.keys[i];
    Elements::Values f;
    for (const Element element : {Element::zxy, Element::zyx}) {
      const Eigen::Index at = 2 * layout.find({element, frequency, station});
      f[element] = {responses[at], responses[at + 1]};
    }
    CHECK(data[static_cast<Eigen::Index>(i)] ==
          rule_of(quantity).value(f, omega(survey.frequencies_hz[static_cast<std::size_t>(frequency)])));
  }
  const auto derivative = core::check_derivative(transform, responses);
  INFO(derivative.report);
  CHECK(derivative.passed);
  CHECK(needed_responses(two_stations({datum("zxx_re")}), section_elements).keys().front().element ==
        Element::zxx);  // which the simulation refuses
}

TEST_CASE(
    "distortion: a static shift adds to log10 ρₐ, scales the impedance by its root, and leaves the rest",
    "[physics][mt][transform]") {
  const Survey survey =
      two_stations({Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im, Datum::tzy_re, Datum::tzy_im,
                    Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
  const ResponseLayout layout = needed_responses(survey);
  const DistortionUnknowns keys = static_shifts(survey, {Mode::te, Mode::tm});
  const Eigen::VectorXd shifts = Eigen::Vector4d(0.1, -0.2, 0.4, 0.3), responses = some_responses(layout);
  const core::MapPtr map =
      data_map(core::select(layout.size(), every_index(layout.size())), layout, survey, keys);
  REQUIRE(map->size_in() == layout.size() + 4);
  const Eigen::VectorXd data = Transform(survey, layout).value(responses),
                        moved = map->value(joined(responses, shifts));
  REQUIRE(moved.size() == data.size() + 4);
  CHECK(moved.tail(4) == shifts);  // what their prior is compared with
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const auto& key = survey.keys[i];
    const auto k = static_cast<Eigen::Index>(i);
    const double s = shifts[2 * static_cast<int>(mode_of(key.quantity)) + key.station];
    const FloorKind kind = rule_of(key.quantity).floor;
    INFO(name_of(key.quantity));
    CHECK(moved[k] == Approx(kind == FloorKind::log10_rho   ? data[k] + s
                             : kind == FloorKind::impedance ? data[k] * std::pow(10.0, 0.5 * s)
                                                            : data[k]));
  }
}

TEST_CASE("distortion: each mode of a station has one shift", "[physics][mt][transform]") {
  const ResponseLayout all = needed_responses(two_stations({datum("phase_det")}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)Distortion(all, {DistortionKind::static_shift, {{1, 0, 0}, {1, 1, 1}, {1, 0, 0}}});
             }),
             HasId("repeated_entry", {"0", "1"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] {
               (void)Distortion(all, {DistortionKind::static_shift, {{1, 0, 1}}});
             }),
             HasId("beside_diagonal", {"0", "1"}));
}

TEST_CASE(
    "distortion: a matrix multiplies the impedance, and leaves phase tensors, tippers and phases of the "
    "determinant",
    "[physics][mt][transform]") {
  const Survey survey = two_stations(every_datum());
  const ResponseLayout layout = needed_responses(survey);
  const DistortionUnknowns matrices = full_distortion(survey);
  REQUIRE(matrices.size() == 8);
  Eigen::VectorXd p(8);
  p << 0.1, -0.2, 0.3, 0.15, -0.1, 0.25, 0.05, -0.3;
  const Eigen::VectorXd responses = some_responses(layout), moved_by = joined(responses, p);
  const core::MapPtr map =
      data_map(core::select(layout.size(), every_index(layout.size())), layout, survey, matrices);
  const Eigen::VectorXd data = Transform(survey, layout).value(responses), moved = map->value(moved_by);
  REQUIRE(moved.size() == data.size() + 8);
  CHECK(moved.tail(8) == p);
  const auto slopes = map->linearize(moved_by);
  const auto z_at = [&](const DatumKey& key, Element element) {
    const Eigen::Index at = 2 * layout.find({element, key.frequency, key.station});
    return Complex(responses[at], responses[at + 1]);
  };
  const Eigen::MatrixXd by_p = slopes->jacobian().rightCols(8);
  for (std::size_t i = 0; i < survey.keys.size(); ++i) {
    const DatumKey& key = survey.keys[i];
    const auto k = static_cast<Eigen::Index>(i);
    const Eigen::Matrix2d c = Eigen::Matrix2d::Identity() +
                              Eigen::Matrix2d(p.segment<4>(4 * key.station).reshaped(2, 2).transpose());
    INFO(name_of(key.quantity));
    if (!is_distorted(key.quantity)) {
      CHECK(moved[k] == Approx(data[k]));
      CHECK(by_p.row(k).norm() < 1e-11);
    }
    const Complex zxx = c(0, 0) * z_at(key, Element::zxx) + c(0, 1) * z_at(key, Element::zyx),
                  zyx = c(1, 0) * z_at(key, Element::zxx) + c(1, 1) * z_at(key, Element::zyx);
    if (key.quantity == datum("zxx_im")) CHECK(moved[k] == Approx(zxx.imag()));
    if (key.quantity == Datum::zyx_re) CHECK(moved[k] == Approx(zyx.real()));
    if (key.quantity == Datum::phase_yx) CHECK(moved[k] == Approx(std::arg(zyx)));
  }
}

TEST_CASE("distortion: responses that a matrix mixes in are simulated though no datum is made of them",
          "[physics][mt][transform]") {
  const Survey survey = two_stations({Datum::zxy_re, Datum::tzy_im});
  const DistortionUnknowns matrices = full_distortion(survey);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)Distortion(needed_responses(survey), matrices); }),
             HasId("not_predicted", {"Zyy", "Zxy", "0"}));
  const ResponseLayout mixed = needed_responses(with_mixed_responses(survey, matrices));
  CHECK(mixed.keys().size() == 12);
  CHECK(mixed.find({Element::zyy, 1, 1}) >= 0);
  CHECK(Distortion(mixed, matrices).size_in() == mixed.size() + 8);
  const Survey shifted = with_mixed_responses(survey, static_shifts(survey, {Mode::te}));
  CHECK(needed_responses(shifted).keys() == needed_responses(survey).keys());
}
