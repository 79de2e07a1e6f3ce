// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/sources/webdataset.hpp>

#include "errors.hpp"
#include "sample_giver.hpp"
#include "store.hpp"
#include "tar_scan.hpp"

namespace penstock {

namespace {

using webdataset::Entry;
using webdataset::Store;

// The bytes of shards, member by member.
class ShardAccess {
 public:
  explicit ShardAccess(const Store& store)
      : store_(store), maps_(!store.maps.empty() && store.options.access == FileAccess::map) {}

  bool maps() const noexcept { return maps_; }

  std::span<const std::byte> view(std::size_t shard, Entry entry) const {
    return maps_ ? store_.mapped(shard, entry) : std::span<const std::byte>();
  }
  void will_copy(std::size_t shard, std::uint64_t begin, Entry entry) {
    if (store_.ranges == nullptr) return;
    ready_bytes_ = 0;
    const auto bytes = static_cast<std::size_t>(entry.offset + entry.size - begin);
    if (ready_.size() < bytes) ready_.resize(bytes);
    store_.ranges->file(shard).read(begin, std::span(ready_).first(bytes));
    ready_bytes_ = bytes;
    ready_shard_ = shard;
    ready_begin_ = begin;
  }
  void copy(std::size_t shard, Entry entry, std::byte* to) {
    if (store_.ranges != nullptr) {
      const auto size = static_cast<std::size_t>(entry.size);
      const std::uint64_t at = entry.offset - ready_begin_;
      if (shard == ready_shard_ && entry.offset >= ready_begin_ && at <= ready_bytes_ && size <= ready_bytes_ - at)
        std::copy_n(ready_.begin() + static_cast<std::ptrdiff_t>(at), size, to);
      else
        store_.ranges->file(shard).read(entry.offset, {to, size});
      return;
    }
    if (!file_ || open_shard_ != shard) {
      file_.reset();
      file_.emplace(store_.shards[shard]);
      open_shard_ = shard;
      try {
        webdataset::require_same(*file_, store_.indices[shard]);
      } catch (const Error&) {
        file_.reset();
        throw;
      }
    }
    file_->read(reinterpret_cast<char*>(to), static_cast<std::size_t>(entry.size), entry.offset);
  }

 private:
  const Store& store_;
  const bool maps_;
  std::optional<webdataset::InputFile> file_;
  std::size_t open_shard_ = 0;
  // What was read from a server at once.
  std::vector<std::byte> ready_;
  std::size_t ready_bytes_ = 0;
  std::size_t ready_shard_ = 0;
  std::uint64_t ready_begin_ = 0;
};

}  // namespace

class WebDatasetReader::Impl {
 public:
  explicit Impl(std::shared_ptr<const Store> store) : store_(std::move(store)) {}

  void read(std::uint64_t index, SampleBuilder& out) {
    const Store& store = *store_;
    if (index >= store.size()) [[unlikely]]
      throw webdataset::error_in(store.options.path, Errc::not_found,
                                 "there are " + std::to_string(store.size()) + " samples")
          .with_index(index);
    Store::Location location;
    if (next_ < count_ && expected_[next_].index == index) {
      location = expected_[next_++].location;
      fetch_next();
    } else {
      location = store.location_of(index);
      next_ = count_ = 0;
    }
    giver_.give(index, location, out);
  }

  void expect(std::span<const std::uint64_t> indices) noexcept {
    next_ = count_ = 0;
    if (!access_.maps()) return;
    for (const std::uint64_t index : indices.first(std::min(indices.size(), expected_.size()))) {
      if (index >= store_->size()) break;  // `read` will report the bad index
      const Store::Location location = store_->location_of(index);
      __builtin_prefetch(store_->entries_of(location).data());
      expected_[count_++] = {index, location};
    }
    fetch_next();
  }

 private:
  // Prefetches the beginning of each member of the next sample. The processor does not prefetch it by itself, and may
  // first have to look up the address of its page.
  void fetch_next() const noexcept {
    constexpr std::size_t line = 64, lines = 4;
    if (next_ == count_) return;
    const Store::Location location = expected_[next_].location;
    for (const Entry entry : store_->entries_of(location)) {
      if (!entry.readable()) continue;
      const std::span<const std::byte> bytes = store_->mapped(location.shard, entry);
      for (std::size_t at = 0; at < std::min(bytes.size(), line * lines); at += line)
        __builtin_prefetch(bytes.data() + at);
    }
  }

  std::shared_ptr<const Store> store_;
  ShardAccess access_{*store_};
  webdataset::SampleGiver<ShardAccess> giver_{*store_, access_};
  struct Expected {
    std::uint64_t index = 0;
    Store::Location location;
  };
  std::array<Expected, 16> expected_{};  // only the elements from next_ to count_ are valid
  std::size_t next_ = 0, count_ = 0;
};

WebDatasetReader::WebDatasetReader(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
WebDatasetReader::~WebDatasetReader() = default;
void WebDatasetReader::read(std::uint64_t index, SampleBuilder& out) { impl_->read(index, out); }
void WebDatasetReader::expect(std::span<const std::uint64_t> indices) noexcept { impl_->expect(indices); }

std::unique_ptr<WebDatasetReader> WebDatasetSource::open_reader() const {
  return std::unique_ptr<WebDatasetReader>(new WebDatasetReader(std::make_unique<WebDatasetReader::Impl>(impl_)));
}

}  // namespace penstock
