// Depth is fastest in the archive, so slices are transposed.
#include "engine/io/formats.h"

#include <algorithm>

#include "compute/error.h"
#include "engine/io/foreign/thorlabs/thorlabs_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

const std::string intensity = "data/Intensity.data";

class ThorlabsPicture final : public ImageReader {
  public:
    explicit ThorlabsPicture(const std::filesystem::path& path) : archive_(path) {
        const ThorlabsHeader whole = read_thorlabs_header(archive_, path.string());
        const ThorlabsFile* file = whole.file(intensity);
        if (file == nullptr || !archive_.holds(intensity)) {
            throw Error(ErrorCode::bad_file, "holds spectra but no picture", path.string(),
                        "open it as a scan to reconstruct one from them");
        }
        constexpr std::int64_t max_side = 1 << 24;
        if (file->bytes_per_value != 4 || std::min({file->depth, file->lines, file->b_scans}) < 1 ||
            std::max({file->depth, file->lines, file->b_scans}) > max_side) {
            throw Error(ErrorCode::bad_file, "its Header.xml describes no picture of 32-bit reals", path.string());
        }
        header_.size = {file->lines, file->depth, file->b_scans};
        header_.spacing_mm = {file->pitch_mm(file->range_a_mm, file->lines),
                              file->pitch_mm(file->range_depth_mm, file->depth),
                              file->pitch_mm(file->range_b_mm, file->b_scans)};
        header_.type = VoxelType::f32;
        check_claim(header_, StoredType::f32, archive_.size_of(intensity), false, path);
        header_.texts = {{"echolux_quantity", "db"}, {"echolux_unit", "dB"}};
        for (const auto& [key, text] : whole.texts) add_provenance(header_, key, text);
        voxels_ = std::make_unique<ZipMember>(archive_, intensity);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        const std::int64_t slice_bytes = header_.slice_bytes();
        std::vector<std::byte> stored(static_cast<std::size_t>((slices.end - slices.begin) * slice_bytes));
        voxels_->read(slices.begin * slice_bytes, stored);
        std::vector<std::byte> voxels(stored.size());
        transpose(stored, voxels, header_.type, header_.size[0], header_.size[1]);
        return voxels;
    }

  private:
    ZipArchive archive_;
    ImageHeader header_;
    std::unique_ptr<ZipMember> voxels_;
};

}  // namespace

std::unique_ptr<ImageReader> open_thorlabs(const std::filesystem::path& path) {
    return std::make_unique<ThorlabsPicture>(path);
}

}  // namespace echolux
