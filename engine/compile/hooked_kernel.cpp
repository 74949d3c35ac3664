// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/hooked_kernel.hpp"

#include "engine/compile/cost.hpp"
#include "engine/compile/fused_op.hpp"
#include "engine/core/error.hpp"
#include "engine/record/rule_args.hpp"
#include "engine/record/tuple.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace lodestone::engine {
namespace {

using cpu_backend::TileProgramPtr;
using cpu_backend::TileReader;
using cpu_backend::TileWriter;

/// A division of the operands and results of the op.
struct Division {
  std::size_t n_kernel_in, n_before_in;                 ///< operands; others are those of `after`
  std::size_t n_kernel_out, n_before_out, n_after_out;  ///< results
  explicit Division(const HookedAttrs& attrs)
      : n_kernel_in(attrs.kernel.operands.size() - (attrs.hooks.before == nullptr ? 0 : 1)),
        n_before_in(attrs.hooks.before == nullptr ? 0 : attrs.hooks.before->expr().loads.size()),
        n_kernel_out(attrs.kernel.results.size() - (attrs.hooks.keeps ? 0 : 1)),
        n_before_out(attrs.hooks.before == nullptr ? 0 : attrs.hooks.before->expr().stores.size() - 1),
        n_after_out(attrs.hooks.after == nullptr ? 0 : attrs.hooks.after->expr().stores.size()) {}
  [[nodiscard]] std::size_t first_of_after_in() const { return n_kernel_in + n_before_in; }
  [[nodiscard]] std::size_t first_of_after_out() const { return n_kernel_out + n_before_out; }
};

/// Returns the output of `after` in whose place the first result of the kernel stands until it is taken, if
/// there is one that fits.
std::optional<std::size_t> place_of_result(const Hooks& hooks) {
  const std::size_t n = hooks.after->expr().stores.size();
  for (std::size_t i = 0; i < n; ++i) {
    if (hooks.after->writes_over(0, i)) return i;
  }
  return std::nullopt;
}

void add_outputs(std::vector<Aval>& results, const TileProgramPtr& program, std::size_t first,
                 const Device& device) {
  if (program == nullptr) return;
  const Expr& expr = program->expr();
  for (std::size_t i = first; i < expr.stores.size(); ++i)
    results.push_back({expr.stores[i].shape, expr.values[expr.stores[i].value].dtype, device});
}

/// Checks that operands are those that the kernel and the programs were made for.
void check_operands(const InferArgs& args) {
  const auto& all = args.as<HookedAttrs>();
  const auto& [use, hooks] = all;
  const Division of(all);
  const std::size_t n_made = hooks.before == nullptr ? 0 : 1;
  bool fits = args.in.size() >= of.first_of_after_in();
  for (std::size_t i = 0; fits && i < of.n_kernel_in; ++i) fits = args.aval(i) == use.operands[i + n_made];
  const auto check = [&](const TileProgramPtr& program, std::size_t first, std::size_t first_load) {
    if (program == nullptr) return first;
    const Expr& expr = program->expr();
    for (std::size_t i = first_load; i < expr.loads.size(); ++i, ++first)
      fits = fits && first < args.in.size() && args.aval(first).dtype == expr.dtype_of_load(i);
    return first;
  };
  const std::size_t end = check(hooks.after, check(hooks.before, of.n_kernel_in, 0), 1);
  if (!fits || end != args.in.size())
    throw core::InvalidArgument("engine::hooked_kernel#other_operands",
                                "expected the operands of {} and of the programs around it, got others",
                                attr_text(use));
}

std::vector<Aval> results(const InferArgs& args) {
  check_operands(args);
  const auto& [use, hooks] = args.as<HookedAttrs>();
  const Device device = use.results[0].device;
  std::vector<Aval> result(use.results.begin() + (hooks.keeps ? 0 : 1), use.results.end());
  add_outputs(result, hooks.before, 1, device);
  add_outputs(result, hooks.after, 0, device);
  return result;
}

double flops(const InferArgs& args, const Aval&) {
  const auto& [use, hooks] = args.as<HookedAttrs>();
  std::vector<const Aval*> operands;
  for (const Aval& each : use.operands) operands.push_back(&each);
  double sum = flops_of(*use.op, use.attrs.get(), operands, use.results[0], args.where);
  for (const TileProgramPtr& each : {hooks.before, hooks.after})
    sum += each == nullptr ? 0.0 : flops_of(*each);
  return sum;
}

/// One call of the op: of its kernel, with the programs before and behind it. Programs have the first part of
/// the scratch.
class HookedCall {
 public:
  explicit HookedCall(const KernelCall& call);
  HookedCall(const HookedCall&) = delete;
  HookedCall& operator=(const HookedCall&) = delete;

