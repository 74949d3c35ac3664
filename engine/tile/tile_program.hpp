// SPDX-License-Identifier: Apache-2.0
// Many elementwise ops as one kernel: their loops run one after the other over a tile that fits in the
// nearest cache.
#pragma once

#include "engine/graph/kernel.hpp"

#include <memory>
#include <vector>

namespace lodestone::engine::cpu_backend {

/// An expression with its intermediate values in slots, which are used again. Elements are computed by the
/// loops of the kernels that the expression was made of, so that the bits are theirs; they depend neither on
/// tiles nor on threads. A tile has whole rows where these are combined.
class TileProgram {
 public:
  /// `generated`: a function that computes the expression, in place of the loops.
  explicit TileProgram(Expr expr, ExprFn generated = nullptr);

  [[nodiscard]] const Expr& expr() const { return expr_; }
  /// Returns whether an output may be in the place of an operand: whether that has an element of its size for
  /// each of its own, and nothing reads it once the output is written.
  [[nodiscard]] bool writes_over(std::size_t operand, std::size_t output) const;

  /// Returns the kernel that runs the programs of its attributes, `TileAttrs`. Threads share the work of all
  /// of them, so that many small programs are work for several threads.
  [[nodiscard]] static Kernel kernel();

 private:
  class Run;
  friend class TileGuest;
  friend class TileReader;
  friend class TileWriter;
  /// Number of what a code reads or writes: operands come first, then numbers, random words, slots and
  /// outputs.
  using PlaceId = std::uint16_t;
  /// A loop over elements, or one that combines those of rows.
  struct Step {
    PlaneFn fn = nullptr;
    decltype(RowBody::fn) combine = nullptr;
    PlaceId out;
    std::array<PlaceId, Plane::most_inputs> in{};
    bool per_row;
    bool has_rows = false;  ///< the result or an input has one element for each row
    std::array<bool, Plane::most_inputs> is_spread{};  ///< by input: it is such
  };
  /// Random words of one stretch, which one call makes: those of neighbouring lanes.
  struct Stretch {
    Expr::Words of_first;
    DType dtype;
    bool per_row;
    std::vector<std::uint16_t> words;  ///< numbers in the expression
  };
  static Workspace workspace(const KernelCall& call);
  static void run(const KernelCall& call);
  void note_order();
  void place_values();
  void join_words();
  [[nodiscard]] std::size_t n_places() const;
  [[nodiscard]] std::size_t first_of_words() const { return expr_.loads.size() + expr_.numbers.size(); }
  [[nodiscard]] std::int64_t n_rows() const;
  [[nodiscard]] std::int64_t rows_of_unit() const;
  [[nodiscard]] std::int64_t n_units() const;
  [[nodiscard]] double ns_of_unit() const;
  [[nodiscard]] double ns_of_all() const;
  [[nodiscard]] std::size_t bytes_per_row(const Expr::Value& value) const;
  void add_step(ExprId id, const std::vector<std::size_t>& place);
  [[nodiscard]] std::size_t size_of_output(std::size_t output) const {
    return core::size_of(expr_.values[expr_.stores[output].value].dtype);
  }
  [[nodiscard]] std::int64_t tile(std::size_t bytes_of_loads) const;

  Expr expr_;
  ExprFn generated_;
  std::vector<std::size_t> slots_;  ///< bytes of a row, by slot
  std::vector<Step> steps_;
  std::vector<Stretch> stretches_;
  std::vector<std::size_t> last_read_;  ///< value that is made of it, by operand
  double ns_ = 0.0;                     ///< per element, roughly
};

/// A program that runs inside of another kernel, piece by piece, in a part of the scratch of each thread.
class TileGuest {
 public:
  /// `call`: operands and outputs of the program. `offset`: where `bytes` begin in the scratch of a thread,
  /// which are aligned.
  TileGuest(const TileProgram& program, const KernelCall& call, std::size_t offset)
      : program_(program), call_(call), offset_(offset) {}
  /// Returns what it needs of a thread's scratch.
  [[nodiscard]] std::size_t bytes() const;

