// Handles of slides that OpenSlide reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "file/open_files.hpp"
#include "file/openslide_levels.hpp"

namespace penstock::slide {

struct SlideFile;

/// Handles of slides, each in one thread's hands at a time. A handle that met an error is closed: it would answer
/// everything that follows with that error. Any thread.
class OpenSlideSlides {
 public:
  /// OpenSlide keeps up to `cache_bytes` of decoded tiles: from version 4 on in one cache for all handles, of which
  /// `most` are open while nobody uses them; before, 32 MiB in each handle, so there are fewer of them.
  OpenSlideSlides(std::size_t most, std::size_t cache_bytes, std::shared_ptr<KnownFiles> known)
      : most_(most), cache_bytes_(cache_bytes), known_(std::move(known)) {}
  ~OpenSlideSlides();
  OpenSlideSlides(const OpenSlideSlides&) = delete;
  OpenSlideSlides& operator=(const OpenSlideSlides&) = delete;

  /// Reads pixels of a stored level: `x` and `y` are of level 0, the rest of the level. `argb`: width x height of them,
  /// premultiplied. @throws Error(corrupt) with OpenSlide's words, Error(io) for a file that was changed or replaced,
  /// Error(unsupported) where OpenSlide isn't there.
  void read(const SlideFile& slide, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
            std::uint32_t* argb);

 private:
  struct Open {
    std::size_t number;  // number of the slide
    OpenSlideHandle* handle;
  };
  OpenSlideHandle* take(const SlideFile& slide);
  void give_back(std::list<Open> one);

  const std::size_t most_, cache_bytes_;
  const std::shared_ptr<KnownFiles> known_;
  std::mutex mutex_;
  std::list<Open> idle_;  // the one used last stands first
  OpenSlideCache* cache_ = nullptr;
};

}  // namespace penstock::slide
