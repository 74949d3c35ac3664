// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/d3/cost.hpp"

#include "physics/linalg/edge_solver.hpp"
#include "physics/mt/d3/background.hpp"

#include <algorithm>
#include <functional>

namespace lodestone::physics::mt::d3 {

double work_of(const fem::EdgeGrid& grid) {
  return n_polarizations * static_cast<double>(grid.n_inner_edges());
}

double work_of(const MeshSet& meshes, const Survey& survey) {
  double work = 0.0;
  if (meshes.is_extrapolated) {
    MeshSet coarse = companions(meshes);
    coarse.is_extrapolated = false;
    work = work_of(coarse, survey);
  }
  for (const BandMesh& band : meshes.bands) {
    for (const int frequency : band.frequencies) {
      const bool has_data =
          std::ranges::any_of(survey.keys, [&](const DatumKey& key) { return key.frequency == frequency; });
      if (has_data) work += work_of(band.grid);
    }
  }
  return work;
}

std::vector<int> owners_of(const std::vector<double>& work, int n_ranks) {
  const std::size_t together =
      std::ssize(work) >= std::ptrdiff_t{n_polarizations} * n_ranks ? n_polarizations : 1;
  std::vector<std::size_t> first;
  for (std::size_t unit = 0; unit < work.size(); unit += together) first.push_back(unit);
  std::ranges::stable_sort(first, std::ranges::greater(), [&](std::size_t unit) { return work[unit]; });
  std::vector<double> load(static_cast<std::size_t>(n_ranks), 0.0);
  std::vector<int> owners(work.size());
  for (const std::size_t unit : first) {
    const auto least = std::ranges::min_element(load);
    for (std::size_t i = unit; i < unit + together; ++i) {
      owners[i] = static_cast<int>(least - load.begin());
      *least += work[i];
    }
  }
  return owners;
}

std::vector<RankShare> shares_of(const MeshSet& meshes, const Survey& survey, int n_ranks) {
  std::vector<double> work;
  for (int frequency = 0; frequency < std::ssize(survey.frequencies_hz); ++frequency) {
    if (std::ranges::find(survey.keys, frequency, &DatumKey::frequency) == survey.keys.end()) continue;
    const auto band = std::ranges::find_if(meshes.bands, [&](const BandMesh& each) {
      return std::ranges::find(each.frequencies, frequency) != each.frequencies.end();
    });
    if (band != meshes.bands.end())
      work.insert(work.end(), n_polarizations, static_cast<double>(band->grid.n_edges()));
  }
  const std::vector<int> owners = owners_of(work, n_ranks);
  std::vector<RankShare> shares(static_cast<std::size_t>(n_ranks));
  for (std::size_t unit = 0; unit < work.size(); ++unit) {
    RankShare& share = shares[static_cast<std::size_t>(owners[unit])];
    ++share.n_units;
    share.work += work[unit];
  }
  return shares;
}

double kept_bytes(const fem::EdgeGrid& grid) { return 4.0 * 16.0 * static_cast<double>(grid.n_edges()); }

double solve_bytes(const fem::EdgeGrid& grid, bool has_relief) {
  return n_polarizations * kept_bytes(grid) +
         linalg::cost_of(linalg::EdgeSolverKind::multigrid, grid, n_polarizations, has_relief).bytes;
}

double largest_solve_bytes(const MeshSet& meshes) {
  double largest = 0.0;
  for (const BandMesh& band : meshes.bands)
    largest = std::max(largest, solve_bytes(band.grid, band.has_relief()));
  return largest;
}

}  // namespace lodestone::physics::mt::d3
