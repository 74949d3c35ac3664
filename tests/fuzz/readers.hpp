// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "io/survey/kinds.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lodestone::tests::fuzz {

/// The byte between the files of an input that stands for several.
inline constexpr char part_separator = '\x1e';

/// A reader as users reach it, and the inputs it is tried with.
struct Reader {
  std::string name;
  std::function<void(const std::string& path)> read;  ///< throws core::Error and nothing else
  /// Bytes that a call may hold beside 64 times its input: caches and tables of libraries, buffers of files.
  std::int64_t beside_bytes = 0;
  int seconds = 1;                            ///< that a call may take
  std::vector<io::survey::FileKind> kinds{};  ///< files of the tree of these kinds are seeds
  std::vector<std::string> tree_files{};      ///< further files of the tree; names of one input joined by '+'
  std::vector<std::string> names{"input"};    ///< the files of an input, of which the first is read
  bool is_hdf5 = false;                       ///< inputs are texts of hdf5_text.hpp, which become a file
  std::function<std::vector<std::string>()> more_seeds{};  ///< inputs that programs write
};

/// Returns true for files that begin as HDF5 does: their bytes are for that library, and have readers here.
[[nodiscard]] inline bool is_hdf5(const std::string& path) {
  return io::survey::kind_of_file(path) == io::survey::FileKind::hdf5;
}

/// Returns the readers by family.
[[nodiscard]] std::vector<Reader> survey_readers();
[[nodiscard]] std::vector<Reader> model_readers();
[[nodiscard]] std::vector<Reader> array_readers();
/// Returns all readers.
[[nodiscard]] const std::vector<Reader>& readers();
/// Returns the reader of a name. errors: InvalidArgument that lists the names.
[[nodiscard]] const Reader& reader(std::string_view name);

/// Writes the files of an input into a folder, those that it lacks removed, and returns the path of the
/// first.
[[nodiscard]] std::string write_input(const Reader& reader, std::string_view bytes,
                                      const std::string& folder);

/// Reads an input and returns the error by which it was refused, "" for none. Throws std::logic_error for an
/// error without a text; exceptions other than core::Error pass.
[[nodiscard]] std::string read_input(const Reader& reader, const std::string& path);

/// An input with a name that is unique for its reader.
struct Seed {
  std::string name, bytes;
};
/// Returns the seeds of a reader: files of the tree, cut off at `most_bytes` each, and what programs write.
[[nodiscard]] std::vector<Seed> seeds(const Reader& reader, std::size_t most_bytes);
/// Returns the inputs kept in tests/fuzz/corpus. Those named `valid…` are read without an error.
[[nodiscard]] std::vector<Seed> kept_inputs(const Reader& reader);

}  // namespace lodestone::tests::fuzz
