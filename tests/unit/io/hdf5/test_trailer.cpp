// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <hdf5.h>

#include <fstream>
#include <iterator>

using namespace lodestone;
using tests::error_of;
using tests::HasId;
using tests::TemporaryFolder;

namespace {

const std::vector<double> numbers{1.5, -2.0, 3.25};

void write_numbers(const std::string& path) {
  io::hdf5::Hdf5Sink sink(path);
  core::write_vector(sink, "a/numbers", numbers);
  sink.attribute("", "title", "a run");
  sink.commit();
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<double> read_numbers(const std::string& path) {
  return core::read_doubles(io::hdf5::Hdf5Source(path), "a/numbers");
}

}  // namespace

TEST_CASE(
    "hdf5 trailer: one flipped bit anywhere is an error, or lies in the opening of the trailer itself") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.h5";
  write_numbers(path);
  const std::string whole = bytes_of(path);
  const std::size_t trailer = whole.rfind("\nlodestone crc32c ");
  REQUIRE(trailer != std::string::npos);
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 8)));
    std::ofstream(path, std::ios::binary) << flipped;
    INFO("byte " << byte << " of " << whole.size());
    const bool in_opening = byte >= trailer && byte < whole.size() - 9;
    if (in_opening) {
      CHECK(read_numbers(path) == numbers);
    } else {
      CHECK_THROWS_AS(read_numbers(path), core::FormatError);
    }
  }
}

TEST_CASE("hdf5 trailer: damage names the file and what to do") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.h5";
  write_numbers(path);
  std::string bytes = bytes_of(path);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(path, std::ios::binary) << bytes;
  CHECK_THAT(error_of<core::FormatError>([&] { (void)read_numbers(path); }),
             HasId("damaged", {"x.h5", "copy it again"}));
}

TEST_CASE("hdf5 trailer: a file that another program changed is read without a check") {
  const TemporaryFolder folder;
  const std::string path = folder / "x.h5";
  write_numbers(path);
  const std::vector<double> changed{7.0, 8.0, 9.0};
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t dataset = H5Dopen2(file, "a/numbers", H5P_DEFAULT);
  CHECK(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, changed.data()) >= 0);
  H5Dclose(dataset);
  H5Fclose(file);
  CHECK(read_numbers(path) == changed);
}
