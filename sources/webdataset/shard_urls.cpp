// SPDX-License-Identifier: Apache-2.0
#include "shard_urls.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

#include <penstock/error.hpp>

#include "errors.hpp"
#include "index_file.hpp"

#ifdef PENSTOCK_WEBDATASET_REMOTE
#include <penstock/sources/remote.hpp>
#endif

namespace penstock::webdataset {

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

std::string text_of(const ByteSource& file, std::uint64_t max_bytes) {
  if (file.size() > max_bytes)
    throw error_in(
        file.name(), Errc::limit_exceeded,
        "the file has " + std::to_string(file.size()) + " bytes; " + std::to_string(max_bytes) + " are read at most");
  file.will_read(ranges_of(file));
  return read_announced(file);
}

ShardRanges::Files find_index_files(const RemoteClient& client, const std::vector<std::string>& shards) {
  std::vector<std::string> urls;
  std::vector<std::size_t> of;  // the shard of each URL
  for (std::size_t shard = 0; shard < shards.size(); ++shard) {
    std::optional<std::string> url = index_url(shards[shard]);
    if (!url) continue;
    urls.push_back(std::move(*url));
    of.push_back(shard);
  }
  ShardRanges::Files found = client.find(urls), files(shards.size());
  for (std::size_t i = 0; i < found.size(); ++i) files[of[i]] = std::move(found[i]);
  return files;
}

std::string gibibytes(std::uint64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f GiB", static_cast<double>(bytes) / (std::uint64_t{1} << 30));
  return text;
}

// Says where shards are kept, and which are not.
void note_cache(const RemoteClient& client, const ShardRanges::Files& shards, std::uint64_t not_keepable,
                std::vector<std::string>& notes) {
  if (const std::string why = client.counts().no_cache; !why.empty())
    notes.push_back("nothing is kept on a disk, so each run fetches all shards: " + why +
                    "; set `cache` to a folder, or `cache_bytes` to 0");
  if (client.cache_folder().empty()) return;
  std::uint64_t bytes = 0;
  for (const auto& shard : shards) bytes += shard->size();
  const std::uint64_t most = client.options().cache_bytes;
  notes.push_back("what is fetched is kept in " + client.cache_folder() + ", up to " + gibibytes(most) +
                  (bytes <= most ? ""
                                 : "; the shards have " + gibibytes(bytes) +
                                       ", so each epoch fetches a part of them again; see `cache_bytes`"));
  if (not_keepable != 0)
    notes.push_back("the cache keeps nothing of " + std::to_string(not_keepable) + " of " +
                    std::to_string(shards.size()) + (shards.size() == 1 ? " shard" : " shards") +
                    ", because the server sends no version that shows each change (ETag, or a Last-Modified that is "
                    "older than two seconds)");
}

}  // namespace

// A list is a text of the server's, which must not decide who gets the caller's secrets.
void require_same_server(WebDataset& options, const std::vector<std::string>& urls) {
  if (!client_of(options).sends_secrets()) return;
  const auto server_of = [](const std::string& url) {
    const std::string shown = shown_url(canonical_url(url));
    return shown.substr(0, shown.find('/', shown.find("://") + 3));
  };
  const std::string of_list = server_of(options.path);
  for (const std::string& url : urls)
    if (server_of(url) != of_list)
      throw error_in(shown_url(url), Errc::invalid_argument,
                     "the shard is on another server than the list that names it, and would get `token` and `headers`; "
                     "copy the list to this machine if it may");
}

std::string url_without_secrets(const std::string& url) { return shown_url(url); }
std::string url_to_compare(const std::string& url) { return canonical_url(url); }

std::string read_url(WebDataset& options, std::uint64_t max_bytes) {
  return text_of(*client_of(options).open(options.path), max_bytes);
}

std::optional<std::string> find_url(const WebDataset& options, const std::string& url) {
  constexpr std::uint64_t max_bytes = std::uint64_t{16} << 20;  // as many as `read_text` reads of a local file
  const auto found = options.client->find({&url, 1}).front();
  return found == nullptr ? std::nullopt : std::optional(text_of(*found, max_bytes));
}

std::unique_ptr<ShardRanges> open_urls(WebDataset& options, const std::vector<std::string>& urls,
                                       std::vector<std::string>& notes) {
  const RemoteClient& client = client_of(options);
  const std::uint64_t before = client.counts().not_keepable;
  ShardRanges::Files files = client.open(urls), index_files;
  note_cache(client, files, client.counts().not_keepable - before, notes);
  if (options.use_index) index_files = find_index_files(client, urls);
  return std::make_unique<ShardRanges>(std::move(files), std::move(index_files));
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

std::string url_to_compare(const std::string& url) { return url; }
void require_same_server(WebDataset&, const std::vector<std::string>&) { refuse_urls(); }
std::string read_url(WebDataset&, std::uint64_t) { refuse_urls(); }
std::optional<std::string> find_url(const WebDataset&, const std::string&) { refuse_urls(); }
std::unique_ptr<ShardRanges> open_urls(WebDataset&, const std::vector<std::string>&, std::vector<std::string>&) {
  refuse_urls();
}
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
