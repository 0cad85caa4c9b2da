// MATLAB .mat files of version 7.3 are HDF5 files in MATLAB's order, with the first dimension fastest. The HDF5 reader
// takes depth as columns, so rows and columns are exchanged here.
#include <utility>

#include "engine/build.h"
#include "engine/io/foreign/matlab_array.h"
#include "engine/io/formats.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

class Matlab73 final : public ImageReader {
  public:
    explicit Matlab73(std::unique_ptr<ImageReader> depth_first)
        : depth_first_(std::move(depth_first)), header_(depth_first_->header()) {
        std::swap(header_.size[0], header_.size[1]);
        std::swap(header_.spacing_mm[0], header_.spacing_mm[1]);
        std::swap(header_.origin_mm[0], header_.origin_mm[1]);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        const std::vector<std::byte> stored = depth_first_->read(time_point, slices);
        std::vector<std::byte> voxels(stored.size());
        transpose(stored, voxels, header_.type, header_.size[0], header_.size[1]);
        return voxels;
    }

  private:
    std::unique_ptr<ImageReader> depth_first_;
    ImageHeader header_;
};

}  // namespace

std::unique_ptr<ImageReader> open_matlab73(const std::filesystem::path& file, const std::string& variable) {
    if constexpr (has(Part::hdf5)) return std::make_unique<Matlab73>(open_hdf5_dataset(file, variable));
    refuse_missing(Part::hdf5, file.string());
}

}  // namespace echolux
