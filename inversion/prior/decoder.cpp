// SPDX-License-Identifier: Apache-2.0
#include "inversion/prior/decoder.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lodestone::inversion::prior {
namespace {

class CardedDecoder final : public Decoder {
 public:
  CardedDecoder(DecoderPtr decoder, DecoderCard card) : decoder_(std::move(decoder)), card_(std::move(card)) {
    if (card_.patch.n_cells() != decoder_->n_cells())
      throw core::ShapeError("inversion::with_card#wrong_size",
                             "expected a patch of the {} cells of {}, got {}", decoder_->n_cells(),
                             decoder_->name(), card_.patch.n_cells());
  }
  [[nodiscard]] std::string name() const override { return decoder_->name(); }
  [[nodiscard]] Eigen::Index n_codes() const override { return decoder_->n_codes(); }
  [[nodiscard]] Eigen::Index n_cells() const override { return decoder_->n_cells(); }
  [[nodiscard]] Eigen::MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    return decoder_->decode(codes);
  }
  [[nodiscard]] Eigen::MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    return decoder_->jacobians(codes);
  }
  [[nodiscard]] Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    return decoder_->encode(cells);
  }
  [[nodiscard]] const DecoderCard* card() const override { return &card_; }

 private:
  DecoderPtr decoder_;
  DecoderCard card_;
};

/// Cell (iz, k) of n columns has the index iz·n + k.
class RepeatedDecoder final : public Decoder {
 public:
  RepeatedDecoder(DecoderPtr column, int n) : column_(std::move(column)), n_(n) {
    if (n_ < 1)
      throw core::InvalidArgument("inversion::repeated#no_column", "expected at least one column, got {}",
                                  n_);
  }
  [[nodiscard]] std::string name() const override { return column_->name(); }
  [[nodiscard]] Eigen::Index n_codes() const override { return column_->n_codes(); }
  [[nodiscard]] Eigen::Index n_cells() const override { return n_ * column_->n_cells(); }
  [[nodiscard]] Eigen::MatrixXd decode(const core::ConstMatrixRef& codes) const override {
    return side_by_side(column_->decode(codes));
  }
  [[nodiscard]] Eigen::MatrixXd jacobians(const core::ConstMatrixRef& codes) const override {
    return side_by_side(column_->jacobians(codes));
  }
  [[nodiscard]] Eigen::MatrixXd encode(const core::ConstMatrixRef& cells) const override {
    Eigen::MatrixXd mean(column_->n_cells(), cells.cols());
    for (Eigen::Index iz = 0; iz < mean.rows(); ++iz)
      mean.row(iz) = cells.middleRows(iz * n_, n_).colwise().mean();
    return column_->encode(mean);
  }
  [[nodiscard]] const DecoderCard* card() const override { return column_->card(); }

 private:
  [[nodiscard]] Eigen::MatrixXd side_by_side(const Eigen::MatrixXd& columns) const {
    Eigen::MatrixXd all(n_ * columns.rows(), columns.cols());
    for (Eigen::Index iz = 0; iz < columns.rows(); ++iz)
      all.middleRows(iz * n_, n_) = columns.row(iz).replicate(n_, 1);
    return all;
  }

  DecoderPtr column_;
  int n_;
};

}  // namespace

DecoderPtr repeated(DecoderPtr column, int n) {
  return std::make_shared<const RepeatedDecoder>(std::move(column), n);
}

DecoderPtr with_card(DecoderPtr decoder, DecoderCard card) {
  return std::make_shared<const CardedDecoder>(std::move(decoder), std::move(card));
}

void check_edges(const char* what, const std::vector<double>& expected, const std::vector<double>& given,
                 const std::string& where) {
  if (expected.size() != given.size())
    throw core::InvalidArgument(
        "inversion::check_edges#wrong_number",
        "{}: expected {} {} as the network was trained on, from {:g} to {:g} m, got "
        "{}, from {:g} to {:g} m; let the rows (or columns) of the region be those of "
        "the network's card, or train a network on this grid",
        where, expected.size(), what, expected.front(), expected.back(), given.size(),
        given.empty() ? 0.0 : given.front(), given.empty() ? 0.0 : given.back());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double cell = i > 0 ? expected[i] - expected[i - 1] : expected[1] - expected[0];
    if (!(std::abs(expected[i] - given[i]) <= 1e-6 * cell))
      throw core::InvalidArgument("inversion::check_edges#other_edges",
                                  "{}: expected {} as the network was trained on, got others: number {} "
                                  "(from 0) is expected at {:.6g} m, got {:.6g} m; use the grid of the "
                                  "network's card, or train one on this grid",
                                  where, what, i, expected[i], given[i]);
  }
}

void check_patch(const DecoderCard& card, const std::vector<double>& depth_m,
                 const std::vector<double>& y_edges_m, const std::string& where) {
  check_edges("interfaces", card.patch.z_edges_m(), depth_m, where);
  if (card.patch.n_y() > 1) check_edges("edges of columns", card.patch.y_edges_m(), y_edges_m, where);
}

DecoderScores scores_of_gaussian(const Decoder& gaussian, double rms) {
  const Eigen::MatrixXd axes = gaussian.jacobians(Eigen::MatrixXd::Zero(gaussian.n_codes(), 1));
  const Eigen::ArrayXd variance = axes.colwise().squaredNorm().transpose().array();
  const Eigen::ArrayXd squares = (variance / (variance + rms * rms)).square();
  return {rms, squares.mean(),
          std::max<Eigen::Index>(1, std::lround(squares.sum() * squares.sum() / squares.square().sum()))};
}

}  // namespace lodestone::inversion::prior
