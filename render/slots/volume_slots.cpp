#include "render/slots/volume_slots.h"

#include "compute/error.h"
#include "render/slots/flow_texture.h"

namespace echolux {
namespace {

const char* refusal_of(SlotKind kind) {
    switch (kind) {
        case SlotKind::surface: return "textures are not shared";
        case SlotKind::buffer: return "buffers are not shared";
        case SlotKind::upload: break;
    }
    return "";
}

SlotKind next(SlotKind kind) {
    return kind == SlotKind::surface ? SlotKind::buffer : SlotKind::upload;
}

}  // namespace

VolumeSlots::VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotsWanted& wanted)
    : device_(device), queue_(queue), builder_(builder), patience_(wanted.patience), fetched_(wanted.count) {
    kind_ = wanted.share ? wanted.first : SlotKind::upload;
    while (!memory_) {
        try {
            memory_ = made(kind_, wanted);
        } catch (const Error& error) {
            if (kind_ == SlotKind::upload || error.code() != ErrorCode::device) throw;
            remark_ += (remark_.empty() ? "" : "; ") + (refusal_of(kind_) + (": " + error.problem()));
            kind_ = next(kind_);
        }
    }
}

VolumeSlots::~VolumeSlots() {
    try {
        queue_.wait_for_all();
    } catch (const std::exception&) {  // a lost device has nothing left to wait for
    }
    queue_.set_watch();
}

std::unique_ptr<VolumeSlots::Memory> VolumeSlots::made(SlotKind kind, const SlotsWanted& wanted) const {
    using enum gpu::Sharing;
    const bool shares = kind != SlotKind::upload;
    if (shares && !(device_.exports_memory() && device_.exports_timelines())) {
        throw Error(ErrorCode::device, device_.name() + " exports no memory and timelines", "renderer");
    }
    auto memory = std::make_unique<Memory>(device_, shares ? exported : none);
    for (std::size_t i = 0; i < wanted.count; ++i) {
        const gpu::Sharing sharing = kind == SlotKind::surface ? exported : none;
        memory->textures.push_back(std::make_unique<SlotTextures>(
            SlotTextures{.structure = {device_, wanted.grid, wanted.range, sharing}, .flow = {}}));
        if (!wanted.flow) continue;
        memory->textures.back()->flow.emplace(device_, *wanted.flow, expected_flow(*wanted.flow), sharing);
    }
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        for (const auto& slot : memory->textures) {
            for (const VolumeTexture* texture : slot->all()) {
                texture->record_first_use(commands);
                texture->record_clear(commands);
            }
        }
    });
    const auto& [textures, timelines, source] = *memory;
    switch (kind) {
        case SlotKind::surface:
            memory->source = surface_source(device_, queue_, textures, timelines, wanted.share);
            break;
        case SlotKind::buffer:
            memory->source = buffer_source(device_, queue_, textures, timelines, wanted.share);
            break;
        case SlotKind::upload: memory->source = upload_source(device_, textures, timelines, patience_); break;
    }
    return memory;
}

void VolumeSlots::give_up_writing(std::uint64_t value) noexcept {
    memory_->timelines.written.give_up(value);
}

// A picture that is finished signals by itself, and only what nobody else will signal may be signalled here.
void VolumeSlots::give_up_reading(std::uint64_t value) noexcept {
    try {
        queue_.wait_for_all();
    } catch (const std::exception&) {  // the device is lost
    }
    memory_->timelines.read.give_up(value);
}

std::int64_t VolumeSlots::fetched_to(const ShownSlot& shown) const {
    const ShownSlot& held = fetched_[shown.slot];
    return held.serial == shown.serial ? held.filled_to : 0;
}

// Flow is skipped by its speed either way, phasors never.
void VolumeSlots::record_bricks(const vk::raii::CommandBuffer& commands, std::size_t slot, std::int64_t slices) {
    builder_.record(commands, texture(slot).bricks(), slices, BrickEnds::largest);
    const VolumeTexture* flow_here = flow(slot);
    if (flow_here == nullptr || is_phasor(flow_here->grid())) return;
    builder_.record(commands, flow_here->bricks(), slices, BrickEnds::both);
}

gpu::Chain VolumeSlots::chain(const ShownSlots& shown) {
    if (deserted_) {
        throw Error(ErrorCode::device, "the GPU that reconstructs has stopped answering", "volume ring",
                    "start again, or choose --backend cpu");
    }
    struct Work {
        std::size_t slot;
        std::int64_t first, end;
    };
    std::vector<Work> work;
    const auto add = [&](const ShownSlot& part) {
        work.push_back({part.slot, fetched_to(part), part.filled_to});
        fetched_[part.slot] = part;
    };
    add(shown.newest);
    if (shown.previous) add(*shown.previous);
    awaited_ = shown.wait;
    gpu::Chain chain;
    chain.before = [this, work](const vk::raii::CommandBuffer& commands) {
        for (const Work& part : work) memory_->source->record_fetch(commands, part.slot, part.first, part.end);
        gpu::record_order(commands);
        for (const Work& part : work) {
            if (part.first < part.end) record_bricks(commands, part.slot, part.end);
        }
    };
    chain.after = [this, work](const vk::raii::CommandBuffer& commands) {
        for (const Work& part : work) memory_->source->record_return(commands, part.slot);
    };
    chain.waits = {{memory_->timelines.written.semaphore(), shown.wait}};
    chain.signals = {{memory_->timelines.read.semaphore(), shown.signal}};
    return chain;
}

void VolumeSlots::forget() {
    fetched_.assign(fetched_.size(), {});
}

void VolumeSlots::watch_waits() {
    queue_.set_watch([this] { watch(); });
}

// The GPU that reconstructs may be gone with a value still owed.
void VolumeSlots::watch() {
    const std::array seen{awaited_.load(), memory_->timelines.written.value()};
    const auto now = std::chrono::steady_clock::now();
    if (seen != seen_) seen_at_ = now;
    seen_ = seen;
    if (seen[1] >= seen[0] || now - seen_at_ < patience_) return;
    deserted_ = true;
    memory_->timelines.written.give_up(seen[0]);
}

}  // namespace echolux
