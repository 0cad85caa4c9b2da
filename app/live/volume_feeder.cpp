#include "app/live/volume_feeder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/live/kept_line.h"
#include "app/open/scan_poses.h"
#include "compute/counted.h"
#include "compute/error.h"
#include "compute/missing_voxels.h"
#include "compute/plan/describe.h"
#include "engine/memory.h"

namespace echolux {
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

void LiveRing::require_built() const {
    if (slots) return;
    throw Error(ErrorCode::device, "the graphics and compute devices could not be set up again " + failure,
                "volume path", "start again, or choose `backend` cpu");
}

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

}  // namespace echolux
