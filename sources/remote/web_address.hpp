// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace penstock::remote {

/// A URL of HTTP or HTTPS.
class WebAddress {
 public:
  WebAddress() = default;
  /// @throws Error(invalid_argument) if the text is no such URL.
  explicit WebAddress(const std::string& url);

  /// The whole URL, with its secrets, without its fragment.
  const std::string& url() const noexcept { return url_; }
  /// The URL without user, password and query, for errors.
  const std::string& shown() const noexcept { return shown_; }
  /// Scheme, host and port: who gets what is secret.
  const std::string& origin() const noexcept { return origin_; }
  /// The URL without user and password.
  const std::string& without_user() const noexcept { return without_user_; }
  bool encrypted() const noexcept { return encrypted_; }
  /// The last part of the path.
  std::string base_name() const;

 private:
  std::string url_, shown_, origin_, without_user_;
  bool encrypted_ = false;
};

/// Returns a URL, or a text that should be one, without user, password and query.
std::string shown_url(const std::string& url);

/// What `penstock::canonical_url` returns.
std::string canonical_url(const std::string& url);

}  // namespace penstock::remote
