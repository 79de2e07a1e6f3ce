#include <penstock/shard.hpp>

#include <string>

#include <penstock/error.hpp>

#include "stages/stage_model.hpp"

namespace penstock {

Stage shard(Shard part) {
  if (part.world < 1 || part.rank < 0 || part.rank >= part.world)
    throw Error(Errc::invalid_argument, "there is no rank " + std::to_string(part.rank) + " in a world of " +
                                            std::to_string(part.world) + "; ranks go from 0 to `world` - 1")
        .with_stage("shard");
  if (part.steps_per_epoch >> 32 != 0)
    throw Error(Errc::invalid_argument, std::to_string(part.steps_per_epoch) +
                                            " batches an epoch are more than a state can count; it is 2^32 - 1 at most")
        .with_stage("shard");
  return detail::make_stage(part);
}

}  // namespace penstock
