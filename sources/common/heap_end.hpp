#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace penstock::common {

/// For memory that another library takes and frees again and again. Where nothing stands after it, the heap shrinks
/// each time, and the system is asked for the same memory once more, page by page. This is what stands there. One
/// thread at a time.
class HeapEnd {
 public:
  /// To be called while `bytes` bytes, which will be freed, are in use.
  void keep(std::size_t bytes) noexcept {
    if (bytes <= most_) return;
    most_ = bytes;
    // Too large for what lies free among them, too small for a mapping of its own. Without it all is well, too.
    constexpr std::size_t size = 96 << 10;
    end_.reset(new (std::nothrow) std::byte[size]);
  }

 private:
  std::size_t most_ = 0;
  std::unique_ptr<std::byte[]> end_;
};

}  // namespace penstock::common
