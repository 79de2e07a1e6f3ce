// SPDX-License-Identifier: Apache-2.0
// Reads pixels through the library OpenSlide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "file/open_files.hpp"
#include "file/openslide/openslide_levels.hpp"

namespace penstock::slide {

struct SlideFile;

/// Keeps OpenSlide's handles of slides. One thread at a time uses a handle. A handle that met an error is closed,
/// because it would return the same error for every later call. Any thread.
class OpenSlideReader {
 public:
  /// OpenSlide keeps up to `cache_bytes` of decoded tiles. Up to `most_idle` unused handles stay open. From version 4
  /// on, OpenSlide has one cache for all handles. Before version 4, each handle has a cache of 32 MiB. So at most
  /// `cache_bytes` / 32 MiB unused handles stay open, but at least one.
  OpenSlideReader(std::size_t most_idle, std::size_t cache_bytes, std::shared_ptr<KnownFiles> known)
      : most_idle_(most_idle), cache_bytes_(cache_bytes), known_(std::move(known)) {}
  ~OpenSlideReader();
  OpenSlideReader(const OpenSlideReader&) = delete;
  OpenSlideReader& operator=(const OpenSlideReader&) = delete;

  /// Reads pixels of a stored level. `x` and `y` count pixels of level 0; `width` and `height` count pixels of the
  /// level. `argb`: [height, width], premultiplied. @throws Error(corrupt) with OpenSlide's message, Error(io) if the
  /// file was changed or replaced, Error(unsupported) if OpenSlide is not found.
  void read(const SlideFile& slide, std::int64_t x, std::int64_t y, std::int64_t width, std::int64_t height,
            std::uint32_t* argb);

 private:
  struct IdleHandle {
    std::size_t number;  // number of the slide
    OpenSlideHandle* handle;
  };
  OpenSlideHandle* take(const SlideFile& slide);
  void give_back(std::list<IdleHandle> one);

  const std::size_t most_idle_, cache_bytes_;
  const std::shared_ptr<KnownFiles> known_;
  std::mutex mutex_;
  std::list<IdleHandle> idle_;  // the most recently used first
  OpenSlideCache* cache_ = nullptr;
};

}  // namespace penstock::slide
