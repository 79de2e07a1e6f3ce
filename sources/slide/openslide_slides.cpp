#include "openslide_slides.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "errors.hpp"
#include "slide_file.hpp"
#include "text_number.hpp"

namespace penstock::slide {

namespace {

struct CloseHandle {
  const OpenSlideLibrary* library;
  void operator()(OpenSlideHandle* handle) const noexcept { library->close(handle); }
};
using OwnedHandle = std::unique_ptr<OpenSlideHandle, CloseHandle>;

OwnedHandle open_handle(const OpenSlideLibrary& library, const std::string& path) {
  OwnedHandle handle(library.open(path.c_str()), CloseHandle{&library});
  if (handle == nullptr) throw error_in(path, Errc::corrupt, "OpenSlide can't open it");
  if (const char* const why = library.get_error(handle.get()); why != nullptr)
    throw error_in(path, Errc::corrupt, std::string("OpenSlide can't open it: ") + printable(why));
  return handle;
}

double number_of_property(const OpenSlideLibrary& library, OpenSlideHandle* handle, const std::string& name) {
  const char* const text = library.get_property_value(handle, name.c_str());
  if (text == nullptr) return 0;
  return std::max(number_in(text).value_or(0), 0.0);
}

std::int32_t side_of_tile(const OpenSlideLibrary& library, OpenSlideHandle* handle, std::int32_t level,
                          const char* side) {
  const double value =
      number_of_property(library, handle, "openslide.level[" + std::to_string(level) + "].tile-" + side);
  return value < 65536 ? static_cast<std::int32_t>(value) : 0;
}

}  // namespace

Pyramid read_through_openslide(const OpenSlideLibrary& library, const std::string& path) {
  if (library.detect_vendor(path.c_str()) == nullptr)
    throw error_in(path, Errc::unsupported, "OpenSlide " + library.version() + " doesn't know it either");
  const OwnedHandle handle = open_handle(library, path);
  Pyramid pyramid;
  for (std::int32_t i = 0; i < library.get_level_count(handle.get()); ++i) {
    Level level;
    level.codec = SlideCodec::openslide;
    library.get_level_dimensions(handle.get(), i, &level.width, &level.height);
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (level.width < 1 || level.height < 1 || level.width > most || level.height > most)
      throw error_in(path, Errc::unsupported,
                     "its level " + std::to_string(i) + " has " + std::to_string(level.width) + "x" +
                         std::to_string(level.height) + " pixels");
    level.tile_width = side_of_tile(library, handle.get(), i, "width");
    level.tile_height = side_of_tile(library, handle.get(), i, "height");
    const Level& first = pyramid.levels.empty() ? level : pyramid.levels.front();
    level.has_whole_pixels = first.width % level.width == 0 && first.height % level.height == 0 &&
                             first.width / level.width == first.height / level.height;
    pyramid.levels.push_back(std::move(level));
  }
  if (pyramid.levels.empty()) throw error_in(path, Errc::corrupt, "OpenSlide finds no level in it");
  const double x = number_of_property(library, handle.get(), "openslide.mpp-x");
  const double y = number_of_property(library, handle.get(), "openslide.mpp-y");
  if (plausible_mpp(x, y)) {
    pyramid.resolution.mpp_x = x;
    pyramid.resolution.mpp_y = y;
  } else if (x != 0 || y != 0) {
    pyramid.resolution.refused =
        "OpenSlide says " + std::to_string(x) + " x " + std::to_string(y) + " micrometres, which can't be";
  }
  pyramid.resolution.magnification = number_of_property(library, handle.get(), "openslide.objective-power");
  return pyramid;
}

OpenSlideSlides::~OpenSlideSlides() {
  for (const Open& open : idle_) openslide_library()->close(open.handle);
  if (cache_ != nullptr) openslide_library()->cache_release(cache_);
}

OpenSlideHandle* OpenSlideSlides::take(const SlideFile& slide) {
  const OpenSlideLibrary& library = *openslide_library();
  // OpenSlide opens its files by their names, so what it reads is what lies there now.
  const auto file = open_file(slide.path);
  if (!(mark_of(file->get(), slide.path) == slide.mark)) throw changed_error(slide.path);
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
