// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: shared libraries on disk that processes of one user make once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace lodestone::engine {

/// A folder of libraries, each under a name that tells all it was made of. What somebody else owns or may
/// write, and what is not as it was written, is made again, with one warning.
class KernelCache {
 public:
  static constexpr std::uintmax_t most_bytes = std::uintmax_t{256} << 20;

  /// Makes the folder, and the one above, where they are missing; nobody else may enter them. One that cannot
  /// be used, that stands where others may write, or no name, is replaced by a folder of this process, with a
  /// warning. The oldest files go where all take more than
  /// `limit` bytes. errors: FileError where no folder can be made at all.
  explicit KernelCache(const std::filesystem::path& folder, std::uintmax_t limit = most_bytes);
  ~KernelCache();
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  /// Returns a hash of parts as text of 32 characters.
  [[nodiscard]] static std::string name_of(std::initializer_list<std::string_view> parts);

  /// Returns the path of a library, which `make(path)` writes where there is none; of several processes one
  /// does, and the others wait. Nothing where `make` returns false, or while waiting a stop is requested.
  /// errors: FileError.
  [[nodiscard]] std::optional<std::string> get(const std::string& name,
                                               const std::function<bool(const std::string&)>& make,
                                               const std::stop_token& stop = {});
  /// Removes a library that cannot be loaded, with a warning.
  void discard(const std::string& name);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  void use(const std::filesystem::path& folder);
  void use_own_folder(const std::string& why);
  [[nodiscard]] std::string path_of(const std::string& name) const { return folder_ / (name + ".so"); }
  [[nodiscard]] bool has(const std::string& name);
  [[nodiscard]] bool make_file(const std::string& name, const std::function<bool(const std::string&)>& make);
  void reject(const std::filesystem::path& path, const std::string& why);
  void trim() const;

  std::filesystem::path folder_;
  std::uintmax_t limit_;
  bool is_temporary_ = false, has_warned_ = false;
};

}  // namespace lodestone::engine
