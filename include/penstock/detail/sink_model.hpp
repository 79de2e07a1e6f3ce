// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include <penstock/detail/export.hpp>
#include <penstock/detail/optional_member.hpp>
#include <penstock/extend/sample.hpp>
#include <penstock/extend/sink.hpp>

namespace penstock {
class Pipeline;
struct WriteOptions;
struct WriteProgress;
}  // namespace penstock

namespace penstock::detail {

class PENSTOCK_API SinkModel {
 public:
  virtual ~SinkModel() = default;
  virtual void open(const SinkJob& job) = 0;
  virtual bool has(const SinkItem& item) = 0;
  virtual bool has_some() const { return true; }
  virtual void work_on(const SinkThreads& /*threads*/) {}
  virtual void put(const SinkItem& item, Sample& sample) = 0;
  virtual void commit() = 0;
  virtual void finish() = 0;
  virtual std::string name() const = 0;
};
template <class S>
class SinkOf final : public SinkModel {
 public:
  explicit SinkOf(S& sink) : sink_(&sink) {}
  void open(const SinkJob& job) override { sink_->open(job); }
  bool has(const SinkItem& item) override { return sink_->has(item); }
  bool has_some() const override {
    return call_or(true, PENSTOCK_MEMBER(has_some, "bool has_some() const"), std::as_const(*sink_));
  }
  void work_on(const SinkThreads& threads) override {
    call_if(PENSTOCK_MEMBER(work_on, "void work_on(const SinkThreads& threads)"), *sink_, threads);
  }
  void put(const SinkItem& item, Sample& sample) override { sink_->put(item, sample); }
  void commit() override { sink_->commit(); }
  void finish() override { sink_->finish(); }
  std::string name() const override { return sink_->name(); }

 private:
  S* sink_;
};
PENSTOCK_API WriteProgress write(const Pipeline& pipeline, SinkModel& sink, const WriteOptions& options);

}  // namespace penstock::detail
