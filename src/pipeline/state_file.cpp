#include <penstock/state.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#include "data/state.hpp"
#include "pipeline/pipeline_facts.hpp"

namespace penstock {

namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& file) {
  const int error = errno;
  throw Error(error == ENOENT ? Errc::not_found : Errc::io, std::string(what) + ": " + std::strerror(error))
      .with_file(file.string());
}

void write_all(int fd, const void* bytes, std::size_t count, const std::filesystem::path& file) {
  for (std::size_t done = 0; done < count;) {
    const ssize_t n = uninterrupted([&] { return ::write(fd, static_cast<const char*>(bytes) + done, count - done); });
    if (n < 0) fail("can't write the state", file);
    done += static_cast<std::size_t>(n);
  }
}

// The file's bytes, but no more than a state with a pipeline in words can have.
std::string read_all(int fd, const std::filesystem::path& file) {
  static constexpr std::size_t most = std::size_t{16} << 20;
  std::string bytes;
  char block[4096];
  while (bytes.size() < most) {
    const ssize_t n = uninterrupted([&] { return ::read(fd, block, sizeof block); });
    if (n < 0) fail("can't read the state", file);
    if (n == 0) break;
    bytes.append(block, static_cast<std::size_t>(n));
  }
  return bytes;
}

}  // namespace

void detail::save_state(const State& state, std::string_view text, const std::string& name) {
  const std::filesystem::path file = name;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  std::filesystem::path temporary = file;
  temporary += ".tmp." + std::to_string(::getpid());
  try {
    const FileDescriptor out(
        uninterrupted([&] { return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }));
    if (out.get() < 0) fail("can't create the state file", temporary);
    write_all(out.get(), &state, sizeof state, temporary);
    write_all(out.get(), text.data(), text.size(), temporary);
    if (uninterrupted([&] { return ::fsync(out.get()); }) != 0) fail("can't flush the state", temporary);
    if (uninterrupted([&] { return ::rename(temporary.c_str(), file.c_str()); }) != 0)
      fail("can't rename the state into place", file);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  const FileDescriptor dir(uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (dir.get() < 0 || uninterrupted([&] { return ::fsync(dir.get()); }) != 0)
    fail("can't flush the state's folder", folder);
}

State detail::load_state(const std::string& name, std::string* text) {
  const std::filesystem::path file = name;
  const FileDescriptor in(uninterrupted([&] { return ::open(file.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (in.get() < 0) fail("can't open the state file", file);
  const std::string bytes = read_all(in.get(), file);
  const std::string_view after = std::string_view(bytes).substr(std::min(bytes.size(), sizeof(State)));
  if (bytes.size() < sizeof(State) || (!after.empty() && !after.starts_with(facts_begin)))
    throw Error(Errc::state_mismatch,
                "a state has 64 bytes, and after them nothing or a pipeline in words; this file has " +
                    std::to_string(bytes.size()) + " bytes")
        .with_file(file.string());
  State state;
  std::memcpy(&state, bytes.data(), sizeof state);
  if (text != nullptr) *text = after;
  try {
    detail::check_state(state);
  } catch (Error& error) {
    throw error.with_file(file.string());
  }
  return state;
}

void save_state(const State& state, const std::string& file) { detail::save_state(state, {}, file); }

State load_state(const std::string& file) { return detail::load_state(file, nullptr); }

}  // namespace penstock
