#include "render/vk/timestamps.h"

namespace echolux::gpu {
namespace {

constexpr std::uint32_t start = 0, stop = 1, marks = 2;

void record_mark(const vk::raii::CommandBuffer& commands, vk::QueryPool pool, std::uint32_t mark) {
    commands.writeTimestamp2(vk::PipelineStageFlagBits2::eAllCommands, pool, mark);
}

}  // namespace

// timestampPeriod is in ns per tick.
Stopwatch::Stopwatch(const Device& device)
    : valid_bits_(device.physical().getQueueFamilyProperties()[device.queue_family()].timestampValidBits),
      tick_s_(1e-9 * static_cast<double>(device.physical().getProperties().limits.timestampPeriod)),
      pool_(device.logical(), vk::QueryPoolCreateInfo{.queryType = vk::QueryType::eTimestamp, .queryCount = marks}) {}

void Stopwatch::record_start(const vk::raii::CommandBuffer& commands) const {
    if (valid_bits_ == 0) return;
    commands.resetQueryPool(*pool_, 0, marks);
    record_mark(commands, *pool_, start);
}

void Stopwatch::record_stop(const vk::raii::CommandBuffer& commands) const {
    if (valid_bits_ > 0) record_mark(commands, *pool_, stop);
}

Chain Stopwatch::around(const Chain& chain, bool begins, bool ends) const {
    Chain part;
    if (begins) {
        part.waits = chain.waits;
        part.before = [this, before = chain.before](const vk::raii::CommandBuffer& commands) {
            record_start(commands);
            if (before) before(commands);
        };
    }
    if (ends) {
        part.signals = chain.signals;
        part.after = [this, after = chain.after](const vk::raii::CommandBuffer& commands) {
            record_stop(commands);
            if (after) after(commands);
        };
    }
    return part;
}

std::optional<double> Stopwatch::seconds() const {
    if (valid_bits_ == 0) return {};
    const auto [result, ticks] = pool_.getResults<std::uint64_t>(0, marks, marks * sizeof(std::uint64_t),
                                                                 sizeof(std::uint64_t), vk::QueryResultFlagBits::e64);
    if (result != vk::Result::eSuccess) return {};
    // Timestamps wrap around at 2^valid_bits.
    const std::uint64_t valid = valid_bits_ == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << valid_bits_) - 1;
    return static_cast<double>((ticks[stop] - ticks[start]) & valid) * tick_s_;
}

}  // namespace echolux::gpu
