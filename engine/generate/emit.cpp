// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/emit.hpp"

#include "engine/generate/embedded_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace lodestone::engine {
namespace {

using From = Expr::Value::From;

/// Returns the C++ type of an element, or nothing for those that text does not compute.
std::string_view type_of(DType dtype) {
  switch (dtype) {
    case DType::b8:
      return "bool";
    case DType::i8:
      return "std::int8_t";
    case DType::u8:
      return "std::uint8_t";
    case DType::i32:
      return "std::int32_t";
    case DType::u32:
      return "std::uint32_t";
    case DType::i64:
      return "std::int64_t";
    case DType::u64:
      return "std::uint64_t";
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    default:
      return "";
  }
}

std::span<const ExprId> inputs(const Expr::Code& code) {
  return std::span(code.in).first(static_cast<std::size_t>(code.body->n_inputs));
}

/// Returns whether a function vectorizes for usual arguments only, so that it has a loop of its own.
bool stands_alone(const Expr::Code& code) { return !code.body->usual.text.empty(); }

/// Writes the text of one expression. A value is `v3` in the loop that computes it, `t3[i]` in later ones; an
/// operand is `p3[i]`, or `v3` where all places see one element; an output is `o0[i]`.
class Emitter {
 public:
  Emitter(const Expr& expr, const std::vector<bool>& is_one);
  [[nodiscard]] std::string text();

 private:
  void part_codes();
  void add_functions();
  void add_function(const Expr::Code& code, std::string_view name, std::string_view result,
                    std::string_view body);
  void add_operands();
  void add_row_starts();
  void add_part(std::size_t first, std::size_t end);
  void add_loop(std::size_t first, std::size_t end, std::string_view suffix = "");

  [[nodiscard]] std::string_view type(ExprId id) const { return type_of(expr_.values[id].dtype); }
  [[nodiscard]] bool is_row(ExprId id) const {
    return is_words(id) || (expr_.values[id].from == From::load && !is_one_[expr_.values[id].of]);
  }
  [[nodiscard]] bool is_words(ExprId id) const { return expr_.values[id].from == From::words; }
  [[nodiscard]] std::string argument(ExprId id, std::size_t part) const;
  [[nodiscard]] std::string call(std::size_t code, std::string_view suffix) const;
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
  }

  const Expr& expr_;
  const std::vector<bool>& is_one_;
  std::vector<std::size_t> part_of_;      // by value: the loop that computes it
  std::vector<bool> is_kept_;             // by value: a later loop needs it
  std::vector<std::size_t> function_of_;  // by code
  std::string text_;
};

Emitter::Emitter(const Expr& expr, const std::vector<bool>& is_one)
    : expr_(expr), is_one_(is_one), part_of_(expr.values.size(), 0), is_kept_(expr.values.size(), false) {
  part_codes();
}

/// Divides the codes into loops, so that one unusual element makes no other function slow.
void Emitter::part_codes() {
  std::size_t part = 0;
  for (std::size_t i = 0; i < expr_.codes.size(); ++i) {
    const Expr::Code& code = expr_.codes[i];
    if (i > 0 && (stands_alone(code) || stands_alone(expr_.codes[i - 1]))) ++part;
    part_of_[code.out] = part;
    for (const ExprId in : inputs(code)) {
      if (expr_.values[in].from == From::code && part_of_[in] < part) is_kept_[in] = true;
    }
  }
}

/// Adds a function of a body. Of three inputs the first may have a type of its own.
void Emitter::add_function(const Expr::Code& code, std::string_view name, std::string_view result,
                           std::string_view body) {
  const std::string_view of = type(inputs(code).back());
  const std::string arguments = code.body->n_inputs == 1 ? fmt::format("{} x", of)
                                : code.body->n_inputs == 2
                                    ? fmt::format("{0} a, {0} b", of)
                                    : fmt::format("{1} c, {0} a, {0} b", of, type(inputs(code).front()));
  add("[[gnu::always_inline]] static inline {} {}({}) {{\n", result, name, arguments);
  add("  using T = {};\n  using To = {};\n  return {};\n}}\n", of, type(code.out), body);
}

/// Adds the functions of all bodies, each once for the same types.
void Emitter::add_functions() {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, std::size_t> known;
  for (const Expr::Code& code : expr_.codes) {
    const auto& [test, usual] = code.body->usual;
    const auto [at, is_new] =
        known.try_emplace({code.body->text, type(inputs(code).back()), type(code.out)}, known.size());
    function_of_.push_back(at->second);
    if (!is_new) continue;
    const std::string name = fmt::format("f{}", at->second);
    add_function(code, name, type(code.out), code.body->text);
    if (usual.empty()) continue;
    add_function(code, name + "_is_usual", "bool", test);
    add_function(code, name + "_usual", type(code.out), usual);
  }
}

/// Adds what does not change from element to element.
void Emitter::add_operands() {
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    const auto& [from, dtype, of, per_row] = expr_.values[id];
    if (from == From::code || is_row(id)) continue;
    const std::size_t place = from == From::load ? of : expr_.loads.size() + of;
    add("  const {0} v{1} = *reinterpret_cast<const {0}*>(in[{2}].data);\n", type(id), id, place);
  }
}

