#include "engine/offline/series.h"

#include <utility>

#include "compute/error.h"
#include "engine/offline/read_ahead.h"
#include "engine/scan/time_points.h"

namespace echolux {

struct Series::Parts {
    Parts(const std::filesystem::path& path, const SeriesBudget& budget) : points(path) {
        if (points.reads_boxes() && points.grid().bytes() > budget.bytes) return;
        Volume first_volume = first_that_can_be_read();
        ahead = std::make_unique<ReadAhead>(points.count(), budget.bytes, std::pair(first, std::move(first_volume)),
                                            [this](std::int64_t step) { return points.read(step); });
    }

    Volume first_that_can_be_read() {
        std::exception_ptr problem;
        for (; first < points.count(); ++first) {
            try {
                return points.read(first);
            } catch (const Error& error) {
                if (error.code() != ErrorCode::bad_file) throw;
                if (!problem) problem = std::current_exception();
            }
        }
        std::rethrow_exception(problem);
    }

    const TimePoints points;
    std::int64_t first = 0;
    std::unique_ptr<ReadAhead> ahead;  // null if volumes are read in boxes
};

Series::Series(const std::filesystem::path& path, const SeriesBudget& budget)
    : parts_(std::make_unique<Parts>(path, budget)) {}

Series::~Series() = default;

std::int64_t Series::steps() const {
    return parts_->points.count();
}

double Series::step_s() const {
    return parts_->points.step_s();
}

std::string Series::name() const {
    return parts_->points.name();
}

std::int64_t Series::first_ready() const {
    return parts_->first;
}

void Series::want(std::int64_t step, int direction, std::int64_t first, std::int64_t last) {
    if (parts_->ahead) parts_->ahead->want(step, direction, {first, last + 1});
}

std::optional<std::shared_ptr<const Volume>> Series::volume(std::int64_t step) const {
    return parts_->ahead ? parts_->ahead->volume(step) : std::nullopt;
}

std::shared_ptr<const Volume> Series::read(std::int64_t step) const {
    const auto there = volume(step);
    return there && *there ? *there : std::make_shared<const Volume>(parts_->points.read(step));
}

std::vector<Interval> Series::ready() const {
    return parts_->ahead ? parts_->ahead->ready() : std::vector<Interval>{};
}

std::vector<std::string> Series::take_problems() {
    return parts_->ahead ? parts_->ahead->take_problems() : std::vector<std::string>{};
}

bool Series::is_in_boxes() const {
    return parts_->ahead == nullptr;
}

std::vector<VolumeGrid> Series::levels(std::int64_t step) const {
    return parts_->points.levels(step);
}

std::vector<std::byte> Series::read_box(std::int64_t step, std::size_t level, const VolumeBox& box) const {
    return parts_->points.read_box(step, level, box);
}

}  // namespace echolux
