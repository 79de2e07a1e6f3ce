#include <penstock/place.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include <penstock/error.hpp>
#include <penstock/system_error.hpp>

#include "state.hpp"

namespace penstock {

namespace {

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void fail(const char* what, const std::filesystem::path& file) {
  const int error = errno;
  throw Error(error == ENOENT ? Errc::not_found : Errc::io, std::string(what) + ": " + std::strerror(error))
      .with_file(file.string());
}

}  // namespace

void save_state(const State& state, const std::string& name) {
  const std::filesystem::path file = name;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::filesystem::path temporary = file;
  temporary += ".tmp." + std::to_string(::getpid());
  try {
    const Descriptor out(
        uninterrupted([&] { return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }));
    if (out.fd < 0) fail("can't create the state file", temporary);
    std::size_t done = 0;
    while (done < sizeof state) {
      const ssize_t n = uninterrupted(
          [&] { return ::write(out.fd, reinterpret_cast<const char*>(&state) + done, sizeof state - done); });
      if (n < 0) fail("can't write the state", temporary);
      done += static_cast<std::size_t>(n);
    }
    if (uninterrupted([&] { return ::fsync(out.fd); }) != 0) fail("can't flush the state", temporary);
    if (uninterrupted([&] { return ::rename(temporary.c_str(), file.c_str()); }) != 0)
      fail("can't rename the state into place", file);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  const Descriptor dir(uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (dir.fd < 0 || uninterrupted([&] { return ::fsync(dir.fd); }) != 0) fail("can't flush the state's folder", folder);
}

State load_state(const std::string& name) {
  const std::filesystem::path file = name;
  const Descriptor in(uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (in.fd < 0) fail("can't open the state file", file);
  char bytes[sizeof(State) + 1];
  std::size_t done = 0;
  while (done < sizeof bytes) {
    const ssize_t n = uninterrupted([&] { return ::read(in.fd, bytes + done, sizeof bytes - done); });
    if (n < 0) fail("can't read the state", file);
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  if (done != sizeof(State))
    throw Error(Errc::state_mismatch, "a state has 64 bytes, this file has " +
                                          std::string(done > sizeof(State) ? "more" : std::to_string(done)))
        .with_file(file.string());
  State state;
  std::memcpy(&state, bytes, sizeof state);
  try {
    detail::check_state(state);
  } catch (Error& error) {
    throw error.with_file(file.string());
  }
  return state;
}

}  // namespace penstock
