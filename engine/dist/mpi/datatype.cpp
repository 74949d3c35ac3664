// SPDX-License-Identifier: Apache-2.0
#include "engine/dist/mpi/datatype.hpp"

#include <array>

namespace lodestone::engine {
namespace {

constexpr std::int64_t largest_run = std::int64_t{1} << 30;  // bytes; counts of MPI are of type int

/// Puts a type in the place of another one, which is freed.
void replace(MPI_Datatype& type, MPI_Datatype by) {
  if (type != MPI_BYTE) MPI_Type_free(&type);
  type = by;
}

/// Returns the type of bytes that lie one behind the other.
MPI_Datatype type_of_run(std::int64_t bytes) {
  MPI_Datatype rest = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(bytes % largest_run), MPI_BYTE, &rest);
  if (bytes < largest_run) return rest;
  MPI_Datatype block = MPI_DATATYPE_NULL, result = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(static_cast<int>(largest_run), MPI_BYTE, &block);
  const auto n_blocks = static_cast<int>(bytes / largest_run);
  const std::array<int, 2> counts{n_blocks, 1};
  const std::array<MPI_Aint, 2> places{0, static_cast<MPI_Aint>(n_blocks * largest_run)};
  const std::array<MPI_Datatype, 2> types{block, rest};
  MPI_Type_create_struct(2, counts.data(), places.data(), types.data(), &result);
  MPI_Type_free(&block);
  MPI_Type_free(&rest);
  return result;
}

}  // namespace

MessageType::MessageType(const Strided& elements) {
  auto run = static_cast<std::int64_t>(elements.item);
  int axis = elements.shape.rank();
  Dim dense = 1;
  for (; axis > 0 && (elements.shape[axis - 1] == 1 || elements.strides[axis - 1] == dense); --axis)
    dense *= elements.shape[axis - 1];
  type_ = type_of_run(run * dense);
  for (; axis > 0; --axis) {
    MPI_Datatype rows = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(static_cast<int>(elements.shape[axis - 1]), 1,
                            static_cast<MPI_Aint>(elements.strides[axis - 1] * run), type_, &rows);
    replace(type_, rows);
  }
  MPI_Type_commit(&type_);
}

MessageType::~MessageType() { MPI_Type_free(&type_); }

}  // namespace lodestone::engine
