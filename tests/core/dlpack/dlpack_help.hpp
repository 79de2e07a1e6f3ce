// SPDX-License-Identifier: Apache-2.0
// What the tests of exported tensors share: a consumer's side.
#pragma once

#include <memory>

#include <penstock/interop/dlpack.hpp>

namespace help {

/// A consumer that calls the deleter, as all must.
template <class Managed>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Managed* managed) : managed_(managed) {}
  void reset() { managed_.reset(); }
  Managed& operator*() const { return *managed_; }
  Managed* operator->() const { return managed_.get(); }

 private:
  struct End {
    void operator()(Managed* managed) const { managed->deleter(managed); }
  };
  std::unique_ptr<Managed, End> managed_;
};

}  // namespace help
