// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/distortion.hpp"
#include "physics/mt/response_layout.hpp"

#include <string>
#include <vector>

namespace lodestone::physics::mt {

/// The map from responses to the data of a survey, by the rules of the data. Serial.
///
/// Unknowns: responses in the order of a layout. Outputs: one datum per key of the survey.
class Transform final : public core::DifferentiableMap {
 public:
  /// Makes the map. errors: InvalidArgument when the layout lacks an element that a datum is made of.
  Transform(const Survey& survey, const ResponseLayout& layout);

  [[nodiscard]] Eigen::Index size_in() const override { return size_in_; }
  [[nodiscard]] Eigen::Index size_out() const override { return static_cast<Eigen::Index>(rows_.size()); }
  [[nodiscard]] std::string name() const override { return "mt::Transform"; }

 private:
  /// One datum, and where its elements stand in the unknowns.
  struct Row {
    const DatumRule* rule;
    double omega;
    PerElement<Eigen::Index> at;  ///< −1 where the element is zero
  };
  [[nodiscard]] static Elements::Values values_of(const Row& row, const core::ConstVectorRef& responses);
  Eigen::VectorXd do_value(const core::ConstVectorRef& responses) const override;
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& responses) const override;

  Eigen::Index size_in_;
  std::vector<Row> rows_;
};

/// Returns the rows of the survey that a simulation of these elements determines.
[[nodiscard]] std::vector<Eigen::Index> predictable_rows(const Survey& survey, Elements predicted);
/// Returns the survey of these keys alone.
[[nodiscard]] Survey survey_of(const Survey& survey, const std::vector<Eigen::Index>& rows);
/// Checks that a simulation of these elements determines all data. errors: InvalidArgument that names the
/// first datum it does not predict, and what that is made of.
void require_predictable(const Survey& survey, Elements predicted);

/// Returns the map to the data of a survey from the unknowns of `responses`, whose outputs have the order of
/// `layout`. With a distortion it maps [unknowns; p] to [data; p]: the last rows are compared with the prior
/// of p. errors: InvalidArgument when the layout lacks an element that a datum is made of, and those of
/// `Distortion`. sources: deGroot-Hedlin 1991, Geophysics 56, 1290 (shifts); Avdeeva et al. 2015, Geophys. J.
/// Int. 202, 464 (matrices).
[[nodiscard]] core::MapPtr data_map(core::MapPtr responses, const ResponseLayout& layout,
                                    const Survey& survey, const DistortionUnknowns& distortion = {});

}  // namespace lodestone::physics::mt
