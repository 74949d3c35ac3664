// SPDX-License-Identifier: Apache-2.0
// Convolutions in f32 by oneDNN. Items are divided by shape alone, so that no bit depends on the number of
// threads.
#include "engine/backend/cpu/convolution_geometry.hpp"
#include "engine/backend/cpu/hand_over.hpp"
#include "engine/backend/cpu/kernels.hpp"
#include "engine/backend/cpu/onednn.hpp"
#include "engine/backend/cpu/share.hpp"
#include "engine/graph/op_table.hpp"

#include <optional>

namespace lodestone::engine::cpu_backend {
namespace {

using dnnl::memory;

enum class Wanted : std::uint8_t { y, slope_in_w };

/// All that oneDNN makes a convolution for.
struct Problem {
  Wanted wanted;
  Dim items, channels, k;
  int n_axes;
  Triple extent, window, positions, stride, low, dilation;

  Problem(Wanted result, const Geometry& g, int axes)
      : wanted(result),
        items(g.items),
        channels(g.channels),
        k(g.k),
        n_axes(axes),
        extent(g.extent),
        window(g.window),
        positions(g.positions),
        stride(g.stride),
        low(g.low),
        dilation(g.dilation) {}
  auto operator<=>(const Problem&) const = default;

  [[nodiscard]] Dim x_item() const { return volume(extent) * channels; }
  [[nodiscard]] Dim y_item() const { return volume(positions) * k; }
  [[nodiscard]] Dim n_weights() const { return volume(window) * channels * k; }
  /// Returns the nanoseconds that it takes on one thread, roughly.
  [[nodiscard]] double ns() const {
    return 0.01 * static_cast<double>(items * y_item() * volume(window) * channels);
  }
};

// Descriptions of arrays, channels last.

/// Returns two extents and those of the axes that the array has.
memory::dims extents(Dim first, Dim second, const Triple& axes, int n_axes) {
  memory::dims dims{first, second};
  dims.insert(dims.end(), axes.end() - n_axes, axes.end());
  return dims;
}
memory::dims shifted(const Triple& axes, int n_axes, Dim shift) {
  memory::dims dims(axes.end() - n_axes, axes.end());
  for (Dim& each : dims) each += shift;
  return dims;
}
memory::desc items_of(Dim items, Dim channels, const Triple& axes, int n_axes) {
  constexpr std::array tags{memory::format_tag::nwc, memory::format_tag::nhwc, memory::format_tag::ndhwc};
  return {extents(items, channels, axes, n_axes), memory::data_type::f32,
          tags.at(static_cast<std::size_t>(n_axes - 1))};
}
enum class Order { stored, any };
memory::desc weights_of(const Problem& p, Order order) {
  constexpr std::array tags{memory::format_tag::wio, memory::format_tag::hwio, memory::format_tag::dhwio};
  return {extents(p.k, p.channels, p.window, p.n_axes), memory::data_type::f32,
          order == Order::any ? memory::format_tag::any : tags.at(static_cast<std::size_t>(p.n_axes - 1))};
}

/// A convolution of some items on one thread, with the weights in the order that oneDNN likes best.
class Convolution {
 public:
  /// Makes it. errors: dnnl::error where the library has none.
  explicit Convolution(const Problem& p)
      : wanted_(p.wanted),
        x_(onednn::array(items_of(p.items, p.channels, p.extent, p.n_axes))),
        y_(onednn::array(items_of(p.items, p.k, p.positions, p.n_axes))),
        weights_(onednn::array(weights_of(p, Order::stored))) {
    const Descriptions of(p, *this);
    const dnnl::convolution_forward::primitive_desc forward(
        {wanted_ == Wanted::y ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training,
         dnnl::algorithm::convolution_direct, of.x, of.w, of.y, of.stride, of.dilation, of.low, of.high},
        onednn::with_own_workspace(), onednn::processor());
    if (wanted_ == Wanted::y) {
      take<dnnl::convolution_forward>(forward, forward.weights_desc());
    } else {
      const dnnl::convolution_backward_weights::primitive_desc back(
          {dnnl::algorithm::convolution_direct, of.x, of.w, of.y, of.stride, of.dilation, of.low, of.high},
          onednn::with_own_workspace(), onednn::processor(), forward);
      take<dnnl::convolution_backward_weights>(back, back.diff_weights_desc());
    }
  }

