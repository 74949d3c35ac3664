// SPDX-License-Identifier: Apache-2.0
#include "engine/core/map_algebra.hpp"

#include "engine/core/error.hpp"
#include "engine/core/map_parts.hpp"

#include <utility>

namespace lodestone::core {
namespace {

// ---- pointwise -------------------------------------------------------------------------------------------

class PointwiseLinearization final : public Linearization {
 public:
  PointwiseLinearization(Eigen::VectorXd value, Eigen::VectorXd slope)
      : Linearization(slope.size(), std::move(value)), slope_(std::move(slope)) {}
  [[nodiscard]] const Eigen::VectorXd& slope() const { return slope_; }

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    return slope_.asDiagonal() * directions;
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return slope_.asDiagonal() * directions;
  }
  /// In place: the rows of a Jacobian may fill a large part of the memory.
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override {
    rows.array().rowwise() *= slope_.transpose().array();
    return rows;
  }
  Eigen::MatrixXd do_jacobian() const override { return slope_.asDiagonal().toDenseMatrix(); }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    Triplets triplets;
    for (int i = 0; i < static_cast<int>(slope_.size()); ++i) triplets.emplace_back(i, i, slope_[i]);
    return assembled(slope_.size(), slope_.size(), triplets);
  }

  Eigen::VectorXd slope_;
};

class PointwiseMap final : public DifferentiableMap {
 public:
  PointwiseMap(std::string name, Eigen::Index size, std::function<double(double)> f,
               std::function<double(double)> df)
      : name_(std::move(name)), size_(size), f_(std::move(f)), df_(std::move(df)) {
    if (!f_ || !df_)
      throw InvalidArgument("core::pointwise#no_function",
                            "expected a function and its derivative for \"{}\", got an empty function",
                            name_);
  }
  Eigen::Index size_in() const override { return size_; }
  Eigen::Index size_out() const override { return size_; }
  std::string name() const override { return name_; }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return x.unaryExpr(f_); }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<PointwiseLinearization>(x.unaryExpr(f_), x.unaryExpr(df_));
  }

  std::string name_;
  Eigen::Index size_;
  std::function<double(double)> f_, df_;
};

// ---- affine ----------------------------------------------------------------------------------------------

class AffineLinearization final : public Linearization {
 public:
  AffineLinearization(std::shared_ptr<const Eigen::MatrixXd> a, Eigen::VectorXd value)
      : Linearization(a->cols(), std::move(value)), a_(std::move(a)) {}

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override { return *a_ * directions; }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return a_->transpose() * directions;
  }
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override { return rows * *a_; }
  Eigen::MatrixXd do_jacobian() const override { return *a_; }

  std::shared_ptr<const Eigen::MatrixXd> a_;
};

class AffineMap final : public DifferentiableMap {
 public:
  AffineMap(Eigen::MatrixXd a, Eigen::VectorXd b)
      : a_(std::make_shared<const Eigen::MatrixXd>(std::move(a))), b_(std::move(b)) {
    if (a_->rows() != b_.size())
      throw ShapeError("core::affine#wrong_size", "expected b of size {} (the rows of A), got {}", a_->rows(),
                       b_.size());
  }
  Eigen::Index size_in() const override { return a_->cols(); }
  Eigen::Index size_out() const override { return a_->rows(); }
  std::string name() const override { return "core::affine"; }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return *a_ * x + b_; }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<AffineLinearization>(a_, do_value(x));
  }

  std::shared_ptr<const Eigen::MatrixXd> a_;
  Eigen::VectorXd b_;
};

// ---- compose ---------------------------------------------------------------------------------------------

