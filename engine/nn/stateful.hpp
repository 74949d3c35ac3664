// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/record/tensor.hpp"
#include "engine/record/variable.hpp"

#include <concepts>

namespace lodestone::engine {

/// Base of everything that has variables and parts with variables: modules, optimizers, callbacks. Copies
/// share all of it.
class Stateful {
 public:
  /// Own variables first, then those of the parts, in the order they were added; a cell that is reached twice
  /// counts where it came first.
  [[nodiscard]] std::vector<NamedVariable> variables() const;
  /// Returns all variables without their names.
  [[nodiscard]] Variables cells() const;
  /// Returns the variables that are parameters, in the same order.
  [[nodiscard]] Variables parameters() const;
  /// Returns all that must be saved to continue from here.
  [[nodiscard]] NamedTensors state() const;
  /// Takes all variables over, or none. errors: InvalidArgument that lists names missing and unexpected, and
  /// shapes and dtypes that differ.
  void load_state(const NamedTensors& state) const;

 protected:
  Stateful();
  /// Adds a variable and returns it. errors: InvalidArgument for a name that is taken or empty.
  Variable add(Variable variable) const;
  Variable add_parameter(std::string name, Tensor value) const;
  Variable add_state(std::string name, Tensor value) const;
  /// Puts a part's variables under `name`, and hands the part back. errors: as `add`.
  template <std::derived_from<Stateful> Part>
  Part add(const std::string& name, Part part) const {
    add_part(name, part);
    return part;
  }
  void add_part(const std::string& name, const Stateful& part) const;

 private:
  friend class Module;
  friend class InMode;
  struct Members;
  template <class Visit>
  void for_each(const Visit& visit) const;
  std::shared_ptr<Members> members_;
};

}  // namespace lodestone::engine
