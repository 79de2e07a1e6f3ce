// SPDX-License-Identifier: Apache-2.0
#include "transfer.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

#include <penstock/extend/system_error.hpp>

#include "certificates.hpp"
#include "stream_copy.hpp"

namespace penstock::remote {

namespace {

constexpr unsigned most_redirections = 5;
// The body of an answer that is no range. A connection can be used again if it is read to its end.
constexpr std::uint64_t most_skipped = std::uint64_t{64} << 10;

// Whether a failure of the connection may pass.
bool may_pass(CURLcode code) {
  constexpr std::array passing{CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY,
                               CURLE_COULDNT_CONNECT,      CURLE_OPERATION_TIMEDOUT,
                               CURLE_RECV_ERROR,           CURLE_SEND_ERROR,
                               CURLE_GOT_NOTHING,          CURLE_PARTIAL_FILE,
                               CURLE_SSL_CONNECT_ERROR};
  return std::ranges::find(passing, code) != passing.end();
}

bool may_pass(long status) {
  constexpr std::array passing{408L, 429L, 500L, 502L, 503L, 504L};
  return std::ranges::find(passing, status) != passing.end();
}

// Whether a server answers so for a file that it does not have, or does not say that it has. Not: what asks for a token
// (401), what may pass, and what is about the range or the version.
bool says_missing(long status) {
  constexpr std::array others{401L, 408L, 412L, 416L, 429L};
  return status == 501 || (status >= 400 && status < 500 && std::ranges::find(others, status) == others.end());
}

bool is_weak(std::string_view etag) { return etag.empty() || etag.starts_with("W/"); }

// Varies a pause by up to a half, so that clients that failed together do not come back together.
Clock::duration varied(Clock::duration pause, std::uint64_t draw) {
  draw ^= static_cast<std::uint64_t>(Clock::now().time_since_epoch().count());
  draw = (draw ^ (draw >> 31)) * 0x9e3779b97f4a7c15;
  return pause - pause / 2 * static_cast<std::int64_t>(draw >> 56) / 256;
}

// Whether any change of the file would show in its version. A time of change has whole seconds, so a file that has just
// changed may change again without another time (RFC 9110, 8.8.2.2).
bool shows_changes(const Answer& answer) {
  if (!is_weak(answer.etag)) return true;
  constexpr std::time_t seconds = 2;
  const std::time_t changed = curl_getdate(answer.last_modified.c_str(), nullptr),
                    sent = curl_getdate(answer.date.c_str(), nullptr);
  return !answer.last_modified.empty() && changed != -1 && sent != -1 && sent - changed >= seconds;
}

}  // namespace

Settings::Settings(Remote its_options)
    : options(std::move(its_options)), certificates(find_certificates(options.certificates)) {}

Transfer::Transfer(const Settings& settings, std::shared_ptr<const FileFacts> file, ByteRange range, std::byte* to)
    : settings_(settings), file_(std::move(file)), asks_(false), range_(range), to_(to), at_(file_->address) {}

Transfer::Transfer(const Settings& settings, WebAddress address)
    : settings_(settings),
      file_(std::make_shared<const FileFacts>(FileFacts{std::move(address)})),
      asks_(true),
      range_{0, 1},
      to_(nullptr),
      at_(file_->address) {}

Transfer::~Transfer() { curl_slist_free_all(headers_); }

void Transfer::set_headers() {
  curl_slist_free_all(std::exchange(headers_, nullptr));
  const auto add = [this](const std::string& line) {
    curl_slist* const longer = curl_slist_append(headers_, line.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    headers_ = longer;
  };
  add("Accept-Encoding: identity");
  if (!asks_ && !is_weak(file_->etag)) add("If-Match: " + file_->etag);
  if (at_.origin() != file_->address.origin()) return;
  for (const std::string& line : settings_.options.headers) add(line);
  if (!settings_.options.token) return;
  const std::string token = settings_.options.token();
  if (token.find_first_of("\r\n") != std::string::npos)
    throw Error(Errc::invalid_argument, "`token` returned a text with a line break");
  if (!token.empty()) add("Authorization: Bearer " + token);
}

void Transfer::begin(CURL* handle) {
  request_ = Request();
  request_.handle = handle;
  request_.got_before = got_;
  if (requests_++ == 0) began_ = progressed_ = Clock::now();
  set_headers();
  const std::string range =
      std::to_string(range_.offset + got_) + "-" + std::to_string(range_.offset + range_.bytes - 1);
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(progressed_ + settings_.options.give_up - Clock::now());
  const auto stalled = static_cast<long>(settings_.options.stalled.count());
  curl_easy_setopt(handle, CURLOPT_URL, at_.url().c_str());
  curl_easy_setopt(handle, CURLOPT_RANGE, range.c_str());
  curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_);
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(left.count())));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, stalled);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1024L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, stalled);
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, request_.message);
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, this);
}

