#include "file/tiff/tiff_input.hpp"

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <span>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/system_error.hpp>

#include "file/errors.hpp"

namespace penstock::slide {

namespace {

// What was not read would be missing without a word.
void check_complete(const TiffInput& input, const std::string& path, bool opened) {
  if (input.failed_read != 0) throw system_error(input.failed_read, "reading its directory", path);
  if (input.too_much)
    throw error_in(path, Errc::corrupt,
                   "its directory can't be read: it says that its values have more than " +
                       std::to_string(TiffInput::most_read >> 20) + " MiB");
  if (!opened)
    throw error_in(path, Errc::corrupt,
                   "its directory can't be read" + (input.complaint.empty() ? "" : ": " + input.complaint));
}

tmsize_t tiff_read(thandle_t handle, void* to, tmsize_t bytes) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  if (static_cast<std::uint64_t>(bytes) > input.left) {
    input.too_much = true;
    return 0;
  }
  input.left -= static_cast<std::uint64_t>(bytes);
  const std::size_t got =
      read_whole(input.descriptor, {static_cast<std::byte*>(to), static_cast<std::size_t>(bytes)}, input.at);
  if (got < static_cast<std::size_t>(bytes) && errno != 0 && input.failed_read == 0) input.failed_read = errno;
  input.at += got;
  return static_cast<tmsize_t>(got);
}

tmsize_t tiff_write(thandle_t, void*, tmsize_t) { return -1; }

toff_t tiff_seek(thandle_t handle, toff_t offset, int whence) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  input.at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? input.at + offset : input.bytes + offset;
  return input.at;
}

int tiff_close(thandle_t) { return 0; }
toff_t tiff_size(thandle_t handle) { return static_cast<TiffInput*>(handle)->bytes; }

int tiff_complains(TIFF*, void* handle, const char*, const char* format, va_list words) {
  TiffInput& input = *static_cast<TiffInput*>(handle);
  if (!input.complaint.empty()) return 1;
  char text[512];
  std::vsnprintf(text, sizeof text, format, words);
  input.complaint = printable(text);
  return 1;
}

int tiff_warns(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

OpenTiff open_tiff(TiffInput& input, const std::string& path) {
  struct FreeOptions {
    void operator()(TIFFOpenOptions* options) const noexcept { TIFFOpenOptionsFree(options); }
  };
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  if (options == nullptr) throw Error(Errc::out_of_memory, "no memory to open a slide").with_file(path);
  constexpr tmsize_t most_memory = 64 << 20;  // for the value of one entry
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), most_memory);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), tiff_complains, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), tiff_warns, &input);
  // m: no memory map. D, O: arrays of tiles are not read, they may be long.
  OpenTiff tiff(TIFFClientOpenExt("libtiff", "rmDO", &input, tiff_read, tiff_write, tiff_seek, tiff_close, tiff_size,
                                  nullptr, nullptr, options.get()));
  check_complete(input, path, tiff != nullptr);
  return tiff;
}

void go_to_directory(TIFF* tiff, TiffInput& input, const std::string& path, std::uint64_t offset) {
  check_complete(input, path, TIFFSetSubDirectory(tiff, offset) == 1);
}

}  // namespace penstock::slide
