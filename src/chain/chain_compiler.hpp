// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/extend/image_stage.hpp>
#include <penstock/stages/image_fields.hpp>

#include "chain/image_step.hpp"
#include "chain/step.hpp"
#include "data/row_layout.hpp"
#include "pipeline/pipeline_data.hpp"

namespace penstock::detail::runtime {

/// The steps of a chain, in order. The first step reads.
struct ChainProgram {
  std::vector<std::unique_ptr<Step>> steps;
  std::size_t children_begin = 0;  ///< number of the step that a child begins with; 0: samples have no parents
  std::size_t cache_step = 0;      ///< number of the step that is a cache; 0: there is no cache
  std::size_t shared_draws = 0;    ///< number of image stages that have several fields
};

/// Turns the stages of a pipeline into steps. Each kind of stage adds its own steps (`WorkStage::compile`).
class ChainCompiler {
 public:
  /// `layout`: the batch's layout; null if the pipeline has no batch stage. `data` must outlive the program.
  ChainCompiler(const PipelineData& data, const RowLayout* layout) : data_(data), layout_(layout) {}
  /// Call once. `name`: the name of the branch whose stages they are; empty for a whole pipeline. @throws
  /// Error(limit_exceeded) if a field of fixed size is larger than the pipeline allows.
  ChainProgram compile(const std::string& name);

  // -- for kinds of stages --
  /// Adds the next step. Image stages after it begin a new fold.
  void add(std::unique_ptr<Step> step);
  /// Makes children begin with the step that is added next.
  void begin_children() noexcept { program_.children_begin = program_.steps.size(); }
  /// Adds an image step for the field in `slot`. Later image stages of the same field may join this step.
  ImageStep& begin_image(std::string label, std::uint64_t key, const ImageExecutor& executor, std::size_t slot);
  /// Adds a step that decodes the first of `fields`. The others follow it as they follow the stage `turn`, whose
  /// parameters are TurnParams.
  void add_decoding(const BoundStage& stage, const ImageFields& fields, const ImageDecoder& decoder,
                    const ImageStageModel& turn, const ImageExecutor& executor);
  /// Adds the stage to the image step of each field. If a field has no image step that the stage can join, begins one.
  void add_image(const BoundStage& stage, const ImageFields& fields, const ImageStageModel& model,
                 const ImageExecutor& executor);
  /// Adds the encoder to the image step of the field. If the field has no image step that the encoder can join, begins
  /// one. `result`: name of the encoded field; if it equals `field`, the file replaces the image.
  void add_encoding(const BoundStage& stage, const std::string& field, const std::string& result,
                    const ImageEncoder& encoder, const ImageExecutor& executor);
  /// Adds a step that gives the field `from` another name.
  void add_rename(std::unique_ptr<Step> step, const std::string& from, const std::string& to);

 private:
  std::vector<std::unique_ptr<Step>>& steps() noexcept { return program_.steps; }
  void add_cache();
  ImageStep& begin_follower(std::uint64_t key, const ImageExecutor& executor, std::size_t slot, ImageField::Kind kind);
  void join(const BoundStage& stage, const ImageFields& fields, const ImageField& field, const ImageStageModel& model,
            const ImageExecutor& executor);
  std::size_t last_image(const ImageField& field, const ImageExecutor& executor) const;
  std::size_t moved_to_the_end(std::size_t at);
  void relate_steps();
  void find_masks();
  void find_decoder_of_mask(std::size_t at, std::string name);
  void assign_destinations();
  void check_fixed_sizes();

  const PipelineData& data_;
  const RowLayout* layout_;
  ChainProgram program_;
  std::vector<ImageStep*> images_;  // the image steps at the end of `program_.steps`, which later image stages may join
};

}  // namespace penstock::detail::runtime
