// SPDX-License-Identifier: Apache-2.0
#include "sources/remote/server.hpp"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <memory>
#include <stdexcept>

namespace penstock_test {

namespace {

std::size_t append(char* data, std::size_t size, std::size_t count, void* text) {
  static_cast<std::string*>(text)->append(data, size * count);
  return size * count;
}

std::string first_line(int descriptor) {
  std::string line;
  for (char c = 0; ::read(descriptor, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

}  // namespace

Server::Server(const TempFolder& folder, const std::vector<std::string>& arguments) {
  std::vector<std::string> words{PENSTOCK_TEST_PYTHON, PENSTOCK_TEST_SERVER, folder.path().string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::array<int, 2> in{}, out{};
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  const std::string line = first_line(out[0]);
  ::close(out[0]);
  const ServerJson said = ServerJson::parse(line, nullptr, false);
  if (!said.is_object()) throw std::runtime_error("the server does not begin: " + line);
  port_ = said.at("port");
  tls_ = said.at("certificate").is_string();
  if (tls_) certificate_ = said.at("certificate");
}

Server::~Server() {
  ::close(input_);
  int status = 0;
  ::waitpid(process_, &status, 0);
}

std::string Server::url(const std::string& name) const {
  return std::string(tls_ ? "https" : "http") + "://127.0.0.1:" + std::to_string(port_) + "/" + name;
}

std::string Server::ask(const std::string& path, const std::string* body) const {
  const std::unique_ptr<CURL, void (*)(CURL*)> curl(curl_easy_init(), curl_easy_cleanup);
  std::string answer;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url(path).c_str());
  curl_easy_setopt(curl.get(), CURLOPT_SSL_VERIFYPEER, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROXY, "*");
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &append);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &answer);
  if (body != nullptr) curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, body->c_str());
  if (curl_easy_perform(curl.get()) != CURLE_OK) throw std::runtime_error("the server does not answer");
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) throw std::runtime_error("the server refuses " + path + ": " + answer);
  return answer;
}

void Server::plan(const ServerJson& rules, const ServerJson& more) const {
  ServerJson plan = more;
  plan["rules"] = rules;
  plan["reset"] = true;
  const std::string body = plan.dump();
  ask("_control", &body);
}

ServerJson Server::requests() const { return ServerJson::parse(ask("_log")).at("requests"); }
ServerJson Server::totals() const { return ServerJson::parse(ask("_log?totals")); }

}  // namespace penstock_test
