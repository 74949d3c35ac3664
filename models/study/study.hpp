// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "models/study/methods.hpp"
#include "models/study/options.hpp"

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lodestone::models::study {

/// One inversion of a study and what it came to.
struct Entry {
  std::string section;  ///< "A", "wedge 3"
  std::string family;   ///< empty: a case
  double noise = 0.01;  ///< relative
  Method method = Method::pixel;
  Start start = Start::half_space;
  std::string variant{};  ///< which weight was changed, "horizontal x10"; empty: none
  Figures figures{};
};

/// A section, how it is sounded, and the inversions of its data.
struct Section {
  std::string name, family;
  std::string model;  ///< text of a model file (docs/model-files.md)
  SyntheticSurvey survey;
  physics::mt::d2::Accuracy accuracy = physics::mt::d2::Accuracy::standard;  ///< for the meshes of the data
  std::uint64_t noise_seed = 0;
  bool with_pictures = false;  ///< worth drawing
  std::vector<Entry> entries{};
  /// Returns into how many times more pieces than the model file requests slanted edges are to be cut.
  [[nodiscard]] double refine() const { return accuracy == physics::mt::d2::Accuracy::fine ? 2.0 : 1.0; }
};

/// Sections on one domain by one set of rules.
struct Part {
  DomainCells cells;
  Settings settings;
  std::vector<Section> sections;
};

/// The models of the cases A and B, as texts of model files.
struct Cases {
  std::string a, b;
};

/// Returns the cases, then the random sections of the families, with all entries that the options request.
/// Parts without sections are left out.
[[nodiscard]] std::vector<Part> plan(const Options& options, const Cases& cases);

/// A section read from its model file, and its impedances without noise as `true_impedances` returns them.
struct Sounding {
  physics::mesh::Model truth;
  Eigen::VectorXd impedances;
};

/// A section whose inversions are done. shapes: truth (n_cells), models one per entry, log10 of ohm m.
struct Finished {
  const Section& section;
  const Domain& domain;
  Eigen::VectorXd truth;
  std::vector<Entry> entries{};
  std::vector<Eigen::VectorXd> models{};
};

/// Writes grid, truth, and the model of every entry with its figures.
void write(core::ArraySink& sink, const Finished& finished);

/// The part of a program, on the rank that works on a section.
struct Files {
  std::function<Sounding(const Section&)> sound;       ///< may keep what it computes
  std::function<void(const Finished&)> finished = {};  ///< may be empty
};

/// Runs all entries of a part with the priors of a network and returns them with their figures. Sections are
/// dealt out to the ranks, each is worked on by one; what comes out does not depend on their number. The log
/// has a line per entry. collective. errors: InvalidArgument for a network of other cells; SolverError with
/// the message of whichever section failed.
[[nodiscard]] std::vector<Entry> run(MPI_Comm comm, const Part& part, const vae::TrainedVae& network,
                                     const Files& files);

}  // namespace lodestone::models::study
