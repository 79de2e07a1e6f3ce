#include "pixels/openslide_slides.hpp"

#include <algorithm>
#include <utility>

#include "file/errors.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

OpenSlideSlides::~OpenSlideSlides() {
  for (const Open& open : idle_) openslide_library()->close(open.handle);
  if (cache_ != nullptr) openslide_library()->cache_release(cache_);
}

OpenSlideHandle* OpenSlideSlides::take(const SlideFile& slide) {
  const OpenSlideLibrary& library = *openslide_library();
  // OpenSlide opens its files by their names, so what it reads is what lies there now.
  const auto file = open_file(slide.path);
  known_->check(slide.number, file->get(), slide.path, slide.mark, slide.sample);
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, slide.number, &Open::number);
    if (found != idle_.end()) {
      OpenSlideHandle* const handle = found->handle;
      idle_.erase(found);
      return handle;
    }
    if (cache_ == nullptr && library.has_shared_cache()) cache_ = library.cache_create(cache_bytes_);
  }
  OwnedHandle handle = open_handle(library, slide.path);
  if (cache_ != nullptr) library.set_cache(handle.get(), cache_);
  return handle.release();
}

void OpenSlideSlides::give_back(std::list<Open> one) {
  std::list<Open> closed;
  {
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), one);
    // Before version 4 each keeps as much by itself.
    constexpr std::size_t of_a_handle = std::size_t{32} << 20;
    const std::size_t most =
        openslide_library()->has_shared_cache() ? most_ : std::clamp(cache_bytes_ / of_a_handle, std::size_t{1}, most_);
    if (idle_.size() > most) closed.splice(closed.begin(), idle_, std::prev(idle_.end()));
  }
  for (const Open& open : closed) openslide_library()->close(open.handle);
}

void OpenSlideSlides::read(const SlideFile& slide, std::int64_t x, std::int64_t y, std::int64_t width,
                           std::int64_t height, std::uint32_t* argb) {
  // An index may say what slides are where OpenSlide is not.
  if (openslide_library() == nullptr)
    throw error_in(slide.path, Errc::unsupported, slide.why_openslide + ". " + without_openslide());
  const OpenSlideLibrary& library = *openslide_library();
  OwnedHandle handle(take(slide), CloseHandle{&library});
  library.read_region(handle.get(), argb, x, y, static_cast<std::int32_t>(slide.level_number), width, height);
  if (const char* const why = library.get_error(handle.get()); why != nullptr)
    throw error_in(slide.path, Errc::corrupt,
                   "OpenSlide can't read " + std::to_string(width) + "x" + std::to_string(height) + " pixels at x " +
                       std::to_string(x) + ", y " + std::to_string(y) + " of level " +
                       std::to_string(slide.level_number) + ": " + printable(why));
  std::list<Open> one{{slide.number, handle.get()}};
  (void)handle.release();
  give_back(std::move(one));
}

}  // namespace penstock::slide
