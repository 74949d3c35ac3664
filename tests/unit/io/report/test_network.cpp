// SPDX-License-Identifier: Apache-2.0
#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/report/network.hpp"
#include "io/report/training.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <cmath>

using namespace lodestone;
using namespace lodestone::io;
using namespace lodestone::tests;
using Catch::Matchers::Contains;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

report::VaeReport some_report(Index n_z, Index n_y) {
  report::VaeReport result;
  result.title = "Columns & <patches>";
  std::vector<double> depth_m, y_m;
  for (Index i = 0; i <= n_z; ++i) depth_m.push_back(100.0 * static_cast<double>(i * i));
  for (Index i = 0; i <= n_y; ++i) y_m.push_back(100.0 * static_cast<double>(i));
  result.grid = physics::mesh::TensorGrid::section(std::move(y_m), std::move(depth_m));
  for (int i = 1; i < 5; ++i)
    result.history.push_back({i, 2.0 / i, 1.5 / i, 1.0 / i, 0.3, i == 3 ? std::nan("") : 0.2});
  result.best_epoch = 4;
  result.draws = MatrixXd::Random(n_z * n_y, 10);
  result.draws(0, 0) = std::nan("");
  result.reconstructions = result.draws;
  result.decodings = MatrixXd::Random(n_z * n_y, 7);
  result.codes = {MatrixXd::Random(3, 50), Eigen::Vector3d(0.1, 2.0, 0.0),
                  Eigen::VectorXd::Constant(n_z * n_y, 0.1)};
  result.facts = {{"Network", "column"}};
  result.card = "{\"a\": 1}";
  return result;
}

}  // namespace

TEST_CASE("report: a learned prior of columns or patches is a page with its pictures, whatever is not finite",
          "[io]") {
  for (const Index n_y : {1, 4}) {
    const TemporaryFolder folder;
    const auto path = report::write_vae_report(folder.path(), some_report(6, n_y));
    const std::string page = text_of_file(path.string());
    CHECK_THAT(page, Contains("Columns &amp; &lt;patches&gt;") && Contains("&quot;a&quot;: 1"));
    CHECK_THAT(page, !Contains("\"nan") && !Contains(",nan") && !Contains(" nan"));
    for (const char* name : {"training", "reconstruction", "decodings", "codes"})
      CHECK(std::filesystem::file_size(folder.path() / "pictures" / (std::string(name) + ".png")) > 2000);
  }
}

TEST_CASE("report: subdomains that are not of the grid are refused", "[io]") {
  const report::VaeReport given = some_report(6, 1);
  CHECK_THAT(error_of<core::ShapeError>([&] {
               (void)report::reconstruction_picture(given.grid, given.draws.topRows(5),
                                                    given.reconstructions);
             }),
             HasId("wrong_cells", {"6", "5"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               (void)report::reconstruction_picture(given.grid, given.draws,
                                                    given.reconstructions.leftCols(3));
             }),
             HasId("wrong_draws", {"10", "3"}));
  CHECK_THAT(error_of<core::ShapeError>(
                 [&] { (void)report::decoding_picture(given.grid, given.draws, MatrixXd::Zero(7, 2)); }),
             HasId("wrong_cells", {"6", "7", "decodings"}));
}

TEST_CASE("training report: the history is found by the names of its columns, no number is none",
          "[report]") {
  const TemporaryFolder folder;
  const std::string path = folder / "history.csv";
  const std::string header =
      "epoch,rate,loss,validation_loss,validation_reconstruction,validation_divergence";
  core::write_file(path, header + ",validation_dissimilarity\n1,8e-4,4,3,2,0.5,\n2,8e-4,nan,1.5,1,0.25,\n");
  const auto history = report::read_training_history(path);
  REQUIRE(history.size() == 2);
  CHECK(history[1].epoch == 2);
  CHECK(history[0].training_loss == 4.0);
  CHECK(std::isnan(history[1].training_loss));
  CHECK(history[1].loss == 1.5);
  CHECK(history[0].reconstruction == 2.0);
  CHECK(history[1].divergence == 0.25);
  CHECK(std::isnan(history[0].dissimilarity));
  core::write_file(path, "");
  CHECK(report::read_training_history(path).empty());
  core::write_file(path, header + "\n1,8e-4,4,3,2,0.5\n");
  CHECK_THAT(error_of<core::FormatError>([&] { (void)report::read_training_history(path); }),
             HasId("no_column", {"history.csv", "validation_dissimilarity"}));
  CHECK_THROWS_AS(report::read_training_history(folder / "none.csv"), core::FileError);
}
