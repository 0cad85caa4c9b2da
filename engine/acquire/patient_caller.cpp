#include "engine/acquire/patient_caller.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace echolux {

struct PatientCaller::Shared {
    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> work;  // call that is about to begin
    bool is_under_way = false;
    bool ends = false;
};

PatientCaller::PatientCaller() : shared_(std::make_shared<Shared>()) {
    std::thread([shared = shared_] { run(shared); }).detach();
}

PatientCaller::~PatientCaller() {
    const std::scoped_lock lock(shared_->mutex);
    shared_->ends = true;
    shared_->changed.notify_all();
}

void PatientCaller::run(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    for (;;) {
        shared->changed.wait(lock, [&] { return shared->work || shared->ends; });
        if (!shared->work) return;
        auto work = std::exchange(shared->work, nullptr);
        lock.unlock();
        work();
        work = nullptr;  // release its resources before the end is signalled
        lock.lock();
        shared->is_under_way = false;
        shared->changed.notify_all();
    }
}

void PatientCaller::begin(std::function<void()> work) {
    const std::scoped_lock lock(shared_->mutex);
    shared_->work = std::move(work);
    shared_->is_under_way = true;
    shared_->changed.notify_all();
}

bool PatientCaller::wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(shared_->mutex);
    return shared_->changed.wait_for(lock, patience, [this] { return !shared_->is_under_way; });
}

bool PatientCaller::is_under_way() const {
    const std::scoped_lock lock(shared_->mutex);
    return shared_->is_under_way;
}

}  // namespace echolux
