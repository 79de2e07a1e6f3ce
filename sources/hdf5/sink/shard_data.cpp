// SPDX-License-Identifier: Apache-2.0
#include "sink/shard_data.hpp"

#include <fcntl.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

#include "library/errors.hpp"

namespace penstock::hdf5 {

namespace {

constexpr std::uint32_t block_magic = 0x4b4c4250;  // "PBLK"
constexpr std::uint64_t block_alignment = 8;

// The header of a block. Its numbers are in the machine's byte order, which is also the file's.
struct BlockHeader {
  std::uint32_t magic = block_magic;
  std::uint32_t dataset = 0;
  std::uint32_t heap = 0;  // 1: a heap collection, 0: a chunk
  std::uint32_t mask = 0;
  std::uint64_t number = 0, bytes = 0;
  std::uint64_t hash = 0;  // hash of the members above and the block's bytes
};
static_assert(sizeof(BlockHeader) == 40 && sizeof(BlockHeader) % block_alignment == 0);

std::uint64_t hash_of(const BlockHeader& header, std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), XXH3_64bits(&header, offsetof(BlockHeader, hash)));
}

std::uint64_t padding_of(std::uint64_t bytes) noexcept {
  return (block_alignment - bytes % block_alignment) % block_alignment;
}

ChunkForm form_of(const StoredDataset& dataset) {
  return {dataset.shuffle ? size_of(dataset.dtype) : 0, dataset.deflate, dataset.fletcher32};
}

struct Reference {
  std::uint32_t elements = 0;
  std::uint64_t heap = 0;
  std::uint32_t object = 0;
};
Reference reference_at(const std::byte* from) noexcept {
  Reference reference;
  std::memcpy(&reference.elements, from, 4);
  std::memcpy(&reference.heap, from + 4, 8);
  std::memcpy(&reference.object, from + 12, 4);
  return reference;
}

class ReadingFile {
 public:
  explicit ReadingFile(const std::string& file)
      : file_(file), fd_(uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC); })) {
    if (fd_ < 0) throw system_error(errno, "opening the file", file);
  }
  ReadingFile(const ReadingFile&) = delete;
  ReadingFile& operator=(const ReadingFile&) = delete;
  ~ReadingFile() { ::close(fd_); }
  void read(void* to, std::size_t bytes, std::uint64_t offset) const {
    const std::size_t got = read_whole(fd_, {static_cast<std::byte*>(to), bytes}, offset);
    if (got == bytes) return;
    if (errno != 0) throw system_error(errno, "reading", file_);
    throw error_in(file_, Errc::corrupt, "the file is shorter than what was committed", offset);
  }

 private:
  const std::string& file_;
  int fd_;
};

}  // namespace

void put_reference(std::span<std::byte, reference_bytes> to, std::uint32_t elements, std::uint64_t heap,
                   std::uint32_t object) noexcept {
  std::memcpy(to.data(), &elements, 4);
  std::memcpy(to.data() + 4, &heap, 8);
  std::memcpy(to.data() + 12, &object, 4);
}

ShardData::ShardData(const std::string& file, std::uint64_t committed, const std::vector<StoredDataset>& datasets,
                     std::optional<SinkThreads> threads)
    : datasets_(datasets),
      threads_(std::move(threads)),
      blocks_(datasets.size()),
      counts_(datasets.size()),
      file_((learn(file, committed), file), committed, source_name) {
  if (committed == 0) file_.append_zeros(reserved_bytes);
}

ShardData::~ShardData() {
  // Threads that have not begun a waiting chunk must not begin it.
  for (const Waiting& block : waiting_)
    if (block.work) block.work->give_up();
}

void ShardData::learn(const std::string& file, std::uint64_t committed) {
  if (committed == 0) return;
  const ReadingFile in(file);
  std::vector<std::byte> bytes;
  std::uint64_t at = reserved_bytes;
  while (at < committed) {
    const auto damaged = [&] { return error_in(file, Errc::corrupt, "its data is not as it was written", at); };
    BlockHeader header;
    if (committed - at < sizeof header) throw damaged();
    in.read(&header, sizeof header, at);
    if (header.magic != block_magic || header.dataset >= datasets_.size() ||
        header.bytes > committed - at - sizeof header)
      throw damaged();
    bytes.resize(header.bytes);
    const std::uint64_t begin = at + sizeof header;
    in.read(bytes.data(), bytes.size(), begin);
    WrittenBlocks& blocks = blocks_[header.dataset];
    Counts& counts = counts_[header.dataset];
    std::uint64_t& count = header.heap != 0 ? counts.heaps : counts.chunks;
    if (header.hash != hash_of(header, bytes) || header.number != count) throw damaged();
    ++count;
    if (header.heap != 0)
      blocks.heaps.push_back(begin);
    else
      blocks.chunks.push_back({begin, header.bytes, header.mask});
    at = begin + header.bytes + padding_of(header.bytes);
  }
  if (at != committed) throw error_in(file, Errc::corrupt, "its data is not as it was written", committed);
}

