// DICOM files and folders as volumes. Slices are sorted by their position in the patient; repeated positions are time
// points. In a folder with several series, the largest is used, or the one named after a colon by its number, its
// description or the beginning of its UID: FOLDER:3.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <tuple>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/plural.h"
#include "engine/build.h"
#include "engine/io/file_bytes.h"
#include "engine/io/file_name.h"
#include "engine/io/foreign/dicom_header.h"
#include "engine/io/foreign/gdcm/dicom_codec.h"
#include "engine/io/formats.h"
#include "engine/io/image_header.h"
#include "engine/io/volume_file.h"
#include "engine/memory.h"

namespace echolux {
namespace {

// ---- compressed voxels ----------------------------------------------------------------------------------------------
// Items with compressed frames (PS3.5, A.4): an index, then fragments. Each frame has its own header with its size: SOF
// in JPEG and JPEG-LS (ITU-T T.81), SIZ in JPEG 2000 (ITU-T T.800).

class Items {
  public:
    explicit Items(const DicomHeader& header) : header_(header), file_(header.path) {}

    std::vector<DicomItem> read() {
        std::vector<DicomItem> items;
        std::int64_t place = header_.voxels_at;
        for (bool is_index = true;; is_index = false) {
            constexpr std::uint32_t item = 0xE000FFFE, end = 0xE0DDFFFE;  // as stored, in little-endian order
            const auto tag = file_.number<std::uint32_t>(place);
            const std::int64_t bytes = file_.number<std::uint32_t>(place + 4);
            place += 8;
            if (tag == end) return items;
            if (tag != item || bytes > file_.size() - place)
                file_.fail("ends within its voxels", "copy the file again");
            if (!is_index) items.push_back({place, bytes});
            if (!is_index && bytes > 4) check_fragment(place, place + bytes);
            place += bytes;
        }
    }

  private:
    // Reads a big-endian number.
    std::int64_t big(std::int64_t place, int bytes) {
        std::int64_t value = 0;
        for (int i = 0; i < bytes; ++i) value = value << 8 | file_.number<std::uint8_t>(place + i);
        return value;
    }

    // Checks the frame header. Continuation fragments start with other bytes and are accepted.
    void check_fragment(std::int64_t place, std::int64_t end) {
        const std::int64_t start = big(place, 4);
        if (start == 0xFF4FFF51) check_sizes(place + 8, end);
        if (start >> 16 == 0xFFD8) check_jpeg(place + 2, end);
    }

    // Checks SIZ: width and height of the grid, its origin, those of the tiles, number of components.
    void check_sizes(std::int64_t place, std::int64_t end) {
        if (place + 34 > end) file_.fail("has a damaged frame");
        compare(big(place, 4) - big(place + 8, 4), big(place + 4, 4) - big(place + 12, 4));
        if (big(place + 32, 2) != 1) file_.fail("has a colour frame");
    }

    // Finds the SOF marker and checks its sizes.
    void check_jpeg(std::int64_t place, std::int64_t end) {
        while (place + 9 < end && big(place, 1) == 0xFF) {
            const std::int64_t marker = big(place + 1, 1);
            const bool is_frame =
                (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) ||
                marker == 0xF7;
            if (is_frame) {
                compare(big(place + 7, 2), big(place + 5, 2));
                if (big(place + 9, 1) != 1) file_.fail("has a colour frame");
                return;
            }
            place += 2 + big(place + 2, 2);
        }
        file_.fail("has a damaged frame", "copy the file again");
    }

    void compare(std::int64_t width, std::int64_t height) const {
        if (width == header_.columns && height == header_.rows) return;
        file_.fail(fmt::format("is damaged: its header gives {} x {} pixels, a frame in it {} x {}", header_.columns,
                               header_.rows, width, height));
    }