  [[nodiscard]] Workspace workspace() const {
    const Workspace of_kernel = kernel_.workspace == nullptr ? Workspace{} : kernel_.workspace(inner_);
    return {guests_.shared + of_kernel.shared, guests_.per_thread + of_kernel.per_thread};
  }
  void run() const { kernel_.run(inner_); }
  /// Returns what the kernel packs, as an operand of the op.
  [[nodiscard]] Packing packing() const {
    if (kernel_.packing == nullptr) return {};
    auto [operand, bytes] = kernel_.packing(inner_);
    const std::size_t n_made = hooks_.before == nullptr ? 0 : 1;
    return operand < n_made ? Packing{} : Packing{operand - n_made, bytes};
  }
  void pack(std::byte* to) const { kernel_.pack(inner_, to); }

 private:
  static constexpr std::size_t most_operands = 24, most_results = 12;
  [[nodiscard]] View operand_made() const { return {nullptr, &use_.operands[0], &made_strides_}; }
  void place_operands(const KernelCall& call);
  void place_results(const KernelCall& call);
  [[nodiscard]] KernelCall part(const KernelCall& call, std::span<const View> in,
                                std::span<const View> out) const {
    return {*use_.op, use_.attrs.get(), in, out, call.scratch, call.where};
  }

  const KernelUse& use_;
  const Hooks& hooks_;
  const Kernel& kernel_;
  const Division division_;
  const Strides made_strides_, result_strides_;
  Strides taken_strides_;
  Workspace guests_;
  std::array<View, most_operands> in_{}, after_in_{};
  std::array<View, most_results> out_{}, before_out_{};
  KernelCall before_, after_, inner_;
  std::optional<TileReader> reader_;
  std::optional<TileWriter> writer_;
};

HookedCall::HookedCall(const KernelCall& call)
    : use_(call.attrs_of<HookedAttrs>().kernel),
      hooks_(call.attrs_of<HookedAttrs>().hooks),
      kernel_(kernel_of(use_)),
      division_(call.attrs_of<HookedAttrs>()),
      made_strides_(contiguous_strides(use_.operands[0].shape)),
      result_strides_(contiguous_strides(use_.results[0].shape)),
      before_(part(call, call.in.subspan(division_.n_kernel_in, division_.n_before_in),
                   std::span(before_out_).first(division_.n_before_out + 1))),
      after_(part(call, std::span(after_in_).first(call.in.size() - division_.first_of_after_in() + 1),
                  call.out.subspan(division_.first_of_after_out()))),
      inner_(part(call, std::span(in_).first(use_.operands.size()),
                  std::span(out_).first(use_.results.size()))) {
  place_results(call);
  place_operands(call);
  if (hooks_.before != nullptr) {
    reader_.emplace(*hooks_.before, before_, guests_.per_thread);
    guests_.per_thread += Scratch::aligned(reader_->bytes());
    inner_.reader = &*reader_;
  }
  if (hooks_.after != nullptr) {
    writer_.emplace(*hooks_.after, after_, guests_.per_thread);
    guests_.per_thread += Scratch::aligned(writer_->bytes());
    inner_.writer = &*writer_;
  }
  inner_.scratch = call.scratch.behind(guests_);
  inner_.packed = call.packed;
}

/// Says where the kernel writes, and `before` what others need of it.
void HookedCall::place_results(const KernelCall& call) {
  View& first = out_[0];
  if (hooks_.keeps) {
    first = call.out[0];
  } else {
    first = {nullptr, &use_.results[0], &result_strides_};
    if (const auto output = place_of_result(hooks_)) {
      first.data = after_.out[*output].data;
    } else {
      guests_.shared = Scratch::aligned(use_.results[0].bytes());
      first.data = call.scratch.shared();
    }
  }
  const std::size_t n_kept = hooks_.keeps ? 1 : 0;
  std::copy_n(call.out.begin() + static_cast<std::ptrdiff_t>(n_kept), use_.results.size() - 1,
              out_.begin() + 1);
  before_out_[0] = operand_made();
  std::copy_n(call.out.begin() + static_cast<std::ptrdiff_t>(division_.n_kernel_out), division_.n_before_out,
              before_out_.begin() + 1);
}

void HookedCall::place_operands(const KernelCall& call) {
  const bool is_made = hooks_.before != nullptr;
  if (is_made) in_[0] = operand_made();
  std::copy_n(call.in.begin(), division_.n_kernel_in, in_.begin() + (is_made ? 1 : 0));
  if (hooks_.after != nullptr) {  // which may see it in another shape
    taken_strides_ = contiguous_strides(hooks_.after->expr().loads[0].shape);
    after_in_[0] = {out_[0].data, out_[0].aval, &taken_strides_};
  }
  std::copy(call.in.begin() + static_cast<std::ptrdiff_t>(division_.first_of_after_in()), call.in.end(),
            after_in_.begin() + 1);
}

Workspace workspace(const KernelCall& call) { return HookedCall(call).workspace(); }
void run(const KernelCall& call) { HookedCall(call).run(); }
Packing packing(const KernelCall& call) { return HookedCall(call).packing(); }
void pack(const KernelCall& call, std::byte* to) { HookedCall(call).pack(to); }

/// Returns whether a result may stand in the place of an operand: what the kernel reads may be written over
/// where it says so of its first result, which is finished piece by piece; what a program reads, by its own
/// outputs. Where the result of the kernel stands until it is taken, operands of `after` must not.
bool writes_over(const Attrs* attrs, std::size_t operand, std::size_t output) {
  const HookedAttrs& all = attrs_as<HookedAttrs>(*attrs);
  const auto& [use, hooks] = all;
  const Division of(all);
  if (operand < of.n_kernel_in) {
    if (hooks.before != nullptr || (output >= of.n_kernel_out && output < of.first_of_after_out()))
      return false;
    const std::size_t of_kernel = output >= of.n_kernel_out ? 0 : output + (hooks.keeps ? 0 : 1);
    return kernel_of(use).may_write_over(use.attrs.get(), operand, of_kernel);
  }
  if (operand < of.first_of_after_in()) {
    return output >= of.n_kernel_out && output < of.first_of_after_out() &&
           hooks.before->writes_over(operand - of.n_kernel_in, output - of.n_kernel_out + 1);
  }
  if (output < of.first_of_after_out()) return false;
  const std::size_t load = operand - of.first_of_after_in() + 1, store = output - of.first_of_after_out();
  const bool is_place = !hooks.keeps && place_of_result(hooks) == store;
  return !is_place && hooks.after->writes_over(load, store);
}

/// Operands of programs are read as they lie.
bool is_copied(const Attrs* attrs, std::size_t operand) {
  const HookedAttrs& all = attrs_as<HookedAttrs>(*attrs);
  const std::size_t of_kernel = operand + (all.hooks.before == nullptr ? 0 : 1);
  return operand < Division(all).n_kernel_in &&
         kernel_of(all.kernel).wants_dense(all.kernel.attrs.get(), of_kernel);
}

/// Returns the op whose kernel runs, with the number of ops beside it: "conv with 2 ops".
std::string title(const Attrs& attrs) {
  const auto& [use, hooks] = attrs_as<HookedAttrs>(attrs);
  std::size_t n = 0;
  for (const TileProgramPtr& each : {hooks.before, hooks.after})
    n += each == nullptr ? 0 : each->expr().codes.size() + each->expr().reduces.size();
  return fmt::format("{} with {} op{}", use.op->name, n, n == 1 ? "" : "s");
}

OpInfo row() {
  OpInfo row;
  row.name = "hooked_kernel";
  row.formula = "an op with the elementwise ops that make its operand or take its result, in one pass";
  row.n_inputs = -1;
  row.dtypes = any_stored;
  row.infer = [](const InferArgs& args) { return tuple_aval(args.aval(0).device); };
  row.results = results;
  row.flops = flops;
  row.title = title;
  row.derivative.why_none = "it is made of ops whose derivatives are taken before";
  row.op_class = OpClass::product;
  const Kernel kernel{.name = "cpu.hooked",
                      .run = run,
                      .writes_over = writes_over,
                      .is_copied = is_copied,
                      .workspace = workspace,
                      .packing = packing,
                      .pack = pack};
  for (int i = 0; i < core::n_dtypes; ++i) row.with_kernel(Backend::processor, static_cast<DType>(i), kernel);
  return row;
}

std::string text_of(const TileProgramPtr& program) { return program == nullptr ? "" : attr_text(program); }
bool are_equal(const AttrsPtr& a, const AttrsPtr& b) { return !a || !b ? a == b : a->equals(*b); }
bool are_equal(const TileProgramPtr& a, const TileProgramPtr& b) {
  return a == nullptr || b == nullptr ? a == b : attr_equals(a, b);
}

bool are_on_line(std::vector<Aval>& arrays, const std::vector<Aval>& of_second, const Line& line) {
  bool fits = arrays.size() == of_second.size();
  for (std::size_t i = 0; fits && i < arrays.size(); ++i)
    fits = put_on_line(arrays[i].shape, of_second[i].shape, line);
  return fits;
}
bool are_on_line(TileProgramPtr& program, const TileProgramPtr& of_second, const Line& line) {
  if (program == nullptr || of_second == nullptr) return program == of_second;
  return put_on_line(program, of_second, line);
}

}  // namespace

