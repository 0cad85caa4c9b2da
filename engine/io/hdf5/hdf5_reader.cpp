// Reads HDF5. Only the file itself is read: external links, raw data in other files and filter plugins are not
// supported.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <ranges>

#include "compute/counted.h"
#include "compute/error.h"
#include "engine/io/formats.h"
#include "engine/io/hdf5/hdf5_descriptor.h"
#include "engine/io/hdf5/hdf5_handles.h"

namespace echolux {
namespace {

using hdf5::Handle;

struct Extent {
    std::vector<hsize_t> sizes;

    // Returns sizes as [time][slice][row][column]. Leading dimensions must have size 1.
    static std::optional<Extent> of(hid_t dataset) {
        const Handle space(H5Dget_space(dataset), H5Sclose);
        const int rank = H5Sget_simple_extent_ndims(space);
        if (rank < 2 || rank > 8) return std::nullopt;
        Extent extent;
        extent.sizes.resize(static_cast<std::size_t>(rank));
        H5Sget_simple_extent_dims(space, extent.sizes.data(), nullptr);
        constexpr hsize_t max = hsize_t{1} << 40;
        const bool sound = std::ranges::all_of(extent.sizes, [](hsize_t size) { return size >= 1 && size < max; });
        const auto beyond = extent.sizes.size() > 4 ? extent.sizes.size() - 4 : 0;
        const bool flat =
            std::ranges::all_of(extent.sizes | std::views::take(beyond), [](hsize_t n) { return n == 1; });
        return sound && flat ? std::optional(extent) : std::nullopt;
    }

    hsize_t from_last(std::size_t i) const { return i < sizes.size() ? sizes[sizes.size() - 1 - i] : 1; }
    double voxels() const {
        double product = 1;
        for (const hsize_t size : sizes) product *= static_cast<double>(size);
        return product;
    }
};

std::int64_t bytes_of_file(int descriptor) {
    struct stat status {};
    return fstat(descriptor, &status) == 0 ? static_cast<std::int64_t>(status.st_size) : 0;
}

class Hdf5Reader : public ImageReader {
  public:
    Hdf5Reader(int descriptor, const std::filesystem::path& path, const std::string& wanted)
        : path_(path), file_bytes_(bytes_of_file(descriptor)) {
        const auto lock = hdf5::locked();
        H5PLset_loading_state(0);
        file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, hdf5::access_to(descriptor)), H5Fclose);
        if (!file_) refuse("is not an HDF5 file, or is damaged: " + hdf5::reason());
        dataset_ = Handle(H5Dopen2(file_, name_of_voxels(wanted).c_str(), H5P_DEFAULT), H5Dclose);
        const Handle type(H5Dget_type(dataset_), H5Tclose);
        extent_ = Extent::of(dataset_).value();
        stored_ = hdf5::stored_type(type).value();
        for (std::size_t i = 0; i < 3; ++i) header_.size[i] = static_cast<std::int64_t>(extent_.from_last(i));
        header_.time_points = static_cast<std::int64_t>(extent_.from_last(3));
        header_.type = voxel_type(stored_);
        check_storage();
        read_attributes();
        read_times();
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        return read_box(time_point, 0, {{0, header_.size[0]}, {0, header_.size[1]}, slices});
    }

    bool reads_boxes() const override { return true; }

