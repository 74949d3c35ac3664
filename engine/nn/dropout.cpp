// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/dropout.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"

namespace lodestone::engine {

Dropout::Dropout(double probability, InitialValues& initial)
    : probability_(probability),
      key_(add_state("key", random_key(initial.seed(), initial.next_stream(), initial.device()))) {
  if (!(probability >= 0.0 && probability < 1.0))
    throw core::InvalidArgument("Dropout#wrong_probability", "expected a probability in [0, 1), got {}",
                                probability);
}

Tensor Dropout::operator()(const Located& x) const {
  if (mode() == Mode::evaluation || probability_ == 0.0) return x.tensor;
  const Tensor key = key_.value();
  key_.assign({advance(key, x.tensor.count()), x.where});
  const double kept = 1.0 - probability_;
  return select({random_bernoulli(key, kept, x.tensor.shape()), x.where}, x.tensor * (1.0 / kept), 0.0);
}

}  // namespace lodestone::engine
