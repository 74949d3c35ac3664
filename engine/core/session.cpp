// SPDX-License-Identifier: Apache-2.0
#include "engine/core/session.hpp"

#include "engine/core/error.hpp"
#include "engine/core/log.hpp"

#include <cstdio>
#include <filesystem>
#include <limits>
#include <malloc.h>
#include <new>

namespace lodestone::core {
namespace {

/// The C library hands large freed blocks back to the system at once, and every temporary matrix then costs
/// page faults: a third of a Jacobian's time.
void keep_freed_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, 64 << 20);
}

}  // namespace

Session::Session() { keep_freed_memory(); }

Session::~Session() {
  while (!scopes_.empty()) scopes_.pop_back();
}

LastWords last_words_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Error& known) {
    return {known.exit_code(), known.what(), std::string(known.place())};
  } catch (const std::filesystem::filesystem_error& of_files) {
    return {ExitCode::file, of_files.what(), "core::Session#file_system"};
  } catch (const std::bad_alloc&) {
    return {ExitCode::unexpected,
            "[memory] the program needs more memory than there is; use a smaller mesh, fewer data or "
            "more ranks on more machines",
            "memory#exhausted"};
  } catch (const std::exception& other) {
    return {ExitCode::unexpected,
            fmt::format("[unexpected] {}; please report this with the command you ran", other.what()),
            "unexpected#exception"};
  } catch (...) {
    return {ExitCode::unexpected,
            "[unexpected] an exception of unknown type; please report this with the command you ran",
            "unexpected#unknown_type"};
  }
}

int Session::run(const std::function<int()>& body) {
  try {
    return body();
  } catch (...) {
    const LastWords words = last_words_of(std::current_exception());
    return fail(static_cast<int>(words.code), words.text, words.place);
  }
}

int Session::fail(int exit_code, const std::string& message, std::string_view place) noexcept {
  try {
    std::string here = message;
    for (const auto& scope : scopes_) here = scope->agree_on_failure(std::move(here));
    if (!here.empty()) log::write(log::Level::error, here, Place(place));
  } catch (...) {
    std::fputs(message.c_str(), stderr);  // out of memory while reporting
  }
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) (*scope)->abort(exit_code);
  return exit_code;
}

}  // namespace lodestone::core
