#include "slide_file.hpp"

#include <penstock/extend/store_files.hpp>

namespace penstock::slide {

SlideFile open_slide(const std::string& path, std::size_t number) {
  SlideFile slide;
  slide.path = path;
  slide.number = number;
  try {
    const auto file = open_file(path);
    slide.mark = mark_of(file->get(), path);
    slide.revision = file_revision(file->get());
    slide.directory = read_directory(file->get(), path, slide.mark.bytes);
  } catch (const Error& failed) {
    if (!failed.sample_scoped()) throw;
    slide.failure = failed;
  }
  return slide;
}

}  // namespace penstock::slide
