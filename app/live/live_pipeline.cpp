#include "app/live/live_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/open/show_opened.h"
#include "compute/error.h"
#include "compute/invalid_lines.h"
#include "compute/missing_voxels.h"
#include "compute/plan/describe.h"
#include "compute/plural.h"
#include "engine/memory.h"
#include "render/scan_geometry.h"

namespace echolux {

// ---- Ring

void LiveRing::require_built() const {
    if (slots) return;
    throw Error(ErrorCode::device, "the graphics and compute devices could not be restarted " + failure, "volume path",
                "restart, or choose `backend` cpu");
}

std::string recent_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none) {
    const double gb = 1e-9 * static_cast<double>(slots.slot_bytes);
    if (slots.kept > 0) {
        return fmt::format("keeping the last {} in {:.3g} GB of memory",
                           plural(static_cast<std::int64_t>(slots.kept), "volumes"),
                           gb * static_cast<double>(slots.kept));
    }
    if (!why_none.empty()) return "cannot keep volumes: " + why_none;
    return fmt::format("cannot keep volumes: one takes {:.3g} GB; {}", gb,
                       keep_bytes < slots.slot_bytes ? "raise `source.keep_gb` or make volumes smaller"
                                                     : "not enough memory is free; make volumes smaller");
}

// ---- Feeder

namespace {

constexpr std::size_t max_in_flight = 64;      // blocks; more than any reconstructor has in flight
constexpr std::int64_t rehearsed_blocks = 32;  // reach every stream of several GPUs

// Range of values that the codes can hold. For floats, the range in the recipe.
ValueRange range_of(const VolumeGrid& grid, const Recipe& recipe) {
    const auto codes = [&](double first, double last) {
        return ValueRange{first * grid.scale + grid.offset, last * grid.scale + grid.offset};
    };
    switch (grid.type) {
        case VoxelType::u8: return codes(0, 255);
        case VoxelType::u16: return codes(0, 65535);
        case VoxelType::i16: return codes(-32767, 32767);
        default: return recipe.low < recipe.high ? ValueRange{recipe.low, recipe.high} : ValueRange{};
    }
}

bool spans_the_same(const ValueRange& a, const ValueRange& b) {
    return a.low == b.low && a.high == b.high;
}

const char* transfer_path_to(SlotKind kind) {
    switch (kind) {
        case SlotKind::surface: return "into textures of";
        case SlotKind::buffer: return "into buffers, copied to textures on";
        case SlotKind::upload: break;
    }
    return "uploaded to";
}

}  // namespace

LiveFeeder::LiveFeeder(LiveRing& ring, const ReconstructionSpec& plan, const BackendChoice& backend,
                       const LivePipelineOptions& options)
    : live_(ring), options_(options), pairing_(paired_with(ring.renderer, backend)), recovery_(pairing_.backend),
      postprocessor_([this](const VolumeStamp& stamp, const GpuPostprocessor::Write& write) { show(stamp, write); },
                     options.postprocessed),
      maker_([this](ReconstructionSpec& wanted) { return make_reconstructor_for(wanted); }) {
    check_tissue(options.tissue);
    postprocessor_.set(options.tissue);
    live_.plan.spec = plan;
    build();
    try {
        rehearse();
    } catch (...) {
        recover();
    }
}

LiveFeeder::~LiveFeeder() {
    try {
        abandon();
        postprocessor_.cancel();
        wait_for_blocks();
    } catch (const std::exception&) {  // its blocks are lost with the device
    }
}

LiveFeeder::Pairing LiveFeeder::paired_with(const Renderer& renderer, BackendChoice backend) {
    if (backend.backend == Backend::cpu) return {backend};
    const GpuSurvey& survey = surveyed_gpus();
    if (survey.usable.empty()) return {backend};
    const bool draws = std::ranges::find(survey.usable, renderer.device_id(), &Gpu::id) != survey.usable.end();
    if (backend.gpu == DeviceId{}) backend.gpu = draws ? renderer.device_id() : survey.usable.front().id;
    const std::vector<DeviceId> gpus = chosen_gpus(backend, survey);
    backend.keeps_times = gpus.size() > 1;
    if (draws) return {backend, true, remark_on(gpus, renderer)};
    return {backend, false, renderer.device_name() + " is not the GPU that reconstructs"};
}

