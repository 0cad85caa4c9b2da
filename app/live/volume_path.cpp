#include "app/live/volume_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/open/scan_poses.h"
#include "compute/error.h"

namespace echolux {
namespace {

constexpr std::size_t max_under_way = 64;  // blocks; no reconstructor works on as many at a time

// Of the values that codes can hold; floats span what the recipe asks for.
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

VolumePath::VolumePath(const ReconstructionSpec& plan, const BackendChoice& backend, Renderer& renderer,
                       const VolumePathOptions& options)
    : plan_(plan), backend_(backend), options_(options), renderer_(renderer),
      maker_([this](ReconstructionSpec& wanted) { return made_for(wanted); }) {
    pair_devices();
    build();
}

VolumePath::~VolumePath() {
    give_up_reading();  // or a GPU may wait for ever for pictures of a device that is lost
    try {
        abandon();
        finish();
    } catch (const std::exception&) {  // what was under way is lost with its device
    }
}

// Decides which GPU reconstructs, and whether it is the one that draws.
void VolumePath::pair_devices() {
    if (backend_.backend == Backend::cpu) return;
    const GpuSurvey& survey = surveyed_gpus();
    if (survey.usable.empty()) return;
    const auto is_called = [](const DeviceId& id) { return [id](const Gpu& gpu) { return gpu.id == id; }; };
    const bool draws = std::ranges::any_of(survey.usable, is_called(renderer_.device_id()));
    if (backend_.gpu == DeviceId{}) backend_.gpu = draws ? renderer_.device_id() : survey.usable.front().id;
    same_gpu_ = backend_.gpu == renderer_.device_id();
    if (!same_gpu_) pairing_ = renderer_.device_name() + " is not the GPU that reconstructs";
}

void VolumePath::build() {
    put_to_use({plan_, choose_reconstructor(plan_, backend_), plan_in_use_});
}

// On the thread that makes plans.
ChosenReconstructor VolumePath::made_for(ReconstructionSpec& plan) const {
    if (options_.complete) options_.complete(plan);
    std::unique_lock lock(exchanging_);
    const BackendChoice backend = backend_;
    lock.unlock();
    return choose_reconstructor(plan, backend);
}

void VolumePath::install(ChosenReconstructor chosen) {
    reconstructor_ = std::move(chosen.reconstructor);
    choice_ = std::move(chosen.reason);
    on_gpu_ = reconstructor_->processor() == Backend::cuda;
    if (fits(*reconstructor_)) return;  // whoever draws reads the grids
    grid_ = reconstructor_->grid();
    flow_grid_ = reconstructor_->flow_grid();
}

// With slots of its own. When this throws, all is as it was.
void VolumePath::put_to_use(MadePlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const VolumeGrid grid = coming.grid();
    auto ring = std::make_unique<VolumeRing>(options_.slots, grid.b_scans, options_.publishing);
    const bool shares = coming.processor() == Backend::cuda && same_gpu_;
    slots_ = &renderer_.make_slots({.grid = grid,
                                    .flow = coming.flow_grid(),
                                    .range = range_of(grid, made.spec.recipe),
                                    .count = options_.slots,
                                    .first = options_.first_kind,
                                    .share = shares ? options_.share : Sharer{}});
    ring_ = std::move(ring);
    ++generation_;
    plan_ = made.spec;
    plan_in_use_ = made.number;
    const bool keeps_shape = grid == grid_;
    install(std::move(made.chosen));
    if (!keeps_shape && has_heights_.exchange(false)) renderer_.set_heights({});
    renderer_.set_poses(poses_of(plan_.geometry, grid_.b_scans));
    description_ = fmt::format("{} {} {}", reconstructor_->backend(), way_to(slots_->kind()), renderer_.device_name());
    for (const std::string& remark : {failure_, choice_, on_gpu_ ? pairing_ : std::string{}, slots_->remark()}) {
        if (!remark.empty()) description_ += "; " + remark;
    }
}

bool VolumePath::take_change(Moment moment) {
    std::uint64_t number = 0;
    try {
        std::optional<MadePlan> made = maker_.take();
        if (!made) return false;
        number = made->number;
        return exchange_plan(moment, std::move(*made));
    } catch (...) {
        plan_refused_ = number > 0 ? number : maker_.failed();
        throw;
    }
}

bool VolumePath::exchange_plan(Moment moment, MadePlan made) {
    const Reconstructor& coming = *made.chosen.reconstructor;
    const bool keeps_slots = fits(coming) && (coming.processor() == Backend::cuda) == on_gpu_ &&
                             spans_the_same(range_of(grid_, made.spec.recipe), range_of(grid_, plan_.recipe));
    if (!keeps_slots && moment == Moment::within_volume) {
        maker_.put_back(std::move(made));
        return false;
    }
    finish();
    if (keeps_slots) {
        const std::scoped_lock lock(exchanging_);
        plan_ = made.spec;
        plan_in_use_ = made.number;
        install(std::move(made.chosen));
        return true;
    }
    abandon();
    const std::scoped_lock lock(exchanging_);
    put_to_use(std::move(made));
    return true;
}

// What was refused is read first: no plan before it comes to be used after that.
PlanFates VolumePath::plan_fates() const {
    const std::uint64_t refused = plan_refused_;
    return {maker_.wanted(), refused, plan_in_use_};
}

bool VolumePath::fits(const Reconstructor& coming) const {
    return coming.grid() == grid_ && coming.flow_grid() == flow_grid_;
}

void VolumePath::require_built() const {
    if (slots_ != nullptr) return;
    throw Error(ErrorCode::device, "the devices could not be put together again " + failure_, "volume path",
                "start again, or choose --backend cpu");
}

SlotKind VolumePath::kind() const {
    const std::scoped_lock lock(exchanging_);
    require_built();
    return slots_->kind();
}

std::string VolumePath::describe() const {
    const std::scoped_lock lock(exchanging_);
    require_built();
    return description_;
}

RingStatistics VolumePath::statistics() const {
    const std::scoped_lock lock(exchanging_);
    return ring_->statistics();
}

std::uint64_t VolumePath::news() const {
    const std::scoped_lock lock(exchanging_);
    return (generation_ << 40) + static_cast<std::uint64_t>(ring_->statistics().handed_over);
}

bool VolumePath::feed(const Block& block) {
    return survived([&] { return fed(block); });
}

bool VolumePath::rework(const Block& block) {
    return survived([&] { return reworked(block); });
}

template <class Feed>
bool VolumePath::survived(const Feed& feed) {
    require_built();
    try {
        return feed();
    } catch (const Error& error) {
        abandon();
        if (!recovers(error)) throw;
        return false;
    } catch (...) {
        abandon();
        throw;
    }
}

bool VolumePath::is_next(const Block& block) const {
    return block.volume == stamp_.volume && block.first_b_scan == next_b_scan_;
}

void VolumePath::begin(const Block& block) {
    stamp_ = {.volume = block.volume, .time_s = block.time_s};
    next_b_scan_ = published_to_ = 0;
    ticket_ = ring_->acquire_write(stamp_);
    if (ticket_) slots_->begin(ticket_->slot, ticket_->wait);
}

bool VolumePath::fed(const Block& block) {
    if (ticket_ && !is_next(block)) abandon();
    if (block.first_b_scan == 0) begin(block);
    if (!ticket_) {
        reconstructor_->prime(block);
        return false;
    }
    submit(block);
    next_b_scan_ += block.b_scans;
    const bool is_last = next_b_scan_ == plan_.geometry.b_scans;
    if (is_last || options_.publishing == Publishing::rolling) {
        publish(next_b_scan_ * (grid_.b_scans / plan_.geometry.b_scans));
    }
    if (is_last) ticket_.reset();
    return true;
}

// A volume that is being written is given up first: this one is what the screen shows.
bool VolumePath::reworked(const Block& block) {
    abandon();
    {
        const std::scoped_lock lock(exchanging_);  // no picture is just being made
        ticket_ = ring_->acquire_rework(block.volume);
    }
    if (!ticket_) return false;
    slots_->begin(ticket_->slot, ticket_->wait);
    submit(block);
    const std::int64_t slices = grid_.b_scans / plan_.geometry.b_scans;
    if (slots_->kind() == SlotKind::upload) finish();
    slots_->publish(ticket_->slot, ticket_->signal, block.first_b_scan * slices,
                    (block.first_b_scan + block.b_scans) * slices);
    ring_->hand_over_rework(*ticket_);
    ticket_.reset();
    return true;
}

void VolumePath::submit(const Block& block) {
    if (under_way_.size() == max_under_way) {
        reconstructor_->wait(under_way_.front());  // done long ago
        under_way_.pop_front();
    }
    under_way_.push_back(reconstructor_->submit(block, slots_->places(ticket_->slot)));
}

void VolumePath::publish(std::int64_t end) {
    if (slots_->kind() == SlotKind::upload) finish();  // on a GPU, streams are in order by themselves
    slots_->publish(ticket_->slot, ticket_->signal, published_to_, end);
    published_to_ = end;
    ring_->hand_over(*ticket_, end);
}

// What was submitted for the volume stays ahead of what is written to its slot later.
void VolumePath::abandon() {
    if (!ticket_) return;
    try {
        if (slots_->kind() == SlotKind::upload) finish();
        slots_->publish(ticket_->slot, ticket_->signal, published_to_, published_to_);
    } catch (const Error&) {  // a device that is lost writes no more
    }
    ring_->abandon(*ticket_);
    ticket_.reset();
}

void VolumePath::collect() {
    if (slots_ == nullptr) return;
    survived([&] {
        reconstructor_->collect();
        return true;
    });
}

void VolumePath::finish() {
    for (; !under_way_.empty(); under_way_.pop_front()) reconstructor_->wait(under_way_.front());
}

bool VolumePath::recovers(const Error& error) {
    if (error.code() != ErrorCode::device || !on_gpu_) return false;
    slots_->give_up_writing(ring_->written_submitted());  // pictures go on with what is there
    if (backend_.backend != Backend::automatic) return false;
    const std::scoped_lock lock(exchanging_);
    slots_->give_up_reading(ring_->read_submitted());
    failure_ = "after a failure: " + error.problem();
    slots_ = nullptr;
    under_way_.clear();
    reconstructor_.reset();
    has_heights_ = false;
    renderer_.clear();  // what the GPU has of the old slots goes before it is tried again
    if (++failures_ > 1) backend_.backend = Backend::cpu;
    build();
    return true;
}

}  // namespace echolux
