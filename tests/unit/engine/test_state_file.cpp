// SPDX-License-Identifier: Apache-2.0
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/state_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/memory_arrays.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"

using namespace lodestone;
using namespace lodestone::engine;
using Catch::Matchers::Contains;
using tests::TemporaryFolder;
using tests::text_of_file;

namespace {

/// One tensor of each dtype, lazy and strided ones among them.
NamedTensors example_state() {
  NamedTensors state;
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    std::vector<std::byte> bytes(6 * core::size_of(dtype));
    for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(dtype == DType::b8 ? k % 2 : 3 + 41 * k);
    state.emplace(fmt::format("net.{}", core::name_of(dtype)), Tensor::from_bytes(bytes, {{2, 3}, dtype}));
  }
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  state.emplace("lazy", exp(x));
  state.emplace("strided", transpose(x));
  state.emplace("scalar", scalar(7, DType::i64));
  state.emplace("empty", zeros({0, 4}));
  return state;
}

void check_same(const NamedTensors& a, const NamedTensors& b) {
  REQUIRE(a.size() == b.size());
  for (const auto& [name, tensor] : a) {
    INFO(name);
    REQUIRE(b.contains(name));
    const Tensor& other = b.find(name)->second;
    CHECK(tensor.aval() == other.aval());
    CHECK(std::ranges::equal(tensor.bytes(), other.bytes()));
  }
}

}  // namespace

TEST_CASE("state: tensors of every dtype come back from a file bit by bit, on the device asked for") {
  const TemporaryFolder folder;
  const NamedTensors state = example_state();
  save_state(folder / "x.safetensors", state);
  check_same(state, read_state(folder / "x.safetensors"));
  const Device second{Device::Kind::cpu, 1};
  CHECK(read_state(folder / "x.safetensors", second).at("strided").device() == second);
  const SafetensorsSource source(folder / "x.safetensors");
  CHECK(source.attribute("", "format") == "lodestone state");
  CHECK(source.attribute("", "engine_version") == core::version());
}

TEST_CASE("state: any sink takes it, any source gives it back") {
  tests::MemoryArrays arrays;
  write_state(arrays, example_state());
  check_same(example_state(), read_state(arrays));
}

TEST_CASE("state: the same tensors make the same file at any number of threads") {
  const TemporaryFolder folder;
  const auto file_of = [&](int threads) {
    const tests::ThreadCount count(threads);
    save_state(folder / "x.safetensors", example_state());
    return text_of_file(folder / "x.safetensors");
  };
  const std::string one = file_of(1);
  CHECK(one == file_of(3));
  CHECK(one == file_of(1));
}

TEST_CASE("state: files of another format or a later version are refused, those of other programs are read") {
  tests::MemoryArrays arrays;
  CHECK(read_state(arrays).empty());
  arrays.attribute("", "format", "pt");
  CHECK(read_state(arrays).empty());
  arrays.attribute("", "format", "lodestone result");
  CHECK_THROWS_WITH(read_state(arrays), Contains("memory: expected a lodestone state, got a lodestone result"));
  arrays.attribute("", "format", "lodestone state");
  arrays.attribute("", "format_version", "2");
  CHECK_THROWS_WITH(read_state(arrays), Contains("expected format_version 1, got 2"));
}

TEST_CASE("state: arrays that are no tensors are told by name") {
  tests::MemoryArrays arrays;
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{2}};
  arrays.write("mask", {DType::b8, {2}}, bytes);
  CHECK_THROWS_WITH(read_state(arrays), Contains("0 or 1 in the booleans of \"mask\", got 2 at 1"));
  tests::MemoryArrays deep;
  deep.write("deep", {DType::u8, std::vector<std::int64_t>(9, 1)}, std::span(bytes).first(1));
  CHECK_THROWS_WITH(read_state(deep), Contains("\"deep\" with at most 8 axes, got 9"));
}
