// SPDX-License-Identifier: Apache-2.0
#include "sample_entries.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <type_traits>

namespace penstock::webdataset {

static_assert(std::has_unique_object_representations_v<Entry>);

void SampleEntries::add_sample() {
  ++samples_;
  begins_.push_back(entries_.size());
}

Entry& SampleEntries::of_last(std::size_t slot) {
  const auto wanted = static_cast<std::uint16_t>(slot);
  const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(begins_.back());
  const auto place = std::lower_bound(begin, slots_.end(), wanted);
  const std::ptrdiff_t at = place - slots_.begin();
  if (place == slots_.end() || *place != wanted) {
    slots_.insert(place, wanted);
    entries_.insert(entries_.begin() + at, Entry{});
  }
  return entries_[static_cast<std::size_t>(at)];
}

void SampleEntries::finish() {
  if (complete()) {
    slots_.clear();
    begins_.clear();
  }
  entries_.shrink_to_fit();
  slots_.shrink_to_fit();
  begins_.shrink_to_fit();
}

std::span<const Entry> SampleEntries::of(std::uint64_t sample) const noexcept {
  if (begins_.empty()) return std::span(entries_).subspan(sample * fields_, fields_);
  const std::uint64_t begin = begins_[sample], end = sample + 1 < samples_ ? begins_[sample + 1] : entries_.size();
  return std::span(entries_).subspan(begin, end - begin);
}

Entry SampleEntries::at(std::uint64_t sample, std::size_t slot) const noexcept {
  if (begins_.empty()) return entries_[sample * fields_ + slot];
  const std::span<const Entry> own = of(sample);
  const auto begin = slots_.begin() + static_cast<std::ptrdiff_t>(begins_[sample]);
  const auto end = begin + static_cast<std::ptrdiff_t>(own.size());
  const auto place = std::lower_bound(begin, end, slot);
  return place == end || *place != slot ? Entry{} : own[static_cast<std::size_t>(place - begin)];
}

bool SampleEntries::have_the_same_fields(std::uint64_t a, std::uint64_t b) const noexcept {
  if (begins_.empty()) return true;
  const auto slots = [&](std::uint64_t sample) {
    return std::span(slots_).subspan(begins_[sample], of(sample).size());
  };
  return std::ranges::equal(slots(a), slots(b));
}

bool SampleEntries::all_readable() const noexcept {
  return complete() && std::ranges::all_of(entries_, [](const Entry& entry) { return entry.readable(); });
}

std::uint64_t SampleEntries::hash(std::uint64_t seed) const noexcept {
  seed += samples_ * fields_;
  if (begins_.empty()) return XXH3_64bits_withSeed(entries_.data(), entries_.size() * sizeof(Entry), seed);
  // The hash is computed over a table of all entries. Absent entries are zeros in it.
  static constexpr Entry absent[64] = {};
  XXH3_state_t state{};
  XXH3_64bits_reset_withSeed(&state, seed);
  const auto add = [&](const Entry* entries, std::size_t count) {
    XXH3_64bits_update(&state, entries, count * sizeof(Entry));
  };
  const auto add_absent = [&](std::size_t count) {
    for (; count > std::size(absent); count -= std::size(absent)) add(absent, std::size(absent));
    add(absent, count);
  };
  for (std::uint64_t sample = 0; sample < samples_; ++sample) {
    const std::span<const Entry> own = of(sample);
    std::size_t next = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t slot = slots_[begins_[sample] + i];
      add_absent(slot - next);
      add(&own[i], 1);
      next = slot + 1;
    }
    add_absent(fields_ - next);
  }
  return XXH3_64bits_digest(&state);
}

}  // namespace penstock::webdataset
