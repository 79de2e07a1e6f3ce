// SPDX-License-Identifier: Apache-2.0
#include "input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include <penstock/extend/file_descriptor.hpp>

#include "errors.hpp"

namespace penstock::csv {

// O_NONBLOCK: if the path is a pipe, opening does not wait for a writer.
InputFile::InputFile(const std::string& path)
    : path_(path),
      descriptor_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); })) {
  if (descriptor_ < 0) throw system_error(errno, "opening the file", path);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    const Error error = S_ISREG(status.st_mode) ? system_error(errno, "looking at its size", path)
                                                : error_in(path, Errc::io, "it is not a regular file");
    ::close(descriptor_);
    throw error;
  }
  mark_ = {static_cast<std::uint64_t>(status.st_size), status.st_ino, status.st_dev};
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(char* to, std::size_t bytes, std::uint64_t offset) const {
  const std::size_t got = read_whole(descriptor_, std::as_writable_bytes(std::span(to, bytes)), offset);
  if (got == bytes) return;
  if (errno != 0) throw system_error(errno, "reading", path_).with_offset(offset + got);
  throw error_in(path_, Errc::io, "the file became shorter while it was open", offset + got);
}

void InputFile::require(const FileMark& mark) const {
  if (!(mark_ == mark))
    throw error_in(path_, Errc::io, "the file was changed or replaced since it was opened; open it again");
}

TableMap::TableMap(const std::string& path, const FileMark& mark) {
  const InputFile file(path);
  file.require(mark);
  if (mark.bytes != 0)
    map_ = common::FileMap(file.descriptor(), static_cast<std::size_t>(mark.bytes), source_name, path);
}

}  // namespace penstock::csv
