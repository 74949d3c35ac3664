// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "engine/data/loader.hpp"
#include "engine/state/state_file.hpp"
#include "io/hdf5/file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/unit/io/output_support.hpp"

#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <ctime>
#include <fstream>
#include <iterator>
#include <thread>

using namespace lodestone;
using test::OutputFolder;
using tests::error_of;
using tests::HasId;

namespace {

void write_example(const std::filesystem::path& path) {
  io::hdf5::Hdf5Sink sink(path);
  core::write_vector(sink, "a/reals", std::vector<double>{1.5, -2.0, std::nan("")});
  core::write_vector(sink, "a/complex", std::vector<std::complex<double>>{{1.0, 2.0}, {3.0, -4.0}});
  core::write_vector(sink, "b/deep/integers", std::vector<std::int64_t>{1, -(std::int64_t{1} << 40), 3});
  core::write_vector(sink, "bytes", std::vector<std::uint8_t>{0, 255, 7});
  core::write_vector(sink, "empty", std::vector<double>{});
  core::write_matrix(sink, "matrix", (Eigen::MatrixXd(2, 3) << 1, 2, 3, 4, 5, 6).finished());
  sink.texts("texts", {"α β", "", "longer text"});
  sink.attribute("a/reals", "units", "ohm m");
  sink.attribute("", "title", "π");
  sink.attribute("group only", "empty", "");
  sink.commit();
}

}  // namespace

TEST_CASE("hdf5: what is written is read back") {
  const OutputFolder folder;
  write_example(folder / "x.h5");
  const io::hdf5::Hdf5Source source(folder / "x.h5");
  const auto reals = core::read_doubles(source, "a/reals");
  REQUIRE(reals.size() == 3);
  CHECK(reals[0] == 1.5);
  CHECK(reals[1] == -2.0);
  CHECK(std::isnan(reals[2]));
  CHECK(core::read_integers(source, "b/deep/integers")[1] == -(std::int64_t{1} << 40));
  CHECK(core::read_bytes(source, "bytes") == std::vector<std::uint8_t>{0, 255, 7});
  CHECK(core::read_doubles(source, "empty").empty());
  CHECK(core::read_matrix(source, "matrix")(1, 0) == 4.0);
  CHECK(core::read_texts(source, "texts") == std::vector<std::string>{"α β", "", "longer text"});
  std::vector<std::complex<double>> z(2);
  CHECK(source.info("a/complex").dtype == core::DType::c128);
  source.read("a/complex", 0, std::as_writable_bytes(std::span(z)));
  CHECK(z[1] == std::complex<double>(3.0, -4.0));
  CHECK(source.attribute("a/reals", "units") == "ohm m");
  CHECK(source.attribute("", "title") == "π");
  CHECK(source.attribute("group only", "empty").empty());
  CHECK_FALSE(source.has_attribute("a/reals", "other"));
  CHECK(source.contains("a/reals"));
  CHECK_FALSE(source.contains("a"));
  CHECK_FALSE(source.contains("a/none/x"));
  CHECK(source.names() == std::vector<std::string>{"a/complex", "a/reals", "b/deep/integers", "bytes",
                                                   "empty", "matrix", "texts"});
}

TEST_CASE("hdf5: ranges are read in row-major order") {
  const OutputFolder folder;
  write_example(folder / "x.h5");
  const io::hdf5::Hdf5Source source(folder / "x.h5");
  std::vector<double> part(3);
  source.read("matrix", 2, std::as_writable_bytes(std::span(part)));
  CHECK(part == std::vector<double>{3, 4, 5});
  CHECK_THAT(error_of<core::FormatError>(
                 [&] { (void)source.read("matrix", 4, std::as_writable_bytes(std::span(part))); }),
             HasId("outside_array", {"4", "7", "6", "x.h5"}));
}

TEST_CASE("hdf5: big arrays are compressed and unchanged") {
  const OutputFolder folder;
  const std::vector<double> values(200000, 3.25);
  for (const std::int64_t threshold : {std::int64_t{65536}, std::int64_t{-1}}) {
    io::hdf5::Hdf5Sink sink(folder / std::to_string(threshold), {.compress_from_bytes = threshold});
    core::write_vector(sink, "v", values);
    sink.commit();
    CHECK(core::read_doubles(io::hdf5::Hdf5Source(folder / std::to_string(threshold)), "v") == values);
  }
  CHECK(std::filesystem::file_size(folder / "65536") * 50 < std::filesystem::file_size(folder / "-1"));
}

