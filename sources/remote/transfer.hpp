// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/byte_source.hpp>
#include <penstock/sources/remote.hpp>

#include "answer.hpp"
#include "cache/cache_key.hpp"
#include "web_address.hpp"

namespace penstock::remote {

using Clock = std::chrono::steady_clock;

/// What is known of a file on a server.
struct FileFacts {
  WebAddress address;
  std::uint64_t size = 0;
  // The version, as the server sent it; empty if it sent none.
  std::string etag = {}, last_modified = {};
  CacheKey key = {};
  bool can_be_kept = false;  ///< whether any change would show in the version
};

/// Options, and what follows from them.
struct Settings {
  explicit Settings(Remote its_options);
  const Remote options;
  const std::string certificates;
};

/// One range of a file that is transferred, over all requests that it takes. Only the thread that transfers uses it,
/// until it has ended.
class Transfer {
 public:
  /// What follows after a request.
  enum class Next : std::uint8_t {
    ended,    ///< the transfer has ended; see `error`
    request,  ///< begin the next request now
    pause,    ///< begin the next request at `not_before`
  };

  /// Transfers a range to `to`.
  Transfer(const Settings& settings, std::shared_ptr<const FileFacts> file, ByteRange range, std::byte* to);
  /// Asks for the size and version of a file, which `facts` returns afterwards.
  Transfer(const Settings& settings, WebAddress address);
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer();

  /// Sets where the bytes go. REQUIRES: no request has begun.
  void set_destination(std::byte* to) noexcept { to_ = to; }
  bool has_destination() const noexcept { return asks_ || to_ != nullptr; }
  /// Prepares a request. @throws what `Remote::token` throws, Error(invalid_argument) for a token with line breaks.
  void begin(CURL* handle);
  /// Ends the transfer with an error, because no request could begin.
  void give_up(Errc code, const std::string& cause) { fail(code, cause); }
  /// Takes the result of the request.
  Next end(CURLcode result);

  Clock::time_point not_before() const noexcept { return not_before_; }
  /// Returns why the transfer failed; none if it did not.
  const std::optional<Error>& error() const noexcept { return error_; }
  /// Returns whether the transfer failed with an answer that `RemoteClient::find` takes for a missing file.
  bool is_missing() const noexcept { return is_missing_; }
  std::shared_ptr<const FileFacts> facts() const { return file_; }
  std::uint64_t bytes() const noexcept { return arrived_; }
  std::uint64_t requests() const noexcept { return requests_; }
  std::uint64_t repetitions() const noexcept { return repetitions_; }

 private:
  /// The present request.
  struct Request {
    CURL* handle = nullptr;
    char message[CURL_ERROR_SIZE] = {};
    Answer answer;
    bool judged = false, taken = false;  ///< whether the answer was looked at, and whether its body is wanted
    std::uint64_t body_end = 0;          ///< bytes of the range up to the answer's last byte
    std::uint64_t skipped = 0;           ///< bytes of a body that is not wanted
    std::uint64_t got_before = 0;        ///< bytes of the range before the request
    std::optional<Error> refused;
  };
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* transfer) noexcept;
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* transfer) noexcept;
  void set_headers();
  bool take_body(std::string_view data);
  bool accepts(long status);
  bool accepts_range();
  bool is_same_version();
  void learn(std::uint64_t size);
  Next end_by_status(long status);
  Next redirect();
  Next again(std::string reason, std::optional<std::chrono::seconds> wanted = {});
  Next fail(Errc code, const std::string& cause);
  void refuse(Errc code, std::string cause);
  std::string tries() const;

  const Settings& settings_;
  std::shared_ptr<const FileFacts> file_;
  const bool asks_;  // for the file's facts
  const ByteRange range_;
  std::byte* to_;
  WebAddress at_;  // where the next request goes, after redirections
  std::uint64_t got_ = 0, arrived_ = 0;
  Clock::time_point began_{}, progressed_{};  // when the first request began, and when one last brought bytes
  Clock::time_point not_before_{};
  unsigned requests_ = 0, repetitions_ = 0, fruitless_ = 0, redirections_ = 0;
  std::optional<Error> error_;
  bool is_missing_ = false;
  bool learned_ = false;  // whether the file's facts are known, if they were asked for
  curl_slist* headers_ = nullptr;

  Request request_;
};

}  // namespace penstock::remote
