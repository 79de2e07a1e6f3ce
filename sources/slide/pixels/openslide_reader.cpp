// SPDX-License-Identifier: Apache-2.0
#include "pixels/openslide_reader.hpp"

#include <algorithm>
#include <utility>

#include "file/errors.hpp"
#include "file/identity/other_files.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

OpenSlideReader::~OpenSlideReader() {
  for (const IdleHandle& open : idle_) openslide_library()->close(open.handle);
  if (cache_ != nullptr) openslide_library()->cache_release(cache_);
}

OpenSlideHandle* OpenSlideReader::take(const SlideFile& slide) {
  const OpenSlideLibrary& library = *openslide_library();
  // OpenSlide opens files by their names, and would read a file that has replaced the slide's. So the file is checked
  // first.
  const auto file = open_file(slide.path);
  known_->check(slide, file->get());
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(idle_, slide.number, &IdleHandle::number);
    if (found != idle_.end()) {
      OpenSlideHandle* const handle = found->handle;
      idle_.erase(found);
      return handle;
    }
    if (cache_ == nullptr && library.has_shared_cache()) cache_ = library.cache_create(cache_bytes_);
  }
  if (sample_of_all(slide.settings.other_files) != slide.others) throw changed_error(slide.path);
  OwnedHandle handle = open_handle(library, slide.path);
  if (cache_ != nullptr) library.set_cache(handle.get(), cache_);
  return handle.release();
}

void OpenSlideReader::give_back(std::list<IdleHandle> one) {
  std::list<IdleHandle> to_close;
  {
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.begin(), one);
    // Before version 4 every handle has a cache of its own, of this size.
    constexpr std::size_t of_a_handle = std::size_t{32} << 20;
    const std::size_t most = openslide_library()->has_shared_cache()
                                 ? most_idle_
                                 : std::clamp(cache_bytes_ / of_a_handle, std::size_t{1}, most_idle_);
    if (idle_.size() > most) to_close.splice(to_close.begin(), idle_, std::prev(idle_.end()));
  }
  for (const IdleHandle& open : to_close) openslide_library()->close(open.handle);
}

void OpenSlideReader::read(const SlideFile& slide, std::int64_t x, std::int64_t y, std::int64_t width,
                           std::int64_t height, std::uint32_t* argb) {
  // A slide from an index was not opened by this process, so the library may be missing.
  if (openslide_library() == nullptr)
    throw error_in(slide.path, Errc::unsupported, slide.found.why_openslide + ". " + without_openslide());
  const OpenSlideLibrary& library = *openslide_library();
  OwnedHandle handle(take(slide), CloseHandle{&library});
  library.read_region(handle.get(), argb, x, y, static_cast<std::int32_t>(slide.image.level_number), width, height);
  if (const char* const why = library.get_error(handle.get()); why != nullptr)
    throw error_in(slide.path, Errc::corrupt,
                   "OpenSlide can't read " + std::to_string(width) + "x" + std::to_string(height) + " pixels at x " +
                       std::to_string(x) + ", y " + std::to_string(y) + " of level " +
                       std::to_string(slide.image.level_number) + ": " + printable(why) +
                       (library.is_before_4()
                            ? ". Where the file leaves tiles out, version 4 reads them as glass: " + version_4_advice()
                            : ""));
  // The list's node is allocated before the lock is taken.
  std::list<IdleHandle> one{{slide.number, handle.get()}};
  (void)handle.release();
  give_back(std::move(one));
}

}  // namespace penstock::slide
