// SPDX-License-Identifier: Apache-2.0
// Random pipelines, as the model describes them.
#pragma once

#include "core/model/model.hpp"

namespace model {

/// The pipeline of that number. About half have planted faults.
Spec random_spec(u64 seed);
/// The spec on one line, to read and to copy into a test of its own.
std::string describe(const Spec& spec);

}  // namespace model
