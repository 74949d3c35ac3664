// SPDX-License-Identifier: Apache-2.0
#include "engine/generate/emit.hpp"

#include "engine/generate/embedded_text.hpp"
#include "engine/generate/text_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <set>

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

/// Rows of fewer elements are too short for a loop: what they see as one element is repeated beforehand.
constexpr Dim shortest_loop = 16;
/// Longer rows have no text.
constexpr std::int64_t longest_row = 1024;

/// Writes the text of one expression. A value is `v3` in the loop that computes it, `t3[i]` in later ones; an
/// operand is `p3[i]`, or `v3` where all places of the loop see one element, `s3[i]` where that is repeated
/// in an array; an output is `o0[i]`.
class Emitter {
 public:
  Emitter(const Expr& expr, const std::vector<bool>& is_one)
      : expr_(expr), is_one_(is_one), parts_(expr), function_of_(expr.values.size(), 0) {}
  [[nodiscard]] std::string text();

 private:
  void add_functions();
  [[nodiscard]] std::optional<std::string> new_function(ExprId id, std::string_view body);
  void add_code_function(const Expr::Code& code);
  void add_row_function(const Expr::Reduce& reduce);
  void add_function(std::span<const ExprId> in, DType to, std::string_view name, std::string_view result,
                    std::string_view body);
  void add_operands();
  void add_sizes();
  void add_row_starts();
  void add_kept();
  void add_part(const TextPart& part);
  void add_row_part(const TextPart& part);
  void add_loop(const TextPart& part, std::string_view suffix = "");
  void add_repeated(const TextPart& part);
  void begin_loop(const TextPart& part);
  void end_loop(const TextPart& part);
  void add_result(ExprId id, const std::string& text);

  [[nodiscard]] const Expr::Value& value(ExprId id) const { return expr_.values[id]; }
  [[nodiscard]] std::string_view type(ExprId id) const { return type_of(value(id).dtype); }
  [[nodiscard]] bool is_made(ExprId id) const { return !expr_.inputs_of(id).empty(); }
  [[nodiscard]] bool is_words(ExprId id) const { return value(id).from == From::words; }
  [[nodiscard]] bool is_array(ExprId id) const {
    return is_words(id) || (value(id).from == From::load && !is_one_[value(id).of]);
  }
  [[nodiscard]] bool has_rows() const { return expr_.row > 1; }
  [[nodiscard]] bool has_short_rows() const { return has_rows() && expr_.row < shortest_loop; }
  [[nodiscard]] std::vector<ExprId> spread_in(const TextPart& part) const;
  [[nodiscard]] std::string array(ExprId id) const {
    return fmt::format("{}{}", is_made(id) ? 't' : 'p', id);
  }
  [[nodiscard]] std::string argument(ExprId id, const TextPart& part) const;
  [[nodiscard]] std::string call(ExprId id, const TextPart& part, std::string_view suffix) const;
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), text, std::forward<Args>(args)...);
  }
  /// Adds a line inside of the loop that is open.
  template <class... Args>
  void add_line(fmt::format_string<Args...> text, Args&&... args) {
    text_.append(indent_, ' ');
    add(text, std::forward<Args>(args)...);
    text_ += '\n';
  }

  const Expr& expr_;
  const std::vector<bool>& is_one_;
  const TextParts parts_;
  std::map<std::tuple<bool, std::string_view, std::string_view, std::string_view>, std::size_t> functions_;
  std::vector<std::size_t> function_of_;  // by value
  std::set<ExprId> repeated_;             // in an array
  std::size_t indent_ = 4;
  std::string text_;
};

/// Adds a function of a body. Of three inputs the first may have a type of its own.
void Emitter::add_function(std::span<const ExprId> in, DType to, std::string_view name,
                           std::string_view result, std::string_view body) {
  const std::string_view of = type(in.back());
  const std::string arguments = in.size() == 1   ? fmt::format("{} x", of)
                                : in.size() == 2 ? fmt::format("{0} a, {0} b", of)
                                                 : fmt::format("{1} c, {0} a, {0} b", of, type(in.front()));
  add("[[gnu::always_inline]] static inline {} {}({}) {{\n", result, name, arguments);
  add("  using T = {};\n  using To = {};\n  return {};\n}}\n", of, type_of(to), body);
}

/// Notes the function of a value; returns its name where no value before has the same.
std::optional<std::string> Emitter::new_function(ExprId id, std::string_view body) {
  const bool combines = value(id).from == From::reduce;
  const auto [at, is_new] =
      functions_.try_emplace({combines, body, type(expr_.inputs_of(id).back()), type(id)}, functions_.size());
  function_of_[id] = at->second;
  return is_new ? std::optional(fmt::format("f{}", at->second)) : std::nullopt;
}

void Emitter::add_code_function(const Expr::Code& code) {
  const std::optional<std::string> name = new_function(code.out, code.body->text);
  if (!name) return;
  const auto& [test, usual] = code.body->usual;
  const std::span<const ExprId> in = expr_.inputs_of(code.out);
  const DType to = value(code.out).dtype;
  add_function(in, to, *name, type(code.out), code.body->text);
  if (usual.empty()) return;
  add_function(in, to, *name + "_is_usual", "bool", test);
  add_function(in, to, *name + "_usual", type(code.out), usual);
}

