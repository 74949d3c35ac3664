// SPDX-License-Identifier: Apache-2.0
#include "engine/compile/compile.hpp"
#include "engine/core/error.hpp"
#include "engine/generate/emit.hpp"
#include "engine/generate/host_compiler.hpp"
#include "engine/ops/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/error_id.hpp"
#include "tests/support/warnings.hpp"
#include "tests/unit/engine/compile/plan_of.hpp"
#include "tests/unit/engine/jit_of_tests.hpp"
#include "tests/unit/engine/row.hpp"
#include "tests/unit/engine/same_bits.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <thread>

using namespace lodestone;
using namespace lodestone::engine;
using tests::error_of;
using tests::HasId;
using tests::jit_options;
using tests::plan_of;
using tests::row;
using tests::same_bits;
using tests::TemporaryFolder;
using tests::text_with;
using tests::warnings_of;

namespace {

constexpr const char* interpreter_only = "engine::HostJit#interpreter_only";

const Function f = [](const Tensors& in) -> Tensors { return {engine::tanh(in[0] * 2.0) + in[1]}; };
const Function g = [](const Tensors& in) -> Tensors { return {exp(in[0]) - in[1] * 0.5}; };
Tensors inputs() { return {row({1, 2, 3, -4}), row({0.5, 0.25, -1, 7})}; }

/// Returns a program that stands for a compiler: a script of the shell.
std::string script(const TemporaryFolder& folder, const std::string& lines) {
  std::string path = folder / "compiler";
  std::ofstream(path) << "#!/bin/sh\n" << lines << "\n";
  ::chmod(path.c_str(), 0755);
  return path;
}

/// A variable of the environment for a while.
class EnvironmentVariable {
 public:
  EnvironmentVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
  }
  ~EnvironmentVariable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Returns the warnings of two plans that cannot have functions of text, after checking their bits.
auto warnings_with(const JitOptions& options) {
  return warnings_of([&] {
    HostJit jit(options);
    for (const Function& each : {f, g}) {
      const auto plan = plan_of(each, inputs(), Level::O1, jit);
      jit.finish();
      CHECK(same_bits(plan->run(inputs()), each(inputs())));
      CHECK(plan->n_by_text() == 0);
    }
    CHECK(jit.stats().n_made == 0);
    CHECK_FALSE(jit.is_on());
  });
}

}  // namespace

TEST_CASE("jit: clusters run by text, which the next process finds in the cache", "[engine]") {
  const TemporaryFolder folder;
  for (const int n_compiled : {2, 0}) {
    HostJit jit(jit_options(folder));
    const auto plan = plan_of(f, inputs(), Level::O1, jit), other = plan_of(g, inputs(), Level::O1, jit),
               again = plan_of(f, inputs(), Level::O1, jit);
    for (const auto& [each, function] :
         {std::pair{plan.get(), f}, std::pair{other.get(), g}, std::pair{again.get(), f}}) {
      CHECK(each->n_by_text() == 1);
      CHECK(same_bits(each->run(inputs()), function(inputs())));
    }
    CHECK(jit.stats().n_made == 2);
    CHECK(jit.stats().n_compiled == n_compiled);
  }
}

TEST_CASE("jit: in the background, a plan goes over to text between two runs", "[engine]") {
  const TemporaryFolder folder;
  HostJit jit(jit_options(folder, JitMode::background));
  const auto plan = plan_of(f, inputs(), Level::O1, jit);
  const Tensors right = f(inputs());
  for (int i = 0; i < 3; ++i) CHECK(same_bits(plan->run(inputs()), right));
  jit.finish();
  CHECK(plan->n_by_text() == 1);
  for (int i = 0; i < 3; ++i) CHECK(same_bits(plan->run(inputs()), right));
}

TEST_CASE("jit: a plan calls the function that was made, and it alone", "[engine]") {
  // A compiler of another text: what runs is then seen.
  const TemporaryFolder folder;
  JitOptions options = jit_options(folder);
  options.compiler = script(folder, "sed 's/static_cast<T>(a + b)/static_cast<T>(a + b + 1)/' | " +
                                        tests::compiler_of_tests + " \"$@\"");
  HostJit jit(options);
  const Function sum = [](const Tensors& in) -> Tensors { return {(in[0] + in[1]) * 2.0}; };
  const auto plan = plan_of(sum, inputs(), Level::O1, jit);
  CHECK(plan->n_by_text() == 1);
  CHECK(same_bits(plan->run(inputs()), {(inputs()[0] + inputs()[1] + 1.0) * 2.0}));
}

