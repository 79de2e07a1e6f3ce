// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/pipeline.hpp>

#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

/// Returns one sample of a pipeline, after checking it against the schema, or how it failed.
Record sample_of(const Pipeline& pipeline, Findings& findings, const std::string& who, std::uint64_t position,
                 std::uint64_t epoch);

}  // namespace penstock::testing
