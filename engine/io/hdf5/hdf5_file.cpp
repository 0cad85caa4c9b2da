// HDF5 volumes. We write one dataset /volume, time x slices x rows x columns (without time for a single volume), in
// chunks compressed by gzip with checksums. Its attributes are spacing, origin and texts; /times_s holds the time
// stamps (docs/formats.md). In foreign files, the largest dataset of two to four dimensions is the volume.
//
// Files are read in a separate process, because the library is not hardened against hostile files.
#include <fmt/format.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/io/contained/reader_process.h"
#include "engine/io/formats.h"
#include "engine/io/image_header.h"
#include "engine/io/image_stream.h"

#if __has_include(<H5FDdevelop.h>)
#include <H5FDdevelop.h>
#endif

namespace echolux::hdf5 {
namespace {

// ---- handles and number types ---------------------------------------------------------------------------------------

constexpr const char* dataset_name = "/volume";
constexpr const char* times_name = "/times_s";

// Returns the lock for calls of the library, which supports one thread at a time. Recursive.
std::unique_lock<std::recursive_mutex> locked() {
    static std::recursive_mutex mutex;
    // The library's cleanup at exit crashes if a file could not be closed (full disk).
    [[maybe_unused]] static const herr_t no_cleaning_up = H5dont_atexit();
    std::unique_lock lock(mutex);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // errors become exceptions; this setting is per thread
    return lock;
}

// Closes its object; negative if empty.
class Handle {
  public:
    using Close = herr_t (*)(hid_t);

    Handle() = default;
    Handle(hid_t id, Close with) : id_(id), close_(with) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle& operator=(Handle&& other) noexcept {
        std::swap(id_, other.id_);
        std::swap(close_, other.close_);
        return *this;
    }
    ~Handle() { close(); }

    operator hid_t() const { return id_; }
    explicit operator bool() const { return id_ >= 0; }

    // Returns false if the library could not close the object.
    bool close() {
        if (id_ < 0) return true;
        const auto lock = locked();
        return close_(std::exchange(id_, -1)) >= 0;
    }

  private:
    hid_t id_ = -1;
    Close close_ = nullptr;
};

std::string member_name(hid_t type, unsigned index) {
    char* name = H5Tget_member_name(type, index);
    const std::string text = name == nullptr ? "" : name;
    H5free_memory(name);
    return text;
}

// Returns a compound of two floats named "r" and "i" (h5py's convention), or named as in the file, because the library
// matches members by name.
Handle complex_type(hid_t in_file) {
    Handle type(H5Tcreate(H5T_COMPOUND, 8), H5Tclose);
    H5Tinsert(type, in_file < 0 ? "r" : member_name(in_file, 0).c_str(), 0, H5T_NATIVE_FLOAT);
    H5Tinsert(type, in_file < 0 ? "i" : member_name(in_file, 1).c_str(), 4, H5T_NATIVE_FLOAT);
    return type;
}

bool is_complex(hid_t type) {
    return H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) == 2 &&
           H5Tget_member_class(type, 0) == H5T_FLOAT && H5Tget_member_class(type, 1) == H5T_FLOAT;
}

// Returns the library's description of the last error.
std::string reason() {
    std::string text;
    const auto keep = [](unsigned depth, const H5E_error2_t* error, void* out) -> herr_t {
        if (depth == 0 && error->desc != nullptr) *static_cast<std::string*>(out) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep, &text);
    return text;
}

// Returns the type in this machine's memory. Members of complex numbers have the same names as in the type `in_file`.
Handle memory_type(StoredType type, hid_t in_file = -1) {
    switch (type) {
        case StoredType::u8: return {H5Tcopy(H5T_NATIVE_UINT8), H5Tclose};
        case StoredType::i8: return {H5Tcopy(H5T_NATIVE_INT8), H5Tclose};
        case StoredType::u16: return {H5Tcopy(H5T_NATIVE_UINT16), H5Tclose};
        case StoredType::i16: return {H5Tcopy(H5T_NATIVE_INT16), H5Tclose};
        case StoredType::u32: return {H5Tcopy(H5T_NATIVE_UINT32), H5Tclose};
        case StoredType::i32: return {H5Tcopy(H5T_NATIVE_INT32), H5Tclose};
        case StoredType::u64: return {H5Tcopy(H5T_NATIVE_UINT64), H5Tclose};
        case StoredType::i64: return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
        case StoredType::f64: return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
        case StoredType::complex64: return complex_type(in_file);
        case StoredType::f16:
        case StoredType::f32: break;
    }
    return {H5Tcopy(H5T_NATIVE_FLOAT), H5Tclose};
}

// Returns std::nullopt if the type cannot be that of voxels.
std::optional<StoredType> stored_type(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_FLOAT)
        return size == 8 ? StoredType::f64 : size <= 4 ? std::optional(StoredType::f32) : std::nullopt;
    if (is_complex(type)) return StoredType::complex64;
    if (kind != H5T_INTEGER) return std::nullopt;
    const bool negative = H5Tget_sign(type) == H5T_SGN_2;
    switch (size) {
        case 1: return negative ? StoredType::i8 : StoredType::u8;
        case 2: return negative ? StoredType::i16 : StoredType::u16;
        case 4: return negative ? StoredType::i32 : StoredType::u32;
        case 8: return negative ? StoredType::i64 : StoredType::u64;
        default: return std::nullopt;
    }
}

// ---- a driver for open file descriptors -----------------------------------------------------------------------------
// Read-only, for the library's virtual file layer. A reader process cannot open files, including files that an HDF5
// file refers to.