class ComposedLinearization final : public Linearization {
 public:
  ComposedLinearization(std::unique_ptr<Linearization> outer, std::unique_ptr<Linearization> inner,
                        Ranks of_inner)
      : Linearization(inner->size_in(), outer->value()),
        outer_(std::move(outer)),
        inner_(std::move(inner)),
        of_inner_(of_inner) {}
  [[nodiscard]] std::size_t bytes() const override { return outer_->bytes() + inner_->bytes(); }

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    return outer_->jvp(inner_->jvp(directions));
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return inner_->vjp(outer_->vjp(directions));
  }
  Eigen::MatrixXd do_row_product(Eigen::MatrixXd rows) const override {
    return inner_->row_product(outer_->row_product(std::move(rows)));
  }
  /// From the data side, so that the outer map's own (cheap) dense Jacobian is used; a diagonal map scales
  /// the other one's Jacobian in place. A simulation makes its own Jacobian faster than one row per datum.
  Eigen::MatrixXd do_jacobian() const override {
    const auto* scale = diagonal(*outer_);
    if (scale == nullptr) {
      const auto left = of_inner_ == Ranks::together ? outer_->sparse_jacobian() : std::nullopt;
      return left ? Eigen::MatrixXd(*left * inner_->jacobian()) : inner_->row_product(outer_->jacobian());
    }
    Eigen::MatrixXd jacobian = inner_->jacobian();
    jacobian.array().colwise() *= scale->slope().array();
    return jacobian;
  }
  /// Returns these rows; they stay where they are unless that takes products with an inner map whose ranks
  /// work together.
  JacobianRows do_local_jacobian() const override {
    if (const auto* scale = diagonal(*outer_)) {
      JacobianRows block = rows_of(*inner_);
      block.values.array().colwise() *= scale->slope()(block.rows).array();
      return block;
    }
    const bool alone = diagonal(*inner_) != nullptr || of_inner_ == Ranks::each_alone;
    if (alone) return rows_of(*outer_, nullptr, inner_.get());
    if (const auto left = outer_->sparse_jacobian()) return rows_of(*inner_, &*left);
    return every_row(do_jacobian());
  }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    const auto outer = outer_->sparse_jacobian();
    if (!outer) return {};
    const auto inner = inner_->sparse_jacobian();
    if (!inner) return {};
    return SparseRows(*outer * *inner);
  }
  /// A sparse outer map is taken together with what stands on its left, so that ranks keep their rows of the
  /// inner map.
  JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
    if (left == nullptr) return rows_through(*inner);
    if (const auto outer = outer_->sparse_jacobian()) {
      const SparseRows both = *left * *outer;
      return rows_of(*inner_, &both, inner);
    }
    if (of_inner_ == Ranks::together) return Linearization::do_local_rows(left, inner);
    JacobianRows block = rows_of(*outer_, left, inner_.get());
    if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
    return block;
  }
  /// A sparse outer map leaves blocks of rows to the inner one, each of which goes through the third map.
  [[nodiscard]] JacobianRows rows_through(const Linearization& inner) const {
    if (of_inner_ == Ranks::together && diagonal(*outer_) == nullptr) {
      if (const auto left = outer_->sparse_jacobian()) return rows_of(*inner_, &*left, &inner);
    }
    return Linearization::do_local_rows(nullptr, &inner);
  }

  static const PointwiseLinearization* diagonal(const Linearization& part) {
    return dynamic_cast<const PointwiseLinearization*>(&part);
  }

  std::unique_ptr<Linearization> outer_, inner_;
  Ranks of_inner_;
};

class ComposedMap final : public DifferentiableMap {
 public:
  ComposedMap(MapPtr outer, MapPtr inner) : outer_(std::move(outer)), inner_(std::move(inner)) {
    require_map("core::compose", outer_);
    require_map("core::compose", inner_);
    if (outer_->size_in() != inner_->size_out()) {
      throw ShapeError("core::compose#wrong_size", "expected {} to give the {} inputs of {}, it gives {}",
                       inner_->name(), outer_->size_in(), outer_->name(), inner_->size_out());
    }
    communicator_ = joint_communicator("core::compose", outer_->communicator_id(), inner_->communicator_id());
  }
  Eigen::Index size_in() const override { return inner_->size_in(); }
  Eigen::Index size_out() const override { return outer_->size_out(); }
  std::string name() const override { return outer_->name() + " ∘ " + inner_->name(); }
  int communicator_id() const override { return communicator_; }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return outer_->value(inner_->value(x)); }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    auto inner = inner_->linearize(x);
    auto outer = outer_->linearize(inner->value());
    const auto* first = dynamic_cast<const PointwiseLinearization*>(inner.get());
    const auto* second = dynamic_cast<const PointwiseLinearization*>(outer.get());
    if (first != nullptr &&
        second != nullptr)  // still pointwise, so that a map behind it scales its Jacobian in place
      return std::make_unique<PointwiseLinearization>(outer->value(),
                                                      second->slope().cwiseProduct(first->slope()));
    return std::make_unique<ComposedLinearization>(std::move(outer), std::move(inner), ranks_of(*inner_));
  }

  MapPtr outer_, inner_;
  int communicator_ = 0;
};

// ---- stack -----------------------------------------------------------------------------------------------

class StackedLinearization final : public Linearization {
 public:
  StackedLinearization(Linearizations parts, Eigen::Index size_in, Eigen::Index size_out)
      : Linearization(size_in, stacked_value(parts, size_out)), parts_(std::move(parts)) {}
  [[nodiscard]] std::size_t bytes() const override { return bytes_of(parts_); }