    const DicomHeader& header_;
    FileBytes file_;
};

// Returns the items with frames, without the index. Checks the size in each frame's header, because codecs allocate by
// it. Throws Error{bad_file} if it differs from the file's header, or if the items have no end.
std::vector<DicomItem> dicom_items(const DicomHeader& header) {
    return Items(header).read();
}

// Run-length encoding (PS3.5, annex G). A frame is an item with up to 15 segments, one per byte of a voxel from the
// highest, encoded like Macintosh PackBits. Not decoded by GDCM, which divides by numbers in the frame.
class RunLengths {
  public:
    explicit RunLengths(const DicomHeader& header)
        : file_(header.path), voxel_bytes_(bytes_of(header.stored)), voxels_(header.columns * header.rows) {}

    // Decodes one frame into little-endian voxels.
    void unpack(const DicomItem& item, std::span<std::byte> out) {
        const std::vector<std::byte> packed = file_.bytes(item.place, item.bytes);
        constexpr std::size_t header_bytes = 64;
        if (packed.size() < header_bytes || word(packed, 0) != voxel_bytes_) fail();
        for (std::int64_t i = 0; i < voxel_bytes_; ++i) {
            const std::int64_t begin = word(packed, 4 * (i + 1));
            const std::int64_t end = i + 1 < voxel_bytes_ ? word(packed, 4 * (i + 2)) : std::ssize(packed);
            if (begin < std::ssize(packed) && header_bytes <= index(begin) && begin <= end &&
                end <= std::ssize(packed)) {
                unpack_plane(std::span(packed).subspan(index(begin), index(end - begin)),
                             out.subspan(index(voxel_bytes_ - 1 - i)));
            } else {
                fail();
            }
        }
    }

  private:
    // Reads a little-endian 32-bit number.
    static std::int64_t word(const std::vector<std::byte>& bytes, std::int64_t place) {
        std::int64_t value = 0;
        for (std::int64_t i = 3; i >= 0; --i)
            value = value << 8 | std::to_integer<std::int64_t>(bytes[index(place + i)]);
        return value;
    }

    // Decodes one byte of each voxel. `out` starts at that byte of the first voxel.
    void unpack_plane(std::span<const std::byte> packed, std::span<std::byte> out) const {
        std::int64_t done = 0;
        const auto put = [&](std::byte byte) { out[index(done++ * voxel_bytes_)] = byte; };
        while (done < voxels_) {
            if (packed.empty()) fail();
            const auto code = static_cast<std::int8_t>(packed.front());
            packed = packed.subspan(1);
            if (code == -128) continue;  // no operation
            const std::int64_t count = code >= 0 ? code + 1 : 1 - code;
            const std::size_t used = code >= 0 ? index(count) : 1;
            if (count > voxels_ - done || used > packed.size()) fail();
            for (std::int64_t i = 0; i < count; ++i) put(packed[code >= 0 ? index(i) : 0]);
            packed = packed.subspan(used);
        }
    }

    [[noreturn]] void fail() const { file_.fail("has a frame whose run lengths are damaged", "copy the file again"); }

