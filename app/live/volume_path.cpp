#include "app/live/volume_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/open/show_opened.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "compute/missing_voxels.h"
#include "compute/plan/describe.h"
#include "engine/memory.h"
#include "render/scan_geometry.h"

namespace echolux {

// ---- Ring

void LiveRing::require_built() const {
    if (slots) return;
    throw Error(ErrorCode::device, "the graphics and compute devices could not be set up again " + failure,
                "volume path", "start again, or choose `backend` cpu");
}

std::string kept_line(const LiveSlots& slots, std::int64_t keep_bytes, const std::string& why_none) {
    const double gb = 1e-9 * static_cast<double>(slots.slot_bytes);
    if (slots.kept > 0) {
        return fmt::format("the last {} are kept in {:.3g} GB of memory",
                           counted(static_cast<std::int64_t>(slots.kept), "volumes"),
                           gb * static_cast<double>(slots.kept));
    }
    if (!why_none.empty()) return "no volumes are kept: " + why_none;
    return fmt::format("no volumes are kept: one takes {:.3g} GB; {}", gb,
                       keep_bytes < slots.slot_bytes ? "raise `source.keep_gb` or make volumes smaller"
                                                     : "not as much memory is free; make volumes smaller");
}

// ---- Feeder

namespace {

constexpr std::size_t max_under_way = 64;  // blocks; more than any reconstructor has in flight

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

const char* way_to(SlotKind kind) {
    switch (kind) {
        case SlotKind::surface: return "into textures of";
        case SlotKind::buffer: return "into buffers, copied to textures on";
        case SlotKind::upload: break;
    }
    return "uploaded to";
}

}  // namespace

VolumeFeeder::VolumeFeeder(LiveRing& ring, const ReconstructionSpec& plan, const BackendChoice& backend,
                           const VolumePathOptions& options)
    : live_(ring), options_(options), pairing_(paired_with(ring.renderer, backend)), recovery_(pairing_.backend),
      stage_([this](const VolumeStamp& stamp, const TissueOnGpu::Write& write) { show(stamp, write); },
             options.tissue_done),
      maker_([this](ReconstructionSpec& wanted) { return make_reconstructor_for(wanted); }) {
    check_tissue(options.tissue);
    stage_.set(options.tissue);
    live_.plan.spec = plan;
    build();
}

VolumeFeeder::~VolumeFeeder() {
    try {
        abandon();
        stage_.cancel();
        wait_for_blocks();
    } catch (const std::exception&) {  // its blocks are lost with the device
    }
}

VolumeFeeder::Pairing VolumeFeeder::paired_with(const Renderer& renderer, BackendChoice backend) {
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

void VolumeFeeder::build() {
    put_to_use({live_.plan.spec, options_.reconstructor(live_.plan.spec, recovery_.backend()), plan_in_use_});
}

// Called on the thread that makes plans.
ChosenReconstructor VolumeFeeder::make_reconstructor_for(ReconstructionSpec& plan) const {
    if (options_.complete) options_.complete(plan);
    std::unique_lock lock(live_.exchanging);
    const BackendChoice backend = recovery_.backend();
    lock.unlock();
    return options_.reconstructor(plan, backend);
}

bool VolumeFeeder::fits(const Reconstructor& coming) const {
    return coming.grid() == live_.grid && coming.flow_grid() == live_.flow_grid;
}

void VolumeFeeder::install(ChosenReconstructor chosen) {
    reconstructor_ = std::move(chosen.reconstructor);
    choice_ = std::move(chosen.reason);
    if (fits(*reconstructor_)) return;  // the drawing thread reads the grids, so leave equal ones alone
    live_.grid = reconstructor_->grid();
    live_.flow_grid = reconstructor_->flow_grid();
}

// If this throws, the old slots remain. They are replaced before slots for kept volumes are allocated, because those
// take all remaining memory. If the latter cannot be allocated, no volumes are kept.
VolumeFeeder::SlotsMade VolumeFeeder::slots_for(const Reconstructor& coming, const ReconstructionSpec& plan) {
    const bool shares = coming.processor() == Backend::cuda && pairing_.shares;
    SlotsWanted wanted{.grid = coming.grid(),
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

void VolumeFeeder::tell_kept(const std::string& why_none, bool had_some) {
    if (options_.keep_bytes <= 0) return;
    const std::string gone = had_some ? "; those of another shape are gone" : "";
    const std::string line = kept_line(*live_.slots, options_.keep_bytes, why_none);
    const std::scoped_lock lock(told_);
    news_.push_back({line + gone, live_.slots->kept == 0, "kept"});
}

// Activates the pending plan with new slots. If they cannot be allocated, nothing changes.
void VolumeFeeder::put_to_use(MadePlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const VolumeGrid grid = coming.grid();
    Renderer& renderer = live_.renderer;
    const bool on_gpu = coming.processor() == Backend::cuda;
    const bool had_kept = live_.ring && !live_.ring->kept().empty();
    const SlotsMade slots = slots_for(coming, made.spec);
    live_.slots = slots.slots;
    live_.ring = std::make_shared<VolumeRing>(options_.slots, grid.b_scans, options_.publishing, live_.slots->kept);
    live_.pause.reset();
    ++live_.generation;
    tell_kept(slots.why_none_kept, had_kept);
    live_.plan = {made.spec, made.number};
    plan_in_use_ = made.number;
    const bool keeps_shape = grid == live_.grid;
    install(std::move(made.chosen));
    if (!keeps_shape && live_.has_heights.exchange(false)) renderer.set_heights({});
    renderer.set_poses(poses_of(live_.plan.spec.geometry, live_.grid.b_scans));
    described_ = fmt::format("{} {} {}", reconstructor_->backend(), way_to(live_.slots->kind), renderer.device_name());
    const std::string pairing = on_gpu ? pairing_.remark : std::string{};
    for (const std::string& remark : {live_.failure, choice_, pairing, live_.slots->remark}) {
        if (!remark.empty()) described_ += "; " + remark;
    }
    live_.description = described_;
}

bool VolumeFeeder::take_change(Moment moment) {
    const bool is_other_tissue = moment == Moment::between_volumes && take_tissue();
    std::uint64_t number = 0;
    try {
        std::optional<MadePlan> made = maker_.take();
        if (!made) return is_other_tissue;
        number = made->number;
        return exchange_plan(moment, std::move(*made)) || is_other_tissue;
    } catch (...) {
        plan_refused_ = number > 0 ? number : maker_.failed();
        throw;
    }
}

bool VolumeFeeder::exchange_plan(Moment moment, MadePlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const bool keeps_slots =
        reconstructor_ && fits(coming) && coming.processor() == reconstructor_->processor() &&
        spans_the_same(range_of(live_.grid, made.spec.recipe), range_of(live_.grid, live_.plan.spec.recipe));
    if (!keeps_slots && moment == Moment::within_volume) {
        maker_.put_back(std::move(made));
        return false;
    }
    wait_for_blocks();
    if (!keeps_slots) {
        abandon();
        stage_.cancel();
    }
    const std::scoped_lock lock(live_.exchanging);
    if (!keeps_slots) {
        put_to_use(std::move(made));
        return true;
    }
    live_.plan = {made.spec, made.number};
    plan_in_use_ = made.number;
    install(std::move(made.chosen));
    return true;
}

// plan_refused_ is read first: no plan before it can become active afterwards.
PlanFates VolumeFeeder::plan_fates() const {
    const std::uint64_t refused = plan_refused_;
    return {maker_.wanted(), refused, plan_in_use_};
}

SlotKind VolumeFeeder::kind() const {
    const std::scoped_lock lock(live_.exchanging);
    live_.require_built();
    return live_.slots->kind;
}

std::string VolumeFeeder::describe() const {
    const std::scoped_lock lock(live_.exchanging);
    live_.require_built();
    return live_.description;
}

RingStatistics VolumeFeeder::statistics() const {
    const std::scoped_lock lock(live_.exchanging);
    return live_.ring->statistics();
}

bool VolumeFeeder::feed(const Block& block) {
    return with_recovery([&] { return try_feed(block); });
}

bool VolumeFeeder::rework(const Block& block) {
    return with_recovery([&] { return try_rework(block); });
}

void VolumeFeeder::collect() {
    if (!live_.slots) return;
    with_recovery([&] {
        stage_.rethrow();
        reconstructor_->collect();
        return true;
    });
}

// Returns false if the devices had to be restored. Pending blocks are then lost.
template <class Work>
bool VolumeFeeder::with_recovery(const Work& work) {
    live_.require_built();
    try {
        return work();
    } catch (const Error& error) {
        abandon();
        if (!recovers(error)) throw;
        return false;
    } catch (...) {
        abandon();
        throw;
    }
}

bool VolumeFeeder::recovers(const Error& error) {
    if (goes_on_without_one(error)) return true;
    const Backend processor = reconstructor_ ? reconstructor_->processor() : Backend::cpu;
    if (!GpuRecovery::is_of_gpu(error, processor)) return false;
    stage_.clear();
    live_.renderer.give_up_writing(live_.ring->written_submitted());  // pictures continue
    const std::scoped_lock lock(live_.exchanging);
    if (!recovery_.recovers(error, processor)) return false;
    live_.renderer.give_up_reading(live_.ring->read_submitted());
    live_.failure = "after a failure: " + error.problem();
    live_.slots.reset();
    under_way_.clear();
    reconstructor_.reset();
    live_.has_heights = false;
    live_.renderer.clear();  // free the GPU memory of the old slots before trying again
    build();
    return true;
}

bool VolumeFeeder::is_next(const Block& block) const {
    return block.volume == stamp_.volume && block.first_b_scan == next_b_scan_;
}

void VolumeFeeder::begin(const Block& block) {
    stamp_ = {.volume = block.volume, .time_s = block.time_s, .plan = plan_in_use_};
    next_b_scan_ = published_to_ = 0;
    if (begin_staged(block)) return;
    stage_.cancel();
    ticket_ = live_.ring->acquire_write(stamp_);
    if (ticket_) live_.slots->writer->begin(ticket_->slot, ticket_->wait);
}

Places VolumeFeeder::places() const {
    return staged_ ? *staged_ : live_.slots->writer->places(ticket_->slot);
}

bool VolumeFeeder::try_feed(const Block& block) {
    stage_.rethrow();
    if ((ticket_ || staged_) && !is_next(block)) abandon();
    if (block.first_b_scan == 0) begin(block);
    if (!ticket_ && !staged_) {
        reconstructor_->prime(block);
        return false;
    }
    submit(block);
    next_b_scan_ += block.b_scans;
    const ScanGeometry& geometry = live_.plan.spec.geometry;
    const bool is_last = next_b_scan_ == geometry.b_scans;
    if (is_last) note_device_work();
    if (staged_) {
        if (!is_last) return true;
        wait_for_blocks();
        stage_.hand_over();
        staged_.reset();
        return true;
    }
    if (is_last || options_.publishing == Publishing::rolling) {
        const std::int64_t end = next_b_scan_ * (live_.grid.b_scans / geometry.b_scans);
        publish(published_to_, end);
        published_to_ = end;
        live_.ring->hand_over(*ticket_, end);
    }
    if (is_last) ticket_.reset();
    return true;
}

// A volume that is being written is abandoned first, because the reworked one is on the screen.
bool VolumeFeeder::try_rework(const Block& block) {
    abandon();
    if (!stage_.settings().does_nothing()) return false;  // processing needs whole volumes
    stage_.cancel();
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
}

void VolumeFeeder::submit(const Block& block) {
    if (under_way_.size() == max_under_way) {
        reconstructor_->wait(under_way_.front());  // finished long ago
        under_way_.pop_front();
    }
    const Places to = places();
    under_way_.push_back(reconstructor_->submit(block, to));
    if (!is_missing(block) || to.structure.kind != PlaceKind::host_linear || staged_) return;
    wait_for_blocks();  // NaN in memory that goes into textures becomes a number
    store_missing(live_.plan.spec, live_.grid, live_.flow_grid, block, to, true);
}

void VolumeFeeder::publish(std::int64_t first, std::int64_t end) {
    if (live_.slots->kind == SlotKind::upload) wait_for_blocks();  // on a GPU, the streams keep the order
    live_.slots->writer->publish(ticket_->slot, ticket_->signal, first, end);
}

// Work already submitted for the volume must finish before its slot is written again.
void VolumeFeeder::abandon() {
    if (staged_) {
        for (; !under_way_.empty(); under_way_.pop_front()) {
            try {
                reconstructor_->wait(under_way_.front());
            } catch (const std::exception&) {  // the volume is lost anyway
            }
        }
        stage_.drop();
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

void VolumeFeeder::finish() {
    wait_for_blocks();
}

void VolumeFeeder::wait_for_blocks() {
    for (; !under_way_.empty(); under_way_.pop_front()) reconstructor_->wait(under_way_.front());
}

// ---- Feeder: several devices that share a live volume: transfer of voxels to the drawing GPU, work of each device,
// and failure of one.

// Returns a remark if the path from other GPUs to the drawing GPU is not the fastest possible.
std::string VolumeFeeder::remark_on(const std::vector<DeviceId>& gpus, const Renderer& renderer) {
    const DeviceId& draws = renderer.device_id();
    const auto far = std::ranges::count_if(gpus, [&](const DeviceId& gpu) { return !reaches(gpu, draws); });
    if (far > 0) {
        return fmt::format("{} cannot reach the memory of {}: voxels go through pinned host memory",
                           counted(far, "GPUs"), renderer.device_name());
    }
    const bool takes_part = std::ranges::find(gpus, draws) != gpus.end();
    return takes_part ? "" : renderer.device_name() + " draws alone: voxels are copied to it";
}

// Excludes one of several devices after an error, unless it is the drawing one. Slots and pictures stay as they are.
bool VolumeFeeder::goes_on_without_one(const Error& error) {
    if (!reconstructor_ || !reconstructor_->goes_on_after(error)) return false;
    if (live_.slots->writer->settle({}) == SlotWriter::Settled::dead) return false;
    stage_.clear();
    under_way_.clear();
    const std::vector<DeviceWork> devices = reconstructor_->device_work();
    {
        const std::scoped_lock lock(live_.exchanging);
        recovery_.leave_out_failed(devices);
        live_.description = described_ + "; " + left_out(devices);
    }
    note_device_work();
    const std::scoped_lock lock(told_);
    news_.push_back({left_out(devices), true, "devices"});
    return true;
}

void VolumeFeeder::note_device_work() {
    std::vector<DeviceWork> work = reconstructor_->device_work();
    const std::scoped_lock lock(told_);
    device_work_.swap(work);
}

std::vector<DeviceWork> VolumeFeeder::device_work() const {
    const std::scoped_lock lock(told_);
    return device_work_;
}

std::vector<BlockSink::News> VolumeFeeder::take_news() {
    std::vector<News> news = stage_.log().take_news();
    const std::scoped_lock lock(told_);
    for (News& one : std::exchange(news_, {})) news.push_back(std::move(one));
    return news;
}

// ---- Feeder: processing of volumes before they are shown

// Returns true if the volume goes to the stage or is skipped there. If the stage has no memory, volumes are shown
// unprocessed.
bool VolumeFeeder::begin_staged(const Block& block) {
    if (stage_.settings().does_nothing()) return false;
    std::optional<DeviceId> gpu;
    if (reconstructor_->processor() == Backend::cuda)
        gpu = pairing_.shares ? live_.renderer.device_id() : recovery_.backend().gpu;
    if (std::exchange(staged_volume_, block.volume) == block.volume) stage_.cancel();  // again, with other settings
    try {
        staged_ = stage_.begin(stamp_, live_.grid, live_.flow_grid, gpu);
        return true;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory) throw;
        TissueDone none{.volume = block.volume,
                        .was_to_be_stabilised = stage_.settings().stabilises,
                        .was_to_be_filtered = stage_.settings().filters,
                        .rows = {},
                        .unsteady = error.line(),
                        .unsmooth = error.line(),
                        .provenance = {}};
        stage_.log().note(none, 0);
        return false;
    }
}

// Runs on the stage's thread while nothing else writes to the ring.
void VolumeFeeder::show(const VolumeStamp& stamp, const TissueOnGpu::Write& write) {
    std::optional<WriteTicket> ticket = live_.ring->acquire_write(stamp);
    if (!ticket) return;  // counted as dropped
    SlotWriter& writer = *live_.slots->writer;
    try {
        writer.begin(ticket->slot, ticket->wait);
        write(writer.places(ticket->slot));
        writer.publish(ticket->slot, ticket->signal, 0, live_.grid.b_scans);
    } catch (...) {
        live_.ring->abandon(*ticket);
        throw;
    }
    live_.ring->hand_over(*ticket, live_.grid.b_scans);
}

void VolumeFeeder::set_tissue(const LiveTissue& tissue) {
    check_tissue(tissue);
    const std::scoped_lock lock(wanting_);
    wanted_tissue_ = tissue;
}

bool VolumeFeeder::take_tissue() {
    const std::scoped_lock lock(wanting_);
    if (!wanted_tissue_) return false;
    stage_.set(*std::exchange(wanted_tissue_, std::nullopt));
    return true;
}

// ---- Pictures

namespace {

ShownSlot slot_of(const ReadTicket::Part& part) {
    return {part.slot, part.serial, part.filled_to};
}

}  // namespace

// A read ticket in use, and whether device work that reads its slots has been submitted.
struct VolumePictures::Reading {
    const ReadTicket& ticket;
    bool submitted = false;
    bool is_copy = false;  // copy to the host, which is not a shown picture

    ShownSlots slots() {
        ShownSlots shown{.newest = slot_of(ticket.newest),
                         .previous = {},
                         .wait = ticket.wait,
                         .signal = ticket.signal,
                         .submitted = &submitted};
        if (ticket.previous) shown.previous = slot_of(*ticket.previous);
        return shown;
    }
    bool is_whole(const VolumeGrid& grid) const { return ticket.newest.filled_to == grid.b_scans; }
};

void VolumePictures::give_up_reading() noexcept {
    const std::scoped_lock lock(live_.exchanging);
    if (live_.slots) live_.renderer.give_up_reading(live_.ring->read_submitted());
}

std::uint64_t VolumePictures::news() const {
    const std::scoped_lock lock(live_.exchanging);
    return (live_.generation << 40) + static_cast<std::uint64_t>(live_.ring->statistics().handed_over);
}

// All calls to the renderer go through this function. If its device is lost, the reconstructing GPU may be waiting for
// pictures that will never finish, so it is released.
template <class Call>
auto VolumePictures::with_release(const Call& call) {
    try {
        return call();
    } catch (const Error& error) {
        if (error.code() == ErrorCode::device) give_up_reading();
        throw;
    }
}

bool VolumePictures::is_finished(const VolumePicture& picture) {
    return with_release([&] { return live_.renderer.is_finished(picture.drawing); });
}

void VolumePictures::wait(const VolumePicture& picture) {
    with_release([&] { live_.renderer.wait(picture.drawing); });
}

Image VolumePictures::read(const VolumePicture& picture) {
    return with_release([&] { return live_.renderer.read(picture.drawing); });
}

// `exchanging` must be held.
std::optional<std::uint64_t> VolumePictures::paused_at() const {
    if (!live_.pause) return {};
    return live_.pause->serial;
}

// Calls `read` with the ring's slots and reports the outcome to the ring. `exchanging` must be held.
template <class Read>
auto VolumePictures::with_ticket(std::optional<std::uint64_t> serial, const Read& read) {
    live_.require_built();
    const std::optional<ReadTicket> ticket = live_.ring->acquire_read(serial);
    std::optional<decltype(read(std::declval<Reading&>()))> result;
    if (!ticket) return result;
    Reading reading{*ticket};
    try {
        result = read(reading);
    } catch (...) {
        live_.ring->abandon(*ticket);
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

template <class Read>
auto VolumePictures::read_ring(const Read& read) {
    return with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        return with_ticket(paused_at(), read);
    });
}

// Like read_ring(), but returns std::nullopt instead of waiting while the members of the ring are being replaced.
template <class Read>
auto VolumePictures::try_read_ring(const Read& read) {
    return with_release([&] {
        const std::unique_lock lock(live_.exchanging, std::try_to_lock);
        using Result = decltype(with_ticket({}, read));
        return lock.owns_lock() ? with_ticket(paused_at(), read) : Result{};
    });
}

void VolumePictures::set_heights(const HeightMaps& maps) {
    with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        live_.renderer.set_heights(maps);
        live_.has_heights = !maps.empty();
    });
}

bool VolumePictures::has_flow() const {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.flow_grid.has_value();
}

// Uses a separate read ticket: colours follow a volume after its first picture.
void VolumePictures::look_at_flow() {
    try_read_ring([&](Reading& reading) {
        live_.renderer.look_at_flow(reading.slots());
        return true;
    });
}

std::optional<FlowScale> VolumePictures::flow_scale(const View& view) {
    const std::unique_lock lock(live_.exchanging, std::try_to_lock);
    return lock.owns_lock() && live_.slots ? live_.renderer.flow_scale(view) : std::nullopt;
}

std::optional<VolumePicture> VolumePictures::picture(const View& view) {
    if (has_flow()) look_at_flow();
    return read_ring([&](Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return VolumePicture{live_.renderer.draw(view, reading.slots()), newest.stamp, newest.filled_to,
                             reading.is_whole(live_.grid)};
    });
}

ComingVolume VolumePictures::coming_of(Reading& reading) {
    reading.is_copy = true;
    const ReadTicket::Part& newest = reading.ticket.newest;
    return {{newest.stamp, newest.filled_to, live_.grid, {}, live_.plan.spec},
            [this, voxels = live_.renderer.copy_slot(reading.slots())] { return with_release(voxels); }};
}

std::optional<ComingVolume> VolumePictures::begin_reading_volume() {
    return read_ring([&](Reading& reading) { return coming_of(reading); });
}

std::optional<ComingVolume> VolumePictures::begin_reading_kept(const KeptHold& hold, std::uint64_t serial) {
    return with_release([&] {
        const std::scoped_lock lock(live_.exchanging);
        if (!hold.is_of(live_.ring))
            throw Error(ErrorCode::output, "are gone, since volumes have taken another shape", "kept volumes",
                        "save them before such settings change");
        return with_ticket(serial, [&](Reading& reading) { return coming_of(reading); });
    });
}

std::shared_ptr<const KeptHold> VolumePictures::hold_kept() {
    const std::scoped_lock lock(live_.exchanging);
    return live_.ring ? std::make_shared<const KeptHold>(live_.ring) : nullptr;
}

bool VolumePictures::pause_at(std::uint64_t serial) {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return false;
    Pause pause{live_.pause ? live_.pause->hold : std::make_shared<const KeptHold>(live_.ring), serial};
    const std::vector<KeptVolume> kept = live_.ring->kept();
    if (std::ranges::find(kept, serial, &KeptVolume::serial) == kept.end()) return false;
    live_.pause = std::move(pause);
    return true;
}

void VolumePictures::resume() {
    const std::scoped_lock lock(live_.exchanging);
    live_.pause.reset();
}

KeptVolumes VolumePictures::kept() const {
    const std::scoped_lock lock(live_.exchanging);
    if (!live_.ring) return {};
    return {live_.ring->kept(), live_.ring->statistics().max_kept, paused_at(), live_.grid};
}

PlanInUse VolumePictures::plan_in_use() const {
    const std::scoped_lock lock(live_.exchanging);
    return live_.plan;
}

std::optional<Image> VolumePictures::still(const View& view) {
    return read_ring([&](Reading& reading) { return live_.renderer.render(view, reading.slots()); });
}

std::optional<ReadVolume> VolumePictures::read_volume() {
    std::optional<ComingVolume> coming = begin_reading_volume();
    if (!coming) return {};
    coming->volume.voxels = coming->voxels();
    return std::move(coming->volume);
}

std::optional<ShownVolume> VolumePictures::shown() {
    return try_read_ring([&](const Reading& reading) {
        const ReadTicket::Part& newest = reading.ticket.newest;
        return ShownVolume{.stamp = newest.stamp,
                           .is_whole = reading.is_whole(live_.grid),
                           .grid = live_.grid,
                           .flow_grid = live_.flow_grid,
                           .generation = live_.generation,
                           .is_paused = live_.pause.has_value(),
                           .serial = newest.serial,
                           .filled_to = newest.filled_to};
    });
}

std::optional<FollowedVolume> VolumePictures::follow(const View& view, double now_s, std::size_t pane) {
    if (has_flow()) look_at_flow();
    return try_read_ring([&](Reading& reading) {
        View now_drawn = view;
        // The shape of the volume has changed, and its heights will be set with the next update.
        if (has_height_maps(view) && !live_.has_heights) now_drawn.heights_cut = false;
        const ReadTicket::Part& newest = reading.ticket.newest;
        return FollowedVolume{live_.renderer.follow(now_drawn, now_s, pane, reading.slots()), newest.stamp,
                              reading.is_whole(live_.grid)};
    });
}

std::optional<Probe> VolumePictures::probe(const View& view, std::int64_t x, std::int64_t y) {
    return try_read_ring([&](Reading& reading) { return live_.renderer.probe(view, x, y, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<PlaneHistogram> VolumePictures::plane_histogram(const View& view) {
    return try_read_ring([&](Reading& reading) { return live_.renderer.plane_histogram(view, reading.slots()); })
        .value_or(std::nullopt);
}

std::optional<Histogram> VolumePictures::histogram() {
    return try_read_ring([&](Reading& reading) { return live_.renderer.histogram(reading.slots()); })
        .value_or(std::nullopt);
}

// ---- Path

DeviceChoice beside(DeviceChoice device, const BackendChoice& backend) {
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