void LiveFeeder::build() {
    activate({live_.plan.spec, options_.reconstructor(live_.plan.spec, recovery_.backend()), plan_in_use_});
}

// Called on the thread that makes plans.
// Reconstructs zeros into a slot that is not published. CUDA loads a kernel on its first launch, which can take longer
// than a fast source needs for a volume.
void LiveFeeder::rehearse() {
    if (reconstructor_->backend() != Backend::cuda) return;
    const ReconstructionSpec& spec = live_.plan.spec;
    const ScanGeometry& geometry = spec.geometry;
    const std::int64_t b_scan_bytes =
        geometry.b_repeats * geometry.lines_per_b_scan() * line_bytes(spec.format, geometry);
    const BlockMemory memory = block_memory(spec.block_b_scans * b_scan_bytes);
    std::fill_n(memory.data, memory.bytes, std::byte{});
    ticket_ = live_.ring->acquire_write({});
    live_.slots->writer->begin(ticket_->slot, ticket_->wait);
    const std::int64_t end = std::min(geometry.b_scans, rehearsed_blocks * spec.block_b_scans);
    for (std::int64_t first = 0; first < end; first += spec.block_b_scans) {
        Block block;
        block.data = memory.data;
        block.memory = memory.kind;
        block.keeper = memory.keeper;
        block.first_b_scan = first;
        block.b_scans = std::min(spec.block_b_scans, geometry.b_scans - first);
        block.bytes = block.b_scans * b_scan_bytes;
        submit(block);
    }
    wait_for_blocks();
    publish(0, 0);
    live_.ring->release(*ticket_);
    ticket_.reset();
}

ChosenReconstructor LiveFeeder::make_reconstructor_for(ReconstructionSpec& plan) const {
    if (options_.complete) options_.complete(plan);
    std::unique_lock lock(live_.exchanging);
    const BackendChoice backend = recovery_.backend();
    lock.unlock();
    return options_.reconstructor(plan, backend);
}

bool LiveFeeder::fits(const Reconstructor& coming) const {
    return coming.grid() == live_.grid && coming.flow_grid() == live_.flow_grid;
}

void LiveFeeder::install(ChosenReconstructor chosen) {
    reconstructor_ = std::move(chosen.reconstructor);
    choice_ = std::move(chosen.reason);
    if (fits(*reconstructor_)) return;  // the drawing thread reads the grids, so leave equal ones alone
    live_.grid = reconstructor_->grid();
    live_.flow_grid = reconstructor_->flow_grid();
}

// If this throws, the old slots remain. They are replaced before slots for kept volumes are allocated, because those
// take all remaining memory. If the latter cannot be allocated, no volumes are kept.
LiveFeeder::CreatedSlots LiveFeeder::slots_for(const Reconstructor& coming, const ReconstructionSpec& plan) {
    const bool shares = coming.backend() == Backend::cuda && pairing_.shares;
    SlotRequest wanted{.grid = coming.grid(),
                       .flow = coming.flow_grid(),
                       .peaks = true,
                       .range = range_of(coming.grid(), plan.recipe),
                       .count = options_.slots,
                       .first = options_.first_kind,
                       .share = shares ? options_.share : Sharer{}};
    if (options_.keep_bytes <= 0) return {live_.renderer.make_slots(wanted)};
    std::optional<LiveSlots> without;
    if (live_.slots) without = live_.renderer.make_slots(wanted);
    wanted.keep_bytes = shares ? options_.keep_bytes : std::min(options_.keep_bytes, available_memory_bytes() / 2);
    try {
        return {live_.renderer.make_slots(wanted)};
    } catch (const std::exception& error) {
        if (!without) throw;
        return {*without, error.what()};
    }
}

