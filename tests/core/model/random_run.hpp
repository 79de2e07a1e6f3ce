// SPDX-License-Identifier: Apache-2.0
// What tests of random pipelines share: the library's side of a model::Spec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/help.hpp"
#include "core/model/model.hpp"

namespace random_run {

namespace ps = penstock;
using model::u64;

/// `delays`: some reads take longer than others, by chance. `fold`: of image stages.
ps::Pipeline build(const std::shared_ptr<const model::Spec>& spec, bool delays, bool fold);
/// A loader refuses it, as no batch can ever come of it.
bool never_comes(const ps::Pipeline& pipeline);
/// What a loader brings until `most` events came, or `epochs` are over.
void play(ps::Loader& loader, u64 epochs, std::size_t most, std::vector<model::Event>& events);
/// The event on one line, for messages.
std::string text(const model::Event& e);
/// 1, 2, 3 or 5 threads and a depth, the same for the same two numbers. Threads are shared with all other loaders. Now
/// and then an emulated device, for pipelines that can have one; and settings that change all the time.
ps::LoaderOptions some_options(u64 seed, u64 salt);

struct Seeds {
  u64 first, count;
};
/// Those to run: `usual` many from `first` on, unless PENSTOCK_SEED names another first, which is then the only one, or
/// PENSTOCK_RUNS another number.
Seeds seeds(u64 first, u64 usual);

}  // namespace random_run
