// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/sources/remote.hpp>

#include "fetcher.hpp"

namespace penstock {

namespace {

class RemoteFile final : public ByteSource {
 public:
  RemoteFile(std::shared_ptr<remote::Fetcher> fetcher, std::shared_ptr<const remote::FileFacts> facts)
      : fetcher_(std::move(fetcher)), facts_(std::move(facts)) {}
  RemoteFile(const RemoteFile&) = delete;
  RemoteFile& operator=(const RemoteFile&) = delete;
  ~RemoteFile() override { fetcher_->withdraw_all(*facts_); }

  std::string name() const override { return facts_->address.shown(); }
  std::uint64_t size() const override { return facts_->size; }
  std::size_t range_bytes() const override { return fetcher_->options().range_bytes; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size() || out.size() > size() - offset)
      throw Error(Errc::invalid_argument, std::to_string(out.size()) + " bytes are not in the file, which has " +
                                              std::to_string(size()) + " bytes")
          .with_source("remote")
          .with_file(name())
          .with_offset(offset);
    if (!out.empty()) fetcher_->read(facts_, offset, out);
  }
  std::shared_ptr<const std::byte> lend(ByteRange range) const override {
    if (range.bytes == 0 || range.offset > size() || range.bytes > size() - range.offset) return nullptr;
    return fetcher_->lend(facts_, range);
  }
  void will_read(std::span<const ByteRange> ranges) const noexcept override { fetcher_->announce(facts_, ranges); }
  void will_not_read(std::span<const ByteRange> ranges) const noexcept override { fetcher_->withdraw(*facts_, ranges); }
  MemoryAhead take_memory(std::size_t most) const override { return fetcher_->take_memory(most); }
  std::vector<std::byte> kept(std::string_view name) const override {
    if (fetcher_->cache() == nullptr || !facts_->can_be_kept) return {};
    return fetcher_->cache()->note(facts_->key, name);
  }
  void keep(std::string_view name, std::span<const std::byte> bytes) const noexcept override {
    if (fetcher_->cache() != nullptr && facts_->can_be_kept) fetcher_->cache()->keep_note(facts_->key, name, bytes);
  }
  FetchCounts fetched() const override { return fetcher_->fetched(); }
  std::uint64_t identity() const override {
    const std::string base = facts_->address.base_name();
    return XXH3_64bits_withSeed(base.data(), base.size(), size());
  }
  std::uint64_t revision() const override {
    const std::string version = facts_->etag + "\n" + facts_->last_modified;
    return XXH3_64bits_withSeed(version.data(), version.size(), size());
  }

 private:
  std::shared_ptr<remote::Fetcher> fetcher_;
  std::shared_ptr<const remote::FileFacts> facts_;
};

}  // namespace

class RemoteClient::Impl {
 public:
  explicit Impl(Remote options) : fetcher(std::make_shared<remote::Fetcher>(std::move(options))) {}
  std::vector<std::shared_ptr<const ByteSource>> open(std::span<const std::string> urls, bool some_may_be_missing) {
    const std::vector<remote::WebAddress> addresses(urls.begin(), urls.end());
    std::vector<std::shared_ptr<const ByteSource>> files;
    for (std::shared_ptr<const remote::FileFacts>& facts : fetcher->ask(addresses, some_may_be_missing))
      files.push_back(facts != nullptr ? std::make_shared<const RemoteFile>(fetcher, std::move(facts)) : nullptr);
    return files;
  }

  std::shared_ptr<remote::Fetcher> fetcher;
};

RemoteClient::RemoteClient(Remote options) : impl_(std::make_shared<Impl>(std::move(options))) {}

std::vector<std::shared_ptr<const ByteSource>> RemoteClient::open(std::span<const std::string> urls) const {
  return impl_->open(urls, false);
}

std::vector<std::shared_ptr<const ByteSource>> RemoteClient::find(std::span<const std::string> urls) const {
  return impl_->open(urls, true);
}

std::shared_ptr<const ByteSource> RemoteClient::open(const std::string& url) const {
  return open(std::span(&url, 1)).front();
}

const Remote& RemoteClient::options() const noexcept { return impl_->fetcher->options(); }

std::string RemoteClient::cache_folder() const {
  const remote::DiskCache* const cache = impl_->fetcher->cache();
  return cache != nullptr ? cache->folder() : "";
}

bool RemoteClient::sends_secrets() const noexcept { return options().token != nullptr || !options().headers.empty(); }

RemoteCounts RemoteClient::counts() const { return impl_->fetcher->counts(); }

std::string shown_url(const std::string& url) { return remote::shown_url(url); }

std::string canonical_url(const std::string& url) { return remote::canonical_url(url); }

bool names_remote(std::string_view path) noexcept {
  return std::ranges::any_of(std::array<std::string_view, 2>{"http://", "https://"}, [&](std::string_view scheme) {
    return path.size() >= scheme.size() &&
           std::ranges::equal(path.substr(0, scheme.size()), scheme,
                              [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  });
}

}  // namespace penstock
