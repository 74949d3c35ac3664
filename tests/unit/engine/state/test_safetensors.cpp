// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/state/crc32c.hpp"
#include "engine/state/safetensors.hpp"
#include "tests/support/capture.hpp"
#include "tests/support/catch.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

using namespace lodestone;
using namespace lodestone::engine;
using Catch::Matchers::Contains;
using core::DType;
using core::FormatError;
using core::InvalidArgument;
using tests::message_of;
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

/// What the reader says about it, without the path.
std::string refusal(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = folder / "x.safetensors";
  std::ofstream(path, std::ios::binary) << text;
  std::string message = message_of<FormatError>([&] { const SafetensorsSource source(path); });
  if (const auto at = message.find(path + ": "); at != std::string::npos)
    return message.substr(at + path.size() + 2);
  return message;
}

}  // namespace

TEST_CASE("crc32c: the known answers of RFC 3720 come out, whole or in pieces") {
  std::array<std::byte, 32> zeros{}, ones{}, counting{};
  ones.fill(std::byte{0xFF});
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<std::byte>(i);
  CHECK(crc32c(zeros) == 0x8A9136AA);
  CHECK(crc32c(ones) == 0x62A8AB43);
  CHECK(crc32c(counting) == 0x46DD794E);
  CHECK(crc32c({}) == 0);
  for (std::size_t cut = 0; cut <= counting.size(); ++cut) {
    const std::span all(counting);
    CHECK(crc32c(all.subspan(cut), crc32c(all.first(cut))) == 0x46DD794E);
  }
}

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
  CHECK_THROWS_WITH(source.info("w"), Contains("x.safetensors: expected an array \"w\", got none"));
  CHECK_THROWS_WITH(source.attribute("v", "units"), Contains("\"v@units\""));
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
  CHECK_THAT(refusal(folder, ""), Contains("at least 8 bytes, got 0; the file is cut off"));
  CHECK_THAT(refusal(folder, "no data here, only text"), Contains("a header of at most 15 bytes"));
  CHECK_THAT(refusal(folder, file_text("[]", 0)), Contains("a header that begins with {"));
  CHECK_THAT(refusal(folder, file_text("{\"w\":", 0)), Contains("a JSON header"));
  CHECK_THAT(refusal(folder, file_text("{\"w\":1}", 0)),
             Contains("array \"w\" with dtype, shape and data_offsets"));
  CHECK_THAT(refusal(folder, file_text(R"({"__metadata__":{"a":1}})", 0)), Contains("texts in __metadata__"));
  CHECK_THAT(refusal(folder, file_text(R"({"w":{"dtype":[[[[1]]]]}})", 0)), Contains("three levels"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1])"), 1)),
             Contains("array \"w\"") && Contains("got F8_E4M3"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), 4)),
             Contains("whole numbers as shape of \"w\""));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4)),
             Contains("span 8 bytes, got [0, 4]"));
  CHECK_THAT(
      refusal(
          folder,
          file_text(array(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,4])"),
                    4)),
      Contains("too many elements"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[2],"data_offsets":[0,8])"), 5)),
             Contains("8 bytes of data, got 5; the file is cut off"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), 5)),
             Contains("bytes of no array"));
  CHECK_THAT(refusal(folder, file_text(array(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8)),
             Contains("at byte 0, where the one before ends, got 4"));
  const std::string u8 = R"({"dtype":"U8","shape":[2],"data_offsets":)";
  CHECK_THAT(refusal(folder, file_text("{\"a\":" + u8 + "[0,2]},\"b\":" + u8 + "[1,3]}}", 3)),
             Contains("array \"b\" at byte 2"));
  CHECK_THAT(refusal(folder, file_text("{\"a\":" + u8 + "[0,2]},\"a\":" + u8 + "[2,4]}}", 4)),
             Contains("\"a\" twice"));
  CHECK_THROWS_AS(SafetensorsSource(folder / "none"), core::FileError);
  CHECK_THROWS_WITH(SafetensorsSource(folder.path()), Contains("got: a folder"));
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
  CHECK_THROWS_WITH(bytes_of(source, "bad"), Contains(path + ": expected array \"bad\" with checksum") &&
                                                 Contains("the file is damaged"));
  CHECK_THROWS_WITH(source.verify(), Contains("\"bad\""));
}

TEST_CASE("safetensors: misuse of the sink is told, and nothing appears without commit") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.safetensors";
  {
    SafetensorsSink sink(path);
    core::write_vector(sink, "v", std::vector<double>{1.0});
    CHECK_THROWS_WITH(core::write_vector(sink, "v", std::vector<double>{1.0}),
                      Contains("got \"v\"; write each array once"));
    CHECK_THROWS_AS(sink.write("__metadata__", {DType::u8, {0}}, {}), InvalidArgument);
    CHECK_THROWS_AS(sink.write("w", {DType::f64, {2}}, some_bytes(8, 0)), core::ShapeError);
    CHECK_THROWS_AS(sink.attribute("v", "crc32c", "0"), InvalidArgument);
    CHECK_THROWS_AS(sink.attribute("v", "a@b", "0"), InvalidArgument);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
  SafetensorsSink sink(path);
  sink.attribute("", "title", "\xff");
  CHECK_THROWS_WITH(sink.commit(), Contains("UTF-8"));
  SafetensorsSink second(path);
  second.commit();
  CHECK_THROWS_WITH(second.commit(), Contains("after commit"));
  CHECK(SafetensorsSource(path).names().empty());
  CHECK_THROWS_AS(SafetensorsSink(folder / "none/x"), core::FileError);
}
