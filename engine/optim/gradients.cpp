// SPDX-License-Identifier: Apache-2.0
#include "engine/optim/gradients.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"

#include <utility>

namespace lodestone::engine {
namespace {

Tensor sum_of_squares(const Tensor& x) {
  return core::is_complex(x.dtype()) ? sum(square(real(x))) + sum(square(imag(x))) : sum(square(x));
}

Tensors scaled(const Tensors& gradients, const Tensor& factor) {
  Tensors result;
  for (const Tensor& each : gradients)
    result.push_back(each * (core::is_complex(each.dtype()) ? complex(factor, zeros_like(factor))
                                                            : cast(factor, each.dtype())));
  return result;
}

}  // namespace

Tensor norm_of(const Tensors& gradients) {
  if (gradients.empty())
    throw core::InvalidArgument("norm_of#no_gradients",
                                "expected at least one gradient, but the list is empty");
  Tensor total = sum_of_squares(gradients[0]);
  for (std::size_t i = 1; i < gradients.size(); ++i)
    total = total + cast(sum_of_squares(gradients[i]), total.dtype());
  return sqrt(total);
}

Tensors clipped_by_norm(const Tensors& gradients, double largest) {
  if (gradients.empty()) return {};
  const Tensor norm = norm_of(gradients);
  return scaled(gradients, select(greater(norm, largest), largest / norm, 1.0));
}

Tensors clipped_by_value(const Tensors& gradients, double largest) {
  Tensors result;
  for (const Tensor& each : gradients) result.push_back(minimum(maximum(each, -largest), largest));
  return result;
}

void GradientMean::add(const Tensors& gradients) {
  if (n_added_ == 0) {
    sum_ = gradients;
  } else {
    if (gradients.size() != sum_.size())
      throw core::ShapeError("GradientMean#wrong_gradient_count", "expected {} gradients as before, got {}",
                             sum_.size(), gradients.size());
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      if (!(gradients[i].aval() == sum_[i].aval()))
        throw core::ShapeError("GradientMean#wrong_gradient", "expected {} as before, got {} as gradient {}",
                               sum_[i].aval().text(), gradients[i].aval().text(), i);
      sum_[i] = sum_[i] + gradients[i];
    }
  }
  ++n_added_;
}

Tensors GradientMean::take() {
  if (n_added_ == 0)
    throw core::InvalidArgument("GradientMean#nothing_added",
                                "expected gradients to be added before they are taken, but the sum is empty");
  Tensors result = std::exchange(sum_, {});
  if (n_added_ > 1) {
    for (Tensor& each : result) each = each * (1.0 / n_added_);
  }
  n_added_ = 0;
  return result;
}

}  // namespace lodestone::engine
