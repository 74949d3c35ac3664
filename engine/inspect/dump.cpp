// SPDX-License-Identifier: Apache-2.0
#include "engine/inspect/dump.hpp"

#include "engine/core/error.hpp"
#include "engine/graph/op_info.hpp"
#include "engine/inspect/modules.hpp"
#include "engine/inspect/watch.hpp"
#include "engine/record/tuple.hpp"

#include <map>

namespace lodestone::engine {
namespace {

constexpr const char* format = "lodestone dump 1";

std::string name_of(Level level) { return level == Level::O0 ? "O0" : "O1"; }

/// Takes what a plan computes down, by the value of the recorded program that it is.
class DumpWriter final : public Watcher {
 public:
  DumpWriter(const PlannedFunction& function, core::ArraySink* arrays)
      : values_(function.plan->running().values()), arrays_(arrays) {}

  void end(const Instruction& instruction, std::span<const View> results) override {
    for (std::uint32_t i = 0; i < results.size(); ++i)
      add(instruction.first_result + i, *results[i].aval, results[i].data);
  }
  void add(ValueId id, const Aval& aval, const std::byte* data) {
    const ValueId origin = values_[id].origin;
    if (origin == Value::no_origin || aval.kind != Kind::array || data == nullptr) return;
    const std::span<const std::byte> elements(data, aval.bytes());
    const bool is_new = found_.emplace(origin, statistics_of(aval.dtype, elements)).second;
    if (!is_new || arrays_ == nullptr) return;
    const auto extents = aval.shape;
    arrays_->write(array_of_value(origin), {aval.dtype, {extents.begin(), extents.end()}}, elements);
  }
  [[nodiscard]] const std::map<ValueId, ArrayStatistics>& found() const { return found_; }

 private:
  const std::vector<Value>& values_;
  core::ArraySink* arrays_;
  std::map<ValueId, ArrayStatistics> found_;
};

/// Returns what the recorded program says of a value.
class Descriptions {
 public:
  Descriptions(const Program& program, std::vector<std::string> names)
      : program_(program), names_(std::move(names)), modules_(modules_of(program, names_)) {}
  [[nodiscard]] DumpedValue of(ValueId id, const ArrayStatistics& statistics) const {
    const Value& value = program_.values()[id];
    const std::string aval = value.aval.text();
    if (value.from == Value::From::input) return {id, "input", names_[value.of], "", aval, statistics};
    const Instruction& made = program_.instructions()[value.of];
    return {id, made.op->name, modules_[value.of], place_of(made), aval, statistics};
  }

 private:
  const Program& program_;
  std::vector<std::string> names_, modules_;
};

/// Writes a column of numbers.
template <class Member>
void write_column(core::ArraySink& sink, const std::string& name, const std::vector<DumpedValue>& values,
                  Member member) {
  using T = decltype(member(values[0]));
  std::vector<T> column;
  for (const DumpedValue& each : values) column.push_back(member(each));
  core::write_vector(sink, "values/" + name, std::span<const T>(column));
}

void write_words(core::ArraySink& sink, const std::string& name, const std::vector<DumpedValue>& values,
                 std::string DumpedValue::*member) {
  std::vector<std::string> column;
  for (const DumpedValue& each : values) column.push_back(each.*member);
  core::write_texts(sink, "values/" + name, column);
}

void write(core::ArraySink& sink, const std::vector<DumpedValue>& values) {
  using V = const DumpedValue&;
  write_column(sink, "value", values, [](V each) { return each.value; });
  write_words(sink, "op", values, &DumpedValue::op);
  write_words(sink, "module", values, &DumpedValue::module);
  write_words(sink, "place", values, &DumpedValue::place);
  write_words(sink, "type", values, &DumpedValue::aval);
  write_column(sink, "n", values, [](V each) { return each.statistics.n; });
  write_column(sink, "n_nan", values, [](V each) { return each.statistics.n_nan; });
  write_column(sink, "n_infinite", values, [](V each) { return each.statistics.n_infinite; });
  write_column(sink, "min", values, [](V each) { return each.statistics.min; });
  write_column(sink, "max", values, [](V each) { return each.statistics.max; });
  write_column(sink, "mean", values, [](V each) { return each.statistics.mean; });
  write_column(sink, "l2", values, [](V each) { return each.statistics.l2; });
  write_column(sink, "checksum", values,
               [](V each) { return static_cast<std::int64_t>(each.statistics.checksum); });
}

}  // namespace

std::string array_of_value(std::int64_t value) { return fmt::format("arrays/{:06}", value); }

void dump(const Function& f, const Tensors& arguments, core::ArraySink& sink, const DumpOptions& options,
          std::source_location where) {
  const std::vector<Aval> avals = avals_of(arguments);
  const PlannedFunction function = planned_function(f, avals, options.level, where);
  DumpWriter writer(function, options.arrays ? &sink : nullptr);
  const GivenInputs inputs(function, arguments);
  for (std::size_t i = 0; i < inputs.all().size(); ++i) {
    const Tensor& each = inputs.all()[i];
    if (each.aval().kind == Kind::array)
      writer.add(static_cast<ValueId>(i), each.aval(), each.bytes().data());
  }
  static_cast<void>(run_watched(function, inputs, writer));
  const Descriptions descriptions(function.plan->program(), function.input_names(options.cells));
  std::vector<DumpedValue> values;
  for (const auto& [id, statistics] : writer.found()) values.push_back(descriptions.of(id, statistics));
  sink.attribute("", "format", format);
  sink.attribute("", "level", name_of(options.level));
  write(sink, values);
}

std::vector<DumpedValue> dumped_values(const core::ArraySource& source) {
  if (!source.has_attribute("", "format") || source.attribute("", "format") != format)
    throw core::FormatError("engine::dump#no_dump",
                            "{}: expected a dump of a function's values, found another file",
                            source.location());
  const auto whole_numbers = [&](const char* name) {
    return core::read_integers(source, std::string("values/") + name);
  };
  const auto doubles = [&](const char* name) {
    return core::read_doubles(source, std::string("values/") + name);
  };
  const auto texts = [&](const char* name) {
    return core::read_texts(source, std::string("values/") + name);
  };
  const auto value = whole_numbers("value"), n = whole_numbers("n"), n_nan = whole_numbers("n_nan"),
             n_infinite = whole_numbers("n_infinite"), checksum = whole_numbers("checksum");
  const auto min = doubles("min"), max = doubles("max"), mean = doubles("mean"), l2 = doubles("l2");
  const auto op = texts("op"), module = texts("module"), place = texts("place"), type = texts("type");
  for (const std::size_t size :
       {n.size(), n_nan.size(), n_infinite.size(), checksum.size(), min.size(), max.size(), mean.size(),
        l2.size(), op.size(), module.size(), place.size(), type.size()}) {
    if (size != value.size())
      throw core::FormatError("engine::dump#columns_differ",
                              "{}: expected columns of {} values, got one of {}; make the dump again",
                              source.location(), value.size(), size);
  }
  std::vector<DumpedValue> result;
  for (std::size_t i = 0; i < value.size(); ++i)
    result.push_back({value[i],
                      op[i],
                      module[i],
                      place[i],
                      type[i],
                      {n[i], n_nan[i], n_infinite[i], min[i], max[i], mean[i], l2[i],
                       static_cast<std::uint32_t>(checksum[i])}});
  return result;
}

}  // namespace lodestone::engine
