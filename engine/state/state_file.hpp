// SPDX-License-Identifier: Apache-2.0
// State, which is named tensors, as a file: all that is needed to go on from there stands in one.
#pragma once

#include "engine/core/array_io.hpp"
#include "engine/nn/stateful.hpp"
#include "engine/record/tensor.hpp"

#include <filesystem>

namespace lodestone::engine {

/// Writes each tensor as an array of its name; beside them the attributes format, format_version and
/// engine_version. The same tensors give the same bytes. errors: those of the sink.
void write_state(core::ArraySink& sink, const NamedTensors& state);
/// Returns all arrays of a source as tensors; also of files that other programs wrote.
/// errors: FormatError for a file of ours that is no state, or one of a later format; those of the source.
[[nodiscard]] NamedTensors read_state(const core::ArraySource& source, Device device = default_device());

/// Saves a state to a safetensors file, or reads it. The file appears under its name only when it is
/// complete. errors: FileError, FormatError; each names the file.
void save_state(const std::filesystem::path& path, const NamedTensors& state);
[[nodiscard]] NamedTensors read_state(const std::filesystem::path& path, Device device = default_device());
/// Saves or loads the state of an object: a network, an optimizer, a loader, or a training made of them. All
/// of it is taken over, each tensor to the device of its variable, or nothing. errors: also FormatError for
/// the state of another object, with names missing and unexpected, and shapes that differ.
void save_state(const std::filesystem::path& path, const Stateful& from);
void load_state(const std::filesystem::path& path, const Stateful& into);

}  // namespace lodestone::engine
