// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/core/map_algebra.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/transform.hpp"
#include "physics/mt/units.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <random>

using namespace lodestone;
using namespace lodestone::physics::mt;
using Catch::Matchers::Contains;
using lodestone::tests::message_of;

namespace {

std::vector<Datum> every_datum() {
  std::vector<Datum> data;
  for (std::size_t row = 0; row < n_datum_rows; ++row) data.push_back(static_cast<Datum>(row));
  return data;
}

Survey two_stations(const std::vector<Datum>& data) {
  return full_survey({{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0}, data);
}

Eigen::VectorXd some_responses(const ResponseLayout& layout) {
  std::mt19937 bits(3);
  std::uniform_real_distribution<double> draw(0.5, 2.0);
  return Eigen::VectorXd::NullaryExpr(layout.size(), [&] { return draw(bits); });
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
  CHECK(layout.elements() == Elements{Element::zxy, Element::zyx});
  CHECK(layout.keys()[1] == ResponseKey{Element::zxy, 0, 1});
  CHECK(layout.find({Element::zyx, 1, 0}) == 6);
  CHECK(layout.find({Element::zxx, 1, 0}) == -1);
  CHECK(restricted(layout, {Element::zyx, Element::tzy}).keys().size() == 4);
  CHECK(needed_responses(two_stations({datum("phase_det")})).elements() == all_impedances);
}

TEST_CASE("response layout: its survey lists real and imaginary parts in the order of the responses",
          "[physics][mt][transform]") {
  const ResponseLayout layout = needed_responses(two_stations(every_datum()));
  const Survey survey = response_survey(layout, {{"a", 0.0}, {"b", 100.0}}, {1.0, 10.0});
  REQUIRE(static_cast<Eigen::Index>(survey.keys.size()) == layout.size());
  const Eigen::VectorXd responses = some_responses(layout);
  CHECK(Transform(survey, layout).value(responses) == responses);
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
  const ResponseLayout predicted = restricted(needed_responses(survey), {Element::zxy, Element::zyx});
  CHECK_THAT(message_of<core::InvalidArgument>([&] { (void)Transform(survey, predicted); }),
             Contains("tzx_re at station a") && Contains("Tzx"));
  const auto possible = predictable(survey, {Element::zxy, Element::zyx});
  CHECK((possible[0] && !possible[4]));
}

TEST_CASE("distortion: static shifts of responses act on data as static shifts of data",
          "[physics][mt][transform]") {
  const Survey survey =
      two_stations({Datum::zxy_re, Datum::zxy_im, Datum::zyx_re, Datum::zyx_im, Datum::tzy_re, Datum::tzy_im,
                    Datum::log10_rho_xy, Datum::phase_xy, Datum::log10_rho_yx, Datum::phase_yx});
  const ResponseLayout layout = needed_responses(survey);
  const auto keys = static_shift_keys(survey, {Mode::te, Mode::tm});
  const Eigen::VectorXd shifts = Eigen::Vector4d(0.1, -0.2, 0.4, 0.3), responses = some_responses(layout);
  const core::MapPtr distortion = Distortion::static_shifts(layout, keys);
  REQUIRE(distortion->size_in() == layout.size() + 4);
  const Transform transform(survey, layout);
  const Eigen::VectorXd through = transform.value(distortion->value(joined(responses, shifts))),
                        direct = shifted(transform.value(responses), survey, keys, shifts);
  CHECK((through - direct).cwiseAbs().maxCoeff() < 1e-14);
  CHECK((direct - transform.value(responses)).cwiseAbs().maxCoeff() > 0.1);
}

TEST_CASE("distortion: a matrix at a station multiplies its impedance from the left",
          "[physics][mt][transform]") {
  const Survey survey = two_stations({datum("phase_det"), datum("tzx_re"), datum("tzx_im")});
  const ResponseLayout layout = needed_responses(survey);
  const Eigen::VectorXd responses = some_responses(layout);
  const Eigen::Matrix2d c{{1.3, -0.2}, {0.4, 0.7}};
  const Eigen::VectorXd s{{c(0, 0) - 1.0, c(0, 1), c(1, 0), c(1, 1) - 1.0}};
  const Eigen::VectorXd out = Distortion::matrices(layout, layout, {1})->value(joined(responses, s));
  const auto tensor = [&](const Eigen::VectorXd& numbers, int station) {
    Eigen::Matrix2cd z;
    for (int k = 0; k < 4; ++k) {
      const Eigen::Index at = 2 * layout.find({all_elements[static_cast<std::size_t>(k)], 1, station});
      z(k / 2, k % 2) = Complex(numbers[at], numbers[at + 1]);
    }
    return z;
  };
  CHECK((tensor(out, 1) - c * tensor(responses, 1)).cwiseAbs().maxCoeff() < 1e-14);
  CHECK(tensor(out, 0) == tensor(responses, 0));
  const Eigen::Index tipper = 2 * layout.find({Element::tzx, 1, 1});
  CHECK(out.segment<2>(tipper) == responses.segment<2>(tipper));
}

TEST_CASE("distortion: elements that a two-dimensional earth lacks count as zero",
          "[physics][mt][transform]") {
  const Survey survey = two_stations({datum("phase_det")});
  const ResponseLayout all = needed_responses(survey);
  const ResponseLayout simulated = restricted(all, {Element::zxy, Element::zyx});
  const Eigen::VectorXd responses = some_responses(simulated), s{{0.1, 0.2, 0.3, 0.4, 0.0, 0.0, 0.0, 0.5}};
  const Eigen::VectorXd out = Distortion::matrices(simulated, all, {0, 1})->value(joined(responses, s));
  const Eigen::Index zxy = 2 * simulated.find({Element::zxy, 0, 0}),
                     zyx = 2 * simulated.find({Element::zyx, 0, 0});
  CHECK(out[2 * all.find({Element::zxx, 0, 0})] == Approx(0.2 * responses[zyx]));
  CHECK(out[2 * all.find({Element::zyy, 0, 0})] == Approx(0.3 * responses[zxy]));
  CHECK(out[2 * all.find({Element::zxy, 0, 0})] == Approx(1.1 * responses[zxy]));
  CHECK(message_of<core::InvalidArgument>([&] {
          (void)Distortion::matrices(simulated, needed_responses(two_stations({Datum::tzy_re})), {0});
        }).find("Tzy") != std::string::npos);
  CHECK_THROWS_AS(Distortion::matrices(all, all, {0, 0}), core::InvalidArgument);
  CHECK_THROWS_AS(Distortion::static_shifts(all, {{Mode::te, 0}, {Mode::te, 0}}), core::InvalidArgument);
}
