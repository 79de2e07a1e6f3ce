// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// A source that can be read only in order, by one task at a time. It has
///
///     Schema schema() const;
///     void reset(std::uint64_t epoch);
///         Makes the epoch's first record the next one.
///     bool next(SampleBuilder&);
///         Writes the next record. Returns false if the epoch has ended.
///
/// and may have
///
///     void seek(std::uint64_t record);
///         Makes the epoch's record number `record`, counted from 0, the next one. Called after `reset`. Without
///         `seek`, a resume reads all earlier records again.
///     name(), file(), identity()
///         Like those of a Source.
///
/// If `next` throws an Error of one sample (`Error::sample_scoped`), it must have read past that record. The next call
/// gives the record after it. An epoch's records must depend only on the epoch's number: each run must give the same
/// records.
template <class S>
concept StreamSource = requires(S& source, const S& shared, std::uint64_t epoch, SampleBuilder& out) {
  { shared.schema() } -> std::convertible_to<Schema>;
  { source.reset(epoch) } -> std::same_as<void>;
  { source.next(out) } -> std::same_as<bool>;
};

/// Stands for a number of records or samples that is not known beforehand, for example a stream's.
inline constexpr std::uint64_t unknown_size = ~std::uint64_t{0};

}  // namespace penstock
