// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/state/safetensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

using namespace lodestone;
using namespace lodestone::engine;
using core::DType;
using core::FormatError;
using core::InvalidArgument;
using tests::error_of;
using tests::HasId;
using tests::TemporaryFolder;
using tests::text_of_file;

namespace {

std::vector<std::byte> some_bytes(std::size_t n, unsigned seed) {
  std::vector<std::byte> bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::byte>((seed * 131 + i * 29) & 0xFF);
  return bytes;
}

std::vector<std::byte> bytes_of(const core::ArraySource& source, const std::string& name) {
  const core::ArrayInfo info = source.info(name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.count()) * core::size_of(info.dtype));
  source.read(name, 0, bytes);
  return bytes;
}

void write_all_dtypes(const std::string& path) {
  SafetensorsSink sink(path);
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    sink.write(fmt::format("layer/{}", core::name_of(dtype)), {dtype, {3, 1}},
               some_bytes(3 * core::size_of(dtype), static_cast<unsigned>(i)));
  }
  sink.write("empty", {DType::f64, {4, 0, 2}}, {});
  sink.write("scalar", {DType::i64, {}}, some_bytes(8, 40));
  sink.attribute("", "title", "π \"quoted\"");
  sink.attribute("layer/f64", "units", "ohm m");
  sink.commit();
}

/// A safetensors file with this header and so many bytes of data.
std::string file_text(const std::string& header, std::size_t n_data) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  return text + header + std::string(n_data, '\1');
}

/// Returns the reader's error on a file with this text.
core::Error refusal(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder / "x.safetensors";
  std::ofstream(path, std::ios::binary) << text;
  return error_of<FormatError>([&] { const SafetensorsSource source(path); });
}

}  // namespace

TEST_CASE("safetensors: arrays of every dtype, empty ones, scalars and attributes come back") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  write_all_dtypes(path);
  const SafetensorsSource source(path);
  CHECK(source.names().size() == 15);
  CHECK(std::ranges::is_sorted(source.names()));
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    const std::string name = fmt::format("layer/{}", core::name_of(dtype));
    CHECK(source.info(name).dtype == dtype);
    CHECK(source.info(name).shape == std::vector<std::int64_t>{3, 1});
    CHECK(bytes_of(source, name) == some_bytes(3 * core::size_of(dtype), static_cast<unsigned>(i)));
  }
  CHECK(source.info("empty").shape == std::vector<std::int64_t>{4, 0, 2});
  CHECK(bytes_of(source, "empty").empty());
  CHECK(source.info("scalar").shape.empty());
  CHECK(bytes_of(source, "scalar") == some_bytes(8, 40));
  CHECK(source.attribute("", "title") == "π \"quoted\"");
  CHECK(source.attribute("layer/f64", "units") == "ohm m");
  CHECK_FALSE(source.has_attribute("layer/f32", "units"));
  CHECK(source.contains("scalar"));
  CHECK_FALSE(source.contains("layer"));
  CHECK(source.location() == path);
  CHECK_NOTHROW(source.verify());
}

TEST_CASE("safetensors: ranges are read in row-major order, and only ranges that exist") {
  const TemporaryFolder folder;
  SafetensorsSink sink(folder / "x.safetensors");
  const std::vector<double> values{0, 1, 2, 3, 4, 5};
  sink.write("v", {DType::f64, {2, 3}}, std::as_bytes(std::span(values)));
  sink.commit();
  const SafetensorsSource source(folder / "x.safetensors");
  std::vector<double> part(3);
  source.read("v", 2, std::as_writable_bytes(std::span(part)));
  CHECK(part == std::vector<double>{2, 3, 4});
  for (const std::int64_t first : {std::int64_t{4}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    CHECK_THROWS_AS(source.read("v", first, std::as_writable_bytes(std::span(part))), FormatError);
  }
  CHECK_THAT(error_of<FormatError>([&] { static_cast<void>(source.info("w")); }),
             HasId("no_array", {"x.safetensors:", "\"w\""}));
  CHECK_THAT(error_of<FormatError>([&] { static_cast<void>(source.attribute("v", "units")); }),
             HasId("no_attribute", {"\"v@units\""}));
}

TEST_CASE(
    "safetensors: the bytes of a file do not depend on the order of writing, and every array lies at a "
    "multiple of its element") {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& path, const std::vector<std::string>& order) {
    SafetensorsSink sink(path);
    for (const std::string& name : order) {
      const DType dtype = name == "a" ? DType::u8 : name == "b" ? DType::f64 : DType::f16;
      sink.write(name, {dtype, {3}}, some_bytes(3 * core::size_of(dtype), 1));
    }
    sink.commit();
    return text_of_file(path);
  };
  const std::string text = write(folder / "1", {"a", "b", "c"});
  CHECK(text == write(folder / "2", {"c", "b", "a"}));
  CHECK((static_cast<unsigned char>(text[0]) + 8) % 8 == 0);
  CHECK(text.find(R"("a":{"dtype":"U8","shape":[3],"data_offsets":[30,33]})") != std::string::npos);
  CHECK(text.find(R"("b":{"dtype":"F64","shape":[3],"data_offsets":[0,24]})") != std::string::npos);
  CHECK(text.find(R"("c":{"dtype":"F16","shape":[3],"data_offsets":[24,30]})") != std::string::npos);
}

