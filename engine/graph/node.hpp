// SPDX-License-Identifier: Apache-2.0
// Inside of the engine: users hold `Tensor`s.
#pragma once

#include "engine/graph/attrs.hpp"
#include "engine/graph/aval.hpp"
#include "engine/graph/look.hpp"
#include "engine/graph/value.hpp"
#include "engine/memory/buffer.hpp"

#include <atomic>
#include <memory>
#include <source_location>
#include <span>
#include <string>

namespace lodestone::engine {

struct OpInfo;
class Node;
/// Deletes a node, then what only it held, one after the other: a chain of any length takes no stack.
void destroy(Node* node) noexcept;
using NodePtr = Shared<Node>;

/// The inputs of a node; three without an allocation.
class InputList {
 public:
  InputList() = default;
  explicit InputList(std::size_t size) : size_(size) {
    if (size > few) many_ = std::make_unique<NodePtr[]>(size);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] NodePtr& operator[](std::size_t i) { return begin()[i]; }
  [[nodiscard]] const NodePtr& operator[](std::size_t i) const { return begin()[i]; }
  [[nodiscard]] NodePtr* begin() { return size_ > few ? many_.get() : few_.data(); }
  [[nodiscard]] const NodePtr* begin() const { return size_ > few ? many_.get() : few_.data(); }
  [[nodiscard]] NodePtr* end() { return begin() + size_; }
  [[nodiscard]] const NodePtr* end() const { return begin() + size_; }
  void clear() {
    for (NodePtr& input : *this) input = NodePtr();
    many_.reset();
    size_ = 0;
  }

 private:
  static constexpr std::size_t few = 3;
  std::size_t size_ = 0;
  std::array<NodePtr, few> few_;
  std::unique_ptr<NodePtr[]> many_;
};

/// A tensor before and after its evaluation: first the recorded op, then the elements.
class Node final : public Counted {
 public:
  const OpInfo* op = nullptr;  ///< null: a value from outside
  InputList inputs;
  AttrsPtr attrs;
  Aval aval;
  std::source_location where;
  std::uint32_t thread = 0;    ///< that recorded it
  bool is_abstract = false;    ///< depends on a placeholder, so it never gets a value
  bool is_followed = false;    ///< depends on an argument of a transform that is or was under way
  bool is_zero = false;        ///< known to be zeros, which derivatives need not add
  std::uint8_t level = 0;      ///< depth of graphs that run inside nodes, when it was recorded
  std::uint64_t sequence = 0;  ///< counts what its thread records, from 1 on; 0: a value from outside
  std::uint64_t visit = 0;     ///< last traversal that came by, see `next_visit`
  BufferPtr buffer;            ///< set by the evaluation
  Look look;                   ///< at the buffer
  OpaquePtr object;            ///< the value where it is not an array
  SetOnce<Node> row_major;     ///< a copy without gaps, from when elements with gaps were first read
  mutable std::atomic<std::uint64_t> identity{0};  ///< see `identity_of`
  Node* next = nullptr;                            ///< next in the list of nodes that wait for deletion

  [[nodiscard]] bool is_evaluated() const { return buffer || (object && object->is_evaluated()); }
  [[nodiscard]] std::byte* data() const {
    return buffer->data() + look.offset * static_cast<std::int64_t>(core::size_of(aval.dtype));
  }
  [[nodiscard]] bool is_contiguous() const { return look.is_contiguous(aval.shape); }

  // Nodes come and go with every op: a free list per thread instead of the general allocator.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* block) noexcept;
};

/// Returns the first of `n` numbers in a row with which no node has been visited in this thread.
[[nodiscard]] std::uint64_t next_visit(std::uint64_t n = 1);
/// Returns a number that this node alone has or ever had: of equal numbers the elements are the same.
[[nodiscard]] std::uint64_t identity_of(const Node& node);
/// Returns "(file.cpp:12)", for the end of a message.
[[nodiscard]] std::string at_line(const std::source_location& where);

/// Returns the number of the calling thread; each pending node belongs to one thread.
[[nodiscard]] std::uint32_t thread_number();

}  // namespace lodestone::engine