void LiveFeeder::report_recent(const std::string& why_none, bool had_some) {
    if (options_.keep_bytes <= 0) return;
    const std::string gone = had_some ? "; volumes of another size were discarded" : "";
    const std::string line = recent_line(*live_.slots, options_.keep_bytes, why_none);
    const std::scoped_lock lock(report_mutex_);
    news_.push_back({line + gone, live_.slots->kept == 0, "kept"});
}

// Activates the pending plan with new slots. If they cannot be allocated, nothing changes.
void LiveFeeder::activate(PreparedPlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const VolumeGrid grid = coming.grid();
    Renderer& renderer = live_.renderer;
    const bool on_gpu = coming.backend() == Backend::cuda;
    const bool had_recent = live_.ring && !live_.ring->kept().empty();
    const CreatedSlots slots = slots_for(coming, made.spec);
    live_.slots = slots.slots;
    live_.ring = std::make_shared<VolumeRing>(options_.slots, grid.b_scans, options_.publishing, live_.slots->kept);
    live_.pause.reset();
    ++live_.generation;
    report_recent(slots.why_none_recent, had_recent);
    live_.plan = {made.spec, made.number};
    plan_in_use_ = made.number;
    const bool keeps_shape = grid == live_.grid;
    install(std::move(made.chosen));
    if (!keeps_shape && live_.has_heights.exchange(false)) renderer.set_heights({});
    renderer.set_poses(poses_of(live_.plan.spec.geometry, live_.grid.b_scans));
    described_ = fmt::format("{} {} {}", reconstructor_->backend_description(), transfer_path_to(live_.slots->kind),
                             renderer.device_name());
    const std::string pairing = on_gpu ? pairing_.remark : std::string{};
    for (const std::string& remark : {live_.failure, choice_, pairing, live_.slots->remark}) {
        if (!remark.empty()) described_ += "; " + remark;
    }
    live_.description = described_;
}

bool LiveFeeder::take_change(SwapPoint swap_point) {
    const bool is_other_tissue = swap_point == SwapPoint::between_volumes && take_tissue();
    std::uint64_t number = 0;
    try {
        std::optional<PreparedPlan> made = maker_.take();
        if (!made) return is_other_tissue;
        number = made->number;
        return exchange_plan(swap_point, std::move(*made)) || is_other_tissue;
    } catch (...) {
        plan_refused_ = number > 0 ? number : maker_.failed();
        throw;
    }
}

bool LiveFeeder::exchange_plan(SwapPoint swap_point, PreparedPlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const bool keeps_slots =
        reconstructor_ && fits(coming) && coming.backend() == reconstructor_->backend() &&
        spans_the_same(range_of(live_.grid, made.spec.recipe), range_of(live_.grid, live_.plan.spec.recipe));
    if (!keeps_slots && swap_point == SwapPoint::within_volume) {
        maker_.put_back(std::move(made));
        return false;
    }
    wait_for_blocks();
    if (!keeps_slots) {
        abandon();
        postprocessor_.cancel();
    }
    const std::scoped_lock lock(live_.exchanging);
    if (!keeps_slots) {
        activate(std::move(made));
        return true;
    }
    live_.plan = {made.spec, made.number};
    plan_in_use_ = made.number;
    install(std::move(made.chosen));
    return true;
}

// plan_refused_ is read first: no plan before it can become active afterwards.
PlanStatus LiveFeeder::plan_status() const {
    const std::uint64_t refused = plan_refused_;
    return {maker_.wanted(), refused, plan_in_use_};
}

SlotKind LiveFeeder::kind() const {
    const std::scoped_lock lock(live_.exchanging);
    live_.require_built();
    return live_.slots->kind;
}

std::string LiveFeeder::describe() const {
    const std::scoped_lock lock(live_.exchanging);
    live_.require_built();
    return live_.description;
}

RingStatistics LiveFeeder::statistics() const {
    const std::scoped_lock lock(live_.exchanging);
    return live_.ring->statistics();
}

