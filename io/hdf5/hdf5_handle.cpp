// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/hdf5_handle.hpp"

namespace lodestone::io::hdf5 {

namespace {

Handle complex_type(hid_t real, std::size_t real_bytes) {
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * real_bytes), H5Tclose);
  H5Tinsert(type.get(), "r", 0, real);
  H5Tinsert(type.get(), "i", real_bytes, real);
  return type;
}

}  // namespace

std::string last_error() {
  std::string text;
  const auto keep_first = [](unsigned depth, const H5E_error2_t* entry, void* data) -> herr_t {
    if (depth == 0 && entry->desc != nullptr) {
      *static_cast<std::string*>(data) = entry->desc;
    }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &text);
  return text.empty() ? "no reason given" : text;
}

Handle memory_type(core::DType dtype) {
  switch (dtype) {
    case core::DType::u8:
      return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
    case core::DType::i32:
      return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
    case core::DType::i64:
      return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case core::DType::f32:
      return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
    case core::DType::f64:
      return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
    case core::DType::c64:
      return complex_type(H5T_NATIVE_FLOAT, sizeof(float));
    case core::DType::c128:
      return complex_type(H5T_NATIVE_DOUBLE, sizeof(double));
  }
  return {};
}

Handle text_type(std::size_t width) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), width == 0 ? 1 : width);
  H5Tset_strpad(type.get(), H5T_STR_NULLPAD);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

}  // namespace lodestone::io::hdf5
