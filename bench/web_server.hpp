// SPDX-License-Identifier: Apache-2.0
// A server on this machine that answers like an object store.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "foreign_load.hpp"

namespace penstock::bench {

// Returns why this machine can't run a WebServer: an empty text if it can.
std::string why_no_web_server();

// How long a server waits before each answer, and how much it sends over a connection at most. By default, like an
// object store.
struct ServerSpeed {
  double first_byte_s = 0.03;
  unsigned bytes_per_s = 85'000'000;
  // After this many bytes, the server waits until they are due.
  unsigned bytes_at_once = 512 << 10;
};

// nginx, with two processes that send. Connections stay open. It ends with this object, and with the thread that made
// this object.
class WebServer {
 public:
  // Serves the files of the folder `files`. The folder `own` is made for the server's settings and log. Each server
  // needs its own. @throws std::runtime_error if the server does not start.
  WebServer(const std::filesystem::path& files, const std::filesystem::path& own, ServerSpeed speed = {});
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;
  ~WebServer();

  // Returns "http://127.0.0.1:PORT/".
  std::string url() const;

 private:
  pid_t pid_ = -1;
  unsigned port_ = 0;
  std::unique_ptr<CountedAsOwn> counted_;
};

}  // namespace penstock::bench
