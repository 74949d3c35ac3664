// SPDX-License-Identifier: Apache-2.0
// libFuzzer's entry: `fuzz_inputs --reader=NAME FOLDER…` tries inputs made from those of the folders.
// `--list` prints the names of the readers, `--seconds` what a call of the reader may take, and
// `--seeds=FOLDER` writes its seeds; each ends the program.
// `--print` states for each input the memory that its reader held, and why it was refused.
#include "engine/core/error.hpp"
#include "engine/core/log.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fmt/format.h>
#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace lodestone;
using namespace lodestone::tests;

namespace {

constexpr std::int64_t bytes_per_byte = 64;  ///< that a reader may hold for each byte of its input
constexpr std::size_t longest_seed = 40000;

/// Counts the bytes that a call of a reader holds, and stops the program where they are too many.
struct Budget {
  std::atomic<bool> counts{false};
  std::atomic<std::int64_t> held{0}, most{0}, allowed{0};
};
Budget budget;

void on_malloc(const volatile void*, std::size_t n) {
  if (!budget.counts.load(std::memory_order_relaxed)) return;
  const std::int64_t held = budget.held += static_cast<std::int64_t>(n);
  if (held > budget.most) budget.most = held;
  if (held <= budget.allowed) return;
  budget.counts = false;
  std::fprintf(stderr, "fuzz_inputs: a reader holds %lld bytes, more than the %lld allowed for its input\n",
               static_cast<long long>(held), static_cast<long long>(budget.allowed.load()));
  std::abort();
}

void on_free(const volatile void* at) {
  if (budget.counts.load(std::memory_order_relaxed) && at != nullptr)
    budget.held -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<void*>(at)));
}

/// The reader and the folder of this process.
struct Run {
  const fuzz::Reader* reader = nullptr;
  std::optional<TemporaryFolder> folder;
  bool prints = false;
};
Run& run() {
  static Run one;
  return one;
}

std::int64_t size_of_files(const fuzz::Reader& reader) {
  std::int64_t n = 0;
  for (const std::string& name : reader.names) {
    std::error_code absent;
    const auto size = std::filesystem::file_size(run().folder->path() / name, absent);
    if (!absent) n += static_cast<std::int64_t>(size);
  }
  return n;
}

void write_seeds(const fuzz::Reader& reader, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  auto all = fuzz::seeds(reader, longest_seed);
  for (const auto& kept : fuzz::kept_inputs(reader)) all.push_back(kept);
  for (const auto& [name, bytes] : all) std::ofstream(folder / name, std::ios::binary) << bytes;
}

/// Returns the text behind `--name=` among the arguments.
std::optional<std::string> option(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.starts_with(name)) return std::string(word.substr(name.size()));
  }
  return {};
}

/// Fills the tables that libraries make once, so that no input is charged for them.
void warm_up(const fuzz::Reader& reader) {
  for (const auto& [name, bytes] : fuzz::kept_inputs(reader))
    static_cast<void>(fuzz::read_input(reader, fuzz::write_input(reader, bytes, run().folder->path())));
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  core::log::configure({.level = core::log::Level::error});
  if (option(*argc, *argv, "--list")) {
    for (const fuzz::Reader& each : fuzz::readers()) std::printf("%s\n", each.name.c_str());
    std::exit(0);
  }
  try {
    run().reader = &fuzz::reader(option(*argc, *argv, "--reader=").value_or(""));
    if (option(*argc, *argv, "--seconds")) {
      std::printf("%d\n", run().reader->seconds);
      std::exit(0);
    }
    if (const auto folder = option(*argc, *argv, "--seeds=")) {
      write_seeds(*run().reader, *folder);
      std::exit(0);
    }
  } catch (const core::Error& error) {
    std::fprintf(stderr, "fuzz_inputs: --reader: %s\n", error.what());
    std::exit(2);
  }
  run().folder.emplace();
  run().prints = option(*argc, *argv, "--print").has_value();
  warm_up(*run().reader);
  __sanitizer_install_malloc_and_free_hooks(on_malloc, on_free);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Reader& reader = *run().reader;
  const std::string path =
      fuzz::write_input(reader, {reinterpret_cast<const char*>(data), size}, run().folder->path());
  const std::int64_t n = size_of_files(reader);
  budget.held = budget.most = 0;
  budget.allowed = bytes_per_byte * n + reader.beside_bytes;
  budget.counts = true;
  const std::string refusal = fuzz::read_input(reader, path);
  budget.counts = false;
  if (run().prints)
    std::fprintf(stderr, "held %lld bytes beside %lld times %lld; %s\n",
                 static_cast<long long>(budget.most - bytes_per_byte * n),
                 static_cast<long long>(bytes_per_byte), static_cast<long long>(n),
                 refusal.empty() ? "read" : refusal.c_str());
  return 0;
}
