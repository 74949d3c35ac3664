// SPDX-License-Identifier: Apache-2.0
#include "io/model/model_file.hpp"

#include "engine/core/error.hpp"
#include "io/model/file_kind.hpp"
#include "io/modem/modem_2d.hpp"
#include "io/result/result.hpp"
#include "io/toml/model_toml.hpp"

namespace lodestone::io {

physics::mesh::Section2D read_model(const std::string& path) {
  const FileKind kind = kind_of_file(path);
  switch (kind) {
    case FileKind::hdf5:
      return read_section_hdf5(path);
    case FileKind::modem_model_2d:
    case FileKind::modem_model_3d:
      return read_modem_model_2d(path);  // which says what a 3-D model is
    case FileKind::toml:
      return read_model_toml(path);
    default:
      throw core::FormatError("io::read_model",
                              "{}:1: expected a model (ModEM 2-D, TOML with [background], or an HDF5 result), got {}; check the path", path,
                              kind == FileKind::unknown ? "a file of unknown format" : name_of(kind));
  }
}

}  // namespace lodestone::io
