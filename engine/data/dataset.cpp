// SPDX-License-Identifier: Apache-2.0
#include "engine/data/dataset.hpp"

#include "engine/core/error.hpp"
#include "engine/data/permutation.hpp"
#include "engine/state/tensor_io.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lodestone::engine {

/// One array: how to read items first … of it, and how to make a tensor of their bytes.
struct Dataset::Column {
  std::string name;
  Aval item;
  std::function<void(std::int64_t first, std::span<std::byte> out)> read;
  std::function<Tensor(std::span<const std::byte> bytes, const Aval& aval)> tensor;
};

struct Dataset::Contents {
  std::string location;
  std::int64_t n_items = 0;
  std::vector<Column> columns;

  [[nodiscard]] const Column& column(const std::string& name) const {
    const auto found = std::ranges::find(columns, name, &Column::name);
    if (found == columns.end())
      throw core::InvalidArgument("engine::Dataset#no_array_of_name",
                                  "{}: expected one of the arrays, got \"{}\"", location, name);
    return *found;
  }

  /// Adds a column; all must have as many items as the first.
  template <class Error>
  void add(Column column, std::int64_t n) {
    if (!columns.empty() && n != n_items) {
      throw Error("engine::Dataset#unequal_item_counts",
                  "{}: expected {} items in \"{}\" as in \"{}\", got {}", location, n_items, column.name,
                  columns.front().name, n);
    }
    n_items = n;
    columns.push_back(std::move(column));
  }
};

Dataset::Dataset(const NamedTensors& tensors) {
  auto contents = std::make_shared<Contents>();
  contents->location = "memory";
  if (tensors.empty())
    throw core::InvalidArgument("engine::Dataset#no_tensors",
                                "expected at least one tensor, but the list is empty");
  for (const auto& [name, tensor] : tensors) {
    if (!tensor.is_valid())
      throw core::InvalidArgument("engine::Dataset#empty_tensor",
                                  "expected a tensor as \"{}\", got an empty one", name);
    if (tensor.rank() == 0)
      throw core::ShapeError("engine::Dataset#no_item_axis",
                             "expected \"{}\" with items along axis 0, got {}", name, tensor.aval().text());
    Aval item = tensor.aval();
    item.shape = item.shape.erased(0);
    // Made row-major here and now, so that any thread may read it.
    const std::size_t stride = item.bytes();
    const auto read = [bytes = tensor.bytes(), keep = tensor, stride](std::int64_t first,
                                                                      std::span<std::byte> out) {
      if (!out.empty())
        std::memcpy(out.data(), bytes.data() + static_cast<std::size_t>(first) * stride, out.size());
    };
    const auto make = [](std::span<const std::byte> bytes, const Aval& aval) {
      return Tensor::from_bytes(bytes, aval);
    };
    contents->add<core::ShapeError>({name, item, read, make}, tensor.shape()[0]);
  }
  contents_ = std::move(contents);
}

Dataset::Dataset(std::shared_ptr<const core::ArraySource> source, const std::vector<std::string>& names) {
  auto contents = std::make_shared<Contents>();
  contents->location = source->location();
  for (const std::string& name : names.empty() ? source->names() : names) {
    Aval item = aval_of(*source, name);
    if (item.shape.rank() == 0) {
      throw core::FormatError("engine::Dataset#scalar_array",
                              "{}: expected \"{}\" with items along axis 0, got a scalar; leave it out",
                              contents->location, name);
    }
    const std::int64_t n_items = item.shape[0];
    item.shape = item.shape.erased(0);
    const auto read = [source, name, count = item.count()](std::int64_t first, std::span<std::byte> out) {
      source->read(name, first * count, out);
    };
    const auto tensor = [source, name](std::span<const std::byte> bytes, const Aval& aval) {
      return tensor_of(bytes, aval, *source, name);
    };
    contents->add<core::FormatError>({name, item, read, tensor}, n_items);
  }
  if (contents->columns.empty())
    throw core::FormatError("engine::Dataset#no_arrays", "{}: expected arrays, but the file holds no array",
                            contents->location);
  contents_ = std::move(contents);
}

