// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/modem/covariance.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/text_fixture.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;

namespace {

const std::string head = [] {
  std::string lines;
  for (int i = 0; i < 16; ++i) lines += "| covariance |\n";
  return lines;
}();

core::Error message(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = write_text(folder, "m.cov", text);
  return error_of<core::FormatError>([&] { (void)modem::read_covariance(path); });
}

}  // namespace

TEST_CASE("ModEM covariance: rows go from north to south, blocks cover layers, the rest is area 1",
          "[modem]") {
  const TemporaryFolder folder;
  const auto file =
      modem::read_covariance(write_text(folder, "m.cov",
                                        head + "2 3 4\n0.1 0.2 0.3 0.4\n0.5 0.6 0.7 0.8\n0.9\n2\n1\n2 3 "
                                               "0.5\n1 2\n9 9 2\n2 2 2\n4 4\n0 3 3\n3 3 3\n"));
  CHECK(file.x_smoothing == std::vector<double>{0.1, 0.2, 0.3, 0.4});
  CHECK(file.y_smoothing == std::vector<double>{0.5, 0.6, 0.7, 0.8});
  CHECK((file.z_smoothing == 0.9 && file.n_times == 2));
  REQUIRE(file.exceptions.size() == 1);
  CHECK((file.exceptions[0].area == 2 && file.exceptions[0].other_area == 3 &&
         file.exceptions[0].smoothing == 0.5));
  for (const int layer : {0, 1}) {
    CHECK(file.area_of(1, 0, layer) == modem::Covariance::sea);  // the northern row stands first
    CHECK((file.area_of(1, 2, layer) == 2 && file.area_of(0, 0, layer) == 2));
  }
  CHECK((file.area_of(0, 0, 2) == 1 && file.area_of(1, 0, 3) == modem::Covariance::air &&
         file.area_of(0, 0, 3) == 3));
}

TEST_CASE("ModEM covariance: the BLOCK2 example survives writing and reading", "[modem]") {
  const TemporaryFolder folder;
  const auto file = modem::read_covariance(source_path("data/modem_block2_3d/example.cov"));
  CHECK((file.n_x == 21 && file.n_y == 28 && file.n_z == 11));
  CHECK(std::ranges::count(file.area, modem::Covariance::sea) > 0);
  modem::write_covariance(folder / "m.cov", file);
  const auto back = modem::read_covariance(folder / "m.cov");
  CHECK((back.area == file.area && back.x_smoothing == file.x_smoothing &&
         back.y_smoothing == file.y_smoothing));
  CHECK((back.z_smoothing == file.z_smoothing && back.n_times == file.n_times));
  CHECK(back.exceptions.size() == file.exceptions.size());
}

TEST_CASE("ModEM covariance: wrong counts, shares, areas and layers are format errors with file and line",
          "[modem]") {
  CHECK_THAT(message("one line\n"), HasId("cut_off", {"m.cov:1", "16 lines", "covariance file of ModEM"}));
  const std::string smoothing = head + "1 1 2\n0.1 0.1\n0.1 0.1\n0.1\n1\n0\n";
  CHECK_THAT(message(head + "1 x 2\n"),
             HasId("not_whole", {"m.cov:17", "\"x\"", "counts and numbers before it"}));
  CHECK_THAT(message(head + "1000 1000 2\n"), HasId("counts_too_large", {"m.cov:17", "1000"}));
  CHECK_THAT(message(head + "1 1 2\n0.1 1.5\n"), HasId("share_out_of_range", {"m.cov:18", "1.5"}));
  CHECK_THAT(message(smoothing + "1 1\n12\n"), HasId("not_whole", {"m.cov:24", "12"}));
  CHECK_THAT(message(smoothing + "1 3\n1\n"), HasId("not_whole", {"m.cov:23", "3"}));
  CHECK_THAT(message(smoothing + "1 2\n"), HasId("cut_off", {"m.cov:23", "1 x 1 cells of layers 1 to 2"}));
  const TemporaryFolder folder;
  modem::Covariance few{.n_x = 1, .n_y = 1, .n_z = 1};
  CHECK_THAT(error_of<core::ShapeError>([&] { modem::write_covariance(folder / "m.cov", few); }),
             HasId("wrong_size"));
}

TEST_CASE("ModEM covariance: sea is apart, exceptions weigh by their links, other borders count as elsewhere",
          "[modem]") {
  modem::Covariance file{.n_x = 4, .n_y = 1, .n_z = 1, .x_smoothing = {0.3}, .y_smoothing = {0.3}};
  file.z_smoothing = 0.3;
  file.area = {9, 1, 2, 3};
  file.exceptions = {{2, 1, 0.0}, {2, 3, 0.6}};
  const auto areas = modem::areas_of(file);
  CHECK(areas.weight_across(0, 1) == 0.0);
  CHECK(areas.weight_across(1, 2) == 0.0);
  CHECK(areas.weight_across(2, 3) == Approx(0.6 * (1.0 - 0.09) / (0.3 * (1.0 - 0.36))));
  CHECK(areas.weight_across(1, 3) == 1.0);
  CHECK(areas.weight_across(0, 0) == 1.0);
  file.exceptions.push_back({1, 9, 0.3});  // one that opens the coast
  CHECK(modem::areas_of(file).weight_across(0, 1) == Approx(1.0));
}
