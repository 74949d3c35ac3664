// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/cut_run_join.hpp"

#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"
#include "engine/testing/difference.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <span>

namespace lodestone::engine {
namespace {

/// The elements of a box of x, in memory of their own.
Tensor part_of(const Tensor& x, const Box& box) {
  Tensor part = x;
  for (int axis = 0; axis < x.rank(); ++axis) part = slice(part, axis, box.first[axis], box.end(axis));
  return part.eval();
}

Tensor combined(const Tensor& a, const Tensor& b, Combine how) {
  return how == Combine::sum ? a + b : how == Combine::max ? maximum(a, b) : minimum(a, b);
}

/// Combines results of parts by halves, as ranks would.
Tensor combined(std::span<const Tensor> parts, Combine how) {
  if (parts.size() == 1) return parts[0];
  const std::size_t half = parts.size() / 2;
  return combined(combined(parts.first(half), how), combined(parts.subspan(half), how), how);
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

bool is_array(const Tensor& x) { return x.aval().kind == Kind::array; }

class AxisCheck {
 public:
  AxisCheck(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs, Sampler& choices)
      : op_(op), inputs_(inputs), attrs_(attrs), choices_(choices) {
    const Tensor out = record(op_, inputs_, attrs_, std::source_location::current());
    const std::vector<Aval> avals = avals_of(inputs_);
    map_ = op_.axis_map({avals, out.aval(), attrs_.get()});
    results_ = results_of(out);
  }

  [[nodiscard]] CutCheck run(int n_cuts) {
    std::string fault = misfit();
    if (fault.empty() && contradicts_class()) {
      check_.fault = fmt::format("it is said to be {}", name_of(op_.op_class));
      return check_;
    }
    try {
      for (int i = 0; i < std::ssize(map_.labels) && fault.empty(); ++i) {
        for (int n = 0; n < n_cuts && fault.empty() && is_cut(i); ++n) fault = fault_along(i);
      }
    } catch (const core::Error& error) {
      fault = fmt::format("parts of inputs are refused ({})", error.what());
    }
    if (!fault.empty()) check_.fault = fmt::format("its axes are said to be {}: {}", map_.text(), fault);
    return check_;
  }

 private:
  static Tensors results_of(const Tensor& out) {
    Tensors results = is_array(out) ? Tensors{out} : elements_of(out);
    for (Tensor& each : results) each.eval();
    return results;
  }

  [[nodiscard]] Tensors call(const std::vector<AxisRange>& labels) const {
    const std::vector<Box> boxes = operand_boxes(map_, labels);
    Tensors inputs = inputs_;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (is_array(inputs[i])) inputs[i] = part_of(inputs[i], boxes[i]);
    }
    return results_of(
        record(op_, inputs, attrs_of_part(map_, attrs_, labels), std::source_location::current()));
  }

  [[nodiscard]] const Label& label(int i) const { return map_.labels[static_cast<std::size_t>(i)]; }

  /// Returns whether a label is cut: all that depends on it must be an array.
  [[nodiscard]] bool is_cut(int i) const {
    bool result = label(i).kind != Label::Kind::whole && label(i).extent > 0;
    for (std::size_t k = 0; k < inputs_.size(); ++k)
      result = result && (is_array(inputs_[k]) || !map_.depends_on(k, i));
    return result;
  }

  /// Returns true if each axis of each input is one of the output's, by itself.
  [[nodiscard]] bool is_by_element() const {
    const auto is_plain = [](const Label& each) { return each.kind == Label::Kind::free && each.grain == 1; };
    bool result = std::ranges::all_of(map_.labels, is_plain);
    for (const std::vector<AxisAccess>& axes : map_.inputs) {
      result = result && std::ranges::all_of(
                             axes, [](const AxisAccess& axis) { return axis.how == AxisAccess::How::same; });
    }
    return result;
  }

  [[nodiscard]] bool contradicts_class() const {
    return (op_.op_class == OpClass::elementwise && !is_by_element()) ||
           (op_.op_class == OpClass::movement && !moves_only(inputs_, results_[0]));
  }

  /// Returns what shapes alone show to be wrong.
  [[nodiscard]] std::string misfit() const {
    if (map_.inputs.size() != inputs_.size()) return fmt::format("there are {} inputs", inputs_.size());
    if (map_.outputs.size() != results_.size()) return fmt::format("there are {} results", results_.size());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const std::string fault = misfit(inputs_[i].shape(), map_.inputs[i]);
      if (!fault.empty()) return fmt::format("{} of input {}", fault, i);
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const Box box = result_box(map_, i, map_.all());
      if (!(box.shape == results_[i].shape()))
        return fmt::format("result {} is {}", i, results_[i].aval().text());
    }
    return "";
  }

  [[nodiscard]] std::string misfit(const Shape& shape, const std::vector<AxisAccess>& axes) const {
    if (std::ssize(axes) != shape.rank()) return fmt::format("there are {} axes", shape.rank());
    std::vector<int> taken;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const AxisAccess& each = axes[static_cast<std::size_t>(axis)];
      const bool is_same = each.how == AxisAccess::How::same;
      if (each.extent != shape[axis] || (is_same && label(each.label).extent != shape[axis]))
        return fmt::format("another extent is said of axis {}", axis);
      if (is_same && std::ranges::find(taken, each.label) != taken.end())
        return fmt::format("a label comes twice, at last at axis {}", axis);
      if (is_same) taken.push_back(each.label);
    }
    return "";
  }

