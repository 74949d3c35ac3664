// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/array_io.hpp"

#include <filesystem>
#include <memory>

namespace lodestone::engine {

/// Writes named arrays to a safetensors file that appears under its name only at `commit`. The bytes of the
/// file depend on what was written, not on the order.
///
/// Complex arrays are stored as reals with (re, im) as a last axis, and declared in the metadata; so is a
/// CRC-32C of every array and of the header.
class SafetensorsSink final : public core::ArraySink {
 public:
  /// Begins a file; nothing is written before `commit`. errors: FileError when the folder is missing or not
  /// writable.
  explicit SafetensorsSink(const std::filesystem::path& path);
  ~SafetensorsSink() override;

  /// Adds an array. errors: InvalidArgument when the name is empty, no UTF-8, or exists; ShapeError when
  /// bytes and shape disagree.
  void write(const std::string& name, const core::ArrayInfo& info, std::span<const std::byte> bytes) override;
  /// Adds an attribute. errors: InvalidArgument for text that is no UTF-8, for the reserved keys "crc32c" and
  /// "dtype", and for keys with an '@'.
  void attribute(const std::string& object, const std::string& key, const std::string& text) override;
  /// Writes all to disk and renames; temporary files that killed processes left behind for the same name are
  /// removed. Nothing can be written afterwards. errors: FileError, also when the disk is full.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Reads a safetensors file, ours or another program's. Reads may come from several threads at once.
///
/// A whole array that is read in one piece is compared with its checksum, where the file has one; a range is
/// not (`verify` looks at everything).
class SafetensorsSource final : public core::ArraySource {
 public:
  /// Opens a file and reads its header. errors: FileError when the file is missing or unreadable; FormatError
  /// when it is cut off, not safetensors, or its header is wrong in any way.
  explicit SafetensorsSource(const std::filesystem::path& path);
  ~SafetensorsSource() override;

  [[nodiscard]] bool contains(const std::string& name) const override;
  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] core::ArrayInfo info(const std::string& name) const override;
  void read(const std::string& name, std::int64_t first, std::span<std::byte> out) const override;
  [[nodiscard]] std::string attribute(const std::string& object, const std::string& key) const override;
  [[nodiscard]] bool has_attribute(const std::string& object, const std::string& key) const override;
  [[nodiscard]] std::string location() const override;

  /// Compares every array that has a checksum with it, a few megabytes at a time. errors: FormatError that
  /// names the array.
  void verify() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lodestone::engine
