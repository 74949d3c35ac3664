// SPDX-License-Identifier: Apache-2.0
#include "engine/core/data_set.hpp"
#include "engine/core/store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

#include <limits>
#include <numbers>

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;

/// Returns log10 ρₐ, a phase and a missing phase.
DataSetParts example() {
  return {.observed = Eigen::Vector3d(2.0, 3.0, missing),
          .sigma = Eigen::Vector3d(0.1, 0.05, 0.05),
          .turn = Eigen::Vector3d(0.0, 2.0 * pi, 2.0 * pi),
          .reason = {0, 0, 1},
          .reasons = {"used", "missing"},
          .key = Table().add_texts("site", {"a", "b", "c"}).add_numbers("period_s", "s", {1.0, 1.0, 10.0})};
}

template <class E, class Change>
Error error_with(Change change) {
  return error_of<E>([&] {
    DataSetParts parts = example();
    change(parts);
    (void)DataSet(parts);
  });
}

}  // namespace

TEST_CASE("DataSet: counts what is used and compares with a prediction, wrapped by its turn", "[core]") {
  const DataSet data(example());
  CHECK(data.size() == 3);
  CHECK(data.n_used() == 2);
  CHECK(data.is_used(1));
  CHECK_FALSE(data.is_used(2));
  const Eigen::VectorXd difference = data.difference(Eigen::Vector3d(9.0, -3.0, 1.0));
  CHECK(difference[0] == -7.0);
  CHECK(difference[1] == Approx(6.0 - 2.0 * pi));
  CHECK(difference[2] == 0.0);
  CHECK_THAT(error_of<ShapeError>([&] { (void)data.difference(Eigen::Vector2d::Zero()); }),
             HasId("wrong_prediction", {"3", "2"}));
}

TEST_CASE("wrapped: the half turn belongs to the upper end, and turn 0 does not wrap", "[core]") {
  CHECK(wrapped(180.0, 360.0) == 180.0);
  CHECK(wrapped(-180.0, 360.0) == 180.0);
  CHECK(wrapped(540.0, 360.0) == 180.0);
  CHECK(wrapped(-190.0, 360.0) == 170.0);
  CHECK(wrapped(100.0, 180.0) == -80.0);
  CHECK(wrapped(1e6, 0.0) == 1e6);
}

TEST_CASE("DataSet: without turns and reasons nothing is wrapped and all data are used", "[core]") {
  const DataSet data({.observed = Eigen::Vector2d(7.0, 8.0), .sigma = Eigen::Vector2d::Ones()});
  CHECK(data.n_used() == 2);
  CHECK(data.difference(Eigen::Vector2d(-7.0, 0.0)) == Eigen::Vector2d(14.0, 8.0));
  CHECK(data.reasons() == std::vector<std::string>{"used"});
  CHECK(data.describe(1) == "row 1");
  CHECK(DataSet().size() == 0);
}

TEST_CASE("DataSet: of a table takes two columns, keeps the others as key, and leaves missing values out",
          "[core]") {
  Table readings =
      Table().add_numbers("half_ab_m", "m", {1.0, 2.0}).add_numbers("log10_rho_a", "", {2.5, missing});
  readings.add_numbers("sigma", "", {0.1, missing});
  readings.set_origin("sounding.csv");
  const DataSet data(readings, "log10_rho_a", "sigma");
  CHECK(data.observed()[0] == 2.5);
  CHECK(data.sigma()[0] == 0.1);
  CHECK(data.reason() == std::vector<int>{0, 1});
  CHECK(data.reasons()[1] == "missing");
  CHECK(data.key().names() == std::vector<std::string>{"half_ab_m"});
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)DataSet(readings, "rho_a", "sigma"); }),
             HasId("no_such_column", {"sounding.csv", "\"rho_a\""}));
  const Table bad = Table().add_numbers("d", "", {1.0}).add_numbers("s", "", {missing});
  CHECK_THAT(error_of<InvalidArgument>([&] { (void)DataSet(bad, "d", "s"); }),
             HasId("wrong_sigma", {"row 0"}));
}

TEST_CASE("DataSet: faults are refused with the row and its key", "[core]") {
  CHECK_THAT(error_with<ShapeError>([](auto& parts) { parts.sigma.conservativeResize(2); }),
             HasId("wrong_size", {"3", "2"}));
  CHECK_THAT(error_with<ShapeError>([](auto& parts) { parts.reason.push_back(0); }),
             HasId("wrong_size", {"4"}));
  CHECK_THAT(error_with<ShapeError>([](auto& parts) { parts.key = Table().add_texts("site", {"a"}); }),
             HasId("wrong_key", {"3", "1"}));
  CHECK_THAT(error_with<InvalidArgument>([](auto& parts) { parts.observed[1] = missing; }),
             HasId("not_finite", {"row 1", "site = b", "period_s = 1", "nan"}));
  for (const double sigma : {0.0, -1.0, missing, std::numeric_limits<double>::infinity()})
    CHECK_THAT(error_with<InvalidArgument>([&](auto& parts) { parts.sigma[0] = sigma; }),
               HasId("wrong_sigma", {"row 0", "site = a"}));
  CHECK_THAT(error_with<InvalidArgument>([](auto& parts) { parts.turn[2] = -1.0; }),
             HasId("wrong_turn", {"row 2"}));
  CHECK_THAT(error_with<InvalidArgument>([](auto& parts) { parts.reason[0] = 2; }),
             HasId("no_such_reason", {"row 0", "0 … 1", "2"}));
  CHECK_THAT(error_with<InvalidArgument>([](auto& parts) { parts.reason[0] = -1; }), HasId("no_such_reason"));
  CHECK_THAT(error_with<InvalidArgument>([](auto& parts) {
               parts.reasons = {"missing", "used"};
             }),
             HasId("wrong_reasons"));
}

TEST_CASE("DataSet: comes back as it was written", "[core]") {
  MemoryArrays arrays;
  const DataSet data(example());
  write(arrays, "run/data", data);
  CHECK(read_data_set(arrays, "run/data") == data);
  write(arrays, "none", DataSet());
  CHECK(read_data_set(arrays, "none").size() == 0);
  DataSetParts other = example();
  other.reasons[1] = "listed";
  CHECK_FALSE(DataSet(other) == data);
  write_vector(arrays, "run/data/reason", std::vector<std::int64_t>{0, 0, 5});
  CHECK_THAT(error_of<FormatError>([&] { (void)read_data_set(arrays, "run/data"); }),
             HasId("damaged", {"memory", "\"run/data\"", "row 2", "0 … 1"}));
}
