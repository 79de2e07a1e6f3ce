// SPDX-License-Identifier: Apache-2.0
#include "join/record_keys.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <penstock/error.hpp>

#include "base/failure.hpp"
#include "base/hash.hpp"

namespace penstock::detail {

namespace {

constexpr std::size_t max_ending = 8, named = 3;

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Returns the ending of a file's name without the dot; empty if there is no ending.
std::string_view ending_of(std::string_view name) noexcept {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return {};
  const std::string_view ending = name.substr(dot + 1);
  if (ending.size() > max_ending || !std::ranges::all_of(ending, [](char c) { return is_letter(c) || is_digit(c); }) ||
      std::ranges::none_of(ending, is_letter))
    return {};
  return ending;
}

bool has_folder(std::string_view key) noexcept { return key.find('/') != std::string_view::npos; }

std::string_view compared(std::string_view key, PairBy by) noexcept {
  if (by == PairBy::key) return key;
  const std::string_view stem = stem_of(key);
  return by == PairBy::name ? last_part(stem) : stem;
}

// Finds records by key. Keeps, for each record, a hash of the part of its key that is compared.
class HashedKeys {
 public:
  HashedKeys(const SourceModel& source, std::size_t part, PairBy by, std::string_view stage)
      : source_(source), by_(by), stage_(stage) {
    entries_.reserve(source.size());
    for (std::uint64_t i = 0; i < source.size(); ++i) entries_.push_back({hash_text(compared(key(i), by)), i});
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.index < b.index;
    });
    for (std::size_t i = 1; i < entries_.size(); ++i)
      for (std::size_t j = i; j-- > 0 && entries_[j].hash == entries_[i].hash;) refuse_equal(j, i, part);
  }

  std::string key(std::uint64_t index) const { return key_of(source_, index, stage_); }
  std::optional<std::uint64_t> find(std::string_view wanted) const {
    const std::uint64_t hash = hash_text(wanted);
    for (auto at = std::ranges::lower_bound(entries_, hash, {}, &Entry::hash); at != entries_.end(); ++at) {
      if (at->hash != hash) break;
      if (compared(key(at->index), by_) == wanted) return at->index;
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    std::uint64_t hash, index;
  };

  void refuse_equal(std::size_t a, std::size_t b, std::size_t part) const {
    const std::uint64_t first = entries_[a].index, second = entries_[b].index;
    const std::string one = key(first), other = key(second);
    if (compared(one, by_) != compared(other, by_)) return;
    throw Error(Errc::invalid_argument, "records " + std::to_string(first) + " and " + std::to_string(second) +
                                            " of part " + std::to_string(part) + " have keys that are the same here, " +
                                            quoted_key(one) + " and " + quoted_key(other) +
                                            ", so it is not clear which of them has a partner; keep one of them, or "
                                            "compare more of the keys (`.by`)")
        .with_stage(stage_)
        .with_source(source_.name())
        .with_file(source_.file());
  }

  const SourceModel& source_;
  PairBy by_;
  std::string_view stage_;
  std::vector<Entry> entries_;
};

// Returns whether all sources have the same keys at the same positions, and the keys ascend. Then no key occurs twice.
bool in_one_order(const std::vector<const SourceModel*>& sources, PairBy by, std::string_view stage) {
  const std::uint64_t size = sources.front()->size();
  for (const SourceModel* source : sources)
    if (source->size() != size) return false;
  std::string before, first;
  for (std::uint64_t i = 0; i < size; ++i) {
    first = key_of(*sources.front(), i, stage);
    const std::string_view wanted = compared(first, by);
    if (i != 0 && wanted <= compared(before, by)) return false;
    for (std::size_t part = 1; part < sources.size(); ++part)
      if (compared(key_of(*sources[part], i, stage), by) != wanted) return false;
    before.swap(first);
  }
  return true;
}

bool without_folders(const SourceModel& source, std::string_view stage) {
  for (std::uint64_t i = 0; i < source.size(); ++i)
    if (has_folder(key_of(source, i, stage))) return false;
  return true;
}

}  // namespace

std::string_view last_part(std::string_view key) noexcept {
  const std::size_t slash = key.rfind('/');
  return slash == std::string_view::npos ? key : key.substr(slash + 1);
}

