// SPDX-License-Identifier: Apache-2.0
#include "models/vae/trained_vae.hpp"

#include "engine/core/build_info.hpp"
#include "engine/core/error.hpp"
#include "engine/ops/ops.hpp"
#include "engine/state/tensor_io.hpp"
#include "inversion/prior/decoder.hpp"

#include <algorithm>
#include <cmath>

namespace lodestone::models::vae {
namespace {

using namespace engine;
using physics::mesh::Axis;

constexpr const char* format_name = "lodestone vae";
constexpr const char* format_version = "1";
constexpr const char* net_prefix = "net/";

void check_size(const char* what, Eigen::Index n, Eigen::Index expected) {
  if (n != expected)
    throw core::ShapeError("models::TrainedVae#wrong_size", "expected {} numbers as {}, got {}", expected,
                           what, n);
}

/// Calls the visitor with scalars and vectors of the statistics by name, for both ways.
template <class Statistics, class Visit>
void for_each_vector(Statistics& statistics, const Visit& visit) {
  visit("statistics/mean", statistics.mean);
  visit("statistics/cell_rms", statistics.cell_rms);
  visit("statistics/code_mean", statistics.code_mean);
  visit("statistics/code_deviation", statistics.code_deviation);
  visit("statistics/code_variance", statistics.code_variance);
  visit("statistics/code_divergence", statistics.code_divergence);
}

std::vector<double> numbers_of(const Eigen::VectorXd& values) { return {values.begin(), values.end()}; }
Eigen::VectorXd vector_of(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), std::ssize(values));
}

void write_options(core::ArraySink& sink, const VaeOptions& options) {
  std::vector<std::int64_t> sizes{options.cells_z, options.cells_y, options.n_codes, options.centre ? 1 : 0};
  const bool is_volume = options.kind == VaeKind::volume;
  if (is_volume) sizes.push_back(options.cells_x);
  core::write_vector(sink, "options/sizes", sizes);
  core::write_vector(sink, "options/channels",
                     std::vector<std::int64_t>(options.channels.begin(), options.channels.end()));
  sink.attribute("options/sizes", "kind", std::string(core::word(options.kind)));
  sink.attribute(
      "options/sizes", "order",
      is_volume ? "cells_z, cells_y, n_codes, centre, cells_x" : "cells_z, cells_y, n_codes, centre");
}

VaeOptions read_options(const core::ArraySource& source) {
  const auto sizes = core::read_integers(source, "options/sizes");
  const std::string kind = source.attribute("options/sizes", "kind");
  if (sizes.size() != 4 && sizes.size() != 5)
    throw core::FormatError("models::TrainedVae#wrong_sizes",
                            "{}: expected four sizes of a network, or five of one for volumes, got {}",
                            source.location(), sizes.size());
  const auto channels = core::read_integers(source, "options/channels");
  VaeOptions options{
      .kind = core::parse<VaeKind, core::FormatError>(kind, source.location() + ": kind of the network"),
      .cells_z = sizes[0],
      .cells_y = sizes[1],
      .cells_x = sizes.size() == 5 ? sizes[4] : 1,
      .n_codes = sizes[2],
      .channels = {channels.begin(), channels.end()},
      .centre = sizes[3] != 0};
  constexpr Dim most = 1 << 16;  // a damaged file must not ask for all memory
  const bool sensible =
      std::max({options.cells_z, options.cells_y, options.cells_x, options.n_codes}) <= most &&
      std::ranges::all_of(options.channels, [](Dim each) { return each <= 4096; });
  try {
    options.check();
  } catch (const core::InvalidArgument& error) {
    throw core::FormatError("models::TrainedVae#wrong_options", "{}: {}", source.location(), error.what());
  }
  if (!sensible)
    throw core::FormatError("models::TrainedVae#absurd_sizes",
                            "{}: expected sizes of a network of subdomains, got {} × {} cells",
                            source.location(), sizes[0], sizes[1]);
  return options;
}

/// Returns the arrays of the file under "net/", without it.
NamedTensors read_net(const core::ArraySource& source) {
  NamedTensors state;
  for (const std::string& name : source.names()) {
    if (name.starts_with(net_prefix))
      state.emplace(name.substr(std::string_view(net_prefix).size()), read_tensor(source, name));
  }
  return state;
}

