#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

#include <penstock/extend/image_executor.hpp>

namespace penstock::slide {

/// Scratch outside of a runner. What was given is given again after `reset`.
class HeapScratch final : public Scratch {
 public:
  std::byte* allocate(std::size_t bytes) override {
    // The first piece that is free and large enough.
    for (; next_ < pieces_.size(); ++next_)
      if (pieces_[next_].bytes >= bytes) return pieces_[next_++].memory.get();
    pieces_.push_back({std::unique_ptr<std::byte, Free>(new (alignment) std::byte[bytes]), bytes});
    ++next_;
    return pieces_.back().memory.get();
  }
  void reset() noexcept { next_ = 0; }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, alignment); }
  };
  struct Piece {
    std::unique_ptr<std::byte, Free> memory;
    std::size_t bytes;
  };
  std::vector<Piece> pieces_;
  std::size_t next_ = 0;
};

}  // namespace penstock::slide
