// SPDX-License-Identifier: Apache-2.0
#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/nn/linear.hpp"
#include "engine/ops/ops.hpp"
#include "engine/optim/optimizer.hpp"
#include "engine/state/safetensors.hpp"
#include "engine/state/state_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/memory_arrays.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/thread_count.hpp"

#include <algorithm>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::TemporaryFolder;
using tests::text_of_file;

namespace {

/// One tensor of each dtype, lazy and strided ones among them.
NamedTensors example_state() {
  NamedTensors state;
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    std::vector<std::byte> bytes(6 * core::size_of(dtype));
    for (std::size_t k = 0; k < bytes.size(); ++k)
      bytes[k] = static_cast<std::byte>(dtype == DType::b8 ? k % 2 : 3 + 41 * k);
    state.emplace(fmt::format("net.{}", core::name_of(dtype)), Tensor::from_bytes(bytes, {{2, 3}, dtype}));
  }
  const Tensor x = Tensor::from(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3});
  state.emplace("lazy", exp(x));
  state.emplace("strided", transpose(x));
  state.emplace("half", transpose(cast(x, DType::bf16)));
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
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(read_state(arrays)); }),
             HasId("wrong_format", {"memory:", "lodestone state", "lodestone result"}));
  arrays.attribute("", "format", "lodestone state");
  arrays.attribute("", "format_version", "2");
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(read_state(arrays)); }),
             HasId("wrong_version", {"1", "2"}));
}

TEST_CASE("state: arrays that are no tensors are told by name") {
  tests::MemoryArrays arrays;
  const std::vector<std::byte> bytes{std::byte{0}, std::byte{2}};
  arrays.write("mask", {DType::b8, {2}}, bytes);
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(read_state(arrays)); }),
             HasId("wrong_boolean", {"0", "1", "\"mask\"", "2"}));
  tests::MemoryArrays deep;
  deep.write("deep", {DType::u8, std::vector<std::int64_t>(9, 1)}, std::span(bytes).first(1));
  CHECK_THAT(error_of<core::FormatError>([&] { static_cast<void>(read_state(deep)); }),
             HasId("too_many_axes", {"\"deep\"", "8", "9"}));
}

TEST_CASE("state: a network goes through a file, its optimiser too") {
  const TemporaryFolder folder;
  InitialValues initial(1), other_initial(2);
  const Sequential net{Linear(3, 4, initial), Linear(4, 1, initial)},
      other{Linear(3, 4, other_initial), Linear(4, 1, other_initial)};
  const Adam adam(net), other_adam(other);
  adam.step(values_of(net.parameters()));
  save_state(folder / "net.safetensors", net);
  save_state(folder / "adam.safetensors", adam);
  load_state(folder / "net.safetensors", other);
  load_state(folder / "adam.safetensors", other_adam);
  check_same(net.state(), other.state());
  check_same(adam.state(), other_adam.state());
  CHECK(other_adam.n_steps() == 1);
  const Device second{Device::Kind::cpu, 1};
  InitialValues there(3, DType::f32, second);
  const Sequential on_second{Linear(3, 4, there), Linear(4, 1, there)};
  load_state(folder / "net.safetensors", on_second);
  CHECK(on_second.state().at("0.weight").device() == second);
  CHECK(std::ranges::equal(on_second.state().at("0.weight").bytes(), net.state().at("0.weight").bytes()));
}

TEST_CASE("state: that of another network is refused as a whole, with file, names and shapes") {
  const TemporaryFolder folder;
  InitialValues initial(1);
  save_state(folder / "net.safetensors",
             Sequential{Linear(3, 4, initial), Linear(4, 1, initial, {.bias = Bias::no})});
  const Sequential other{Linear(3, 5, initial), Linear(5, 1, initial), Linear(1, 1, initial)};
  const NamedTensors before = other.state();
  CHECK_THAT(error_of<core::FormatError>([&] { load_state(folder / "net.safetensors", other); }),
             HasId("state_of_another_network",
                   {"[engine::load_state]", (folder / "net.safetensors") + ":",
                    "missing: 1.bias, 2.weight, 2.bias", "0.weight", "f32[3, 5]", "f32[3, 4]"}));
  CHECK_THAT(
      error_of<core::FormatError>([&] { load_state(folder / "net.safetensors", Linear(3, 4, initial)); }),
      HasId("state_of_another_network", {"unexpected: 0.bias, 0.weight, 1.weight"}));
  check_same(before, other.state());
  std::filesystem::resize_file(folder / "net.safetensors", 300);
  CHECK_THAT(error_of<core::FormatError>([&] { load_state(folder / "net.safetensors", other); }),
             HasId("wrong_header_length", {"net.safetensors:"}));
}
