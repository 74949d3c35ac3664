// SPDX-License-Identifier: Apache-2.0
// In which passes a direct convolution goes over its outputs, and which window elements each of them takes.
#pragma once

#include "engine/backend/cpu/convolution_geometry.hpp"
#include "engine/graph/scratch.hpp"

namespace lodestone::engine::cpu_backend {

enum class Direction { forward, transposed };

/// Along one axis: outputs first, first + step, … (n of them), output i made of elements i · in_step + offset
/// of the padded copy. Each window element that takes part has an offset.
struct AxisPass {
  Dim first, step, n, in_step;
};

/// The passes of one axis, and the padding that they need: one pass forward; transposed, one for each residue
/// of the output's position.
class AxisPlan {
 public:
  AxisPlan() = default;
  AxisPlan(const Geometry& g, std::size_t axis, Direction direction);
  [[nodiscard]] Dim n_passes() const { return n_passes_; }
  [[nodiscard]] AxisPass pass(Dim i) const;
  /// Calls visit(window element, offset) for those of a pass.
  template <class Visit>
  void for_each_tap(Dim pass, Visit&& visit) const {
    for (Dim i = 0; i < window_; ++i) {
      if (takes(pass, i)) visit(i, offset(pass, i));
    }
  }
  [[nodiscard]] Dim low() const { return low_; }
  [[nodiscard]] Dim size() const { return size_; }

 private:
  // Forward, y[p] takes x[p · stride + i · dilation − low]; transposed, x[q] takes y[p] from every window
  // element i with p · stride + i · dilation = q + low.
  [[nodiscard]] Dim reached(Dim pass, Dim i) const { return pass + padding_ - i * dilation_; }
  [[nodiscard]] bool takes(Dim pass, Dim i) const {
    return direction_ == Direction::forward || reached(pass, i) % stride_ == 0;
  }
  [[nodiscard]] Dim offset(Dim pass, Dim i) const {
    return direction_ == Direction::forward ? i * dilation_ : reached(pass, i) / stride_ + low_;
  }

  Direction direction_ = Direction::forward;
  Dim n_outputs_ = 0, window_ = 0, stride_ = 1, dilation_ = 1, padding_ = 0;
  Dim n_passes_ = 0, low_ = 0, size_ = 0;
};

/// A pass over all axes with the weights it needs.
template <class T>
struct Pass {
  std::array<AxisPass, 3> axes;
  Dim n_taps;
  const Dim *offsets, *numbers;  ///< places of its window elements in the padded copy and in the window
  const T* weights;              ///< [blocks of columns][taps][depth][width]
};

/// The passes of a convolution, in the scratch of its kernel. Their weights lie one behind the other.
template <class T>
class Passes {
 public:
  /// Places the passes; weights of `columns` outputs in blocks of `width`, of `depth` elements each. Those
  /// that are `packed` already are used where they are.
  Passes(Layout& layout, const std::array<AxisPlan, 3>& plans, const Geometry& g, Dim depth, Dim columns,
         Dim width, const T* packed = nullptr)
      : plans_(plans),
        window_(g.window),
        depth_(depth),
        columns_(columns),
        width_(width),
        n_(plans[0].n_passes() * plans[1].n_passes() * plans[2].n_passes()),
        passes_(layout.array<Pass<T>>(n_)),
        offsets_(layout.array<Dim>(g.n_taps())),
        numbers_(layout.array<Dim>(g.n_taps())),
        n_weights_(n_blocks() * width * depth * g.n_taps()),
        own_weights_(layout.array<T>(packed == nullptr ? n_weights_ : 0)),
        weights_(packed == nullptr ? own_weights_ : packed) {}

  [[nodiscard]] std::span<const Pass<T>> all() const { return {passes_, static_cast<std::size_t>(n_)}; }

  /// Finds the passes' window elements in a padded copy.
  void find(const Box& box) {
    Dim* offset = offsets_;
    Dim* number = numbers_;
    const T* weights = weights_;
    for (Dim i = 0; i < n_; ++i) {
      const Dim c = i % plans_[2].n_passes(), b = i / plans_[2].n_passes() % plans_[1].n_passes(),
                a = i / plans_[2].n_passes() / plans_[1].n_passes();
      Pass<T>& pass = passes_[i];
      pass = {{plans_[0].pass(a), plans_[1].pass(b), plans_[2].pass(c)}, 0, offset, number, weights};
      plans_[0].for_each_tap(a, [&](Dim in_a, Dim at_a) {
        plans_[1].for_each_tap(b, [&](Dim in_b, Dim at_b) {
          plans_[2].for_each_tap(c, [&](Dim in_c, Dim at_c) {
            *offset++ = at_a * box.step(0) + at_b * box.step(1) + at_c * box.step(2);
            *number++ = (in_a * window_[1] + in_b) * window_[2] + in_c;
          });
        });
      });
      pass.n_taps = offset - pass.offsets;
      weights += n_blocks() * width_ * depth_ * pass.n_taps;
    }
  }

  /// Returns the elements of the packed weights.
  [[nodiscard]] Dim n_weights() const { return n_weights_; }
  /// Packs weight(window element, s, column) of every pass in the scratch.
  template <class Weight>
  void pack(Weight&& weight) const {
    pack(own_weights_, weight);
  }
  /// Packs them there, zeros behind the last column.
  template <class Weight>
  void pack(T* to, Weight&& weight) const {
    for (const Pass<T>& pass : all()) {
      for (Dim first = 0; first < columns_; first += width_) {
        const Dim n = std::min(width_, columns_ - first);
        for (Dim tap = 0; tap < pass.n_taps; ++tap) {
          for (Dim s = 0; s < depth_; ++s, to += width_) {
            for (Dim j = 0; j < n; ++j) to[j] = weight(pass.numbers[tap], s, first + j);
            std::fill_n(to + n, width_ - n, T(0));
          }
        }
      }
    }
  }

 private:
  [[nodiscard]] Dim n_blocks() const { return (columns_ + width_ - 1) / width_; }
  std::array<AxisPlan, 3> plans_;
  Triple window_;
  Dim depth_, columns_, width_, n_;
  Pass<T>* passes_;
  Dim *offsets_, *numbers_;
  Dim n_weights_;
  T* own_weights_;
  const T* weights_;
};

}  // namespace lodestone::engine::cpu_backend
