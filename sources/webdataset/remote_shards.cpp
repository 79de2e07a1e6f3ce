// SPDX-License-Identifier: Apache-2.0
#include "remote_shards.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "errors.hpp"
#include "index_file.hpp"
#include "shard_paths.hpp"

#ifdef PENSTOCK_WEBDATASET_REMOTE
#include <penstock/sources/remote.hpp>
#endif

namespace penstock::webdataset {

namespace {
// More than the connections of a client may have, so that these do not wait for a plan.
constexpr std::uint64_t blocks_announced = 64;
// A scan needs few ranges ahead, because several shards are scanned at the same time.
constexpr std::uint64_t ranges_ahead = 4;
}  // namespace

RemoteShards::RemoteShards(Files files, Files index_files)
    : files_(std::move(files)), index_files_(std::move(index_files)) {
  constexpr std::size_t usual = std::size_t{8} << 20;
  for (const auto& file : files_) range_bytes_ = std::max(range_bytes_, file->range_bytes());
  if (range_bytes_ == 0) range_bytes_ = usual;
  for (const auto& file : files_) first_.push_back(first_.back() + (file->size() + range_bytes_ - 1) / range_bytes_);
}

RemoteShards::Place RemoteShards::place_of(std::uint64_t block) const noexcept {
  const auto shard = static_cast<std::size_t>(std::ranges::upper_bound(first_, block) - first_.begin()) - 1;
  const std::uint64_t offset = (block - first_[shard]) * range_bytes_;
  return {shard, {offset, std::min<std::uint64_t>(range_bytes_, files_[shard]->size() - offset)}};
}

void RemoteShards::blocks_of(std::size_t shard, const ShardIndex& index, std::uint64_t sample,
                             std::vector<std::uint64_t>& ids) const {
  const auto before = static_cast<std::ptrdiff_t>(ids.size());
  const auto add = [&](std::uint64_t begin, std::uint64_t end) {
    if (begin == end) return;
    const std::uint64_t last = first_[shard] + (end - 1) / range_bytes_;
    for (std::uint64_t block = first_[shard] + begin / range_bytes_; block <= last; ++block)
      if (std::find(ids.begin() + before, ids.end(), block) == ids.end()) ids.push_back(block);
  };
  for (const Entry& member : index.entries.of(sample))
    if (member.readable()) add(index.lead_begin(member.offset), member.offset + member.size);
  if (index.is_claimed() && sample + 1 == index.samples()) add(index.end, index.bytes);
}

void RemoteShards::load(std::uint64_t block, std::span<std::byte> bytes) const {
  const Place place = place_of(block);
  files_[place.shard]->read(place.range.offset, bytes.first(static_cast<std::size_t>(place.range.bytes)));
}

BlocksAhead RemoteShards::blocks_ahead() const noexcept { return {blocks_announced, blocks_announced * range_bytes_}; }

void RemoteShards::will_load(std::span<const std::uint64_t> blocks) const noexcept {
  for (const std::uint64_t block : blocks) {
    const Place place = place_of(block);
    files_[place.shard]->will_read({&place.range, 1});
  }
}

void RemoteShards::will_not_load(std::span<const std::uint64_t> blocks) const noexcept {
  for (const std::uint64_t block : blocks) {
    const Place place = place_of(block);
    files_[place.shard]->will_not_read({&place.range, 1});
  }
}

StreamedShard::StreamedShard(const RemoteShards& shards, std::size_t shard)
    : shards_(shards),
      shard_(shard),
      name_(shards.file(shard).name()),
      announced_begin_(shards.first_block(shard)),
      announced_end_(announced_begin_),
      loaded_(shards.blocks()) {}

StreamedShard::~StreamedShard() {
  for (; announced_begin_ < announced_end_; ++announced_begin_) shards_.will_not_load({&announced_begin_, 1});
}

void StreamedShard::load(std::uint64_t block) const {
  if (block == loaded_) return;
  const std::uint64_t end = shards_.first_block(shard_ + 1);
  // Ranges between are skipped, where a member is larger than one.
  for (; announced_begin_ < std::min(block, announced_end_); ++announced_begin_)
    shards_.will_not_load({&announced_begin_, 1});
  announced_begin_ = std::max(announced_begin_, block);
  announced_end_ = std::max(announced_end_, announced_begin_);
  for (; announced_end_ < std::min(block + ranges_ahead, end); ++announced_end_)
    shards_.will_load({&announced_end_, 1});
  loaded_ = shards_.blocks();
  range_.resize(static_cast<std::size_t>(shards_.block_bytes(block)));
  announced_begin_ = std::max(announced_begin_, block + 1);
  shards_.load(block, range_);
  loaded_ = block;
}

void StreamedShard::read(char* to, std::size_t count, std::uint64_t offset) const {
  while (count != 0) {
    const std::uint64_t number = offset / shards_.range_bytes(), in_range = offset % shards_.range_bytes();
    load(shards_.first_block(shard_) + number);
    const std::size_t part = std::min(count, range_.size() - static_cast<std::size_t>(in_range));
    std::memcpy(to, range_.data() + in_range, part);
    to += part, count -= part, offset += part;
  }
}

bool names_url(const std::string& path) noexcept {
  return std::ranges::any_of(std::array<std::string_view, 2>{"http://", "https://"}, [&](std::string_view scheme) {
    return path.size() > scheme.size() &&
           std::ranges::equal(std::string_view(path).substr(0, scheme.size()), scheme,
                              [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  });
}

std::optional<std::string> index_url(const std::string& shard) {
  const std::size_t end = std::min(shard.find_first_of("?#"), shard.size());
  std::optional<std::string> url = index_path(std::string_view(shard).substr(0, end));
  if (url) *url += shard.substr(end);
  return url;
}

#ifdef PENSTOCK_WEBDATASET_REMOTE
namespace {

const RemoteClient& client_of(WebDataset& options) {
  if (options.client == nullptr) options.client = std::make_shared<const RemoteClient>();
  return *options.client;
}

RemoteShards::Files find_index_files(const RemoteClient& client, const std::vector<std::string>& shards) {
  std::vector<std::string> urls;
  std::vector<std::size_t> of;  // the shard of each URL
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    std::optional<std::string> url = index_url(shards[shard]);
    if (!url) continue;
    urls.push_back(std::move(*url));
    of.push_back(shard);
  }
  RemoteShards::Files found = client.find(urls), files(shards.size());
  for (std::size_t i = 0; i < found.size(); ++i) files[of[i]] = std::move(found[i]);
  return files;
}

}  // namespace

std::string url_without_secrets(const std::string& url) { return shown_url(url); }

std::string read_url(WebDataset& options, std::uint64_t max_bytes) {
  const std::shared_ptr<const ByteSource> file = client_of(options).open(options.path);
  if (file->size() > max_bytes)
    throw error_in(
        file->name(), Errc::limit_exceeded,
        "the file has " + std::to_string(file->size()) + " bytes; " + std::to_string(max_bytes) + " are read at most");
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

std::unique_ptr<RemoteShards> open_urls(WebDataset& options, const std::vector<std::string>& urls) {
  const RemoteClient& client = client_of(options);
  RemoteShards::Files files = client.open(urls), index_files;
  if (options.use_index) index_files = find_index_files(client, urls);
  return std::make_unique<RemoteShards>(std::move(files), std::move(index_files));
}
#else
namespace {

[[noreturn]] void refuse_urls() {
  throw Error(Errc::unsupported,
              "the path is a URL, and Penstock was built without the component `remote`; build it with "
              "PENSTOCK_REMOTE=ON")
      .with_source(source_name);
}

}  // namespace

std::string url_without_secrets(const std::string& url) {
  const std::string plain = url.substr(0, url.find_first_of("?#"));
  const std::size_t host = plain.find("://"), at = plain.rfind('@');
  return host == std::string::npos || at == std::string::npos ? plain
                                                              : plain.substr(0, host + 3) + plain.substr(at + 1);
}

std::string read_url(WebDataset&, std::uint64_t) { refuse_urls(); }
std::unique_ptr<RemoteShards> open_urls(WebDataset&, const std::vector<std::string>&) { refuse_urls(); }
#endif

std::string plain_name(const std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = name.data() + i + 1;
    if (name[i] == '%' && i + 2 < name.size() && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

}  // namespace penstock::webdataset
