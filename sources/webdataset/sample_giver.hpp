// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/sources/webdataset.hpp>

#include "claims.hpp"
#include "faults.hpp"
#include "npy.hpp"
#include "store.hpp"

namespace penstock::webdataset {

/// Makes samples of their members. `Access` has the members' bytes:
///
///     std::span<const std::byte> view(std::size_t shard, Entry member);
///         The bytes, if they are in memory at one place; otherwise a span without data. Valid as long as the sample.
///     void copy(std::size_t shard, Entry member, std::byte* to);
///         Copies the bytes. @throws Error.
///     void will_copy(std::size_t shard, std::uint64_t begin, Entry member);
///         Says that the bytes from `begin` to the member's end are copied next, in parts. @throws Error.
///
/// One thread at a time.
template <class Access>
class SampleGiver {
 public:
  using Location = Store::Location;

  SampleGiver(const Store& store, Access& access) : store_(store), access_(access) {}

  /// Makes the sample at `location`, which has number `index`. @throws Error.
  void give(std::uint64_t index, Location location, SampleBuilder& out) {
    const ShardIndex& shard = store_.indices[location.shard];
    if (shard.is_claimed() && location.sample + 1 == shard.samples()) check_end(index, location);
    for (std::size_t slot = 0; slot < store_.fields.size(); ++slot) {
      const Entry entry = store_.entry(location, slot);
      try {
        give_member(slot, location, entry, out);
      } catch (Error& error) {
        throw explained(error, store_, index, location, slot);
      }
    }
  }

 private:
  // A shard, as `Access` has it.
  class Bytes final : public ShardBytes {
   public:
    Bytes(const Store& store, Access& access, std::size_t shard) : store_(store), access_(access), shard_(shard) {}
    const std::string& path() const noexcept override { return store_.shards[shard_]; }
    std::uint64_t bytes() const noexcept override { return store_.indices[shard_].bytes; }
    void read(char* to, std::size_t count, std::uint64_t offset) const override {
      access_.copy(shard_, {offset, count}, reinterpret_cast<std::byte*>(to));
    }

   private:
    const Store& store_;
    Access& access_;
    const std::size_t shard_;
  };

  void check_end(std::uint64_t index, Location location) {
    const ShardIndex& shard = store_.indices[location.shard];
    try {
      access_.will_copy(location.shard, shard.end, {shard.end, shard.bytes - shard.end});
      require_end_as_claimed(Bytes(store_, access_, location.shard), shard);
    } catch (Error& error) {
      error.with_source("webdataset").with_file(store_.shards[location.shard]).with_index(index);
      throw error.with_key(shard.key(location.sample)).with_offset(shard.end);
    }
  }

  void give_member(std::size_t slot, Location location, Entry entry, SampleBuilder& out) {
    const PlannedField& field = store_.fields[slot];
    const std::size_t shard = location.shard;
    if (!entry.readable()) [[unlikely]]
      refuse_member(entry, field, store_.indices[shard], location.sample);
    if (const ShardIndex& index = store_.indices[shard]; index.is_claimed()) {
      // Memory for a large member is taken after its header was seen. The bytes that are read with it have an array's
      // header.
      const Entry first{entry.offset, entry.size <= large_member ? entry.size : max_npy_header_bytes};
      access_.will_copy(shard, index.lead(entry.offset).begin, first);
      require_as_claimed(Bytes(store_, access_, shard), index, location.sample, entry, field);
    }
    switch (field.kind) {
      case WebDatasetKind::automatic:
      case WebDatasetKind::bytes:
        if (const std::span<const std::byte> bytes = access_.view(shard, entry); bytes.data() != nullptr)
          out.view(slot, bytes);
        else
          access_.copy(shard, entry, out.emplace(slot, Shape{static_cast<std::int64_t>(entry.size)}).data);
        return;
      case WebDatasetKind::integer:
        out.scalar<std::int64_t>(slot, whole_number(beginning(shard, entry, longest_number_text)));
        return;
      case WebDatasetKind::array:
        give_array(slot, shard, entry, out);
        return;
    }
  }

  void give_array(std::size_t slot, std::size_t shard, Entry entry, SampleBuilder& out) {
    const auto bytes = static_cast<std::size_t>(entry.size);
    const Field& wanted = store_.schema[slot];
    Npy npy;
    try {
      const std::size_t header =
          npy_header_bytes(beginning(shard, {entry.offset, std::min<std::uint64_t>(bytes, npy_preamble_bytes)}));
      npy = parse_npy(beginning(shard, {entry.offset, std::min(bytes, header)}), bytes);
    } catch (const NpyFault& damage) {
      throw Error(damage.code, damage.what);
    }
    if (npy.dtype != wanted.dtype || !wanted.shape.admits(npy.shape))
      throw Error(Errc::corrupt, "the array is " + std::string(to_string(npy.dtype)) + npy.shape.to_string() +
                                     ", those of the first samples are " + std::string(to_string(wanted.dtype)) +
                                     wanted.shape.to_string());
    const Entry elements{entry.offset + npy.data, bytes - npy.data};
    std::span<const std::byte> data = access_.view(shard, elements);
    if (data.data() != nullptr && reinterpret_cast<std::uintptr_t>(data.data()) % size_of(npy.dtype) == 0) {
      out.view(slot, data.data(), npy.shape);
    } else {
      const TensorView to = out.emplace(slot, npy.shape);
      if (data.data() == nullptr)
        access_.copy(shard, elements, to.data);
      else if (!data.empty())
        std::memcpy(to.data, data.data(), data.size());
      data = {to.data, static_cast<std::size_t>(elements.size)};
    }
    if (npy.dtype == DType::boolean &&
        std::any_of(data.begin(), data.end(), [](std::byte b) { return std::to_integer<unsigned>(b) > 1; }))
      throw Error(Errc::corrupt, "the array's elements should be true or false, but some are neither 1 nor 0");
  }

  // Returns the bytes of `entry`, which is a member or only its beginning. The bytes are valid until the next call.
  // @throws Error(corrupt) if there are more than `most`.
  std::span<const std::byte> beginning(std::size_t shard, Entry entry, std::size_t most = max_npy_header_bytes) {
    if (entry.size > most)
      throw Error(Errc::corrupt,
                  "the member has " + std::to_string(entry.size) + " bytes, too many for what it should hold");
    if (const std::span<const std::byte> bytes = access_.view(shard, entry); bytes.data() != nullptr) return bytes;
    buffer_.resize(static_cast<std::size_t>(entry.size));
    access_.copy(shard, entry, buffer_.data());
    return buffer_;
  }

  static constexpr std::size_t longest_number_text = 64;
  static constexpr std::uint64_t large_member = std::uint64_t{1} << 20;

  const Store& store_;
  Access& access_;
  std::vector<std::byte> buffer_;
};

}  // namespace penstock::webdataset
