// SPDX-License-Identifier: Apache-2.0
#include "file/open_files.hpp"

#include <iterator>
#include <string>

#include "file/errors.hpp"

namespace penstock::slide {

void KnownFiles::check(const SlideFile& slide, int descriptor) {
  const FileMark found = mark_of(descriptor, slide.path);
  if (slide.mark) {
    if (!(found == *slide.mark)) throw changed_error(slide.path);
    return;
  }
  std::shared_ptr<Seen> seen;
  {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Seen>& known = seen_[slide.number];
    if (known == nullptr) known = std::make_shared<Seen>();
    seen = known;
  }
  const std::lock_guard lock(seen->mutex);
  if (seen->mark) {
    if (!(found == *seen->mark)) throw changed_error(slide.path);
    return;
  }
  if (seen->refused && found == seen->refused->mark) throw Error(seen->refused->failure);
  const bool same = sample_of(descriptor, slide.path) == slide.sample;
  try {
    if (!same)
      throw error_in(slide.path, Errc::io,
                     "the file is another than the one that the index was made of, of " +
                         std::to_string(slide.sample.bytes) + " bytes; make the index anew");
    check_against_file(slide);
  } catch (const Error& failed) {
    // An I/O error of the right file is not remembered, because the file may be readable later.
    if (!same || failed.code() != Errc::io) seen->refused = Refused{found, failed};
    throw;
  }
  seen->mark = found;
}

std::shared_ptr<const FileDescriptor> OpenFiles::find(std::size_t number) {
  const std::lock_guard lock(mutex_);
  const auto found = by_number_.find(number);
  if (found == by_number_.end()) return nullptr;
  open_.splice(open_.begin(), open_, found->second);
  return open_.front().file;
}

std::shared_ptr<const FileDescriptor> OpenFiles::get(const SlideFile& slide) {
  std::shared_ptr<const FileDescriptor> file = find(slide.number);
  const bool fresh = file == nullptr;
  if (fresh) file = open_file(slide.path);
  known_->check(slide, file->get());
  if (!fresh) return file;
  std::list<Open> closed;  // holds the file to close until the lock is released
  const std::lock_guard lock(mutex_);
  if (by_number_.contains(slide.number)) return file;  // another thread has opened it meanwhile
  open_.push_front({slide.number, file});
  by_number_[slide.number] = open_.begin();
  if (open_.size() > most_) {
    by_number_.erase(open_.back().number);
    closed.splice(closed.begin(), open_, std::prev(open_.end()));
  }
  return file;
}

}  // namespace penstock::slide