    FileBytes file_;
    std::int64_t voxel_bytes_;
    std::int64_t voxels_;  // per frame
};

// Decompresses run-length encoded frames. Throws Error{bad_file}.
std::vector<std::byte> unpack_run_lengths(const DicomHeader& header, const std::vector<DicomItem>& items) {
    if (items.size() != header.frames.size()) FileBytes(header.path).fail("its frames do not match its header");
    const std::int64_t frame_bytes = header.columns * header.rows * bytes_of(header.stored);
    std::vector<std::byte> voxels(items.size() * index(frame_bytes));
    RunLengths run_lengths(header);
    for (std::size_t i = 0; i < items.size(); ++i) {
        run_lengths.unpack(items[i], std::span(voxels).subspan(i * index(frame_bytes), index(frame_bytes)));
    }
    return voxels;
}

// Decompresses all frames to header.stored. `codec` is state shared by the files of a series, initially null. Throws
// Error{bad_file, out_of_memory, bad_setting (the codec is not part of this build)}.
std::vector<std::byte> unpack_dicom(const DicomHeader& header, std::shared_ptr<void>& codec) {
    const std::vector<DicomItem> items = dicom_items(header);
    const auto frames = std::ssize(header.frames);
    constexpr std::int64_t copies = 3;  // compressed, decompressed, result
    require_memory(copies * header.columns * header.rows * frames * bytes_of(header.stored), header.path.string(),
                   "unpack it with another program first");
    const bool by_run_lengths = header.transfer_syntax == "1.2.840.10008.1.2.5";
    if (by_run_lengths) return unpack_run_lengths(header, items);
    if constexpr (has(Part::gdcm)) {
        if (!codec) codec = std::make_shared<DicomCodec>();
        return static_cast<DicomCodec*>(codec.get())->unpack(header, items);
    }
    refuse_missing(Part::gdcm, header.path.string());
}

// ---- series ---------------------------------------------------------------------------------------------------------
// Sorts the frames of DICOM files into slices and time points, and reads them.

struct Slice {
    std::size_t file = 0;   // index in the series
    std::size_t frame = 0;  // index in the file
    double height_mm = 0;   // along the normal of the slices
    DicomFrame meaning;
};

using Series = std::vector<DicomHeader>;

Vector3 normal_of(const DicomHeader& header) {
    const Vector3 &a = header.along_row, &b = header.along_column;
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double height_of(const Vector3& position, const Vector3& normal) {
    return position[0] * normal[0] + position[1] * normal[1] + position[2] * normal[2];
}

std::size_t frames_in(const Series& series) {
    std::size_t count = 0;
    for (const DicomHeader& header : series) count += header.frames.size();
    return count;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> files;
    std::error_code problem;
    for (const auto& entry : std::filesystem::directory_iterator(folder, problem)) {
        if (is_dicom(entry.path())) files.push_back(entry.path());
    }
    std::ranges::sort(files, is_before_naturally_named);
    return files;
}

// Groups files by series, shape and type. Series often contain overview pictures of other shapes. The largest group is
// first.
std::vector<Series> series_in(const std::filesystem::path& folder) {
    std::map<std::tuple<std::string, std::int64_t, std::int64_t, StoredType>, Series> found;
    std::optional<Error> unreadable;
    for (const std::filesystem::path& file : files_in(folder)) {
        try {
            DicomHeader header = read_dicom_header(file);
            if (header.frames.empty()) continue;
            found[{header.series, header.columns, header.rows, header.stored}].push_back(std::move(header));
        } catch (const Error& error) {  // a photograph or a report in the same folder
            if (!unreadable) unreadable = error;
        }
    }
    if (found.empty() && unreadable) throw Error(*unreadable);
    std::vector<Series> all;
    for (auto& [key, series] : found) all.push_back(std::move(series));
    if (all.empty()) {
        throw Error(ErrorCode::bad_file, "contains no DICOM images", folder.string(),
                    "name the folder that holds them");
    }
    std::ranges::stable_sort(all, std::greater{}, frames_in);
    return all;
}

std::string name_of(const Series& series) {
    const DicomHeader& first = series.front();
    return fmt::format("{} {}{}", first.modality, first.series_number,
                       first.description.empty() ? "" : " " + first.description);
}

bool is_named(const Series& series, const std::string& name) {
    const DicomHeader& first = series.front();
    return fmt::format("{}", first.series_number) == name || first.description == name ||
           (name.size() >= 6 && first.series.starts_with(name));
}

// Returns the series called `name`, by default the largest. `note` describes the choice and the other series.
Series chosen_series(const std::filesystem::path& folder, const std::string& name, std::string& note) {
    std::vector<Series> all = series_in(folder);
    std::string names;
    constexpr std::size_t max_listed = 8;
    for (std::size_t i = 0; i < std::min(all.size(), max_listed); ++i) {
        names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", name_of(all[i]), plural(frames_in(all[i]), "slices"));
    }
    const auto found =
        name.empty() ? all.begin() : std::ranges::find_if(all, [&](const Series& one) { return is_named(one, name); });
    if (found == all.end()) {
        throw Error(ErrorCode::bad_setting, fmt::format("has no series \"{}\"", name), folder.string(),
                    "it has " + names);
    }
    note = all.size() == 1 ? name_of(*found)
                           : fmt::format("{}; of {}; open others as FOLDER:NUMBER", name_of(*found), names);
    return std::move(*found);
}

class DicomSeries final : public ImageReader {
  public:
    DicomSeries(Series series, std::string note, const std::filesystem::path& path)
        : series_(std::move(series)), where_(path.string()) {
        collect_slices();
        describe(note);
    }

    const ImageHeader& header() const override { return header_; }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        std::vector<std::byte> voxels;
        voxels.reserve(index((slices.end - slices.begin) * header_.slice_bytes()));
        for (std::int64_t i = slices.begin; i < slices.end; ++i) {
            const Slice& slice = slices_[index(i * header_.time_points + time_point)];
            const std::vector<std::byte> one = voxels_of(slice);
            voxels.insert(voxels.end(), one.begin(), one.end());
        }
        return voxels;
    }

  private:
    // Sorts slices by height, and slices at the same height by time.
    void collect_slices() {
        const Vector3 normal = normal_of(series_.front());
        bool all_placed = true;
        for (std::size_t file = 0; file < series_.size(); ++file) {
            for (std::size_t frame = 0; frame < series_[file].frames.size(); ++frame) {
                const DicomFrame& meaning = series_[file].frames[frame];
                all_placed = all_placed && meaning.has_position;
                slices_.push_back({file, frame, height_of(meaning.position, normal), meaning});
            }
        }
        if (all_placed) {
            std::ranges::stable_sort(slices_, {}, &Slice::height_mm);
            find_times();
        } else {
            sort_by_time(slices_);
        }
        const bool is_movie = !all_placed && series_.size() == 1 && series_.front().frame_time_s > 0;
        if (is_movie) header_.time_points = std::ssize(slices_);
    }

    void sort_by_time(std::span<Slice> slices) const {
        std::ranges::stable_sort(slices, {}, [&](const Slice& slice) {
            const DicomHeader& header = series_[slice.file];
            return std::tuple(header.acquisition, header.instance);
        });
    }

    // Returns the tolerance for equal heights. Positions may be rounded to few digits, but must remain distinct for the
    // closely spaced slices of OCT.
    double one_height_mm() const {
        constexpr double digits = 2e-3, closest = 1e-5;  // mm
        const double pitch = series_.front().slice_pitch_mm;
        return pitch > 0 ? std::min(digits, pitch / 4) : closest;
    }

    // Groups equal heights. If each has the same number of slices, that number is the count of time points.
    void find_times() {
        std::vector<std::int64_t> counts;
        for (auto begin = slices_.begin(); begin != slices_.end();) {
            const double max = begin->height_mm + one_height_mm();
            const auto end = std::find_if(begin, slices_.end(), [&](const Slice& s) { return s.height_mm > max; });
            sort_by_time({begin, end});
            heights_mm_.push_back(begin->height_mm);
            counts.push_back(end - begin);
            begin = end;
        }
        const bool are_alike = std::ranges::all_of(counts, [&](std::int64_t count) { return count == counts.front(); });
        if (are_alike) {
            header_.time_points = counts.front();
        } else {
            heights_mm_.clear();
        }
    }

    void describe(const std::string& note) {
        const DicomHeader& first = series_.front();
        const std::int64_t slices = std::ssize(slices_) / header_.time_points;
        header_.size = {first.columns, first.rows, slices};
        header_.spacing_mm = {first.pitch_mm[0], first.pitch_mm[1], first.slice_pitch_mm};
        header_.time_step_s = header_.time_points > 1 ? first.frame_time_s : 0;
        measure_slices();
        describe_values();
        if (slices_.front().meaning.has_position)  // before our own texts, which would mark the volume as ours
            place(first);
        add_provenance(header_, "series", note);
        add_provenance(header_, "manufacturer", first.manufacturer);
        add_provenance(header_, "study_date", first.study_date);
        if (first.is_inverted) add_provenance(header_, "gray_scale", "inverted: large values are meant to be dark");
    }

    // Sets the pose. The step between evenly spaced slices follows from their positions, since the gantry may be
    // tilted.
    void place(const DicomHeader& first) {
        ImagePose pose{{first.along_row, first.along_column, normal_of(first)}, slices_.front().meaning.position};
        add_orientation(header_, pose.steps);
        const Vector3& last = slices_.back().meaning.position;
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t axis = 0; axis < 3; ++axis) pose.steps.at(axis).at(i) *= header_.spacing_or_one(axis);
            if (are_even_ && heights_mm_.size() > 1)
                pose.steps[2].at(i) = (last.at(i) - pose.origin.at(i)) / static_cast<double>(heights_mm_.size() - 1);
        }
        header_.pose = pose;
    }

