// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/record/tensor.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lodestone::engine {

/// Items to learn from: named arrays whose axis 0 counts the items. Copies share.
///
/// Arrays of a source are read item by item when they are used, so a file may be larger than memory.
/// Reading random items from a compressed file is slow: take `in_memory()` where they fit.
class Dataset {
 public:
  /// Takes tensors with the items along axis 0. errors: InvalidArgument for no tensors or an empty one;
  /// ShapeError when their numbers of items differ or one has no axis.
  explicit Dataset(const NamedTensors& tensors);
  /// Takes the arrays of these names; an empty list takes all of them. errors: FormatError for a missing
  /// array, or numbers of items that differ; those of the source.
  explicit Dataset(std::shared_ptr<const core::ArraySource> source,
                   const std::vector<std::string>& names = {});

  [[nodiscard]] std::int64_t size() const;  ///< number of items
  [[nodiscard]] std::vector<std::string> names() const;
  /// Returns the abstract value of one item of an array. errors: InvalidArgument for a name the dataset does
  /// not have.
  [[nodiscard]] Aval item_aval(const std::string& name) const;
  /// Returns the file, for messages.
  [[nodiscard]] const std::string& location() const;

  /// Returns the items of these numbers, in this order. shapes: [items, …]. errors: InvalidArgument for a
  /// number outside 0 … size() − 1; those of the source.
  [[nodiscard]] NamedTensors items(std::span<const std::int64_t> numbers,
                                   Device device = default_device()) const;
  /// Returns the items first … last − 1. errors: as `items`.
  [[nodiscard]] NamedTensors items(std::int64_t first, std::int64_t last,
                                   Device device = default_device()) const;

  /// Returns a part of it: items first … last − 1, counted from 0 in the new one. errors: InvalidArgument for
  /// a range outside.
  [[nodiscard]] Dataset range(std::int64_t first, std::int64_t last) const;
  /// Returns all of it, read once.
  [[nodiscard]] Dataset in_memory() const;

  struct Parts;
  /// Returns two parts without an item in common, each in the order stored: this fraction of the items
  /// (rounded), drawn by the seed, is for validation. errors: InvalidArgument for a fraction outside 0 … 1.
  [[nodiscard]] Parts split(double validation_fraction, std::uint64_t seed) const;

 private:
  struct Column;
  struct Contents;
  explicit Dataset(std::shared_ptr<const Contents> contents,
                   std::shared_ptr<const std::vector<std::int64_t>> chosen);
  std::shared_ptr<const Contents> contents_;
  std::shared_ptr<const std::vector<std::int64_t>>
      chosen_;  ///< numbers of the items in `contents_`; null: all
};

struct Dataset::Parts {
  Dataset training, validation;
};

}  // namespace lodestone::engine