bool LiveFeeder::feed(const Block& block) try {
    live_.require_built();
    postprocessor_.rethrow();
    if ((ticket_ || staged_) && !is_next(block)) abandon();
    if (block.first_b_scan == 0) begin(block);
    if (!ticket_ && !staged_) {
        reconstructor_->prime(block);
        return false;
    }
    submit(block);
    hand_over(block);
    return true;
} catch (...) {
    return recover();
}

// A volume that is being written is abandoned first, because the reworked one is on the screen.
bool LiveFeeder::reprocess(const Block& block) try {
    live_.require_built();
    abandon();
    if (!postprocessor_.settings().is_empty_recipe()) return false;  // processing needs whole volumes
    postprocessor_.cancel();
    {
        const std::scoped_lock lock(live_.exchanging);  // no picture is being submitted
        ticket_ = live_.ring->acquire_rewrite(block.volume);
    }
    if (!ticket_) return false;
    live_.slots->writer->begin(ticket_->slot, ticket_->wait);
    submit(block);
    const std::int64_t slices = live_.grid.b_scans / live_.plan.spec.geometry.b_scans;
    publish(block.first_b_scan * slices, (block.first_b_scan + block.b_scans) * slices);
    live_.ring->hand_over_rewrite(*ticket_);
    ticket_.reset();
    return true;
} catch (...) {
    return recover();
}

void LiveFeeder::collect() try {
    if (!live_.slots) return;
    postprocessor_.rethrow();
    reconstructor_->collect();
} catch (...) {
    recover();
}

// Call while an exception is handled. Restores the devices if it is theirs, and returns false: pending blocks are lost.
// Otherwise rethrows it.
bool LiveFeeder::recover() {
    if (!live_.slots) throw;
    abandon();
    try {
        throw;
    } catch (const Error& error) {
        if (!recovers(error)) throw;
    }
    return false;
}

bool LiveFeeder::recovers(const Error& error) {
    if (replaces_reconstructor(error)) return true;
    const Backend processor = reconstructor_ ? reconstructor_->backend() : Backend::cpu;
    if (!GpuRecovery::is_of_gpu(error, processor)) return false;
    postprocessor_.clear();
    live_.renderer.abandon_writing(live_.ring->written_submitted());  // pictures continue
    const std::scoped_lock lock(live_.exchanging);
    if (!recovery_.recovers(error, processor)) return false;
    live_.renderer.abandon_reading(live_.ring->read_submitted());
    live_.failure = "after a failure: " + error.problem();
    live_.slots.reset();
    in_flight_.clear();
    reconstructor_.reset();
    live_.has_heights = false;
    live_.renderer.clear();  // free the GPU memory of the old slots before trying again
    build();
    return true;
}

bool LiveFeeder::is_next(const Block& block) const {
    return block.volume == stamp_.volume && block.first_b_scan == next_b_scan_;
}

void LiveFeeder::begin(const Block& block) {
    stamp_ = {.volume = block.volume, .time_s = block.time_s, .plan = plan_in_use_};
    next_b_scan_ = published_to_ = 0;
    if (begin_staged(block)) return;
    postprocessor_.cancel();
    ticket_ = live_.ring->acquire_write(stamp_);
    if (ticket_) live_.slots->writer->begin(ticket_->slot, ticket_->wait);
}

VoxelTargets LiveFeeder::targets() const {
    return staged_ ? *staged_ : live_.slots->writer->targets(ticket_->slot);
}

// Passes on a whole volume, or each block with Publishing::rolling.
void LiveFeeder::hand_over(const Block& block) {
    next_b_scan_ += block.b_scans;
    const ScanGeometry& geometry = live_.plan.spec.geometry;
    const bool is_last = next_b_scan_ == geometry.b_scans;
    if (is_last) note_device_work();
    if (staged_) {
        if (!is_last) return;
        wait_for_blocks();
        postprocessor_.hand_over();
        return staged_.reset();
    }
    if (is_last || options_.publishing == Publishing::rolling) {
        const std::int64_t end = next_b_scan_ * (live_.grid.b_scans / geometry.b_scans);
        publish(published_to_, end);
        published_to_ = end;
        live_.ring->hand_over(*ticket_, end);
    }
    if (is_last) ticket_.reset();
}

