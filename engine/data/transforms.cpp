// SPDX-License-Identifier: Apache-2.0
#include "engine/data/transforms.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/ops/rules.hpp"

#include <algorithm>
#include <numbers>

namespace lodestone::engine::transforms {
namespace {

constexpr std::size_t bytes_at_once =
    std::size_t{1} << 22;  // of a dataset read for its moments; fixed, so that sums are always the same

/// The batch axes that keys and x have in common: those of the keys before the 3.
int n_batch_axes(std::string_view what, const Located& x, const Tensor& keys) {
  const Shape& of_keys = keys.shape();
  const int n = of_keys.rank() - 1;
  bool fits = n >= 0 && of_keys.back() == 3 && keys.dtype() == DType::u64 && x.tensor.rank() >= n;
  for (int axis = 0; fits && axis < n; ++axis) fits = of_keys[axis] == x.tensor.shape()[axis];
  if (!fits) {
    throw core::ShapeError(
        std::string(what) + "#wrong_keys",
        "expected a key u64[3] for one item, or u64[batch, 3] for a batch, got {} for {} {}",
        keys.aval().text(), x.tensor.aval().text(), at_line(x.where));
  }
  return n;
}

/// Returns one number per item, next to x.
Tensor per_item(const Tensor& drawn, const Tensor& x) {
  Shape shape = drawn.shape();
  while (shape.rank() < x.rank()) shape.push_back(1);
  return reshape(drawn, shape);
}

/// The axis of x that counts `axis` within the item.
int axis_of_item(std::string_view what, const Located& x, int n_batch, int axis) {
  return n_batch + counted_axis(what, axis, x.tensor.rank() - n_batch, x.where);
}

}  // namespace

Moments moments(const Dataset& dataset, const std::string& name, const Axes& axes) {
  const Aval item = dataset.item_aval(name);
  if (item.dtype != DType::f32 && item.dtype != DType::f64) {
    throw core::InvalidArgument("transforms::moments#wrong_dtype",
                                "{}: expected \"{}\" as f32 or f64, got {}; cast it first",
                                dataset.location(), name, item.text());
  }
  if (dataset.size() == 0)
    throw core::InvalidArgument("transforms::moments#no_items",
                                "{}: expected at least one item, but the data set is empty",
                                dataset.location());
  Axes over =
      shifted(counted_axes("transforms::moments", axes, item.shape.rank(), std::source_location::current()));
  over = over.inserted(0, 0);
  const auto n_at_once = static_cast<std::int64_t>(
      std::max<std::size_t>(bytes_at_once / std::max<std::size_t>(item.bytes(), 1), 1));
  Tensor average, squares;
  double n = 0;
  for (std::int64_t first = 0; first < dataset.size(); first += n_at_once) {
    const Tensor x =
        cast(dataset.items(first, std::min(first + n_at_once, dataset.size())).at(name), DType::f64);
    const Tensor average_here = mean(x, over, Keep::yes);
    const Tensor squares_here = sum(square(x - average_here), over, Keep::yes);
    const double n_here = static_cast<double>(x.count()) / static_cast<double>(average_here.count());
    const Tensor apart = average.is_valid() ? average_here - average : average_here;
    average = average.is_valid() ? average + apart * (n_here / (n + n_here)) : average_here;
    squares = squares.is_valid() ? squares + squares_here + square(apart) * (n * n_here / (n + n_here))
                                 : squares_here;
    n += n_here;
    eval(Tensors{average, squares});
  }
  const Tensor deviation = sqrt(squares / n);
  const auto of_item = [&](const Tensor& x) { return squeeze(cast(x, item.dtype), 0).eval(); };
  return {of_item(average), of_item(select(equal(deviation, 0.0), 1.0, deviation))};
}

Tensor standardize(const Located& x, const Moments& moments) {
  return subtract({x.tensor, x.where}, moments.mean) / moments.deviation;
}
Tensor unstandardize(const Located& x, const Moments& moments) {
  return multiply({x.tensor, x.where}, moments.deviation) + moments.mean;
}
Tensor log10(const Located& x) { return log(x) * (1.0 / std::numbers::ln10); }
Tensor clip(const Located& x, double low, double high) {
  return minimum(maximum({x.tensor, x.where}, low), high);
}

Tensor noise(const Located& x, const Tensor& keys, double deviation) {
  Shape item;
  for (int axis = n_batch_axes("transforms::noise", x, keys); axis < x.tensor.rank(); ++axis)
    item.push_back(x.tensor.shape()[axis]);
  return add({x.tensor, x.where}, deviation * random_normal({keys, x.where}, item, x.tensor.dtype()));
}

Tensor random_flip(const Located& x, const Tensor& keys, int axis, double probability) {
  const int n_batch = n_batch_axes("transforms::random_flip", x, keys);
  const Tensor chosen = random_bernoulli({keys, x.where}, probability, {});
  return select(per_item(chosen, x.tensor),
                flip(x, axis_of_item("transforms::random_flip", x, n_batch, axis)), x.tensor);
}

Tensor random_shift(const Located& x, const Tensor& keys, int axis, Dim most, double fill) {
  const int n_batch = n_batch_axes("transforms::random_shift", x, keys);
  const int along = axis_of_item("transforms::random_shift", x, n_batch, axis);
  if (most < 0)
    throw core::InvalidArgument("transforms::random_shift#negative_shift",
                                "expected at most 0 or more elements, got {} {}", most, at_line(x.where));
  const Tensor by = per_item(random_integers({keys, x.where}, {}, 0, 2 * most + 1), x.tensor);
  IntList margin = IntList::filled(x.tensor.rank(), 0);
  margin[along] = most;
  Tensor moved = pad(x, margin, margin, {}, fill);
  const Dim extent = moved.shape()[along];
  // Towards the first element by a number of places: by each power of two in it.
  for (Dim step = 1; step <= 2 * most; step *= 2) {
    const Tensor rolled =
        concatenate(Tensors{slice(moved, along, step, extent), slice(moved, along, 0, step)}, along);
    moved = select(not_equal(bitwise_and(by, step), 0), rolled, moved);
  }
  return slice(moved, along, 0, extent - 2 * most);
}

}  // namespace lodestone::engine::transforms
