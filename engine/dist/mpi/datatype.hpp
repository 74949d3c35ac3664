// SPDX-License-Identifier: Apache-2.0
// Small on purpose: MPI's description of a box of a buffer, for the transport alone.
#pragma once

#include "engine/dist/transport/transport.hpp"

#include <mpi.h>

namespace lodestone::engine {

/// The MPI datatype of one message, freed at its end; MPI keeps what started operations need.
class MessageType {
 public:
  explicit MessageType(const Strided& elements);
  ~MessageType();
  MessageType(const MessageType&) = delete;
  MessageType& operator=(const MessageType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace lodestone::engine
