#include "render/slots/volume_slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "render/slots/volume_texture.h"

namespace echolux {
namespace {

constexpr std::int64_t max_recent =
    200;  // each slot takes several of the few thousand allocations that a device allows

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

VolumeSlots::VolumeSlots(const gpu::Device& device, gpu::Queue& queue, BrickBuilder& builder, const SlotRequest& wanted)
    : device_(device), queue_(queue), builder_(builder), timeout_(wanted.timeout), wanted_(wanted.count) {
    kind_ = wanted.share ? wanted.first : SlotKind::upload;
    while (!memory_) {
        try {
            memory_ = make_memory(kind_, wanted);
        } catch (const Error& error) {
            if (kind_ == SlotKind::upload || error.code() != ErrorCode::device) throw;
            remark_ += (remark_.empty() ? "" : "; ") + (refusal_of(kind_) + (": " + error.problem()));
            kind_ = next(kind_);
        }
    }
    fetched_.resize(memory_->slots.size());
}

VolumeSlots::~VolumeSlots() {
    try {
        queue_.wait_for_all();
    } catch (const std::exception&) {  // a lost device has no pending work
    }
    queue_.set_watch();
}

// Writes to host memory that pictures upload. Used if the CPU reconstructs, or a GPU that cannot share memory with the
// display GPU.
class VolumeSlots::HostWriter : public SlotWriter {
  public:
    HostWriter(const Slots& slots, const Timelines& timelines, std::chrono::milliseconds timeout)
        : slots_(slots), timelines_(timelines), timeout_(timeout) {}

    VoxelTargets targets(std::size_t slot) const override {
        const auto& [structure, flow, peaks] = *slots_[slot];
        VoxelTargets targets(structure.target());
        if (flow) targets.flow = flow->target();
        if (peaks) targets.peaks = peaks->peaks();
        return targets;
    }

    // Blocks until pictures have released the slot. Throws Error{device} after `timeout_` without any finished picture.
    void begin(std::size_t, std::uint64_t value) override {
        for (std::uint64_t reached = 0; !timelines_.read.wait(value, timeout_);) {
            const std::uint64_t now = timelines_.read.value();
            if (now == reached) {
                throw Error(ErrorCode::device,
                            fmt::format("no frame was completed within {:.1f} s", 1e-3 * timeout_.count()),
                            "volume ring", "choose a smaller image size or another device");
            }
            reached = now;
        }
    }

    void publish(std::size_t slot, std::uint64_t value, std::int64_t first, std::int64_t end) override {
        slots_[slot]->each([&](const SlotTexture& texture) { texture.store(first, end); });
        timelines_.written.signal(value);
    }

    SettleResult settle(std::chrono::milliseconds) noexcept override { return SettleResult::done; }
    void release_readers(std::uint64_t) noexcept override {}

  private:
    const Slots& slots_;
    const Timelines& timelines_;
    std::chrono::milliseconds timeout_;
};

// Shares the slots with another API on the same GPU. `share` takes ownership of the handles even if it throws.
std::unique_ptr<SlotWriter> VolumeSlots::share_with(const Memory& memory, const Sharer& share) const {
    struct Handles {
        ExportedHandle structure;
        std::optional<ExportedHandle> flow, peaks;
    };
    std::vector<Handles> handles;
    for (const auto& slot : memory.slots) {
        handles.push_back({slot->structure.exported(device_), {}, {}});
        if (slot->flow) handles.back().flow.emplace(slot->flow->exported(device_));
        if (slot->peaks) handles.back().peaks.emplace(slot->peaks->exported(device_));
    }
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        for (const auto& slot : memory.slots) {
            slot->each([&](const SlotTexture& texture) { texture.record_return(commands); });
            if (slot->peaks) slot->peaks->record_return(commands);
        }
    });
    gpu::Handle written = memory.timelines.written.exported();
    gpu::Handle read = memory.timelines.read.exported();
    std::vector<ExportedSlot> facts(handles.size());
    for (std::size_t i = 0; i < facts.size(); ++i) {
        facts[i].structure = handles[i].structure.take();
        if (handles[i].flow) facts[i].flow = handles[i].flow->take();
        if (!handles[i].peaks) continue;
        facts[i].peaks = handles[i].peaks->take();
        facts[i].depths_of_a_peak = memory.slots[i]->peaks->depths();
    }
    return share(facts, {written.release(), device_.id()}, {read.release(), device_.id()});
}