void check_finite(const core::ArraySource& source, const NamedTensors& state) {
  for (const auto& [name, tensor] : state) {
    const auto numbers = tensor.dtype() == DType::f32 ? tensor.to_vector<float>() : std::vector<float>{};
    if (!std::ranges::all_of(numbers, [](float each) { return std::isfinite(each); }))
      throw core::FormatError(
          "models::TrainedVae#weights_not_finite",
          "{}: expected finite weights, got a number that is not in {}{}; train the network again (a lower "
          "learning_rate where its loss was not finite), or "
          "restore the file",
          source.location(), net_prefix, name);
  }
}

/// Checks the statistics. errors: FormatError where they cannot serve as weights.
void check_statistics(const core::ArraySource& source, const VaeStatistics& statistics) {
  const auto check = [&](const char* name, bool is_sound) {
    if (!is_sound)
      throw core::FormatError("models::TrainedVae#unsound_statistics",
                              "{}: expected finite statistics of the draws and positive scores, got others "
                              "in {}; train the network again",
                              source.location(), name);
  };
  for_each_vector(statistics,
                  [&](const char* name, const Eigen::VectorXd& values) { check(name, values.allFinite()); });
  check("statistics/covariance", statistics.covariance.allFinite());
  for (const double score : {statistics.rms, statistics.reduced_chi_square})
    check("statistics/rms", std::isfinite(score) && score > 0.0);
}

void check_format(const core::ArraySource& source) {
  const bool is_ours = source.has_attribute("", "format") && source.attribute("", "format") == format_name;
  if (!is_ours)
    throw core::FormatError("models::TrainedVae#not_a_network",
                            "{}: expected a network written by `mt_invert train`, got {}", source.location(),
                            source.has_attribute("", "format")
                                ? "a file of kind \"" + source.attribute("", "format") + "\""
                                : "another kind of file");
  const std::string version = source.attribute("", "format_version");
  if (version != format_version)
    throw core::FormatError("models::TrainedVae#other_version",
                            "{}: expected format {}, got {}; a newer program wrote it", source.location(),
                            format_version, version);
}

}  // namespace

TrainedVae::TrainedVae(Vae net, physics::mesh::TensorGrid grid, VaeStatistics statistics, std::string card)
    : net_(std::move(net)),
      grid_(std::move(grid)),
      statistics_(std::move(statistics)),
      card_(std::move(card)) {
  const VaeOptions& options = net_.options();
  if (grid_.n_z() != options.cells_z || grid_.n_y() != options.cells_y || grid_.n_x() != options.cells_x)
    throw core::ShapeError(
        "models::TrainedVae#wrong_grid",
        "expected a grid of {} × {} × {} cells (z, y, x) as the network has, got {} × {} × {}",
        options.cells_z, options.cells_y, options.cells_x, grid_.n_z(), grid_.n_y(), grid_.n_x());
  const Eigen::Index n_cells = options.n_cells();
  check_size("mean", statistics_.mean.size(), n_cells);
  check_size("covariance", statistics_.covariance.size(), n_cells * n_cells);
  check_size("errors of the cells", statistics_.cell_rms.size(), n_cells);
  for (const auto* each : {&statistics_.code_mean, &statistics_.code_deviation, &statistics_.code_variance,
                           &statistics_.code_divergence})
    check_size("statistics of the codes", each->size(), options.n_codes);
  for (const Variable& each : net_.cells()) {
    if (each.aval().dtype != DType::f32)
      throw core::InvalidArgument("models::TrainedVae#not_f32", "expected a network in f32, got {}",
                                  each.aval().text());
  }
  net_.set_mode(Mode::evaluation);
}

Vae TrainedVae::net_in(DType dtype) const {
  InitialValues initial(0, dtype);
  Vae result(options(), initial);
  NamedTensors state = net_.state();
  for (auto& [name, tensor] : state) tensor = cast(tensor, dtype).eval();
  result.load_state(state);
  result.set_mode(Mode::evaluation);
  return result;
}