    std::int64_t slices_together() const override { return slices_a_chunk_; }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t, const ImageBox& box) override {
        const auto lock = hdf5::locked();
        const std::array<Interval, 4> parts{box.columns, box.rows, box.slices, Interval{time_point, time_point + 1}};
        const std::size_t rank = extent_.sizes.size();
        std::vector<hsize_t> begin(rank, 0), count(rank, 1);
        hsize_t voxels = 1;
        for (std::size_t i = 0; i < std::min<std::size_t>(4, rank); ++i) {
            begin[rank - 1 - i] = static_cast<hsize_t>(parts[i].begin);
            count[rank - 1 - i] = static_cast<hsize_t>(parts[i].end - parts[i].begin);
            voxels *= count[rank - 1 - i];
        }
        std::vector<std::byte> stored(voxels * static_cast<hsize_t>(bytes_of(stored_)));
        const Handle space(H5Dget_space(dataset_), H5Sclose);
        const Handle memory(H5Screate_simple(1, &voxels, nullptr), H5Sclose);
        const Handle in_file(H5Dget_type(dataset_), H5Tclose);
        const Handle type = hdf5::memory_type(stored_, in_file);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
        if (H5Dread(dataset_, type, memory, space, H5P_DEFAULT, stored.data()) < 0) {
            refuse("has voxels that cannot be read: " + hdf5::reason(), "copy the file again");
        }
        return converted(stored_, std::move(stored));
    }

  private:
    // Returns the requested dataset, else /volume, else the largest array of numbers.
    std::string name_of_voxels(const std::string& wanted) const {
        std::string best;
        double max = 0;
        std::vector<std::string> names;
        const auto keep = [](hid_t, const char* name, const H5O_info_t* object, void* out) -> herr_t {
            if (object->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->emplace_back(name);
            constexpr std::size_t enough = 10000;
            return static_cast<std::vector<std::string>*>(out)->size() < enough ? 0 : 1;
        };
        H5Ovisit2(file_, H5_INDEX_NAME, H5_ITER_NATIVE, keep, &names, H5O_INFO_BASIC);
        for (const std::string& name : names) {
            const Handle dataset(H5Dopen2(file_, name.c_str(), H5P_DEFAULT), H5Dclose);
            if (!dataset) continue;
            const Handle type(H5Dget_type(dataset), H5Tclose);
            const std::optional<Extent> extent = Extent::of(dataset);
            if (!extent || !hdf5::stored_type(type)) continue;
            const bool ours = wanted.empty() ? "/" + name == hdf5::dataset_name : name == wanted;
            if (!ours && !wanted.empty()) continue;
            if (!ours && extent->voxels() <= max) continue;
            best = name;
            max = ours ? INFINITY : extent->voxels();
        }
        if (best.empty() && !wanted.empty()) refuse("has no array of numbers named " + wanted);
        if (best.empty()) refuse("contains no numeric dataset of 2 to 4 dimensions", "name one with /volume");
        return best;
    }

    // Rejects voxels in other files and filters other than deflate, shuffle and Fletcher-32. Determines the chunk
    // thickness.
    void check_storage() {
        const Handle list(H5Dget_create_plist(dataset_), H5Pclose);
        if (H5Pget_layout(list) == H5D_VIRTUAL || H5Pget_external_count(list) > 0) {
            refuse("has its voxels in other files", "put them into one file");
        }
        const std::size_t rank = extent_.sizes.size();
        std::vector<hsize_t> chunk(rank, 1);
        const bool in_chunks = H5Pget_layout(list) == H5D_CHUNKED &&
                               H5Pget_chunk(list, static_cast<int>(rank), chunk.data()) == static_cast<int>(rank);
        if (in_chunks && rank > 2) slices_a_chunk_ = static_cast<std::int64_t>(std::max<hsize_t>(1, chunk[rank - 3]));
        const bool packed = H5Pget_nfilters(list) > 0;
        for (int i = 0; i < H5Pget_nfilters(list); ++i) {
            const H5Z_filter_t filter =
                H5Pget_filter2(list, static_cast<unsigned>(i), nullptr, nullptr, nullptr, 0, nullptr, nullptr);
            const bool is_sturdy =
                filter == H5Z_FILTER_DEFLATE || filter == H5Z_FILTER_SHUFFLE || filter == H5Z_FILTER_FLETCHER32;
            if (!is_sturdy)
                refuse("is compressed with a filter other than gzip and shuffle", "repack it: h5repack -f GZIP=4");
        }
        check_claim(header_, stored_, file_bytes_, packed, path_);
        check_chunks(list, file_bytes_);
    }

    // Checks the number and size of chunks. Each chunk needs some bytes in the file's index, the library spends time on
    // each, and it allocates one at a time.
    void check_chunks(hid_t list, std::int64_t file_bytes) const {
        if (H5Pget_layout(list) != H5D_CHUNKED) return;
        std::vector<hsize_t> sides(extent_.sizes.size(), 1);
        H5Pget_chunk(list, static_cast<int>(sides.size()), sides.data());
        double chunks = 1, chunk_bytes = static_cast<double>(bytes_of(stored_));
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const auto side = static_cast<double>(std::max<hsize_t>(sides[i], 1));
            chunks *= std::ceil(static_cast<double>(extent_.sizes[i]) / side);
            chunk_bytes *= side;
        }
        constexpr double best_deflate = 1032;
        const auto held = static_cast<double>(file_bytes);
        if (chunks > held || chunk_bytes > held * best_deflate) {
            refuse(fmt::format("claims {:.0f} chunks of {:.0f} bytes, which its {} cannot hold", chunks, chunk_bytes,
                               counted(file_bytes, "bytes")),
                   "copy the file again");
        }
    }

    // Returns a numeric attribute with up to 16 values; empty if it is missing.
    std::vector<double> numbers(const char* name) const {
        if (H5Aexists(dataset_, name) <= 0) return {};
        const Handle attribute(H5Aopen(dataset_, name, H5P_DEFAULT), H5Aclose);
        const Handle space(H5Aget_space(attribute), H5Sclose);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        if (count < 1 || count > 16) return {};
        std::vector<double> values(static_cast<std::size_t>(count));
        return H5Aread(attribute, H5T_NATIVE_DOUBLE, values.data()) >= 0 ? values : std::vector<double>{};
    }

    void read_attributes() {
        const std::vector<double> sizes_um = numbers("element_size_um"), origin_um = numbers("origin_um");
        header_.has_unit = sizes_um.size() == 3;
        for (std::size_t i = 0; i < 3; ++i) {  // order: [slice, row, column]
            const bool known = header_.has_unit && std::isfinite(sizes_um[2 - i]) && sizes_um[2 - i] > 0;
            header_.spacing_mm[i] = known ? sizes_um[2 - i] / 1000 : 0;
            if (origin_um.size() == 3 && std::isfinite(origin_um[2 - i]))
                header_.origin_mm[i] = origin_um[2 - i] / 1000;
        }
        const auto scale = numbers("scale"), offset = numbers("offset"), step = numbers("time_step_s");
        if (scale.size() == 1 && std::isfinite(scale[0]) && scale[0] != 0) header_.scale = scale[0];
        if (offset.size() == 1 && std::isfinite(offset[0])) header_.offset = offset[0];
        if (step.size() == 1 && std::isfinite(step[0]) && step[0] > 0) header_.time_step_s = step[0];
        const auto keep = [](hid_t object, const char* name, const H5A_info_t*, void* out) -> herr_t {
            read_text(object, name, *static_cast<std::map<std::string, std::string>*>(out));
            return 0;
        };
        H5Aiterate2(dataset_, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, keep, &header_.texts);
    }

    // Reads attributes with text of fixed length, as written by us.
    static void read_text(hid_t object, const char* name, std::map<std::string, std::string>& texts) {
        const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
        const Handle type(H5Aget_type(attribute), H5Tclose);
        const hsize_t bytes = H5Aget_storage_size(attribute);
        constexpr hsize_t max = 1 << 24;
        if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || bytes == 0 || bytes > max) return;
        std::string text(bytes, '\0');
        if (H5Aread(attribute, type, text.data()) >= 0) texts[name] = text.substr(0, text.find('\0'));
    }

    void read_times() {
        if (header_.time_points < 2 || H5Lexists(file_, hdf5::times_name, H5P_DEFAULT) <= 0) return;
        const Handle times(H5Dopen2(file_, hdf5::times_name, H5P_DEFAULT), H5Dclose);
        const Handle space(H5Dget_space(times), H5Sclose);
        if (H5Sget_simple_extent_npoints(space) != header_.time_points) return;
        std::vector<double> values(static_cast<std::size_t>(header_.time_points));
        if (H5Dread(times, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) return;
        // Evenly spaced times are already described by time_step_s.
        bool even = true;
        for (std::size_t i = 0; i < values.size(); ++i) {
            even = even && values[i] == static_cast<double>(i) * header_.time_step_s;
        }
        if (!even && std::ranges::all_of(values, [](double t) { return std::isfinite(t); })) header_.times_s = values;
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, path_.string(), remedy);
    }

    std::filesystem::path path_;
    std::int64_t file_bytes_;
    Handle file_, dataset_;
    Extent extent_;
    StoredType stored_ = StoredType::u8;
    std::int64_t slices_a_chunk_ = 1;
    ImageHeader header_;
};

}  // namespace

std::unique_ptr<ImageReader> read_hdf5(int descriptor, const std::filesystem::path& path, const std::string& part) {
    return std::make_unique<Hdf5Reader>(descriptor, path, part);
}

}  // namespace echolux
