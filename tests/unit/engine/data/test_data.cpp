// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/data/loader.hpp"
#include "engine/data/permutation.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/random.hpp"
#include "engine/state/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"

#include <atomic>
#include <fstream>
#include <numeric>
#include <set>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::TemporaryFolder;

namespace {

std::vector<double> counting(std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

/// n items: "x" [2] of 2i and 2i + 1, "label" i.
NamedTensors example(Dim n) {
  const Tensor x = Tensor::from(counting(static_cast<std::size_t>(2 * n)), {n, 2});
  return {{"x", x}, {"label", cast(squeeze(slice(x, 1, 0, 1), 1) / 2.0, DType::i64)}};
}

std::shared_ptr<const core::ArraySource> example_file(const TemporaryFolder& folder, Dim n) {
  SafetensorsSink sink(folder / "data.safetensors");
  for (const auto& [name, tensor] : example(n))
    sink.write(name, {tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()}}, tensor.bytes());
  sink.commit();
  return std::make_shared<SafetensorsSource>(folder / "data.safetensors");
}

/// Labels of the batches up to the end of an epoch.
std::vector<std::vector<std::int64_t>> epoch_of(const Loader& loader) {
  std::vector<std::vector<std::int64_t>> batches;
  while (const auto batch = loader.next()) batches.push_back(batch->at("label").to_vector<std::int64_t>());
  return batches;
}

std::vector<std::int64_t> flat(const std::vector<std::vector<std::int64_t>>& batches) {
  std::vector<std::int64_t> all;
  for (const auto& each : batches) all.insert(all.end(), each.begin(), each.end());
  return all;
}

NamedTensors with_noise(NamedTensors batch, const Tensor& keys) {
  batch.at("x") = batch.at("x") + random_normal(keys, {2}, DType::f64);
  return batch;
}

}  // namespace

TEST_CASE("permutation: every order of four comes equally often, and the same seed gives the same") {
  std::map<std::vector<std::int64_t>, int> seen;
  constexpr int n_draws = 24000;
  for (std::uint64_t stream = 0; stream < n_draws; ++stream) ++seen[permutation(4, 5, stream)];
  REQUIRE(seen.size() == 24);
  double chi_squared = 0.0;
  for (const auto& [order, n] : seen) chi_squared += (n - 1000.0) * (n - 1000.0) / 1000.0;
  CHECK(chi_squared < 50.0);  // 23 degrees of freedom: exceeded once in a thousand seeds
  CHECK(permutation(100, 5, 1) == permutation(100, 5, 1));
  CHECK(permutation(100, 5, 1) != permutation(100, 6, 1));
  CHECK(permutation(0, 1, 1).empty());
}

TEST_CASE("dataset: items of tensors and of a file are the same, in the order asked for") {
  const TemporaryFolder folder;
  for (const Dataset& data : {Dataset(example(10)), Dataset(example_file(folder, 10)),
                              Dataset(example_file(folder, 10)).in_memory()}) {
    INFO(data.location());
    CHECK(data.size() == 10);
    CHECK(data.names() == std::vector<std::string>{"label", "x"});
    CHECK(data.item_aval("x").shape == Shape{2});
    const std::vector<std::int64_t> numbers{7, 2, 3, 4, 2};
    const NamedTensors items = data.items(numbers);
    CHECK(items.at("label").to_vector<std::int64_t>() == numbers);
    CHECK(items.at("x").shape() == Shape{5, 2});
    CHECK(items.at("x").to_vector<double>() == std::vector<double>{14, 15, 4, 5, 6, 7, 8, 9, 4, 5});
    CHECK(data.items(0, 0).at("x").shape() == Shape{0, 2});
  }
  CHECK(Dataset(example_file(folder, 10), {"x"}).names() == std::vector<std::string>{"x"});
}

TEST_CASE("dataset: parts count from 0, have no item in common and can be divided again") {
  const Dataset data(example(100));
  const auto labels = [](const Dataset& part) {
    return part.items(0, part.size()).at("label").to_vector<std::int64_t>();
  };
  CHECK(labels(data.range(10, 13)) == std::vector<std::int64_t>{10, 11, 12});
  CHECK(labels(data.range(10, 20).range(2, 4)) == std::vector<std::int64_t>{12, 13});
  const auto [training, validation] = data.range(50, 100).split(0.3, 9);
  CHECK(validation.size() == 15);
  std::vector<std::int64_t> both = labels(training);
  const std::vector<std::int64_t> second = labels(validation);
  CHECK(std::ranges::is_sorted(both));
  CHECK(std::ranges::is_sorted(second));
  both.insert(both.end(), second.begin(), second.end());
  std::ranges::sort(both);
  CHECK(both == labels(data.range(50, 100)));
  CHECK(labels(data.range(50, 100).split(0.3, 9).validation) == second);
  CHECK(labels(data.range(50, 100).split(0.3, 10).validation) != second);
  CHECK(data.split(0.0, 1).validation.size() == 0);
}