  /// Draws two to four parts of a label, at multiples of its grain.
  [[nodiscard]] std::vector<AxisRange> parts_of(const Label& cut) {
    std::vector<Dim> ends{cut.extent};
    for (Dim n = choices_.integer(1, 3); n > 0; --n)
      ends.push_back(std::min(choices_.integer(0, (cut.extent - 1) / cut.grain + 1) * cut.grain, cut.extent));
    std::ranges::sort(ends);
    std::vector<AxisRange> parts;
    for (Dim first = 0; const Dim end : ends) {
      parts.push_back({first, end - first});
      first = end;
    }
    return parts;
  }

  /// Returns all places, but now and then only some of another free label.
  [[nodiscard]] std::vector<AxisRange> places_beside(int cut) {
    std::vector<AxisRange> places = map_.all();
    const auto other = static_cast<int>(choices_.integer(0, std::ssize(map_.labels) - 1));
    if (other == cut || !is_cut(other) || label(other).kind != Label::Kind::free || choices_.chance(0.5))
      return places;
    for (const AxisRange& part : parts_of(label(other))) {
      if (part.extent > 0) places[static_cast<std::size_t>(other)] = part;
    }
    return places;
  }

  /// Returns whether the op gives a result for no places of a label: no window, no extremum does.
  [[nodiscard]] bool takes_nothing(const Label& cut) const {
    return op_.op_class != OpClass::window && (cut.kind == Label::Kind::free || map_.combine == Combine::sum);
  }

  [[nodiscard]] std::string fault_along(int cut) {
    const std::vector<AxisRange> places = places_beside(cut);
    std::vector<Tensors> results;
    for (const AxisRange& part : parts_of(label(cut))) {
      if (part.extent == 0 && !takes_nothing(label(cut))) continue;
      std::vector<AxisRange> labels = places;
      labels[static_cast<std::size_t>(cut)] = part;
      results.push_back(call(labels));
      for (std::size_t i = 0; i < results_.size(); ++i) {
        const Shape expected = result_box(map_, i, labels).shape;
        if (!(results.back()[i].shape() == expected))
          return fmt::format("a part has shape {}, not {}", results.back()[i].shape().text(),
                             expected.text());
      }
    }
    for (std::size_t i = 0; i < results_.size(); ++i) {
      Tensors parts;
      for (const Tensors& each : results) parts.push_back(each[i]);
      const Tensor whole = part_of(results_[i], result_box(map_, i, places));
      const bool agree = label(cut).kind == Label::Kind::reduced ? adds_up(parts, whole)
                                                                 : joins(parts, whole, map_.outputs[i], cut);
      if (!agree) return fmt::format("parts along label {} do not give result {}", cut, i);
    }
    return "";
  }

  [[nodiscard]] bool agrees(const Tensor& joined, const Tensor& whole, bool is_free) {
    ++check_.n_comparisons;
    const double gap = difference(joined, whole);
    check_.differs = check_.differs || (is_free && gap > 0.0);
    return gap <= (is_free && op_.is_exact_when_cut() ? 0.0 : agreement(whole.dtype()));
  }

  [[nodiscard]] bool joins(const Tensors& parts, const Tensor& whole, const IntList& axes, int cut) {
    const auto at = std::find(axes.begin(), axes.end(), cut);
    if (at != axes.end()) return agrees(concatenate(parts, static_cast<int>(at - axes.begin())), whole, true);
    return std::ranges::all_of(parts, [&](const Tensor& each) { return agrees(each, whole, true); });
  }

  /// Parts of opposite sign leave a small sum, which is as precise as they are: hence beside them.
  [[nodiscard]] bool adds_up(const Tensors& parts, const Tensor& whole) {
    return agrees(beside(combined(parts, map_.combine), parts), beside(whole, parts), false);
  }

  const OpInfo& op_;
  const Tensors& inputs_;
  const AttrsPtr& attrs_;
  Sampler& choices_;
  AxisMap map_;
  Tensors results_;
  CutCheck check_;
};

}  // namespace

CutCheck cut_run_join(const OpInfo& op, const Tensors& inputs, const AttrsPtr& attrs, Sampler& choices,
                      int n_cuts) {
  if (!op.axes && !op.is_axis_by_axis()) return {};  // nothing is said
  return AxisCheck(op, inputs, attrs, choices).run(n_cuts);
}

CutCheck cut_run_join(const OpInfo& op, DType dtype, std::uint64_t seed, int n_comparisons) {
  CutCheck all;
  for (std::uint64_t n = 0; n < 64 && all.fault.empty() && all.n_comparisons < n_comparisons; ++n) {
    Sampler sampler(dtype, 64 * seed + n);
    const Sample sample = op.sample(sampler);
    Tensors inputs = sample.prepare ? sample.prepare(sample.inputs) : sample.inputs;
    eval(inputs);
    const CutCheck one = cut_run_join(op, inputs, sample.attrs, sampler, 3);
    all.fault = one.fault;
    all.n_comparisons += one.n_comparisons;
    all.differs = all.differs || one.differs;
  }
  return all;
}

}  // namespace lodestone::engine