    // Uses the mean distance, since positions are rounded. If a slice is missing, uses the median, which is not
    // affected.
    void measure_slices() {
        if (heights_mm_.size() < 2) return;
        std::vector<double> steps;
        for (std::size_t i = 1; i < heights_mm_.size(); ++i) steps.push_back(heights_mm_[i] - heights_mm_[i - 1]);
        std::ranges::sort(steps);
        constexpr double uneven = 1.05;
        are_even_ = steps.back() <= uneven * steps.front();
        const double mean = (heights_mm_.back() - heights_mm_.front()) / static_cast<double>(steps.size());
        header_.spacing_mm[2] = are_even_ ? mean : steps[steps.size() / 2];
        if (!are_even_) {
            add_provenance(header_, "slice_distances",
                           fmt::format("uneven: {:.4g} to {:.4g} mm", steps.front(), steps.back()));
        }
    }

    // If slices have different scalings, voxels are converted to scaled floats.
    void describe_values() {
        const DicomFrame& first = slices_.front().meaning;
        has_own_scales_ = std::ranges::any_of(slices_, [&](const Slice& slice) {
            return slice.meaning.slope != first.slope || slice.meaning.intercept != first.intercept;
        });
        header_.type = has_own_scales_ ? VoxelType::f32 : voxel_type(series_.front().stored);
        if (has_own_scales_) return;
        header_.scale = first.slope;
        header_.offset = first.intercept;
    }

