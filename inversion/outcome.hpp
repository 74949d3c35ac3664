// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/data_set.hpp"
#include "engine/core/log.hpp"
#include "engine/core/provenance.hpp"
#include "inversion/ending.hpp"
#include "inversion/optimize/directives.hpp"
#include "inversion/prior/findings.hpp"
#include "inversion/uncertainty/findings.hpp"
#include "physics/mesh/earth.hpp"
#include "physics/mesh/frame.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::inversion {

/// The texts of a run.
struct About {
  std::string title{};
  std::string configuration{};  ///< every choice in force, such as a TOML file; a resumed run must share it
  core::Facts facts{};          ///< facts of the data and their place, for reports
  core::Provenance provenance{};
  std::vector<core::log::KeptWarnings::Warning> warnings{};  ///< all that were kept of the run
};

/// A table beside a model, such as static shifts or the errors of the meshes.
struct NamedTable {
  std::string name;  ///< for files, "static_shift"
  std::string title, note{};
  core::Table table{};
  bool own_file = false;  ///< written as name.csv as well
};

/// Results that go beyond the final model; each is absent unless it was asked for.
struct Findings {
  std::optional<prior::PriorFindings> prior{};
  std::optional<uncertainty::Uncertainty> uncertainty{};
};

/// Everything that a finished inversion found, for any physics; files, pictures and reports are made of it.
struct Outcome {
  About about{};
  physics::mesh::Model model{{physics::mesh::TensorGrid::section({0.0, 1.0}, {0.0, 1.0})}, {}, {}};
  Eigen::VectorXd start{};    ///< (n_cells), in the scale of the property
  Eigen::VectorXd further{};  ///< further unknowns; (0) without
  core::DataSet data{};
  Eigen::VectorXd predicted{};  ///< all data at the final accuracy; NaN where not computed; (0): stopped
  core::Table sites{};  ///< "name" and coordinates "x_m", "y_m" in the frame, and what the physics adds
  physics::mesh::Frame frame{};  ///< place of the coordinates on the map
  Ending ending{};
  std::vector<optimize::StagedRecord> history{};
  Findings findings{};
  std::vector<NamedTable> tables{};

  [[nodiscard]] bool was_stopped() const { return ending.code == core::ExitCode::interrupted; }
  /// Returns other values on the cells of the model.
  [[nodiscard]] physics::mesh::Model section(Eigen::VectorXd values) const {
    return {model.earth, model.property, std::move(values)};
  }
  /// Returns a table by its name; null without it.
  [[nodiscard]] const NamedTable* table(const std::string& name) const;
};

/// Checks that the parts fit together. errors: ShapeError.
void check(const Outcome& outcome);

/// Writes an outcome as arrays, in the layout of docs/result-file.md. errors: those of `check`.
void write(core::ArraySink& sink, const Outcome& outcome);
/// Reads an outcome; the exit code and the last line are not stored. errors: FormatError.
[[nodiscard]] Outcome read_outcome(const core::ArraySource& source);

/// Returns (observed − predicted)/σ, wrapped where a datum has a turn; NaN where a datum is not used or not
/// predicted. shapes: all (data.size()). errors: ShapeError.
[[nodiscard]] Eigen::VectorXd normalized_residuals(const core::DataSet& data,
                                                   const Eigen::VectorXd& predicted);

/// The root mean square of the finite numbers among those added; NaN without any.
class RmsSum {
 public:
  void add(double residual) {
    if (!std::isfinite(residual)) return;
    sum_ += residual * residual;
    ++count_;
  }
  [[nodiscard]] double rms() const {
    return count_ > 0 ? std::sqrt(sum_ / static_cast<double>(count_))
                      : std::numeric_limits<double>::quiet_NaN();
  }
  [[nodiscard]] long count() const { return count_; }

 private:
  double sum_ = 0.0;
  long count_ = 0;
};

}  // namespace lodestone::inversion
