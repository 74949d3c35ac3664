// SPDX-License-Identifier: Apache-2.0
// Maps that cut and join vectors: several maps beside each other, and rows by index.
#include "engine/core/map_algebra.hpp"
#include "engine/core/map_parts.hpp"

#include <algorithm>
#include <utility>

namespace lodestone::core {
namespace {

// ---- parallel --------------------------------------------------------------------------------------------

class ParallelLinearization final : public Linearization {
 public:
  ParallelLinearization(Linearizations parts, std::vector<Ranks> ranks, Eigen::Index size_in,
                        Eigen::Index size_out)
      : Linearization(size_in, stacked_value(parts, size_out)),
        parts_(std::move(parts)),
        ranks_(std::move(ranks)) {}
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(parts_); }

 private:
  /// Calls block(part, its first input, its first output) for each part.
  template <class Block>
  void for_each_part(Block block) const {
    Eigen::Index first_in = 0, first_out = 0;
    for (const auto& part : parts_) {
      block(*part, first_in, first_out);
      first_in += part->size_in();
      first_out += part->size_out();
    }
  }
  /// A part that no direction moves is skipped, so that directions of the others cost what they cost.
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size_out(), directions.cols());
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      const auto of_part = directions.middleRows(in, part.size_in());
      if (!of_part.isZero(0.0)) result.middleRows(out, part.size_out()) = part.jvp(of_part);
    });
    return result;
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result(size_in(), directions.cols());
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      result.middleRows(in, part.size_in()) = part.vjp(directions.middleRows(out, part.size_out()));
    });
    return result;
  }
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override {
    Eigen::MatrixXd result(rows.rows(), size_in());
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      result.middleCols(in, part.size_in()) = part.row_product(rows.middleCols(out, part.size_out()));
    });
    return result;
  }
  Eigen::MatrixXd do_jacobian() const override {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size_out(), size_in());
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      result.block(out, in, part.size_out(), part.size_in()) = part.jacobian();
    });
    return result;
  }
  JacobianRows do_local_jacobian() const override {
    JacobianRows all;
    all.values.resize(0, size_in());
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      const JacobianRows block = rows_of(part);
      const Eigen::Index first = std::ssize(all.rows);
      for (const Eigen::Index row : block.rows) all.rows.push_back(out + row);
      all.values.conservativeResize(std::ssize(all.rows), Eigen::NoChange);
      all.values.bottomRows(std::ssize(block.rows)).setZero();
      all.values.block(first, in, std::ssize(block.rows), part.size_in()) = block.values;
    });
    return all;
  }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    Triplets triplets;
    bool all_sparse = true;
    for_each_part([&](const Linearization& part, Eigen::Index in, Eigen::Index out) {
      const auto block = part.sparse_jacobian();
      all_sparse = all_sparse && block.has_value();
      if (all_sparse) add_block(triplets, *block, out, in);
    });
    if (!all_sparse) return {};
    return assembled(size_out(), size_in(), triplets);
  }
  /// The ranks hold the rows of the only part whose ranks work together; each computes its rows of the serial
  /// parts itself. Rows of several such parts need not lie on one rank: then the whole Jacobian is used.
  JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
    if (left == nullptr || std::ranges::count(ranks_, Ranks::together) > 1)
      return Linearization::do_local_rows(left, inner);
    std::vector<JacobianRows> blocks;
    for_each_part([&](const Linearization& part, Eigen::Index, Eigen::Index out) {
      const SparseRows of_part = left->middleCols(out, part.size_out());
      blocks.push_back(rows_of(part, &of_part));
    });
    const auto shared = std::ranges::find(ranks_, Ranks::together) - ranks_.begin();
    const std::size_t leading = shared < std::ssize(ranks_) ? static_cast<std::size_t>(shared) : 0;
    JacobianRows all{blocks[leading].rows, Eigen::MatrixXd(std::ssize(blocks[leading].rows), size_in())};
    Eigen::Index first_in = 0;
    for (const JacobianRows& block : blocks) {
      std::vector<Eigen::Index> at(static_cast<std::size_t>(left->rows()), 0);
      for (std::size_t i = 0; i < block.rows.size(); ++i)
        at[static_cast<std::size_t>(block.rows[i])] = static_cast<Eigen::Index>(i);
      for (std::size_t i = 0; i < all.rows.size(); ++i)
        all.values.block(static_cast<Eigen::Index>(i), first_in, 1, block.values.cols()) =
            block.values.row(at[static_cast<std::size_t>(all.rows[i])]);
      first_in += block.values.cols();
    }
    if (inner != nullptr) all.values = inner->row_product(std::move(all.values));
    return all;
  }

  Linearizations parts_;
  std::vector<Ranks> ranks_;
};