std::size_t Transfer::on_header(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
  auto& self = *static_cast<Transfer*>(transfer);
  const std::size_t bytes = size * count;
  try {
    if (self.request_.answer.take({data, bytes})) return bytes;
    self.refuse(Errc::network,
                "the header of the server's answer is larger than " + std::to_string(Answer::most_bytes) + " bytes");
  } catch (...) {  // no memory
  }
  return bytes + 1;
}

std::size_t Transfer::on_body(char* data, std::size_t size, std::size_t count, void* transfer) noexcept {
  const std::size_t bytes = size * count;
  try {
    if (static_cast<Transfer*>(transfer)->take_body({data, bytes})) return bytes;
  } catch (...) {
  }
  return bytes + 1;
}

bool Transfer::take_body(std::string_view data) {
  if (!request_.judged) {
    request_.judged = true;
    long status = 0;
    curl_easy_getinfo(request_.handle, CURLINFO_RESPONSE_CODE, &status);
    request_.taken = accepts(status);
    if (request_.refused) return false;
  }
  if (!request_.taken) {
    request_.skipped += data.size();
    return request_.skipped <= most_skipped;
  }
  arrived_ += data.size();
  if (asks_) {  // the one byte that was asked for is not wanted
    request_.skipped += data.size();
    return request_.skipped <= most_skipped;
  }
  if (data.size() > request_.body_end - got_) {
    refuse(Errc::network, "the server sends more bytes than it says, or than were asked for");
    return false;
  }
  stream_copy(to_ + got_, data.data(), data.size());
  got_ += data.size();
  return true;
}

// Returns whether the body of the answer is the wanted range. Refuses an answer that would be another file, or other
// bytes.
bool Transfer::accepts(long status) {
  if (status != 206 && status != 200) return false;
  is_missing_ = asks_ && status == 200;  // a page of the server's that says so
  if (!request_.answer.content_encoding.empty() && request_.answer.content_encoding != "identity") {
    refuse(Errc::unsupported, "the server sends the file compressed (Content-Encoding: " +
                                  printable(request_.answer.content_encoding, 40) + "), though this was not asked for");
    return false;
  }
  if (status == 206) return accepts_range();
  if (asks_ || range_.offset != 0 || range_.bytes != file_->size || got_ != 0) {
    refuse(Errc::unsupported, "the server sends whole files, and ranges are needed (status 200 instead of 206)");
    return false;
  }
  request_.body_end = range_.bytes;
  return is_same_version();
}

// Refuses an answer of another version of the file, or of an unknown one.
bool Transfer::is_same_version() {
  const bool same = !file_->etag.empty() ? request_.answer.etag == file_->etag
                                         : request_.answer.last_modified == file_->last_modified;
  if (!same) refuse(Errc::network, "the file has changed on the server since it was opened; open it again");
  return same;
}

bool Transfer::accepts_range() {
  const std::optional<ContentRange>& range = request_.answer.range;
  if (!range || !range->first) {
    refuse(Errc::network, "the server's answer does not say which bytes it has (Content-Range)");
    return false;
  }
  if (asks_) {
    if (!range->size) {
      refuse(Errc::unsupported, "the server does not say how large the file is (Content-Range)");
      return false;
    }
    learn(*range->size);
    return true;
  }
  if (*range->first != range_.offset + got_ || *range->last >= range_.offset + range_.bytes) {
    refuse(Errc::network, "the server sends bytes " + std::to_string(*range->first) + " to " +
                              std::to_string(*range->last) + ", and " + std::to_string(range_.offset + got_) + " to " +
                              std::to_string(range_.offset + range_.bytes - 1) + " were asked for");
    return false;
  }
  if (range->size && *range->size != file_->size) {
    refuse(Errc::network, "the file has changed on the server since it was opened; open it again");
    return false;
  }
  request_.body_end = *range->last - range_.offset + 1;
  return is_same_version();
}

void Transfer::learn(std::uint64_t size) {
  const std::string &etag = request_.answer.etag, &changed = request_.answer.last_modified;
  file_ = std::make_shared<const FileFacts>(FileFacts{
      file_->address, size, etag, changed,
      cache_key(file_->address.without_user(), etag.empty() ? changed : etag, size), shows_changes(request_.answer)});
  learned_ = true;
}

void Transfer::refuse(Errc code, std::string cause) { request_.refused.emplace(code, std::move(cause)); }