TEST_CASE("dataset: of a file of 64 GiB only what is asked for is read") {
  const TemporaryFolder folder;
  const std::string path = folder / "large.safetensors";
  constexpr Dim n = Dim{1} << 30;
  std::string header =
      fmt::format(R"({{"x":{{"dtype":"F64","shape":[{},8],"data_offsets":[0,{}]}}}})", n, 64 * n);
  header.resize(128, ' ');
  {
    std::ofstream file(path, std::ios::binary);
    file << '\x80' << std::string(7, '\0') << header;
  }
  std::filesystem::resize_file(
      path, 8 + header.size() + 64 * static_cast<std::size_t>(n));  // holes, which take no room on the disk
  const double last = 7.5;
  std::fstream(path, std::ios::binary | std::ios::in | std::ios::out)
      .seekp(-8, std::ios::end)
      .write(reinterpret_cast<const char*>(&last), 8);
  const Dataset data(std::make_shared<SafetensorsSource>(path));
  CHECK(data.size() == n);
  const Loader loader(data.range(n - 4, n), {.batch_size = 2, .order = Order::stored});
  CHECK(sum(loader.next()->at("x")).item<double>() == 0.0);
  CHECK(sum(loader.next()->at("x")).item<double>() == last);
}

TEST_CASE("dataset: errors name file, array and index") {
  const TemporaryFolder folder;
  const std::string path = folder / "data.safetensors";
  const auto source = example_file(folder, 4);
  const Dataset data(source);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(data.items(3, 5)); }),
             HasId("item_out_of_range", {path + ":", "0", "3", "\"label\"", "4"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(data.range(2, 9)); }),
             HasId("range_out_of_range", {path + ":", "4", "2", "9"}));
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(data.item_aval("y")); }),
             HasId("no_array_of_name", {path, "\"y\""}));
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(Dataset(source, {"y"})); }),
             HasId("no_array", {path, "\"y\""}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Dataset(NamedTensors{{"a", zeros({3})}, {"b", zeros({4})}}));
             }),
             HasId("unequal_item_counts", {"3", "\"b\"", "\"a\"", "4"}));
  CHECK_THAT(error_of<core::ShapeError>([&] {
               static_cast<void>(Dataset(NamedTensors{{"a", zeros({})}}));
             }),
             HasId("no_item_axis", {"\"a\"", "axis 0", "f32[]"}));
  CHECK_THROWS_AS(Dataset(NamedTensors{}), core::InvalidArgument);
  CHECK_THROWS_AS(data.split(1.5, 1), core::InvalidArgument);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK_THAT(error_of<core::FileError>([&] { static_cast<void>(data.items(3, 4)); }),
             HasId("cannot_read", {path}));
}

TEST_CASE("loader: an epoch holds every item once, each epoch in another order, the same for the same seed") {
  const Loader loader(Dataset(example(10)), {.batch_size = 4, .seed = 3});
  const auto first = epoch_of(loader), second = epoch_of(loader);
  CHECK(loader.epoch() == 2);
  REQUIRE(first.size() == 3);
  CHECK(first[2].size() == 2);
  const std::vector<std::int64_t> one = flat(first), two = flat(second);
  CHECK(std::set(one.begin(), one.end()).size() == 10);
  CHECK(std::set(two.begin(), two.end()).size() == 10);
  CHECK(one != two);
  CHECK(epoch_of(Loader(Dataset(example(10)), {.batch_size = 4, .seed = 3})) == first);
  CHECK(flat(epoch_of(Loader(Dataset(example(10)), {.batch_size = 3, .seed = 3}))) == one);
  CHECK(flat(epoch_of(Loader(Dataset(example(10)), {.batch_size = 4, .seed = 4}))) != one);
}

