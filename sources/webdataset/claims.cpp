// SPDX-License-Identifier: Apache-2.0
#include "claims.hpp"

#include <algorithm>
#include <string>

#include <penstock/error.hpp>

#include "errors.hpp"
#include "index_file.hpp"
#include "member_name.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

namespace {

[[noreturn]] void refuse(const ShardIndex& index, const std::string& why) {
  throw Error(Errc::corrupt, "the shard is not as its index file says (" + index.index_file + "): " + why + "; " +
                                 std::string(way_to_right_index));
}

// Calls `next` of a scan. What it finds wrong with the shard shows a wrong index file.
bool next_of(TarScan& scan, TarMember& member, const ShardIndex& index) {
  try {
    return scan.next(member);
  } catch (const Error& error) {
    if (!error.sample_scoped() || error.code() == Errc::io) throw;
    refuse(index,
           error.offset() ? "at offset " + std::to_string(*error.offset()) + ", " + error.cause() : error.cause());
  }
}

// Takes the members that no field reads, up to one that is read or to the end. Compares them with the index file.
class Passed {
 public:
  Passed(const ShardIndex& index, std::uint64_t expected) : index_(index), expected_(expected) {}
  void take(const TarMember& member) {
    if (!split_name(member.name)) return;
    if (expected_ == 0)
      refuse(index_, "the shard has the member \"" + printable(member.name, 200) + "\" at offset " +
                         std::to_string(member.offset) + ", which the index file does not list");
    passed_ = with_passed(passed_, member);
    last_ = printable(member.name, 200);
  }
  void finish() const {
    if (passed_ == expected_) return;
    refuse(index_, "the shard and the index file differ in members that no field reads" +
                       (last_.empty() ? "" : "; the shard's last one is \"" + last_ + "\""));
  }

 private:
  const ShardIndex& index_;
  const std::uint64_t expected_;
  std::uint64_t passed_ = 0;
  std::string last_;
};

}  // namespace

void require_as_claimed(const ShardBytes& shard, const ShardIndex& index, std::uint64_t sample, Entry member,
                        const PlannedField& field) {
  const ShardIndex::Lead lead = index.lead(member.offset);
  TarScan scan(shard, lead.begin, member.offset);
  Passed passed(index, lead.passed);
  TarMember there;
  while (true) {
    if (!next_of(scan, there, index)) refuse(index, "the archive ends before the member");
    if (there.offset >= member.offset) break;
    passed.take(there);
  }
  passed.finish();
  const std::string what = "\"" + printable(there.name, 200) + "\" of " + std::to_string(there.size) + " bytes";
  if (there.offset != member.offset) refuse(index, "the data of " + what + " begin at " + std::to_string(there.offset));
  if (!there.is_file() || there.fault != TarFault::none) refuse(index, what + " can't be read as a file");
  const auto name = split_name(there.name);
  if (there.size != member.size || !name || name->key != index.key(sample) ||
      std::ranges::find(field.extensions, name->extension) == field.extensions.end())
    refuse(index, "there is " + what + ", and not this member of " + std::to_string(member.size) + " bytes");
}

void require_end_as_claimed(const ShardBytes& shard, const ShardIndex& index) {
  if (index.end == index.bytes) return;
  TarScan scan(shard, index.end, index.bytes);
  Passed passed(index, index.end_passed);
  for (TarMember there; next_of(scan, there, index);) passed.take(there);
  passed.finish();
}

}  // namespace penstock::webdataset
