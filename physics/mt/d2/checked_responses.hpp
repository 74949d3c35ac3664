// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/differentiable_map.hpp"
#include "physics/mt/certificate.hpp"
#include "physics/mt/d2/mesh_design.hpp"
#include "physics/mt/response_layout.hpp"

#include <mpi.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace lodestone::physics::mt::d2 {

/// Work of a check that refines nothing, in runs on the meshes of the rules.
inline constexpr double least_check_runs = 1.4;

/// The exactness that responses must have, and what may be spent on it.
struct ResponseCheck {
  ResponseError tolerance{};  ///< an error of the tipper counts as one of ρₐ twice as large
  int max_nodes = 240'000;    ///< limit of one refined mesh
  /// Work of everything in runs on the meshes of the rules; what would take more is not refined.
  double max_runs = std::numeric_limits<double>::infinity();
  double bytes = std::numeric_limits<double>::infinity();  ///< memory that a rank may use for systems
};

/// The findings of the check of one mesh, at its worst station.
struct CheckedBand {
  ResponseError of_rules{};  ///< estimate on the mesh that the rules gave
  ResponseError error{};     ///< estimate on the mesh of the responses
  std::string where{};       ///< station and periods of the latter
  int refinements = 0;
  bool stopped_by_nodes = false;  ///< the tolerance needs a mesh of more than `max_nodes`
  bool stopped_by_runs = false;   ///< a finer mesh would take more work than `max_runs` leaves
};

/// Responses with an estimate of their errors, and the meshes they come from.
struct CheckedResponses {
  MeshSet meshes;
  ResponseLayout layout;
  Eigen::VectorXd values;               ///< in the order of `layout`
  std::vector<CheckedBand> bands;       ///< a finding per mesh
  std::vector<std::string> left_out{};  ///< stations on the edge of two columns, whose errors were not judged
  double runs = 0.0;  ///< work of everything over that of one run on the meshes of the rules
  ResponseCheck check{};

  /// Returns the estimate of all meshes as a row of a certificate.
  [[nodiscard]] CertificateRow row() const;
  /// Returns what ended the refinement above the tolerance, and which stations were not judged, in sentences;
  /// "" where there is nothing to say.
  [[nodiscard]] std::string note_in_words() const;
  /// Returns what was found in a sentence.
  [[nodiscard]] std::string in_words() const;
};

/// Computes the responses that the data of a survey are made of and estimates their errors from meshes with
/// cells 1.5 times as large. Refines where the estimate exceeds the tolerance: the meshes of such bands, by
/// what each station needs, until it is met or the meshes have all nodes or all work they may; bands with the
/// largest errors come first. Errors are taken to double with cells 1.5 times as large. collective over
/// `comm`. errors: those of `design_meshes` and of simulations. source: Richardson 1911, Phil. Trans. R. Soc.
/// A 210, 307 (the estimate).
[[nodiscard]] CheckedResponses checked_responses(MPI_Comm comm, const mesh::Model& model,
                                                 const Survey& survey, const MeshDesignOptions& options,
                                                 const ResponseCheck& check);

/// Makes the map from resistivities to responses that are checked at every value; its derivative is that on
/// the meshes of the rules. `found`: gets what each check found. collective over `comm`.
[[nodiscard]] core::MapPtr checked_map(MPI_Comm comm, mesh::Earth earth, Survey survey,
                                       const MeshDesignOptions& options, const ResponseCheck& check,
                                       std::function<void(const CheckedResponses& found)> found);

}  // namespace lodestone::physics::mt::d2