void ShardData::add_chunk(std::size_t dataset, std::vector<std::byte> rows) {
  Waiting block;
  block.dataset = dataset;
  block.number = counts_[dataset].chunks++;
  const StoredDataset& of = datasets_[dataset];
  if (of.deflate != 0 || of.shuffle || of.fletcher32)
    block.work = std::make_shared<ChunkWork>(std::move(rows), form_of(of));
  else
    block.bytes = std::move(rows);
  add(std::move(block));
}

std::uint64_t ShardData::add_heap(std::size_t dataset, std::vector<std::byte> image) {
  const std::uint64_t number = counts_[dataset].heaps++;
  add({.dataset = dataset, .heap = true, .number = number, .work = nullptr, .bytes = std::move(image)});
  return number;
}

void ShardData::add(Waiting block) {
  constexpr std::size_t a_thread = 2, max_bytes = 256u << 20;
  const std::size_t most = threads_ ? a_thread * threads_->threads() : 0;
  const std::shared_ptr<ChunkWork> work = block.work;
  waiting_.push_back(std::move(block));
  if (work && threads_) threads_->submit([work] { work->claim(); });
  const auto weighs = [&] {
    std::size_t bytes = 0;
    for (const Waiting& one : waiting_) bytes += one.work ? datasets_[one.dataset].chunk_bytes() : one.bytes.size();
    return bytes;
  };
  while (!waiting_.empty() &&
         (!waiting_.front().work || waiting_.front().work->done() || waiting_.size() > most || weighs() > max_bytes))
    append_first();
}

void ShardData::append_first() {
  const Waiting& block = waiting_.front();
  if (!block.work) {
    append(block, block.bytes, 0);
  } else {
    // If this chunk is not done, encodes the oldest chunk that no thread has claimed. That may be this chunk or a later
    // one.
    if (!block.work->done())
      static_cast<void>(std::any_of(waiting_.begin(), waiting_.end(),
                                    [](const Waiting& other) { return other.work && other.work->claim(); }));
    block.work->wait();
    if (block.work->failed())
      throw error_in({}, Errc::out_of_memory, "there is no memory to compress a chunk; give fewer `chunk_rows`");
    append(block, block.work->stored(), block.work->mask());
  }
  waiting_.pop_front();
}

void ShardData::append(const Waiting& block, std::span<const std::byte> bytes, std::uint32_t mask) {
  WrittenBlocks& blocks = blocks_[block.dataset];
  std::vector<std::byte> resolved;
  if (!block.heap && datasets_[block.dataset].varies()) {
    // In each reference, replaces the collection's number by the collection's offset, which is known only now.
    resolved.assign(bytes.begin(), bytes.end());
    for (std::size_t at = 0; at < resolved.size(); at += reference_bytes) {
      const Reference reference = reference_at(resolved.data() + at);
      if (reference.elements != 0)
        put_reference(std::span(resolved).subspan(at).first<reference_bytes>(), reference.elements,
                      blocks.heaps[reference.heap], reference.object);
    }
    bytes = resolved;
  }
  BlockHeader header;
  header.dataset = static_cast<std::uint32_t>(block.dataset);
  header.heap = block.heap ? 1 : 0;
  header.mask = mask;
  header.number = block.number;
  header.bytes = bytes.size();
  header.hash = hash_of(header, bytes);
  file_.append(std::as_bytes(std::span(&header, 1)));
  if (block.heap)
    blocks.heaps.push_back(file_.bytes());
  else
    blocks.chunks.push_back({file_.bytes(), bytes.size(), mask});
  file_.append(bytes);
  file_.append_zeros(static_cast<std::size_t>(padding_of(bytes.size())));
}

void ShardData::flush() {
  while (!waiting_.empty()) append_first();
  file_.flush();
}

void ShardData::close() {
  flush();
  file_.close();
}

}  // namespace penstock::hdf5
