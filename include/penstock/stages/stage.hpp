// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include <penstock/detail/export.hpp>

namespace penstock {

namespace detail {
struct StageModel;
}

/// A stage of a pipeline. It is written after a `|`. Each kind of stage is made by a function with its name (`shuffle`,
/// `map`, `batch`, …). A stage is immutable and cheap to copy, and can be used in several pipelines.
class PENSTOCK_API Stage {
 public:
  /// For code of the library.
  explicit Stage(std::shared_ptr<const detail::StageModel> model) : model_(std::move(model)) {}
  /// For code of the library.
  const detail::StageModel& model() const noexcept { return *model_; }
  /// For code of the library.
  const std::shared_ptr<const detail::StageModel>& shared() const noexcept { return model_; }

 private:
  std::shared_ptr<const detail::StageModel> model_;
};

}  // namespace penstock
