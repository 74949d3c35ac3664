// SPDX-License-Identifier: Apache-2.0
#include "physics/mt/static_shift.hpp"

#include "engine/core/error.hpp"

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

namespace lodestone::physics::mt {
namespace {

constexpr const char* component = "mt::static_shift";

/// How one datum feels a shift.
enum class Effect : std::uint8_t { none, adds, multiplies };

Effect effect_on(Quantity quantity) {
  switch (rule_of(quantity).floor) {
    case FloorKind::log10_rho:
      return Effect::adds;
    case FloorKind::impedance:
      return Effect::multiplies;
    default:
      return Effect::none;
  }
}

/// What each datum feels, and of which shift.
class ShiftTable {
 public:
  ShiftTable(const Survey& survey, const std::vector<StaticShiftKey>& keys)
      : n_shifts_(static_cast<Eigen::Index>(keys.size())) {
    const auto n_stations = static_cast<int>(survey.stations.size());
    std::vector<Eigen::Index> shift_at(2 * survey.stations.size(), -1);
    const auto place = [&](Mode mode, int station) {
      return static_cast<std::size_t>(static_cast<int>(mode) * n_stations + station);
    };
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (keys[k].station < 0 || keys[k].station >= n_stations)
        throw core::InvalidArgument(component, "expected a station below {}, got {} in shift {}", n_stations,
                                    keys[k].station, k);
      shift_at[place(keys[k].mode, keys[k].station)] = static_cast<Eigen::Index>(k);
    }
    for (const DatumKey& key : survey.keys) {
      const Effect effect = effect_on(key.quantity);
      const Eigen::Index shift =
          effect == Effect::none ? -1 : shift_at[place(mode_of(key.quantity), key.station)];
      rows_.push_back({shift < 0 ? Effect::none : effect, shift});
    }
  }

  [[nodiscard]] Eigen::Index n_data() const { return static_cast<Eigen::Index>(rows_.size()); }
  [[nodiscard]] Eigen::Index n_shifts() const { return n_shifts_; }
  /// ∂(shifted)/∂(datum).
  [[nodiscard]] Eigen::VectorXd scale(const core::ConstVectorRef& shifts) const {
    return Eigen::VectorXd::NullaryExpr(n_data(), [&](Eigen::Index i) {
      const Row& row = rows_[static_cast<std::size_t>(i)];
      return row.effect == Effect::multiplies ? std::pow(10.0, 0.5 * shifts[row.shift]) : 1.0;
    });
  }
  [[nodiscard]] Eigen::VectorXd apply(const core::ConstVectorRef& data,
                                      const core::ConstVectorRef& shifts) const {
    Eigen::VectorXd result = scale(shifts).cwiseProduct(data);
    for_each([&](Eigen::Index i, const Row& row) {
      if (row.effect == Effect::adds) result[i] += shifts[row.shift];
    });
    return result;
  }
  /// ∂(shifted)/∂(its shift) from the shifted data; 0 where there is none.
  [[nodiscard]] Eigen::VectorXd slope(const Eigen::VectorXd& shifted_data) const {
    Eigen::VectorXd result = Eigen::VectorXd::Zero(n_data());
    for_each([&](Eigen::Index i, const Row& row) {
      result[i] = row.effect == Effect::adds ? 1.0 : 0.5 * std::numbers::ln10 * shifted_data[i];
    });
    return result;
  }
  /// Calls f(datum, shift) for the data that feel one.
  template <class F>
  void for_each_pair(F&& f) const {
    for_each([&](Eigen::Index i, const Row& row) { f(i, row.shift); });
  }

 private:
  struct Row {
    Effect effect;
    Eigen::Index shift;
  };
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].effect != Effect::none) f(static_cast<Eigen::Index>(i), rows_[i]);
    }
  }

  std::vector<Row> rows_;
  Eigen::Index n_shifts_;
};

using TablePtr = std::shared_ptr<const ShiftTable>;

Eigen::VectorXd joined(const Eigen::VectorXd& above, const core::ConstVectorRef& below) {
  Eigen::VectorXd result(above.size() + below.size());
  result << above, below;
  return result;
}

class ShiftedLinearization final : public core::Linearization {
 public:
  ShiftedLinearization(std::unique_ptr<core::Linearization> inner, TablePtr table,
                       const core::ConstVectorRef& shifts)
      : Linearization(inner->size_in() + table->n_shifts(),
                      joined(table->apply(inner->value(), shifts), shifts)),
        inner_(std::move(inner)),
        table_(std::move(table)),
        scale_(table_->scale(shifts)),
        slope_(table_->slope(value().head(table_->n_data()))) {}

