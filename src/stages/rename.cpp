// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <penstock/error.hpp>
#include <penstock/stages/fields.hpp>

#include "chain/chain_compiler.hpp"
#include "chain/select_step.hpp"
#include "pipeline/pipeline_builder.hpp"

namespace penstock {

namespace detail::runtime {

namespace {

class RenameStep final : public SelectStep {
 public:
  RenameStep(const BoundStage& stage, std::string old_name, std::string new_name)
      : SelectStep(stage), from_(std::move(old_name)), to_(std::move(new_name)) {}

  // Takes the order of fields from `before`, because the compiler may have put this step in front of earlier image
  // steps.
  void follow(const Schema& before) override {
    std::vector<Field> renamed(before.begin(), before.end());
    for (Field& field : renamed)
      if (field.name == from_) field.name = to_;
    schema = Schema(std::move(renamed));
  }
  const std::string& name_before(const std::string& name) const override { return name == to_ ? from_ : name; }

 private:
  const std::string from_, to_;
};

class RenameStage final : public WorkStage {
 public:
  RenameStage(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  void join(PipelineBuilder& pipeline) const override {
    const std::string label = "rename(" + from_ + ")";
    pipeline.at(from_, label);
    if (pipeline.schema().find(to_))
      throw Error(Errc::invalid_argument,
                  "there is a field \"" + to_ + "\" already; the fields are " + pipeline.schema().to_string())
          .with_stage(label);
    std::vector<Field> fields(pipeline.schema().begin(), pipeline.schema().end());
    for (Field& field : fields)
      if (field.name == from_) field.name = to_;
    pipeline.add_stage("rename", label, "to " + to_, 0, Schema(std::move(fields)));
    if (auto said = pipeline.data().collates.extract(from_)) {
      said.key() = to_;
      pipeline.data().collates.insert(std::move(said));
    }
    if (pipeline.data().bucket && pipeline.data().bucket->field == from_) pipeline.data().bucket->field = to_;
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add_rename(std::make_unique<RenameStep>(bound, from_, to_), from_, to_);
  }
  bool gives(const std::string& field) const override { return field == to_; }
  std::optional<bool> gives_labels(const std::string&) const override { return std::nullopt; }
  std::optional<bool> awaits_resize(const std::string&) const override { return std::nullopt; }
  const std::string& name_before(const std::string& name) const override { return name == to_ ? from_ : name; }

 private:
  const std::string from_, to_;
};

}  // namespace

}  // namespace detail::runtime

Stage rename(std::string from, std::string to) {
  if (to.empty()) throw Error(Errc::invalid_argument, "say the field's new name").with_stage("rename(" + from + ")");
  return detail::make_stage(detail::runtime::RenameStage(std::move(from), std::move(to)));
}

}  // namespace penstock