void LiveFeeder::submit(const Block& block) {
    if (in_flight_.size() == max_in_flight) {
        reconstructor_->wait(in_flight_.front());  // finished long ago
        in_flight_.pop_front();
    }
    const VoxelTargets to = targets();
    in_flight_.push_back(reconstructor_->submit(block, to));
    if (to.structure.kind != TargetKind::host_linear || staged_) return;
    if (!can_be_nan(live_.grid.type) && !(live_.flow_grid && can_be_nan(live_.flow_grid->type))) return;
    const bool has_gaps = is_missing(block) ||
                          (block.memory != MemoryKind::device &&
                           find_invalid_lines(live_.plan.spec.format, live_.plan.spec.geometry, block, invalid_) > 0);
    if (!has_gaps) return;
    wait_for_blocks();  // NaN in memory that goes into textures becomes a number
    replace_missing(live_.plan.spec, live_.grid, live_.flow_grid, block, to);
}

void LiveFeeder::publish(std::int64_t first, std::int64_t end) {
    if (live_.slots->kind == SlotKind::upload) wait_for_blocks();  // on a GPU, the streams keep the order
    live_.slots->writer->publish(ticket_->slot, ticket_->signal, first, end);
}

// Work already submitted for the volume must finish before its slot is written again.
void LiveFeeder::abandon() {
    if (staged_) {
        for (; !in_flight_.empty(); in_flight_.pop_front()) {
            try {
                reconstructor_->wait(in_flight_.front());
            } catch (const std::exception&) {  // the volume is lost anyway
            }
        }
        postprocessor_.drop();
        staged_.reset();
    }
    if (!ticket_) return;
    try {
        publish(published_to_, published_to_);
    } catch (const Error&) {  // a lost device writes no more
    }
    live_.ring->abandon(*ticket_);
    ticket_.reset();
}

void LiveFeeder::finish() {
    wait_for_blocks();
}

void LiveFeeder::wait_for_blocks() {
    for (; !in_flight_.empty(); in_flight_.pop_front()) reconstructor_->wait(in_flight_.front());
}

// ---- Feeder: several devices that share a live volume: transfer of voxels to the drawing GPU, work of each device,
// and failure of one.

// Returns a remark if the path from other GPUs to the drawing GPU is not the fastest possible.
std::string LiveFeeder::remark_on(const std::vector<DeviceId>& gpus, const Renderer& renderer) {
    const DeviceId& draws = renderer.device_id();
    const auto far = std::ranges::count_if(gpus, [&](const DeviceId& gpu) { return !reaches(gpu, draws); });
    if (far > 0) {
        return fmt::format("{} cannot reach the memory of {}: voxels go through pinned host memory",
                           plural(far, "GPUs"), renderer.device_name());
    }
    const bool takes_part = std::ranges::find(gpus, draws) != gpus.end();
    return takes_part ? "" : renderer.device_name() + " renders alone: voxels are copied to it";
}

// Excludes one of several devices after an error, unless it is the drawing one. Slots and pictures stay as they are.
bool LiveFeeder::replaces_reconstructor(const Error& error) {
    if (!reconstructor_ || !reconstructor_->continues_after(error)) return false;
    if (live_.slots->writer->settle({}) == SlotWriter::SettleResult::dead) return false;
    postprocessor_.clear();
    in_flight_.clear();
    const std::vector<DeviceWork> devices = reconstructor_->device_work();
    {
        const std::scoped_lock lock(live_.exchanging);
        recovery_.leave_out_failed(devices);
        live_.description = described_ + "; " + left_out(devices);
    }
    note_device_work();
    const std::scoped_lock lock(report_mutex_);
    news_.push_back({left_out(devices), true, "devices"});
    return true;
}

void LiveFeeder::note_device_work() {
    std::vector<DeviceWork> work = reconstructor_->device_work();
    const std::scoped_lock lock(report_mutex_);
    device_work_.swap(work);
}

std::vector<DeviceWork> LiveFeeder::device_work() const {
    const std::scoped_lock lock(report_mutex_);
    return device_work_;
}

