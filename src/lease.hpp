#pragma once

#include <unistd.h>

#include <memory>
#include <new>
#include <utility>

#include "engine.hpp"

namespace penstock::detail {

/// A batch in the caller's hands.
class Lease {
 public:
  /// Holds nothing yet.
  explicit Lease(std::shared_ptr<Engine> engine) : engine_(std::move(engine)), pid_(::getpid()) {}
  void take(Slot& slot) {
    engine_->lease(slot);
    slot_ = &slot;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() {
    if (slot_ == nullptr) return;
    // In a forked child the mutex may be held by a thread that does not exist there.
    if (::getpid() == pid_) {
      engine_->release(*slot_);
    } else {
      static_cast<void>(new (std::nothrow) std::shared_ptr<Engine>(std::move(engine_)));
    }
  }
  Engine& engine() const noexcept { return *engine_; }
  const Slot& slot() const noexcept { return *slot_; }

 private:
  std::shared_ptr<Engine> engine_;
  Slot* slot_ = nullptr;
  pid_t pid_;
};

}  // namespace penstock::detail
