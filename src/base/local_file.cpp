// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/byte_source.hpp>
#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/extend/system_error.hpp>

#include "base/hash.hpp"

namespace penstock {

namespace {

class LocalFile final : public ByteSource {
 public:
  LocalFile(std::string path, std::size_t range_bytes, std::string_view source)
      : path_(std::move(path)), source_(source), range_bytes_(range_bytes) {
    const FileDescriptor file(open());
    opened_ = facts_of(file);
    if (!S_ISREG(opened_.st_mode)) throw file_error(source_, path_, Errc::invalid_argument, "it is not a regular file");
  }

  std::string name() const override { return path_; }
  std::uint64_t size() const override { return static_cast<std::uint64_t>(opened_.st_size); }
  std::size_t range_bytes() const override { return range_bytes_; }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size() || out.size() > size() - offset)
      throw file_error(source_, path_, Errc::invalid_argument,
                       std::to_string(out.size()) + " bytes are not in the file, which has " + std::to_string(size()),
                       offset);
    if (out.empty()) return;
    const FileDescriptor file(open());
    const auto require_same = [&] {
      const struct stat now = facts_of(file);
      if (now.st_ino != opened_.st_ino || now.st_dev != opened_.st_dev || now.st_size != opened_.st_size ||
          now.st_mtim.tv_sec != opened_.st_mtim.tv_sec || now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec)
        throw file_error(source_, path_, Errc::io,
                         "the file was cut short, replaced or written to while it was open; open it again", offset);
    };
    require_same();
    if (const std::size_t got = read_whole(file.get(), out, offset); got != out.size()) {
      if (errno != 0) throw system_error(source_, errno, "reading", path_).with_offset(offset + got);
      require_same();
      throw file_error(source_, path_, Errc::io, "the file ends too early", offset + got);
    }
  }
  void will_read(std::span<const ByteRange> ranges) const noexcept override {
    const FileDescriptor file(
        uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
    if (file.get() < 0) return;  // reading will say why
    for (const ByteRange& range : ranges)
      ::posix_fadvise(file.get(), static_cast<off_t>(range.offset), static_cast<off_t>(range.bytes),
                      POSIX_FADV_WILLNEED);
  }
  std::uint64_t identity() const override {
    return detail::hash_text(std::string_view(path_).substr(path_.rfind('/') + 1), size());
  }
  std::uint64_t revision() const override { return file_revision(path_); }

 private:
  int open() const {
    const int file = uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); });
    if (file < 0) throw system_error(source_, errno, "opening the file", path_);
    return file;
  }
  struct stat facts_of(const FileDescriptor& file) const {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) throw system_error(source_, errno, "looking at the file", path_);
    return facts;
  }

  const std::string path_, source_;
  const std::size_t range_bytes_;
  struct stat opened_ {};
};

}  // namespace

std::shared_ptr<const ByteSource> open_local_file(const std::string& path, std::size_t range_bytes,
                                                  std::string_view source) {
  return std::make_shared<const LocalFile>(path, range_bytes, source);
}

}  // namespace penstock
