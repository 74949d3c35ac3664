// SPDX-License-Identifier: Apache-2.0
// Every reader reads its seeds and the inputs that were kept: what once ended in something else than an error
// of ours does not again. No clang and no libFuzzer are needed for this.
#include "engine/core/error.hpp"
#include "io/info/info.hpp"
#include "io/mth5/mth5.hpp"
#include "io/survey/store.hpp"
#include "tests/fuzz/hdf5_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/text_fixture.hpp"

#include <random>

using namespace lodestone;
using namespace lodestone::tests;

namespace {

constexpr std::size_t whole = std::string::npos;

/// Returns the seeds of a reader and its kept inputs.
std::vector<fuzz::Seed> inputs_of(const fuzz::Reader& reader) {
  std::vector<fuzz::Seed> all = fuzz::seeds(reader, whole);
  for (fuzz::Seed& kept : fuzz::kept_inputs(reader)) all.push_back(std::move(kept));
  return all;
}

}  // namespace

TEST_CASE("fuzz: readers read valid inputs, and end kept ones with an error of ours or none", "[fuzz]") {
  for (const fuzz::Reader& reader : fuzz::readers()) {
    const TemporaryFolder folder;
    int n_valid = 0;
    for (const auto& [name, bytes] : inputs_of(reader)) {
      CAPTURE(reader.name, name);
      const std::string refusal = fuzz::read_input(reader, fuzz::write_input(reader, bytes, folder.path()));
      const bool is_valid = name.starts_with("valid") || name.starts_with("written");
      if (is_valid) CHECK(refusal.empty());
      n_valid += is_valid ? 1 : 0;
    }
    CAPTURE(reader.name);
    if (reader.kinds.empty() && reader.tree_files.empty()) CHECK(n_valid > 0);
  }
}

TEST_CASE("fuzz: telling files apart never throws, and states what each file is", "[fuzz]") {
  for (const fuzz::Reader& reader : fuzz::readers()) {
    const TemporaryFolder folder;
    for (const auto& [name, bytes] : inputs_of(reader)) {
      CAPTURE(reader.name, name);
      const auto info = io::info::describe_file(fuzz::write_input(reader, bytes, folder.path()));
      CHECK_FALSE(info.status.empty());
    }
  }
}

TEST_CASE("fuzz: files of HDF5 that are cut off are format errors", "[fuzz]") {
  // Changed bytes within HDF5's own metadata are for that library, which does not survive all of them.
  const std::string bytes = text_of_file(source_path("tests/data/mth5/mth5_0.2.0.h5"));
  const TemporaryFolder folder;
  for (std::size_t part = 0; part < 100; ++part) {
    CAPTURE(part);
    CHECK_THROWS_AS(io::mth5::read(write_text(folder, "cut.h5", bytes.substr(0, bytes.size() * part / 100))),
                    core::Error);
  }
}

TEST_CASE("fuzz: no changed byte of our own HDF5 files goes unnoticed", "[fuzz]") {
  const TemporaryFolder folder;
  const fuzz::Reader& reader = fuzz::reader("survey_file");
  const std::string made = fuzz::write_input(reader, fuzz::seeds(reader, whole).front().bytes, folder.path());
  io::survey::write_survey(folder / "s.h5", io::survey::read_survey(made));
  const std::string bytes = text_of_file(folder / "s.h5");
  std::mt19937_64 random(20240531);
  for (int i = 0; i < 300; ++i) {
    std::string changed = bytes;
    const std::size_t at = random() % changed.size();
    CAPTURE(at);
    changed[at] = static_cast<char>(changed[at] ^ static_cast<char>(1 + random() % 255));
    CHECK_THROWS_AS(io::survey::read_survey(write_text(folder, "changed.h5", changed)), core::Error);
  }
}

TEST_CASE("fuzz: texts of HDF5 files make files with the same text", "[fuzz]") {
  const TemporaryFolder folder;
  for (const fuzz::Reader& reader : fuzz::readers()) {
    if (!reader.is_hdf5) continue;
    for (const auto& [name, bytes] : inputs_of(reader)) {
      if (!name.starts_with("written")) continue;
      CAPTURE(reader.name, name);
      fuzz::write_hdf5(bytes, folder / "a.h5");
      CHECK(fuzz::text_of_hdf5(folder / "a.h5") == bytes);
    }
  }
}
