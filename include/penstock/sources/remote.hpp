// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/export.hpp>
#include <penstock/extend/byte_source.hpp>

namespace penstock {

/// How files on servers are read, by HTTP or HTTPS. Nothing here changes what is read.
struct Remote {
  // What most callers set.
  /// Returns the token that is sent as "Authorization: Bearer TOKEN", or an empty text for none. The thread that
  /// transfers calls it for each request. All transfers wait meanwhile, so it must be quick, and must not read through
  /// the client. An exception fails the range. Default: no token.
  std::function<std::string()> token = {};
  /// Further lines of each request's header, "Name: value". They must not decide which file a URL is.
  std::vector<std::string> headers = {};
  // What changes only speed and memory.
  /// The most connections at a time.
  unsigned connections = 16;
  /// Bytes of the ranges in which sources read files. Each range is one request.
  std::size_t range_bytes = std::size_t{8} << 20;
  // What is kept on a disk.
  /// The folder of the cache, for files that were read from servers. Processes of a machine may use the same folder.
  /// They share ranges if their `range_bytes` are equal. Default (empty): "$XDG_CACHE_HOME/penstock", or
  /// "$HOME/.cache/penstock". If this default can't be used, nothing is kept; `plan()` and `RemoteCounts::no_cache` say
  /// why.
  std::string cache = {};
  /// The most bytes that the files of the cache have together. 0: nothing is kept, and each epoch fetches the ranges
  /// that its loader has no longer in memory.
  std::uint64_t cache_bytes = std::uint64_t{32} << 30;
  // When a transfer fails.
  /// How often a range is requested again after a failure that may pass: a broken or stalled connection, or an answer
  /// with status 408, 429, 500, 502, 503 or 504. A repeated request goes on at the first missing byte.
  unsigned retries = 10;
  /// The time before the first repetition. Doubles each time, and is varied at random by up to a half.
  std::chrono::milliseconds first_pause{100};
  /// The longest time before a repetition. A server that says `Retry-After` is obeyed, up to `give_up`.
  std::chrono::milliseconds longest_pause{15'000};
  /// A connection that brings less than 1 KiB per second for this long is closed, and the request repeated.
  std::chrono::seconds stalled{10};
  /// A range fails if its requests have brought no byte for this long.
  std::chrono::seconds give_up{180};
  // Certificates of HTTPS.
  /// A file with the certificates that are trusted, in PEM. Default (empty): the file that the environment variable
  /// SSL_CERT_FILE or CURL_CA_BUNDLE names; otherwise the system's.
  std::string certificates = {};
};

/// What a RemoteClient has done so far.
struct RemoteCounts {
  std::uint64_t requests = 0;          ///< requests that were sent, including failed and redirected ones
  std::uint64_t bytes = 0;             ///< bytes of files that arrived
  std::uint64_t retries = 0;           ///< requests that were repeated
  std::uint64_t reads = 0;             ///< ranges that were read
  std::uint64_t announced_reads = 0;   ///< those of them that were announced
  std::uint64_t waited_reads = 0;      ///< those of them that were not there yet
  double waited_s = 0;                 ///< seconds that reads waited, of all threads together
  std::uint64_t most_connections = 0;  ///< the most requests at the same time
  double busy_s = 0;                   ///< seconds that requests took, of all connections together
  double full_s = 0;                   ///< seconds in which all connections had requests
  std::uint64_t cached_reads = 0;      ///< ranges that were read from the cache; also counted in `reads`
  std::uint64_t cached_bytes = 0;      ///< their bytes
  std::uint64_t kept = 0;              ///< ranges that were added to the cache
  std::uint64_t not_kept = 0;          ///< ranges that were fetched and could not be added
  std::string why_not_kept = {};       ///< why the last one of these was not added
  std::string no_cache = {};           ///< why nothing is kept: the default folder can't be used
  std::uint64_t not_keepable = 0;      ///< opened files that the cache can't keep: the server sends no version of them
};

/// Reads files from servers over a number of connections that they share. Its files keep it alive. Any thread may use
/// it.
///
/// One thread of its own transfers. Announced ranges are requested in their order, as long as their bytes are at most
/// `connections` x `range_bytes`; further ones wait until a range was read. Each source of a loader adds up to as much
/// again, from the loader's `max_block_bytes`: ranges that have arrived can then wait while others are on their way. A
/// range that is read without an announcement is requested at once, straight into the reader's memory. Loaders that
/// share a client share these bytes: one that is not used holds up the others, so give each a client of its own. A read
/// can't be interrupted. So a loader that is closed waits for the ranges that its runners read, for `give_up` at most.
///
/// The version of a file is its ETag, or else its time of change (Last-Modified). If a server sends neither, only the
/// size shows a change.
///
/// Ranges are kept in a cache on a disk, with the version of the file that they are from. Only whole ranges of
/// `range_bytes` are kept, of files for which the server sends a strong ETag, or a Last-Modified that is at least two
/// seconds old. If the cache is full, files make room that were last opened before the oldest living client began. If
/// there are none, further ranges are not kept. So of a data set that is larger than the cache, one part stays, and the
/// other is fetched in each epoch. If several processes need a range, one fetches it, and the others wait, as long as
/// it makes progress. If the disk becomes full or fails later, this only costs time. The cache survives the end of a
/// process at any moment: each range has a hash, and a damaged one is fetched again. Loaders read it through memory
/// maps. If another program cuts a file of the cache short meanwhile, reading it ends the process by SIGBUS.
///
/// Requests follow up to 5 redirections, but never from HTTPS to HTTP. `token` and `headers` are sent only to the
/// scheme, host and port of the URL that was opened. Proxies come from the environment (`https_proxy`, `no_proxy`).
/// A URL's query, user and password are in no error and no log.
class PENSTOCK_API RemoteClient {
 public:
  /// Begins the thread, and makes the cache's folder. @throws Error(invalid_argument) for options that can't work;
  /// Error(io | not_found) if the folder `cache` can't be made.
  explicit RemoteClient(Remote options = {});

