// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lodestone::io::survey {

/// What a file is by its content.
enum class FileKind {
  edi,
  modem_data_2d,
  modem_data_3d,
  modem_model_2d,
  modem_model_3d,
  emdata,
  mt2d_data,
  toml,
  vae_card,  ///< JSON beside a network of `train`
  hdf5,
  safetensors,
  csv_sites,
  csv_responses,
  csv_section,
  csv_table,  ///< some other table: a header line of names
  unknown
};

/// "EDI", "ModEM 2-D data" …
[[nodiscard]] std::string_view name_of(FileKind kind);

/// Looks at the first bytes only. errors: FileError.
[[nodiscard]] FileKind kind_of_file(const std::string& path);

}  // namespace lodestone::io::survey
