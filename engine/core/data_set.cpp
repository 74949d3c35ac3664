// SPDX-License-Identifier: Apache-2.0
#include "engine/core/data_set.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace lodestone::core {
namespace {

std::span<const double> span_of(const Eigen::VectorXd& values) {
  return {values.data(), static_cast<std::size_t>(values.size())};
}

Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

bool is_same(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  return std::ranges::equal(span_of(a), span_of(b), same);
}

DataSetParts parts_of(const Table& table, const std::string& observed, const std::string& sigma) {
  const std::vector<std::string> taken{observed, sigma};
  DataSetParts parts{.observed = vector_of(table.numbers(observed)),
                     .sigma = vector_of(table.numbers(sigma)),
                     .reasons = {"used", "missing"},
                     .key = table.without(taken)};
  for (const double value : table.numbers(observed)) parts.reason.push_back(std::isnan(value) ? 1 : 0);
  return parts;
}

std::string text_of(const Table::Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return std::get<std::string>(cell);
}

}  // namespace

double wrapped(double difference, double turn) {
  if (turn == 0.0) return difference;
  const double inside = std::remainder(difference, turn);
  return inside <= -0.5 * turn ? 0.5 * turn : inside;
}

DataSet::DataSet(DataSetParts parts) : parts_(std::move(parts)) {
  if (parts_.turn.size() == 0) parts_.turn = Eigen::VectorXd::Zero(size());
  if (parts_.reason.empty()) parts_.reason.assign(static_cast<std::size_t>(size()), 0);
  check_sizes();
  check_rows();
  n_used_ = std::ranges::count(parts_.reason, 0);
}

DataSet::DataSet(const Table& table, const std::string& observed_column, const std::string& sigma_column)
    : DataSet(parts_of(table, observed_column, sigma_column)) {}

void DataSet::check_sizes() const {
  const auto n = size();
  if (parts_.sigma.size() != n || parts_.turn.size() != n || std::ssize(parts_.reason) != n)
    throw ShapeError("core::DataSet#wrong_size",
                     "expected sigma, turn and reason for the {} observed data, got {}, {} and {}", n,
                     parts_.sigma.size(), parts_.turn.size(), parts_.reason.size());
  if (parts_.key.n_columns() > 0 && static_cast<Eigen::Index>(parts_.key.n_rows()) != n)
    throw ShapeError("core::DataSet#wrong_key", "expected a key of {} rows, one per observed datum, got {}",
                     n, parts_.key.n_rows());
  if (parts_.reasons.empty() || parts_.reasons.front() != "used")
    throw InvalidArgument("core::DataSet#wrong_reasons",
                          "expected a list of reasons that begins with \"used\", got \"{}\"",
                          fmt::join(parts_.reasons, "\", \""));
}

void DataSet::check_rows() const {
  const int n_reasons = static_cast<int>(parts_.reasons.size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    const int reason = parts_.reason[static_cast<std::size_t>(i)];
    if (reason < 0 || reason >= n_reasons)
      throw InvalidArgument("core::DataSet#no_such_reason", "{}: expected a reason in 0 … {}, got {}",
                            describe(i), n_reasons - 1, reason);
    if (!(parts_.turn[i] >= 0.0) || !std::isfinite(parts_.turn[i]))
      throw InvalidArgument("core::DataSet#wrong_turn",
                            "{}: expected a finite turn of 0 (not wrapped) or more, got {}", describe(i),
                            parts_.turn[i]);
    if (reason != 0) continue;
    if (!std::isfinite(parts_.observed[i]))
      throw InvalidArgument(
          "core::DataSet#not_finite",
          "{}: expected a finite observed value, got {}; give the datum a reason to leave it out",
          describe(i), parts_.observed[i]);
    if (!(parts_.sigma[i] > 0.0) || !std::isfinite(parts_.sigma[i]))
      throw InvalidArgument(
          "core::DataSet#wrong_sigma",
          "{}: expected a positive standard deviation, got {}; set an error floor or leave the datum out",
          describe(i), parts_.sigma[i]);
  }
}

Eigen::VectorXd DataSet::difference(const ConstVectorRef& predicted) const {
  if (predicted.size() != size())
    throw ShapeError("core::DataSet#wrong_prediction",
                     "expected {} predicted data, got {}; was the map made for other data?", size(),
                     predicted.size());
  Eigen::VectorXd result = Eigen::VectorXd::Zero(size());
  for (Eigen::Index i = 0; i < size(); ++i) {
    if (is_used(i)) result[i] = wrapped(parts_.observed[i] - predicted[i], parts_.turn[i]);
  }
  return result;
}

std::string DataSet::describe(Eigen::Index row) const {
  std::string text = parts_.key.origin().empty() ? "" : parts_.key.origin() + ": ";
  text += fmt::format("row {}", row);
  const auto index = static_cast<std::size_t>(row);
  if (row < 0 || index >= parts_.key.n_rows()) return text;
  const std::vector<Table::Cell> cells = parts_.key.row(index);
  for (std::size_t k = 0; k < cells.size(); ++k)
    text += fmt::format("{}{} = {}", k == 0 ? ": " : ", ", parts_.key.columns()[k].name, text_of(cells[k]));
  return text;
}

bool operator==(const DataSet& a, const DataSet& b) {
  const DataSetParts &x = a.parts_, &y = b.parts_;
  return is_same(x.observed, y.observed) && is_same(x.sigma, y.sigma) && is_same(x.turn, y.turn) &&
         x.reason == y.reason && x.reasons == y.reasons && x.key == y.key;
}

void write(ArraySink& sink, const std::string& group, const DataSet& data) {
  const DataSetParts& parts = data.parts();
  write_vector(sink, group + "/observed", span_of(parts.observed));
  write_vector(sink, group + "/sigma", span_of(parts.sigma));
  write_vector(sink, group + "/turn", span_of(parts.turn));
  const std::vector<std::int64_t> reason(parts.reason.begin(), parts.reason.end());
  write_vector(sink, group + "/reason", std::span<const std::int64_t>(reason));
  write_texts(sink, group + "/reasons", parts.reasons);
  write(sink, group + "/key", parts.key);
}

DataSet read_data_set(const ArraySource& source, const std::string& group) {
  DataSetParts parts{.observed = vector_of(read_doubles(source, group + "/observed")),
                     .sigma = vector_of(read_doubles(source, group + "/sigma")),
                     .turn = vector_of(read_doubles(source, group + "/turn")),
                     .reasons = read_texts(source, group + "/reasons"),
                     .key = read_table(source, group + "/key")};
  for (const std::int64_t reason : read_integers(source, group + "/reason"))
    parts.reason.push_back(static_cast<int>(std::clamp<std::int64_t>(reason, -1, 1'000'000)));
  try {
    return DataSet(std::move(parts));
  } catch (const Error& error) {
    throw FormatError("core::read_data_set#damaged", "{}: data set \"{}\": {}", source.location(), group,
                      error.what());
  }
}

}  // namespace lodestone::core