TEST_CASE("hdf5: without commit there is no file") {
  const OutputFolder folder;
  {
    io::hdf5::Hdf5Sink sink(folder / "x.h5");
    core::write_vector(sink, "v", std::vector<double>{1.0});
  }
  CHECK(folder.n_entries() == 0);
}

TEST_CASE("hdf5: an older file stays when writing the new one fails on a full disk") {
  const OutputFolder folder;
  write_example(folder / "x.h5");
  {
    const test::FullDisk full(2000);
    CHECK_THAT(error_of<core::FileError>([&] { (void)write_example(folder / "x.h5"); }),
               HasId("unwritable", {"x.h5"}));
  }
  CHECK(folder.n_entries() == 1);
  CHECK(io::hdf5::Hdf5Source(folder / "x.h5").contains("matrix"));
}

TEST_CASE("hdf5: misuse of the sink is told") {
  const OutputFolder folder;
  io::hdf5::Hdf5Sink sink(folder / "x.h5");
  core::write_vector(sink, "v", std::vector<double>{1.0});
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { (void)core::write_vector(sink, "v", std::vector<double>{1.0}); }),
      HasId("name_not_new", {"'v'"}));
  const double value = 1.0;
  CHECK_THAT(error_of<core::ShapeError>([&] {
               (void)sink.write("w", {core::DType::f64, {2}}, std::as_bytes(std::span(&value, 1)));
             }),
             HasId("wrong_bytes", {"'w'", "16", "8"}));
  CHECK_THAT(
      error_of<core::InvalidArgument>([&] { (void)sink.attribute("v", "long", std::string(70000, 'x')); }),
      HasId("long_attribute", {"'long'", "'v'", "70000"}));
  sink.commit();
  CHECK_THAT(error_of<core::InvalidArgument>([&] { (void)sink.attribute("v", "late", "x"); }),
             HasId("committed"));
}

TEST_CASE("hdf5: missing folders, folders and missing files are file errors") {
  const OutputFolder folder;
  CHECK_THROWS_AS(io::hdf5::Hdf5Sink(folder / "none" / "x.h5"), core::FileError);
  CHECK_THAT(error_of<core::FileError>([&] { (void)io::hdf5::Hdf5Source(folder / "none.h5"); }),
             HasId("no_file", {"none.h5"}));
  CHECK_THAT(error_of<core::FileError>([&] { (void)io::hdf5::Hdf5Source(folder.path()); }),
             HasId("is_a_folder", {folder.path().string()}));
}

TEST_CASE("hdf5: files of another kind and cut files are format errors") {
  const OutputFolder folder;
  std::ofstream(folder / "text.h5") << "no data here\n";
  CHECK_THAT(error_of<core::FormatError>([&] { (void)io::hdf5::Hdf5Source(folder / "text.h5"); }),
             HasId("not_hdf5", {"text.h5"}));
  write_example(folder / "x.h5");
  std::filesystem::resize_file(folder / "x.h5", std::filesystem::file_size(folder / "x.h5") / 2);
  CHECK_THAT(error_of<core::FormatError>([&] { (void)io::hdf5::Hdf5Source(folder / "x.h5"); }),
             HasId("damaged", {"x.h5"}));
}