/// Adds a function of two elements, and one of all those of a row in the order of the kernels.
void Emitter::add_row_function(const Expr::Reduce& reduce) {
  const std::optional<std::string> name = new_function(reduce.out, reduce.body->text);
  if (!name) return;
  add_function(std::array{reduce.in, reduce.in}, value(reduce.in).dtype, *name + "_of_two", type(reduce.in),
               reduce.body->text);
  add("static inline {0} {1}(const {0}* x, std::int64_t n) {{\n  using T = {0};\n", type(reduce.in), *name);
  add("  const auto combine = [](T a, T b) {{ return {}_of_two(a, b); }};\n", *name);
  add("  return combine({}, cpu_backend::combine_block(x, n, 1, combine));\n}}\n", reduce.body->start);
}

/// Adds the functions of all bodies, each once for the same types.
void Emitter::add_functions() {
  for (const Expr::Code& code : expr_.codes) add_code_function(code);
  for (const Expr::Reduce& reduce : expr_.reduces) add_row_function(reduce);
}

/// Adds what does not change from element to element.
void Emitter::add_operands() {
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    const auto& [from, dtype, of, per_row] = value(id);
    if (is_made(id) || is_array(id)) continue;
    const std::size_t place = from == From::load ? of : expr_.loads.size() + of;
    add("  const {0} v{1} = *reinterpret_cast<const {0}*>(in[{2}].data);\n", type(id), id, place);
  }
}

/// Adds how much is computed at a time, and the loop over that.
void Emitter::add_sizes() {
  constexpr int places_at_once = 256;
  if (has_rows()) {
    // The values that they keep have to fit into the nearest caches.
    const auto is_kept = [&](std::size_t id) { return parts_.is_kept(static_cast<ExprId>(id)); };
    const auto ids = std::views::iota(std::size_t{0}, expr_.values.size());
    const bool is_much = std::ranges::count_if(ids, is_kept) > 8;
    add("  constexpr std::int64_t longest = {};\n", is_much ? longest_row : 2 * longest_row);
    add("  const std::int64_t at_once = longest / length;\n");
    add("  for (std::int64_t row = 0; row < n; row += at_once) {{\n");
    add("    const std::int64_t n_rows = n - row < at_once ? n - row : at_once, n_here = n_rows * length;\n");
    return;
  }
  if (std::ranges::any_of(parts_.all(), &TextPart::is_alone)) {
    add("  constexpr std::int64_t longest = {};\n", places_at_once);
  } else {
    add("  const std::int64_t longest = n;\n");
  }
  add("  for (std::int64_t row = 0; row < n; row += longest) {{\n");
  add("    const std::int64_t n_here = n - row < longest ? n - row : longest;\n");
}

/// Adds where the rows of operands and outputs begin.
void Emitter::add_row_starts() {
  const auto add_start = [&](std::string_view of, const std::string& name, const std::string& place,
                             bool per_row) {
    add("    {0}* const {1} = reinterpret_cast<{0}*>({2}.data + first * {2}.bytes_per_row) + row{3};\n", of,
        name, place, has_rows() && !per_row ? " * length" : "");
  };
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    const std::size_t before = is_words(id) ? expr_.loads.size() + expr_.numbers.size() : 0;
    if (is_array(id))
      add_start(fmt::format("const {}", type(id)), array(id), fmt::format("in[{}]", before + value(id).of),
                value(id).per_row);
  }
  for (std::size_t i = 0; i < expr_.stores.size(); ++i) {
    const ExprId id = expr_.stores[i].value;
    add_start(type(id), fmt::format("o{}", i), fmt::format("out[{}]", i), value(id).per_row);
  }
}

/// Adds room for what several loops need.
void Emitter::add_kept() {
  for (ExprId id = 0; id < expr_.values.size(); ++id) {
    if (parts_.is_kept(id))
      add("    {} {}[{}];\n", type(id), array(id), value(id).per_row ? "longest / 2" : "longest");
  }
}

/// Returns what has one element for each row, of which a loop over places needs that of its row.
std::vector<ExprId> Emitter::spread_in(const TextPart& part) const {
  std::vector<ExprId> result;
  if (part.over != TextPart::Over::places) return result;
  for (const ExprId id : part.values) {
    for (const ExprId in : expr_.inputs_of(id)) {
      const bool is_new = std::ranges::find(result, in) == result.end();
      if (value(in).per_row && (is_made(in) || is_array(in)) && is_new) result.push_back(in);
    }
  }
  return result;
}

std::string Emitter::argument(ExprId id, const TextPart& part) const {
  const bool is_spread = value(id).per_row && part.over == TextPart::Over::places;
  const bool is_here = std::ranges::binary_search(part.values, id);
  const bool is_element = (is_made(id) && !is_here) || is_array(id);
  if (is_element && is_spread && has_short_rows()) return fmt::format("s{}[i]", id);
  return is_element && !is_spread ? array(id) + "[i]" : fmt::format("v{}", id);
}

