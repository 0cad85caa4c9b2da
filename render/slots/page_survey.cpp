#include "render/slots/page_survey.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "compute/parallel_for.h"

namespace echolux {
namespace {

constexpr std::int64_t batch = 64;  // pages between calls of `done`

// A grid of cubes of 2^shift voxels over a part of a volume.
struct Cells {
    int shift;
    Indices count;

    Cells(const Indices& voxels, std::int64_t edge) : shift(std::countr_zero(static_cast<std::uint64_t>(edge))) {
        for (std::size_t i = 0; i < 3; ++i) count[i] = (voxels[i] + edge - 1) >> shift;
    }

    std::size_t size() const { return static_cast<std::size_t>(count[0] * count[1] * count[2]); }
    // Returns the number of the first cell of the row that contains the voxels at (y, z).
    std::int64_t row(std::int64_t y, std::int64_t z) const {
        return ((z >> shift) * count[1] + (y >> shift)) * count[0];
    }
};

// Reads a box as texture values, rounded exactly as the texture stores them.
std::vector<float> texture_values(const VoxelSource& source, const StoredCodes& storage, const VoxelBox& box) {
    std::vector<std::byte> codes(static_cast<std::size_t>(box.voxels() * bytes_of(source.grid().type)));
    source.read(box, codes.data());
    std::vector<std::byte> stored(static_cast<std::size_t>(box.voxels() * storage.bytes()));
    storage.store(codes.data(), box.voxels(), stored.data());
    std::vector<float> values(static_cast<std::size_t>(box.voxels()));
    storage.to_texture_values(stored.data(), box.voxels(), values.data());
    return values;
}

std::vector<ValueBounds> bounds_of(const std::vector<float>& values, const Indices& voxels, const Cells& cells) {
    constexpr float highest = std::numeric_limits<float>::max();
    std::vector<ValueBounds> bounds(cells.size(), {highest, -highest});
    const float* row = values.data();
    for (std::int64_t z = 0; z < voxels[2]; ++z) {
        for (std::int64_t y = 0; y < voxels[1]; ++y, row += voxels[0]) {
            ValueBounds* cell = bounds.data() + cells.row(y, z);
            for (std::int64_t x = 0; x < voxels[0]; ++x) {
                ValueBounds& here = cell[x >> cells.shift];
                here = {std::min(here.min, row[x]), std::max(here.max, row[x])};
            }
        }
    }
    return bounds;
}

std::vector<float> means_of(const std::vector<float>& values, const Indices& voxels, const Cells& cells) {
    std::vector<double> sums(cells.size());
    std::vector<std::int64_t> counts(cells.size());
    const float* row = values.data();
    for (std::int64_t z = 0; z < voxels[2]; ++z) {
        for (std::int64_t y = 0; y < voxels[1]; ++y, row += voxels[0]) {
            const std::int64_t cell = cells.row(y, z);
            for (std::int64_t x = 0; x < voxels[0]; ++x) {
                const auto at = static_cast<std::size_t>(cell + (x >> cells.shift));
                sums[at] += row[x];
                ++counts[at];
            }
        }
    }
    std::vector<float> means;
    for (std::size_t i = 0; i < sums.size(); ++i) {
        means.push_back(static_cast<float>(sums[i] / static_cast<double>(counts[i])));
    }
    return means;
}

// Calls put(from, to, count) for each row of a page's cells: `from` counts within the page, `to` within the volume.
template <class Put>
void each_row(const Cells& page, const Cells& volume, const Indices& first, const Put& put) {
    for (std::int64_t z = 0; z < page.count[2]; ++z) {
        for (std::int64_t y = 0; y < page.count[1]; ++y) {
            const std::int64_t to = volume.row(first[1] + (y << page.shift), first[2] + (z << page.shift));
            put((z * page.count[1] + y) * page.count[0], to + (first[0] >> page.shift), page.count[0]);
        }
    }
}

}  // namespace

PageSurvey surveyed(const VoxelSource& source, const PageLayout& layout, const StoredCodes& storage, int brick_edge,
                    const std::function<void(std::int64_t voxels)>& done) {
    const Cells boxes(layout.voxels, layout.reduction);
    const Cells bricks(layout.voxels, brick_edge);
    PageSurvey survey;
    survey.coarse.resize(boxes.size() * static_cast<std::size_t>(storage.bytes()));
    survey.bricks.resize(bricks.size());
    const auto survey_page = [&](std::int64_t number) {
        const VoxelBox box = layout.box_of(layout.page_at(number));
        const std::vector<float> values = texture_values(source, storage, box);
        const Cells page_bricks(box.extent, brick_edge);
        const std::vector<ValueBounds> bounds = bounds_of(values, box.extent, page_bricks);
        each_row(page_bricks, bricks, box.first, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            std::copy_n(bounds.begin() + from, count, survey.bricks.begin() + to);
        });
        const Cells page_boxes(box.extent, layout.reduction);
        const std::vector<float> means = means_of(values, box.extent, page_boxes);
        each_row(page_boxes, boxes, box.first, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
            storage.from_texture_values(means.data() + from, count, survey.coarse.data() + to * storage.bytes());
        });
    };
    for (std::int64_t first = 0; first < layout.page_count(); first += batch) {
        const std::int64_t end = std::min(first + batch, layout.page_count());
        parallel_for(first, end, survey_page);
        std::int64_t voxels = 0;
        for (std::int64_t page = first; page < end; ++page) voxels += layout.box_of(layout.page_at(page)).voxels();
        if (done) done(voxels);
    }
    return survey;
}

}  // namespace echolux