Dataset::Dataset(std::shared_ptr<const Contents> contents,
                 std::shared_ptr<const std::vector<std::int64_t>> chosen)
    : contents_(std::move(contents)), chosen_(std::move(chosen)) {}

std::int64_t Dataset::size() const {
  return chosen_ ? static_cast<std::int64_t>(chosen_->size()) : contents_->n_items;
}

std::vector<std::string> Dataset::names() const {
  std::vector<std::string> result;
  for (const Column& column : contents_->columns) result.push_back(column.name);
  return result;
}

Aval Dataset::item_aval(const std::string& name) const { return contents_->column(name).item; }
const std::string& Dataset::location() const { return contents_->location; }

NamedTensors Dataset::items(std::span<const std::int64_t> numbers, Device device) const {
  std::vector<std::int64_t> stored(numbers.begin(), numbers.end());
  for (std::int64_t& number : stored) {
    if (number < 0 || number >= size()) {
      throw core::InvalidArgument("engine::Dataset#item_out_of_range",
                                  "{}: expected items 0 to {} of \"{}\", got {}", location(), size() - 1,
                                  contents_->columns.front().name, number);
    }
    if (chosen_) number = (*chosen_)[static_cast<std::size_t>(number)];
  }
  NamedTensors result;
  std::vector<std::byte> bytes;
  for (const Column& column : contents_->columns) {
    const std::size_t stride = column.item.bytes();
    bytes.resize(stored.size() * stride);
    // Neighbours are read in one piece.
    for (std::size_t i = 0, n = 1; i < stored.size(); i += n, n = 1) {
      while (i + n < stored.size() && stored[i + n] == stored[i] + static_cast<std::int64_t>(n)) ++n;
      column.read(stored[i], std::span(bytes).subspan(i * stride, n * stride));
    }
    Aval aval = column.item;
    aval.shape = aval.shape.inserted(0, static_cast<Dim>(stored.size()));
    aval.device = device;
    result.emplace(column.name, column.tensor(bytes, aval));
  }
  return result;
}

NamedTensors Dataset::items(std::int64_t first, std::int64_t last, Device device) const {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(std::max<std::int64_t>(last - first, 0)));
  std::iota(numbers.begin(), numbers.end(), first);
  return items(numbers, device);
}

Dataset Dataset::range(std::int64_t first, std::int64_t last) const {
  if (first < 0 || last < first || last > size()) {
    throw core::InvalidArgument("engine::Dataset#range_out_of_range",
                                "{}: expected a range of its {} items, got {} to {}", location(), size(),
                                first, last);
  }
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(last - first));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t number = static_cast<std::size_t>(first) + i;
    numbers[i] = chosen_ ? (*chosen_)[number] : static_cast<std::int64_t>(number);
  }
  return Dataset(contents_, std::make_shared<const std::vector<std::int64_t>>(std::move(numbers)));
}

Dataset Dataset::in_memory() const { return Dataset(items(0, size())); }

Dataset::Parts Dataset::split(double validation_fraction, std::uint64_t seed) const {
  if (!(validation_fraction >= 0.0 && validation_fraction <= 1.0)) {
    throw core::InvalidArgument("engine::Dataset#wrong_fraction",
                                "{}: expected a fraction from 0 to 1 for validation, got {}", location(),
                                validation_fraction);
  }
  std::vector<std::int64_t> order = permutation(size(), seed, 0);
  const auto n_validation =
      static_cast<std::ptrdiff_t>(std::llround(validation_fraction * static_cast<double>(size())));
  const auto part = [&](auto begin, auto end) {
    std::vector<std::int64_t> numbers(begin, end);
    std::ranges::sort(numbers);
    for (std::int64_t& number : numbers)
      number = chosen_ ? (*chosen_)[static_cast<std::size_t>(number)] : number;
    return Dataset(contents_, std::make_shared<const std::vector<std::int64_t>>(std::move(numbers)));
  };
  return {part(order.begin() + n_validation, order.end()), part(order.begin(), order.begin() + n_validation)};
}

}  // namespace lodestone::engine
