// SPDX-License-Identifier: Apache-2.0
#include <memory>
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

class SelectFieldsStage final : public WorkStage {
 public:
  explicit SelectFieldsStage(std::vector<std::string> names) : names_(std::move(names)) {}
  void join(PipelineBuilder& pipeline) const override {
    std::vector<Field> fields;
    std::string names;
    for (const std::string& n : names_) {
      fields.push_back(pipeline.at(n, "select_fields"));
      names += (names.empty() ? "" : ", ") + n;
    }
    pipeline.keep_fields("select_fields", std::move(names), Schema(std::move(fields)));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<SelectStep>(bound));
  }

 private:
  const std::vector<std::string> names_;
};

class DropFieldsStage final : public WorkStage {
 public:
  explicit DropFieldsStage(std::vector<std::string> names) : names_(std::move(names)) {}
  void join(PipelineBuilder& pipeline) const override {
    Schema left = pipeline.schema();
    std::string names;
    for (const std::string& n : names_) {
      pipeline.at(n, "drop_fields");
      if (left.find(n)) left = left.without(n);
      names += (names.empty() ? "" : ", ") + n;
    }
    if (left.size() == 0)
      throw Error(Errc::invalid_argument, "no field would be left of " + pipeline.schema().to_string())
          .with_stage("drop_fields");
    pipeline.keep_fields("drop_fields", std::move(names), std::move(left));
  }
  void compile(const BoundStage& bound, ChainCompiler& chain) const override {
    chain.add(std::make_unique<SelectStep>(bound));
  }

 private:
  const std::vector<std::string> names_;
};

}  // namespace

}  // namespace detail::runtime

Stage select_fields(std::vector<std::string> names) {
  if (names.empty()) throw Error(Errc::invalid_argument, "name at least one field to keep").with_stage("select_fields");
  return detail::make_stage(detail::runtime::SelectFieldsStage(std::move(names)));
}

Stage drop_fields(std::vector<std::string> names) {
  if (names.empty())
    throw Error(Errc::invalid_argument, "name at least one field to leave out").with_stage("drop_fields");
  return detail::make_stage(detail::runtime::DropFieldsStage(std::move(names)));
}

}  // namespace penstock
