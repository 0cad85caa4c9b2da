#include "ui/app/processed_volumes.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace echolux {

ProcessedVolumes::ProcessedVolumes(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::error_code failure;
    std::filesystem::create_directories(folder_, failure);
    if (failure)
        throw Error(ErrorCode::output, "cannot be made: " + failure.message(), folder_.string(), "name another folder");
    thread_ = std::thread([this] { work(); });
}

ProcessedVolumes::~ProcessedVolumes() {
    finish();
}

bool ProcessedVolumes::has_room() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size() < most_waiting && !figures_.problem;
}

void ProcessedVolumes::add(std::int64_t number, Volume volume, double read_back_s) {
    const std::scoped_lock lock(mutex_);
    figures_.read_back_s += read_back_s;
    waiting_.emplace_back(number, std::move(volume));
    comes_.notify_one();
}

void ProcessedVolumes::leave_out() {
    const std::scoped_lock lock(mutex_);
    ++figures_.left_out;
}

ProcessedFigures ProcessedVolumes::finish() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        comes_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    const std::scoped_lock lock(mutex_);
    return figures_;
}

void ProcessedVolumes::work() {
    std::unique_lock lock(mutex_);
    while (comes_.wait(lock, [this] { return ends_ || !waiting_.empty(); }), !waiting_.empty()) {
        const auto [number, volume] = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        std::optional<Error> problem;
        const auto start = std::chrono::steady_clock::now();
        try {
            write_volume(folder_ / fmt::format("volume_{:06}.nrrd", number), volume);
        } catch (const Error& error) {
            problem = error;
        }
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        lock.lock();
        if (problem) {
            ++figures_.left_out;
            if (!figures_.problem) figures_.problem = problem;
            continue;
        }
        ++figures_.volumes;
        figures_.bytes += volume.grid.bytes();
        figures_.write_s += seconds;
    }
}

}  // namespace echolux
