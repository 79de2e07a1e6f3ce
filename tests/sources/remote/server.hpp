// SPDX-License-Identifier: Apache-2.0
// A server on loopback, of this test alone, that fails as it is told (tests/remote/server).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sources/temp_folder.hpp"

namespace penstock_test {

using ServerJson = nlohmann::json;

class Server {
 public:
  /// Begins a server for the files of `folder`, with further arguments, and waits until it answers.
  explicit Server(const TempFolder& folder, const std::vector<std::string>& arguments = {});
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// "http://127.0.0.1:PORT/NAME", or https.
  std::string url(const std::string& name) const;
  int port() const { return port_; }
  /// The certificate of a TLS server.
  const std::string& certificate() const { return certificate_; }
  /// Sets these rules, and forgets the log.
  void plan(const ServerJson& rules, const ServerJson& more = ServerJson::object()) const;
  /// The requests since then.
  ServerJson requests() const;
  ServerJson totals() const;
  /// Bytes of bodies that were sent since then.
  std::uint64_t bytes() const { return totals().at("bytes").get<std::uint64_t>(); }

 private:
  std::string ask(const std::string& path, const std::string* body = nullptr) const;

  int process_ = -1, input_ = -1, port_ = 0;
  bool tls_ = false;
  std::string certificate_;
};

}  // namespace penstock_test
