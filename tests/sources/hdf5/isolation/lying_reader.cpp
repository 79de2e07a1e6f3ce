// SPDX-License-Identifier: Apache-2.0
// A program in the place of penstock-hdf5-reader that lies. It stands between the library and the real one, which
// PENSTOCK_TEST_READER names, and does what PENSTOCK_TEST_LIE says; its structures are written down once more here.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/version.hpp>

namespace {

struct Question {
  std::uint32_t kind, zero;
  std::uint64_t bytes;
};
struct Answer {
  std::uint32_t sign, failed;
  std::uint64_t bytes, data_bytes;
};
constexpr std::uint32_t find_chunk = 4;

bool receive(int fd, void* to, std::size_t bytes) {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::recv(fd, out, bytes, 0);
    if (got <= 0) return false;
    out += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

void send(int fd, const void* from, std::size_t bytes) {
  const auto* in = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t sent = ::send(fd, in, bytes, MSG_NOSIGNAL);
    if (sent <= 0) ::_exit(0);
    in += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
}

int start_real_one(const char* memory) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) ::_exit(9);
  if (::fork() == 0) {
    ::dup2(ends[1], STDIN_FILENO);
    ::execl(std::getenv("PENSTOCK_TEST_READER"), "penstock-hdf5-reader", memory, nullptr);
    ::_exit(9);
  }
  ::close(ends[1]);
  return ends[0];
}

}  // namespace

int main(int, char** arguments) {
  const char* const asked_for = std::getenv("PENSTOCK_TEST_LIE");
  std::string lie = asked_for != nullptr ? asked_for : "";
  std::uint64_t number = 0;
  if (const std::size_t colon = lie.find(':'); colon != std::string::npos) {
    number = std::strtoull(lie.c_str() + colon + 1, nullptr, 10);
    lie.resize(colon);
  }
  const int real = start_real_one(arguments[1]);
  std::mt19937_64 random(number);
  std::string greeting = "penstock-hdf5-reader 4 " + std::to_string(PENSTOCK_VERSION_MAJOR) + "." +
                         std::to_string(PENSTOCK_VERSION_MINOR) + "." + std::to_string(PENSTOCK_VERSION_PATCH);
  if (!receive(real, greeting.data(), greeting.size())) return 9;
  if (lie == "greeting") greeting.assign(greeting.size(), '?');
  if (lie == "quit") return 7;
  if (lie == "silence") ::pause();
  send(STDIN_FILENO, greeting.data(), greeting.size());
  std::vector<char> message, data;
  for (std::uint64_t n = 0;; ++n) {
    Question question{};
    if (!receive(STDIN_FILENO, &question, sizeof question)) return 0;
    message.resize(question.bytes);
    receive(STDIN_FILENO, message.data(), message.size());
    if (lie == "crash" && question.kind == find_chunk) {
      // On one chunk alone: its first row ends the question.
      std::uint64_t rank = 0, row = 0;
      std::uint64_t path = 0;
      std::memcpy(&path, message.data(), sizeof path);
      std::memcpy(&rank, message.data() + 8 + path, sizeof rank);
      std::memcpy(&row, message.data() + 16 + path, sizeof row);
      if (row == number) {
        const rlimit none{0, 0};
        ::setrlimit(RLIMIT_CORE, &none);
        std::signal(SIGSEGV, SIG_DFL);
        ::raise(SIGSEGV);
      }
    }
    send(real, &question, sizeof question);
    send(real, message.data(), message.size());
    Answer answer{};
    if (!receive(real, &answer, sizeof answer)) return 0;
    message.resize(answer.bytes);
    data.resize(answer.data_bytes);
    receive(real, message.data(), message.size());
    receive(real, data.data(), data.size());
    // Not that the file is open, nor every answer after that: else nothing comes far.
    const bool first = n == 0 || (number != 0 && random() % 6 != 0);
    if (lie == "open" && n == 0) {
      answer.sign ^= 1;
    } else if (lie == "head" && !first) {
      for (int i = 0; i < 2; ++i) reinterpret_cast<unsigned char*>(&answer)[random() % sizeof answer] = random() & 0xff;
    } else if (lie == "message" && !first && !message.empty()) {
      const std::uint64_t times = 1 + random() % 3;
      for (std::uint64_t i = 0; i < times; ++i) message[random() % message.size()] = static_cast<char>(random());
    } else if (lie == "number" && !first && message.size() >= 8) {
      // One of those that matter most.
      constexpr std::array<std::uint64_t, 8> values{0,          1,          1u << 30, 1ull << 40,
                                                    1ull << 62, 1ull << 63, ~0ull,    0xffffffff};
      const std::uint64_t value = values[random() % values.size()];
      std::memcpy(message.data() + random() % (message.size() - 7), &value, sizeof value);
    } else if (lie == "beyond" && question.kind == find_chunk && message.size() >= 17) {
      std::memcpy(message.data() + 1, &number, sizeof number);
    } else if (lie == "large" && question.kind == find_chunk && message.size() >= 17) {
      std::memcpy(message.data() + 9, &number, sizeof number);
    } else if (lie == "short" && !data.empty()) {
      data.resize(data.size() / 2);
      answer.data_bytes = data.size();
    } else if (lie == "late" && !data.empty()) {
      data.resize(data.size() / 2);  // the rest never comes
    } else if (lie == "endless" && !first) {
      answer.bytes = ~0ull >> 8;
    }
    send(STDIN_FILENO, &answer, sizeof answer);
    send(STDIN_FILENO, message.data(), message.size());
    send(STDIN_FILENO, data.data(), data.size());
  }
}
