// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "delivery/delivery.hpp"
#include "engine/engine.hpp"

namespace penstock::detail::runtime {

/// Returns a delivery without copies. The caller gets the buffers that the runners filled.
std::unique_ptr<Delivery> host_delivery(std::shared_ptr<Engine> engine);

/// Sets in the report that batches are on the host, and why `best_device()` is the host, if it is.
void describe_host(Report& report);

/// A buffer of the engine's ring in the caller's hands.
class HostLease final : public Lease {
 public:
  explicit HostLease(std::shared_ptr<Engine> engine);
  ~HostLease() override;
  void take(BatchBuffer& buffer);
  Device device() const noexcept override { return host(); }
  void also_used_on(StreamRef stream) override;

 private:
  std::shared_ptr<Engine> engine_;
  BatchBuffer* buffer_ = nullptr;
  int pid_;
};

}  // namespace penstock::detail::runtime
