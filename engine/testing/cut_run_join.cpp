// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/cut_run_join.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "engine/testing/difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numeric>

namespace lodestone::engine {
namespace {

/// A part of an axis: elements first … last − 1.
struct Part {
  Dim first, last;
};

/// Returns an empty part, one element, and the rest in two parts as equal as possible.
std::array<Part, 4> parts_of(Dim extent) {
  const Dim one = std::min<Dim>(extent, 1), middle = (extent + one) / 2;
  return {{{0, 0}, {0, one}, {one, middle}, {middle, extent}}};
}

/// The part of x in memory of its own.
Tensor part_of(const Tensor& x, Dim axis, const Part& part) {
  return slice(x, axis, part.first, part.last).eval();
}

Tensor combined(const Tensor& a, const Tensor& b, Combine how) {
  return how == Combine::sum ? a + b : how == Combine::max ? maximum(a, b) : minimum(a, b);
}

/// The elements of x behind those of others.
Tensor beside(const Tensor& x, const Tensors& others) {
  Tensors rows;
  for (const Tensor& each : others) rows.push_back(reshape(each, {each.count()}));
  rows.push_back(reshape(x, {x.count()}));
  return concatenate(rows, 0);
}

bool is_same(std::complex<double> a, std::complex<double> b) {
  return a == b || (std::isnan(std::abs(a)) && std::isnan(std::abs(b)));
}

/// Returns true if all elements of the output but one, which fills gaps, are elements of inputs.
bool moves_only(const Tensors& inputs, const Tensor& out) {
  std::vector<std::complex<double>> known;
  for (const Tensor& input : inputs) {
    const auto numbers = numbers_of(input);
    known.insert(known.end(), numbers.begin(), numbers.end());
  }
  const std::size_t n_inputs = known.size();
  for (const auto& each : numbers_of(out)) {
    if (std::none_of(known.begin(), known.end(), [&](const auto& other) { return is_same(each, other); }))
      known.push_back(each);
  }
  return known.size() <= n_inputs + 1;
}

class AxisCheck {
 public:
  AxisCheck(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs)
      : op_(op), inputs_(inputs), attrs_(attrs), out_(call(inputs, attrs)) {
    const std::vector<Aval> avals = avals_of(inputs_);
    map_ = op_.axis_map({avals, out_.aval(), attrs_.get()});
  }

  [[nodiscard]] std::string run() const {
    std::string fault = misfit();
    if (fault.empty() && contradicts_class())
      return fmt::format("it is said to be {}", name_of(op_.op_class));
    try {
      for (int axis = 0; axis < out_.rank() && fault.empty(); ++axis) fault = fault_along(axis);
      for (int index = 0; index < map_.n_reduced() && fault.empty(); ++index) fault = fault_over(index);
    } catch (const core::Error& error) {
      fault = fmt::format("parts of inputs are refused ({})", error.what());
    }
    return fault.empty() ? "" : fmt::format("its axes are said to be {}: {}", map_.text(), fault);
  }

 private:
  [[nodiscard]] Tensor call(const Tensors& inputs, const AttrsPtr& attrs) const {
    return record(op_, inputs, attrs, std::source_location::current()).eval();
  }

  /// Returns true if each axis of each input is one of the output's, by itself.
  [[nodiscard]] bool is_by_element() const {
    bool result = true;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const IntList& from = map_.inputs[i].from;
      const auto n = std::count_if(from.begin(), from.end(), [](Dim axis) { return axis >= 0; });
      result = result && n == inputs_[i].rank() && !from.contains(AxisMap::whole);
    }
    return result;
  }

  [[nodiscard]] bool contradicts_class() const {
    return (op_.op_class == OpClass::elementwise && !is_by_element()) ||
           (op_.op_class == OpClass::movement && !moves_only(inputs_, out_));
  }

  /// Returns what shapes alone show to be wrong.
  [[nodiscard]] std::string misfit() const {
    if (map_.inputs.size() != inputs_.size()) return fmt::format("there are {} inputs", inputs_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const auto& [from, reduced] = map_.inputs[i];
      if (from.size() != out_.rank() || reduced.size() != map_.n_reduced())
        return fmt::format("input {} has another number of axes than {}", i, out_.aval().text());
      std::vector<Dim> axes(from.begin(), from.end());
      axes.insert(axes.end(), reduced.begin(), reduced.end());
      if (const std::string fault = misfit(inputs_[i], axes); !fault.empty())
        return fmt::format("{} of input {}", fault, i);
    }
    return "";
  }

