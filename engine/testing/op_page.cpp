// SPDX-License-Identifier: Apache-2.0
#include "engine/testing/op_page.hpp"

#include "engine/ops/batching.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/record.hpp"
#include "engine/record/tuple.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace lodestone::engine {
namespace {

/// "cpu.loop: f32, f64; cpu.other: c64" of a backend, none: "".
std::string kernels_of(const OpInfo& row, Backend backend) {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> by_name;
  for (int i = 0; i < core::n_dtypes; ++i) {
    const Kernel& kernel = row.kernel_of(backend, static_cast<DType>(i));
    if (kernel.run == nullptr) continue;
    if (by_name.empty() || by_name.back().first != kernel.name) by_name.push_back({kernel.name, {}});
    by_name.back().second.push_back(core::name_of(static_cast<DType>(i)));
  }
  std::vector<std::string> parts;
  for (const auto& [kernel, dtypes] : by_name)
    parts.push_back(fmt::format("`{}` ({})", kernel, fmt::join(dtypes, ", ")));
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string kernels_text(const OpInfo& row) {
  std::vector<std::string> parts;
  if (row.view != nullptr) parts.emplace_back("none where strides can say it: a view");
  // Those of oneDNN are left out: which there are depends on the machine.
  for (const Backend backend : {Backend::reference, Backend::processor, Backend::cuda}) {
    if (const std::string kernels = kernels_of(row, backend); !kernels.empty()) parts.push_back(kernels);
  }
  if (row.run) parts.emplace_back("none: what it stands for runs");
  if (row.decompose) parts.emplace_back("elsewhere what it is composed of");
  return fmt::format("{}", fmt::join(parts, "; "));
}

/// For a cell of a table.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

std::string derivative_text(const Derivative& derivative) {
  if (!derivative.exists()) return "none: " + derivative.why_none;
  const std::string& second = derivative.why_no_second;
  return fmt::format("`{}`{}", cell(derivative.formula),
                     second.empty() ? "" : "; of first order only: " + second);
}

std::string_view batching_text(const OpInfo& row) {
  return row.n_inputs == 0 ? "not batched: it has no inputs"
         : can_batch(row)  ? "one call for the batch"
                           : "not possible";
}

DType first_dtype(const OpInfo& row) {
  for (int i = 0; i < core::n_dtypes; ++i) {
    if (row.dtypes.contains(DType::f32)) return DType::f32;
    if (row.dtypes.contains(static_cast<DType>(i))) return static_cast<DType>(i);
  }
  return DType::f32;
}

/// "    axes 0, whole"; nothing where the row says nothing.
std::string axes_text(const OpInfo& row, const Tensors& in, const Aval& out, const Attrs* attrs) {
  if ((!row.axes && !row.is_axis_by_axis()) || in.empty()) return "";
  const std::vector<Aval> avals = avals_of(in);
  return "    axes " + row.axis_map({avals, out, attrs}).text();
}

/// Returns three samples with elements: inputs → output, attributes, axes.
std::string examples(const OpInfo& row) {
  std::string lines;
  int n_shown = 0;
  for (std::uint64_t seed = 1; n_shown < 3 && seed < 50; ++seed) {
    Sampler sampler(first_dtype(row), seed);
    const Sample sample = row.sample(sampler);
    const Tensors in = sample.prepare ? sample.prepare(sample.inputs) : sample.inputs;
    const InferArgs args{row, in, sample.attrs.get(), std::source_location::current()};
    const std::vector<Aval> out = row.results ? row.results(args) : std::vector{row.infer(args)};
    if (std::any_of(out.begin(), out.end(), [](const Aval& each) { return each.count() == 0; })) continue;
    std::vector<std::string> inputs, outputs;
    for (const Tensor& input : in) inputs.push_back(input.aval().text());
    for (const Aval& each : out) outputs.push_back(each.text());
    lines += fmt::format("    {} → {}{}{}{}\n", fmt::join(inputs, ", "), fmt::join(outputs, ", "),
                         sample.attrs ? "    " : "", sample.attrs ? sample.attrs->text() : "",
                         axes_text(row, in, out[0], sample.attrs.get()));
    ++n_shown;
  }
  return lines;
}

}  // namespace

std::string op_page(std::string_view name) {
  const OpInfo& row = op_named(name);
  std::string page = fmt::format("# {}\n\n`{}`\n\n| | |\n|---|---|\n", row.name, row.formula);
  page += fmt::format("| class | {} |\n", name_of(row.op_class));
  page += fmt::format("| inputs | {} |\n", row.n_inputs < 0 ? "any number" : fmt::format("{}", row.n_inputs));
  page += fmt::format("| dtypes of {} | {} |\n", row.n_inputs == 0 ? "the output" : "the first",
                      row.dtypes.text());
  page += fmt::format("| derivative | {} |\n", derivative_text(row.derivative));
  page += fmt::format("| under vmap | {} |\n", batching_text(row));
  page += fmt::format("| kernels | {} |\n", kernels_text(row));
  return page + (row.sample ? "\nShapes, from its samples:\n\n" + examples(row) : "");
}

}  // namespace lodestone::engine
