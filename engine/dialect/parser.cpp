// SPDX-License-Identifier: Apache-2.0
// kernel   = name "(" arrays ")" "->" arrays ":" formula { ";" formula } [ ";" ]
// arrays   = array { "," array }          array   = name [ "[" [ axis { "," axis } ] "]" ]
// formula  = name "=" compared
// compared = added [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) added ]
// added    = factors { ( "+" | "-" ) factors }
// factors  = factor { ( "*" | "/" ) factor }
// factor   = "-" factor | number | name | name "(" compared { "," compared } ")" | "(" compared ")"
#include "engine/core/error.hpp"
#include "engine/dialect/kernel_text.hpp"
#include "engine/dialect/lexer.hpp"
#include "engine/graph/op_table.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"

#include <algorithm>
#include <map>

namespace lodestone::engine {
namespace {

using AxisSet = KernelText::AxisSet;
using Term = KernelText::Term;
using TermId = KernelText::TermId;

const std::map<std::string_view, const char*> ops_of_signs{
    {"+", "add"},         {"-", "subtract"}, {"*", "multiply"},       {"/", "divide"}, {"<", "less"},
    {"<=", "less_equal"}, {">", "greater"},  {">=", "greater_equal"}, {"==", "equal"}, {"!=", "not_equal"}};

const std::map<std::string_view, KernelText::Reduction> reductions{
    {"sum", [](const Tensor& x, const Axes& axes) { return sum(x, axes, Keep::yes); }},
    {"mean", [](const Tensor& x, const Axes& axes) { return mean(x, axes, Keep::yes); }},
    {"max", [](const Tensor& x, const Axes& axes) { return max(x, axes, Keep::yes); }},
    {"min", [](const Tensor& x, const Axes& axes) { return min(x, axes, Keep::yes); }},
    {"logsumexp", [](const Tensor& x, const Axes& axes) { return logsumexp(x, axes, Keep::yes); }}};

/// Returns whether an op has nothing but tensors to be told, as what it is checked with shows.
bool is_without_attributes(const OpInfo& row) {
  if (!row.sample) return false;
  Sampler sampler(DType::f64, 0);
  return row.sample(sampler).attrs.get() == nullptr;
}

/// Returns the row of an elementwise op without attributes, or null.
const OpInfo* elementwise_op(std::string_view name) {
  for (const OpInfo& row : OpTable::global().rows()) {
    if (row.name == name && row.op_class == OpClass::elementwise && row.n_inputs > 0 &&
        is_without_attributes(row))
      return &row;
  }
  return nullptr;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : tokens_(tokens_of(text)) {}
  [[nodiscard]] KernelText run();

 private:
  // Words and signs.
  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] bool is_at(std::string_view sign) const {
    return token().is == Token::Is::sign && token().text == sign;
  }
  const Token& next() { return tokens_[token().is == Token::Is::end ? at_ : at_++]; }
  bool take(std::string_view sign);
  void need(std::string_view sign);
  const Token& word(std::string_view what);

  // In front of the colon.
  void arrays(std::vector<KernelText::Array>& to, bool are_results);
  [[nodiscard]] KernelText::Array array(bool is_result);
  [[nodiscard]] int axis(const Token& name, bool may_be_new);

