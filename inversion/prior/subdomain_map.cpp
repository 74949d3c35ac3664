// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/subdomain_map.hpp"

#include "engine/core/error.hpp"
#include "engine/core/timer.hpp"

#include <utility>

namespace lodestone::inversion::prior {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;

/// The derivative as a sparse matrix, and its dense blocks: a Jacobian has a thousand rows to go through it.
class SubdomainLinearization final : public core::Linearization {
 public:
  SubdomainLinearization(SparseMatrix derivative, Eigen::Index n_codes, std::vector<Eigen::Index> outside,
                         Eigen::VectorXd value)
      : Linearization(derivative.cols(), std::move(value)),
        derivative_(std::move(derivative)),
        outside_(std::move(outside)) {
    for (Eigen::Index column = 0; column < n_codes;) column = add_block(column, n_codes);
  }

 private:
  /// Codes that set the same cells.
  struct Block {
    Eigen::Index first_code;
    std::vector<Eigen::Index> cells;
    Eigen::MatrixXd slopes;  ///< (n_cells, n_codes)
  };

  [[nodiscard]] std::vector<Eigen::Index> cells_of(Eigen::Index column) const {
    std::vector<Eigen::Index> cells;
    for (SparseMatrix::InnerIterator entry(derivative_, column); entry; ++entry) cells.push_back(entry.row());
    return cells;
  }

  /// Adds a block and returns the first column of the next.
  Eigen::Index add_block(Eigen::Index first, Eigen::Index n_codes) {
    const std::vector<Eigen::Index> cells = cells_of(first);
    Eigen::Index end = first + 1;
    while (end < n_codes && cells_of(end) == cells) ++end;
    Eigen::MatrixXd slopes(std::ssize(cells), end - first);
    for (Eigen::Index column = first; column < end; ++column) {
      Eigen::Index i = 0;
      for (SparseMatrix::InnerIterator entry(derivative_, column); entry; ++entry)
        slopes(i++, column - first) = entry.value();
    }
    blocks_.push_back({first, cells, std::move(slopes)});
    return end;
  }

  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    return derivative_ * directions;
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    const core::ScopedTimer timer("codes/chain rule");
    Eigen::MatrixXd result(size_in(), directions.cols());
    for (const Block& block : blocks_) {
      const Eigen::MatrixXd of_cells = directions(block.cells, Eigen::all);
      result.middleRows(block.first_code, block.slopes.cols()).noalias() =
          block.slopes.transpose() * of_cells;
    }
    result.bottomRows(std::ssize(outside_)) = directions(outside_, Eigen::all);
    return result;
  }
  /// Columns of cells outside move, they are not multiplied by one.
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override {
    const core::ScopedTimer timer("codes/chain rule");
    Eigen::MatrixXd result(rows.rows(), size_in());
    for (const Block& block : blocks_) {
      const Eigen::MatrixXd of_cells = rows(Eigen::all, block.cells);
      result.middleCols(block.first_code, block.slopes.cols()).noalias() = of_cells * block.slopes;
    }
    result.rightCols(std::ssize(outside_)) = rows(Eigen::all, outside_);
    return result;
  }
  Eigen::MatrixXd do_jacobian() const override { return derivative_.toDense(); }

  SparseMatrix derivative_;
  std::vector<Eigen::Index> outside_;
  std::vector<Block> blocks_;
};

void check_region(const Region& region, Eigen::Index n_model) {
  if (!region.decoder)
    throw core::InvalidArgument("inversion::SubdomainMap#no_decoder", "region \"{}\" has no decoder",
                                region.name);
  const Eigen::Index n_cells = region.decoder->n_cells();
  if (region.taper.size() != 0 && region.taper.size() != n_cells)
    throw core::ShapeError("inversion::SubdomainMap#wrong_taper",
                           "region \"{}\": expected a taper of {} cells, got {}", region.name, n_cells,
                           region.taper.size());
  if (region.taper.size() != 0 && !(region.taper.array() > 0.0).all())
    throw core::InvalidArgument("inversion::SubdomainMap#taper_not_positive",
                                "region \"{}\": expected a taper above 0 in every cell", region.name);
  std::vector<std::size_t> last_seen(static_cast<std::size_t>(n_model), 0);
  for (std::size_t s = 0; s < region.subdomains.size(); ++s) {
    const auto& cells = region.subdomains[s];
    if (std::ssize(cells) != n_cells)
      throw core::ShapeError("inversion::SubdomainMap#wrong_cells",
                             "region \"{}\", subdomain {}: expected the {} cells of {}, got {}", region.name,
                             s, n_cells, region.decoder->name(), cells.size());
    for (const Eigen::Index cell : cells) {
      if (cell < 0 || cell >= n_model)
        throw core::InvalidArgument("inversion::SubdomainMap#cell_outside",
                                    "region \"{}\", subdomain {}: cell {} is none of the model's {}",
                                    region.name, s, cell, n_model);
      if (std::exchange(last_seen[static_cast<std::size_t>(cell)], s + 1) == s + 1)
        throw core::InvalidArgument("inversion::SubdomainMap#cell_twice",
                                    "region \"{}\", subdomain {}: cell {} stands in it twice", region.name, s,
                                    cell);
    }
  }
}

