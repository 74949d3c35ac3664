// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/data/dataset.hpp"
#include "engine/nn/stateful.hpp"

#include <functional>
#include <optional>

namespace lodestone::engine {

/// A function that changes a batch before it is handed out. It receives named tensors with the batch as axis
/// 0, and a random key for each item, u64[batch, 3]. The key follows from seed, epoch and the number of the
/// item, so that draws for an item do not depend on its batch. Use a key for one draw; take `split_key` for
/// several.
using BatchTransform = std::function<NamedTensors(NamedTensors batch, const Tensor& keys)>;

enum class Order : std::uint8_t { stored, shuffled };
enum class LastBatch : std::uint8_t { keep, drop };  ///< for a smaller last batch of an epoch

struct LoaderOptions {
  std::int64_t batch_size = 32;
  Order order = Order::shuffled;  ///< anew in every epoch
  LastBatch last = LastBatch::keep;
  std::uint64_t seed = 1;  ///< determines the order and the keys
  BatchTransform
      transform{};     ///< runs on the thread that reads ahead, if there is one: it must not use variables
  int read_ahead = 0;  ///< batches made in advance by a thread of the loader's own; 0: made on request
  Device device = default_device();
};

/// Returns the key that a loader with this seed gives this item in this epoch. shapes: u64[3].
[[nodiscard]] Tensor item_key(std::uint64_t seed, std::int64_t epoch, std::int64_t item,
                              Device device = default_device());

/// The shards of a batch that one of several ranks reads: `first` to `last` - 1 of `n`. Shard k of a batch of
/// m items begins at item floor(k m / n).
struct BatchShards {
  int first = 0, last = 1, n = 1;
};

/// Gives a dataset batch by batch, epoch after epoch. What comes depends only on dataset, options, epoch and
/// number of the batch, not on threads or on what came before. So the cursor, which is its state, is all that
/// is needed to go on. Copies share the cursor.
class Loader : public Stateful {
 public:
  /// Begins at the first batch. errors: InvalidArgument for impossible sizes, or no batch in an epoch.
  explicit Loader(const Dataset& dataset, LoaderOptions options = {});

  [[nodiscard]] std::int64_t n_batches() const;   ///< number of batches of an epoch
  [[nodiscard]] std::int64_t batch_size() const;  ///< items of a batch, but for a smaller last one
  [[nodiscard]] const Dataset& dataset() const;
  [[nodiscard]] std::int64_t epoch() const;  ///< number of the epoch of the next batch, counted from 0

  /// Returns the next batch of this epoch, evaluated; none at its end, once, before the next epoch begins.
  /// errors: those of the source and of the transform; InvalidArgument when the state belongs to a loader of
  /// another size, seed or order.
  [[nodiscard]] std::optional<NamedTensors> next() const;
  /// Returns the number of items of the next batch, in all its shards; 0 at the end of the epoch.
  [[nodiscard]] std::int64_t n_items_of_next() const;
  /// Returns a loader that hands out these shards of each batch, and shares the cursor. The transform is
  /// called for one shard at a time. A batch with fewer items than shards comes whole. errors:
  /// InvalidArgument for shards that are no such.
  [[nodiscard]] Loader of_shards(BatchShards shards) const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
  Variable cursor_, made_for_;
};

}  // namespace lodestone::engine
