// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/handle.hpp"

namespace lodestone::io::hdf5 {

namespace {

Handle complex_type(hid_t real, std::size_t real_bytes) {
  Handle type(H5Tcreate(H5T_COMPOUND, 2 * real_bytes), H5Tclose);
  H5Tinsert(type.get(), "r", 0, real);
  H5Tinsert(type.get(), "i", real_bytes, real);
  return type;
}

/// Returns an enumeration FALSE, TRUE in one byte, which other programs read as boolean.
Handle boolean_type() {
  Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose);
  std::int8_t value = 0;
  H5Tenum_insert(type.get(), "FALSE", &value);
  value = 1;
  H5Tenum_insert(type.get(), "TRUE", &value);
  return type;
}

/// Returns a binary floating-point number in two bytes: sign, exponent, fraction from the highest bit down.
Handle half_type(std::size_t exponent_bits) {
  const std::size_t fraction_bits = 15 - exponent_bits;
  Handle type(H5Tcopy(H5T_IEEE_F32LE), H5Tclose);
  H5Tset_fields(type.get(), 15, fraction_bits, exponent_bits, 0, fraction_bits);
  H5Tset_precision(type.get(), 16);
  H5Tset_size(type.get(), 2);
  H5Tset_ebias(type.get(), (std::size_t{1} << (exponent_bits - 1)) - 1);
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
    case core::DType::b8:
      return boolean_type();
    case core::DType::i8:
      return {H5Tcopy(H5T_NATIVE_INT8), H5Tclose};
    case core::DType::u8:
      return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
    case core::DType::i32:
      return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
    case core::DType::u32:
      return {H5Tcopy(H5T_NATIVE_UINT32), H5Tclose};
    case core::DType::i64:
      return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case core::DType::u64:
      return {H5Tcopy(H5T_NATIVE_UINT64), H5Tclose};
    case core::DType::bf16:
      return half_type(8);
    case core::DType::f16:
      return half_type(5);
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
