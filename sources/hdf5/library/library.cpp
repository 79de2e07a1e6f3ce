// SPDX-License-Identifier: Apache-2.0
#include "library/library.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

namespace penstock::hdf5 {

namespace {

// The mutex is never destroyed, because the destructors of static objects may still use it.
std::recursive_mutex& plain_mutex() {
  static auto& mutex = *new std::recursive_mutex;
  return mutex;
}

// The mutex is locked during a fork. So no other thread is inside the library then, and a child can open its own files.
std::recursive_mutex& library_mutex() {
  // In a child, the thread that holds the mutex has another number and can't unlock it, so a new mutex replaces it.
  static const int registered = ::pthread_atfork([] { plain_mutex().lock(); }, [] { plain_mutex().unlock(); },
                                                 [] { ::new (&plain_mutex()) std::recursive_mutex; });
  static_cast<void>(registered);
  return plain_mutex();
}

unsigned depth = 0;  // how often the thread that holds the lock has taken it

}  // namespace

LibraryLock::LibraryLock() : lock_(library_mutex()) {
  ++depth;
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  if (print_ != nullptr) H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

LibraryLock::~LibraryLock() {
  // The library keeps messages of failures per thread, and does not free them when the thread ends. So they are cleared
  // here.
  if (--depth == 0) H5Eclear2(H5E_DEFAULT);
  if (print_ != nullptr) H5Eset_auto2(H5E_DEFAULT, print_, print_data_);
}

Handle::Handle(hid_t id, Close how) : id_(id), close_(how), owner_(::getpid()) {}

Handle::Handle(Handle&& other) noexcept
    : id_(std::exchange(other.id_, -1)), close_(other.close_), owner_(other.owner_) {}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this == &other) return *this;
  close();
  id_ = std::exchange(other.id_, -1);
  close_ = other.close_;
  owner_ = other.owner_;
  return *this;
}

Handle::~Handle() { close(); }

void Handle::close() noexcept {
  if (id_ < 0 || owner_ != ::getpid()) return;
  const LibraryLock lock;
  close_(id_);
  id_ = -1;
}

namespace {

// Returns the innermost message about the library's last failure; null if there is no message.
const char* innermost_word() {
  const char* innermost = nullptr;
  const auto visit = [](unsigned, const H5E_error2_t* error, void* found) -> herr_t {
    auto& text = *static_cast<const char**>(found);
    if (text == nullptr) text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, visit, &innermost);
  return innermost;
}

}  // namespace

std::string library_says() {
  const char* const innermost = innermost_word();
  return innermost == nullptr ? "the HDF5 library failed without a word"
                              : "the HDF5 library says: " + std::string(innermost);
}

// Looks in the message for words that mean that a version, a message type, a layout or a flag is unknown.
std::string later_version() {
  constexpr std::array<std::string_view, 4> words{"version", "unknown", "invalid layout class", "bad flag value"};
  const char* const innermost = innermost_word();
  const std::string said = innermost == nullptr ? "" : innermost;  // copied, because the next call clears the message
  std::string small = said;
  std::ranges::transform(small, small.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (std::ranges::none_of(words, [&](std::string_view word) { return small.find(word) != small.npos; })) return {};
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  const std::string of_series = std::to_string(major) + "." + std::to_string(minor);
  return "it is of a later HDF5 than the library here, " + of_series + "." + std::to_string(release) + " (" + said +
         "), or damaged; write it anew for HDF5 " + of_series + ", as by the option --high of a later h5repack";
}

}  // namespace penstock::hdf5
