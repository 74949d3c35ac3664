// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lodestone::io::hdf5 {

struct Hdf5Options {
  std::int64_t compress_from_bytes =
      65536;  ///< arrays of at least this size are shuffled and gzipped; negative: none
  int gzip_level = 4;
};

/// Writes named arrays to an HDF5 file that appears under its name only at `commit`. Call on one rank.
///
/// Array names are paths ("model/log10_resistivity"); groups are made on the way. Complex numbers are
/// compounds {r, i}, booleans enumerations {FALSE, TRUE}, bf16 and f16 two-byte floating-point types. The
/// bytes of a file depend on what was written, and in which order, only.
class Hdf5Sink final : public core::ArraySink {
 public:
  /// Opens a new file. errors: FileError when the folder is missing or not writable.
  explicit Hdf5Sink(const std::filesystem::path& path, const Hdf5Options& options = {});
  ~Hdf5Sink() override;

  /// Writes an array. errors: InvalidArgument when the name exists, ShapeError when bytes and shape disagree,
  /// FileError when the disk is full.
  void write(const std::string& name, const core::ArrayInfo& info, std::span<const std::byte> bytes) override;
  void attribute(const std::string& object, const std::string& key, const std::string& text) override;
  /// Writes texts as fixed-length UTF-8 strings, which other programs show as text; `core::read_texts` gives
  /// them back.
  void texts(const std::string& name, const std::vector<std::string>& texts) override;
  /// Writes all to disk, closes and renames; nothing can be written afterwards. errors: FileError.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads an HDF5 file. Text arrays appear as u8 (n, width).
class Hdf5Source final : public core::ArraySource {
 public:
  /// Opens a file. errors: FileError when it is missing or unreadable, FormatError when it is not HDF5 or cut
  /// off.
  explicit Hdf5Source(const std::filesystem::path& path);
  ~Hdf5Source() override;

  [[nodiscard]] bool contains(const std::string& name) const override;
  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] core::ArrayInfo info(const std::string& name) const override;
  void read(const std::string& name, std::int64_t first, std::span<std::byte> out) const override;
  [[nodiscard]] std::string attribute(const std::string& object, const std::string& key) const override;
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& key) const override;
  [[nodiscard]] std::string location() const override;
  /// Returns true for an attribute that is one text.
  [[nodiscard]] bool has_text(const std::string& object, const std::string& key) const;
  /// Returns an attribute that is one number, or a text of one; nothing where there is none.
  [[nodiscard]] std::optional<double> number(const std::string& object, const std::string& key) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lodestone::io::hdf5
