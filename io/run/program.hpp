// SPDX-License-Identifier: Apache-2.0
// Small on purpose: one include for programs that invert data, from files to files.
#pragma once

// IWYU pragma: begin_exports
#include "engine/core/mpi/mpi_scope.hpp"
#include "inversion/inversion.hpp"
#include "inversion/mt/recipe.hpp"
#include "io/csv/table.hpp"
#include "io/hdf5/store.hpp"
#include "io/model/network.hpp"
#include "io/run/write.hpp"
#include "io/survey/observe.hpp"
// IWYU pragma: end_exports
