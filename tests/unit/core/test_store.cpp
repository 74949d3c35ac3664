// SPDX-License-Identifier: Apache-2.0
#include "engine/core/store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"

using namespace lodestone::core;
using lodestone::tests::error_of;
using lodestone::tests::HasId;

namespace {

void write_number(ArraySink& sink, double value) { write_vector(sink, "x", std::vector<double>{value}); }

}  // namespace

TEST_CASE("memory_store: keeps what was saved last, as a whole", "[core]") {
  const StorePtr store = memory_store("state");
  CHECK(store->name() == "state");
  CHECK_FALSE(store->exists());
  CHECK_THAT(error_of<FileError>([&] { (void)store->load(); }), HasId("nothing_stored", {"state"}));
  store->save([](ArraySink& sink) { write_number(sink, 1.0); });
  const auto first = store->load();
  CHECK_THAT(error_of<SolverError>([&] {
               store->save([](ArraySink& sink) {
                 write_number(sink, 2.0);
                 throw SolverError("test#stopped", "in the middle");
               });
             }),
             HasId("stopped"));
  CHECK(read_doubles(*store->load(), "x") == std::vector<double>{1.0});
  store->save([](ArraySink& sink) { write_number(sink, 3.0); });
  CHECK(read_doubles(*store->load(), "x") == std::vector<double>{3.0});
  CHECK(read_doubles(*first, "x") == std::vector<double>{1.0});
  store->remove();
  store->remove();
  CHECK_FALSE(store->exists());
}

TEST_CASE("MemoryArrays: ranges, sizes and names are checked", "[core]") {
  MemoryArrays arrays;
  write_vector(arrays, "x", std::vector<double>{1.0, 2.0});
  std::vector<double> two(2);
  CHECK_THAT(error_of<FormatError>([&] { arrays.read("x", 1, std::as_writable_bytes(std::span(two))); }),
             HasId("outside", {"\"x\"", "2", "16"}));
  CHECK_THAT(error_of<FormatError>([&] { arrays.read("x", -(std::int64_t{1} << 61), {}); }),
             HasId("outside"));
  CHECK_THAT(error_of<FormatError>([&] { (void)arrays.info("y"); }), HasId("missing_array", {"\"y\""}));
  CHECK_THAT(error_of<FormatError>([&] { (void)arrays.attribute("x", "units"); }),
             HasId("missing_attribute"));
  CHECK_THAT(error_of<ShapeError>([&] {
               arrays.write("z", {DType::f64, {3}}, {});
             }),
             HasId("wrong_size", {"24", "0"}));
}