std::vector<BlockSink::SinkMessage> LiveFeeder::take_messages() {
    std::vector<SinkMessage> news = postprocessor_.log().take_messages();
    const std::scoped_lock lock(report_mutex_);
    for (SinkMessage& one : std::exchange(news_, {})) news.push_back(std::move(one));
    return news;
}

// ---- Feeder: processing of volumes before they are shown

// Returns true if the volume goes to the stage or is skipped there. If the stage has no memory, volumes are shown
// unprocessed.
bool LiveFeeder::begin_staged(const Block& block) {
    if (postprocessor_.settings().is_empty_recipe()) return false;
    std::optional<DeviceId> gpu;
    if (reconstructor_->backend() == Backend::cuda)
        gpu = pairing_.shares ? live_.renderer.device_id() : recovery_.backend().gpu;
    if (std::exchange(staged_volume_, block.volume) == block.volume)
        postprocessor_.cancel();  // again, with other settings
    try {
        staged_ = postprocessor_.begin(stamp_, live_.grid, live_.flow_grid, gpu);
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        PostprocessingResult none{.volume = block.volume,
                                  .was_to_be_stabilised = postprocessor_.settings().stabilises,
                                  .was_to_be_filtered = postprocessor_.settings().filters,
                                  .rows = {},
                                  .unsteady = error.line(),
                                  .unsmooth = error.line(),
                                  .provenance = {}};
        postprocessor_.log().note(none, 0);
        return false;
    }
}

// Runs on the processing thread while nothing else writes to the ring.
void LiveFeeder::show(const VolumeStamp& stamp, const GpuPostprocessor::Write& write) {
    std::optional<WriteTicket> ticket = live_.ring->acquire_write(stamp);
    if (!ticket) return;  // counted as dropped
    SlotWriter& writer = *live_.slots->writer;
    try {
        writer.begin(ticket->slot, ticket->wait);
        write(writer.targets(ticket->slot));
        writer.publish(ticket->slot, ticket->signal, 0, live_.grid.b_scans);
    } catch (...) {
        live_.ring->abandon(*ticket);
        throw;
    }
    live_.ring->hand_over(*ticket, live_.grid.b_scans);
}

void LiveFeeder::set_tissue(const LiveTissue& tissue) {
    check_tissue(tissue);
    const std::scoped_lock lock(wanting_);
    wanted_tissue_ = tissue;
}

bool LiveFeeder::take_tissue() {
    const std::scoped_lock lock(wanting_);
    if (!wanted_tissue_) return false;
    postprocessor_.set(*std::exchange(wanted_tissue_, std::nullopt));
    return true;
}

// ---- Display

static DisplayedSlot slot_of(const ReadTicket::Part& part) {
    return {part.slot, part.serial, part.filled_to};
}

// A read ticket in use, and whether device work that reads its slots has been submitted.
struct LiveDisplay::Reading {
    const ReadTicket& ticket;
    bool submitted = false;
    bool is_copy = false;  // copy to the host, which is not a shown picture

    DisplayedSlots slots() {
        DisplayedSlots shown{.newest = slot_of(ticket.newest),
                             .previous = {},
                             .wait = ticket.wait,
                             .signal = ticket.signal,
                             .submitted = &submitted};
        if (ticket.previous) shown.previous = slot_of(*ticket.previous);
        return shown;
    }
    bool is_whole(const VolumeGrid& grid) const { return ticket.newest.filled_to == grid.b_scans; }
};

void LiveDisplay::abandon_reading() noexcept {
    const std::scoped_lock lock(live_.exchanging);
    if (live_.slots) live_.renderer.abandon_reading(live_.ring->read_submitted());
}

std::uint64_t LiveDisplay::news() const {
    const std::scoped_lock lock(live_.exchanging);
    return (live_.generation << 40) + static_cast<std::uint64_t>(live_.ring->statistics().handed_over);
}

// After each error of the renderer: if its device is lost, the reconstructing GPU may be waiting for pictures that will
// never finish, so it is released.
void LiveDisplay::release_after(const std::exception& problem) noexcept {
    const auto* error = dynamic_cast<const Error*>(&problem);
    if (error != nullptr && error->code() == ErrorCode::device) abandon_reading();
}

