// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/schedule.hpp"

#include "engine/core/error.hpp"

#include <algorithm>

namespace lodestone::engine {
namespace {

using Number = std::uint32_t;  // of an instruction; a unit has that of its first one

class Scheduling {
 public:
  Scheduling(const Program& program, const std::vector<Number>& unit_of, const std::vector<ValueId>& same_as);
  [[nodiscard]] std::vector<std::vector<Number>> run();

 private:
  enum class State : std::uint8_t { unneeded, needed, open, placed };
  struct Open {
    Number unit;
    std::size_t next = 0;  ///< number among those that it needs
  };
  void find_needed();
  void need(ValueId id);
  void place(Number unit);

  const Program& program_;
  const std::vector<Number>& unit_of_;
  std::vector<std::vector<Number>> members_, needs_;  // by unit
  std::vector<State> states_;
  std::vector<Number> order_, open_;
};

Scheduling::Scheduling(const Program& program, const std::vector<Number>& unit_of,
                       const std::vector<ValueId>& same_as)
    : program_(program),
      unit_of_(unit_of),
      members_(unit_of.size()),
      needs_(unit_of.size()),
      states_(unit_of.size(), State::unneeded) {
  for (Number i = 0; i < unit_of.size(); ++i) {
    members_[unit_of[i]].push_back(i);
    for (const ValueId id : program.operands(program.instructions()[i])) {
      const Value &value = program.values()[id], &same = program.values()[same_as[id]];
      const bool is_own = same.from == Value::From::result && unit_of[same.of] == unit_of[i];
      if (value.from == Value::From::result && !is_own) needs_[unit_of[i]].push_back(unit_of[value.of]);
    }
  }
}

void Scheduling::need(ValueId id) {
  const Value& value = program_.values()[id];
  if (value.from == Value::From::result) open_.push_back(unit_of_[value.of]);
}

void Scheduling::find_needed() {
  for (const ValueId id : program_.outputs()) need(id);
  for (Number i = 0; i < unit_of_.size(); ++i) {
    if (program_.instructions()[i].is_effect) open_.push_back(unit_of_[i]);
  }
  while (!open_.empty()) {
    const Number unit = open_.back();
    open_.pop_back();
    if (states_[unit] != State::unneeded) continue;
    states_[unit] = State::needed;
    open_.insert(open_.end(), needs_[unit].begin(), needs_[unit].end());
  }
}

/// Places a unit behind those that it needs.
void Scheduling::place(Number first) {
  std::vector<Open> path{{first}};
  while (!path.empty()) {
    states_[path.back().unit] = State::open;
    Open& at = path.back();
    const std::vector<Number>& needs = needs_[at.unit];
    while (at.next < needs.size() && states_[needs[at.next]] == State::placed) ++at.next;
    if (at.next < needs.size()) {
      if (states_[needs[at.next]] == State::open)
        throw core::InvalidArgument(
            "engine::scheduled#cycle",
            "expected groups of instructions of which none needs itself, but those of "
            "instructions {} and {} do; group less",
            at.unit, needs[at.next]);
      path.push_back({needs[at.next]});
      continue;
    }
    states_[at.unit] = State::placed;
    order_.push_back(at.unit);
    path.pop_back();
  }
}

std::vector<std::vector<Number>> Scheduling::run() {
  find_needed();
  for (Number i = 0; i < unit_of_.size(); ++i) {
    const Number unit = unit_of_[i];
    if (members_[unit].back() == i && states_[unit] == State::needed) place(unit);
  }
  std::vector<std::vector<Number>> result;
  for (const Number unit : order_) result.push_back(std::move(members_[unit]));
  return result;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> scheduled(const Program& program,
                                                  const std::vector<std::uint32_t>& unit_of,
                                                  const std::vector<ValueId>& same_as) {
  return Scheduling(program, unit_of, same_as).run();
}

}  // namespace lodestone::engine
