#include "engine/plan_maker.h"

#include <utility>

namespace echolux {

PlanMaker::PlanMaker(Make make)
    : make_(std::move(make)), thread_([this](const std::stop_token& stop) { work(stop); }) {}

PlanMaker::~PlanMaker() {
    thread_.request_stop();
    thread_.join();
}

void PlanMaker::want(const ReconstructionPlan& plan) {
    const std::scoped_lock lock(mutex_);
    wanted_ = plan;
    wanted_comes_.notify_one();
}

std::optional<MadePlan> PlanMaker::take() {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    return std::exchange(made_, std::nullopt);
}

void PlanMaker::put_back(MadePlan made) {
    const std::scoped_lock lock(mutex_);
    if (!made_) made_ = std::move(made);
}

void PlanMaker::work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wanted_comes_.wait(lock, stop, [this] { return wanted_.has_value(); })) {
        ReconstructionPlan plan = *std::exchange(wanted_, std::nullopt);
        lock.unlock();
        std::optional<MadePlan> made;
        std::exception_ptr failure;
        try {
            ChosenReconstructor chosen = make_(plan);
            made = MadePlan{std::move(plan), std::move(chosen)};
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        if (made) std::swap(made_, made);
        failure_ = failure;
        if (stop.stop_requested()) return;
        lock.unlock();  // what took the old one's place is let go of here, not under the lock
        made.reset();
        lock.lock();
    }
}

}  // namespace echolux
