#include "engine/io/foreign/gdcm/dicom_codec.h"

#include <gdcmImageReader.h>
#include <gdcmTrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>

#include "compute/error.h"

namespace echolux {
namespace {

std::string whole(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return {};
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t got = pread(descriptor, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (got <= 0) return {};
        at += static_cast<std::size_t>(got);
    }
    return bytes;
}

// Decompresses all frames with the first request.
class DicomFrames final : public ImageReader {
  public:
    DicomFrames(int descriptor, const std::filesystem::path& path, const PackedFrames& packed)
        : header_(packed.header()), file_(whole(descriptor)), where_(path.string()), syntax_(packed.transfer_syntax) {
        gdcm::Trace::WarningOff();  // errors are reported by return values
        gdcm::Trace::ErrorOff();
        gdcm::Trace::DebugOff();
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        if (voxels_.empty()) unpack();
        const std::byte* begin = voxels_.data();
        return {begin + slices.begin * header_.slice_bytes(), begin + slices.end * header_.slice_bytes()};
    }

  private:
    void unpack() {
        std::istringstream stream(file_);
        gdcm::ImageReader reader;
        reader.SetStream(stream);
        std::vector<std::byte> voxels(static_cast<std::size_t>(header_.bytes()));
        const bool is_read = reader.Read() && reader.GetImage().GetBufferLength() == voxels.size() &&
                             reader.GetImage().GetBuffer(reinterpret_cast<char*>(voxels.data()));
        if (!is_read) {
            throw Error(ErrorCode::bad_file, "has voxels that cannot be unpacked (transfer syntax " + syntax_ + ")",
                        where_, "unpack it with another program first");
        }
        voxels_ = std::move(voxels);
    }

    ImageHeader header_;
    std::string file_, where_, syntax_;
    std::vector<std::byte> voxels_;
};

}  // namespace

ImageHeader PackedFrames::header() const {
    ImageHeader header;
    header.size = {columns * voxel_bytes, rows, frames};
    header.type = VoxelType::u8;
    return header;
}

PackedFrames PackedFrames::of(const std::vector<std::int64_t>& numbers, const std::string& transfer_syntax) {
    return {numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3), transfer_syntax};
}

std::unique_ptr<ImageReader> read_dicom_frames(int descriptor, const std::filesystem::path& path,
                                               const PackedFrames& packed) {
    return std::make_unique<DicomFrames>(descriptor, path, packed);
}

}  // namespace echolux
