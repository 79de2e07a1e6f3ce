// SPDX-License-Identifier: Apache-2.0
#include "input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>

#include <penstock/extend/file_descriptor.hpp>

#include "common/file_errors.hpp"

namespace penstock::common {

// O_NONBLOCK: if the path is a pipe, opening does not wait for a writer.
InputFile::InputFile(const std::string& path, std::string_view source)
    : path_(path),
      source_(source),
      descriptor_(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); })) {
  if (descriptor_ < 0) throw SystemError{source}(errno, "opening the file", path);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode)) {
    const Error error = S_ISREG(status.st_mode) ? SystemError{source}(errno, "looking at its size", path)
                                                : FileError{source}(path, Errc::io, "it is not a regular file");
    ::close(descriptor_);
    throw error;
  }
  mark_ = {static_cast<std::uint64_t>(status.st_size), status.st_ino, status.st_dev};
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::read(char* to, std::size_t bytes, std::uint64_t offset) const {
  const std::size_t got = read_whole(descriptor_, std::as_writable_bytes(std::span(to, bytes)), offset);
  if (got == bytes) return;
  if (errno != 0) throw SystemError{source_}(errno, "reading", path_).with_offset(offset + got);
  throw FileError{source_}(path_, Errc::io, "the file became shorter while it was open", offset + got);
}

void InputFile::require(const FileMark& mark) const {
  if (!(mark_ == mark))
    throw FileError{source_}(path_, Errc::io, "the file was changed or replaced since it was opened; open it again");
}

TextMap::TextMap(const std::string& path, const FileMark& mark, std::string_view source) {
  const InputFile file(path, source);
  file.require(mark);
  if (mark.bytes != 0) map_ = FileMap(file.descriptor(), static_cast<std::size_t>(mark.bytes), source, path);
}

}  // namespace penstock::common