  /// Opens files: asks the server for the size and version of each, over all connections. Reading them later throws if
  /// a file has changed meanwhile.
  /// @throws Error(invalid_argument) if a URL is not one of HTTP or HTTPS; Error(not_found) for status 404 and 410;
  /// Error(unsupported) if the server sends no ranges; Error(network) for all else.
  std::vector<std::shared_ptr<const ByteSource>> open(std::span<const std::string> urls) const;
  /// Opens one file.
  std::shared_ptr<const ByteSource> open(const std::string& url) const;
  /// Opens files of which some may be missing: those are null. Servers answer in many ways if a file is missing. These
  /// answers count:
  /// - status 501, and any from 400 to 499 except 401, 408, 412, 416 and 429;
  /// - status 200, which is a page in place of a range.
  ///
  /// @throws like `open` for all else.
  std::vector<std::shared_ptr<const ByteSource>> find(std::span<const std::string> urls) const;
  /// What was done so far.
  RemoteCounts counts() const;
  /// The options that the client was made with. Valid as long as the client.
  const Remote& options() const noexcept;
  /// The folder of the cache in use; empty if nothing is kept.
  std::string cache_folder() const;
  /// Whether requests have a `token` or `headers`.
  bool sends_secrets() const noexcept;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

/// Returns a URL without user, password and query, as errors show it. Also for a text that can't be taken apart.
PENSTOCK_API std::string shown_url(const std::string& url);

/// Returns the canonical form of a URL: URLs that differ only in spelling have the same one. Writes scheme and host in
/// lower case, adds the port, keeps the query, and decodes "%74" to "t". Removes user, password, fragment and dot
/// segments. Returns a text that is not a URL unchanged.
PENSTOCK_API std::string canonical_url(const std::string& url);

/// Returns whether a text begins like a URL that RemoteClient opens: "http://" or "https://", in upper or lower case.
PENSTOCK_API bool names_remote(std::string_view path) noexcept;

}  // namespace penstock
