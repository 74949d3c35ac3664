// SPDX-License-Identifier: Apache-2.0
#include "engine/core/data_set.hpp"
#include "io/hdf5/store.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>
#include <limits>

using namespace lodestone;
using tests::error_of;
using tests::HasId;
using tests::TemporaryFolder;

namespace {

void write_number(core::ArraySink& sink, double value) {
  core::write_vector(sink, "x", std::vector<double>{value});
}

}  // namespace

TEST_CASE("hdf5 store: keeps what was saved last, makes its folder, and survives a failure while saving") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "out" / "dc" / "checkpoint.h5";
  const core::StorePtr store = io::hdf5::store(path);
  CHECK(store->name() == path.string());
  CHECK_FALSE(store->exists());
  CHECK_THAT(error_of<core::FileError>([&] { (void)store->load(); }),
             HasId("nothing_stored", {path.string()}));
  store->save([](core::ArraySink& sink) { write_number(sink, 1.0); });
  CHECK_THAT(error_of<core::SolverError>([&] {
               store->save([](core::ArraySink& sink) {
                 write_number(sink, 2.0);
                 throw core::SolverError("test#stopped", "in the middle");
               });
             }),
             HasId("stopped"));
  CHECK(core::read_doubles(*io::hdf5::store(path)->load(), "x") == std::vector<double>{1.0});
  store->save([](core::ArraySink& sink) { write_number(sink, 3.0); });
  CHECK(core::read_doubles(*store->load(), "x") == std::vector<double>{3.0});
  CHECK(std::distance(std::filesystem::directory_iterator(path.parent_path()), {}) == 1);
  store->remove();
  store->remove();
  CHECK_FALSE(store->exists());
}

TEST_CASE("hdf5 store: a folder that cannot be made is a file error") {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  const core::StorePtr store = io::hdf5::store(folder.path() / "file" / "checkpoint.h5");
  CHECK_THAT(error_of<core::FileError>([&] { store->save([](core::ArraySink&) {}); }),
             HasId("no_folder", {folder / "file"}));
}

TEST_CASE("hdf5 store: tables and data sets come back from the file") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TemporaryFolder folder;
  const core::StorePtr store = io::hdf5::store(folder.path() / "x.h5");
  const core::Table no_columns;
  const core::Table key =
      core::Table().add_texts("site", {"kim 438", ""}).add_numbers("period_s", "s", {1.0, nan});
  const core::DataSet data({.observed = Eigen::Vector2d(1.0, nan),
                            .sigma = Eigen::Vector2d(0.1, nan),
                            .reason = {0, 1},
                            .reasons = {"used", "missing"},
                            .key = key});
  store->save([&](core::ArraySink& sink) {
    write(sink, "tables/none", no_columns);
    write(sink, "tables/key", key);
    write(sink, "data", data);
    write(sink, "no data", core::DataSet());
  });
  const auto source = store->load();
  CHECK(core::read_table(*source, "tables/none") == no_columns);
  CHECK(core::read_table(*source, "tables/key") == key);
  CHECK(core::read_table(*source, "tables/key").origin() == (folder.path() / "x.h5").string());
  CHECK(core::read_data_set(*source, "data") == data);
  CHECK(core::read_data_set(*source, "no data").size() == 0);
}

TEST_CASE("hdf5 store: a file that lost its checksum is refused") {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint.h5";
  const core::StorePtr store = io::hdf5::store(path);
  store->save([](core::ArraySink& sink) { write_number(sink, 1.0); });
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  CHECK_THAT(error_of<core::FormatError>([&] { (void)store->load(); }), HasId("changed", {"checkpoint.h5"}));
}