TEST_CASE("hdf5: an array that the bytes of the file cannot hold is refused before memory is taken") {
  const OutputFolder folder;
  const std::string path = (folder / "crafted.h5").string();
  const auto craft = [&](std::vector<hsize_t> shape, bool is_deflated) {
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr);
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    if (is_deflated) {
      const std::vector<hsize_t> chunk(shape.size(), 1000);
      H5Pset_chunk(properties, static_cast<int>(chunk.size()), chunk.data());
      H5Pset_deflate(properties, 6);
    }
    const hid_t dataset =
        H5Dcreate2(file, "a", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    REQUIRE(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(properties);
    H5Sclose(space);
    H5Fclose(file);
  };
  const auto refusal = [&] {
    return error_of<core::FormatError>([&] { (void)io::hdf5::Hdf5Source(path).info("a"); });
  };
  craft({1'000'000'000'000}, false);
  CHECK_THAT(refusal(), HasId("too_many_elements", {"crafted.h5:", "'a'", "1000000000000"}));
  craft({hsize_t{1} << 24, hsize_t{1} << 20}, true);
  CHECK_THAT(refusal(), HasId("too_many_elements", {"'a'", "16777216, 1048576"}));
  craft({hsize_t{1} << 40, 0}, false);
  CHECK(io::hdf5::Hdf5Source(path).info("a").count() == 0);
}

TEST_CASE("hdf5: an array of zeros is smaller in the file than in memory, and is read") {
  const OutputFolder folder;
  const std::vector<double> zeros(1'000'000, 0.0);
  io::hdf5::Hdf5Sink sink(folder / "x.h5", {.gzip_level = 9});
  core::write_vector(sink, "zeros", zeros);
  sink.commit();
  CHECK(std::filesystem::file_size(folder / "x.h5") < 100'000);
  CHECK(core::read_doubles(io::hdf5::Hdf5Source(folder / "x.h5"), "zeros") == zeros);
}

TEST_CASE("hdf5: missing arrays and attributes name file and object") {
  const OutputFolder folder;
  write_example(folder / "x.h5");
  const io::hdf5::Hdf5Source source(folder / "x.h5");
  CHECK_THAT(error_of<core::FormatError>([&] { (void)source.info("nothing/here"); }),
             HasId("no_array", {"x.h5", "nothing/here"}));
  CHECK_THAT(error_of<core::FormatError>([&] { (void)source.attribute("a/reals", "colour"); }),
             HasId("no_attribute", {"x.h5", "a/reals@colour"}));
}

TEST_CASE("hdf5: arrays of every dtype come back bit by bit") {
  const OutputFolder folder;
  const auto bytes_of = [](core::DType dtype) {
    std::vector<std::byte> bytes(4 * core::size_of(dtype));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>(dtype == core::DType::b8 ? i % 2 : 17 + 41 * i);
    return bytes;
  };
  io::hdf5::Hdf5Sink sink(folder / "x.h5");
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<core::DType>(i);
    sink.write(std::string(core::name_of(dtype)), {dtype, {2, 2}}, bytes_of(dtype));
  }
  sink.commit();
  const io::hdf5::Hdf5Source source(folder / "x.h5");
  CHECK(source.location() == (folder / "x.h5").string());
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<core::DType>(i);
    const std::string name(core::name_of(dtype));
    INFO(name);
    CHECK(source.info(name).dtype == dtype);
    std::vector<std::byte> read(4 * core::size_of(dtype));
    source.read(name, 0, read);
    CHECK(read == bytes_of(dtype));
  }
}

TEST_CASE("hdf5: the same arrays make the same bytes, a second later too") {
  const OutputFolder folder;
  write_example(folder / "1.h5");
  const std::time_t begin = std::time(nullptr);
  while (std::time(nullptr) == begin) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  write_example(folder / "2.h5");
  const auto text = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const bool is_same = text(folder / "1.h5") == text(folder / "2.h5");
  CHECK(is_same);
}

TEST_CASE("hdf5: the state of a network is written and read through the same two functions as any other") {
  const OutputFolder folder;
  using engine::Tensor;
  const engine::NamedTensors state{
      {"net.0.weight", Tensor::from(std::vector<float>{1, 2, 3, 4}, {2, 2})},
      {"net.0.key", Tensor::from(std::vector<std::uint64_t>{~std::uint64_t{0}, 1, 2}, {3})},
      {"optimizer.step", Tensor::from(std::vector<std::int64_t>{-7}, {})}};
  io::hdf5::Hdf5Sink sink(folder / "x.h5");
  engine::write_state(sink, state);
  sink.commit();
  const engine::NamedTensors read = engine::read_state(io::hdf5::Hdf5Source(folder / "x.h5"));
  REQUIRE(read.size() == state.size());
  for (const auto& [name, tensor] : state) {
    INFO(name);
    CHECK(read.at(name).aval() == tensor.aval());
    CHECK(std::ranges::equal(read.at(name).bytes(), tensor.bytes()));
  }
}

TEST_CASE("hdf5: a loader reads ahead on its own thread while this one writes") {
  const OutputFolder folder;
  std::vector<double> values(2000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  {
    io::hdf5::Hdf5Sink sink(folder / "data.h5");
    sink.write("x", {core::DType::f64, {500, 4}}, std::as_bytes(std::span(values)));
    sink.commit();
  }
  const engine::Dataset data(std::make_shared<io::hdf5::Hdf5Source>(folder / "data.h5"));
  const engine::Loader ahead(data, {.batch_size = 50, .read_ahead = 4}),
      plain(data.in_memory(), {.batch_size = 50});
  while (const auto batch = ahead.next()) {
    io::hdf5::Hdf5Sink sink(folder / "state.h5");
    engine::write_state(sink, *batch);
    CHECK(batch->at("x").to_vector<double>() == plain.next()->at("x").to_vector<double>());
  }
  CHECK_FALSE(plain.next().has_value());
}
