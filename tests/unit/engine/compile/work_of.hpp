// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compile/number_of.hpp"
#include "engine/core/parallel.hpp"
#include "engine/graph/op_info.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <ostream>

namespace lodestone::tests {

/// Sets a number of threads for a while.
class Threads {
 public:
  explicit Threads(int n) : before_(core::threads()) { core::set_threads(n); }
  ~Threads() { core::set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// Launches of a plan on level 1, and the bytes that they read and write. An operand counts once for
/// each of its elements, however often a broadcast repeats it.
struct Work {
  std::int64_t n_launches = 0;
  std::size_t bytes = 0;
  friend bool operator==(const Work&, const Work&) = default;
};
inline std::ostream& operator<<(std::ostream& out, const Work& work) {
  return out << work.n_launches << " launches, " << work.bytes << " bytes";
}

inline Work work_of(const engine::Plan& plan) {
  const engine::Program& program = plan.running();
  Work work{plan.n_launches(), 0};
  const auto bytes_of = [&](engine::ValueId id) {
    if (engine::number_of(program, id)) return core::size_of(program.values()[id].aval.dtype);
    while (program.values()[id].from == engine::Value::From::result) {
      const engine::Instruction& each = program.instructions()[program.values()[id].of];
      if (each.op->view == nullptr) break;
      id = program.operands(each)[0];
    }
    return program.values()[id].aval.bytes();
  };
  for (const engine::Instruction& each : program.instructions()) {
    if (each.op->view != nullptr || each.op->run) continue;
    for (const engine::ValueId id : program.operands(each)) work.bytes += bytes_of(id);
    for (std::uint32_t i = 0; i < each.n_results; ++i)
      work.bytes += program.values()[each.first_result + i].aval.bytes();
  }
  return work;
}

inline Work work_of(const engine::Function& f, const engine::Tensors& inputs) {
  const auto plan = plan_of(f, inputs, engine::Level::O1);
  CHECK(same_bits(plan->run(inputs), f(inputs)));
  return work_of(*plan);
}

}  // namespace lodestone::tests
