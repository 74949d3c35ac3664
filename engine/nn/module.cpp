// SPDX-License-Identifier: Apache-2.0
#include "engine/nn/module.hpp"

#include "engine/nn/members.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/host_state.hpp"

namespace lodestone::engine {
namespace {

/// Tells whoever records a function that it depends on the mode which a module has now.
template <class Members>
void note_mode(const std::shared_ptr<Members>& members) {
  HostStateScope::note(members.get(), [members] { return static_cast<int>(members->mode); });
}

template <class Members>
void set_mode_of(const std::shared_ptr<Members>& members, Mode mode) {
  note_mode(members);
  members->mode = mode;
}

}  // namespace

Mode Module::mode() const {
  note_mode(members_);
  return members_->mode;
}

void Module::set_mode(Mode mode) const {
  const auto set = [&](const auto& self, const std::shared_ptr<Members>& members) -> void {
    set_mode_of(members, mode);
    for (const auto& [name, part] : members->parts) self(self, part);
  };
  set(set, members_);
}

InMode::InMode(const Module& module, Mode mode) {
  const auto note = [&](const auto& self, const std::shared_ptr<Stateful::Members>& members) -> void {
    before_.emplace_back(members, members->mode);
    for (const auto& [name, part] : members->parts) self(self, part);
  };
  note(note, module.members_);
  module.set_mode(mode);
}

InMode::~InMode() {
  for (const auto& [members, mode] : before_) set_mode_of(members, mode);
}

Sequential::Sequential(std::vector<Layer> layers) : layers_(std::move(layers)) {
  for (std::size_t i = 0; i < layers_.size(); ++i) add(std::to_string(i), layers_[i]);
}

Tensor Sequential::operator()(const Located& x) const {
  Tensor y = x.tensor;
  for (const Layer& layer : layers_) y = layer({y, x.where});
  return y;
}

Residual::Residual(const Layer& inner) : inner_(add("inner", inner)) {}

Residual::Residual(const Layer& inner, const Layer& shortcut)
    : inner_(add("inner", inner)), shortcut_(add("shortcut", shortcut)) {}

Tensor Residual::operator()(const Located& x) const {
  return engine::add({shortcut_ ? (*shortcut_)(x) : x.tensor, x.where}, {inner_(x), x.where});
}

}  // namespace lodestone::engine
