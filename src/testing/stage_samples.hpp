// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <penstock/pipeline.hpp>

#include "findings.hpp"
#include "record.hpp"

namespace penstock::testing {

/// Makes one sample of a pipeline and checks it against the schema. Returns the sample, or its failure.
Record sample_of(const Pipeline& pipeline, Findings& findings, const std::string& who, std::uint64_t position,
                 std::uint64_t epoch);

}  // namespace penstock::testing