TEST_CASE("jit: what was made runs beside what a compiler refuses", "[engine]") {
  // This compiler changes a text, as that above does, and refuses sines.
  const Function both = [](const Tensors& in) -> Tensors {
    return {(in[0] + in[1]) * 2.0, engine::sin(in[0] * 2.0)};
  };
  const Tensors right = both(inputs()), one_more{(inputs()[0] + inputs()[1] + 1.0) * 2.0, right[1]};
  for (const JitMode mode : {JitMode::wait, JitMode::background}) {
    const TemporaryFolder folder;
    JitOptions options = jit_options(folder, mode);
    const std::string gate = folder / "gate";
    options.compiler = script(folder,
                              "text=$(cat); case \"$text\" in *vmath::sin*)\n"
                              "while [ ! -e " +
                                  gate +
                                  " ]; do sleep 0.01; done; exit 1;; esac\n"
                                  "printf '%s\\n' \"$text\" | sed 's/static_cast<T>(a + b)/"
                                  "static_cast<T>(a + b + 1)/' | " +
                                  tests::compiler_of_tests + " \"$@\"");
    const auto warnings = warnings_of([&] {
      HostJit jit(options);
      if (mode == JitMode::wait) std::ofstream(gate) << "open";
      const auto plan = plan_of(both, inputs(), Level::O1, jit);
      REQUIRE(plan->n_launches() == 1);
      if (mode == JitMode::background) {
        while (jit.n_made() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(same_bits(plan->run(inputs()), right));
        std::ofstream(gate) << "open";
        jit.finish();
      }
      CHECK(jit.stats().n_made == 1);
      CHECK(plan->n_by_text() == 1);
      for (int i = 0; i < 2; ++i) CHECK(same_bits(plan->run(inputs()), one_more));
    });
    CHECK_FALSE(text_with(warnings, interpreter_only).empty());
  }
}

TEST_CASE("jit: off, nothing is asked for", "[engine]") {
  const TemporaryFolder folder;
  HostJit jit(jit_options(folder, JitMode::off));
  const auto plan = plan_of(f, inputs(), Level::O1, jit);
  CHECK(same_bits(plan->run(inputs()), f(inputs())));
  CHECK(plan->n_by_text() == 0);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "kernels"));
}

TEST_CASE("jit: without a compiler that works, one warning and the interpreter", "[engine]") {
  const TemporaryFolder folder;
  const auto text_of = [&](const std::string& compiler, JitMode mode = JitMode::wait) {
    JitOptions options = jit_options(folder, mode);
    options.compiler = compiler;
    const auto warnings = warnings_with(options);
    CHECK(warnings.size() == 1);
    return text_with(warnings, interpreter_only);
  };
  const auto contains = [](const std::string& part) { return Catch::Contains(part); };
  CHECK_THAT(text_of("no_such_compiler"), contains("\"no_such_compiler\"") && contains("LODESTONE_CC"));
  CHECK_THAT(text_of("no_such_compiler", JitMode::background), contains("\"no_such_compiler\""));
  CHECK_THAT(text_of(folder / "neither"), contains("neither"));
  CHECK_THAT(text_of(script(folder, "echo what is wrong >&2; exit 1")), contains("what is wrong"));
  CHECK_THAT(text_of(script(folder, "kill -9 $$")), contains("the compiler failed"));
  CHECK_THAT(text_of(script(folder, "exit 0")), contains("the compiler failed"));  // it has written nothing
  const std::string garbage = "while [ \"$1\" != -o ]; do shift; done; echo no library > \"$2\"";
  JitOptions options = jit_options(folder);
  options.compiler = script(folder, garbage);
  const auto warnings = warnings_with(options);
  CHECK_THAT(text_with(warnings, interpreter_only), contains("cannot be loaded"));
  CHECK_FALSE(text_with(warnings, "engine::KernelCache#rebuilt").empty());
}

TEST_CASE("jit: a library in the cache that cannot be loaded is made again", "[engine]") {
  const TemporaryFolder folder;
  static_cast<void>(plan_of(f, inputs(), Level::O1, *std::make_unique<HostJit>(jit_options(folder))));
  std::string name;
  for (const auto& each : std::filesystem::directory_iterator(folder.path() / "kernels"))
    name = each.path().stem();
  std::filesystem::remove(folder.path() / "kernels" / (name + ".so"));
  KernelCache cache(folder.path() / "kernels");
  REQUIRE(cache.get(name, [](const std::string& path) {
    std::ofstream(path) << "no library, but whole";
    return true;
  }));
  HostJit jit(jit_options(folder));
  const auto warnings = warnings_of([&] {
    const auto plan = plan_of(f, inputs(), Level::O1, jit);
    CHECK(plan->n_by_text() == 1);
    CHECK(same_bits(plan->run(inputs()), f(inputs())));
  });
  CHECK(warnings.size() == 1);
  CHECK_FALSE(text_with(warnings, "engine::KernelCache#rebuilt").empty());
}

