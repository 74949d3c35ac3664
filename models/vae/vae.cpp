// SPDX-License-Identifier: Apache-2.0
#include "models/vae/vae.hpp"

#include "engine/core/error.hpp"
#include "engine/nn/activation.hpp"
#include "engine/nn/convolution.hpp"
#include "engine/nn/normalization.hpp"
#include "engine/nn/pooling.hpp"
#include "engine/ops/ops.hpp"

#include <array>
#include <vector>

namespace lodestone::models::vae {
namespace {

using namespace engine;

/// Returns the cells along the axes of the convolutions.
std::vector<Dim> spatial(const VaeOptions& options) {
  if (options.kind == VaeKind::column) return {options.cells_z};
  if (options.kind == VaeKind::patch) return {options.cells_z, options.cells_y};
  return {options.cells_z, options.cells_y, options.cells_x};
}
IntList all_axes(const VaeOptions& options, Dim value) {
  return IntList::filled(static_cast<int>(spatial(options).size()), value);
}

/// Returns the extents at the coarsest level, rounded up.
Dim coarse(Dim cells, const VaeOptions& options) {
  const Dim factor = Dim{1} << options.channels.size();
  return (cells + factor - 1) / factor;
}
Dim padded(Dim cells, const VaeOptions& options) { return coarse(cells, options) << options.channels.size(); }
Dim n_coarse(const VaeOptions& options) {
  Dim product = 1;
  for (const Dim cells : spatial(options)) product *= coarse(cells, options);
  return product;
}
/// Returns the shape of n items of so many cells along each axis with channels.
Shape image_shape(Dim n, const std::vector<Dim>& cells, Dim channels) {
  Shape shape{n};
  for (const Dim each : cells) shape.push_back(each);
  shape.push_back(channels);
  return shape;
}
/// Returns the numbers between the convolutions and the dense layers.
Dim n_flat(const VaeOptions& options) { return n_coarse(options) * options.channels.back(); }

/// Makes a block: window 3 along each axis, same length, batch norm, swish.
Layer block(const VaeOptions& options, InitialValues& initial, Dim c_in, Dim c_out) {
  return Sequential{
      Conv(c_in, c_out, initial,
           {.window = all_axes(options, 3), .padding = all_axes(options, 1), .bias = Bias::no}),
      BatchNorm(c_out, initial),
      silu,
  };
}

/// Makes a block: window 3, twice the length.
Layer upsample(const VaeOptions& options, InitialValues& initial, Dim c_in, Dim c_out) {
  const ConvLayerOptions conv{.window = all_axes(options, 3),
                              .stride = all_axes(options, 2),
                              .padding = all_axes(options, 1),
                              .bias = Bias::no};
  return ConvTranspose(c_in, c_out, initial, {.conv = conv, .output_padding = all_axes(options, 1)});
}

Sequential down(const VaeOptions& options, InitialValues& initial) {
  std::vector<Layer> result;
  Dim c_in = 1;
  for (const Dim c_out : options.channels) {
    result.push_back(block(options, initial, c_in, c_out));
    result.push_back(block(options, initial, c_out, c_out));
    result.emplace_back(MaxPool({.window = all_axes(options, 2)}));
    c_in = c_out;
  }
  result.emplace_back(flatten);
  return Sequential(result);
}

Sequential up(const VaeOptions& options, InitialValues& initial) {
  std::vector<Layer> result;
  Dim c_in = options.channels.back();
  for (std::size_t level = options.channels.size() - 1; level-- > 0;) {
    const Dim c_out = options.channels[level];
    result.push_back(upsample(options, initial, c_in, c_out));
    for (int i = 0; i < 2; ++i) result.push_back(block(options, initial, c_out, c_out));
    c_in = c_out;
  }
  result.push_back(upsample(options, initial, c_in, 1));
  result.emplace_back(Conv(
      1, 1, initial, {.window = all_axes(options, 3), .padding = all_axes(options, 1), .bias = Bias::no}));
  return Sequential(result);
}

/// The last cells of an axis repeated up to this extent.
Tensor extended(const Tensor& x, int axis, Dim extent) {
  const Dim n = x.dim(axis);
  if (n == extent) return x;
  Shape more = x.shape();
  more[axis] = extent - n;
  return concatenate(std::array{x, broadcast_to(slice(x, axis, n - 1, n), more)}, axis);
}

/// Checks that `x` is [any, n]. errors: ShapeError.
void check_rows(const char* what, const Tensor& x, Dim n) {
  if (x.rank() != 2 || x.dim(1) != n)
    throw core::ShapeError("models::Vae#wrong_columns", "expected {} [n, {}], got {}", what, n,
                           x.aval().text());
}

const VaeOptions& checked(const VaeOptions& options) {
  options.check();
  return options;
}

}  // namespace

void VaeOptions::check() const {
  if (cells_z < 1 || cells_y < 1 || cells_x < 1)
    throw core::InvalidArgument("models::VaeOptions#no_cells",
                                "expected at least one cell each way, got {} × {} × {}", cells_z, cells_y,
                                cells_x);
  if (kind != VaeKind::volume && cells_x != 1)
    throw core::InvalidArgument(
        "models::VaeOptions#several_along_x",
        "expected one cell along x, got {}; the network of subdomains with several is "
        "\"volume\"",
        cells_x);
  if (kind == VaeKind::column && cells_y != 1)
    throw core::InvalidArgument(
        "models::VaeOptions#several_columns",
        "expected one column of cells, got {}; the network of subdomains with several is \"patch\"", cells_y);
  if (n_codes < 1)
    throw core::InvalidArgument("models::VaeOptions#no_codes", "expected at least one code, got {}", n_codes);
  if (channels.empty() || channels.size() > 8)
    throw core::InvalidArgument("models::VaeOptions#wrong_levels",
                                "expected the channels of 1 to 8 levels, got {}", channels.size());
  for (const Dim each : channels) {
    if (each < 1)
      throw core::InvalidArgument("models::VaeOptions#no_channels",
                                  "expected at least one channel per level, got {}", each);
  }
}

VaeDecoderNet::VaeDecoderNet(const VaeOptions& options, InitialValues& initial)
    : options_(checked(options)),
      dense_(add("dense", Linear(options.n_codes, n_flat(options), initial))),
      up_(add("up", up(options, initial))) {}

Tensor VaeDecoderNet::operator()(const Tensor& codes) const {
  check_rows("codes", codes, options_.n_codes);
  const Tensor flat = swish(dense_(codes));
  std::vector<Dim> coarsest = spatial(options_);
  for (Dim& each : coarsest) each = coarse(each, options_);
  const Dim n = codes.dim(0);
  Tensor cells = squeeze(up_(reshape(flat, image_shape(n, coarsest, options_.channels.back()))), -1);
  int axis = 0;
  for (const Dim each : spatial(options_)) {
    ++axis;
    if (cells.dim(axis) != each) cells = slice(cells, axis, 0, each);
  }
  return axis == 1 ? cells : reshape(cells, {n, options_.n_cells()});
}

Vae::Vae(const VaeOptions& options, InitialValues& initial)
    : options_(checked(options)),
      encoder_(add("encoder", down(options, initial))),
      mean_(add("mean", Linear(n_flat(options), options.n_codes, initial))),
      log_variance_(add("log_variance", Linear(n_flat(options), options.n_codes, initial))),
      decoder_(add("decoder", VaeDecoderNet(options, initial))) {
  if (options.centre)
    centre_ = add_state("centre", zeros({options.n_cells()}, initial.dtype(), initial.device()));
}

Vae::Codes Vae::encode(const Tensor& given) const {
  check_rows("cells", given, options_.n_cells());
  const Tensor cells = centre_ ? given - centre_->value() : given;
  const std::vector<Dim> extents = spatial(options_);
  Tensor image =
      extents.size() == 1 ? expand_dims(cells, -1) : reshape(cells, image_shape(cells.dim(0), extents, 1));
  for (int axis = static_cast<int>(extents.size()); axis > 0; --axis)
    image = extended(image, axis, padded(extents[static_cast<std::size_t>(axis) - 1], options_));
  const Tensor flat = encoder_(image);
  return {mean_(flat), log_variance_(flat)};
}

Tensor Vae::decode(const Tensor& codes) const {
  return centre_ ? decoder_(codes) + centre_->value() : decoder_(codes);
}

void Vae::set_centre(const Tensor& cells) const {
  if (!centre_)
    throw core::InvalidArgument(
        "models::Vae#no_centre",
        "expected a network with VaeOptions::centre, which subtracts a mean, got one without");
  centre_->assign(cast(cells, centre_->aval().dtype).eval());
}

std::int64_t Vae::n_parameters() const {
  std::int64_t total = 0;
  for (const Variable& each : parameters()) total += each.aval().count();
  return total;
}

}  // namespace lodestone::models::vae