std::unique_ptr<VolumeSlots::Slot> VolumeSlots::make_slot(SlotKind kind, const SlotRequest& wanted) const {
    std::unique_ptr<Slot> slot(
        new Slot{.structure = {device_, wanted.grid, wanted.range, kind}, .flow = {}, .peaks = {}});
    if (wanted.flow) slot->flow.emplace(device_, *wanted.flow, expected_flow(*wanted.flow), kind);
    const Bricks& bricks = slot->structure.texture().bricks();
    if (wanted.peaks && BrickPeaks::fit(device_, wanted.grid, bricks.edge()))
        slot->peaks.emplace(device_, wanted.grid, bricks, kind);
    return slot;
}

// Allocates the requested slots and as many extra ones as fit. Extra slots leave an eighth of the free device memory to
// pictures and tables.
VolumeSlots::Slots VolumeSlots::make_slots(SlotKind kind, const SlotRequest& wanted) const {
    Slots slots;
    while (slots.size() < wanted.count) slots.push_back(make_slot(kind, wanted));
    if (wanted.keep_bytes <= 0) return slots;
    const std::int64_t free = gpu::free_bytes(device_);
    const std::int64_t room = std::min(wanted.keep_bytes, free - free / 8) / slots.front()->bytes();
    const std::size_t count = wanted.count + index(std::clamp<std::int64_t>(room, 0, max_recent));
    try {
        while (slots.size() < count) slots.push_back(make_slot(kind, wanted));
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        // The budget was too optimistic: free an eighth of the extra slots again.
        const std::size_t too_many = (slots.size() - wanted.count + 7) / 8;
        slots.resize(slots.size() - too_many);
    }
    return slots;
}

LiveSlots VolumeSlots::for_writing() const {
    const Slots& slots = memory_->slots;
    return {memory_->writer.get(), kind_, remark_, slots.size() - wanted_, slots.front()->bytes()};
}

std::unique_ptr<VolumeSlots::Memory> VolumeSlots::make_memory(SlotKind kind, const SlotRequest& wanted) const {
    const bool shares = kind != SlotKind::upload;
    if (shares && !(device_.exports_memory() && device_.exports_timelines())) {
        throw Error(ErrorCode::device, device_.name() + " cannot export memory and timelines", "renderer");
    }
    Slots slots = make_slots(kind, wanted);
    queue_.run([&](const vk::raii::CommandBuffer& commands) {
        for (const auto& slot : slots) {
            slot->each([&](const SlotTexture& texture) { texture.record_first_use(commands); });
        }
    });
    const gpu::Sharing sharing = shares ? gpu::Sharing::exported : gpu::Sharing::none;
    std::unique_ptr<Memory> memory(
        new Memory{std::move(slots), {gpu::Timeline(device_, sharing), gpu::Timeline(device_, sharing)}, {}});
    memory->writer = shares ? share_with(*memory, wanted.share)
                            : std::make_unique<HostWriter>(memory->slots, memory->timelines, timeout_);
    return memory;
}

void VolumeSlots::abandon_writing(std::uint64_t value) noexcept {
    if (memory_->writer->settle(timeout_) == SlotWriter::SettleResult::done && kind_ != SlotKind::upload) return;
    memory_->timelines.written.abandon(value);
}

// Finished pictures signal by themselves. The host may only signal values that have no other signaller.
void VolumeSlots::abandon_reading(std::uint64_t value) noexcept {
    try {
        queue_.wait_for_all();
    } catch (const std::exception&) {  // the device is lost
    }
    if (!memory_->timelines.read.abandon(value)) memory_->writer->release_readers(value);
}

// Returns the number of slices that the slot's texture already holds of this volume.
std::int64_t VolumeSlots::fetched_to(const DisplayedSlot& shown) const {
    const DisplayedSlot& held = fetched_[shown.slot];
    return held.serial == shown.serial ? held.filled_to : 0;
}

