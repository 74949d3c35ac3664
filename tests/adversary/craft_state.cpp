// SPDX-License-Identifier: Apache-2.0
// craft_state FILE SEED: changes one array or attribute of an HDF5 file, as a program with a mistake or a
// person with an editor might, and prints what it did.
#include "io/hdf5/trailer.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

struct Object {
  std::string name, attribute;  ///< attribute: "" for an array
};

herr_t add_attribute(hid_t at, const char* attribute, const H5A_info_t* /*info*/, void* found) {
  std::string name(256, '\0');
  name.resize(static_cast<std::size_t>(H5Iget_name(at, name.data(), name.size())));
  static_cast<std::vector<Object>*>(found)->push_back({name, attribute});
  return 0;
}

herr_t add_object(hid_t file, const char* name, const H5O_info_t* info, void* found) {
  if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<Object>*>(found)->push_back({name, ""});
  const hid_t at = H5Oopen(file, name, H5P_DEFAULT);
  H5Aiterate2(at, H5_INDEX_NAME, H5_ITER_INC, nullptr, add_attribute, found);
  H5Oclose(at);
  return 0;
}

/// An array of numbers, as doubles whatever its type in the file.
struct Array {
  std::vector<hsize_t> shape;
  std::vector<double> values;
};

bool read(hid_t file, const std::string& name, Array& array) {
  const hid_t dataset = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(dataset), type = H5Dget_type(dataset);
  const H5T_class_t kind = H5Tget_class(type);
  array.shape.resize(static_cast<std::size_t>(std::max(0, H5Sget_simple_extent_ndims(space))));
  H5Sget_simple_extent_dims(space, array.shape.data(), nullptr);
  array.values.resize(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  const bool is_read =
      (kind == H5T_FLOAT || kind == H5T_INTEGER) && !array.shape.empty() && !array.values.empty() &&
      H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data()) >= 0;
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(dataset);
  return is_read;
}

/// Puts another array in the place of one; `type` is that in the file.
void replace(hid_t file, const std::string& name, const Array& array, hid_t type) {
  H5Ldelete(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Screate_simple(static_cast<int>(array.shape.size()), array.shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, array.values.data());
  H5Dclose(dataset);
  H5Sclose(space);
}

std::string change_shape(hid_t file, const std::string& name, Array array, hid_t type, int how) {
  if (how == 0) {
    std::ranges::reverse(array.shape);
    if (array.shape.size() == 1) array.shape.push_back(1);
    replace(file, name, array, type);
    return name + " is transposed";
  }
  const bool is_longer = how == 1;
  const hsize_t row = array.values.size() / array.shape[0];
  array.shape[0] += is_longer ? 1 : -1;
  array.values.resize(array.shape[0] * row, array.values.front());
  replace(file, name, array, type);
  return fmt::format("{} is {} by a row", name, is_longer ? "longer" : "shorter");
}

std::string change_number(hid_t file, const std::string& name, Array array, hid_t type,
                          std::mt19937& random) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double others[] = {std::numeric_limits<double>::quiet_NaN(), inf, -inf, 1e308, -1e308, 1e9, -1.0};
  const double number = others[random() % std::size(others)];
  const std::size_t at = random() % array.values.size();
  const bool is_wild = !(std::abs(number) < 1e100);
  array.values[at] = number;
  replace(file, name, array, type);
  return fmt::format("{}[{}] is {}{}", name, at, is_wild ? "" : "another number, ", number);
}

std::string change(hid_t file, const Object& object, std::mt19937& random) {
  if (!object.attribute.empty()) {
    const hid_t at = H5Oopen(file, object.name.c_str(), H5P_DEFAULT);
    H5Adelete(at, object.attribute.c_str());
    H5Oclose(at);
    return fmt::format("attribute {}@{} is gone", object.name, object.attribute);
  }
  Array array;
  const int how = static_cast<int>(random() % 6);
  if (how == 5 || !read(file, object.name, array)) {
    H5Ldelete(file, object.name.c_str(), H5P_DEFAULT);
    return object.name + " is gone";
  }
  const hid_t dataset = H5Dopen2(file, object.name.c_str(), H5P_DEFAULT);
  const hid_t type = H5Dget_type(dataset);
  H5Dclose(dataset);
  const bool holds_reals = H5Tget_class(type) == H5T_FLOAT;
  const std::string what = how < 3 || !holds_reals ? change_shape(file, object.name, array, type, how % 3)
                                                   : change_number(file, object.name, array, type, random);
  H5Tclose(type);
  return what;
}

/// Ends the file as our programs do, so that not only its checksum is tried.
void append_trailer(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  std::ofstream(path, std::ios::binary | std::ios::app) << lodestone::io::hdf5::trailer_of(bytes);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: craft_state FILE SEED\n");
    return 2;
  }
  const hid_t file = H5Fopen(argv[1], H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) {
    fmt::print(stderr, "{}: cannot be opened as HDF5\n", argv[1]);
    return 1;
  }
  std::vector<Object> objects;
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, add_object, &objects, H5O_INFO_BASIC);
  std::mt19937 random(static_cast<std::uint32_t>(std::strtoul(argv[2], nullptr, 10)));
  fmt::print("{}\n", change(file, objects[random() % objects.size()], random));
  H5Fclose(file);
  append_trailer(argv[1]);
}
