// SPDX-License-Identifier: Apache-2.0
// Memory for one image after the other. Once it has the size that the largest image needs, it allocates no more.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/extend/image_executor.hpp>

namespace penstock::jpeg {

class KeptScratch final : public Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override {
    if (bytes > static_cast<std::size_t>(-1) / 2) throw_none();
    const std::size_t room = (bytes + alignment - 1) / alignment * alignment;
    if (room <= size_ - used_) {
      used_ += room;
      return kept_.get() + used_ - room;
    }
    more_.push_back(make(room));
    more_bytes_ += room;
    return more_.back().get();
  }

  // Lets the next image use all memory again.
  void reset() {
    used_ = 0;
    if (more_.empty()) return;
    more_.clear();
    kept_.reset();
    const std::size_t size = size_ + more_bytes_;
    size_ = more_bytes_ = 0;
    kept_ = make(size);
    size_ = size;
  }

 private:
  static constexpr std::size_t alignment = 64;
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete (data, std::align_val_t{alignment}); }
  };
  using Block = std::unique_ptr<std::byte, Free>;

  [[noreturn]] static void throw_none() { throw Error(Errc::out_of_memory, "no memory to decode a JPEG"); }
  static Block make(std::size_t bytes) {
    void* const data = ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
    if (data == nullptr) throw_none();
    return Block(static_cast<std::byte*>(data));
  }

  Block kept_;
  std::vector<Block> more_;  // used in addition to `kept_`, until the next reset
  std::size_t size_ = 0, used_ = 0, more_bytes_ = 0;
};

}  // namespace penstock::jpeg