// Builds the bricks of new slices. Flow is skipped by its speed in either direction; phasors are never skipped.
void VolumeSlots::record_bricks(const vk::raii::CommandBuffer& commands, std::size_t slot, const NewSlices& slices) {
    const Bricks& bricks = texture(slot).bricks();
    if (const auto& peaks = memory_->slots[slot]->peaks) {
        builder_.record_peaks(commands, bricks, peaks->for_bricks(), slices);
    } else {
        builder_.record(commands, bricks, slices, BrickEnds::largest);
    }
    const VolumeTexture* flow_here = flow(slot);
    if (flow_here == nullptr || is_phasor(flow_here->grid())) return;
    builder_.record(commands, flow_here->bricks(), slices, BrickEnds::both);
}

gpu::Chain VolumeSlots::chain(const DisplayedSlots& shown) {
    if (deserted_) {
        throw Error(ErrorCode::device, "the GPU that reconstructs has stopped answering", "volume ring",
                    "restart, or choose `backend` cpu");
    }
    struct Work {
        std::size_t slot;
        std::int64_t first, end;
    };
    std::vector<Work> work;
    const auto add = [&](const DisplayedSlot& part) {
        work.push_back({part.slot, fetched_to(part), part.filled_to});
        fetched_[part.slot] = part;
    };
    add(shown.newest);
    if (shown.previous) add(*shown.previous);
    // For the watchdog, in case the writer never signals this value.
    awaited_ = shown.wait;
    gpu::Chain chain;
    chain.before = [this, work](const vk::raii::CommandBuffer& commands) {
        for (const Work& part : work) {
            memory_->slots[part.slot]->each(
                [&](const SlotTexture& texture) { texture.record_fetch(commands, part.first, part.end); });
            if (const auto& peaks = memory_->slots[part.slot]->peaks)
                peaks->record_fetch(commands, part.first, part.end);
        }
        gpu::record_order(commands);
        for (const Work& part : work) {
            if (part.first < part.end) record_bricks(commands, part.slot, {part.first, part.end});
        }
    };
    chain.after = [this, work](const vk::raii::CommandBuffer& commands) {
        for (const Work& part : work) {
            memory_->slots[part.slot]->each([&](const SlotTexture& texture) { texture.record_return(commands); });
            if (const auto& peaks = memory_->slots[part.slot]->peaks) peaks->record_return(commands);
        }
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

// Watchdog of a blocked queue wait: the reconstructing GPU may be gone while it still owes a value.
void VolumeSlots::watch() {
    const std::array seen{awaited_.load(), memory_->timelines.written.value()};
    const auto now = std::chrono::steady_clock::now();
    if (seen != seen_) seen_at_ = now;
    seen_ = seen;
    if (seen[1] >= seen[0]) return;
    const bool is_dead = memory_->writer->settle({}) == SlotWriter::SettleResult::dead;
    if (!is_dead && now - seen_at_ < timeout_) return;  // a writer that hangs this long is given up like a dead one
    deserted_ = true;
    memory_->timelines.written.abandon(seen[0]);
}

// ---- Slot texture

SlotTexture::SlotTexture(const gpu::Device& device, const VolumeGrid& grid, const ValueRange& range, SlotKind kind)
    : kind_(kind),
      texture_(device, grid, range, kind == SlotKind::surface ? gpu::Sharing::exported : gpu::Sharing::none) {
    if (kind == SlotKind::buffer) buffer_.emplace(device, index(grid.bytes()));
    if (kind != SlotKind::upload) return;
    staging_.emplace(device, index(grid.voxels() * texture_.image().bytes_per_pixel()),
                     vk::BufferUsageFlagBits::eTransferSrc);
    if (is_widened(texture_)) codes_ = std::make_unique<std::byte[]>(index(grid.bytes()));
}

// Counts the texture, and the shared buffer, codes and staging buffer if present.
std::int64_t SlotTexture::bytes() const {
    const VolumeGrid& grid = texture_.grid();
    const std::int64_t stored = grid.voxels() * texture_.image().bytes_per_pixel();
    return stored + (buffer_ || codes_ ? grid.bytes() : 0) + (staging_ ? stored : 0);
}

ExportedHandle SlotTexture::exported(const gpu::Device& device) const {
    const VolumeGrid& grid = texture_.grid();
    return {.facts = {.device = device.id(),
                      .bytes = buffer_ ? buffer_->memory_bytes() : texture_.image().memory_bytes(),
                      .type = grid.type,
                      .depth = grid.depth,
                      .a_scans = grid.a_scans,
                      .b_scans = grid.b_scans,
                      .linear = kind_ == SlotKind::buffer},
            .handle = buffer_ ? buffer_->exported() : texture_.image().exported()};
}

VoxelTarget SlotTexture::target() const {
    const VolumeGrid& grid = texture_.grid();
    const std::int64_t a_scan = grid.depth * bytes_of(grid.type);
    return {.kind = TargetKind::host_linear,
            .data = codes_ ? codes_.get() : staging_->bytes().data(),
            .a_scan_bytes = a_scan,
            .b_scan_bytes = a_scan * grid.a_scans};
}

void SlotTexture::store(std::int64_t first, std::int64_t end) const {
    if (!codes_) return;
    const std::int64_t slice = texture_.grid().depth * texture_.grid().a_scans;
    widen(staging_->bytes().subspan(index(2 * first * slice), index(2 * (end - first) * slice)),
          codes_.get() + first * slice);
}

// Clears the texture, because filtering reads beyond the filled slices.
void SlotTexture::record_first_use(const vk::raii::CommandBuffer& commands) const {
    texture_.record_first_use(commands);
    texture_.record_clear(commands);
}

// Vulkan transfers ownership of whole images only, but rolling publishing shares an image: while a picture owns it for
// the filled slices, the other API writes later slices that no picture reads. The specification does not guarantee that
// these writes are kept. They are kept where both APIs use the same layout, as with the general layout: acquire and
// release then move no voxels. Publishing whole volumes does not depend on this.
void SlotTexture::record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const {
    if (kind_ == SlotKind::surface) return texture_.image().record_acquire(commands);
    if (buffer_) buffer_->record_acquire(commands);
    if (first < end)
        texture_.record_slices_from(commands, buffer_ ? buffer_->handle() : staging_->handle(), first, end);
}

void SlotTexture::record_return(const vk::raii::CommandBuffer& commands) const {
    if (kind_ == SlotKind::surface) texture_.image().record_release(commands);
    if (buffer_) buffer_->record_release(commands);
}

// ---- Slot peaks

constexpr auto usage = vk::BufferUsageFlagBits::eStorageBuffer;

static VolumeGrid grid_of_peaks(VolumeGrid grid, std::int64_t depths) {
    grid.depth = peaks_of(grid.depth, depths);
    grid.spacing_um[0] *= static_cast<double>(depths);
    return grid;
}

SlotPeaks::SlotPeaks(const gpu::Device& device, const VolumeGrid& grid, const Bricks& bricks, SlotKind kind)
    : grid_(grid_of_peaks(grid, bricks.edge())), depths_(bricks.edge()) {
    const std::size_t bytes = BrickPeaks::bytes(grid, bricks.edge());
    if (kind == SlotKind::upload) {
        staging_.emplace(device, bytes, vk::BufferUsageFlagBits::eTransferSrc);
        own_.emplace(device, bytes, usage);
    } else {
        shared_.emplace(device, bytes, usage);
    }
    for_bricks_.emplace(device, bricks, grid, buffer());
}

ExportedHandle SlotPeaks::exported(const gpu::Device& device) const {
    return {.facts = {.device = device.id(),
                      .bytes = shared_->memory_bytes(),
                      .type = grid_.type,
                      .depth = grid_.depth,
                      .a_scans = grid_.a_scans,
                      .b_scans = grid_.b_scans,
                      .linear = true},
            .handle = shared_->exported()};
}

Peaks SlotPeaks::peaks() const {
    return {.target = {.kind = TargetKind::host_linear,
                       .data = staging_->bytes().data(),
                       .a_scan_bytes = grid_.a_scan_bytes(),
                       .b_scan_bytes = grid_.b_scan_bytes()},
            .depths = depths_};
}

void SlotPeaks::record_fetch(const vk::raii::CommandBuffer& commands, std::int64_t first, std::int64_t end) const {
    if (shared_) return shared_->record_acquire(commands);
    if (first == end) return;
    const auto begin = static_cast<vk::DeviceSize>(first * grid_.b_scan_bytes());
    own_->record_part_from(commands, staging_->handle(), begin,
                           static_cast<vk::DeviceSize>(end * grid_.b_scan_bytes()) - begin);
}

void SlotPeaks::record_return(const vk::raii::CommandBuffer& commands) const {
    if (shared_) shared_->record_release(commands);
}

}  // namespace echolux