std::string attr_text(const KernelUse& value) {
  std::string operands;
  for (const Aval& each : value.operands) operands += (operands.empty() ? "" : ", ") + each.text();
  return fmt::format("{} of {} by {}", value.op->name, operands,
                     value.attrs ? value.attrs->text() : "nothing");
}

std::uint64_t attr_hash(const KernelUse& value) {
  std::uint64_t hash = detail::attr_hash(value.op->name);
  if (value.attrs) hash = detail::mixed(hash, value.attrs->hash());
  for (const Aval& each : value.operands) hash = detail::mixed(hash, detail::attr_hash(each.shape));
  return hash;
}

bool attr_equals(const KernelUse& a, const KernelUse& b) {
  return a.op == b.op && are_equal(a.attrs, b.attrs) && a.operands == b.operands && a.results == b.results;
}

bool put_on_line(KernelUse& use, const KernelUse& of_second, const Line& line) {
  if (use.op != of_second.op || !use.attrs != !of_second.attrs) return false;
  if (use.attrs) use.attrs = use.attrs->on_line(*of_second.attrs, line);
  return !use.attrs == !of_second.attrs && are_on_line(use.operands, of_second.operands, line) &&
         are_on_line(use.results, of_second.results, line);
}

std::string attr_text(const Hooks& value) {
  return fmt::format("before: {{{}}}, after: {{{}}}{}", text_of(value.before), text_of(value.after),
                     value.keeps ? ", kept" : "");
}

std::uint64_t attr_hash(const Hooks& value) {
  std::uint64_t hash = value.keeps ? 1 : 0;
  for (const TileProgramPtr& each : {value.before, value.after})
    hash = detail::mixed(hash, each == nullptr ? 0 : attr_hash(each));
  return hash;
}

bool attr_equals(const Hooks& a, const Hooks& b) {
  return a.keeps == b.keeps && are_equal(a.before, b.before) && are_equal(a.after, b.after);
}

bool put_on_line(Hooks& hooks, const Hooks& of_second, const Line& line) {
  return hooks.keeps == of_second.keeps && are_on_line(hooks.before, of_second.before, line) &&
         are_on_line(hooks.after, of_second.after, line);
}

const OpInfo& hooked_kernel_op() {
  static const OpInfo made = row();
  return made;
}

bool can_reduce_what_is_made(const OpInfo& op, const Aval& operand) {
  return op.op_class == OpClass::reduction && operand.kind == Kind::array && operand.count() > 0 &&
         operand.device.kind == Device::Kind::cpu && op.kernel(operand.device, operand.dtype).reads_once;
}

}  // namespace lodestone::engine
