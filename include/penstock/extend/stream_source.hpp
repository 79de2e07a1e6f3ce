#pragma once

#include <concepts>
#include <cstdint>

#include <penstock/extend/sample.hpp>
#include <penstock/schema.hpp>

namespace penstock {

/// A source that can only be read in order, by one task at a time:
///
///     Schema schema() const;
///     void reset(std::uint64_t epoch);     the next record is this epoch's first
///     bool next(SampleBuilder&);           false = the epoch has ended; until then, one record each
///
/// and where they make sense
///
///     void seek(std::uint64_t record);     the next record is the epoch's record of that number, from 0; called after
///                                          `reset`. Without it a resume reads all records before it once more.
///     name(), file(), identity()           as of a Source
///
/// A `next` that throws an Error of one sample (`Error::sample_scoped`) has read past that record: the next call gives
/// the one after it. What is read must depend on the epoch alone. It must give the same records in each run.
template <class S>
concept StreamSource = requires(S& source, const S& shared, std::uint64_t epoch, SampleBuilder& out) {
  { shared.schema() } -> std::convertible_to<Schema>;
  { source.reset(epoch) } -> std::same_as<void>;
  { source.next(out) } -> std::same_as<bool>;
};

/// Number of a stream's records, before it is read.
inline constexpr std::uint64_t unknown_size = ~std::uint64_t{0};

}  // namespace penstock
