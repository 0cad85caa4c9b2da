#include "engine/io/image_stream.h"

#include <algorithm>

#include "engine/memory.h"

namespace echolux {

SlabWriter::SlabWriter(const ImageHeader& header, std::int64_t slices_a_slab, const std::string& where)
    : header_(header), thickness_(std::min(slices_a_slab, header.size[2])) {
    require_memory(2 * thickness_ * header.slice_bytes(), where, "crop it first, or write .nrrd");
}

void SlabWriter::write(std::span<const std::byte> slices) {
    const std::int64_t slice_bytes = header_.slice_bytes();
    while (!slices.empty()) {
        const std::int64_t waiting = std::ssize(waiting_) / slice_bytes;
        const std::int64_t time_point = (next_ - waiting) / header_.size[2];
        const std::int64_t begin = (next_ - waiting) % header_.size[2];
        const std::int64_t wanted = std::min(thickness_, header_.size[2] - begin);
        const std::int64_t taken = std::min(wanted - waiting, std::ssize(slices) / slice_bytes);
        const auto part = slices.first(static_cast<std::size_t>(taken * slice_bytes));
        slices = slices.subspan(part.size());
        next_ += taken;
        if (taken == wanted) {  // no copy is needed for a complete slab
            put_slab(time_point, {begin, begin + wanted}, part);
            continue;
        }
        waiting_.insert(waiting_.end(), part.begin(), part.end());
        if (waiting + taken < wanted) continue;
        put_slab(time_point, {begin, begin + wanted}, waiting_);
        waiting_.clear();
    }
}

}  // namespace echolux