 protected:
  void start() const;
  [[nodiscard]] std::byte* own() const { return call_.scratch.of_this_thread() + offset_; }
  const TileProgram& program_;
  const KernelCall& call_;
  std::size_t offset_;
};

/// Makes the first output of a program piece by piece, for a kernel that reads it instead of an array; the
/// other outputs are stored. Pieces are whole rows of the program.
class TileReader final : public Reader, public TileGuest {
 public:
  /// `call`: as of `TileGuest`; its first output is not touched.
  TileReader(const TileProgram& program, const KernelCall& call, std::size_t offset = 0)
      : TileGuest(program, call, offset) {}
  void open() const override { start(); }
  void read(std::int64_t first, std::int64_t n, std::byte* to) const override;
  [[nodiscard]] double ns() const override { return program_.ns_; }
};

/// Computes the outputs of a program from its first operand, piece by piece, while a kernel writes that.
class TileWriter final : public Writer, public TileGuest {
 public:
  /// `call`: as of `TileGuest`. Pieces are whole rows of the program.
  TileWriter(const TileProgram& program, const KernelCall& call, std::size_t offset = 0)
      : TileGuest(program, call, offset) {}
  void open() const override { start(); }
  void take(std::int64_t first, std::int64_t n) const override;
  [[nodiscard]] double ns() const override { return program_.ns_; }
};

using TileProgramPtr = std::shared_ptr<const TileProgram>;
[[nodiscard]] inline std::string attr_text(const TileProgramPtr& value) { return value->expr().text(); }
[[nodiscard]] inline std::uint64_t attr_hash(const TileProgramPtr& value) { return value->expr().hash(); }
[[nodiscard]] inline bool attr_equals(const TileProgramPtr& a, const TileProgramPtr& b) {
  return a->expr() == b->expr();
}
[[nodiscard]] inline bool put_on_line(TileProgramPtr& program, const TileProgramPtr& of_second,
                                      const Line& line) {
  std::optional<Expr> expr = program->expr().on_line(of_second->expr(), line);
  if (expr) program = std::make_shared<const TileProgram>(*std::move(expr));
  return expr.has_value();
}

/// Programs that run as one kernel and do not read what another one writes: its operands are those of the
/// first, then those of the next, and so are its outputs.
using TilePrograms = std::vector<TileProgramPtr>;
[[nodiscard]] std::string attr_text(const TilePrograms& programs);
[[nodiscard]] std::uint64_t attr_hash(const TilePrograms& programs);
[[nodiscard]] bool attr_equals(const TilePrograms& a, const TilePrograms& b);
[[nodiscard]] bool put_on_line(TilePrograms& programs, const TilePrograms& of_second, const Line& line);

/// The operands and outputs of a program among those of a kernel.
struct TilePart {
  const TileProgram& program;
  std::size_t first_in, first_out;
  [[nodiscard]] std::size_t n_in() const { return program.expr().loads.size(); }
  [[nodiscard]] std::size_t n_out() const { return program.expr().stores.size(); }
};
/// Calls visit(part) for each program, in order.
template <class Visit>
void for_each_part(const TilePrograms& programs, const Visit& visit) {
  std::size_t first_in = 0, first_out = 0;
  for (const TileProgramPtr& each : programs) {
    const TilePart part{*each, first_in, first_out};
    visit(part);
    first_in += part.n_in();
    first_out += part.n_out();
  }
}

}  // namespace lodestone::engine::cpu_backend

namespace lodestone::engine {

struct TileAttrs {
  cpu_backend::TilePrograms programs;
  static auto fields() { return std::tuple{Field{"programs", &TileAttrs::programs}}; }
};

}  // namespace lodestone::engine
