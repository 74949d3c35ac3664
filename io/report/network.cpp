// SPDX-License-Identifier: Apache-2.0
#include "io/report/network.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/markup.hpp"
#include "io/report/html.hpp"
#include "io/report/page.hpp"

namespace lodestone::io::report {

using namespace report;

namespace {

/// Returns as many subdomains as fit side by side.
Eigen::MatrixXd some(const physics::mesh::TensorGrid& grid, const Eigen::MatrixXd& of, Eigen::Index n_columns,
                     Eigen::Index n_patches) {
  return of.leftCols(std::min(of.cols(), grid.n_y() > 1 ? n_patches : n_columns));
}

}  // namespace

std::filesystem::path write_vae_report(const std::filesystem::path& folder, const VaeReport& report) {
  core::make_folder(folder / "pictures");
  Page page(folder / "pictures");
  page.heading("summary", "Summary");
  page.html(html_table({}, report.facts));
  page.heading("training", "Training");
  page.figure(training_picture(report.history, report.best_epoch), "training",
              "Loss per epoch. The network kept is that of the dashed epoch, with the smallest loss on draws "
              "it was not trained on.");
  page.heading("reconstruction", "Reconstruction");
  page.figure(reconstruction_picture(report.grid, some(report.grid, report.draws, 12, 8),
                                     some(report.grid, report.reconstructions, 12, 8)),
              "reconstruction",
              "Draws that the network was not trained on, and what it makes of them: decoded from the mean "
              "of their codes.");
  page.heading("decodings", "What the network imagines");
  page.figure(decoding_picture(report.grid, some(report.grid, report.draws, 48, 8),
                               some(report.grid, report.decodings, 48, 8)),
              "decodings",
              "Draws of the prior, and random codes decoded. Below should look like above: where it does "
              "not, an inversion can go where "
              "the prior would not.");
  page.heading("codes", "Codes");
  page.figure(code_picture(report.grid, report.codes), "codes",
              "Codes of validation draws should fill the standard normal distribution (dashed). A code whose "
              "divergence is near 0 is not in use. Right: "
              "rms error of the reconstruction by depth.");
  page.heading("provenance", "How this was made");
  page.html("<details open><summary>Card</summary>\n<pre>" + core::escaped(report.card) +
            "</pre>\n</details>\n");
  page.html("<details><summary>Configuration</summary>\n<pre>" + core::escaped(report.configuration_toml) +
            "</pre>\n</details>\n");
  const std::filesystem::path path = folder / "report.html";
  core::write_file(path.string(), page.text(report.title, report.lead));
  return path;
}

}  // namespace lodestone::io::report