std::string_view stem_of(std::string_view key) noexcept {
  // A key that is a binary number may have bytes that look like a dot or a slash.
  if (std::ranges::any_of(key, [](char c) { return static_cast<unsigned char>(c) < 0x20; })) return key;
  static constexpr std::array<std::string_view, 4> packed{"gz", "bz2", "xz", "zst"};
  const std::string_view ending = ending_of(last_part(key));
  if (ending.empty()) return key;
  const std::string_view stem = key.substr(0, key.size() - ending.size() - 1);
  if (std::ranges::find(packed, ending) == packed.end()) return stem;
  const std::string_view inner = ending_of(last_part(stem));
  return inner.empty() ? stem : stem.substr(0, stem.size() - inner.size() - 1);
}

std::string quoted_key(std::string_view key) {
  constexpr std::size_t most = 80;
  std::string text = "\"";
  text += key.substr(0, most);
  return text + (key.size() > most ? "…\"" : "\"");
}

std::string key_of(const SourceModel& source, std::uint64_t index, std::string_view stage) {
  try {
    return source.key(index);
  } catch (...) {
    throw current_error().with_stage(stage).with_source(source.name()).with_index(index);
  }
}

std::optional<KeyMismatch> compare_keys(const SourceModel& first, const SourceModel& second, PairBy by,
                                        std::string_view stage) {
  bool folders_in_first = false, folders_in_second = false;
  std::optional<KeyMismatch> by_last_part;
  for (std::uint64_t i = 0; i < first.size(); ++i) {
    std::string a = key_of(first, i, stage), b = key_of(second, i, stage);
    const bool a_has = has_folder(a), b_has = has_folder(b);
    folders_in_first = folders_in_first || a_has;
    folders_in_second = folders_in_second || b_has;
    const std::string_view wanted = compared(a, by), here = compared(b, by);
    if (wanted == here) continue;
    if (by != PairBy::stem || a_has == b_has || last_part(wanted) != last_part(here))
      return KeyMismatch{i, std::move(a), std::move(b)};
    if (!by_last_part) by_last_part = KeyMismatch{i, std::move(a), std::move(b)};
  }
  // Two keys of which only one has a folder match by their last parts if one source has no folders. If both sources
  // have folders, the first such pair is a mismatch.
  return folders_in_first && folders_in_second ? by_last_part : std::nullopt;
}

KeyMatches match_keys(const std::vector<const SourceModel*>& sources, PairBy by, std::string_view stage) {
  KeyMatches out;
  out.indices.resize(sources.size());
  out.examples.resize(sources.size());
  out.left_out.resize(sources.size());
  out.count = sources.front()->size();
  if (in_one_order(sources, by, stage)) return out;

  if (by == PairBy::stem && std::ranges::any_of(sources, [&](const SourceModel* source) {
        return source->size() != 0 && without_folders(*source, stage);
      }))
    by = PairBy::name;
  std::vector<HashedKeys> hashed;
  hashed.reserve(sources.size());
  for (std::size_t part = 0; part < sources.size(); ++part) hashed.emplace_back(*sources[part], part, by, stage);

  std::vector<std::vector<bool>> taken;
  for (const SourceModel* source : sources) taken.emplace_back(source->size());
  std::vector<std::uint64_t> partners(sources.size());
  for (std::uint64_t i = 0; i < sources.front()->size(); ++i) {
    const std::string key = hashed.front().key(i);
    partners.front() = i;
    bool all = true;
    for (std::size_t part = 1; part < sources.size() && all; ++part) {
      const std::optional<std::uint64_t> partner = hashed[part].find(compared(key, by));
      all = partner.has_value();
      if (all) partners[part] = *partner;
    }
    for (std::size_t part = 0; part < sources.size() && all; ++part) {
      out.indices[part].push_back(partners[part]);
      taken[part][partners[part]] = true;
    }
  }
  out.count = out.indices.front().size();
  for (std::size_t part = 0; part < sources.size(); ++part) {
    out.left_out[part] = sources[part]->size() - out.count;
    std::uint64_t to_name = std::min<std::uint64_t>(out.left_out[part], named);
    for (std::uint64_t i = 0; to_name != 0; ++i)
      if (!taken[part][i]) {
        out.examples[part].push_back(hashed[part].key(i));
        --to_name;
      }
    std::vector<std::uint64_t>& own = out.indices[part];
    own.shrink_to_fit();
    bool as_it_stands = out.left_out[part] == 0;
    for (std::uint64_t i = 0; i < own.size() && as_it_stands; ++i) as_it_stands = own[i] == i;
    if (as_it_stands) own = {};
  }
  return out;
}

}  // namespace penstock::detail