    std::vector<std::byte> voxels_of(const Slice& slice) {
        const DicomHeader& header = series_[slice.file];
        std::vector<std::byte> stored = stored_voxels(header, slice.file, slice.frame);
        if (header.big_endian) swap_byte_order(header.stored, stored);
        take_used_bits(header, stored);
        stored = converted(header.stored, std::move(stored));
        return has_own_scales_ ? scaled(stored, voxel_type(header.stored), slice.meaning) : stored;
    }

    std::vector<std::byte> stored_voxels(const DicomHeader& header, std::size_t file, std::size_t frame) {
        const std::int64_t frame_bytes = header.columns * header.rows * bytes_of(header.stored);
        const std::int64_t at = static_cast<std::int64_t>(frame) * frame_bytes;
        if (!header.packed) return FileBytes(header.path).bytes(header.voxels_at + at, frame_bytes);
        if (unpacked_.empty() || unpacked_file_ != file) {
            unpacked_ = unpack_dicom(header, codec_);
            unpacked_file_ = file;
        }
        return {unpacked_.begin() + at, unpacked_.begin() + at + frame_bytes};
    }

    // Extracts the used bits. The others may contain overlays.
    static void take_used_bits(const DicomHeader& header, std::vector<std::byte>& stored) {
        switch (header.stored) {
            case StoredType::u8: return take_bits<std::uint8_t>(header, stored);
            case StoredType::i8: return take_bits<std::int8_t>(header, stored);
            case StoredType::u16: return take_bits<std::uint16_t>(header, stored);
            case StoredType::i16: return take_bits<std::int16_t>(header, stored);
            case StoredType::u32: return take_bits<std::uint32_t>(header, stored);
            case StoredType::i32: return take_bits<std::int32_t>(header, stored);
            default: return;
        }
    }

