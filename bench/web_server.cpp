// SPDX-License-Identifier: Apache-2.0
#include "web_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace penstock::bench {

namespace fs = std::filesystem;

namespace {

constexpr const char* needed = "(Debian: nginx-light and libnginx-mod-http-lua)";

fs::path find_program() {
  for (const char* folder : {"/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"})
    if (const fs::path program = fs::path(folder) / "nginx"; ::access(program.c_str(), X_OK) == 0) return program;
  return {};
}

// The modules of Lua, in the order in which nginx must load them.
constexpr std::array modules{"/usr/lib/nginx/modules/ndk_http_module.so",
                             "/usr/lib/nginx/modules/ngx_http_lua_module.so"};

class Socket {
 public:
  Socket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (fd_ < 0) throw std::runtime_error("socket failed");
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { ::close(fd_); }
  int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

sockaddr_in loopback(unsigned port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

// Returns a port that is free now.
unsigned free_port() {
  const Socket socket;
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.fd(), any, size) != 0 || ::getsockname(socket.fd(), any, &size) != 0)
    throw std::runtime_error("no port of 127.0.0.1 is free");
  return ntohs(address.sin_port);
}

bool answers(unsigned port) {
  const Socket socket;
  const sockaddr_in address = loopback(port);
  return ::connect(socket.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string user_line() {
  if (::geteuid() != 0) return "";  // another user's nginx can't change to a user
  const passwd* const user = ::getpwuid(0);
  return fmt::format("user {};\n", user != nullptr ? user->pw_name : "root");
}

void write_settings(const fs::path& file, const fs::path& files, const fs::path& own, unsigned port,
                    ServerSpeed speed) {
  std::string text = user_line();
  for (const char* const module : modules) text += fmt::format("load_module {};\n", module);
  text += fmt::format(
      "worker_processes 2;\n"
      "daemon off;\n"
      "pid \"{0}/nginx.pid\";\n"
      "error_log \"{0}/error.log\";\n"
      "events {{ worker_connections 256; }}\n"
      "http {{\n"
      "  access_log off;\n"
      "  sendfile on;\n"
      "  keepalive_timeout 600s;\n"
      "  keepalive_requests 1000000;\n",
      own.string());
  for (const char* const kind : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    text += fmt::format("  {0}_temp_path \"{1}/{0}\";\n", kind, own.string());
  text += fmt::format(
      "  server {{\n"
      "    listen 127.0.0.1:{};\n"
      "    root \"{}\";\n"
      "    location / {{\n"
      "      access_by_lua_block {{ ngx.sleep({}) }}\n"
      "      limit_rate {};\n"
      "      sendfile_max_chunk {};\n"
      "    }}\n"
      "  }}\n"
      "}}\n",
      port, files.string(), speed.first_byte_s, speed.bytes_per_s, speed.bytes_at_once);
  std::ofstream(file) << text;
}

// Starts a program that ends with the calling thread.
pid_t start(const fs::path& program, const fs::path& settings, const fs::path& log) {
  const std::array<const char*, 6> words{program.c_str(), "-e", log.c_str(), "-c", settings.c_str(), nullptr};
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child > 0) return child;
  // From here on only calls that are allowed after a fork of a process with threads.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);
  const int nothing = ::open("/dev/null", O_RDWR);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::execv(words[0], const_cast<char* const*>(words.data()));
  ::_exit(1);
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void end(pid_t pid) {
  ::kill(pid, SIGTERM);
  ::waitpid(pid, nullptr, 0);
}

}  // namespace

std::string why_no_web_server() {
  if (find_program().empty()) return fmt::format("no nginx on this machine {}", needed);
  for (const char* const module : modules)
    if (::access(module, R_OK) != 0) return fmt::format("no Lua for nginx on this machine {}", needed);
  return "";
}

WebServer::WebServer(const fs::path& files, const fs::path& own, ServerSpeed speed) {
  fs::create_directories(own);
  const fs::path settings = own / "nginx.conf", log = own / "error.log";
  constexpr int tries = 3;  // another process may take the port before the server does
  for (int i = 0; i < tries; ++i) {
    fs::remove(log);
    port_ = free_port();
    write_settings(settings, files, own, port_, speed);
    pid_ = start(find_program(), settings, log);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (::waitpid(pid_, nullptr, WNOHANG) == 0) {
      if (answers(port_)) {
        counted_ = std::make_unique<CountedAsOwn>(pid_);
        return;
      }
      if (std::chrono::steady_clock::now() > until) {
        end(pid_);
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  throw std::runtime_error("nginx does not start: " + text_of(log));
}

WebServer::~WebServer() {
  counted_.reset();
  end(pid_);
}

std::string WebServer::url() const { return fmt::format("http://127.0.0.1:{}/", port_); }

}  // namespace penstock::bench
