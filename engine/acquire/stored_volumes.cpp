#include "engine/acquire/stored_volumes.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/acquire/block_size.h"
#include "engine/memory_budget.h"

namespace echolux {
namespace {

// Sleeps as long as the work took, to leave half of the processor time to the display.
void leave_time(std::chrono::steady_clock::duration worked, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds moment{5};
    const auto end = std::chrono::steady_clock::now() + worked;
    while (!stop.stop_requested() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(moment);
}

}  // namespace

StoredVolumes::StoredVolumes(const Scan& scan, std::int64_t block_b_scans, MemoryKind memory, const Load& load,
                             bool begins_early)
    : geometry_(scan.geometry), layout_(spectra_layout(scan.file, scan.format, scan.geometry, scan.path.string())),
      stamp_(static_cast<std::uint32_t>(layout_.frame_bytes + layout_.flyback_bytes)), block_b_scans_(block_b_scans) {
    if (layout_.frame_offset_bytes != frame_header_bytes) {
        throw Error(ErrorCode::bad_setting,
                    "only recordings of the simulator can be opened as sim:", scan.path.string(),
                    "replay:" + scan.path.string() + " plays it as it was recorded");
    }
    const std::int64_t copies = (volumes_in_use + geometry_.volumes - 1) / geometry_.volumes;
    require_memory(copies * geometry_.volumes * layout_.volume_bytes(), "source",
                   "choose fewer volumes, B-scans or A-scans");
    const std::int64_t loaded = begins_early ? 1 : geometry_.volumes;
    for (std::int64_t volume = 0; volume < copies * geometry_.volumes; ++volume) {
        std::vector<Stored>& blocks = volumes_.emplace_back();
        for (std::int64_t first = 0; first < geometry_.b_scans; first += block_b_scans_) {
            const std::int64_t count = std::min(block_b_scans_, geometry_.b_scans - first);
            blocks.push_back(stored(first, count, memory, [&](std::span<std::byte> bytes) {
                if (volume < loaded) return load(volume, first, count, bytes);
                const auto original = static_cast<std::size_t>(volume % loaded);
                const BlockMemory same = volumes_[original][blocks.size()].memory->take();
                std::memcpy(bytes.data(), same.data, bytes.size());
            }));
        }
    }
    if (loaded == geometry_.volumes) return;
    others_ = std::jthread([this, load](const std::stop_token& stop) {
        try {
            load_others(load, stop);
        } catch (const std::exception&) {  // the first volume keeps replacing the others
        }
    });
}

// Thread function: simulates the other volumes block by block and replaces the copies of the first.
void StoredVolumes::load_others(const Load& load, const std::stop_token& stop) {
    std::vector<std::byte> bytes;
    for (std::int64_t volume = 1; volume < geometry_.volumes; ++volume) {
        std::int64_t first = 0;
        for (std::size_t i = 0; first < geometry_.b_scans; ++i, first += block_b_scans_) {
            if (stop.stop_requested()) return;
            bytes.resize(static_cast<std::size_t>(volumes_[0][i].bytes));
            const auto begun = std::chrono::steady_clock::now();
            load(volume, first, std::min(block_b_scans_, geometry_.b_scans - first), bytes);
            leave_time(std::chrono::steady_clock::now() - begun, stop);
            for (auto copy = static_cast<std::size_t>(volume); copy < volumes_.size();
                 copy += static_cast<std::size_t>(geometry_.volumes)) {
                if (!replace(volumes_[copy][i], bytes, stop)) return;
            }
        }
    }
}

// Waits until the block is not in use and replaces its content. Returns false if stopped.
bool StoredVolumes::replace(Stored& stored, std::span<const std::byte> bytes, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds pause{2};
    while (!stop.stop_requested()) {
        {
            const std::scoped_lock lock(mutex_);
            if (const std::optional<BlockMemory> block = stored.memory->take_below(1)) {
                std::memcpy(block->data, bytes.data(), bytes.size());
                sum_up(stored, block->data);
                return true;
            }
        }
        std::this_thread::sleep_for(pause);
    }
    return false;
}

std::span<std::byte> StoredVolumes::frame_at(std::byte* block, std::int64_t frame) const {
    return {block + frame * layout_.frame_stride() + frame_header_bytes,
            static_cast<std::size_t>(layout_.frame_bytes + layout_.flyback_bytes)};
}

StoredVolumes::Stored StoredVolumes::stored(std::int64_t first, std::int64_t count, MemoryKind memory,
                                            const std::function<void(std::span<std::byte>)>& load) const {
    const bool is_last = first + count == geometry_.b_scans;
    const std::int64_t frames = count * geometry_.b_repeats + (is_last ? geometry_.flyback_frames : 0);
    Stored stored;
    stored.bytes = frames * layout_.frame_stride();
    stored.memory = std::make_unique<BlockPool>(stored.bytes, memory);
    const BlockMemory block = stored.memory->take();
    load({block.data, static_cast<std::size_t>(stored.bytes)});
    stored.frame_crcs.resize(static_cast<std::size_t>(frames));
    sum_up(stored, block.data);
    return stored;
}

// Computes the checksums of all frames, without their headers.
void StoredVolumes::sum_up(Stored& stored, std::byte* block) const {
    parallel_for(0, static_cast<std::int64_t>(stored.frame_crcs.size()), [&](std::int64_t frame) {
        stored.frame_crcs[static_cast<std::size_t>(frame)] = crc32(frame_at(block, frame));
    });
}

// Returns the stored block with new frame headers, or std::nullopt while it is in use.
std::optional<BlockMemory> StoredVolumes::fill(const BlockContent& content) {
    const auto stored_volumes = static_cast<std::int64_t>(volumes_.size());
    const std::int64_t number = (first_ + content.volume) % stored_volumes;
    next_ = (number + 1) % stored_volumes;
    std::vector<Stored>& volume = volumes_[static_cast<std::size_t>(number)];
    Stored& stored = volume[static_cast<std::size_t>(content.first_b_scan / block_b_scans_)];
    const std::scoped_lock lock(mutex_);
    std::optional<BlockMemory> memory = stored.memory->take_below(1);
    if (!memory) return std::nullopt;
    memory->bytes = stored.bytes;
    for (std::size_t frame = 0; frame < stored.frame_crcs.size(); ++frame) {
        const auto offset = static_cast<std::int64_t>(frame);
        const auto header = stamp_.header(static_cast<std::uint64_t>(content.first_frame + offset),
                                          content.time_s(offset), stored.frame_crcs[frame]);
        std::memcpy(memory->data + offset * layout_.frame_stride(), header.data(), header.size());
    }
    return memory;
}

}  // namespace echolux