    template <class Number>
    static void take_bits(const DicomHeader& header, std::vector<std::byte>& stored) {
        constexpr int bits = 8 * static_cast<int>(sizeof(Number));
        if (header.bits_stored == bits) return;
        using Code = std::make_unsigned_t<Number>;
        const int left = bits - 1 - header.high_bit, right = bits - header.bits_stored;
        for (std::size_t i = 0; i < stored.size(); i += sizeof(Number)) {
            Code code;
            std::memcpy(&code, stored.data() + i, sizeof code);
            const auto used = static_cast<Number>(static_cast<Number>(static_cast<Code>(code << left)) >> right);
            std::memcpy(stored.data() + i, &used, sizeof used);
        }
    }

    static std::vector<std::byte> scaled(const std::vector<std::byte>& voxels, VoxelType type,
                                         const DicomFrame& frame) {
        switch (type) {
            case VoxelType::u8: return scaled_as<std::uint8_t>(voxels, frame);
            case VoxelType::u16: return scaled_as<std::uint16_t>(voxels, frame);
            case VoxelType::i16: return scaled_as<std::int16_t>(voxels, frame);
            default: return scaled_as<float>(voxels, frame);
        }
    }

    template <class Number>
    static std::vector<std::byte> scaled_as(const std::vector<std::byte>& voxels, const DicomFrame& frame) {
        std::vector<float> values(voxels.size() / sizeof(Number));
        for (std::size_t i = 0; i < values.size(); ++i) {
            Number code;
            std::memcpy(&code, voxels.data() + i * sizeof code, sizeof code);
            values[i] = static_cast<float>(static_cast<double>(code) * frame.slope + frame.intercept);
        }
        const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
        return {bytes.begin(), bytes.end()};
    }

    Series series_;
    std::string where_;
    std::vector<Slice> slices_;       // [slice][time point]
    std::vector<double> heights_mm_;  // per slice; empty if unknown
    ImageHeader header_;
    bool are_even_ = true;  // slices are evenly spaced
    bool has_own_scales_ = false;
    std::shared_ptr<void> codec_;      // for compressed frames
    std::vector<std::byte> unpacked_;  // all frames of the last file
    std::size_t unpacked_file_ = 0;
};

}  // namespace

bool is_dicom_series(const std::filesystem::path& path) {
    std::error_code problem;
    if (!std::filesystem::is_directory(path, problem)) return is_dicom(path);
    constexpr int enough = 16;
    int looked_at = 0;
    // Limits the cost for folders with many other files.
    for (const auto& entry : std::filesystem::directory_iterator(path, problem)) {
        if (is_dicom(entry.path())) return true;
        if (++looked_at == enough) return false;
    }
    return false;
}

std::unique_ptr<ImageReader> open_dicom(const std::filesystem::path& path) {
    const auto [file, name] = file_part(path);
    std::error_code problem;
    std::string note;
    if (std::filesystem::is_directory(file, problem)) {
        Series series = chosen_series(file, name, note);
        return std::make_unique<DicomSeries>(std::move(series), note, file);
    }
    DicomHeader header = read_dicom_header(file);
    if (header.frames.empty()) {
        throw Error(ErrorCode::bad_file, "is a DICOM file without an image", file.string(),
                    "open the folder of its series");
    }
    Series series{std::move(header)};
    note = name_of(series);
    return std::make_unique<DicomSeries>(std::move(series), note, file);
}

}  // namespace echolux
