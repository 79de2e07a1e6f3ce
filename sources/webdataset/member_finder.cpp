// SPDX-License-Identifier: Apache-2.0
#include "member_finder.hpp"

#include <new>
#include <optional>
#include <utility>

#include "common/on_threads.hpp"
#include "infer_fields.hpp"
#include "member_record.hpp"
#include "tar_scan.hpp"

namespace penstock::webdataset {

namespace {

// What is kept about a shard (`ByteSource::keep`).
constexpr std::string_view kept_name = "members-1";

// Members that were kept.
class KeptMembers final : public MemberSource {
 public:
  KeptMembers(const ByteSource& shard, MemberRecord::Read read)
      : name_(shard.name()), bytes_(shard.size()), read_(std::move(read)) {}

  const std::string& path() const noexcept override { return name_; }
  std::uint64_t bytes() const noexcept override { return bytes_; }
  bool next(TarMember& member) override { return read_.record.next(place_, member); }
  void restart() override { place_ = {}; }
  std::uint64_t position() const noexcept override { return read_.end.position; }
  bool has_end() const noexcept override { return read_.end.has_mark; }

 private:
  const std::string name_;
  const std::uint64_t bytes_;
  const MemberRecord::Read read_;
  MemberRecord::Place place_;
};

// Members whose headers are read while the shard streams. What was read once is recorded, and kept at the end.
class StreamedMembers final : public MemberSource {
 public:
  StreamedMembers(const ShardRanges& shards, std::size_t shard)
      : file_(shards.file(shard)), shard_(shards, shard), scan_(shard_) {}

  const std::string& path() const noexcept override { return shard_.path(); }
  std::uint64_t bytes() const noexcept override { return shard_.bytes(); }
  bool next(TarMember& member) override {
    if (record_.next(place_, member)) return true;
    if (ended_) return false;
    if (scan_.next(member)) {
      record_.add(member);
      place_ = record_.end();
      return true;
    }
    ended_ = true;
    keep();
    return false;
  }
  void restart() override { place_ = {}; }
  std::uint64_t position() const noexcept override { return scan_.position(); }
  bool has_end() const noexcept override { return scan_.has_end(); }

 private:
  void keep() const noexcept {
    try {
      file_.keep(kept_name, record_.to_bytes(bytes(), {scan_.position(), scan_.has_end()}));
    } catch (const std::bad_alloc&) {  // it is found again another time
    }
  }

  const ByteSource& file_;
  const StreamedShard shard_;
  TarScan scan_;
  MemberRecord record_;
  MemberRecord::Place place_;
  bool ended_ = false;
};

}  // namespace

MemberFinder::MemberFinder(const ShardRanges& shards)
    : shards_(shards), found_(shards.shards()), announced_(shards.shards(), 0) {
  for (std::size_t shard = 0; shard < shards.shards(); ++shard) {
    const ByteSource* const file = shards.index_file(shard);
    if (file == nullptr || file->size() == 0 || file->size() > max_index_bytes) continue;
    file->will_read(ranges_of(*file));
    announced_[shard] = 1;
  }
}

MemberFinder::~MemberFinder() {
  for (std::size_t shard = 0; shard < announced_.size(); ++shard) {
    if (announced_[shard] == 0) continue;
    const ByteSource& file = *shards_.index_file(shard);
    try {
      file.will_not_read(ranges_of(file));
    } catch (const std::bad_alloc&) {  // the announcements end with the file
    }
  }
}

void MemberFinder::note_unused(std::size_t shard, const IndexDoubt& doubt) {
  const std::lock_guard lock(mutex_);
  if (unused_++ == 0 || shard < first_unused_) {
    first_unused_ = shard;
    why_unused_ = doubt.why;
  }
}

// Opens a shard's index file. Returns null if there is none.
std::unique_ptr<MemberSource> MemberFinder::open_listed(std::size_t shard) {
  const ByteSource* const file = shards_.index_file(shard);
  if (file == nullptr) return nullptr;
  if (file->size() > max_index_bytes) throw IndexDoubt{"it is larger than 1 GiB"};
  announced_[shard] = 0;
  std::string text = read_announced(*file);
  const ByteSource& of = shards_.file(shard);
  return std::make_unique<IndexFileMembers>(of.name(), of.size(), file->name(), std::move(text));
}

std::unique_ptr<MemberSource> MemberFinder::open_unlisted(std::size_t shard) const {
  const ByteSource& file = shards_.file(shard);
  if (auto kept = MemberRecord::from_bytes(file.kept(kept_name), file.size()))
    return std::make_unique<KeptMembers>(file, std::move(*kept));
  return std::make_unique<StreamedMembers>(shards_, shard);
}

std::unique_ptr<MemberSource> MemberFinder::open(std::size_t shard) {
  try {
    if (auto members = open_listed(shard)) return members;
  } catch (const IndexDoubt& doubt) {
    note_unused(shard, doubt);
  }
  return open_unlisted(shard);
}

std::vector<WebDatasetField> MemberFinder::infer(std::size_t shard) {
  std::unique_ptr<MemberSource>& members = found_[shard];
  members = open(shard);
  try {
    return infer_fields(*members);
  } catch (const IndexDoubt& doubt) {
    note_unused(shard, doubt);
    members = open_unlisted(shard);
    return infer_fields(*members);
  }
}

ShardIndex MemberFinder::index_one(std::size_t shard, const std::vector<PlannedField>& fields) {
  std::unique_ptr<MemberSource> members = std::move(found_[shard]);
  if (members != nullptr)
    members->restart();
  else
    members = open(shard);
  try {
    return index_members(*members, fields);
  } catch (const IndexDoubt& doubt) {
    note_unused(shard, doubt);
    members = open_unlisted(shard);
    return index_members(*members, fields);
  }
}

std::vector<ShardIndex> MemberFinder::index(const std::vector<PlannedField>& fields, unsigned threads) {
  std::vector<ShardIndex> made(shards_.shards());
  common::for_each_on_threads(made.size(), threads, [&](std::size_t shard) { made[shard] = index_one(shard, fields); });
  return made;
}

std::vector<std::string> MemberFinder::notes() const {
  std::vector<std::string> notes;
  if (unused_ != 0)
    notes.push_back("index files not used: " + std::to_string(unused_) + "; the first is " +
                    shards_.index_file(first_unused_)->name() + ": " + why_unused_);
  std::size_t missing = 0;
  for (std::size_t shard = 0; shard < shards_.shards(); ++shard)
    missing += shards_.index_file(shard) == nullptr ? 1 : 0;
  if (missing != 0 && missing != shards_.shards())
    notes.push_back("shards without an index file, whose headers were read: " + std::to_string(missing));
  return notes;
}

}  // namespace penstock::webdataset
