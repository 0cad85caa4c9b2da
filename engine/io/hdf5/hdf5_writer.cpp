// Writes HDF5 in chunks, each compressed and with a checksum.
#include <algorithm>

#include "compute/error.h"
#include "engine/io/formats.h"
#include "engine/io/hdf5/hdf5_handles.h"
#include "engine/io/image_stream.h"

namespace echolux {
namespace {

using hdf5::Handle;

constexpr std::int64_t chunk_slices = 16, chunk_side = 64;

class Hdf5Writer : public SlabWriter {
  public:
    Hdf5Writer(const std::filesystem::path& path, const ImageHeader& header, bool packed, const std::string& where)
        : SlabWriter(header, chunk_slices, where), where_(where), series_(header.time_points > 1) {
        const auto lock = hdf5::locked();
        const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
        // Allows attributes larger than 64 KiB, and is widely readable.
        H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18);
        file_ = Handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose);
        if (!file_) fail();
        create_dataset(packed);
        put_attributes();
        if (series_) put_times();
    }

    void finish() override {
        const auto lock = hdf5::locked();
        const bool closed = dataset_.close() && H5Fflush(file_, H5F_SCOPE_GLOBAL) >= 0;
        if (!closed || !file_.close()) fail();
    }

  protected:
    void put_slab(std::int64_t time_point, Interval slices, std::span<const std::byte> voxels) override {
        const auto lock = hdf5::locked();
        const auto begin = extent(time_point, slices.begin, 0, 0);
        const auto count = extent(1, slices.end - slices.begin, header_.size[1], header_.size[0]);
        const Handle space(H5Dget_space(dataset_), H5Sclose);
        const Handle memory(H5Screate_simple(static_cast<int>(count.size()), count.data(), nullptr), H5Sclose);
        const Handle type = hdf5::memory_type(stored_as(header_.type));
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin.data(), nullptr, count.data(), nullptr);
        if (H5Dwrite(dataset_, type, memory, space, H5P_DEFAULT, voxels.data()) < 0) fail();
    }

  private:
    // The order is [time][slice][row][column], without time for a single volume.
    std::vector<hsize_t> extent(std::int64_t time, std::int64_t slices, std::int64_t rows, std::int64_t columns) const {
        std::vector<hsize_t> sizes;
        if (series_) sizes.push_back(static_cast<hsize_t>(time));
        for (const std::int64_t size : {slices, rows, columns}) sizes.push_back(static_cast<hsize_t>(size));
        return sizes;
    }

    void create_dataset(bool packed) {
        const auto [columns, rows, slices] = header_.size;
        const auto sizes = extent(header_.time_points, slices, rows, columns);
        const auto chunk =
            extent(1, std::min(slices, chunk_slices), std::min(rows, chunk_side), std::min(columns, chunk_side));
        const Handle space(H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose);
        const Handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
        H5Pset_chunk(list, static_cast<int>(chunk.size()), chunk.data());
        H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
        constexpr unsigned quick = 1;
        if (packed) H5Pset_shuffle(list);
        if (packed) H5Pset_deflate(list, quick);
        H5Pset_fletcher32(list);  // checksum per chunk
        const Handle type = hdf5::memory_type(stored_as(header_.type));
        dataset_ = Handle(H5Dcreate2(file_, hdf5::dataset_name, type, space, H5P_DEFAULT, list, H5P_DEFAULT), H5Dclose);
        if (!dataset_) fail();
    }

    void put_numbers(const char* name, const std::vector<double>& values) {
        const hsize_t count = values.size();
        const Handle space(count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr), H5Sclose);
        const Handle attribute(H5Acreate2(dataset_, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        if (!attribute || H5Awrite(attribute, H5T_NATIVE_DOUBLE, values.data()) < 0) fail();
    }

    void put_text(const std::string& name, const std::string& text) {
        const Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
        H5Tset_size(type, text.size() + 1);
        H5Tset_cset(type, H5T_CSET_UTF8);
        const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
        const Handle attribute(H5Acreate2(dataset_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
        if (!attribute || H5Awrite(attribute, type, text.c_str()) < 0) fail();
    }

    // Spacing and origin are stored in micrometres in the order [slice, row, column].
    void put_attributes() {
        std::vector<double> spacing_um, origin_um;
        for (const std::size_t axis : {2u, 1u, 0u}) {
            spacing_um.push_back(header_.spacing_mm[axis] * 1000);
            origin_um.push_back(header_.origin_mm[axis] * 1000);
        }
        put_text("axes", series_ ? "tzyx" : "zyx");
        if (header_.has_unit) put_numbers("element_size_um", spacing_um);
        put_numbers("origin_um", origin_um);
        put_numbers("scale", {header_.scale});
        put_numbers("offset", {header_.offset});
        if (series_ && header_.time_step_s > 0) put_numbers("time_step_s", {header_.time_step_s});
        for (const auto& [key, text] : header_.texts) put_text(key, text);
    }

    void put_times() {
        std::vector<double> times = header_.times_s;
        if (times.empty() && header_.time_step_s <= 0) return;
        for (std::int64_t t = std::ssize(times); t < header_.time_points; ++t) {
            times.push_back(static_cast<double>(t) * header_.time_step_s);
        }
        const hsize_t count = times.size();
        const Handle space(H5Screate_simple(1, &count, nullptr), H5Sclose);
        const Handle dataset(
            H5Dcreate2(file_, hdf5::times_name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
            H5Dclose);
        if (H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times.data()) < 0) fail();
    }

    [[noreturn]] void fail() const {
        throw Error(ErrorCode::output, "could not be written completely", where_,
                    "check folder, permissions and free space");
    }

    std::string where_;
    bool series_;
    Handle file_, dataset_;
};

}  // namespace

std::unique_ptr<ImageWriter> create_hdf5(const std::filesystem::path& path, const ImageHeader& header,
                                         const ImageStorage& storage, const std::string& where) {
    const bool packed = storage.compression != Compression::none;
    return std::make_unique<Hdf5Writer>(path, header, packed, where);
}

}  // namespace echolux