  /// Returns it for one input, from the axes that it gives to those of the output and to those reduced.
  [[nodiscard]] std::string misfit(const Tensor& input, const std::vector<Dim>& axes) const {
    IntList taken;
    for (int k = 0; const Dim axis : axes) {
      const int place = k++;
      if (axis < 0) continue;
      if (axis >= input.rank() || taken.contains(axis))
        return fmt::format("there is no axis {}, or it comes twice,", axis);
      if (place < out_.rank() && input.dim(axis) != out_.shape()[place])
        return fmt::format("axis {} of {} has another extent in axis {}", place, out_.aval().text(), axis);
      taken.push_back(axis);
    }
    return "";
  }

  /// Returns the inputs, those that have one of these axes each cut along it.
  template <class AxisOf>
  [[nodiscard]] Tensors cut(const Part& part, AxisOf&& axis_of) const {
    Tensors result = inputs_;
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (const Dim axis = axis_of(map_.inputs[i]); axis >= 0) result[i] = part_of(result[i], axis, part);
    }
    return result;
  }

  [[nodiscard]] bool agrees(const Tensor& joined) const {
    const bool is_exact = op_.op_class == OpClass::elementwise || op_.op_class == OpClass::movement ||
                          op_.op_class == OpClass::random;
    return difference(joined, out_) <= (is_exact ? 0.0 : agreement(out_.dtype()));
  }

  [[nodiscard]] std::string fault_along(int axis) const {
    const auto comes_from = [&](const AxisMap::Input& input) { return input.from[axis]; };
    const auto is_new = [&](const auto& input) { return comes_from(input) == AxisMap::added; };
    if (std::all_of(map_.inputs.begin(), map_.inputs.end(), is_new)) return fault_of_new(axis);
    if (std::none_of(map_.inputs.begin(), map_.inputs.end(),
                     [&](const auto& input) { return comes_from(input) >= 0; }))
      return "";
    Tensors results;
    for (const Part& part : parts_of(out_.shape()[axis])) {
      const AttrsPtr attrs = attrs_ ? attrs_->with_extent(axis, part.last - part.first) : attrs_;
      results.push_back(call(cut(part, comes_from), attrs));
    }
    return agrees(concatenate(results, axis))
               ? ""
               : fmt::format("parts along axis {} are not those of the output", axis);
  }

  [[nodiscard]] std::string fault_of_new(int axis) const {
    const Dim extent = out_.shape()[axis];
    if (extent < 2) return "";
    const Tensors repeated(static_cast<std::size_t>(extent), part_of(out_, axis, {0, 1}));
    return agrees(concatenate(repeated, axis))
               ? ""
               : fmt::format("the output is not repeated along axis {}, which no input has", axis);
  }

  [[nodiscard]] std::string fault_over(int index) const {
    const auto reduced = [&](const AxisMap::Input& input) { return input.reduced[index]; };
    Dim extent = -1;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (const Dim axis = reduced(map_.inputs[i]); axis >= 0) {
        if (extent >= 0 && inputs_[i].dim(axis) != extent)
          return fmt::format("inputs have different extents along reduced axis {}", index);
        extent = inputs_[i].dim(axis);
      }
    }
    if (extent < 0) return fmt::format("no input has the reduced axis {}", index);
    Tensors results;
    for (const Part& part : parts_of(extent)) {
      const bool has_result = part.first < part.last || map_.combine == Combine::sum;
      if (has_result) results.push_back(call(cut(part, reduced), attrs_));  // nothing has no extremum
    }
    if (results.empty()) return "";
    const Tensor total =
        std::accumulate(results.begin() + 1, results.end(), results[0],
                        [&](const Tensor& a, const Tensor& b) { return combined(a, b, map_.combine); });
    // Parts of opposite sign leave a small sum, which is as precise as they are: hence beside them.
    const bool agree = total.shape() == out_.shape() &&
                       difference(beside(total, results), beside(out_, results)) <= agreement(out_.dtype());
    return agree ? "" : fmt::format("parts along reduced axis {} do not give the output", index);
  }

  const OpInfo& op_;
  const Tensors& inputs_;
  const AttrsPtr& attrs_;
  const Tensor out_;
  AxisMap map_;
};

bool is_array(const Tensor& x) { return x.aval().kind == Kind::array; }

}  // namespace

std::string cut_run_join(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs) {
  if (!op.axes && !op.is_axis_by_axis()) return "";  // nothing is said
  if (!std::all_of(inputs.begin(), inputs.end(), is_array))
    return "axes are said of inputs that are no arrays";
  return AxisCheck(op, inputs, attrs).run();
}

}  // namespace lodestone::engine
