// SPDX-License-Identifier: Apache-2.0
#include "sample_index.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "common/on_threads.hpp"
#include "errors.hpp"
#include "member_name.hpp"
#include "member_source.hpp"
#include "members_apart.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

namespace {

constexpr std::size_t longest_key = std::size_t{64} << 10;

// Returns a member's size, or the special size of Entry that says why the member can't be read.
std::uint64_t size_of(const TarMember& member) noexcept {
  switch (member.fault) {
    case TarFault::sparse:
      return Entry::sparse;
    case TarFault::unknown_type:
      return Entry::unknown_type;
    case TarFault::long_name:
      return Entry::long_name;
    case TarFault::none:
      break;
  }
  if (danger_of(member.name) != nullptr || danger_of(split_name(member.name)->key) != nullptr) return Entry::bad_name;
  return member.is_file() ? member.size : Entry::no_data;
}

void note(Entry& entry, const TarMember& member) noexcept {
  if (entry.offset != 0) {
    entry.size = Entry::twice;
  } else {
    entry = {member.offset, size_of(member)};
  }
}

void leave_out(ShardIndex& index, const std::string& extension) {
  const bool room = index.left_out.size() < ShardIndex::max_left_out || index.left_out.contains(extension);
  ++index.left_out[room ? extension : ""];
}

}  // namespace

void require_same(const InputFile& file, const ShardIndex& index) {
  if (file.inode() != index.inode || file.device() != index.device || file.bytes() < index.bytes)
    throw error_in(file.path(), Errc::io, "the shard was cut short or replaced while it was open; open it again");
}

std::uint64_t with_passed(std::uint64_t before, const TarMember& member) noexcept {
  const std::array<std::uint64_t, 3> place{before, member.offset, member.is_file() ? member.size : ~std::uint64_t{0}};
  return XXH3_64bits_withSeed(member.name.data(), member.name.size(),
                              XXH3_64bits(place.data(), sizeof(std::uint64_t) * place.size())) |
         1;
}

ShardIndex::Lead ShardIndex::lead(std::uint64_t offset) const noexcept {
  if (!is_claimed()) return {offset, offset};
  const auto found = std::ranges::lower_bound(leads, offset, {}, &Lead::offset);
  return found != leads.end() && found->offset == offset ? *found : Lead{offset, offset - tar_block_bytes};
}

namespace {

// Follows the members of an index file, and says from where on each must be compared.
class Leads {
 public:
  explicit Leads(ShardIndex& index) : index_(index) {}

  // `end`: where the member ends, with its padding.
  void read(const TarMember& member, std::uint64_t end) {
    const ShardIndex::Lead lead = lead_of(member.header, member.offset);
    if (lead.offset - lead.begin != tar_block_bytes) index_.leads.push_back(lead);
    read_end_ = end;
    passed_ = 0;
  }
  void pass(const TarMember& member) {
    if (split_name(member.name)) passed_ = with_passed(passed_, member);
  }
  void finish() {
    const ShardIndex::Lead lead = lead_of(index_.end, index_.end);
    index_.end = lead.begin;
    index_.end_passed = lead.passed;
  }

 private:
  // `header`: the end of the member before, of whatever kind.
  ShardIndex::Lead lead_of(std::uint64_t header, std::uint64_t offset) const noexcept {
    if (header - read_end_ > ShardIndex::max_passed_bytes) return {offset, header};
    return {offset, read_end_, passed_};
  }

  ShardIndex& index_;
  std::uint64_t read_end_ = 0, passed_ = 0;
};

}  // namespace

ShardIndex index_members(MemberSource& members, const std::vector<PlannedField>& fields) {
  std::unordered_map<std::string_view, std::size_t> slots;  // slot of each extension
  for (std::size_t slot = 0; slot < fields.size(); ++slot)
    for (const std::string& extension : fields[slot].extensions) slots.emplace(extension, slot);
  ShardIndex index;
  index.entries = SampleEntries(fields.size());
  index.bytes = members.bytes();
  index.index_file = members.index_file();
  Leads leads(index);
  TarMember member;
  while (members.next(member)) {
    const auto name = split_name(member.name);
    if (!name) {
      if (member.is_file()) ++index.left_out[""];
      continue;
    }
    const std::string_view key = name->key.substr(0, longest_key);
    const std::uint64_t samples = index.samples();
    if (samples == 0 || index.key(samples - 1) != key) {
      index.keys += key;
      index.ends.push_back(index.keys.size());
      index.entries.add_sample();
    }
    if (const auto slot = slots.find(name->extension); slot != slots.end()) {
      Entry& entry = index.entries.of_last(slot->second);
      note(entry, member);
      if (index.is_claimed() && entry.readable()) {
        leads.read(member, members.position());
        continue;
      }
    } else if (member.is_file()) {
      leave_out(index, name->extension);
    }
    if (index.is_claimed()) leads.pass(member);
  }
  index.has_end = members.has_end();
  index.end = members.position();
  if (index.is_claimed()) leads.finish();
  index.keys.shrink_to_fit();
  index.ends.shrink_to_fit();
  index.leads.shrink_to_fit();
  index.entries.finish();
  index.apart = samples_apart(index);
  // If the members of most samples lie apart, the shard is refused. Otherwise only the samples in `apart` are bad.
  if (index.apart.size() > index.samples() / 2) refuse_members_apart(members);
  return index;
}

ShardIndex index_shard(const ShardBytes& file, const std::vector<PlannedField>& fields) {
  TarScan scan(file);
  return index_members(scan, fields);
}

std::vector<ShardIndex> index_shards(const std::vector<std::string>& paths, const std::vector<PlannedField>& fields,
                                     unsigned threads) {
  std::vector<ShardIndex> made(paths.size());
  common::for_each_on_threads(paths.size(), threads, [&](std::size_t at) {
    const InputFile file(paths[at]);
    made[at] = index_shard(file, fields);
    made[at].device = file.device();
    made[at].inode = file.inode();
  });
  return made;
}

}  // namespace penstock::webdataset
