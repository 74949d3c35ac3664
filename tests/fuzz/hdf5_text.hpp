// SPDX-License-Identifier: Apache-2.0
// Small on purpose: the one place outside of io/hdf5 that writes what our sink never would.
#pragma once

#include <string>
#include <string_view>

namespace lodestone::tests::fuzz {

/// Writes the HDF5 file that a text describes, one object per line:
/// `array NAME TYPE SHAPE VALUES…` or `attribute OBJECT KEY TYPE SHAPE VALUES…`, the root as `/`.
///
/// Types: f4 f8, i1 to i8, u1 to u8, b1 (FALSE, TRUE), c8 c16 ({r, i}), s12 (text of 12 bytes), sv (text of
/// any length). One with `~` is stored in compressed chunks. Shapes: `2x3`, `-` for a single element, `null`.
/// Values are words; absent ones are 0, and an array of more than 65536 elements is declared and not written.
/// In names and texts `\s` is a blank, `\n` an end of line, `\\` a backslash, `\0` an empty text. Lines that
/// HDF5 refuses are left out.
void write_hdf5(std::string_view text, const std::string& path);

/// Returns such a text of a file: every attribute, and arrays up to `most` elements each.
[[nodiscard]] std::string text_of_hdf5(const std::string& path, std::size_t most = 4000);

}  // namespace lodestone::tests::fuzz
