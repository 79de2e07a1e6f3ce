// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/error.hpp>

#include "store.hpp"

namespace penstock::webdataset {

/// Reads a whole number of decimal digits, which may have white space around it. @throws Error(corrupt).
std::int64_t whole_number(std::span<const std::byte> bytes);

/// Throws the Error for a member that can't be read.
[[noreturn]] void refuse_member(Entry entry, const PlannedField& field, const ShardIndex& index, std::uint64_t sample);

/// Returns the error with the sample's number, shard, key, member and offset.
Error explained(const Error& error, const Store& store, std::uint64_t index, Store::Location location,
                std::size_t slot);

}  // namespace penstock::webdataset
