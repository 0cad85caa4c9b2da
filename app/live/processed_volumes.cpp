#include "app/live/processed_volumes.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "app/seconds_since.h"
#include "engine/io/atomic_file.h"

namespace echolux {
namespace {

std::string volume_name(std::int64_t number) {
    return fmt::format("volume_{:06}.nrrd", number);
}

}  // namespace

void check_processed_folder(const std::filesystem::path& folder) {
    if (folder.empty()) return;
    if (is_volume_name(folder)) {
        throw Error(ErrorCode::bad_setting, "is the name of a volume: processed volumes go into a folder, a file each",
                    folder.string(), "name a folder");
    }
    std::error_code problem;
    if (std::filesystem::exists(folder, problem) && !std::filesystem::is_directory(folder, problem))
        throw Error(ErrorCode::output, "is not a folder", folder.string(), "name a folder");
    for (std::filesystem::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem)) {
        if (!is_volume_name(at->path())) continue;
        throw Error(ErrorCode::output, "holds volumes already, which would be mixed with the new ones", folder.string(),
                    "name a new folder");
    }
}

ProcessedVolumes::ProcessedVolumes(std::filesystem::path folder) : folder_(std::move(folder)) {
    make_folder_for(folder_ / volume_name(0));
    thread_ = std::thread([this] { work(); });
}

ProcessedVolumes::~ProcessedVolumes() {
    finish();
}

bool ProcessedVolumes::has_room() const {
    const std::scoped_lock lock(mutex_);
    return waiting_.size() < max_waiting && !stats_.problem;
}

void ProcessedVolumes::add(std::int64_t number, const VolumeGrid& grid, std::function<std::vector<std::byte>()> voxels,
                           std::map<std::string, std::string> provenance) {
    const std::scoped_lock lock(mutex_);
    waiting_.push_back({number, grid, std::move(voxels), std::move(provenance)});
    comes_.notify_one();
}

void ProcessedVolumes::leave_out() {
    const std::scoped_lock lock(mutex_);
    ++stats_.left_out;
}

ProcessedStats ProcessedVolumes::finish() {
    {
        const std::scoped_lock lock(mutex_);
        ends_ = true;
        comes_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
    const std::scoped_lock lock(mutex_);
    return stats_;
}

void ProcessedVolumes::work() {
    std::unique_lock lock(mutex_);
    while (comes_.wait(lock, [this] { return ends_ || !waiting_.empty(); }), !waiting_.empty()) {
        Waiting next = std::move(waiting_.front());
        waiting_.pop_front();
        lock.unlock();
        std::optional<Error> problem;
        try {
            write(std::move(next));
        } catch (const Error& error) {
            problem = error;
        } catch (const std::exception& error) {
            problem = Error(ErrorCode::output, error.what(), folder_.string());
        }
        lock.lock();
        if (!problem) continue;
        ++stats_.left_out;
        if (!stats_.problem) stats_.problem = problem;
    }
}

void ProcessedVolumes::write(Waiting waiting) {
    const auto start = std::chrono::steady_clock::now();
    const Volume volume{waiting.grid, waiting.voxels(), std::move(waiting.provenance)};
    waiting.voxels = {};  // its memory is reused for the next volume
    const double read_back_s = seconds_since(start);
    write_volume(folder_ / volume_name(waiting.number), volume);
    const std::scoped_lock lock(mutex_);
    ++stats_.volumes;
    stats_.bytes += volume.grid.bytes();
    stats_.read_back_s += read_back_s;
    stats_.write_s += seconds_since(start) - read_back_s;
}

}  // namespace echolux