/// Adds where the rows of operands and outputs begin, and room for what several loops need.
void Emitter::add_row_starts() {
  const auto add_start = [&](std::string_view of, const std::string& name, const std::string& place) {
    add("    {0}* const {1} = reinterpret_cast<{0}*>({2}.data + first * {2}.bytes_per_row) + row;\n", of,
        name, place);
  };
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    const std::size_t first = is_words(id) ? expr_.loads.size() + expr_.numbers.size() : 0;
    if (is_row(id))
      add_start(fmt::format("const {}", type(id)), fmt::format("p{}", id),
                fmt::format("in[{}]", first + expr_.values[id].of));
  }
  for (std::size_t i = 0; i < expr_.stores.size(); ++i)
    add_start(type(expr_.stores[i].value), fmt::format("o{}", i), fmt::format("out[{}]", i));
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    if (is_kept_[id]) add("    {} t{}[longest];\n", type(id), id);
  }
}

std::string Emitter::argument(ExprId id, std::size_t part) const {
  if (is_row(id)) return fmt::format("p{}[i]", id);
  const bool is_before = expr_.values[id].from == From::code && part_of_[id] < part;
  return is_before ? fmt::format("t{}[i]", id) : fmt::format("v{}", id);
}

/// Returns a call of the function of a code; the suffix says which of them.
std::string Emitter::call(std::size_t code, std::string_view suffix) const {
  std::string result = fmt::format("f{}{}(", function_of_[code], suffix);
  const Expr::Code& each = expr_.codes[code];
  for (const ExprId in : inputs(each)) {
    if (result.back() != '(') result += ", ";
    result += argument(in, part_of_[each.out]);
  }
  return result + ")";
}

/// Adds a loop over these codes.
void Emitter::add_loop(std::size_t first, std::size_t end, std::string_view suffix) {
  add("    LODESTONE_LOOP\n    for (std::int64_t i = 0; i < n_here; ++i) {{\n");
  for (std::size_t code = first; code < end; ++code) {
    const ExprId id = expr_.codes[code].out;
    add("      const {} v{} = {};\n", type(id), id, call(code, suffix));
    if (is_kept_[id]) add("      t{0}[i] = v{0};\n", id);
    for (std::size_t i = 0; i < expr_.stores.size(); ++i) {
      if (expr_.stores[i].value == id) add("      o{}[i] = v{};\n", i, id);
    }
  }
  add("    }}\n");
}

void Emitter::add_part(std::size_t first, std::size_t end) {
  if (!stands_alone(expr_.codes[first])) return add_loop(first, end);
  const std::string count = fmt::format("n_unusual_{}", first);
  add("    int {} = 0;\n    LODESTONE_LOOP\n", count);
  add("    for (std::int64_t i = 0; i < n_here; ++i) {} += {} ? 0 : 1;\n", count, call(first, "_is_usual"));
  add("    if ({} == 0) {{\n", count);
  add_loop(first, end, "_usual");
  add("    }} else {{\n");
  add_loop(first, end);
  add("    }}\n");
}

std::string Emitter::text() {
  constexpr int longest_row = 256;
  add("namespace lodestone::engine::scalar {{\n\n");
  add_functions();
  add("\nextern \"C\" LODESTONE_KERNEL void {}(std::int64_t first, std::int64_t n, const TilePlace* in, "
      "const TilePlace* out) {{\n",
      kernel_name);
  add_operands();
  if (std::ranges::any_of(expr_.codes, stands_alone)) {
    add("  constexpr std::int64_t longest = {};\n", longest_row);
  } else {
    add("  const std::int64_t longest = n;\n");
  }
  add("  for (std::int64_t row = 0; row < n; row += longest) {{\n");
  add("    const std::int64_t n_here = n - row < longest ? n - row : longest;\n");
  add_row_starts();
  for (std::size_t begin = 0, end = 0; begin < expr_.codes.size(); begin = end) {
    const std::size_t part = part_of_[expr_.codes[begin].out];
    while (end < expr_.codes.size() && part_of_[expr_.codes[end].out] == part) ++end;
    add_part(begin, end);
  }
  add("  }}\n}}\n\n}}  // namespace lodestone::engine::scalar\n");
  return std::move(text_);
}

}  // namespace

bool has_text(const Expr& expr) {
  const auto is_known = [&](const Expr::Value& value) { return !type_of(value.dtype).empty(); };
  // Numbers out of range become what the instruction makes of them, and compilers choose among several.
  const auto depends_on_instruction = [&](const Expr::Code& code) {
    const DType from = expr.values[code.in[0]].dtype, to = expr.values[code.out].dtype;
    return core::is_float(from) && core::is_integer(to) && to != DType::i32 && to != DType::i64;
  };
  return expr.row == 1 && !expr.codes.empty() && std::ranges::all_of(expr.values, is_known) &&
         std::ranges::none_of(expr.codes, depends_on_instruction);
}

std::string kernel_text(const Expr& expr, const std::vector<bool>& is_one) {
  return Emitter(expr, is_one).text();
}

std::string whole_text(const std::string& kernel) {
  std::string text(prelude_text);
  if (kernel.find("vmath::") != std::string::npos) text += vmath_text;
  text += helpers_text;
  return text + kernel;
}

}  // namespace lodestone::engine
