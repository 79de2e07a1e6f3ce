// SPDX-License-Identifier: Apache-2.0
#include "stores/remote_flags.hpp"

#include <cstdlib>
#include <sstream>
#include <utility>

#include "console/output.hpp"

namespace penstock::cli {

namespace {

// The name is not repeated, because it may be the token itself, given by mistake.
std::string variable(const std::string& name, const char* option) {
  const char* const value = std::getenv(name.c_str());
  if (value == nullptr)
    throw UsageError(std::string(option) + ": no environment variable has this name; give the name, not the value");
  if (*value == '\0') throw UsageError(std::string(option) + ": this environment variable is empty");
  return value;
}

}  // namespace

std::string RemoteFlags::first_given() const {
  if (token_env) return "--token-env";
  if (header_env) return "--header-env";
  if (connections) return "--connections";
  if (retries) return "--retries";
  if (cache) return "--cache";
  return cache_bytes ? "--cache-bytes" : "";
}

void add_remote_options(CLI::App& command, RemoteFlags& flags) {
  const char* const group = "Only with a URL as STORE";
  command
      .add_option("--token-env", flags.token_env,
                  "The environment variable with the token that is sent as \"Authorization: Bearer TOKEN\"")
      ->type_name("NAME")
      ->group(group);
  command
      .add_option("--header-env", flags.header_env,
                  "The environment variable with further lines of each request's header, \"Name: value\"")
      ->type_name("NAME")
      ->group(group);
  command.add_option("--connections", flags.connections, "The most connections at a time; default: 16")
      ->check(CLI::Range(1, 256))
      ->group(group);
  command
      .add_option("--retries", flags.retries,
                  "How often a request that failed is repeated; default: 10, about a minute")
      ->check(CLI::Range(0, 1000))
      ->group(group);
  command
      .add_option("--cache", flags.cache,
                  "The folder in which shards are kept for later runs; default: ~/.cache/penstock, or\n"
                  "$XDG_CACHE_HOME/penstock")
      ->type_name("FOLDER")
      ->group(group);
  command
      .add_option("--cache-bytes", flags.cache_bytes, "The most bytes in that folder; 0 = keep nothing; default: 32GiB")
      ->type_name("BYTES")
      ->group(group);
}

std::shared_ptr<const RemoteClient> client_of(const RemoteFlags* flags) {
  Remote options;
  if (flags != nullptr) {
    if (flags->token_env) options.token = [token = variable(*flags->token_env, "--token-env")] { return token; };
    if (flags->header_env) {
      std::istringstream lines(variable(*flags->header_env, "--header-env"));
      for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (!line.empty()) options.headers.push_back(std::move(line));
      }
    }
    options.connections = flags->connections.value_or(options.connections);
    options.retries = flags->retries.value_or(options.retries);
    options.cache = flags->cache.value_or(options.cache);
    if (flags->cache_bytes) options.cache_bytes = parse_bytes(*flags->cache_bytes);
  }
  return std::make_shared<const RemoteClient>(std::move(options));
}

}  // namespace penstock::cli
