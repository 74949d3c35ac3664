// SPDX-License-Identifier: Apache-2.0
#include "physics/linalg/multigrid/cycle.hpp"

#include "engine/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::physics::linalg::multigrid {

namespace {

constexpr int n_last_sweeps = 6;

template <class T>
class VCycle final : public Cycle {
 public:
  explicit VCycle(const EdgeSystem& system) {
    if (system.relief != nullptr) {
      add_levels(system, system.relief->grid());
      return;
    }
    levels_.push_back(std::make_unique<Stage>(*system.grid, system.mass));
    fem::EdgeGrid grid = *system.grid;
    Eigen::VectorXd cells = system.cell_mass;
    int ground = system.ground;
    double threshold_m = first_threshold_m(grid);
    while (auto coarse = coarser(grid, ground, threshold_m)) {
      cells = volume_means(grid, *coarse, cells);
      levels_.back()->to_coarse = std::make_unique<Transfer<T>>(grid, *coarse);
      levels_.push_back(std::make_unique<Stage>(coarse->grid, edge_masses(coarse->grid, cells)));
      grid = std::move(coarse->grid);
      ground = coarse->ground;
      threshold_m = coarse->threshold_m;
    }
  }

  [[nodiscard]] std::unique_ptr<Work> make_work() const override {
    auto work = std::make_unique<LevelFields>();
    for (const auto& stage : levels_) {
      const Layout& layout = stage->level.layout();
      work->fields.push_back({Field<T>(layout), Field<T>(layout), Field<T>(layout)});
    }
    for (int thread = 0; thread < core::threads(); ++thread)
      work->scratch.emplace_back(levels_[0]->level.layout());
    return work;
  }

  void apply(const Field<double>& r, Field<double>& z, Work& work) const override {
    auto& fields = static_cast<LevelFields&>(work);
    const Layout& layout = levels_[0]->level.layout();
    const double scale = largest(r, layout);
    T* b = fields.fields[0].b.data();
    T* x = fields.fields[0].x.data();
    const double inverse = scale > 0.0 ? 1.0 / scale : 0.0;
    core::parallel_for(layout.ny + 1, [&](std::ptrdiff_t j) {
      const double* from = r.data() + j * layout.slab();
      for (std::ptrdiff_t i = 0; i < layout.slab(); ++i)
        b[j * layout.slab() + i] = static_cast<T>(from[i] * inverse);
      std::fill_n(x + j * layout.slab(), layout.slab(), T(0));
    });
    cycle(0, fields);
    core::parallel_for(layout.ny + 1, [&](std::ptrdiff_t j) {
      double* to = z.data() + j * layout.slab();
      for (std::ptrdiff_t i = 0; i < layout.slab(); ++i)
        to[i] = scale * static_cast<double>(x[j * layout.slab() + i]);
    });
  }

  [[nodiscard]] std::size_t bytes() const override {
    std::size_t total = 0;
    for (const auto& stage : levels_) total += stage->level.bytes() + stage->smoother.bytes();
    return total;
  }
  [[nodiscard]] int n_levels() const override { return static_cast<int>(levels_.size()); }

 private:
  using Direction = typename ColumnSmoother<T>::Direction;
  struct Stage {
    Stage(const fem::EdgeGrid& grid, const Eigen::VectorXd& mass, const Eigen::VectorXd& faces = {})
        : level(grid, mass, faces), smoother(level) {}
    Stage(const fem::EdgeGrid& grid, const fem::ReliefDiagonals& relief)
        : Stage(grid, relief.masses, relief.faces) {}
    Level<T> level;
    ColumnSmoother<T> smoother;
    std::unique_ptr<Transfer<T>> to_coarse;
  };
  struct Fields {
    Field<T> b, x, r;
  };
  struct LevelFields final : Work {
    std::vector<Fields> fields;
    std::vector<ColumnScratch<T>> scratch;
  };

  /// Adds the levels of a relief: F and M are the diagonals of the operator there, and the nodes of coarser
  /// grids keep their depths.
  void add_levels(const EdgeSystem& system, fem::ReliefGrid relief) {
    Eigen::VectorXd cells = system.cell_mass;
    int ground = system.ground;
    double threshold_m = first_threshold_m(relief.lines());
    levels_.push_back(std::make_unique<Stage>(relief.lines(), fem::diagonals(relief, cells)));
    while (auto coarse = coarser(relief.lines(), ground, threshold_m)) {
      cells = volume_means(relief, *coarse, cells);
      levels_.back()->to_coarse = std::make_unique<Transfer<T>>(relief.lines(), *coarse);
      relief = relief.subset(coarse->fine_line);
      levels_.push_back(std::make_unique<Stage>(relief.lines(), fem::diagonals(relief, cells)));
      ground = coarse->ground;
      threshold_m = coarse->threshold_m;
    }
  }

  static double largest(const Field<double>& r, const Layout& layout) {
    std::vector<double> of_slab(static_cast<std::size_t>(layout.ny) + 1, 0.0);
    core::parallel_for(layout.ny + 1, [&](std::ptrdiff_t j) {
      const double* numbers = r.data() + j * layout.slab();
      double most = 0.0;
      for (std::ptrdiff_t i = 0; i < layout.slab(); ++i) most = std::max(most, std::abs(numbers[i]));
      of_slab[static_cast<std::size_t>(j)] = most;
    });
    return *std::max_element(of_slab.begin(), of_slab.end());
  }

  void cycle(std::size_t index, LevelFields& work) const {
    const Stage& stage = *levels_[index];
    Fields& here = work.fields[index];
    const int n_sweeps = stage.to_coarse == nullptr ? n_last_sweeps : 1;
    for (int i = 0; i < n_sweeps; ++i) {
      stage.smoother.sweep(Direction::forward, here.b, here.x, work.scratch);
      if (stage.to_coarse != nullptr) correct(index, work);
      stage.smoother.sweep(Direction::backward, here.b, here.x, work.scratch);
    }
  }

  /// Adds the correction of the coarser grid.
  void correct(std::size_t index, LevelFields& work) const {
    const Stage& stage = *levels_[index];
    Fields& here = work.fields[index];
    Fields& below = work.fields[index + 1];
    residual(stage.level, &here.b, here.x, here.r);
    stage.to_coarse->restrict_to_coarse(here.r, below.b);
    std::fill_n(below.x.data(), levels_[index + 1]->level.layout().size(), T(0));
    cycle(index + 1, work);
    stage.to_coarse->add_from_coarse(below.x, here.x);
  }

  std::vector<std::unique_ptr<Stage>> levels_;
};

}  // namespace

template <class T>
std::unique_ptr<Cycle> make_cycle(const EdgeSystem& system) {
  return std::make_unique<VCycle<T>>(system);
}
template std::unique_ptr<Cycle> make_cycle<float>(const EdgeSystem&);
template std::unique_ptr<Cycle> make_cycle<double>(const EdgeSystem&);

}  // namespace lodestone::physics::linalg::multigrid
