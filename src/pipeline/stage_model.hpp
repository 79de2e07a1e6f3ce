// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <penstock/schema.hpp>
#include <penstock/stages/stage.hpp>

namespace penstock::detail {

namespace runtime {
class ChainCompiler;
}
class DeviceProgramBuilder;
class PipelineBuilder;
struct BoundStage;

/// What a Stage holds. Each kind of stage is a class of its own, in a file of src/stages/. Immutable; any thread may
/// use it.
struct StageModel {
  virtual ~StageModel() = default;
  /// Adds the stage to a pipeline, after the stages that the pipeline has. @throws what the stage's documentation
  /// lists.
  virtual void join(PipelineBuilder& pipeline) const = 0;
};

/// A kind of stage that works on samples. After it has joined a pipeline, it adds its step to the chain or its launch
/// to the device program.
struct WorkStage : StageModel {
  /// Adds the stage's step to the chain of the stages before `batch`.
  virtual void compile(const BoundStage& bound, runtime::ChainCompiler& chain) const;
  /// Adds the stage's launch to the program of the stages after `batch`. Only kinds that may come after `batch`
  /// override it.
  virtual void launch(const BoundStage& bound, DeviceProgramBuilder& program) const;
  /// Returns whether the stage declares that it draws at random.
  virtual bool draws() const { return false; }
  /// Returns whether the stage's name, options or version change whenever its computation changes.
  virtual bool versioned() const { return true; }
  /// Returns whether the stage changes the number of samples.
  virtual bool changes_count() const { return false; }
  /// Returns whether the stage is known to change the values of this field.
  virtual bool gives(const std::string&) const { return false; }
  /// Returns whether the stage may change the values of this field, so far as is known.
  virtual bool may_give(const std::string& field) const { return gives(field); }
  /// Returns whether the field's values are labels after the stage. Returns nullopt if the stage does not change
  /// whether they are labels.
  virtual std::optional<bool> gives_labels(const std::string& field) const {
    return gives(field) ? std::optional(false) : std::nullopt;
  }
  /// Returns whether a resize that follows may still decide at which size the field's images are decoded. Returns
  /// nullopt if the stage does not change that.
  virtual std::optional<bool> awaits_resize(const std::string& field) const {
    return gives(field) ? std::optional(false) : std::nullopt;
  }
  /// Returns the name that the field had before this stage.
  virtual const std::string& name_before(const std::string& name) const { return name; }
};

/// A stage that has joined a pipeline.
struct BoundStage {
  std::shared_ptr<const WorkStage> work;
  std::string name;       ///< the stage's name, without its field
  std::string label;      ///< such as "resize(image)"
  std::string options;    ///< in words, the options that change results
  std::uint64_t key = 0;  ///< hash of name and occurrence: the key of its random draws
  std::uint64_t version = 0;
  Schema in, out;
};

template <class Model>
Stage make_stage(Model model) {
  return Stage(std::make_shared<const Model>(std::move(model)));
}

}  // namespace penstock::detail