TEST_CASE("loader: the last batch is kept or dropped, items may stay in order") {
  const Dataset data(example(10));
  const Loader keep(data, {.batch_size = 4, .order = Order::stored});
  CHECK(keep.n_batches() == 3);
  CHECK(epoch_of(keep) == std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}});
  const Loader drop(data, {.batch_size = 4, .order = Order::stored, .last = LastBatch::drop});
  CHECK(epoch_of(drop) == std::vector<std::vector<std::int64_t>>{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK_THAT(error_of<core::InvalidArgument>(
                 [&] { static_cast<void>(Loader(data, {.batch_size = 11, .last = LastBatch::drop})); }),
             HasId("no_batch", {"11", "10"}));
  CHECK_THROWS_AS(Loader(data, {.batch_size = 0}), core::InvalidArgument);
}

TEST_CASE(
    "loader: from a saved cursor on the same batches come, read ahead or not, at any number of threads") {
  const TemporaryFolder folder;
  const Dataset memory(example(23)), file(example_file(folder, 23));
  const auto batches = [](const Loader& loader, int n) {
    std::vector<std::vector<double>> all;
    for (int i = 0; i < n; ++i) {
      const auto batch = loader.next();
      all.push_back(batch ? batch->at("x").to_vector<double>() : std::vector<double>{});
    }
    return all;
  };
  const LoaderOptions options{.batch_size = 4, .seed = 7, .transform = with_noise};
  const Loader whole(memory, options);
  const auto expected = batches(whole, 40);
  for (const int read_ahead : {0, 1, 3}) {
    const tests::ThreadCount threads(1 + read_ahead);
    LoaderOptions chosen = options;
    chosen.read_ahead = read_ahead;
    const Loader start(file, chosen);
    CHECK(batches(start, 17) == std::vector(expected.begin(), expected.begin() + 17));
    const NamedTensors state = start.state();
    const Loader rest(file, chosen);
    CHECK(batches(rest, 2) == std::vector(expected.begin(), expected.begin() + 2));
    rest.load_state(state);
    CHECK(batches(rest, 23) == std::vector(expected.begin() + 17, expected.end()));
  }
}

TEST_CASE(
    "loader: what is drawn for an item does not depend on the batch it comes in, and is drawn anew in every "
    "epoch") {
  const auto noise_of = [](std::int64_t batch_size, Order order) {
    const Loader loader(Dataset(example(9)),
                        {.batch_size = batch_size, .order = order, .seed = 2, .transform = with_noise});
    std::vector<std::map<std::int64_t, double>> epochs(2);
    for (auto& noise : epochs) {
      while (const auto batch = loader.next()) {
        for (Dim i = 0; i < batch->at("label").dim(0); ++i) {
          const auto at = static_cast<std::size_t>(i);
          noise[batch->at("label").data<std::int64_t>()[at]] = batch->at("x").data<double>()[2 * at];
        }
      }
    }
    return epochs;
  };
  const auto noise = noise_of(4, Order::shuffled);
  CHECK(noise == noise_of(1, Order::stored));
  CHECK(noise[0] != noise[1]);
  const double alone = 2.0 * 5 + random_normal(item_key(2, 1, 5), {2}, DType::f64).data<double>()[0];
  CHECK(noise[1].at(5) == alone);
}

TEST_CASE("loader: a state of other data or options is told") {
  const Dataset data(example(10));
  const Loader a(data, {.batch_size = 4, .seed = 3}), b(data, {.batch_size = 5, .seed = 3});
  b.load_state(a.state());
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(b.next()); }),
             HasId("state_of_another_loader", {"10", "batches of 5", "batches of 4", "seed 3"}));
  const Loader in_order(data, {.batch_size = 4, .order = Order::stored, .seed = 3});
  in_order.load_state(a.state());
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(in_order.next()); }),
             HasId("state_of_another_loader", {"10", "stored", "shuffled", "4"}));
  NamedTensors beyond = a.state();
  beyond.at("cursor") = Tensor::from(std::vector<std::int64_t>{0, 4}, {2});
  a.load_state(beyond);
  CHECK_THAT(error_of<core::InvalidArgument>([&] { static_cast<void>(a.next()); }),
             HasId("state_of_another_loader", {"batch 4", "epoch 0"}));
}

TEST_CASE(
    "loader: an error in a transform names the items, read ahead or not, and the next call tries again") {
  for (const int read_ahead : {0, 2}) {
    auto n_calls = std::make_shared<std::atomic<int>>(0);
    const auto transform = [n_calls](NamedTensors batch, const Tensor&) -> NamedTensors {
      if ((*n_calls)++ == 0) throw core::ShapeError("my transform#something_else", "expected something else");
      return batch;
    };
    const Loader loader(
        Dataset(example(4)),
        {.batch_size = 2, .order = Order::stored, .transform = transform, .read_ahead = read_ahead});
    CHECK_THAT(error_of<core::Error>([&] { static_cast<void>(loader.next()); }),
               HasId("something_else", {"[my transform]", "items 0, 1", "memory", "batch 0", "epoch 0"}));
    CHECK(loader.next()->at("label").to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1});
  }
}

TEST_CASE("loader: batches come on the device asked for, with the same bits") {
  const Device second{Device::Kind::cpu, 1};
  const Loader here(Dataset(example(6)), {.batch_size = 3, .transform = with_noise}),
      there(Dataset(example(6)), {.batch_size = 3, .transform = with_noise, .device = second});
  while (const auto batch = there.next()) {
    CHECK(batch->at("x").device() == second);
    CHECK(batch->at("x").to_vector<double>() == here.next()->at("x").to_vector<double>());
  }
}

TEST_CASE("loader: what a transform makes lives on the default device, also where a thread reads ahead") {
  const Device there{Device::Kind::cpu, static_cast<std::uint8_t>(1 - default_device().index)};
  const DefaultDevice scope(there);
  const auto with_zeros = [](NamedTensors batch, const Tensor&) {
    batch.emplace("made", zeros({batch.at("label").dim(0)}));
    return batch;
  };
  for (const int read_ahead : {0, 2}) {
    const Loader loader(Dataset(example(6)),
                        {.batch_size = 3, .transform = with_zeros, .read_ahead = read_ahead});
    int n_batches = 0;
    while (const auto batch = loader.next()) {
      ++n_batches;
      CHECK(batch->at("made").device() == there);
      CHECK(batch->at("x").device() == there);
    }
    CHECK(n_batches == 2);
  }
}
