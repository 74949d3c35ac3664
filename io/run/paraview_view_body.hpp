// SPDX-License-Identifier: Apache-2.0
// Small on purpose: private to paraview_view.cpp; the build makes its text of paraview_view.py.
#pragma once

#include <string_view>

namespace lodestone::io::run {

/// Returns the part of the script that is the same for every run; it uses the constants before it.
[[nodiscard]] std::string_view paraview_view_body();

}  // namespace lodestone::io::run
