// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/op_table.hpp"

#include "engine/backend/register.hpp"
#include "engine/core/error.hpp"
#include "engine/core/options.hpp"
#include "engine/dispatch/executor.hpp"
#include "engine/graph/dtypes.hpp"
#include "engine/ops/register.hpp"
#include "engine/record/tuple.hpp"

#include <filesystem>

namespace lodestone::engine {
namespace {

thread_local int reference_only_depth = 0;

void register_own(OpTable& table) {
  register_elementwise(table);
  register_reductions(table);
  register_movement(table);
  register_products(table);
  register_convolutions(table);
  register_pooling(table);
  register_normalization(table);
  register_updates(table);
  register_random(table);
  register_indexing(table);
  register_cumulative(table);
  register_softmax(table);
  register_linalg(table);
  register_external(table);
  register_implicit(table);
  register_tuples(table);
  register_calls(table);
  register_custom(table);
  register_control(table);
  register_reference_kernels(table);
  register_cpu_kernels(table);
}

void check_inputs(const OpInfo& op, std::span<const Tensor> inputs, const std::source_location& where) {
  if (op.n_inputs >= 0 && std::ssize(inputs) != op.n_inputs)
    throw core::InvalidArgument(op.name, "expected {} inputs, got {} {}", op.n_inputs, inputs.size(),
                                at_line(where));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_valid())
      throw core::InvalidArgument(op.name, "expected a tensor as input {}, got an empty one {}", i,
                                  at_line(where));
    if (!(inputs[i].device() == inputs[0].device())) {
      throw core::DeviceError(op.name, "expected all inputs on {}, got input {} on {}; copy one of them {}",
                              inputs[0].device().text(), i, inputs[i].device().text(), at_line(where));
    }
    if (inputs[i].aval().kind != Kind::array && !op.run)
      throw core::InvalidArgument(op.name, "expected an array as input {}, got a {} {}", i,
                                  inputs[i].aval().text(), at_line(where));
  }
  if (!inputs.empty() && !op.dtypes.contains(inputs[0].dtype()))
    throw core::InvalidArgument(
        op.name, "expected {}, got {}{} {}", op.dtypes.text(), inputs[0].aval().text(),
        halves.contains(inputs[0].dtype()) ? ", which is stored only; cast it first" : "", at_line(where));
}

NodePtr make_node(const OpInfo* op, std::span<const Tensor> inputs, AttrsPtr attrs, Aval aval,
                  std::source_location where) {
  NodePtr node(new Node);
  node->op = op;
  node->inputs = InputList(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    node->inputs[i] = inputs[i].node_pointer();
    node->is_abstract |= inputs[i].node().is_abstract;
    node->is_followed |= inputs[i].node().is_followed;
  }
  node->attrs = std::move(attrs);
  node->aval = aval;
  node->where = where;
  node->thread = thread_number();
  node->level = graph_level();
  return node;
}

}  // namespace

