// SPDX-License-Identifier: Apache-2.0
// Small on purpose: whoever keeps such state tells, whoever keeps recorded functions asks.
// State of the program beside tensors that decides which ops a function records, such as the mode of a
// module.
#pragma once

#include <functional>
#include <vector>

namespace lodestone::engine {

/// A choice of the host that a function met while it was recorded.
struct HostChoice {
  const void* id;            ///< tells choices apart
  std::function<int()> now;  ///< gives it as it is
  int then;                  ///< as it was when the function met it
};

/// While one lives, this thread records a function that will run often: what the function asks or changes of
/// such state is noted as it was before. A scope around it learns the same when it ends.
class HostStateScope {
 public:
  HostStateScope();
  ~HostStateScope();
  HostStateScope(const HostStateScope&) = delete;
  HostStateScope& operator=(const HostStateScope&) = delete;
  /// Notes a choice that is about to be asked or changed, where a scope lives that does not know it yet.
  /// `now` is kept with the recorded function: it must hold what it uses.
  template <class F>
  static void note(const void* id, const F& now) {
    if (HostStateScope* scope = innermost(); scope != nullptr && !scope->knows(id)) scope->add(id, now);
  }

  [[nodiscard]] const std::vector<HostChoice>& choices() const { return choices_; }

 private:
  [[nodiscard]] static HostStateScope* innermost();
  [[nodiscard]] bool knows(const void* id) const;
  void add(const void* id, std::function<int()> now);
  HostStateScope* outer_;
  std::vector<HostChoice> choices_;
};

}  // namespace lodestone::engine
