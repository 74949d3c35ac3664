// SPDX-License-Identifier: Apache-2.0
// Generated from the samples of the op table: attributes of every row, with each member changed in turn.
#include "engine/core/map_algebra.hpp"
#include "engine/dist/collectives/collective_ops.hpp"
#include "engine/dist/transport/local.hpp"
#include "engine/ops/attributes.hpp"
#include "engine/ops/ops.hpp"
#include "engine/ops/sampler.hpp"
#include "engine/record/tuple.hpp"
#include "engine/transform/attributes.hpp"
#include "engine/transform/external_ops.hpp"
#include "engine/transform/implicit_ops.hpp"
#include "engine/transform/transforms.hpp"
#include "tests/support/catch.hpp"

#include <limits>
#include <set>
#include <typeindex>

using namespace lodestone;
using namespace lodestone::engine;

namespace {

// Another value of each type of a member.
template <class T>
requires std::is_arithmetic_v<T> T changed(T value) {
  return static_cast<T>(std::is_same_v<T, bool> ? !value : value + 1);
}
template <core::HasWords E>
E changed(E value) {
  for (const core::Word<E>& each : core::words_of<E>) {
    if (each.value != value) return each.value;
  }
  return value;
}
DType changed(DType value) { return value == DType::f64 ? DType::f32 : DType::f64; }
Device changed(Device value) { return {value.kind, static_cast<std::uint8_t>(value.index + 1)}; }
IntList changed(IntList value) {
  if (value.empty()) return {0};
  value[value.size() - 1] += 1;
  return value;
}
std::array<std::byte, 16> changed(std::array<std::byte, 16> value) {
  value[0] ^= std::byte{1};
  return value;
}
std::string changed(const std::string& value) { return value + "'"; }
Subgraph changed(const Subgraph& value) {
  return {[&](const Tensors& inputs) {
            Tensors outputs = value(inputs);
            outputs.push_back(outputs[0]);
            return outputs;
          },
          value.inputs(),
          {}};
}
core::MapPtr changed(const core::MapPtr& value) {
  return core::pointwise(
      value->name(), value->size_in(), [](double x) { return x; }, [](double) { return 1.0; });
}
GroupPtr changed(const GroupPtr&) { return group_of(lone_rank(), DeviceMesh({{"other", 1}}), {"other"}); }
StepPtr changed(const StepPtr& value) {
  RouteStep other = *value;
  other.moves.push_back({1, 2, {{0}, {1}}});
  return std::make_shared<const RouteStep>(other);
}
template <class T>
std::shared_ptr<const T> changed(const std::shared_ptr<const T>& value) {
  return std::make_shared<const T>(*value);
}

/// The text of what compares by identity may stay.
template <class T>
constexpr bool is_shown = true;
template <class T>
constexpr bool is_shown<std::shared_ptr<const T>> = false;

template <class T>
void check_members(const T& value) {
  const AttrsPtr attrs = make_attrs(value), same = make_attrs(T(value));
  CHECK(attrs->equals(*same));
  CHECK(attrs->hash() == same->hash());
  CHECK(attrs->text() == same->text());
  const auto check = [&]<class Member>(const Field<T, Member>& field) {
    T other = value;
    other.*field.member = changed(value.*field.member);
    const AttrsPtr with_other = make_attrs(other);
    INFO(attrs->text() << " and " << with_other->text());
    CHECK_FALSE(attrs->equals(*with_other));
    CHECK_FALSE(with_other->equals(*attrs));
    CHECK(attrs->hash() != with_other->hash());
    if (is_shown<Member>) CHECK(attrs->text() != with_other->text());
  };
  std::apply([&](const auto&... field) { (check(field), ...); }, T::fields());
}

/// Returns the number of pairs of fields that are the same member or have the same name.
template <class T>
int n_repeated() {
  const auto repeats = [](const auto& a, const auto& b) {
    bool same = a.name == b.name;
    if constexpr (std::is_same_v<decltype(a), decltype(b)>) same = same || a.member == b.member;
    return same ? 1 : 0;
  };
  return std::apply(
      [&](const auto&... each) {
        const auto of = [&](const auto& one) { return (repeats(one, each) + ...) - 1; };
        return (of(each) + ...);
      },
      T::fields());
}

template <class... T>
struct Types {
  static std::set<std::type_index> all() { return {typeid(T)...}; }
  /// Checks the members of attributes of one of the types; false: they are of none.
  static bool check(const Attrs& attrs) { return (check_if<T>(attrs) || ...); }
  static int n_repeated_fields() { return (n_repeated<T>() + ...); }