TEST_CASE("safetensors: complex arrays are pairs of reals to other programs") {
  const TemporaryFolder folder;
  SafetensorsSink sink(folder / "x.safetensors");
  const std::vector<std::complex<double>> z{{1, -2}, {3, 4}};
  core::write_vector(sink, "z", z);
  sink.commit();
  const std::string text = text_of_file(folder / "x.safetensors");
  CHECK(text.find(R"("z":{"dtype":"F64","shape":[2,2],)") != std::string::npos);
  CHECK(text.find(R"("z@dtype":"c128")") != std::string::npos);
  CHECK(core::read_complexes(SafetensorsSource(folder / "x.safetensors"), "z") == z);
}

TEST_CASE("safetensors: a file of another program, without checksums and with other order, is read") {
  const TemporaryFolder folder;
  std::ofstream(folder / "x", std::ios::binary) << file_text(
      R"({"w":{"data_offsets":[4,12],"shape":[2],"dtype":"F32"}, "__metadata__":{"format":"pt"}, "b":{"dtype":"I32","shape":[],"data_offsets":[0,4]}} )",
      12);
  const SafetensorsSource source(folder / "x");
  CHECK(source.names() == std::vector<std::string>{"b", "w"});
  CHECK(source.attribute("", "format") == "pt");
  CHECK(bytes_of(source, "w") == std::vector<std::byte>(8, std::byte{1}));
  CHECK_NOTHROW(source.verify());
}

TEST_CASE("safetensors: what is not a safetensors file is refused with the reason") {
  const TemporaryFolder folder;
  const auto array = [](const std::string& rest) { return "{\"w\":{" + rest + "}}"; };
  CHECK_THAT(refusal(folder, ""), HasId("file_too_short", {"x.safetensors:", "8 bytes", "0;"}));
  CHECK_THAT(refusal(folder, "no data here, only text"), HasId("wrong_header_length", {"15 bytes"}));
  CHECK_THAT(refusal(folder, file_text("[]", 0)), HasId("no_object"));
  CHECK_THAT(refusal(folder, file_text("{\"w\":", 0)), HasId("no_json"));
  CHECK_THAT(refusal(folder, file_text("{\"w\":1}", 0)), HasId("wrong_entry", {"\"w\""}));
  CHECK_THAT(refusal(folder, file_text(R"({"__metadata__":{"a":1}})", 0)),
             HasId("wrong_metadata", {"__metadata__", "\"a\""}));
  CHECK_THAT(refusal(folder, file_text(R"({"w":{"dtype":[[[[1]]]]}})", 0)), HasId("too_deep"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])"), 1)),
             HasId("unknown_dtype", {"\"w\"", "F8_E4M3"}));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4)),
             HasId("wrong_whole_number", {"shape", "\"w\""}));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4)),
             HasId("wrong_span", {"8 bytes", "[0, 4]"}));
  CHECK_THAT(
      refusal(
          folder,
          file_text(array(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4])"),
                    4)),
      HasId("too_many_elements", {"\"w\""}));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 5)),
             HasId("wrong_data_size", {"8 bytes", "5;"}));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 5)),
             HasId("wrong_data_size", {"4 bytes", "5;"}));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8)),
             HasId("wrong_place", {"byte 0", "4;"}));
  const std::string u8 = R"({"dtype":"U8","shape":[2],"data_offsets":)";
  CHECK_THAT(refusal(folder, file_text("{\"a\":" + u8 + "[0,2]},\"b\":" + u8 + "[1,3]}}", 3)),
             HasId("wrong_place", {"\"b\"", "byte 2"}));
  CHECK_THAT(refusal(folder, file_text("{\"a\":" + u8 + "[0,2]},\"a\":" + u8 + "[2,4]}}", 4)),
             HasId("name_twice", {"\"a\""}));
  CHECK_THROWS_AS(SafetensorsSource(folder / "none"), core::FileError);
  CHECK_THAT(error_of<core::FileError>([&] { static_cast<void>(SafetensorsSource(folder.path())); }),
             HasId("is_a_folder", {folder.path().string() + ":"}));
}