bool LiveDisplay::is_finished(const LivePicture& picture) try {
    return live_.renderer.is_finished(picture.drawing);
} catch (const std::exception& error) {
    release_after(error);
    throw;
}

void LiveDisplay::wait(const LivePicture& picture) try {
    live_.renderer.wait(picture.drawing);
} catch (const std::exception& error) {
    release_after(error);
    throw;
}

Image LiveDisplay::read(const LivePicture& picture) try {
    return live_.renderer.read(picture.drawing);
} catch (const std::exception& error) {
    release_after(error);
    throw;
}

// `exchanging` must be held.
std::optional<std::uint64_t> LiveDisplay::paused_at() const {
    if (!live_.pause) return {};
    return live_.pause->serial;
}

// Locks the members of the ring. While they are being replaced, at_once() returns without the lock, and read_slots()
// returns std::nullopt.
std::unique_lock<std::mutex> LiveDisplay::waiting() const {
    return std::unique_lock(live_.exchanging);
}

std::unique_lock<std::mutex> LiveDisplay::at_once() const {
    return {live_.exchanging, std::try_to_lock};
}

// Calls `read` with the slots of a kept volume or of the one shown, and reports the outcome to the ring.
template <class Read>
auto LiveDisplay::read_slots(std::unique_lock<std::mutex> lock, const Read& read, std::optional<std::uint64_t> serial) {
    std::optional<decltype(read(std::declval<Reading&>()))> result;
    if (!lock) return result;
    live_.require_built();
    const std::optional<ReadTicket> ticket = live_.ring->acquire_read(serial ? serial : paused_at());
    if (!ticket) return result;
    Reading reading{*ticket};
    try {
        result = read(reading);
    } catch (const std::exception& error) {
        live_.ring->abandon(*ticket);
        lock.unlock();
        release_after(error);
        throw;
    }
    if (!reading.submitted)
        live_.ring->abandon(*ticket);
    else if (reading.is_copy)
        live_.ring->copied(*ticket);
    else
        live_.ring->submitted(*ticket);
    return result;
}

void LiveDisplay::set_heights(const HeightMaps& maps) try {
    const std::scoped_lock lock(live_.exchanging);
    live_.renderer.set_heights(maps);
    live_.has_heights = !maps.empty();
} catch (const std::exception& error) {
    release_after(error);
    throw;
}

bool LiveDisplay::has_flow() const {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.flow_grid.has_value();
}

// Uses a separate read ticket: colours follow a volume after its first picture.
void LiveDisplay::look_at_flow() {
    read_slots(at_once(), [&](Reading& reading) {
        live_.renderer.look_at_flow(reading.slots());
        return true;
    });
}

std::optional<FlowScale> LiveDisplay::flow_scale(const View& view) {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.slots ? live_.renderer.flow_scale(view) : std::nullopt;
}

std::optional<LivePicture> LiveDisplay::picture(const View& view) {
    if (has_flow()) look_at_flow();
    return read_slots(waiting(), [&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return LivePicture{live_.renderer.draw(view, reading.slots()), newest.stamp, newest.filled_to,
                           reading.is_whole(live_.grid)};
    });
}

VolumeDownload LiveDisplay::coming_of(Reading& reading) {
    reading.is_copy = true;
    const ReadTicket::Part& newest = reading.ticket.newest;
    return {{newest.stamp, newest.filled_to, live_.grid, {}, live_.plan.spec},
            [this, voxels = live_.renderer.copy_slot(reading.slots())] {
                try {
                    return voxels();
                } catch (const std::exception& error) {
                    release_after(error);
                    throw;
                }
            }};
}

std::optional<VolumeDownload> LiveDisplay::begin_reading_volume() {
    return read_slots(waiting(), [&](Reading& reading) { return coming_of(reading); });
}