  [[nodiscard]] bool is_fast() const { return is_fast_; }
  /// Returns the bytes of the weights in its order, and of its workspace.
  [[nodiscard]] std::size_t scratch_bytes() const {
    return Scratch::aligned(packed_bytes()) + workspace_.get_desc().get_size();
  }

  /// Returns the bytes of the weights in its order; 0 where that is the one in which they are stored.
  [[nodiscard]] std::size_t packed_bytes() const { return is_packed_ ? packed_.get_desc().get_size() : 0; }
  [[nodiscard]] bool packs_as(const Convolution& other) const {
    return packed_.get_desc() == other.packed_.get_desc();
  }
  /// Brings the weights into its order, in `to`.
  void pack(const float* w, std::byte* to) {
    weights_.set_data_handle(const_cast<float*>(w));  // read only
    if (!is_packed_) return;
    packed_.set_data_handle(to);
    onednn::run(reorder_, {{DNNL_ARG_FROM, weights_}, {DNNL_ARG_TO, packed_}});
  }
  /// Takes weights that are in its order.
  void take_packed(const std::byte* packed) { packed_.set_data_handle(const_cast<std::byte*>(packed)); }
  /// Computes y with the weights that it packed or took last.
  void run(const float* x, float* y, std::byte* scratch) {
    place(x, y, scratch);
    onednn::run(primitive_, {{DNNL_ARG_SRC, x_},
                             {DNNL_ARG_WEIGHTS, is_packed_ ? packed_ : weights_},
                             {DNNL_ARG_DST, y_},
                             {DNNL_ARG_SCRATCHPAD, workspace_}});
  }
  /// Computes the slope in the weights.
  void run_weights(const float* x, const float* y, float* w, std::byte* scratch) {
    place(x, y, scratch);
    weights_.set_data_handle(w);
    if (is_packed_) packed_.set_data_handle(scratch);
    onednn::run(primitive_, {{DNNL_ARG_SRC, x_},
                             {DNNL_ARG_DIFF_DST, y_},
                             {DNNL_ARG_DIFF_WEIGHTS, is_packed_ ? packed_ : weights_},
                             {DNNL_ARG_SCRATCHPAD, workspace_}});
    if (is_packed_) onednn::run(reorder_, {{DNNL_ARG_FROM, packed_}, {DNNL_ARG_TO, weights_}});
  }

 private:
  /// The arrays and numbers of a convolution as the library wants them.
  struct Descriptions {
    memory::desc x, y, w;
    memory::dims stride, dilation, low, high;

    Descriptions(const Problem& p, const Convolution& of)
        : x(of.x_.get_desc()),
          y(of.y_.get_desc()),
          w(weights_of(p, Order::any)),
          stride(shifted(p.stride, p.n_axes, 0)),
          dilation(shifted(p.dilation, p.n_axes, -1)),
          low(shifted(p.low, p.n_axes, 0)) {
      Triple rest{};
      for (std::size_t i = 0; i < 3; ++i) {
        const Dim reach = (p.positions[i] - 1) * p.stride[i] + (p.window[i] - 1) * p.dilation[i] + 1;
        rest[i] = std::max<Dim>(reach - p.extent[i] - p.low[i], 0);
      }
      high = shifted(rest, p.n_axes, 0);
    }
  };

  template <class Primitive, class Description>
  void take(const Description& description, const memory::desc& weights) {
    is_fast_ = onednn::is_fast(description.impl_info_str());
    primitive_ = Primitive(description);
    workspace_ = onednn::array(description.scratchpad_desc());
    packed_ = onednn::array(weights);
    is_packed_ = weights != weights_.get_desc();
    if (!is_packed_) return;
    reorder_ =
        wanted_ == Wanted::slope_in_w ? dnnl::reorder(packed_, weights_) : dnnl::reorder(weights_, packed_);
  }
  void place(const float* x, const float* y, std::byte* scratch) {
    x_.set_data_handle(const_cast<float*>(x));  // one of them is written, of memory that is not constant
    y_.set_data_handle(const_cast<float*>(y));
    workspace_.set_data_handle(scratch + Scratch::aligned(packed_bytes()));
  }

