// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/source_model.hpp>
#include <penstock/error.hpp>

#include "chain/chain.hpp"
#include "join/selected.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// A source whose records are the samples of a pipeline: a part of a join that has stages.
class PartSource final : public Selected {
 public:
  /// REQUIRES: the pipeline makes one sample of each of its records.
  explicit PartSource(std::shared_ptr<const PipelineData> data);

  Schema schema() const override { return data_->schema; }
  std::unique_ptr<ReaderModel> open_branch(std::uint64_t branch) const override;
  std::shared_ptr<const PipelineData> pipeline() const override { return data_; }
  void for_each_part(const std::function<void(std::size_t, const SourceModel&)>&) const override {}
  std::uint64_t branches() const noexcept override { return 1 + source().branches(); }
  bool draws() const override;
  std::optional<std::vector<std::int64_t>> labels(std::string_view field) const override;
  std::vector<std::string> cache_notes() const override { return {}; }
  void describe_field(std::uint64_t index, std::size_t slot, Error& error) const override;
  std::optional<BlockRows> rows_of(std::uint64_t) const override { return std::nullopt; }

  /// Opens a reader of the records before the stages.
  std::unique_ptr<ReaderModel> open_source_reader() const { return source().open_reader(); }
  /// Returns the chain for reading without a run.
  const Chain& chain_alone() const;

 private:
  // Where the values of a field come from.
  struct FieldOrigin {
    std::string name;         // the field's name in the source
    std::string changed_by;   // label of a stage that is known to change its values; else empty
    bool may_change = false;  // a stage may change its values without saying so
  };
  FieldOrigin origin_of(std::string_view field) const;

  const std::shared_ptr<const PipelineData> data_;
  mutable std::once_flag made_alone_;
  mutable std::optional<Chain> alone_;
};

}  // namespace penstock::detail::runtime
