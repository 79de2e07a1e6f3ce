// What tests of random pipelines share: the library's side of a model::Spec.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "help.hpp"
#include "model.hpp"

namespace random_run {

namespace ps = penstock;
using model::u64;

/// `delays`: some reads take longer than others, by chance. `fold`: of image stages.
ps::Pipeline build(const std::shared_ptr<const model::Spec>& spec, bool delays, bool fold);
/// What a loader brings until `most` events came, or `epochs` are over.
void play(ps::Loader& loader, u64 epochs, std::size_t most, std::vector<model::Event>& events);
/// On one line, for messages.
std::string text(const model::Event& e);
/// Shared by all loaders of so many threads: 1, 2, 3 or 5.
const ps::Executor& executor(unsigned threads);

}  // namespace random_run