class ParallelMap final : public DifferentiableMap {
 public:
  explicit ParallelMap(std::vector<MapPtr> maps) : maps_(std::move(maps)) {
    if (maps_.empty())
      throw InvalidArgument("core::parallel#no_map", "expected at least one map, but the list is empty");
    for (const MapPtr& map : maps_) {
      require_map("core::parallel", map);
      size_in_ += map->size_in();
      size_out_ += map->size_out();
      communicator_ = joint_communicator("core::parallel", communicator_, map->communicator_id());
    }
  }
  Eigen::Index size_in() const override { return size_in_; }
  Eigen::Index size_out() const override { return size_out_; }
  int communicator_id() const override { return communicator_; }
  std::string name() const override { return joined_names("parallel", maps_); }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override {
    Eigen::VectorXd value(size_out_);
    Eigen::Index in = 0, out = 0;
    for (const MapPtr& map : maps_) {
      value.segment(out, map->size_out()) = map->value(x.segment(in, map->size_in()));
      in += map->size_in();
      out += map->size_out();
    }
    return value;
  }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    Linearizations parts;
    std::vector<Ranks> ranks;
    Eigen::Index in = 0;
    for (const MapPtr& map : maps_) {
      parts.push_back(map->linearize(x.segment(in, map->size_in())));
      ranks.push_back(ranks_of(*map));
      in += map->size_in();
    }
    return std::make_unique<ParallelLinearization>(std::move(parts), std::move(ranks), size_in_, size_out_);
  }

  std::vector<MapPtr> maps_;
  Eigen::Index size_in_ = 0, size_out_ = 0;
  int communicator_ = 0;
};

// ---- select ----------------------------------------------------------------------------------------------

using Indices = std::shared_ptr<const std::vector<Eigen::Index>>;

class SelectedLinearization final : public Linearization {
 public:
  SelectedLinearization(Eigen::Index size_in, Eigen::VectorXd value, Indices rows)
      : Linearization(size_in, std::move(value)), rows_(std::move(rows)) {}

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    return directions(*rows_, Eigen::all);
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size_in(), directions.cols());
    for (std::size_t i = 0; i < rows_->size(); ++i)  // an index may occur twice
      result.row((*rows_)[i]) += directions.row(static_cast<Eigen::Index>(i));
    return result;
  }
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(rows.rows(), size_in());
    for (std::size_t i = 0; i < rows_->size(); ++i)
      result.col((*rows_)[i]) += rows.col(static_cast<Eigen::Index>(i));
    return result;
  }
  Eigen::MatrixXd do_jacobian() const override { return do_sparse_jacobian()->toDense(); }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    Triplets triplets;
    for (std::size_t i = 0; i < rows_->size(); ++i)
      triplets.emplace_back(static_cast<int>(i), static_cast<int>((*rows_)[i]), 1.0);
    return assembled(size_out(), size_in(), triplets);
  }

  Indices rows_;
};

class SelectMap final : public DifferentiableMap {
 public:
  SelectMap(Eigen::Index size_in, std::vector<Eigen::Index> rows) : size_in_(size_in) {
    for (const Eigen::Index row : rows) {
      if (row < 0 || row >= size_in)
        throw InvalidArgument("core::select#wrong_index", "expected indices in 0 … {}, got {}", size_in - 1,
                              row);
    }
    rows_ = std::make_shared<const std::vector<Eigen::Index>>(std::move(rows));
  }
  Eigen::Index size_in() const override { return size_in_; }
  Eigen::Index size_out() const override { return std::ssize(*rows_); }
  std::string name() const override { return "core::select"; }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return x(*rows_); }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<SelectedLinearization>(size_in_, x(*rows_), rows_);
  }

  Eigen::Index size_in_;
  Indices rows_;
};

}  // namespace

MapPtr parallel(std::vector<MapPtr> maps) { return std::make_shared<ParallelMap>(std::move(maps)); }

MapPtr select(Eigen::Index size_in, std::vector<Eigen::Index> rows) {
  return std::make_shared<SelectMap>(size_in, std::move(rows));
}

}  // namespace lodestone::core