TEST_CASE(
    "safetensors: no bit of a file can flip, and no byte be cut off, without an error or the same content") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  write_all_dtypes(path);
  const std::string text = text_of_file(path);
  const auto content = [&] {
    const SafetensorsSource source(path);
    source.verify();
    std::map<std::string, std::tuple<DType, std::vector<std::int64_t>, std::vector<std::byte>>> arrays;
    for (const std::string& name : source.names())
      arrays[name] = {source.info(name).dtype, source.info(name).shape, bytes_of(source, name)};
    return arrays;
  };
  const auto whole = content();
  int n_refused = 0, n_same = 0;
  const auto look = [&](const std::string& damaged) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    try {
      if (content() != whole) FAIL("damage went unnoticed");
      ++n_same;
    } catch (const FormatError&) {
      ++n_refused;
    }
  };
  for (std::size_t bit = 0; bit < 8 * text.size(); bit += bit < 400 ? 1 : 7) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    look(damaged);
  }
  for (std::size_t n = 0; n < text.size(); n += 13) look(text.substr(0, n));
  CHECK(n_refused > 1000);
  CHECK(n_same <
        100);  // a flip in the key of the header's checksum takes away that checksum and nothing else
}

TEST_CASE("safetensors: a damaged array is named, ranges of the others still come") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  SafetensorsSink sink(path);
  sink.write("bad", {DType::u8, {4}}, some_bytes(4, 1));
  sink.write("good", {DType::u8, {4}}, some_bytes(4, 2));
  sink.commit();
  std::string text = text_of_file(path);
  text[text.size() - 6] ^= 1;
  std::ofstream(path, std::ios::binary) << text;
  const SafetensorsSource source(path);
  CHECK(bytes_of(source, "good") == some_bytes(4, 2));
  CHECK_THAT(error_of<FormatError>([&] { static_cast<void>(bytes_of(source, "bad")); }),
             HasId("wrong_checksum", {path + ":", "\"bad\""}));
  CHECK_THAT(error_of<FormatError>([&] { source.verify(); }), HasId("wrong_checksum", {"\"bad\""}));
}

TEST_CASE("safetensors: misuse of the sink is told, and nothing appears without commit") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  {
    SafetensorsSink sink(path);
    core::write_vector(sink, "v", std::vector<double>{1.0});
    CHECK_THAT(error_of<InvalidArgument>([&] { core::write_vector(sink, "v", std::vector<double>{1.0}); }),
               HasId("array_exists", {"\"v\""}));
    CHECK_THROWS_AS(sink.write("__metadata__", {DType::u8, {0}}, {}), InvalidArgument);
    CHECK_THROWS_AS(sink.write("w", {DType::f64, {2}}, some_bytes(8, 0)), core::ShapeError);
    CHECK_THROWS_AS(sink.attribute("v", "crc32c", "0"), InvalidArgument);
    CHECK_THROWS_AS(sink.attribute("v", "a@b", "0"), InvalidArgument);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  SafetensorsSink sink(path);
  sink.attribute("", "title", "\xff");
  CHECK_THAT(error_of<InvalidArgument>([&] { sink.commit(); }), HasId("not_utf8"));
  SafetensorsSink second(path);
  second.commit();
  CHECK_THAT(error_of<InvalidArgument>([&] { second.commit(); }), HasId("written_after_commit"));
  CHECK(SafetensorsSource(path).names().empty());
  CHECK_THROWS_AS(SafetensorsSink(folder / "none/x"), core::FileError);
}
