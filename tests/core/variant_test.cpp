// Tests of descriptions of variants: their parameters, their cases' names, and the numbers that plans are made of.
#include "harness/core/variant.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace scanlab {
namespace {

TEST(Parameters, ASmallValueIsTakenAmongTheOthers) {
  Description about;
  about.id = "one";
  about.types = {ElementType::i32};
  about.operators = {Operator::plus};
  about.parameters = {{.name = "tile", .values = {"30", "60"}, .meaning = "KiB", .small = "1"},
                      {.name = "load", .values = {"a", "b"}, .meaning = "how"}};
  EXPECT_EQ(small_settings(about), (Settings{{"tile", "1"}}));
  const auto refusal = [&](Settings settings) { return unsupported(about, {.items = 1, .settings = settings}); };
  for (const char* tile : {"30", "60", "1"}) EXPECT_EQ(refusal({{"tile", tile}}), "");
  EXPECT_EQ(refusal({{"tile", "2"}}), "one takes tile = 30 | 60, not '2'");
  EXPECT_EQ(refusal({{"load", ""}}), "one takes load = a | b, not ''");
  EXPECT_EQ(refusal({{"pad", "1"}}), "one has no parameter 'pad' (it has: tile, load)");
  EXPECT_EQ(setting(about, {}, "tile"), "30");
  EXPECT_EQ(setting(about, {{"tile", "1"}}, "tile"), "1");
  EXPECT_EQ(case_name(about, {.items = 8, .settings = {{"tile", "1"}, {"load", "a"}}}),
            "scan/variant:one/type:i32/op:plus/mode:inclusive/items:8/tile:1");
}

struct Named {
  static constexpr const char* kNoun = "thing";
  Description about;
};

/// Commands, files and figures call it by its id, and its parameters have defaults.
TEST(Registry, RefusesWhatCannotBeNamedOrHasNoDefault) {
  const auto add = [](const std::string& id, std::vector<Parameter> parameters = {}) {
    Named named;
    named.about.id = id;
    named.about.parameters = std::move(parameters);
    RegistryOf<Named>::instance().add(std::move(named));
  };
  const testing::ExitedWithCode refused(2);
  for (const char* id : {"", "9lives", "My_scan", "my-scan", "my scan"}) {
    EXPECT_EXIT(add(id), refused, "cannot be registered: its id has to be lower-case letters, digits") << id;
  }
  EXPECT_EXIT(add("one", {{.name = "tile", .values = {}, .meaning = "KiB"}}), refused,
              "the thing 'one' cannot be registered: its parameter 'tile' has no values");
  add("two");
  EXPECT_EXIT(add("two"), refused, "the thing 'two' cannot be registered: another one has that id");
}

TEST(Registry, JoinsAScanThatIsCompiledForAnotherOperator) {
  const auto scan = [](ElementType type, const Operator& op) {
    Variant variant;
    variant.about.id = "in_parts";
    variant.about.types = {type};
    variant.about.operators = {op};
    variant.bind = [op](const Problem&) { return BoundScan{.plan = Plan::refuse(op.id)}; };
    return variant;
  };
  Registry& registry = Registry::instance();
  registry.add(scan(ElementType::i32, Operator::plus));
  registry.add(scan(ElementType::i64, Operator::max));
  const Variant& joined = *registry.find("in_parts");
  EXPECT_EQ(joined.about.types, (std::vector{ElementType::i32, ElementType::i64}));
  EXPECT_EQ(joined.about.operators, (std::vector{Operator::max, Operator::plus}));
  EXPECT_EQ(joined.bind({.op = Operator::plus}).plan.refusal, "plus");
  EXPECT_EQ(joined.bind({.op = Operator::max}).plan.refusal, "max");
  EXPECT_EXIT(registry.add(scan(ElementType::i32, Operator::max)), testing::ExitedWithCode(2),
              "another one has that id");
}

}  // namespace
}  // namespace scanlab
