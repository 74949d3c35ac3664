// SPDX-License-Identifier: Apache-2.0
// The only file that knows which major version of Catch2 is installed.
#pragma once
#include <catch2/catch.hpp>
