// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <utility>
#include <vector>

namespace lodestone::engine {
namespace {

/// Tensors with static lifetime free their nodes after the list of the main thread is gone; a plain flag
/// outlives it.
thread_local bool list_is_gone = false;

/// Blocks of the size of a node that this thread has freed.
struct FreeNodes {
  std::vector<void*> blocks;
  ~FreeNodes() {
    for (void* block : blocks) ::operator delete(block);
    list_is_gone = true;
  }
};
thread_local FreeNodes free_nodes;
constexpr std::size_t most_kept = 8192;

thread_local Node* to_delete = nullptr;  // the first of a list
thread_local bool deleting = false;

}  // namespace

void* Node::operator new(std::size_t bytes) {
  if (list_is_gone) return ::operator new(bytes);
  auto& blocks = free_nodes.blocks;
  if (blocks.empty()) return ::operator new(bytes);
  void* block = blocks.back();
  blocks.pop_back();
  return block;
}

void Node::operator delete(void* block) noexcept {
  if (list_is_gone) return ::operator delete(block);
  auto& blocks = free_nodes.blocks;
  if (blocks.size() >= most_kept) return ::operator delete(block);
  if (blocks.capacity() == 0) blocks.reserve(most_kept);
  blocks.push_back(block);
}

void destroy(Node* node) noexcept {
  node->next = std::exchange(to_delete, node);
  if (deleting) return;  // its last owner is being deleted further up
  deleting = true;
  while (to_delete != nullptr) {
    Node* first = to_delete;
    to_delete = first->next;
    delete first;
  }
  deleting = false;
}

std::uint64_t next_visit(std::uint64_t n) {
  constexpr std::uint64_t many =
      1 << 20;  // that a thread takes at once: an atomic addition per graph is felt
  static std::atomic<std::uint64_t> taken{0};
  thread_local std::uint64_t next = 0, end = 0;
  if (end - next < n) {
    const std::uint64_t more = std::max(many, n);
    next = taken.fetch_add(more, std::memory_order_relaxed) + 1;
    end = next + more;
  }
  return std::exchange(next, next + n);
}

std::uint64_t identity_of(const Node& node) {
  static std::atomic<std::uint64_t> last{0};
  std::uint64_t known = node.identity.load(std::memory_order_relaxed);
  if (known != 0) return known;
  const std::uint64_t next = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return node.identity.compare_exchange_strong(known, next, std::memory_order_relaxed) ? next : known;
}

std::string at_line(const std::source_location& where) {
  return fmt::format("({}:{})", std::filesystem::path(where.file_name()).filename().string(), where.line());
}

std::uint32_t thread_number() {
  static std::atomic<std::uint32_t> last{0};
  thread_local const std::uint32_t mine = last.fetch_add(1, std::memory_order_relaxed) + 1;
  return mine;
}

}  // namespace lodestone::engine
