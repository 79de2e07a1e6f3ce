#include "slide_file.hpp"

#include <cerrno>

#include <penstock/extend/file_descriptor.hpp>
#include <penstock/extend/store_files.hpp>

#include "errors.hpp"

namespace penstock::slide {

namespace {

void keep_places(SlideFile& slide, int descriptor, std::size_t& keep_left) {
  const Directory& directory = slide.directory;
  const std::uint64_t each = directory.tile_offsets.element_bytes + directory.tile_bytes.element_bytes;
  if (directory.tiles() > keep_left / each) return;
  const auto read = [&](const StoredArray& array) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(directory.tiles() * array.element_bytes));
    if (read_whole(descriptor, bytes, array.offset) == bytes.size()) return bytes;
    if (errno != 0) throw system_error_in(slide.path, errno, "reading where its tiles lie");
    throw error_in(slide.path, Errc::io, "the file became shorter while it was read");
  };
  slide.kept_offsets = read(directory.tile_offsets);
  slide.kept_sizes = read(directory.tile_bytes);
  keep_left -= slide.kept_offsets.size() + slide.kept_sizes.size();
}

}  // namespace

SlideFile open_slide(const std::string& path, std::size_t number, std::size_t& keep_left) {
  SlideFile slide;
  slide.path = path;
  slide.number = number;
  try {
    const auto file = open_file(path);
    slide.mark = mark_of(file->get(), path);
    slide.revision = file_revision(file->get());
    slide.directory = read_directory(file->get(), path, slide.mark.bytes);
    keep_places(slide, file->get(), keep_left);
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    slide.failure = failed;
  }
  return slide;
}

}  // namespace penstock::slide