/// Returns a call of the function of a value; the suffix says which of them.
std::string Emitter::call(ExprId id, const TextPart& part, std::string_view suffix) const {
  std::string result = fmt::format("f{}{}(", function_of_[id], suffix);
  for (const ExprId in : expr_.inputs_of(id)) {
    if (result.back() != '(') result += ", ";
    result += argument(in, part);
  }
  return result + ")";
}

/// Adds a value in the loop that computes it, and where it is kept and stored.
void Emitter::add_result(ExprId id, const std::string& text) {
  add_line("const {} v{} = {};", type(id), id, text);
  if (parts_.is_kept(id)) add_line("{}[i] = v{};", array(id), id);
  for (std::size_t i = 0; i < expr_.stores.size(); ++i) {
    if (expr_.stores[i].value == id) add_line("o{}[i] = v{};", i, id);
  }
}

/// Adds arrays in which elements of rows that a loop over places needs are repeated.
void Emitter::add_repeated(const TextPart& part) {
  for (const ExprId id : spread_in(part)) {
    if (!repeated_.insert(id).second) continue;
    add_line("{} s{}[longest];", type(id), id);
    add_line("for (std::int64_t r = 0; r < n_rows; ++r) {{");
    add_line("  for (std::int64_t i = r * length; i < (r + 1) * length; ++i) s{}[i] = {}[r];", id, array(id));
    add_line("}}");
  }
}

/// Begins a loop over places, row by row where they need elements of rows, or over rows.
void Emitter::begin_loop(const TextPart& part) {
  const std::vector<ExprId> spread = has_short_rows() ? std::vector<ExprId>() : spread_in(part);
  std::string_view from = "0", to = part.over == TextPart::Over::places ? "n_here" : "n_rows";
  if (!spread.empty()) {
    add_line("for (std::int64_t r = 0; r < n_rows; ++r) {{");
    indent_ += 2;
    for (const ExprId id : spread) add_line("const {} v{} = {}[r];", type(id), id, array(id));
    from = "r * length";
    to = "(r + 1) * length";
  }
  add_line("LODESTONE_LOOP");
  add_line("for (std::int64_t i = {}; i < {}; ++i) {{", from, to);
  indent_ += 2;
}

void Emitter::end_loop(const TextPart& part) {
  for (std::size_t n = has_short_rows() || spread_in(part).empty() ? 1 : 2; n > 0; --n) {
    indent_ -= 2;
    add_line("}}");
  }
}

/// Adds a loop that computes values; the suffix says by which functions.
void Emitter::add_loop(const TextPart& part, std::string_view suffix) {
  begin_loop(part);
  for (const ExprId id : part.values) add_result(id, call(id, part, suffix));
  end_loop(part);
}

/// Adds a loop over rows, each of which is combined to one element or several.
void Emitter::add_row_part(const TextPart& part) {
  add_line("for (std::int64_t i = 0; i < n_rows; ++i) {{");
  indent_ += 2;
  for (const ExprId id : part.values)
    add_result(id,
               fmt::format("f{}({} + i * length, length)", function_of_[id], array(expr_.inputs_of(id)[0])));
  indent_ -= 2;
  add_line("}}");
}

void Emitter::add_part(const TextPart& part) {
  if (part.over == TextPart::Over::elements_of_rows) return add_row_part(part);
  if (has_short_rows()) add_repeated(part);
  if (!part.is_alone) return add_loop(part);
  const ExprId id = part.values[0];
  const std::string count = fmt::format("n_unusual_{}", value(id).of);
  add_line("int {} = 0;", count);
  begin_loop(part);
  add_line("{} += {} ? 0 : 1;", count, call(id, part, "_is_usual"));
  end_loop(part);
  add_line("if ({} == 0) {{", count);
  add_loop(part, "_usual");
  add_line("}} else {{");
  add_loop(part);
  add_line("}}");
}

std::string Emitter::text() {
  add("namespace lodestone::engine::scalar {{\n\n");
  add_functions();
  add("\nextern \"C\" LODESTONE_KERNEL void {}(std::int64_t first, std::int64_t n, std::int64_t length, "
      "const TilePlace* in, const TilePlace* out) {{\n",
      kernel_name);
  add_operands();
  add_sizes();
  add_row_starts();
  add_kept();
  for (const TextPart& part : parts_.all()) add_part(part);
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
  const auto is_short = [](const Expr::Reduce& each) { return each.body->longest <= longest_row; };
  return !(expr.codes.empty() && expr.reduces.empty()) && std::ranges::all_of(expr.values, is_known) &&
         std::ranges::all_of(expr.reduces, is_short) &&
         std::ranges::none_of(expr.codes, depends_on_instruction);
}

std::string kernel_text(const Expr& expr, const std::vector<bool>& is_one) {
  return Emitter(expr, is_one).text();
}

std::string whole_text(const std::string& kernel) {
  std::string text(prelude_text);
  if (kernel.find("vmath::") != std::string::npos) text += vmath_text;
  text += helpers_text;
  if (kernel.find("cpu_backend::") != std::string::npos) text += rows_text;
  return text + kernel;
}

}  // namespace lodestone::engine
