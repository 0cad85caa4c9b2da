#include "engine/planning.h"

#include <utility>

namespace echolux {

PlanMaker::PlanMaker(Make make)
    : make_(std::move(make)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

PlanMaker::~PlanMaker() {
    thread_.request_stop();
    thread_.join();
}

void PlanMaker::want(const ReconstructionSpec& spec) {
    const std::scoped_lock lock(mutex_);
    wanted_ = spec;
    ++number_;
    wanted_comes_.notify_one();
}

std::uint64_t PlanMaker::wanted() const {
    const std::scoped_lock lock(mutex_);
    return number_;
}

std::uint64_t PlanMaker::failed() const {
    const std::scoped_lock lock(mutex_);
    return failed_;
}

std::optional<PreparedPlan> PlanMaker::take() {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(made_, std::nullopt);
}

bool PlanMaker::has_made() const {
    const std::scoped_lock lock(mutex_);
    return made_ || failure_;
}

void PlanMaker::put_back(PreparedPlan made) {
    const std::scoped_lock lock(mutex_);
    if (!made_ && made.number > failed_) made_ = std::move(made);
}

void PlanMaker::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wanted_comes_.wait(lock, stop, [this] { return wanted_.has_value(); })) {
        ReconstructionSpec spec = *std::exchange(wanted_, std::nullopt);
        const std::uint64_t number = number_;
        lock.unlock();
        std::optional<PreparedPlan> made;
        std::exception_ptr failure;
        try {
            ChosenReconstructor chosen = make_(spec);
            made = PreparedPlan{std::move(spec), std::move(chosen), number};
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        std::swap(made_, made);  // after a failure, discard earlier plans too
        failure_ = failure;
        if (failure) failed_ = number;
        if (stop.stop_requested()) return;
        lock.unlock();  // release the replaced plan without the lock
        made.reset();
        lock.lock();
    }
}

bool GpuRecovery::recovers(const Error& problem, Backend processor, Clock::time_point now) {
    if (!is_of_gpu(problem, processor) || insists_on_gpu(backend_)) return false;
    const std::optional<Clock::time_point> before = std::exchange(failed_at_, now);
    if (before && now - *before <= forgotten_after) backend_ = {.backend = Backend::cpu};
    return true;
}

// Naming the remaining GPUs also excludes a device that is listed twice.
void GpuRecovery::leave_out_failed(const std::vector<DeviceWork>& devices) {
    backend_.named_gpus.clear();
    for (const DeviceWork& device : devices) {
        if (device.failure.empty()) backend_.named_gpus.push_back(device.id);
    }
}

}  // namespace echolux
