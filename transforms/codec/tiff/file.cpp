// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include <penstock/error.hpp>

namespace penstock::tiff {

File::File(std::span<const std::byte> encoded, std::uint64_t offset, std::uint64_t max_bytes) : encoded_(encoded) {
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  if (options == nullptr) throw Error(Errc::out_of_memory, "no memory for a TIFF decoder");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<tmsize_t>::max());
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, static_cast<tmsize_t>(std::min(max_bytes, most)));
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, this);
  // h: read no directory yet; c: do not divide strips.
  tiff_.reset(
      TIFFClientOpenExt("", "rhc", this, on_read, on_write, on_seek, on_close, on_size, on_map, on_unmap, options));
  TIFFOpenOptionsFree(options);
  if (tiff_ != nullptr && TIFFSetSubDirectory(get(), offset) == 1) return;
  throw Error(Errc::corrupt, std::string("libtiff can't read the directory: ") + message_.data()).with_offset(offset);
}

void File::read_strip(std::uint32_t number, std::uint8_t* to, std::size_t bytes) {
  begin();
  check(TIFFReadEncodedStrip(get(), number, to, static_cast<tmsize_t>(bytes)), bytes);
}

void File::read_tile(std::uint32_t number, std::uint8_t* to, std::size_t bytes) {
  begin();
  check(TIFFReadEncodedTile(get(), number, to, static_cast<tmsize_t>(bytes)), bytes);
}

void File::begin() noexcept {
  decoding_ = true, failed_ = false;
  message_[0] = '\0';
}

void File::check(tmsize_t read, std::size_t bytes) {
  const bool failed = failed_ || read < 0 || static_cast<std::size_t>(read) != bytes;
  decoding_ = false;
  if (!failed) return;
  const std::string message = message_.data();
  throw Error(Errc::corrupt, message.empty() ? "libtiff did not decode all pixels" : "libtiff: " + message);
}

void File::note(const char* format, std::va_list arguments) noexcept {
  failed_ = true;
  if (message_[0] != '\0') return;
  std::vsnprintf(message_.data(), message_.size(), format, arguments);
  for (char& c : message_)
    if (c != '\0' && (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e)) c = ' ';
}

int File::on_error(::TIFF*, void* file, const char*, const char* format, std::va_list arguments) {
  static_cast<File*>(file)->note(format, arguments);
  return 1;  // libtiff's global handler is not called
}

int File::on_warning(::TIFF*, void* file, const char*, const char* format, std::va_list arguments) {
  // The pixels are right in spite of these: codes of libtiff's first versions, a run or a JPEG that goes on after the
  // rows that were asked for.
  constexpr std::string_view harmless[] = {"Old-style LZW", "Discarding",
                                           "JPEG strip size exceeds expected dimensions"};
  const auto begins = [&](std::string_view text) { return std::string_view(format).starts_with(text); };
  if (static_cast<File*>(file)->decoding_ && std::ranges::none_of(harmless, begins))
    static_cast<File*>(file)->note(format, arguments);
  return 1;
}

tmsize_t File::on_read(thandle_t file, void* to, tmsize_t bytes) {
  auto& self = *static_cast<File*>(file);
  const std::uint64_t left = self.encoded_.size() - std::min<std::uint64_t>(self.position_, self.encoded_.size());
  const auto some =
      static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes)));
  if (some != 0) std::memcpy(to, self.encoded_.data() + self.position_, some);
  self.position_ += some;
  return static_cast<tmsize_t>(some);
}

tmsize_t File::on_write(thandle_t, void*, tmsize_t) { return -1; }

toff_t File::on_seek(thandle_t file, toff_t offset, int from) {
  auto& self = *static_cast<File*>(file);
  if (from == SEEK_CUR) offset += self.position_;
  if (from == SEEK_END) offset += self.encoded_.size();
  return self.position_ = offset;
}

int File::on_close(thandle_t) { return 0; }
toff_t File::on_size(thandle_t file) { return static_cast<File*>(file)->encoded_.size(); }

int File::on_map(thandle_t file, void** base, toff_t* size) {
  const std::span<const std::byte> encoded = static_cast<File*>(file)->encoded_;
  *base = const_cast<std::byte*>(encoded.data());  // libtiff only reads a file that is opened to be read
  *size = encoded.size();
  return 1;
}

void File::on_unmap(thandle_t, void*, toff_t) {}

}  // namespace penstock::tiff
