// SPDX-License-Identifier: Apache-2.0
#include "engine/data/loader.hpp"

#include "engine/core/error.hpp"
#include "engine/data/permutation.hpp"
#include "engine/data/read_ahead.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"

#include <algorithm>
#include <numeric>

namespace lodestone::engine {
namespace {

/// Streams of a seed that belong to epochs; parameters and others count from 0.
constexpr std::uint64_t first_stream = std::uint64_t{1} << 62;

std::uint64_t stream_of(std::int64_t epoch) { return first_stream + static_cast<std::uint64_t>(epoch); }

/// Returns the keys of items, u64[items, 3].
Tensor keys_of(std::uint64_t seed, std::int64_t epoch, std::span<const std::int64_t> items, Device device) {
  std::vector<std::uint64_t> words;
  for (const std::int64_t item : items)
    words.insert(words.end(), {seed, stream_of(epoch), static_cast<std::uint64_t>(item)});
  return squeeze(split_key(Tensor::from(words, {static_cast<Dim>(items.size()), 3}, device), 1), -2);
}

Tensor integers(const std::vector<std::int64_t>& values) {
  return Tensor::from(values, {static_cast<Dim>(values.size())});
}

/// Returns the sizes, seed and order in which a cursor counts.
std::vector<std::int64_t> made_for(const Dataset& dataset, const LoaderOptions& options) {
  return {dataset.size(), options.batch_size, static_cast<std::int64_t>(options.seed),
          static_cast<std::int64_t>(options.order), static_cast<std::int64_t>(options.last)};
}
std::string text_of(const std::vector<std::int64_t>& of) {
  return fmt::format("{} items {} in batches of {}, the last one {}, seed {}", of[0],
                     of[3] == 0 ? "as stored" : "shuffled", of[1], of[4] == 0 ? "kept" : "dropped",
                     static_cast<std::uint64_t>(of[2]));
}

}  // namespace

struct Loader::Impl {
  Impl(const Dataset& given, LoaderOptions chosen, BatchShards some = {})
      : dataset(given), options(std::move(chosen)), shards(some) {
    if (options.batch_size < 1 || options.read_ahead < 0) {
      throw core::InvalidArgument(
          "engine::Loader#wrong_options",
          "{}: expected batches of 1 item or more and 0 or more of them read ahead, got {} and {}",
          dataset.location(), options.batch_size, options.read_ahead);
    }
    n_batches = (dataset.size() + (options.last == LastBatch::keep ? options.batch_size - 1 : 0)) /
                options.batch_size;
    if (n_batches == 0) {
      throw core::InvalidArgument(
          "engine::Loader#no_batch",
          "{}: expected at least one batch of {} items, got {} items; take smaller batches",
          dataset.location(), options.batch_size, dataset.size());
    }
    const auto make_one = [this](Place place) { return make(place); };
    const auto after = [this](Place place) {
      return place.batch + 1 < n_batches ? Place{place.epoch, place.batch + 1} : Place{place.epoch + 1, 0};
    };
    if (options.read_ahead > 0) read_ahead.emplace(options.read_ahead, make_one, after);
  }

  NamedTensors batch(Place place) { return read_ahead ? read_ahead->take(place) : make(place); }

  [[nodiscard]] std::vector<std::int64_t> items_of(Place place) {
    if (options.order == Order::shuffled && order_epoch != place.epoch) {
      order = permutation(dataset.size(), options.seed, stream_of(place.epoch));
      order_epoch = place.epoch;
    }
    const std::int64_t first = place.batch * options.batch_size;
    std::vector<std::int64_t> items(
        static_cast<std::size_t>(std::min(options.batch_size, dataset.size() - first)));
    std::iota(items.begin(), items.end(), first);
    if (options.order == Order::shuffled)
      std::ranges::transform(items, items.begin(),
                             [&](std::int64_t i) { return order[static_cast<std::size_t>(i)]; });
    return items;
  }

