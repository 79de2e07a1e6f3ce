// SPDX-License-Identifier: Apache-2.0
// What mixup and cutmix share: fields of floats whose rows are mixed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <penstock/device.hpp>
#include <penstock/extend/batch_view.hpp>
#include <penstock/schema.hpp>

#include "cuda/mix_kernels.hpp"

namespace penstock::image {

// @throws Error(invalid_argument) if a field is named twice, or `alpha` is out of bounds.
void check_mix_options(const char* stage, const std::vector<std::string>& fields, double alpha);

// @throws Error(schema_mismatch) if a field is missing, or is not of floats.
void check_mixed(const Schema& schema, const std::vector<std::string>& fields);

// Returns "image label", for instance.
std::string names_of(const std::vector<std::string>& fields);

// Returns a field of a batch.
MixRows mix_rows_of(const BatchView& in, const BatchView& out, const std::string& field);

// Mixes on the host.
void mix_on_host(const MixRows& work, const DrawnShares& shares);
void mix_on_host(const MixRows& work, const CutShares& shares);

}  // namespace penstock::image