void TrainedVae::save(core::ArraySink& sink) const {
  sink.attribute("", "format", format_name);
  sink.attribute("", "format_version", format_version);
  sink.attribute("", "lodestone_version", core::version());
  sink.attribute("", "card", card_);
  write_options(sink, options());
  core::write_vector(sink, "grid/depth_m", grid_.z_edges_m());
  core::write_vector(sink, "grid/y_m", grid_.y_edges_m());
  if (grid_.has(Axis::x)) core::write_vector(sink, "grid/x_m", grid_.edges_m(Axis::x));
  for_each_vector(statistics_, [&](const char* name, const Eigen::VectorXd& values) {
    core::write_vector(sink, name, numbers_of(values));
  });
  core::write_matrix(sink, "statistics/covariance", statistics_.covariance);
  core::write_vector(sink, "statistics/rms",
                     std::vector<double>{statistics_.rms, statistics_.reduced_chi_square});
  for (const auto& [name, tensor] : net_.state()) {
    const core::ArrayInfo info{tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()}};
    sink.write(net_prefix + name, info, tensor.bytes());
  }
}

std::string TrainedVae::describe(const core::ArraySource& source) {
  check_format(source);
  const VaeOptions options = read_options(source);
  const auto depth_m = core::read_doubles(source, "grid/depth_m");
  if (std::ssize(depth_m) != options.cells_z + 1)
    throw core::FormatError("models::TrainedVae#wrong_grid", "{}: expected {} depths of {} cells, got {}",
                            source.location(), options.cells_z + 1, options.cells_z, depth_m.size());
  return fmt::format("network of subdomains: {} x {}{} cells, depths {:.6g} to {:.6g} m, {} codes",
                     options.cells_z, options.cells_y,
                     options.kind == VaeKind::volume ? fmt::format(" x {}", options.cells_x) : "",
                     depth_m.front(), depth_m.back(), options.n_codes);
}

TrainedVae TrainedVae::load(const core::ArraySource& source) {
  check_format(source);
  InitialValues initial(0);
  const Vae net(read_options(source), initial);
  const NamedTensors state = read_net(source);
  std::vector<double> depth_m = core::read_doubles(source, "grid/depth_m"),
                      y_m = core::read_doubles(source, "grid/y_m"), x_m;
  if (net.options().kind == VaeKind::volume) x_m = core::read_doubles(source, "grid/x_m");
  VaeStatistics statistics;
  for_each_vector(statistics, [&](const char* name, Eigen::VectorXd& values) {
    values = vector_of(core::read_doubles(source, name));
  });
  statistics.covariance = core::read_matrix(source, "statistics/covariance");
  const auto scores = core::read_doubles(source, "statistics/rms");
  if (scores.size() != 2)
    throw core::FormatError("models::TrainedVae#wrong_scores",
                            "{}: expected two scores in statistics/rms, got {}", source.location(),
                            scores.size());
  statistics.rms = scores[0];
  statistics.reduced_chi_square = scores[1];
  check_statistics(source, statistics);
  check_finite(source, state);
  try {
    net.load_state(state);
    return {net, earths::patch_grid(std::move(depth_m), std::move(y_m), std::move(x_m)),
            std::move(statistics), source.attribute("", "card")};
  } catch (const core::Error& error) {
    throw core::FormatError("models::TrainedVae#unreadable", "{}: {}", source.location(), error.what());
  }
}

void TrainedVae::check_grid(const std::vector<double>& depth_m, const std::string& where) const {
  inversion::prior::check_edges("interfaces", grid_.z_edges_m(), depth_m, where);
}

void TrainedVae::check_grid(const physics::mesh::TensorGrid& grid, const std::string& where) const {
  check_grid(grid.z_edges_m(), where);
  if (options().kind != VaeKind::column)
    inversion::prior::check_edges("edges of columns", grid_.y_edges_m(), grid.y_edges_m(),
                                  where);  // a column may be of any width
  if (options().kind == VaeKind::volume)
    inversion::prior::check_edges("edges along x", grid_.edges_m(Axis::x), grid.edges_m(Axis::x), where);
}

void TrainedVae::check_codes(Dim n_codes, const std::string& where) const {
  if (n_codes != options().n_codes)
    throw core::InvalidArgument("models::TrainedVae#wrong_codes",
                                "{}: expected {} codes per subdomain as the network has, got {}; correct "
                                "codes, or name the file of the "
                                "training that has so many",
                                where, options().n_codes, n_codes);
}

}  // namespace lodestone::models::vae
