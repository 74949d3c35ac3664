// SPDX-License-Identifier: Apache-2.0
#include "engine/core/error.hpp"
#include "tests/fuzz/hdf5_text.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace lodestone::tests::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t shortest_message = 20;

const fs::path& root() {
  static const fs::path path(LODESTONE_SOURCE_DIR);
  return path;
}

std::string head_of(const fs::path& path, std::size_t most_bytes) {
  return text_of_file(path.string()).substr(0, most_bytes);
}

/// Returns the files below a folder in the order of their paths.
std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (!fs::is_directory(folder)) return paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

/// The data files of the tree with their kinds.
const std::vector<std::pair<fs::path, io::survey::FileKind>>& tree() {
  static const auto all = [] {
    std::vector<std::pair<fs::path, io::survey::FileKind>> files;
    for (const char* folder : {"data", "examples", "tests/data"})
      for (const fs::path& path : files_below(root() / folder))
        files.emplace_back(path, io::survey::kind_of_file(path.string()));
    return files;
  }();
  return all;
}

/// Returns the files named in a text, joined by '+', as one input.
std::string joined_files(std::string_view names) {
  std::string input;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('+'), names.size());
    if (!input.empty()) input += part_separator;
    input += text_of_file((root() / names.substr(0, end)).string());
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return input;
}

}  // namespace

const std::vector<Reader>& readers() {
  static const std::vector<Reader> all = [] {
    std::vector<Reader> each;
    for (auto* family : {survey_readers, model_readers, array_readers})
      for (Reader& reader : family()) each.push_back(std::move(reader));
    return each;
  }();
  return all;
}

const Reader& reader(std::string_view name) {
  const auto found = std::ranges::find(readers(), name, &Reader::name);
  if (found != readers().end()) return *found;
  std::vector<std::string> names;
  for (const Reader& each : readers()) names.push_back(each.name);
  throw core::InvalidArgument("tests::fuzz#no_reader", "expected one of {}, got \"{}\"",
                              fmt::join(names, " "), name);
}

std::string write_input(const Reader& reader, std::string_view bytes, const std::string& folder) {
  const std::string first = folder + "/" + reader.names.front();
  if (reader.is_hdf5) {
    write_hdf5(bytes, first);
    return first;
  }
  for (const std::string& name : reader.names) {
    const std::string path = folder + "/" + name;
    const bool is_last = &name == &reader.names.back();
    const std::size_t end = is_last ? bytes.size() : std::min(bytes.find(part_separator), bytes.size());
    if (bytes.empty() && &name != &reader.names.front())
      fs::remove(path);
    else
      std::ofstream(path, std::ios::binary) << bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
  return first;
}

std::string read_input(const Reader& reader, const std::string& path) {
  try {
    reader.read(path);
    return {};
  } catch (const core::Error& error) {
    if (std::string_view(error.what()).size() < shortest_message)
      throw std::logic_error(fmt::format("an error without a text: {}", error.what()));
    return error.what();
  }
}

std::vector<Seed> seeds(const Reader& reader, std::size_t most_bytes) {
  std::vector<Seed> all;
  for (const auto& [path, kind] : tree())
    if (std::ranges::find(reader.kinds, kind) != reader.kinds.end())
      all.push_back(
          {fmt::format("tree_{}_{}", all.size(), path.filename().string()), head_of(path, most_bytes)});
  for (const std::string& names : reader.tree_files)
    all.push_back({fmt::format("tree_{}", all.size()), joined_files(names)});
  if (reader.more_seeds)
    for (std::string& text : reader.more_seeds())
      all.push_back({fmt::format("written_{}", all.size()), std::move(text)});
  return all;
}

std::vector<Seed> kept_inputs(const Reader& reader) {
  std::vector<Seed> all;
  for (const fs::path& path : files_below(root() / "tests/fuzz/corpus" / reader.name))
    all.push_back({path.filename().string(), text_of_file(path.string())});
  return all;
}

}  // namespace lodestone::tests::fuzz