std::string DTypes::text() const {
  std::vector<std::string_view> names;
  for (int i = 0; i < core::n_dtypes; ++i) {
    if (contains(static_cast<DType>(i))) names.push_back(core::name_of(static_cast<DType>(i)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Tensor RuleArgs::again(std::span<const Tensor> inputs) const { return record(op, inputs, attrs, where); }

const Kernel& OpInfo::kernel(DType dtype) const {
  const auto at = static_cast<std::size_t>(dtype);
  for (int backend = reference_only_depth > 0 ? 0 : n_backends - 1; backend >= 0; --backend) {
    if (const Kernel& found = kernels[static_cast<std::size_t>(backend)][at]; found.run != nullptr)
      return found;
  }
  throw core::InvalidArgument(name, "expected a dtype that has a kernel ({}), got {}", dtypes.text(),
                              core::name_of(dtype));
}

bool OpInfo::has_kernel(const InferArgs& args) const {
  const auto at = static_cast<std::size_t>(args.aval(0).dtype);
  for (std::size_t backend = 0; backend < (reference_only_depth > 0 ? 1 : n_backends); ++backend) {
    if (kernels[backend][at].run != nullptr && (accepts == nullptr || accepts(args))) return true;
  }
  return false;
}

OpInfo& OpInfo::with_kernel(Backend backend, DType dtype, Kernel kernel) {
  kernels[static_cast<std::size_t>(backend)][static_cast<std::size_t>(dtype)] = kernel;
  return *this;
}

ReferenceOnly::ReferenceOnly() { ++reference_only_depth; }
ReferenceOnly::~ReferenceOnly() { --reference_only_depth; }

OpTable& OpTable::global() {
  static OpTable& table = *[] {
    auto* made = new OpTable;  // never destroyed: tensors of static lifetime name their op
    register_own(*made);
    return made;
  }();
  return table;
}

OpInfo& OpTable::add(OpInfo row) {
  if (by_name_.contains(row.name))
    throw core::InvalidArgument("engine::OpTable", "expected a new op, \"{}\" is in the table", row.name);
  if (!row.infer)
    throw core::InvalidArgument("engine::OpTable", "expected a shape rule of \"{}\", got none", row.name);
  if (!row.derivative.exists() && row.derivative.why_none.empty())
    throw core::InvalidArgument("engine::OpTable", "expected a derivative of \"{}\" or why there is none",
                                row.name);
  OpInfo& added = rows_.emplace_back(std::move(row));
  by_name_.emplace(added.name, &added);
  return added;
}

OpInfo& OpTable::at(std::string_view name) {
  if (const auto found = by_name_.find(name); found != by_name_.end()) return *found->second;
  std::vector<std::string> known;
  for (const auto& [each, row] : by_name_) known.push_back(each);
  const auto nearest = core::nearest_word(name, known);
  throw core::InvalidArgument("engine::OpTable", "no op \"{}\"{}", name,
                              nearest ? fmt::format("; did you mean \"{}\"?", *nearest) : "");
}

std::string at_line(const std::source_location& where) {
  return fmt::format("({}:{})", std::filesystem::path(where.file_name()).filename().string(), where.line());
}

namespace {
/// An array whose elements can be counted.
void check_countable(const OpInfo& op, const Aval& aval, const std::source_location& where) {
  std::int64_t bytes = 16;  // of the widest dtype
  for (const Dim dim : aval.shape) {
    if (dim < 0)
      throw core::ShapeError(op.name, "expected extents of 0 or more, got {} {}", aval.shape.text(),
                             at_line(where));
    if (dim != 0 && __builtin_mul_overflow(bytes, dim, &bytes))
      throw core::ShapeError(op.name, "expected an array of fewer than 2^59 elements, got {} {}", aval.text(),
                             at_line(where));
  }
}
}  // namespace

Tensor record(const OpInfo& op, std::span<const Tensor> inputs, AttrsPtr attrs, std::source_location where) {
  check_inputs(op, inputs, where);
  const Aval aval = op.infer({op, inputs, attrs.get(), where});
  check_countable(op, aval, where);
  if (op.decompose && !op.has_kernel({op, inputs, attrs.get(), where}))
    return op.decompose({op, inputs, Tensor(), attrs, where});
  OpaquePtr elements;
  if (op.results)
    elements = OpaquePtr(new TupleValue(aval.device, op.results({op, inputs, attrs.get(), where})));
  Tensor result(make_node(&op, inputs, std::move(attrs), aval, where));
  result.node().object = std::move(elements);
  const bool runs_now = op.runs_when_recorded != nullptr && !result.node().is_abstract &&
                        op.runs_when_recorded(result.node().attrs.get());
  if (runs_now)
    result.eval();
  else
    note_recorded(result);
  return result;
}

Tensor placeholder(const Aval& aval, std::source_location where) {
  NodePtr node = make_node(nullptr, {}, {}, aval, where);
  node->is_abstract = true;
  return Tensor(std::move(node));
}

}  // namespace lodestone::engine