TEST_CASE("jit: a compiler at work ends with the program", "[engine]") {
  const TemporaryFolder folder;
  JitOptions options = jit_options(folder, JitMode::background);
  options.compiler = script(folder, "echo $$ > " + (folder / "id") + "\nsleep 600");
  int id = 0;
  {
    HostJit jit(options);
    const auto plan = plan_of(f, inputs(), Level::O1, jit);
    CHECK(same_bits(plan->run(inputs()), f(inputs())));
    while (!(std::ifstream(folder / "id") >> id)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(::kill(id, 0) == 0);
  }
  CHECK(::kill(id, 0) != 0);
  for (const auto& each : std::filesystem::directory_iterator(options.folder))
    CHECK(each.path().extension() != ".so");
}

TEST_CASE("jit: several at once compile a function once", "[engine]") {
  const TemporaryFolder folder;
  std::atomic<std::int64_t> n_compiled{0}, n_made{0};
  const auto plan = plan_of(f, inputs(), Level::O1);
  const std::string text = plan->generated_text();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        HostJit jit(jit_options(folder));  // as each process has its own
        static_cast<void>(jit.kernel(text));
        n_compiled += jit.stats().n_compiled;
        n_made += jit.stats().n_made;
      });
  }
  CHECK(n_compiled == 1);
  CHECK(n_made == 3);
}

TEST_CASE("jit: compiled functions take that of the process, unless they are to keep to the interpreter",
          "[engine]") {
  const bool is_on = JitOptions::of_environment().mode != JitMode::off;  // a run of this test sets it
  for (const bool by_text : {true, false}) {
    const Compiled compiled = compile(f, {.by_text = by_text});
    for (int i = 0; i < 2; ++i) {
      CHECK(same_bits(compiled(inputs()), f(inputs())));
      HostJit::of_process().finish();
    }
    CHECK(compiled.stats().n_by_text == (is_on && by_text ? 1 : 0));
  }
}

TEST_CASE("jit: temporary files lie where TMPDIR says, and the error of a wrong one names it", "[engine]") {
  const TemporaryFolder folder;
  const auto compiler = HostCompiler::find(LODESTONE_TEST_COMPILER);
  REQUIRE(compiler);
  const auto is_made = [&] {
    const auto [done, message] = compiler->make_library("int f() { return 1; }", {"-shared", "-fPIC"},
                                                        folder / "library.so", {}, false);
    INFO(message);
    return done;
  };
  {
    const EnvironmentVariable here("TMPDIR", folder.path().c_str());
    CHECK(is_made());
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 1);  // the library
  }
  const std::string missing = folder / "missing";
  const EnvironmentVariable nowhere("TMPDIR", missing.c_str());
  CHECK_THAT(error_of<core::FileError>([&] { static_cast<void>(is_made()); }),
             HasId("no_temporary_file", {missing, "TMPDIR"}));
}

TEST_CASE("jit: the environment says what is done", "[engine]") {
  const EnvironmentVariable home("HOME", "/home/of/somebody"), caches("XDG_CACHE_HOME", nullptr),
      compiler("LODESTONE_CC", "clang++"), mode("LODESTONE_JIT", "background");
  const JitOptions options = JitOptions::of_environment();
  CHECK(options.mode == JitMode::background);
  CHECK(options.compiler == "clang++");
  CHECK(options.folder == "/home/of/somebody/.cache/lodestone/kernels");
  {
    const EnvironmentVariable other("XDG_CACHE_HOME", "/caches"), no_compiler("LODESTONE_CC", nullptr),
        empty("LODESTONE_JIT", "");
    const JitOptions usual = JitOptions::of_environment();
    CHECK(usual.mode == JitMode::off);
    CHECK(usual.compiler.empty());
    CHECK(usual.folder == "/caches/lodestone/kernels");
  }
  {
    const EnvironmentVariable relative("XDG_CACHE_HOME", "caches");
    CHECK(JitOptions::of_environment().folder == "/home/of/somebody/.cache/lodestone/kernels");
  }
  const EnvironmentVariable wrong("LODESTONE_JIT", "on");
  CHECK_THAT(error_of<core::InvalidArgument>([] { static_cast<void>(JitOptions::of_environment()); }),
             HasId("unknown_word", {"LODESTONE_JIT", "off", "wait", "background", "\"on\""}));
}