 private:
  Eigen::MatrixXd do_jvp(const core::ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result(size_out(), directions.cols());
    const auto of_shifts = directions.bottomRows(table_->n_shifts());
    result.topRows(table_->n_data()) =
        scale_.asDiagonal() * inner_->jvp(directions.topRows(inner_->size_in()));
    table_->for_each_pair(
        [&](Eigen::Index i, Eigen::Index shift) { result.row(i) += slope_[i] * of_shifts.row(shift); });
    result.bottomRows(table_->n_shifts()) = of_shifts;
    return result;
  }
  Eigen::MatrixXd do_vjp(const core::ConstMatrixRef& directions) const override {
    Eigen::MatrixXd result(size_in(), directions.cols());
    const auto of_data = directions.topRows(table_->n_data());
    result.topRows(inner_->size_in()) = inner_->vjp(scale_.asDiagonal() * of_data);
    auto of_shifts = result.bottomRows(table_->n_shifts());
    of_shifts = directions.bottomRows(table_->n_shifts());
    table_->for_each_pair(
        [&](Eigen::Index i, Eigen::Index shift) { of_shifts.row(shift) += slope_[i] * of_data.row(i); });
    return result;
  }
  /// From the inner map's own Jacobian, which may be far cheaper than its products.
  Eigen::MatrixXd do_jacobian() const override {
    Eigen::MatrixXd jacobian = Eigen::MatrixXd::Zero(size_out(), size_in());
    jacobian.topLeftCorner(table_->n_data(), inner_->size_in()) = scale_.asDiagonal() * inner_->jacobian();
    table_->for_each_pair(
        [&](Eigen::Index i, Eigen::Index shift) { jacobian(i, inner_->size_in() + shift) = slope_[i]; });
    jacobian.bottomRightCorner(table_->n_shifts(), table_->n_shifts()).setIdentity();
    return jacobian;
  }
  /// The inner map's rows stay on their ranks; every rank holds those of the shifts.
  core::JacobianRows do_local_jacobian() const override {
    core::JacobianRows inner = inner_->local_jacobian(), all;
    const Eigen::Index n_rows = inner.values.rows(), n_shifts = table_->n_shifts();
    all.values = Eigen::MatrixXd::Zero(n_rows + n_shifts, size_in());
    all.values.topLeftCorner(n_rows, inner_->size_in()) = scale_(inner.rows).asDiagonal() * inner.values;
    std::vector<Eigen::Index> place(static_cast<std::size_t>(table_->n_data()), -1);
    for (Eigen::Index i = 0; i < n_rows; ++i)
      place[static_cast<std::size_t>(inner.rows[static_cast<std::size_t>(i)])] = i;
    table_->for_each_pair([&](Eigen::Index datum, Eigen::Index shift) {
      if (const Eigen::Index i = place[static_cast<std::size_t>(datum)]; i >= 0)
        all.values(i, inner_->size_in() + shift) = slope_[datum];
    });
    all.values.bottomRightCorner(n_shifts, n_shifts).setIdentity();
    all.rows = std::move(inner.rows);
    for (Eigen::Index shift = 0; shift < n_shifts; ++shift) all.rows.push_back(table_->n_data() + shift);
    return all;
  }

  std::unique_ptr<core::Linearization> inner_;
  TablePtr table_;
  Eigen::VectorXd scale_, slope_;
};

class ShiftedMap final : public core::DifferentiableMap {
 public:
  ShiftedMap(core::MapPtr inner, TablePtr table) : inner_(std::move(inner)), table_(std::move(table)) {
    if (!inner_) throw core::InvalidArgument(component, "expected a forward map, got a null pointer");
    if (inner_->size_out() != table_->n_data())
      throw core::ShapeError(component, "expected a forward map of the survey's {} data, {} gives {}",
                             table_->n_data(), inner_->name(), inner_->size_out());
  }
  Eigen::Index size_in() const override { return inner_->size_in() + table_->n_shifts(); }
  Eigen::Index size_out() const override { return inner_->size_out() + table_->n_shifts(); }
  std::string name() const override { return "static_shift(" + inner_->name() + ")"; }
  int communicator_id() const override { return inner_->communicator_id(); }

 private:
  Eigen::VectorXd do_value(const core::ConstVectorRef& x) const override {
    const auto shifts = x.tail(table_->n_shifts());
    return joined(table_->apply(inner_->value(x.head(inner_->size_in())), shifts), shifts);
  }
  std::unique_ptr<core::Linearization> do_linearize(const core::ConstVectorRef& x) const override {
    return std::make_unique<ShiftedLinearization>(inner_->linearize(x.head(inner_->size_in())), table_,
                                                  x.tail(table_->n_shifts()));
  }

  core::MapPtr inner_;
  TablePtr table_;
};

}  // namespace

std::vector<StaticShiftKey> static_shift_keys(const Survey& survey, const std::vector<Mode>& modes) {
  std::vector<StaticShiftKey> result;
  for (const Mode mode : modes) {
    std::vector<bool> felt(survey.stations.size(), false);
    for (const DatumKey& key : survey.keys) {
      if (effect_on(key.quantity) != Effect::none && mode_of(key.quantity) == mode)
        felt[static_cast<std::size_t>(key.station)] = true;
    }
    for (std::size_t station = 0; station < felt.size(); ++station) {
      if (felt[station]) result.push_back({mode, static_cast<int>(station)});
    }
  }
  return result;
}

Eigen::VectorXd shifted(const core::ConstVectorRef& data, const Survey& survey,
                        const std::vector<StaticShiftKey>& keys, const core::ConstVectorRef& shifts) {
  if (static_cast<std::size_t>(data.size()) != survey.keys.size() ||
      static_cast<std::size_t>(shifts.size()) != keys.size())
    throw core::ShapeError(component, "expected {} data and {} shifts, got {} and {}", survey.keys.size(),
                           keys.size(), data.size(), shifts.size());
  return ShiftTable(survey, keys).apply(data, shifts);
}

core::MapPtr with_static_shifts(core::MapPtr forward, const Survey& survey,
                                const std::vector<StaticShiftKey>& keys) {
  return std::make_shared<ShiftedMap>(std::move(forward), std::make_shared<const ShiftTable>(survey, keys));
}

}  // namespace lodestone::physics::mt