int next_descriptor = -1;  // passed from access_to() to open_next()

// The library casts between H5FD_t and the driver's struct.
struct OpenFile {
    H5FD_t common{};  // must be the first member
    int descriptor = -1;
    haddr_t size = 0;  // of the file
    haddr_t end = 0;   // end of the space that the library regards as allocated
};

OpenFile& ours(H5FD_t* file) {
    return *reinterpret_cast<OpenFile*>(file);
}

const OpenFile& ours(const H5FD_t* file) {
    return *reinterpret_cast<const OpenFile*>(file);
}

H5FD_t* open_next(const char*, unsigned flags, hid_t, haddr_t) {
    const int descriptor = std::exchange(next_descriptor, -1);
    struct stat status {};
    if (descriptor < 0 || (flags & H5F_ACC_RDWR) != 0 || fstat(descriptor, &status) != 0) return nullptr;
    auto* file = new (std::nothrow) OpenFile;
    if (file == nullptr) return nullptr;
    file->descriptor = descriptor;
    file->size = static_cast<haddr_t>(status.st_size);
    return &file->common;
}

herr_t read_at(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t place, std::size_t bytes, void* out) {
    auto* to = static_cast<char*>(out);
    while (bytes > 0) {
        const ssize_t got = pread(ours(file).descriptor, to, bytes, static_cast<off_t>(place));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) {  // drivers return zeros beyond the end
            std::memset(to, 0, bytes);
            return 0;
        }
        to += got;
        place += static_cast<haddr_t>(got);
        bytes -= index(got);
    }
    return 0;
}

const H5FD_class_t& driver() {
    static const H5FD_class_t made = [] {
        H5FD_class_t one{};
#if H5_VERSION_GE(1, 13, 0)
        one.version = H5FD_CLASS_VERSION;
        one.value = static_cast<H5FD_class_value_t>(601);  // beyond the library's own values
#endif
        one.name = "echolux descriptor";
        one.maxaddr = (haddr_t{1} << 62) - 1;
        one.fc_degree = H5F_CLOSE_WEAK;
        one.open = open_next;
        one.close = [](H5FD_t* file) -> herr_t {
            delete &ours(file);
            return 0;
        };
        one.query = [](const H5FD_t*, unsigned long* flags) -> herr_t {
            if (flags != nullptr) *flags = H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE;
            return 0;
        };
        one.get_eoa = [](const H5FD_t* file, H5FD_mem_t) { return ours(file).end; };
        one.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
            ours(file).end = end;
            return 0;
        };
        one.get_eof = [](const H5FD_t* file, H5FD_mem_t) { return ours(file).size; };
        one.read = read_at;
        one.write = [](H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) -> herr_t { return -1; };
        const H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;
        for (std::size_t i = 0; i < std::size(kinds); ++i) one.fl_map[i] = kinds[i];
        return one;
    }();
    return made;
}

// Returns access properties with which H5Fopen() opens the file at `descriptor`, regardless of its name argument.
// Supports one file per process.
Handle access_to(int descriptor) {
    static const hid_t known = H5FDregister(&driver());
    Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
    H5Pset_driver(access, known, nullptr);
    next_descriptor = descriptor;
    return access;
}

}  // namespace
}  // namespace echolux::hdf5

namespace echolux {

// ---- reading --------------------------------------------------------------------------------------------------------
// Only the file itself is read: external links, raw data in other files and filter plugins are not supported.

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
        extent.sizes.resize(index(rank));
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
        if (best.empty() && !wanted.empty()) refuse("has no numeric array named " + wanted);
        if (best.empty()) refuse("contains no numeric dataset of 2 to 4 dimensions", "name one with /volume");
        return best;
    }

    // Rejects voxels in other files and filters other than deflate, shuffle and Fletcher-32. Determines the chunk
    // thickness.
    void check_storage() {
        const Handle list(H5Dget_create_plist(dataset_), H5Pclose);
        if (H5Pget_layout(list) == H5D_VIRTUAL || H5Pget_external_count(list) > 0) {
            refuse("stores its voxels in other files", "put them into one file");
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
        constexpr double best_deflate = 1032;  // max compression ratio of the format (zlib.net/zlib_tech.html)
        const auto held = static_cast<double>(file_bytes);
        if (chunks > held || chunk_bytes > held * best_deflate) {
            refuse(fmt::format("claims {:.0f} chunks of {:.0f} bytes, which its {} cannot hold", chunks, chunk_bytes,
                               plural(file_bytes, "bytes")),
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
        std::vector<double> values(index(count));
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
        std::vector<double> values(index(header_.time_points));
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

// Memory limit: one chunk, which may expand by up to 1032 (deflate), both compressed and decompressed.
static std::int64_t max_memory_for(const std::filesystem::path& path) {
    constexpr std::int64_t some = 256 << 20, best_packing = 1032, max = 16LL << 30;
    std::error_code missing;
    const std::uintmax_t bytes = std::filesystem::file_size(path, missing);
    if (missing) return some;
    return some + std::min(max, best_packing * static_cast<std::int64_t>(std::min<std::uintmax_t>(bytes, max)));
}

std::unique_ptr<ImageReader> open_hdf5(const std::filesystem::path& path) {
    return open_hdf5_dataset(path, {});
}

std::unique_ptr<ImageReader> open_hdf5_dataset(const std::filesystem::path& path, const std::string& name) {
    return open_contained({.kind = "hdf5", .path = path, .part = name, .max_bytes = max_memory_for(path)});
}

// ---- writing --------------------------------------------------------------------------------------------------------

namespace {

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