 private:
  template <class One>
  static bool check_if(const Attrs& attrs) {
    if (attrs.tag() != typeid(One)) return false;
    check_members(attrs_as<One>(attrs));
    return true;
  }
};
/// Attributes of the engine's own rows.
using OwnTypes =
    Types<AdamAttrs, AttentionAttrs, AxisAttrs, BlendAttrs, CallAttrs, CastAttrs, CombineAttrs, CondAttrs,
          ConstantAttrs, ConvAttrs, CustomAttrs, DeviceAttrs, DotAttrs, ElementAttrs, EpsilonAttrs,
          ExchangeAttrs, ExternalAttrs, ImplicitAttrs, IndexAttrs, IotaAttrs, LoopAttrs, NameAttrs,
          NormalizeAttrs, OwnAttrs, PadAttrs, PartAttrs, PiecesAttrs, PoolAttrs, PositionAttrs, RandomAttrs,
          ReduceAttrs, ScanAttrs, ScatterAttrs, ShapeAttrs, SliceAttrs, SolveAttrs, TransposeAttrs>;

/// Returns the attributes of a few samples of a row; none where it has no attributes.
std::vector<AttrsPtr> samples_of(const OpInfo& row) {
  std::vector<AttrsPtr> result;
  for (int i = 0; i < core::n_dtypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!row.dtypes.contains(dtype)) continue;
    for (std::uint64_t n = 0; n < 4; ++n) {
      Sampler sampler(dtype, 1 + n);
      if (AttrsPtr attrs = row.sample(sampler).attrs) result.push_back(std::move(attrs));
    }
  }
  return result;
}

}  // namespace

TEST_CASE("every op: attributes that differ in one member differ in text, hash and comparison", "[engine]") {
  std::set<std::type_index> seen;
  for (const OpInfo& row : OpTable::global().rows()) {
    INFO(row.name);
    for (const AttrsPtr& attrs : samples_of(row)) {
      CHECK(OwnTypes::check(*attrs));
      seen.insert(attrs->tag());
    }
  }
  CHECK(seen == OwnTypes::all());
}

TEST_CASE("every op: attributes name each member once", "[engine]") {
  CHECK(OwnTypes::n_repeated_fields() == 0);
}

TEST_CASE("attributes: numbers compare by their bits", "[engine]") {
  const auto pad = [](double value) { return make_attrs(PadAttrs{{1}, {2}, {0}, value}); };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(pad(nan)->equals(*pad(nan)));
  CHECK(pad(nan)->hash() == pad(nan)->hash());
  CHECK_FALSE(pad(0.0)->equals(*pad(-0.0)));
  CHECK(pad(0.0)->hash() != pad(-0.0)->hash());
  CHECK(pad(0.0)->text() != pad(-0.0)->text());
}

TEST_CASE("attributes: the order of members counts, and the struct that they belong to", "[engine]") {
  const AttrsPtr low = make_attrs(PadAttrs{{1}, {2}, {0}, 0.0}),
                 high = make_attrs(PadAttrs{{2}, {1}, {0}, 0.0});
  CHECK_FALSE(low->equals(*high));
  CHECK(low->hash() != high->hash());
  CHECK_FALSE(make_attrs(ReduceAttrs{{0, 1}})->equals(*make_attrs(TransposeAttrs{{0, 1}})));
}

TEST_CASE("attributes: sub-graphs are the same if they do the same", "[engine]") {
  const std::vector<Aval> avals{{{2}, DType::f64, default_device()}};
  const auto attrs_of = [&](const Function& f) { return make_attrs(CallAttrs{Subgraph(f, avals, {}), 0}); };
  const auto shifted = [](double number) -> Function {
    return [number](const Tensors& x) -> Tensors { return {square(x[0]) + number}; };
  };
  const AttrsPtr first = attrs_of(shifted(1.0));
  CHECK(first->equals(*attrs_of(shifted(1.0))));
  CHECK(first->hash() == attrs_of(shifted(1.0))->hash());
  CHECK_FALSE(first->equals(*attrs_of(shifted(2.0))));
  const Function others[] = {[](const Tensors& x) -> Tensors { return {x[0] + 1.0}; },
                             [](const Tensors& x) -> Tensors { return {square(x[0] + 1.0)}; },
                             [](const Tensors& x) -> Tensors { return {square(x[0]) + x[0]}; },
                             [](const Tensors& x) -> Tensors {
                               return {square(x[0]) + 1.0, x[0]};
                             }};
  for (const Function& each : others) CHECK_FALSE(first->equals(*attrs_of(each)));
  const AttrsPtr sum_of_first = attrs_of([](const Tensors&x) -> Tensors { return {sum(x[0], Axes{0})}; }),
                 sum_of_none = attrs_of([](const Tensors&x) -> Tensors { return {sum(x[0], Axes{})}; });
  CHECK_FALSE(sum_of_first->equals(*sum_of_none));
}

TEST_CASE("attributes: every call of a custom function has the same rules, also of a batch", "[engine]") {
  const Function f = custom([](const Tensors& x) -> Tensors { return {square(x[0])}; }, {"square"});
  const auto rules_of = [](const Tensor& element) {
    return attrs_as<CustomAttrs>(*element.node().inputs[0]->attrs).rules;
  };
  const Tensor x = ones({2, 3}, DType::f64);
  CHECK(rules_of(f({x})[0]) == rules_of(f({x})[0]));
  CHECK(rules_of(f({x})[0]) == rules_of(vmap(f)({x})[0]));
}
