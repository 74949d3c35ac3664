// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/optimize/gauss_newton.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/unit/inversion/fixtures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <unistd.h>

using namespace lodestone;
using Catch::Matchers::Contains;

namespace {

inversion::optimize::InversionSummary run_with(std::shared_ptr<inversion::optimize::Directive> directive) {
  const tests::CurvedProblem problem;
  inversion::optimize::GaussNewton gauss_newton(MPI_COMM_SELF,
                                                {.stop = {.max_iterations = 2, .target_rms = 0.1}});
  return gauss_newton.minimize(problem.objective(), Eigen::VectorXd::Zero(problem.n),
                               {.directives = {std::move(directive)}});
}

}  // namespace

TEST_CASE("directives: the table has one heading and one aligned line per iteration") {
  tests::Capture out(STDOUT_FILENO);
  const auto summary = run_with(std::make_shared<inversion::optimize::IterationTable>());
  std::istringstream lines(out.text());
  std::vector<std::string> table;
  for (std::string line; std::getline(lines, line);) table.push_back(line);
  REQUIRE(table.size() == summary.history.size() + 1);
  CHECK_THAT(table[0], Contains("iter") && Contains("rms") && Contains("roughness"));
  for (const std::string& line : table) CHECK(line.size() == table[0].size());
  CHECK_THAT(table.back(), Contains(fmt::format("{:.4f}", summary.rms)));
}

TEST_CASE("directives: a line above the table says what its rms is") {
  tests::Capture out(STDOUT_FILENO);
  (void)run_with(std::make_shared<inversion::optimize::IterationTable>("rms on the fine meshes"));
  const std::string text = out.text();
  CHECK_THAT(text, Contains("rms on the fine meshes:\n"));
  CHECK(text.find("rms on the fine meshes") < text.find("iter"));
}

TEST_CASE("directives: the bar prints nothing where stdout is no terminal") {
  tests::Capture out(STDOUT_FILENO);
  (void)run_with(std::make_shared<inversion::optimize::ProgressBar>(2));
  CHECK(out.text().empty());
}

TEST_CASE(
    "directives: the CSV file holds a heading and every iteration so far, and names its place when it cannot "
    "be written") {
  const tests::TemporaryFolder folder;
  const std::string path = folder / "iterations.csv";
  const auto summary = run_with(std::make_shared<inversion::optimize::IterationsCsv>(MPI_COMM_SELF, path));
  std::ifstream lines(path);
  std::string heading, start;
  std::getline(lines, heading);
  std::getline(lines, start);
  CHECK(heading == "iteration,kind,lambda,rms,roughness,step,rms_at_start,n_forward,n_jacobian,seconds");
  CHECK_THAT(start, Catch::Matchers::StartsWith(
                        fmt::format("0,start,{},{},", summary.history[0].lambda, summary.history[0].rms)));
  const auto n_more =
      std::count(std::istreambuf_iterator<char>(lines), std::istreambuf_iterator<char>(), '\n');
  CHECK(n_more + 1 == static_cast<std::ptrdiff_t>(summary.history.size()));
  const std::string nowhere = folder / "missing/iterations.csv";
  CHECK_THAT(tests::message_of<core::Error>([&] {
               (void)run_with(std::make_shared<inversion::optimize::IterationsCsv>(MPI_COMM_SELF, nowhere));
             }),
             Contains("missing"));
}

TEST_CASE("directives: the checkpoint hands over every state, the start's included") {
  std::vector<int> iterations;
  const auto summary = run_with(std::make_shared<inversion::optimize::CheckpointDirective>(
      [&](const inversion::optimize::InversionState& state) { iterations.push_back(state.iteration); }));
  CHECK(iterations == std::vector<int>{0, 1, 2});
  CHECK(summary.history.size() == 3);
}
