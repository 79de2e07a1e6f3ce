// SPDX-License-Identifier: Apache-2.0
// Keeps slides' files open, up to a limit on their number.
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

/// Remembers the state in which each slide's file was first opened. Any thread.
class KnownFiles {
 public:
  /// Checks that an open file is the file that the slide was opened from, by the slide's mark. A slide from an index
  /// has no mark. The first check of its file compares the file's digest, levels and sizes with those in the index. If
  /// they agree, it keeps the file's mark. Later checks compare this mark.
  /// @throws Error(io) if it is a different file; Error(corrupt) if the index describes the file wrongly; the Error
  /// with which opening the slide for the comparison failed.
  void check(const SlideFile& slide, int descriptor);

 private:
  // The failure of a file, kept so that the file is not read and parsed again for each of its records.
  struct Refused {
    FileMark mark;
    Error failure;
  };
  // The state of a file whose slide has no mark. The first thread checks the file, and other threads wait for the
  // result.
  struct Seen {
    std::mutex mutex;
    std::optional<FileMark> mark;
    std::optional<Refused> refused;
  };
  std::mutex mutex_;
  std::unordered_map<std::size_t, std::shared_ptr<Seen>> seen_;
};

/// Keeps at most `most` files open for later calls. Any thread.
class OpenFiles {
 public:
  OpenFiles(std::size_t most, std::shared_ptr<KnownFiles> known) : most_(most), known_(std::move(known)) {}
  /// Returns the slide's file, and opens it if it is not open. The file stays open as long as the caller holds the
  /// pointer. @throws Error(not_found | io), and like KnownFiles.
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
