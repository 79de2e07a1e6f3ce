// SPDX-License-Identifier: Apache-2.0
// A server that is not there.
#include <penstock/penstock.hpp>
#include <penstock/sources/remote.hpp>

#include <chrono>

#include "say.hpp"

namespace ps = penstock;

int main() {
  const ps::RemoteClient client({.cache_bytes = 0, .retries = 1, .first_pause = std::chrono::milliseconds(1)});
  try {
    (void)client.open("http://127.0.0.1:1/train-000000.tar");
  } catch (const ps::Error& error) {
    return say("no server", error.code() == ps::Errc::network && error.file() == "http://127.0.0.1:1/train-000000.tar");
  }
  return say("no server", false);
}
