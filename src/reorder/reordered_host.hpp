#pragma once

#include <cstdint>

#include "reorder/batch_filler.hpp"

namespace penstock::detail {

/// What the reordered placement needs of the engine around it.
class ReorderedHost : public BatchOutlet {
 public:
  /// There is work for more runners.
  virtual void wake_runners() noexcept = 0;
  /// The consumer is asked what is skipped.
  virtual void wake_consumer() noexcept = 0;
  /// So many of the buffer's parts are done.
  virtual void finish_parts(BatchBuffer& buffer, std::uint32_t parts) noexcept = 0;
  /// Runners are to leave.
  virtual bool paused() const noexcept = 0;
};

}  // namespace penstock::detail