 private:
  template <class Block>
  Eigen::MatrixXd below_each_other(Eigen::Index cols, Block block) const {
    Eigen::MatrixXd result(size_out(), cols);
    Eigen::Index row = 0;
    for (const auto& part : parts_) {
      result.middleRows(row, part->size_out()) = block(*part);
      row += part->size_out();
    }
    return result;
  }
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    return below_each_other(directions.cols(),
                            [&](const Linearization& part) { return part.jvp(directions); });
  }
  Eigen::MatrixXd do_jacobian() const override {
    return below_each_other(size_in(), [](const Linearization& part) { return part.jacobian(); });
  }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    Triplets triplets;
    Eigen::Index row = 0;
    for (const auto& part : parts_) {
      const auto block = part->sparse_jacobian();
      if (!block) return {};
      add_block(triplets, *block, row, 0);
      row += part->size_out();
    }
    return assembled(size_out(), size_in(), triplets);
  }
  JacobianRows do_local_jacobian() const override {
    return rows_below_each_other(size_in(), [](const Linearization& part) { return rows_of(part); });
  }
  JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
    if (left != nullptr) return Linearization::do_local_rows(left, inner);
    return rows_below_each_other(inner->size_in(),
                                 [&](const Linearization& part) { return rows_of(part, nullptr, inner); });
  }
  template <class Block>
  JacobianRows rows_below_each_other(Eigen::Index cols, Block block_of) const {
    std::vector<JacobianRows> blocks;
    JacobianRows all;
    Eigen::Index first = 0;
    for (const auto& part : parts_) {
      blocks.push_back(block_of(*part));
      for (const Eigen::Index row : blocks.back().rows) all.rows.push_back(first + row);
      first += part->size_out();
    }
    all.values.resize(std::ssize(all.rows), cols);
    first = 0;
    for (const JacobianRows& block : blocks) {
      all.values.middleRows(first, block.values.rows()) = block.values;
      first += block.values.rows();
    }
    return all;
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result = Eigen::MatrixXd::Zero(size_in(), directions.cols());
    Eigen::Index row = 0;
    for (const auto& part : parts_) {
      result += part->vjp(directions.middleRows(row, part->size_out()));
      row += part->size_out();
    }
    return result;
  }

  Linearizations parts_;
};

class StackedMap final : public DifferentiableMap {
 public:
  explicit StackedMap(std::vector<MapPtr> maps) : maps_(std::move(maps)) {
    if (maps_.empty())
      throw InvalidArgument("core::stack#no_map", "expected at least one map, but the list is empty");
    for (const MapPtr& map : maps_) {
      require_map("core::stack", map);
      if (map->size_in() != size_in()) {
        throw ShapeError("core::stack#wrong_size",
                         "expected all maps to have the {} unknowns of {}, {} has {}", size_in(),
                         maps_.front()->name(), map->name(), map->size_in());
      }
      size_out_ += map->size_out();
      communicator_ = joint_communicator("core::stack", communicator_, map->communicator_id());
    }
  }
  Eigen::Index size_in() const override { return maps_.front()->size_in(); }
  Eigen::Index size_out() const override { return size_out_; }
  int communicator_id() const override { return communicator_; }
  std::string name() const override { return joined_names("stack", maps_); }

 private:
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override {
    Eigen::VectorXd value(size_out_);
    Eigen::Index row = 0;
    for (const MapPtr& map : maps_) {
      value.segment(row, map->size_out()) = map->value(x);
      row += map->size_out();
    }
    return value;
  }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    Linearizations parts;
    for (const MapPtr& map : maps_) parts.push_back(map->linearize(x));
    return std::make_unique<StackedLinearization>(std::move(parts), size_in(), size_out_);
  }

  std::vector<MapPtr> maps_;
  Eigen::Index size_out_ = 0;
  int communicator_ = 0;
};

// ---- restrict --------------------------------------------------------------------------------------------

using Indices = std::shared_ptr<const std::vector<Eigen::Index>>;

class RestrictedLinearization final : public Linearization {
 public:
  RestrictedLinearization(std::unique_ptr<Linearization> whole, Indices free)
      : Linearization(static_cast<Eigen::Index>(free->size()), whole->value()),
        whole_(std::move(whole)),
        free_(std::move(free)) {}
  [[nodiscard]] std::size_t bytes() const override { return whole_->bytes(); }

