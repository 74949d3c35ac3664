// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/core/words.hpp"

#include <string>
#include <string_view>

namespace lodestone::io::survey {

/// The kind of a file by its content.
enum class FileKind {
  edi,
  emtf_xml,
  modem_data_2d,
  modem_data_3d,
  modem_model_2d,
  modem_model_3d,
  modem_covariance,
  emdata,
  mt2d_data,
  occam2d_data,
  occam2d_model,
  mare2dem_model,
  xyz_model,
  gocad_sgrid,
  femtic_data,
  femtic_model,
  wsinv_data,
  z_file,
  j_format,
  zonge_avg,
  toml,
  vae_card,  ///< JSON beside a network of `train`
  hdf5,
  safetensors,
  csv_sites,
  csv_responses,
  csv_rows,  ///< transfer functions
  csv_section,
  csv_table,  ///< some other table: a header line of names
  unknown
};
constexpr auto words(FileKind) {
  using enum FileKind;
  return core::Words<FileKind>{{edi, "EDI"},
                               {emtf_xml, "EMTF XML"},
                               {modem_data_2d, "ModEM 2-D data"},
                               {modem_data_3d, "ModEM 3-D data"},
                               {modem_model_2d, "ModEM 2-D model"},
                               {modem_model_3d, "ModEM 3-D model"},
                               {modem_covariance, "ModEM covariance"},
                               {emdata, "MARE2DEM data"},
                               {mt2d_data, "MT2DData"},
                               {occam2d_data, "Occam2D data"},
                               {occam2d_model, "Occam2D model"},
                               {mare2dem_model, "MARE2DEM model"},
                               {xyz_model, "XYZ model"},
                               {gocad_sgrid, "GOCAD SGrid"},
                               {femtic_data, "FEMTIC data"},
                               {femtic_model, "FEMTIC model"},
                               {wsinv_data, "WSINV3DMT data"},
                               {z_file, "Z-file"},
                               {j_format, "J-format"},
                               {zonge_avg, "Zonge AVG"},
                               {toml, "TOML"},
                               {vae_card, "card of a network"},
                               {hdf5, "HDF5"},
                               {safetensors, "safetensors"},
                               {csv_sites, "CSV sites"},
                               {csv_responses, "CSV responses"},
                               {csv_rows, "CSV transfer functions"},
                               {csv_section, "CSV section"},
                               {csv_table, "CSV table"},
                               {unknown, "unknown"}};
}

/// Looks at the first bytes only. errors: FileError.
[[nodiscard]] FileKind kind_of_file(const std::string& path);

}  // namespace lodestone::io::survey
