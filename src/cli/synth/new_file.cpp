#include "synth/new_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <penstock/error.hpp>
#include <penstock/extend/system_error.hpp>

#include "console/output.hpp"

namespace penstock::cli {

namespace {
constexpr const char* new_file_source = "synth";
constexpr std::size_t new_file_buffer = 1u << 18;
}  // namespace

NewFile::NewFile(std::string name, std::uint64_t first_bytes)
    : name_(std::move(name)), partial_(name_ + ".partial"), bytes_(first_bytes) {
  if (!lock_.take(partial_, new_file_source))
    throw Error(Errc::invalid_argument, fmt::format("{} is writing it", lock_holder(partial_))).with_file(name_);
  file_.emplace(uninterrupted([&] { return ::open(partial_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); }));
  if (file_->get() < 0) throw system_error(new_file_source, errno, "opening the file for writing", partial_);
  buffer_.reserve(new_file_buffer);
}

// The lock is held until the name is gone: whoever comes next finds no file that somebody removes.
NewFile::~NewFile() {
  if (!finished_) ::unlink(partial_.c_str());
}

std::uint64_t NewFile::append(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > new_file_buffer) flush();
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  return std::exchange(bytes_, bytes_ + bytes.size());
}

std::uint64_t NewFile::align(std::uint64_t bytes) {
  const std::uint64_t missing = (bytes - bytes_ % bytes) % bytes;
  append(std::vector<std::byte>(missing));
  return bytes_;
}

void NewFile::flush() {
  write_at(buffer_, bytes_ - buffer_.size());
  buffer_.clear();
}

void NewFile::write_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t put =
        uninterrupted([&] { return ::pwrite(file_->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (put <= 0) throw write_error(new_file_source, put < 0 ? errno : EIO, "writing", partial_, bytes.size());
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += static_cast<std::uint64_t>(put);
  }
}

void NewFile::finish(std::span<const std::byte> first, bool replace) {
  flush();
  write_at(first, 0);
  if (uninterrupted([&] { return ::fdatasync(file_->get()); }) != 0)
    throw write_error(new_file_source, errno, "syncing", partial_, bytes_);
  if (const int code = file_->close(); code != 0) throw write_error(new_file_source, code, "closing", partial_, bytes_);
  std::error_code failed;
  if (!replace && std::filesystem::exists(name_, failed))
    throw Error(Errc::invalid_argument, "the file was made by somebody else in the meantime").with_file(name_);
  rename_file(partial_, name_, new_file_source);
  finished_ = true;
  sync_folder_of(name_, new_file_source);
}

}  // namespace penstock::cli