 private:
  Eigen::MatrixXd do_jvp(const ConstMatrixRef& directions) const override {
    Eigen::MatrixXd embedded = Eigen::MatrixXd::Zero(whole_->size_in(), directions.cols());
    embedded(*free_, Eigen::all) = directions;
    return whole_->jvp(embedded);
  }
  Eigen::MatrixXd do_vjp(const ConstMatrixRef& directions) const override {
    return whole_->vjp(directions)(*free_, Eigen::all);
  }
  Eigen::MatrixXd do_jacobian() const override { return whole_->jacobian()(Eigen::all, *free_); }
  std::optional<SparseRows> do_sparse_jacobian() const override {
    const auto whole = whole_->sparse_jacobian();
    if (!whole) return {};
    Triplets chosen;
    for (std::size_t i = 0; i < free_->size(); ++i)
      chosen.emplace_back(static_cast<int>((*free_)[i]), static_cast<int>(i), 1.0);
    return SparseRows(*whole * assembled(whole_->size_in(), size_in(), chosen));
  }
  JacobianRows do_local_rows(const SparseRows* left, const Linearization* inner) const override {
    if (left == nullptr) return Linearization::do_local_rows(nullptr, inner);
    JacobianRows block = rows_of(*whole_, left);
    block.values = block.values(Eigen::all, *free_).eval();
    if (inner != nullptr) block.values = inner->row_product(std::move(block.values));
    return block;
  }
  JacobianRows do_local_jacobian() const override {
    JacobianRows block = rows_of(*whole_);
    block.values = block.values(Eigen::all, *free_).eval();
    return block;
  }

  std::unique_ptr<Linearization> whole_;
  Indices free_;
};

class RestrictedMap final : public DifferentiableMap {
 public:
  RestrictedMap(MapPtr map, std::vector<Eigen::Index> free_indices, Eigen::VectorXd base)
      : map_(std::move(map)), base_(std::move(base)) {
    require_map("core::restrict_unknowns", map_);
    if (base_.size() != map_->size_in()) {
      throw ShapeError("core::restrict_unknowns#wrong_base", "expected a base of {} unknowns, got {}",
                       map_->size_in(), base_.size());
    }
    std::vector<bool> seen(static_cast<std::size_t>(base_.size()), false);
    for (const Eigen::Index index : free_indices) {
      if (index < 0 || index >= base_.size() || seen[static_cast<std::size_t>(index)]) {
        throw InvalidArgument("core::restrict_unknowns#wrong_index",
                              "expected distinct indices in 0 … {}, got {}{}", base_.size() - 1, index,
                              index >= 0 && index < base_.size() ? " twice" : "");
      }
      seen[static_cast<std::size_t>(index)] = true;
    }
    free_ = std::make_shared<const std::vector<Eigen::Index>>(std::move(free_indices));
  }
  Eigen::Index size_in() const override { return static_cast<Eigen::Index>(free_->size()); }
  Eigen::Index size_out() const override { return map_->size_out(); }
  std::string name() const override { return "restrict(" + map_->name() + ")"; }
  int communicator_id() const override { return map_->communicator_id(); }

 private:
  Eigen::VectorXd full(const ConstVectorRef& x) const {
    Eigen::VectorXd unknowns = base_;
    unknowns(*free_) = x;
    return unknowns;
  }
  Eigen::VectorXd do_value(const ConstVectorRef& x) const override { return map_->value(full(x)); }
  std::unique_ptr<Linearization> do_linearize(const ConstVectorRef& x) const override {
    return std::make_unique<RestrictedLinearization>(map_->linearize(full(x)), free_);
  }

  MapPtr map_;
  Eigen::VectorXd base_;
  Indices free_;
};

}  // namespace

MapPtr compose(MapPtr outer, MapPtr inner) {
  return std::make_shared<ComposedMap>(std::move(outer), std::move(inner));
}

MapPtr stack(std::vector<MapPtr> maps) { return std::make_shared<StackedMap>(std::move(maps)); }

MapPtr restrict_unknowns(MapPtr map, std::vector<Eigen::Index> free_indices, Eigen::VectorXd base) {
  return std::make_shared<RestrictedMap>(std::move(map), std::move(free_indices), std::move(base));
}

MapPtr pointwise(std::string name, Eigen::Index size, std::function<double(double)> f,
                 std::function<double(double)> df) {
  return std::make_shared<PointwiseMap>(std::move(name), size, std::move(f), std::move(df));
}

MapPtr affine(Eigen::MatrixXd a, Eigen::VectorXd b) {
  return std::make_shared<AffineMap>(std::move(a), std::move(b));
}

}  // namespace lodestone::core
