// SPDX-License-Identifier: Apache-2.0
// The options for stores on servers.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include <penstock/sources/remote.hpp>

namespace penstock::cli {

struct RemoteFlags {
  std::optional<std::string> token_env, header_env;  ///< names of environment variables
  std::optional<unsigned> connections, retries;
  std::optional<std::string> cache, cache_bytes;  ///< `cache_bytes`: in the syntax of parse_bytes

  /// Returns an option that was given; empty if none was.
  std::string first_given() const;
};

/// Adds --token-env, --header-env, --connections, --retries, --cache and --cache-bytes.
void add_remote_options(CLI::App& command, RemoteFlags& flags);

/// Returns a client with these options. `flags` may be null. @throws UsageError, which repeats no value.
std::shared_ptr<const RemoteClient> client_of(const RemoteFlags* flags);

}  // namespace penstock::cli
