// The files of slides that are open, not more than so many at a time.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include <penstock/error.hpp>
#include <penstock/extend/file_descriptor.hpp>

#include "file/identity/file_mark.hpp"
#include "file/slide_file.hpp"

namespace penstock::slide {

/// What slides' files are, as they were when they were opened first. Any thread.
class KnownFiles {
 public:
  /// Compares an open file with what the slide was when it was opened. Where no mark is known, as an index has none,
  /// the file has to have the sample and to say what the index says of it, and its mark is known from then on.
  /// @throws Error(io) for another file; Error(corrupt) where the index says what the file doesn't.
  void check(const SlideFile& slide, int descriptor);

 private:
  // Each record of such a file would read and parse it again.
  struct Refused {
    FileMark mark;
    Error failure;
  };
  // A file that had no mark: the first thread looks at it, and others wait for that.
  struct Seen {
    std::mutex mutex;
    std::optional<FileMark> mark;
    std::optional<Refused> refused;
  };
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::shared_ptr<Seen>> seen_;
};

/// Any thread.
class OpenFiles {
 public:
  OpenFiles(std::size_t most, std::shared_ptr<KnownFiles> known) : most_(most), known_(std::move(known)) {}
  /// The slide's file, opened where it isn't; stays open as long as it is held. @throws Error(not_found | io), and as
  /// KnownFiles.
  std::shared_ptr<const FileDescriptor> get(const SlideFile& slide);

 private:
  struct Open {
    std::size_t number;
    std::shared_ptr<const FileDescriptor> file;
  };
  std::shared_ptr<const FileDescriptor> find(std::size_t number);

  const std::size_t most_;
  const std::shared_ptr<KnownFiles> known_;
  std::mutex mutex_;
  std::list<Open> open_;  // the one used last stands first
  std::unordered_map<std::size_t, std::list<Open>::iterator> by_number_;
};

}  // namespace penstock::slide