Eigen::MatrixXd decoder_jacobians(const Decoder& decoder, const Eigen::MatrixXd& codes) {
  const core::ScopedTimer timer("codes/decoder jacobian");
  return decoder.jacobians(codes);
}

}  // namespace

SubdomainMap::SubdomainMap(Eigen::Index n_model, std::vector<Region> regions)
    : n_model_(n_model), regions_(std::move(regions)), subdomain_of_(static_cast<std::size_t>(n_model), -1) {
  Eigen::VectorXd total = Eigen::VectorXd::Zero(n_model);
  int number = 0;
  for (const Region& region : regions_) {
    check_region(region, n_model);
    first_code_.push_back(n_codes_);
    n_codes_ += region.decoder->n_codes() * std::ssize(region.subdomains);
    const Eigen::VectorXd taper =
        region.taper.size() > 0 ? region.taper : Eigen::VectorXd::Ones(region.decoder->n_cells());
    shares_.emplace_back(taper.replicate(1, std::ssize(region.subdomains)));
    for (const auto& cells : region.subdomains) {
      total(cells) += taper;
      for (const Eigen::Index cell : cells) {
        if (int& first = subdomain_of_[static_cast<std::size_t>(cell)]; first < 0) first = number;
      }
      ++number;
    }
  }
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    for (std::size_t s = 0; s < regions_[r].subdomains.size(); ++s)
      shares_[r].col(static_cast<Eigen::Index>(s)).array() /= total(regions_[r].subdomains[s]).array();
  }
  for (Eigen::Index cell = 0; cell < n_model; ++cell) {
    if (subdomain_of_[static_cast<std::size_t>(cell)] < 0) outside_.push_back(cell);
  }
}

Eigen::MatrixXd SubdomainMap::codes_of(std::size_t region, const core::ConstVectorRef& unknowns) const {
  if (unknowns.size() != size_in())
    throw core::ShapeError("inversion::SubdomainMap#wrong_unknowns", "expected {} unknowns, got {}",
                           size_in(), unknowns.size());
  const Eigen::Index n = regions_.at(region).decoder->n_codes(),
                     count = std::ssize(regions_[region].subdomains);
  return unknowns.segment(first_code_[region], n * count).reshaped(n, count);
}

Eigen::VectorXd SubdomainMap::do_value(const core::ConstVectorRef& x) const {
  Eigen::VectorXd model = Eigen::VectorXd::Zero(n_model_);
  model(outside_) = x.tail(std::ssize(outside_));
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Eigen::MatrixXd part = regions_[r].decoder->decode(codes_of(r, x)).cwiseProduct(shares_[r]);
    for (Eigen::Index s = 0; s < part.cols(); ++s)
      model(regions_[r].subdomains[static_cast<std::size_t>(s)]) += part.col(s);
  }
  return model;
}

SparseMatrix SubdomainMap::derivative(const core::ConstVectorRef& unknowns) const {
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Region& region = regions_[r];
    const Eigen::Index n = region.decoder->n_codes();
    const Eigen::MatrixXd jacobians = decoder_jacobians(*region.decoder, codes_of(r, unknowns));
    for (Eigen::Index column = 0; column < jacobians.cols(); ++column) {
      const auto& cells = region.subdomains[static_cast<std::size_t>(column / n)];
      for (Eigen::Index i = 0; i < jacobians.rows(); ++i)
        entries.emplace_back(static_cast<int>(cells[static_cast<std::size_t>(i)]),
                             static_cast<int>(first_code_[r] + column),
                             jacobians(i, column) * shares_[r](i, column / n));
    }
  }
  for (std::size_t i = 0; i < outside_.size(); ++i)
    entries.emplace_back(static_cast<int>(outside_[i]),
                         static_cast<int>(n_codes_ + static_cast<Eigen::Index>(i)), 1.0);
  SparseMatrix derivative(n_model_, size_in());
  derivative.setFromTriplets(entries.begin(), entries.end());
  return derivative;
}

std::unique_ptr<core::Linearization> SubdomainMap::do_linearize(const core::ConstVectorRef& x) const {
  return std::make_unique<SubdomainLinearization>(derivative(x), n_codes_, outside_, do_value(x));
}

Eigen::VectorXd SubdomainMap::encode(const core::ConstVectorRef& model, const EncodeOptions& options) const {
  if (model.size() != n_model_)
    throw core::ShapeError("inversion::SubdomainMap#wrong_model", "expected a model of {} cells, got {}",
                           n_model_, model.size());
  const core::ScopedTimer timer("codes/encode");
  Eigen::VectorXd unknowns(size_in());
  for (std::size_t r = 0; r < regions_.size(); ++r) {
    const Region& region = regions_[r];
    Eigen::MatrixXd cells(region.decoder->n_cells(), std::ssize(region.subdomains));
    for (Eigen::Index s = 0; s < cells.cols(); ++s)
      cells.col(s) = model(region.subdomains[static_cast<std::size_t>(s)]);
    const Eigen::MatrixXd codes = encode_by_least_squares(*region.decoder, cells, options);
    unknowns.segment(first_code_[r], codes.size()) = codes.reshaped();
  }
  unknowns.tail(std::ssize(outside_)) = model(outside_);
  return unknowns;
}

}  // namespace lodestone::inversion::prior
