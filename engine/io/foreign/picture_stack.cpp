// A folder of pictures (PNG, or TIFF with one page each) as one volume. The pictures are slices in natural order of
// their names. A folder that also contains volumes is a series of them instead.
#include <fmt/format.h>

#include <algorithm>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/image_format.h"
#include "engine/io/png_file.h"
#include "engine/io/volume_file.h"

namespace echolux {
namespace {

using Path = std::filesystem::path;

bool is_png(const Path& path) {
    return lower_ending(path) == ".png";
}

bool is_tiff(const Path& path) {
    return lower_ending(path) == ".tif" || lower_ending(path) == ".tiff";
}

struct Listing {
    std::vector<Path> pngs, tiffs;
    bool has_volumes = false;
};

Listing listing_of(const Path& folder) {
    Listing listing;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (entry.path().filename().string().starts_with('.')) continue;
        if (entry.is_directory(problem)) continue;
        if (is_png(entry.path())) {
            listing.pngs.push_back(entry.path());
        } else if (is_tiff(entry.path())) {
            listing.tiffs.push_back(entry.path());
        } else if (image_format_of(entry.path()) != nullptr) {
            listing.has_volumes = true;
        }
    }
    std::ranges::sort(listing.pngs, is_before_naturally_named);
    std::ranges::sort(listing.tiffs, is_before_naturally_named);
    return listing;
}

std::unique_ptr<ImageReader> open_picture(const Path& path) {
    return format_of(path).open(path);
}

bool has_one_page(const Path& tiff) {
    try {
        return open_picture(tiff)->header().size[2] == 1;
    } catch (const Error&) {
        return true;  // opening it will report the error
    }
}

// Returns PNG files if there are any; TIFF files beside them have another purpose.
std::vector<Path> slices_in(const Path& folder) {
    Listing listing = listing_of(folder);
    if (listing.has_volumes) return {};
    if (!listing.pngs.empty()) return listing.pngs;
    if (listing.tiffs.size() < 2 || !has_one_page(listing.tiffs.front())) return {};
    return listing.tiffs;
}

class PictureStack final : public ImageReader {
  public:
    explicit PictureStack(const Path& folder) : files_(slices_in(folder)) {
        if (files_.empty()) {
            throw Error(ErrorCode::bad_file, "contains no images", folder.string(), "slices are .png or .tif");
        }
        header_ = header_of(files_.front());
        header_.size[2] = std::ssize(files_);
        header_.time_points = 1;
        add_provenance(header_, "slices",
                       fmt::format("{} to {}", files_.front().filename().string(), files_.back().filename().string()));
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t, Interval slices) override {
        std::vector<std::byte> voxels;
        for (std::int64_t i = slices.begin; i < slices.end; ++i) {
            const std::vector<std::byte> slice = voxels_of(files_[index(i)]);
            voxels.insert(voxels.end(), slice.begin(), slice.end());
        }
        return voxels;
    }

  private:
    static ImageHeader header_of(const Path& file) {
        if (is_tiff(file)) return open_picture(file)->header();
        return header_of(gray_png_sizes(file));
    }

    static ImageHeader header_of(const GrayPicture& picture) {
        ImageHeader header;
        header.size = {picture.width, picture.height, 1};
        header.spacing_mm = {0, 0, 0};
        header.has_unit = false;
        header.type = picture.pixel_bytes == 2 ? VoxelType::u16 : VoxelType::u8;
        return header;
    }

    // Throws if a slice differs from the first.
    void compare(const ImageHeader& slice, const Path& file) const {
        if (slice.size[0] == header_.size[0] && slice.size[1] == header_.size[1] && slice.size[2] == 1 &&
            slice.type == header_.type) {
            return;
        }
        throw Error(ErrorCode::bad_file,
                    fmt::format("has {} x {} pixels of {}, {} has {} x {} of {}", slice.size[0], slice.size[1],
                                plural(bytes_of(slice.type), "bytes"), files_.front().filename().string(),
                                header_.size[0], header_.size[1], bytes_of(header_.type)),
                    file.string(),
                    "all slices of a volume must have the same size and type: move it to another folder");
    }

    std::vector<std::byte> voxels_of(const Path& file) const {
        if (is_png(file)) {
            GrayPicture picture = read_gray_png(file);
            compare(header_of(picture), file);
            return std::move(picture.pixels);
        }
        const std::unique_ptr<ImageReader> slice = open_picture(file);
        compare(slice->header(), file);
        return slice->read(0, {0, 1});
    }

    std::vector<Path> files_;
    ImageHeader header_;
};

}  // namespace

bool is_picture_stack(const Path& folder) {
    std::error_code problem;
    return std::filesystem::is_directory(folder, problem) && !slices_in(folder).empty();
}

std::unique_ptr<ImageReader> open_picture_stack(const Path& folder) {
    return std::make_unique<PictureStack>(folder);
}

}  // namespace echolux