  Wanted wanted_;
  bool is_fast_ = false, is_packed_ = false;
  dnnl::memory x_, y_, weights_, packed_, workspace_;
  dnnl::primitive primitive_;
  dnnl::reorder reorder_;
};

/// Returns a division of the items, where the slopes of all pieces in the weights have room. Two threads
/// share the least of it.
onednn::Pieces pieces_of(const Problem& p) {
  constexpr Dim bytes_of_sums = Dim{1} << 24;
  const Dim room = bytes_of_sums / (p.n_weights() * Dim{sizeof(float)});
  return {p.items, p.ns(), p.wanted == Wanted::slope_in_w ? room : onednn::Pieces::most, 2};
}

/// Returns the calling thread's convolution for a piece.
Convolution* convolution_for(Problem problem, const onednn::Pieces& pieces, Dim i) {
  problem.items = pieces.items_of(i, problem.items);
  return onednn::made_of<Convolution>(problem);
}

/// x, y and w of a convolution, one of which is the output.
struct Operands {
  const View &x, &y, &w;
};
Operands operands(Wanted wanted, const KernelCall& call) {
  if (wanted == Wanted::y) return {call.in[0], call.out[0], call.in[1]};
  return {call.in[0], call.in[1], call.out[0]};
}

/// Returns true for two classes, slopes in the weights and strides. Of nearly all their shapes oneDNN takes
/// at most 1 / 1.1 of the time of `cpu.direct`, on one thread and on two (docs/results/engine.md, "oneDNN").
bool is_faster(Wanted wanted, const Geometry& g) {
  constexpr Dim least_channels = 8;
  constexpr double least_ns = 5e3;  // below, a call costs more than it saves
  return g.groups == 1 && g.channels >= least_channels && g.k >= least_channels &&
         g.ns<float>() >= least_ns && *std::min_element(g.low.begin(), g.low.end()) >= 0 &&
         (wanted == Wanted::slope_in_w || *std::max_element(g.stride.begin(), g.stride.end()) > 1);
}

/// Returns the problem of a call if this is the place to solve it: by shape alone.
std::optional<Problem> problem_of(Wanted wanted, const KernelCall& call) {
  const Operands of = operands(wanted, call);
  const Geometry g(call.attrs_of<ConvAttrs>(), of.x.shape(), of.w.shape(), of.y.shape());
  if (!is_faster(wanted, g)) return std::nullopt;
  const Problem problem(wanted, g, of.x.shape().rank() - 2);
  const onednn::Pieces pieces = pieces_of(problem);
  for (const Dim i : {Dim{0}, pieces.n - 1}) {
    if (convolution_for(problem, pieces, i) == nullptr) return std::nullopt;
  }
  return problem;
}

/// Returns the place of the sums of pieces, if there are several.
float* sums_of(Layout& layout, const onednn::Pieces& pieces, const Problem& problem) {
  return layout.array<float>(pieces.n > 1 ? pieces.n * problem.n_weights() : 0);
}

template <Wanted wanted>
void convolve(const KernelCall& call, const Problem& problem) {
  const Operands of = operands(wanted, call);
  const onednn::Pieces pieces = pieces_of(problem);
  Layout shared(call.scratch.shared());
  float* const sums = wanted == Wanted::slope_in_w ? sums_of(shared, pieces, problem) : nullptr;
  share(pieces.n, problem.ns(), [&](Dim first, Dim last) {
    const onednn::OneThread alone;
    std::byte* const scratch = call.scratch.of_this_thread();
    Convolution* packed = nullptr;
    HandOver done(call);
    for (Dim i = first; i < last; ++i) {
      Convolution& convolution = *convolution_for(problem, pieces, i);
      const float* const x = of.x.as<float>() + i * pieces.items * problem.x_item();
      float* const y = of.y.as<float>() + i * pieces.items * problem.y_item();
      if constexpr (wanted == Wanted::slope_in_w) {
        convolution.run_weights(x, y, sums == nullptr ? of.w.as<float>() : sums + i * problem.n_weights(),
                                scratch);
      } else {
        if (call.packed != nullptr)
          convolution.take_packed(call.packed);
        else if (packed != &convolution)
          convolution.pack(of.w.as<float>(), scratch);
        packed = &convolution;
        convolution.run(x, y, scratch);
        done(i * pieces.items * problem.y_item(), pieces.items_of(i, problem.items) * problem.y_item());
      }
    }
    done.finish();
  });
  if (sums == nullptr) return;
  float* const w = of.w.as<float>();
  std::copy_n(sums, problem.n_weights(), w);
  for (Dim i = 1; i < pieces.n; ++i) {
    const float* const from = sums + i * problem.n_weights();
    take_over(from, problem.n_weights());
    for (Dim j = 0; j < problem.n_weights(); ++j) w[j] += from[j];
  }
}

template <Wanted wanted>
void run(const KernelCall& call) {
  if (const auto problem = problem_of(wanted, call)) return convolve<wanted>(call, *problem);
  onednn::own_kernel(call).run(call);
}

template <Wanted wanted>
Workspace workspace(const KernelCall& call) {
  const auto problem = problem_of(wanted, call);
  if (!problem) return onednn::own_kernel(call).workspace(call);
  const onednn::Pieces pieces = pieces_of(*problem);
  Layout shared;
  if (wanted == Wanted::slope_in_w) static_cast<void>(sums_of(shared, pieces, *problem));
  std::size_t own = 0;
  for (const Dim i : {Dim{0}, pieces.n - 1})
    own = std::max(own, convolution_for(*problem, pieces, i)->scratch_bytes());
  return {.shared = shared.bytes(), .per_thread = own};
}

/// Weights are packed for all pieces at once, if these want them alike.
Packing packing(const KernelCall& call) {
  const auto problem = problem_of(Wanted::y, call);
  if (!problem) return onednn::own_kernel(call).packing(call);
  const onednn::Pieces pieces = pieces_of(*problem);
  const Convolution &first = *convolution_for(*problem, pieces, 0),
                    &last = *convolution_for(*problem, pieces, pieces.n - 1);
  return {1, first.packs_as(last) ? first.packed_bytes() : 0};
}

void pack(const KernelCall& call, std::byte* to) {
  const auto problem = problem_of(Wanted::y, call);
  if (!problem) return onednn::own_kernel(call).pack(call, to);
  const onednn::OneThread alone;
  convolution_for(*problem, pieces_of(*problem), 0)->pack(call.in[1].as<float>(), to);
}

/// Readers are for our own kernels.
template <Wanted wanted>
Dim reads_by(const KernelCall& call) {
  const Kernel& own = onednn::own_kernel(call);
  return own.reads_by == nullptr || problem_of(wanted, call) ? 0 : own.reads_by(call);
}

template <Wanted wanted>
void put(OpInfo& row) {
  const Kernel& own = row.kernel_of(Backend::processor, DType::f32);
  row.with_kernel(Backend::onednn, DType::f32,
                  {.name = own.name,
                   .run = run<wanted>,
                   .contiguous_inputs = true,
                   .reads_once = own.reads_once,
                   .workspace = workspace<wanted>,
                   .hands_over = own.hands_over,
                   .reads_by = reads_by<wanted>,
                   .packing = own.packing == nullptr ? nullptr : packing,
                   .pack = own.pack == nullptr ? nullptr : pack});
}

}  // namespace

void register_onednn_convolutions(OpTable& table) {
  if (!onednn::is_wanted()) return;
  put<Wanted::y>(table.at("conv"));
  put<Wanted::slope_in_w>(table.at("conv_weights"));
}

}  // namespace lodestone::engine::cpu_backend