  NamedTensors make(Place place) {
    const std::vector<std::int64_t> items = items_of(place);
    if (std::ssize(items) < shards.n || shards.n == 1) return made_of(items, place);
    const auto begin_of = [&](int shard) { return std::ssize(items) * shard / shards.n; };
    if (!options.transform)
      return made_of(
          std::span(items).subspan(static_cast<std::size_t>(begin_of(shards.first)),
                                   static_cast<std::size_t>(begin_of(shards.last) - begin_of(shards.first))),
          place);
    std::map<std::string, Tensors> parts;
    for (int shard = shards.first; shard < shards.last; ++shard) {
      const auto n = static_cast<std::size_t>(begin_of(shard + 1) - begin_of(shard));
      const auto own = std::span(items).subspan(static_cast<std::size_t>(begin_of(shard)), n);
      for (const auto& [name, tensor] : made_of(own, place)) parts[name].push_back(tensor);
    }
    NamedTensors batch;
    for (const auto& [name, tensors] : parts) batch.emplace(name, concatenate(tensors, 0).eval());
    return batch;
  }

  NamedTensors made_of(std::span<const std::int64_t> items, Place place) const {
    NamedTensors batch = dataset.items(items, options.device);
    if (!options.transform) return batch;
    try {
      batch = options.transform(std::move(batch), keys_of(options.seed, place.epoch, items, options.device));
      Tensors all;
      for (const auto& [name, tensor] : batch) all.push_back(tensor);
      eval(all);
    } catch (const core::Error& error) {
      throw core::Error(
          error.exit_code(),
          fmt::format(
              "{}; in the transform of items {} of {}, batch {} of epoch {}", error.what(),
              fmt::join(items.begin(), items.begin() + std::min<std::ptrdiff_t>(std::ssize(items), 8), ", "),
              dataset.location(), place.batch, place.epoch),
          error.place());
    }
    return batch;
  }

  Dataset dataset;
  LoaderOptions options;
  BatchShards shards;
  std::int64_t n_batches = 0;
  std::int64_t order_epoch = -1;  ///< whose order is at hand
  std::vector<std::int64_t> order;
  std::optional<ReadAhead> read_ahead;  ///< last, so that its thread ends before what it uses
};

Tensor item_key(std::uint64_t seed, std::int64_t epoch, std::int64_t item, Device device) {
  return squeeze(keys_of(seed, epoch, std::span(&item, 1), device), 0);
}

Loader::Loader(const Dataset& dataset, LoaderOptions options)
    : impl_(std::make_shared<Impl>(dataset, std::move(options))),
      cursor_(add_state("cursor", integers({0, 0}))),
      made_for_(add_state("made_for", integers(made_for(impl_->dataset, impl_->options)))) {}

std::int64_t Loader::n_batches() const { return impl_->n_batches; }
std::int64_t Loader::batch_size() const { return impl_->options.batch_size; }
const Dataset& Loader::dataset() const { return impl_->dataset; }
std::int64_t Loader::epoch() const { return cursor_.value().data<std::int64_t>()[0]; }

std::optional<NamedTensors> Loader::next() const {
  const std::vector<std::int64_t> own = made_for(impl_->dataset, impl_->options),
                                  in_state = made_for_.value().to_vector<std::int64_t>();
  const std::vector<std::int64_t> at = cursor_.value().to_vector<std::int64_t>();
  if (in_state != own || at[0] < 0 || at[1] < 0 || at[1] > impl_->n_batches) {
    throw core::InvalidArgument("engine::Loader#state_of_another_loader",
                                "{}: expected the state of a loader of {}, got {}, at batch {} of epoch {}; "
                                "make it as it was made then",
                                impl_->dataset.location(), text_of(own), text_of(in_state), at[1], at[0]);
  }
  if (at[1] == impl_->n_batches) {
    cursor_.assign(integers({at[0] + 1, 0}));
    return {};
  }
  NamedTensors batch = impl_->batch({at[0], at[1]});
  cursor_.assign(integers({at[0], at[1] + 1}));
  return batch;
}

std::int64_t Loader::n_items_of_next() const {
  const std::int64_t batch = cursor_.value().data<std::int64_t>()[1];
  if (batch >= impl_->n_batches) return 0;
  const std::int64_t size = impl_->options.batch_size;
  return std::min(size, impl_->dataset.size() - batch * size);
}

Loader Loader::of_shards(BatchShards shards) const {
  if (shards.first < 0 || shards.last <= shards.first || shards.last > shards.n)
    throw core::InvalidArgument("engine::Loader#wrong_shards",
                                "{}: expected one or more of the shards 0 to {} of a batch, got {} to {}",
                                impl_->dataset.location(), shards.n - 1, shards.first, shards.last - 1);
  Loader result = *this;
  result.impl_ = std::make_shared<Impl>(impl_->dataset, impl_->options, shards);
  return result;
}

}  // namespace lodestone::engine
