#include "engine/io/image_stream.h"

#include <zlib.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/file_bytes.h"
#include "engine/memory.h"

namespace echolux {

std::vector<std::byte> ImageReader::read_box(std::int64_t, std::size_t, const ImageBox&) {
    throw Error(ErrorCode::bad_setting, "this format is read slice by slice", "volume file");
}

// ---- contiguous voxels ----------------------------------------------------------------------------------------------

namespace {

// Reads the axes in the file's order, directly from the file.
class RawImageReader : public ImageReader {
  public:
    explicit RawImageReader(const RawLayout& layout)
        : layout_(layout), bytes_(layout.voxels, layout.begin, layout.packed) {}

    const ImageHeader& header() const override { return layout_.header; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const ImageHeader& header = layout_.header;
        const std::int64_t slice = header.size[0] * header.size[1] * bytes_of(layout_.stored);
        std::vector<std::byte> stored(index((slices.end - slices.begin) * slice));
        bytes_.read(layout_.skipped + (time_point * header.size[2] + slices.begin) * slice, stored);
        if (time_point + 1 == header.time_points && slices.end == header.size[2]) bytes_.check_end();
        if (layout_.swapped) swap_byte_order(layout_.stored, stored);
        return converted(layout_.stored, std::move(stored));
    }

  private:
    RawLayout layout_;
    StoredBytes bytes_;
};

// Reads other axis orders: loads the whole file at the first read and gathers slices from memory.
class GatheringReader : public ImageReader {
  public:
    GatheringReader(const RawLayout& layout, const std::filesystem::path& path) : layout_(layout) {
        const ImageHeader& header = layout.header;
        require_memory(header.voxels() * header.time_points * bytes_of(layout.stored) + header.slice_bytes(),
                       path.string(), "its axis order requires reading the whole file: crop or convert it first");
        const std::array<std::int64_t, 4> sizes{header.size[0], header.size[1], header.size[2], header.time_points};
        std::int64_t stride = bytes_of(layout.stored);
        for (const int axis : layout.order) {
            strides_[index(axis)] = stride;
            stride *= sizes[index(axis)];
        }
    }

    const ImageHeader& header() const override { return layout_.header; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        if (whole_.empty()) read_whole();
        const ImageHeader& header = layout_.header;
        const std::int64_t voxel = bytes_of(layout_.stored);
        std::vector<std::byte> stored(index((slices.end - slices.begin) * header.size[0] * header.size[1] * voxel));
        std::byte* out = stored.data();
        for (std::int64_t z = slices.begin; z < slices.end; ++z) {
            for (std::int64_t y = 0; y < header.size[1]; ++y) {
                const std::byte* in = whole_.data() + time_point * strides_[3] + z * strides_[2] + y * strides_[1];
                for (std::int64_t x = 0; x < header.size[0]; ++x, in += strides_[0]) out = std::copy_n(in, voxel, out);
            }
        }
        return converted(layout_.stored, std::move(stored));
    }

  private:
    void read_whole() {
        const ImageHeader& header = layout_.header;
        std::vector<std::byte> whole(index(header.voxels() * header.time_points * bytes_of(layout_.stored)));
        StoredBytes bytes(layout_.voxels, layout_.begin, layout_.packed);
        bytes.read(layout_.skipped, whole);
        bytes.check_end();
        if (layout_.swapped) swap_byte_order(layout_.stored, whole);
        whole_ = std::move(whole);
    }

    RawLayout layout_;
    std::array<std::int64_t, 4> strides_{};  // in bytes: columns, rows, slices, time points
    std::vector<std::byte> whole_;
};

// zlib writes uncompressed files through the same calls.
class RawImageWriter : public ImageWriter {
  public:
    RawImageWriter(const std::filesystem::path& path, const std::string& beginning, Packed packed,
                   const std::string& where)
        : where_(where) {
        open(path, packed == Packed::all ? "wb1" : "wbT");  // 1: fastest compression; T: no compression
        write(std::as_bytes(std::span(beginning)));
        if (packed != Packed::voxels) return;
        finish();
        open(path, "ab1");  // compresses the voxels that follow
    }
    void write(std::span<const std::byte> slices) override {
        while (!slices.empty()) {
            const std::size_t piece = std::min<std::size_t>(slices.size(), 1 << 26);  // zlib counts in int
            const int done = gzwrite(file_.get(), slices.data(), static_cast<unsigned>(piece));
            if (done <= 0) fail();
            slices = slices.subspan(index(done));
        }
    }

    void finish() override {
        if (gzclose(file_.release()) != Z_OK) fail();
    }

  private:
    void open(const std::filesystem::path& path, const char* mode) {
        file_.reset(gzopen(path.c_str(), mode));
        if (!file_) fail();
    }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::output, "could not be written completely", where_,
                    "check folder, permissions and free space");
    }

    struct Close {
        void operator()(gzFile file) const { gzclose(file); }
    };

    std::string where_;
    std::unique_ptr<gzFile_s, Close> file_;
};

}  // namespace

std::int64_t begin_of_last_bytes(const RawLayout& layout) {
    const auto size = static_cast<double>(std::filesystem::file_size(layout.voxels));
    return static_cast<std::int64_t>(std::max(0.0, size - claimed_bytes(layout.header, layout.stored)));
}

// Checks the size claimed by the header before anything is allocated.
std::unique_ptr<ImageReader> open_raw_image(const RawLayout& layout, const std::filesystem::path& path) {
    const std::int64_t bytes = StoredBytes(layout.voxels, layout.begin, layout.packed).file_bytes();
    check_claim(layout.header, layout.stored, bytes, layout.packed, path);
    const bool usual = std::ranges::is_sorted(layout.order);
    if (usual) return std::make_unique<RawImageReader>(layout);
    return std::make_unique<GatheringReader>(layout, path);
}

std::unique_ptr<ImageWriter> create_raw_image(const std::filesystem::path& path, const std::string& beginning,
                                              Packed packed, const std::string& where) {
    return std::make_unique<RawImageWriter>(path, beginning, packed, where);
}

// ---- chunked formats ------------------------------------------------------------------------------------------------

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
        const auto part = slices.first(index(taken * slice_bytes));
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
