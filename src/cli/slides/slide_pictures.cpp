// SPDX-License-Identifier: Apache-2.0
#include "slides/slide_pictures.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <penstock/error.hpp>
#include <penstock/extend/store_files.hpp>
#include <penstock/sources/slide_picture.hpp>

#include "console/on_threads.hpp"
#include "console/progress.hpp"

namespace penstock::cli {

namespace {

// While this object lives, its thread shows the progress of work on other threads. If the system can't start the
// thread, nothing is shown.
class ProgressThread {
 public:
  ProgressThread(Progress& progress, const std::atomic<std::size_t>& done) {
    const auto tell = [&](const std::stop_token& ended) {
      std::mutex mutex;
      std::condition_variable_any wake;
      std::unique_lock lock(mutex);
      while (!ended.stop_requested()) {
        wake.wait_for(lock, ended, std::chrono::milliseconds(100), [] { return false; });
        progress.set(done);
      }
    };
    try {
      thread_ = std::jthread(tell);
    } catch (const std::system_error&) {
    }
  }

 private:
  std::jthread thread_;
};

// Returns a name that is short enough for a file. Files' names have at most 255 bytes, and extensions are added to this
// name.
std::string as_file_name(const std::string& name) {
  constexpr std::size_t most = 200, kept = 160;
  if (name.size() <= most) return name;
  std::size_t end = kept;
  while (end != 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;  // no character is cut in two
  return fmt::format("{}-{:016x}", name.substr(0, end), XXH3_64bits(name.data(), name.size()));
}

}  // namespace

std::string picture_in(const std::string& folder, const std::string& slide) {
  std::string file = folder;
  // A slide's name is a path if files in several folders have the same file name.
  for (const std::filesystem::path& part : std::filesystem::path(slide).relative_path())
    file += "/" + (part == ".." ? "__" : as_file_name(part.string()));
  return file + ".png";
}

SlidePictures draw_pictures(const SlideSource& source, const DrawingOptions& options) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < source.slides().size(); ++i)
    if (!source.slides()[i].failure && !source.slides()[i].passed_over &&
        (!options.wanted || options.wanted(source.slides()[i])))
      numbers.push_back(i);
  if (numbers.empty()) return {};
  std::vector<std::optional<std::string>> causes(numbers.size());
  std::atomic<std::size_t> done{0};
  {
    Progress progress("drawing", numbers.size(), options.quiet);
    const ProgressThread told(progress, done);
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    on_threads(options.threads == 0 ? cores : options.threads, numbers.size(), [&](std::size_t i) {
      SlidePicture picture;
      try {
        picture = draw_slide(source, numbers[i], {.side = options.side, .caption = options.caption});
      } catch (const Error& error) {
        if (!error.sample_scoped()) throw;
        causes[i] = error.cause();
      }
      if (!causes[i]) {
        const std::string file = options.file_of(source.slides()[numbers[i]]);
        if (const std::string folder = std::filesystem::path(file).parent_path().string(); !folder.empty())
          make_folder(folder, "picture");
        write_png(picture, file);
      }
      ++done;
    });
  }
  SlidePictures pictures;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const SlideInfo& slide = source.slides()[numbers[i]];
    if (causes[i])
      pictures.not_drawn.push_back({slide.name, *causes[i]});
    else
      pictures.drawn.push_back({slide.name, options.file_of(slide)});
  }
  return pictures;
}

std::vector<std::string> picture_lines(const SlidePictures& pictures) {
  std::vector<std::string> lines;
  for (const SlidePictures::NotDrawn& failed : pictures.not_drawn)
    lines.push_back(fmt::format("no picture of {}: {}", printable(failed.slide), printable(failed.cause)));
  const std::vector<SlidePictures::Drawn>& drawn = pictures.drawn;
  if (drawn.size() == 1) lines.push_back("picture: " + printable(drawn.front().file));
  if (drawn.size() > 1)
    lines.push_back(fmt::format("{}: {} ... {}", counted(drawn.size(), "picture"), printable(drawn.front().file),
                                printable(drawn.back().file)));
  return lines;
}

void add_pictures(Json& json, const SlidePictures& pictures) {
  json["pictures"] = Json::array();
  for (const SlidePictures::Drawn& drawn : pictures.drawn)
    json["pictures"].push_back({{"slide", drawn.slide}, {"png", drawn.file}});
  json["not_drawn"] = Json::array();
  for (const SlidePictures::NotDrawn& failed : pictures.not_drawn)
    json["not_drawn"].push_back({{"slide", failed.slide}, {"cause", failed.cause}});
}

}  // namespace penstock::cli