  // Formulas.
  void formula();
  void give_results();
  [[nodiscard]] TermId compared();
  [[nodiscard]] TermId added();
  [[nodiscard]] TermId factors();
  [[nodiscard]] TermId factor();
  [[nodiscard]] TermId factor_within();
  [[nodiscard]] TermId value(const Token& name) const;
  [[nodiscard]] TermId call(const Token& name);
  [[nodiscard]] TermId reduction(KernelText::Reduction reduce);
  [[nodiscard]] TermId extent();
  [[nodiscard]] TermId add(Term term);
  [[nodiscard]] TermId number(double value) { return add({.is = Term::Is::number, .number = value}); }
  [[nodiscard]] TermId applied(const OpInfo& op, std::vector<TermId> in);
  [[nodiscard]] TermId applied(const Token& sign, TermId a, TermId b);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  KernelText result_;
  std::map<std::string, TermId, std::less<>> values_;
};

// ---- Words and signs -------------------------------------------------------------------------------------

bool Parser::take(std::string_view sign) {
  if (!is_at(sign)) return false;
  ++at_;
  return true;
}

void Parser::need(std::string_view sign) {
  if (!take(sign))
    refuse_token("engine::kernel#syntax", token(), fmt::format("'{}'", sign),
                 "see engine/dialect/kernel.hpp for the form of a kernel");
}

const Token& Parser::word(std::string_view what) {
  if (token().is != Token::Is::word)
    refuse_token("engine::kernel#syntax", token(), what, "names are letters, digits and _, a letter first");
  return next();
}

// ---- In front of the colon -------------------------------------------------------------------------------

KernelText Parser::run() {
  result_.name = word("the name of the kernel").text;
  need("(");
  arrays(result_.arguments, false);
  need(")");
  need("->");
  arrays(result_.results, true);
  need(":");
  for (std::size_t i = 0; i < result_.arguments.size(); ++i) {
    AxisSet axes;
    for (const int axis : result_.arguments[i].axes) axes.set(static_cast<std::size_t>(axis));
    values_.emplace(result_.arguments[i].name, add({.is = Term::Is::argument, .axes = axes, .of = i}));
  }
  do {
    formula();
  } while (take(";") && token().is != Token::Is::end);
  if (token().is != Token::Is::end)
    refuse_token("engine::kernel#syntax", token(), "';' or the end of the text",
                 "separate formulas by semicolons");
  give_results();
  return std::move(result_);
}

void Parser::arrays(std::vector<KernelText::Array>& to, bool are_results) {
  do {
    const Token& at = token();
    KernelText::Array next = array(are_results);
    for (const auto* list : {&result_.arguments, &result_.results}) {
      if (std::ranges::any_of(*list, [&](const auto& other) { return other.name == next.name; }))
        refuse_token("engine::kernel#twice", at, "a name that no other array has", "rename one of them");
    }
    to.push_back(std::move(next));
  } while (take(","));
}

KernelText::Array Parser::array(bool is_result) {
  KernelText::Array result{std::string(word(is_result ? "a result" : "an argument").text), {}};
  if (!take("[") || take("]")) return result;
  do {
    const Token& name = word("the name of an axis");
    const int number = axis(name, !is_result);
    if (std::ranges::count(result.axes, number) > 0)
      refuse_token("engine::kernel#twice", name, "an axis that the array does not have yet",
                   "take the diagonal before the kernel");
    result.axes.push_back(number);
  } while (take(","));
  need("]");
  return result;
}

/// Returns the number of an axis. Arguments bring new ones.
int Parser::axis(const Token& name, bool may_be_new) {
  const auto known = std::ranges::find(result_.axes, name.text);
  const auto number = static_cast<int>(known - result_.axes.begin());
  if (known != result_.axes.end()) return number;
  if (!may_be_new)
    refuse_token("engine::kernel#unknown_axis", name, "an axis of an argument",
                 "its extent would not be known; give an argument this axis");
  if (result_.axes.size() == KernelText::most_axes)
    refuse_token("engine::kernel#many_axes", name,
                 fmt::format("at most {} axes in all", KernelText::most_axes),
                 "merge axes before the kernel");
  result_.axes.emplace_back(name.text);
  return number;
}

// ---- Formulas --------------------------------------------------------------------------------------------

void Parser::formula() {
  const Token& name = word("the name that a formula gives its value");
  need("=");
  const TermId term = compared();
  if (!values_.try_emplace(std::string(name.text), term).second)
    refuse_token("engine::kernel#twice", name, "a name without a value",
                 "each name has one value; take another");
}

void Parser::give_results() {
  for (const KernelText::Array& each : result_.results) {
    const auto found = values_.find(each.name);
    if (found == values_.end())
      refuse_token("engine::kernel#no_value", token(), fmt::format("a formula for '{}'", each.name),
                   "results need a value");
    AxisSet axes;
    for (const int axis : each.axes) axes.set(static_cast<std::size_t>(axis));
    const AxisSet others = result_.terms[found->second].axes & ~axes;
    for (std::size_t i = 0; i < result_.axes.size(); ++i) {
      if (others.test(i))
        refuse_token(
            "engine::kernel#more_axes", token(),
            fmt::format("a value without axis '{}' for {}", result_.axes[i], result_.signature(each)),
            "reduce it, for example by sum, or give the result this axis");
    }
    result_.given.push_back(found->second);
  }
}

TermId Parser::compared() {
  const TermId a = added();
  for (const char* sign : {"<", "<=", ">", ">=", "==", "!="}) {
    if (!is_at(sign)) continue;
    const Token& at = next();
    const TermId b = added();
    return applied(at, a, b);
  }
  return a;
}

TermId Parser::added() {
  TermId term = factors();
  while (is_at("+") || is_at("-")) {
    const Token& sign = next();
    term = applied(sign, term, factors());
  }
  return term;
}

TermId Parser::factors() {
  TermId term = factor();
  while (is_at("*") || is_at("/")) {
    const Token& sign = next();
    term = applied(sign, term, factor());
  }
  return term;
}

/// Reads a factor, whose parts may be nested so deep.
TermId Parser::factor() {
  constexpr int deepest = 100;
  if (++depth_ > deepest)
    refuse_token("engine::kernel#deep", token(), fmt::format("at most {} levels of brackets", deepest),
                 "give a part of the formula a name");
  const TermId term = factor_within();
  --depth_;
  return term;
}

TermId Parser::factor_within() {
  if (take("-")) {
    const TermId of = factor();
    if (result_.terms[of].is == Term::Is::number) return number(-result_.terms[of].number);
    return applied(op_named("negative"), {of});
  }
  if (take("(")) {
    const TermId term = compared();
    need(")");
    return term;
  }
  if (token().is == Token::Is::number) return number(next().number);
  const Token& name = word("a number, a name or '('");
  return is_at("(") ? call(name) : value(name);
}

TermId Parser::value(const Token& name) const {
  const auto found = values_.find(name.text);
  if (found == values_.end())
    refuse_token("engine::kernel#unknown_name", name, "an argument, or a name that has its formula already",
                 "write its formula in front of this one");
  return found->second;
}

TermId Parser::call(const Token& name) {
  need("(");
  if (name.text == "size") return extent();
  if (const auto found = reductions.find(name.text); found != reductions.end())
    return reduction(found->second);
  const OpInfo* const op = elementwise_op(name.text);
  if (op == nullptr)
    refuse_token("engine::kernel#unknown_function", name,
                 "an elementwise op without attributes, size, or a reduction",
                 "docs/ops has the names of ops; reductions are sum, mean, max, min and logsumexp");
  std::vector<TermId> in;
  do {
    in.push_back(compared());
  } while (take(","));
  if (static_cast<int>(in.size()) != op->n_inputs)
    refuse_token("engine::kernel#arguments", name,
                 fmt::format("{} argument{} of {}", op->n_inputs, op->n_inputs == 1 ? "" : "s", op->name),
                 fmt::format("it has {} here", in.size()));
  need(")");
  return applied(*op, std::move(in));
}

TermId Parser::reduction(KernelText::Reduction reduce) {
  Term term{.is = Term::Is::reduction, .reduce = reduce, .in = {compared()}};
  term.axes = result_.terms[term.in[0]].axes;
  need(",");
  do {
    const Token& name = word("the name of an axis");
    const auto number = static_cast<std::size_t>(axis(name, false));
    if (!term.axes.test(number))
      refuse_token("engine::kernel#no_axis", name, "an axis of what is reduced", "remove it");
    term.axes.reset(number);
    term.reduced.set(number);
  } while (take(","));
  need(")");
  return add(std::move(term));
}

TermId Parser::extent() {
  const Token& name = word("the name of an axis");
  const auto number = static_cast<std::size_t>(axis(name, false));
  need(")");
  return add({.is = Term::Is::extent, .of = number});
}

TermId Parser::add(Term term) {
  result_.terms.push_back(std::move(term));
  return result_.terms.size() - 1;
}

TermId Parser::applied(const OpInfo& op, std::vector<TermId> in) {
  Term term{.is = Term::Is::op, .op = &op, .in = std::move(in)};
  for (const TermId id : term.in) term.axes |= result_.terms[id].axes;
  return add(std::move(term));
}

/// Applies an operator. Two numbers give a number.
TermId Parser::applied(const Token& sign, TermId a, TermId b) {
  const Term &x = result_.terms[a], &y = result_.terms[b];
  if (x.is == Term::Is::number && y.is == Term::Is::number) {
    if (sign.text == "+") return number(x.number + y.number);
    if (sign.text == "-") return number(x.number - y.number);
    if (sign.text == "*") return number(x.number * y.number);
    if (sign.text == "/") return number(x.number / y.number);
  }
  return applied(op_named(ops_of_signs.at(sign.text)), {a, b});
}

}  // namespace

std::string KernelText::signature(const Array& array) const {
  std::string text = array.name + "[";
  for (std::size_t i = 0; i < array.axes.size(); ++i)
    text += (i == 0 ? "" : ", ") + axes[static_cast<std::size_t>(array.axes[i])];
  return text + "]";
}

KernelText parsed_kernel(std::string_view text) { return Parser(text).run(); }

}  // namespace lodestone::engine
