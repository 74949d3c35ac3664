// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/compare.hpp"

#include "engine/core/error.hpp"

#include <algorithm>
#include <map>

namespace lodestone::engine {
namespace {

std::vector<double> elements_of(const core::ArraySource& source, const std::string& name) {
  const core::ArrayInfo info = source.info(name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(info.count()) * core::size_of(info.dtype));
  source.read(name, 0, bytes);
  return numbers_of(info.dtype, bytes);
}

void check_same(const DumpedValue& a, const DumpedValue& b) {
  if (a.op == b.op && a.aval == b.aval) return;
  throw core::InvalidArgument("engine::compare#other_programs",
                              "expected two dumps of one function, got value {} from {} of {} and from {} of "
                              "{}; compare runs of one function with arguments of one shape",
                              a.value, a.op, a.aval, b.op, b.aval);
}

}  // namespace

Comparison compare(const core::ArraySource& a, const core::ArraySource& b) {
  std::map<std::int64_t, DumpedValue> of_b;
  for (DumpedValue& each : dumped_values(b)) of_b.emplace(each.value, std::move(each));
  Comparison result;
  for (DumpedValue& each : dumped_values(a)) {
    const auto other = of_b.find(each.value);
    if (other == of_b.end()) continue;
    check_same(each, other->second);
    ++result.n_compared;
    const ArrayStatistics &in_a = each.statistics, &in_b = other->second.statistics;
    if (in_a.checksum == in_b.checksum) continue;
    const std::string name = array_of_value(each.value);
    const double size = a.contains(name) && b.contains(name)
                            ? relative_difference(elements_of(a, name), elements_of(b, name), in_a)
                            : relative_difference(in_a, in_b);
    result.deviations.push_back({std::move(each), std::move(other->second), size});
  }
  if (!result.deviations.empty()) result.first = result.deviations.front();
  std::ranges::stable_sort(result.deviations, std::greater<>(), &Deviation::size);
  return result;
}

std::string Deviation::text() const {
  const std::string in =
      a.module.empty() ? "" : fmt::format(" {} {}", a.op == "input" ? "of" : "in", a.module);
  const std::string at = a.place.empty() ? "" : fmt::format(" ({})", a.place);
  return fmt::format("{} of {}{}{}, value {}: relative difference {:.3g}", a.op, a.aval, in, at, a.value,
                     size);
}

std::string Comparison::text(std::size_t most) const {
  if (!first) return fmt::format("all {} values agree in every bit\n", n_compared);
  std::string result =
      fmt::format("{} of {} values differ; the first is {}\n", deviations.size(), n_compared, first->text());
  for (std::size_t i = 0; i < std::min(most, deviations.size()); ++i)
    result += "  " + deviations[i].text() + "\n";
  return result;
}

}  // namespace lodestone::engine