Transfer::Next Transfer::end(CURLcode result) {
  if (got_ > request_.got_before) {
    fruitless_ = 0;
    progressed_ = Clock::now();
  }
  if (request_.refused) return fail(request_.refused->code(), request_.refused->cause());
  // What a connection does after the last byte does not matter.
  if (learned_ || (request_.taken && got_ == range_.bytes)) return Next::ended;
  long status = 0;
  curl_easy_getinfo(request_.handle, CURLINFO_RESPONSE_CODE, &status);
  // A body that is not wanted may have been broken off.
  if (result == CURLE_OK || (result == CURLE_WRITE_ERROR && request_.judged && !request_.taken))
    return end_by_status(status);
  const std::string reason = printable(request_.message[0] != '\0' ? request_.message : curl_easy_strerror(result));
  if (may_pass(result)) return again(reason);
  if (result == CURLE_WRITE_ERROR) return fail(Errc::out_of_memory, "no memory for the server's answer");
  return fail(Errc::network, result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE
                                 ? "the server's certificate is not trusted: " + reason +
                                       "; `certificates` or SSL_CERT_FILE names the ones that are"
                                 : reason);
}

Transfer::Next Transfer::end_by_status(long status) {
  if (asks_ && !request_.judged && status == 200) {  // an empty file
    learn(0);
    return Next::ended;
  }
  if (!request_.judged) {  // an answer without a body
    request_.taken = accepts(status);
    if (request_.refused) return fail(request_.refused->code(), request_.refused->cause());
  }
  if (asks_ && status == 416 && request_.answer.range && request_.answer.range->size == 0) {
    learn(0);
    return Next::ended;
  }
  if (learned_) return Next::ended;
  if (request_.taken) return again("the server's answer was too short");
  is_missing_ = says_missing(status);
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return redirect();
    case 401:
    case 403:
      return fail(Errc::network,
                  "the server refuses access (status " + std::to_string(status) + "); see `token` and `headers`");
    case 404:
    case 410:
      return fail(Errc::not_found, "the server has no such file (status " + std::to_string(status) + ")");
    case 412:
    case 416:
      if (asks_)
        return fail(Errc::network,
                    "the server does not say how large the file is (status " + std::to_string(status) + ")");
      return fail(Errc::network, "the file has changed on the server since it was opened (status " +
                                     std::to_string(status) + "); open it again");
    default:
      break;
  }
  const std::string reason = "status " + std::to_string(status);
  return may_pass(status) ? again(reason, request_.answer.retry_after)
                          : fail(Errc::network, "the server answers with " + reason);
}

Transfer::Next Transfer::redirect() {
  char* url = nullptr;
  curl_easy_getinfo(request_.handle, CURLINFO_REDIRECT_URL, &url);
  if (url == nullptr) return fail(Errc::network, "the server leads elsewhere, and does not say where (Location)");
  if (++redirections_ > most_redirections)
    return fail(Errc::network, "the server leads elsewhere more than " + std::to_string(most_redirections) + " times");
  try {
    WebAddress next(url);
    if (at_.encrypted() && !next.encrypted())
      return fail(Errc::network, "the server leads from HTTPS to HTTP (" + next.shown() + "), which is not followed");
    at_ = std::move(next);
  } catch (const Error& error) {
    return fail(Errc::network, "the server redirects to a URL that is not one of HTTP (" + error.file() + ")");
  }
  return Next::request;
}

// Repeats the request after a pause, or gives up. `wanted`: the pause that the server asks for.
Transfer::Next Transfer::again(std::string reason, std::optional<std::chrono::seconds> wanted) {
  const Remote& options = settings_.options;
  if (++fruitless_ > options.retries) return fail(Errc::network, reason + tries());
  Clock::duration pause = options.first_pause;
  for (unsigned i = 1; i < fruitless_ && pause < options.longest_pause; ++i) pause *= 2;
  pause = varied(std::min<Clock::duration>(pause, options.longest_pause), range_.offset + requests_);
  if (wanted) pause = std::max<Clock::duration>(pause, *wanted);
  not_before_ = Clock::now() + pause;
  if (not_before_ >= progressed_ + options.give_up) return fail(Errc::network, reason + tries());
  ++repetitions_;
  redirections_ = 0;
  at_ = file_->address;
  return Next::pause;
}

std::string Transfer::tries() const {
  char text[64];
  std::snprintf(text, sizeof text, "; %u %s in %.1f s", requests_, requests_ == 1 ? "request" : "requests",
                std::chrono::duration<double>(Clock::now() - began_).count());
  return text;
}

Transfer::Next Transfer::fail(Errc code, const std::string& cause) {
  error_.emplace(code, cause);
  // A file that was opened has its bytes, so whatever fails is not the fault of a sample, which a policy may leave out.
  if (!asks_ && error_->sample_scoped()) error_.emplace(Errc::network, cause);
  error_->with_source("remote").with_file(file_->address.shown());
  if (!asks_) error_->with_offset(range_.offset + got_);
  return Next::ended;
}

}  // namespace penstock::remote
