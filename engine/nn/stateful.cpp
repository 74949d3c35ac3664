// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/stateful.hpp"

#include "engine/core/error.hpp"
#include "engine/nn/members.hpp"

#include <algorithm>
#include <set>

namespace lodestone::engine {
namespace {

/// "a, b, c and 5 more".
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 12;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), most));
  std::string text = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
  return text;
}

}  // namespace

Stateful::Stateful() : members_(std::make_shared<Members>()) {}

/// visit(prefix of the name, variable) for each cell once.
template <class Visit>
void Stateful::for_each(const Visit& visit) const {
  std::set<const void*> seen;
  const auto descend = [&](const auto& self, const Members& members, const std::string& prefix) -> void {
    for (const Variable& each : members.variables) {
      if (seen.insert(each.id()).second) visit(prefix, each);
    }
    for (const auto& [name, part] : members.parts) self(self, *part, fmt::format("{}{}.", prefix, name));
  };
  descend(descend, *members_, "");
}

std::vector<NamedVariable> Stateful::variables() const {
  std::vector<NamedVariable> result;
  for_each([&](const std::string& prefix, const Variable& each) {
    result.push_back({prefix + each.name(), each});
  });
  return result;
}

Variables Stateful::cells() const {
  Variables result;
  for_each([&](const std::string&, const Variable& each) { result.push_back(each); });
  return result;
}

Variables Stateful::parameters() const {
  Variables result;
  for_each([&](const std::string&, const Variable& each) {
    if (each.role() == Variable::Role::parameter) result.push_back(each);
  });
  return result;
}

NamedTensors Stateful::state() const {
  NamedTensors result;
  for (const NamedVariable& each : variables()) result.emplace(each.name, each.variable.value());
  return result;
}

void Stateful::load_state(const NamedTensors& state) const {
  std::vector<std::string> missing, unexpected, different;
  std::set<std::string, std::less<>> known;
  for (const auto& [name, variable] : variables()) {
    known.insert(name);
    const auto found = state.find(name);
    if (found == state.end()) {
      missing.push_back(name);
    } else if (!(found->second.aval() == variable.aval())) {
      different.push_back(
          fmt::format("{} (expected {}, got {})", name, variable.aval().text(), found->second.aval().text()));
    }
  }
  for (const auto& [name, tensor] : state) {
    if (!known.contains(name)) unexpected.push_back(name);
  }
  std::string problems;
  const auto report = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty())
      problems += fmt::format("{}{}: {}", problems.empty() ? "" : "; ", what, listed(names));
  };
  report("missing", missing);
  report("unexpected", unexpected);
  report("of another shape or dtype", different);
  if (!problems.empty()) {
    throw core::InvalidArgument(
        "engine::load_state#state_of_another_network",
        "expected the state of the same network ({} tensors), got one of {} that differs: {}", known.size(),
        state.size(), problems);
  }
  for (const auto& [name, variable] : variables()) variable.assign(state.find(name)->second);
}

Variable Stateful::add(Variable variable) const {
  const auto is_taken = [&](const Variable& other) { return other.name() == variable.name(); };
  if (variable.name().empty() || std::ranges::any_of(members_->variables, is_taken))
    throw core::InvalidArgument("engine::Stateful#variable_exists",
                                "expected a new name for a variable, got \"{}\"", variable.name());
  return members_->variables.emplace_back(std::move(variable));
}

Variable Stateful::add_parameter(std::string name, Tensor value) const {
  return add(Variable(std::move(name), std::move(value)));
}

Variable Stateful::add_state(std::string name, Tensor value) const {
  return add(Variable(std::move(name), std::move(value), Variable::Role::state));
}

void Stateful::add_part(const std::string& name, const Stateful& part) const {
  const auto is_taken = [&](const auto& other) { return other.first == name; };
  if (name.empty() || std::ranges::any_of(members_->parts, is_taken))
    throw core::InvalidArgument("engine::Stateful#part_exists", "expected a new name for a part, got \"{}\"",
                                name);
  members_->parts.emplace_back(name, part.members_);
}

}  // namespace lodestone::engine