std::optional<VolumeDownload> LiveDisplay::begin_reading_recent(const RecentHold& hold, std::uint64_t serial) {
    std::unique_lock lock = waiting();
    if (!hold.is_of(live_.ring))
        throw Error(ErrorCode::output, "were discarded when the volume size changed", "kept volumes",
                    "save them before changing the size of volumes");
    return read_slots(
        std::move(lock), [&](Reading& reading) { return coming_of(reading); }, serial);
}

std::shared_ptr<const RecentHold> LiveDisplay::hold_recent() {
    const std::scoped_lock lock(live_.exchanging);
    return live_.ring ? std::make_shared<const RecentHold>(live_.ring) : nullptr;
}

bool LiveDisplay::pause_at(std::uint64_t serial) {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return false;
    Pause pause{live_.pause ? live_.pause->hold : std::make_shared<const RecentHold>(live_.ring), serial};
    const std::vector<RecentVolume> kept = live_.ring->kept();
    if (std::ranges::find(kept, serial, &RecentVolume::serial) == kept.end()) return false;
    live_.pause = std::move(pause);
    return true;
}

void LiveDisplay::resume() {
    const std::scoped_lock lock(live_.exchanging);
    live_.pause.reset();
}

RecentVolumes LiveDisplay::kept() const {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return {};
    return {live_.ring->kept(), live_.ring->statistics().max_kept, paused_at(), live_.grid};
}

PlanInUse LiveDisplay::plan_in_use() const {
    const std::scoped_lock lock(live_.exchanging);
    return live_.plan;
}

std::optional<Image> LiveDisplay::still(const View& view) {
    return read_slots(waiting(), [&](Reading& reading) { return live_.renderer.render(view, reading.slots()); });
}

std::optional<ReadVolume> LiveDisplay::read_volume() {
    std::optional<VolumeDownload> coming = begin_reading_volume();
    if (!coming) return {};
    coming->volume.voxels = coming->voxels();
    return std::move(coming->volume);
}

std::optional<DisplayState> LiveDisplay::shown() {
    return read_slots(at_once(), [&](const Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return DisplayState{.stamp = newest.stamp,
                            .is_whole = reading.is_whole(live_.grid),
                            .grid = live_.grid,
                            .flow_grid = live_.flow_grid,
                            .generation = live_.generation,
                            .is_paused = live_.pause.has_value(),
                            .serial = newest.serial,
                            .filled_to = newest.filled_to};
    });
}

std::optional<PaneContent> LiveDisplay::follow(const View& view, double now_s, std::size_t pane) {
    if (has_flow()) look_at_flow();
    return read_slots(at_once(), [&](Reading& reading) {
        View now_drawn = view;
        // The shape of the volume has changed, and its heights will be set with the next update.
        if (has_height_maps(view) && !live_.has_heights) now_drawn.heights_cut = false;
        const ReadTicket::Part& newest = reading.ticket.newest;
        return PaneContent{live_.renderer.follow(now_drawn, now_s, pane, reading.slots()), newest.stamp,
                           reading.is_whole(live_.grid)};
    });
}

std::optional<Probe> LiveDisplay::probe(const View& view, std::int64_t x, std::int64_t y) {
    return read_slots(at_once(), [&](Reading& reading) { return live_.renderer.probe(view, x, y, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<PlaneHistogram> LiveDisplay::plane_histogram(const View& view) {
    return read_slots(at_once(),
                      [&](Reading& reading) { return live_.renderer.plane_histogram(view, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<Histogram> LiveDisplay::histogram() {
    return read_slots(at_once(), [&](Reading& reading) { return live_.renderer.histogram(reading.slots()); })
        .value_or(std::nullopt);
}

// ---- Pipeline

GpuDevice beside(GpuDevice device, const BackendChoice& backend) {
    if (backend.backend == Backend::cpu || device.near != DeviceId{}) return device;
    const auto& usable = surveyed_gpus().usable;
    if (!backend.named_gpus.empty()) {
        device.near = backend.named_gpus.front();
        return device;
    }
    device.near = backend.gpu != DeviceId{} || usable.empty() ? backend.gpu : usable.front().id;
    return device;
}

}  // namespace echolux
