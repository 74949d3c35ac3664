// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/op_table.hpp"

#include "engine/core/error.hpp"
#include "engine/core/options.hpp"

namespace lodestone::engine {

OpInfo& OpInfo::with_kernel(Backend backend, DType dtype, Kernel kernel) {
  kernels[static_cast<std::size_t>(backend)][static_cast<std::size_t>(dtype)] = kernel;
  return *this;
}

OpInfo& OpTable::add(OpInfo row) {
  if (by_name_.contains(row.name))
    throw core::InvalidArgument("engine::OpTable#op_exists", "expected a new op, \"{}\" is in the table",
                                row.name);
  if (!row.infer)
    throw core::InvalidArgument("engine::OpTable#no_shape_rule",
                                "expected a shape rule of \"{}\", but its row leaves it empty", row.name);
  if (!row.derivative.exists() && row.derivative.why_none.empty())
    throw core::InvalidArgument("engine::OpTable#no_derivative",
                                "expected a derivative of \"{}\" or why there is none", row.name);
  if (row.derivative.vjp && row.derivative.pull_back)
    throw core::InvalidArgument("engine::OpTable#two_reverse_rules",
                                "expected vjp or pull_back in the derivative of \"{}\", got both", row.name);
  OpInfo& added = rows_.emplace_back(std::move(row));
  by_name_.emplace(added.name, &added);
  return added;
}

OpInfo& OpTable::at(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [each, row] : by_name_) known.push_back(each);
  const auto nearest = core::nearest_word(name, known);
  throw core::InvalidArgument("engine::OpTable#unknown_op", "no op \"{}\"{}", name,
                              nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : "");
}

}  // namespace lodestone::engine
