// SPDX-License-Identifier: Apache-2.0
#include <penstock/sources/webdataset.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include "block_access.hpp"
#include "errors.hpp"
#include "sample_giver.hpp"
#include "store.hpp"

namespace penstock {

WebDatasetSource::WebDatasetSource(WebDataset options) : impl_(std::make_shared<const Impl>(std::move(options))) {}

std::uint64_t WebDatasetSource::size() const noexcept { return impl_->size(); }
Schema WebDatasetSource::schema() const { return impl_->schema; }
std::string WebDatasetSource::file() const { return impl_->options.path; }
std::uint64_t WebDatasetSource::identity() const noexcept { return impl_->identity; }
std::uint64_t WebDatasetSource::revision() const noexcept { return impl_->revision; }
std::vector<std::uint64_t> WebDatasetSource::block_ends() const {
  return {impl_->first.begin() + 1, impl_->first.end()};
}
std::uint64_t WebDatasetSource::blocks() const noexcept {
  return impl_->ranges == nullptr ? 0 : impl_->ranges->blocks();
}
std::uint64_t WebDatasetSource::block_bytes(std::uint64_t block) const { return impl_->ranges->block_bytes(block); }
void WebDatasetSource::blocks_of(std::uint64_t index, std::vector<std::uint64_t>& ids) const {
  const std::size_t shard = shard_of(index);
  if (impl_->ranges != nullptr)
    impl_->ranges->blocks_of(shard, impl_->indices[shard], index - impl_->first[shard], ids);
}
void WebDatasetSource::load(std::uint64_t block, std::span<std::byte> bytes) const {
  impl_->ranges->load(block, bytes);
}
std::shared_ptr<const std::byte> WebDatasetSource::lend(std::uint64_t block) const {
  return impl_->ranges->lend(block);
}
void WebDatasetSource::read(std::uint64_t index, std::span<const std::span<const std::byte>> blocks,
                            SampleBuilder& out) const {
  if (impl_->ranges == nullptr) return open_reader()->read(index, out);
  const std::size_t shard = shard_of(index);
  const webdataset::Store::Location location{shard, index - impl_->first[shard]};
  std::vector<std::uint64_t> ids;
  impl_->ranges->blocks_of(shard, impl_->indices[shard], location.sample, ids);
  webdataset::BlockAccess access(*impl_->ranges, ids, blocks);
  webdataset::SampleGiver<webdataset::BlockAccess>(*impl_, access).give(index, location, out);
}
BlocksAhead WebDatasetSource::blocks_ahead() const {
  return impl_->ranges == nullptr ? BlocksAhead() : impl_->ranges->blocks_ahead();
}
void WebDatasetSource::will_load(std::span<const std::uint64_t> blocks) const noexcept {
  if (impl_->ranges != nullptr) impl_->ranges->will_load(blocks);
}
void WebDatasetSource::will_not_load(std::span<const std::uint64_t> blocks) const noexcept {
  if (impl_->ranges != nullptr) impl_->ranges->will_not_load(blocks);
}
MemoryAhead WebDatasetSource::take_memory(std::size_t most) const {
  return impl_->ranges == nullptr ? MemoryAhead() : impl_->ranges->take_memory(most);
}
FetchCounts WebDatasetSource::fetched() const {
  return impl_->ranges == nullptr ? FetchCounts() : impl_->ranges->fetched();
}

const std::vector<std::string>& WebDatasetSource::shards() const noexcept { return impl_->shards; }
const std::vector<WebDatasetField>& WebDatasetSource::fields() const noexcept { return impl_->named; }
std::map<std::string, std::uint64_t> WebDatasetSource::left_out() const {
  std::map<std::string, std::uint64_t> all;
  for (const webdataset::ShardIndex& index : impl_->indices)
    for (const auto& [extension, count] : index.left_out) all[extension] += count;
  return all;
}
std::string WebDatasetSource::passed_over() const { return impl_->passed_over; }
std::vector<std::string> WebDatasetSource::notes() const {
  std::vector<std::string> notes = impl_->opening_notes;
  if (!impl_->passed_over.empty())
    notes.push_back("passed over: " + impl_->passed_over + "; shards end in .tar, and lie in the folder itself");
  return notes;
}
std::uint64_t WebDatasetSource::members_advised() const noexcept { return impl_->advice.asked(); }
void WebDatasetSource::will_need(std::span<const std::uint64_t> indices) const noexcept { impl_->will_need(indices); }

std::uint64_t WebDatasetSource::without_end() const noexcept {
  const auto& all = impl_->indices;
  return static_cast<std::uint64_t>(std::count_if(all.begin(), all.end(), [](const auto& i) { return !i.has_end; }));
}

std::size_t WebDatasetSource::shard_of(std::uint64_t index) const {
  if (index < size()) return impl_->location_of(index).shard;
  throw webdataset::error_in(file(), Errc::not_found, "there are " + std::to_string(size()) + " samples")
      .with_index(index);
}

std::string WebDatasetSource::file_of(std::uint64_t index) const { return impl_->shards[shard_of(index)]; }

std::string WebDatasetSource::key(std::uint64_t index) const {
  const std::size_t shard = shard_of(index);
  return std::string(impl_->indices[shard].key(index - impl_->first[shard]));
}

}  // namespace penstock
