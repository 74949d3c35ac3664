// SPDX-License-Identifier: Apache-2.0
// An expression says how an element of an elementwise op, or of several of them together, is computed: by
// bodies of loops in single assignment. It may combine the elements of a row, too.
#pragma once

#include "engine/graph/attrs.hpp"
#include "engine/graph/loop_body.hpp"
#include "engine/graph/number.hpp"

#include <array>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lodestone::engine {

struct OpInfo;

/// The number of a value of an expression.
using ExprId = std::uint16_t;

/// A function of the elements at one place of row-major arrays, which have one number of elements, though not
/// always one shape. Where rows of them are combined, there are also values with one element for each row,
/// which all places of the row see.
struct Expr {
  struct Value {
    enum class From : std::uint8_t { load, number, words, code, reduce };
    From from;
    DType dtype;
    std::uint16_t of;      ///< number among the loads, numbers, words, codes or reduces
    bool per_row = false;  ///< one element for each row
  };
  /// The element of an operand, which is seen as an array of this shape. An axis of that comes from one of
  /// the operand, or from none (`AxisMap::added`): all places along it see the same element.
  struct Load {
    IntList from;
    Shape shape;
  };
  /// Random words, as `random_bits` gives them, that are made where they are needed. Element i is the word
  /// with the number first + i step in the array of all words, of which each key has `per_key`. The load is
  /// that of keys u64[…, 3]; none of their axes is one of the space. Of several keys, each has the words of
  /// whole steps.
  struct Words {
    std::uint16_t load;
    ExprId out;
    Dim first, step, per_key;
    friend bool operator==(const Words&, const Words&) = default;
  };
  struct Store {
    ExprId value;
    Shape shape;
  };
  struct Code {
    const LoopBody* body;
    ExprId out;
    std::array<ExprId, Plane::most_inputs> in;
  };
  struct Reduce {
    const RowBody* body;
    ExprId out, in;
  };
  Dim row = 1;                ///< elements of a row; 1: none are combined
  std::vector<Value> values;  ///< each stands behind those that it is made of
  std::vector<Load> loads;    ///< by operand
  std::vector<std::array<std::byte, 16>> numbers;
  std::vector<Words> words;
  std::vector<Code> codes;
  std::vector<Reduce> reduces;
  std::vector<Store> stores;  ///< by output

  /// Returns what a code or a reduce takes; nothing for other values.
  [[nodiscard]] std::span<const ExprId> inputs_of(ExprId value) const;
  /// Returns the dtype of an operand.
  [[nodiscard]] DType dtype_of_load(std::size_t load) const;
  /// Returns the number of elements of a value.
  [[nodiscard]] Dim count_of(ExprId value) const;
  [[nodiscard]] std::string text() const;  ///< "%2 = {a + b}(%0, %1); give %2"
  [[nodiscard]] std::uint64_t hash() const;
  /// Returns the expression for another extent, as `Attrs::on_line`; none also where its rows would be longer
  /// than their bodies take.
  [[nodiscard]] std::optional<Expr> on_line(const Expr& of_second, const Line& line) const;
  friend bool operator==(const Expr& a, const Expr& b);
};

/// Writes an expression down, value after value.
class ExprWriter {
 public:
  /// `row`: elements of the rows that are combined; 1: none are.
  explicit ExprWriter(Dim row = 1) { expr_.row = row; }
  /// Says whether loads and bodies added from now on have one element for each row, or for each place.
  void set_per_row(bool per_row) { per_row_ = per_row; }
  /// Adds the next operand.
  ExprId load(DType dtype, IntList from, Shape shape);
  ExprId number(const std::array<std::byte, 16>& element, DType dtype);
  /// Adds a number in the representation of a dtype, which rounds it.
  ExprId number(const Number& value, DType dtype);
  ExprId apply(const LoopBody& body, DType result, std::span<const ExprId> in);
  /// Adds the body of a row, for arguments and a result of one dtype, as the processor's kernel has it.
  ExprId apply(const OpInfo& op, std::initializer_list<ExprId> in);
  /// Combines the elements of each row.
  ExprId reduce(const RowBody& body, ExprId in);
  void store(ExprId value, Shape shape) { expr_.stores.push_back({value, std::move(shape)}); }

  [[nodiscard]] DType dtype(ExprId value) const { return expr_.values[value].dtype; }
  [[nodiscard]] const Expr& expr() const { return expr_; }

 private:
  ExprId add(Expr::Value::From from, DType dtype, std::size_t of, bool per_row = false);
  Expr expr_;
  bool per_row_ = false;
};

struct Kernel;
/// Returns true if `append` can tell what a kernel computes of each element.
[[nodiscard]] bool has_expression(const Kernel& kernel);
/// Appends to an expression what a kernel computes of each element, with the kernel's bits; returns its
/// result. `in`: the op's inputs.
ExprId append(ExprWriter& writer, const Kernel& kernel, const Attrs* attrs, std::span<const ExprId> in,
              DType result);

}  // namespace lodestone::engine
