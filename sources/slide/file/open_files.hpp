// SPDX-License-Identifier: Apache-2.0
// The open files of slides, limited in number.
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

/// What slides' files were when they were opened first. Any thread.
class KnownFiles {
 public:
  /// Compares an open file with the slide's file when it was opened. An index has no mark. Then the file must have the
  /// index's sample and match its description; its mark is kept from then on.
  /// @throws Error(io) if it is a different file; Error(corrupt) if the file does not match the index.
  void check(const SlideFile& slide, int descriptor);

 private:
  // Without it, each record of such a file would read and parse the file again.
  struct Refused {
    FileMark mark;
    Error failure;
  };
  // A file that had no mark: the first thread looks at it, and others wait for the result.
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
  /// Returns the slide's file, and opens it if it is not open; it stays open as long as it is held. @throws
  /// Error(not_found | io), and like KnownFiles.
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
  std::list<Open> open_;  // the most recently used first
  std::unordered_map<std::size_t, std::list<Open>::iterator> by_number_;
};

}  // namespace penstock::slide
