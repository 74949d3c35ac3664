// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/store.hpp"

#include "engine/core/atomic_file.hpp"
#include "engine/core/error.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/trailer.hpp"

#include <utility>

namespace lodestone::io::hdf5 {
namespace {

class FileStore final : public core::Store {
 public:
  explicit FileStore(std::filesystem::path path) : path_(std::move(path)) {}
  [[nodiscard]] std::string name() const override { return path_.string(); }
  [[nodiscard]] bool exists() const override {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path_, ignored);
  }
  void save(const std::function<void(core::ArraySink&)>& write) override {
    make_folder();
    core::remove_leftovers(name());
    Hdf5Sink sink(path_);
    write(sink);
    sink.commit();
  }
  [[nodiscard]] std::unique_ptr<core::ArraySource> load() const override {
    if (!exists())
      throw core::FileError("io::hdf5::store#nothing_stored",
                            "{}: expected an HDF5 file with stored arrays, found none; check the path",
                            name());
    auto source = std::make_unique<Hdf5Source>(path_);
    require_trailer(name());
    return source;
  }
  void remove() override {
    std::error_code failed;
    std::filesystem::remove(path_, failed);
    if (failed)
      throw core::FileError("io::hdf5::store#not_removed",
                            "{}: cannot remove the file: {}; check its permissions", name(),
                            failed.message());
  }

 private:
  void make_folder() const {
    if (!path_.has_parent_path()) return;
    std::error_code failed;
    std::filesystem::create_directories(path_.parent_path(), failed);
    if (failed)
      throw core::FileError("io::hdf5::store#no_folder",
                            "{}: cannot make the folder {}: {}; check its permissions or name another",
                            name(), path_.parent_path().string(), failed.message());
  }

  std::filesystem::path path_;
};

}  // namespace

core::StorePtr store(std::filesystem::path path) { return std::make_shared<FileStore>(std::move(path)); }

}  // namespace lodestone::io::hdf5
