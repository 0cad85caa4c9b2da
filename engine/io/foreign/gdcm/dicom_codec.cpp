// GDCM allocates memory according to the sizes claimed in a file. It therefore reads a new file in memory instead of
// the original. The new file contains only checked elements that are needed to decompress the voxels.
#include "engine/io/foreign/gdcm/dicom_codec.h"

#include <gdcmImageReader.h>
#include <gdcmTrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "compute/error.h"
#include "compute/indexing.h"
#include "engine/io/contained/reader_process.h"
#include "engine/io/file_bytes.h"

namespace echolux {

// ---- in the program's process ---------------------------------------------------------------------------------------

namespace {

// Writes elements in explicit little-endian encoding. Add them in ascending order of tags.
class DicomText {
  public:
    DicomText() : bytes_(std::string(128, '\0') + "DICM") {}

    void add(unsigned group, unsigned element, std::string_view kind, std::string value) {
        if (value.size() % 2 != 0) value += kind == "UI" ? '\0' : ' ';
        put(group, 2);
        put(element, 2);
        bytes_ += kind;
        put(value.size(), 2);
        bytes_ += value;
    }

    void add_number(unsigned group, unsigned element, std::int64_t number) {
        add(group, element, "US", {static_cast<char>(number & 0xFF), static_cast<char>(number >> 8 & 0xFF)});
    }

    void begin_items() {
        put(0x7FE0, 2);
        put(0x0010, 2);
        bytes_ += "OB";
        put(0, 2);
        put(0xFFFFFFFF, 4);
        add_item("");  // empty index
    }

    void add_item(const std::string& item) {
        put(0xE000FFFE, 4);
        put(item.size(), 4);
        bytes_ += item;
    }

    void end_items() {
        put(0xE0DDFFFE, 4);
        put(0, 4);
    }

    const std::string& bytes() const { return bytes_; }

  private:
    void put(std::uint64_t number, int bytes) {
        for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(number >> 8 * i & 0xFF);
    }

    std::string bytes_;
};

bool is_signed(StoredType type) {
    return type == StoredType::i8 || type == StoredType::i16 || type == StoredType::i32;
}

std::string with_voxels_alone(const DicomHeader& header, const std::vector<DicomItem>& items) {
    const std::int64_t bits = 8 * bytes_of(header.stored);
    const std::string secondary_capture = "1.2.840.10008.5.1.4.1.1.7";
    DicomText text;
    text.add(0x0002, 0x0002, "UI", secondary_capture);
    text.add(0x0002, 0x0003, "UI", "1.2.3");
    text.add(0x0002, 0x0010, "UI", header.transfer_syntax);
    text.add(0x0008, 0x0016, "UI", secondary_capture);
    text.add_number(0x0028, 0x0002, 1);
    text.add(0x0028, 0x0004, "CS", "MONOCHROME2");
    text.add(0x0028, 0x0008, "IS", std::to_string(header.frames.size()));
    text.add_number(0x0028, 0x0010, header.rows);
    text.add_number(0x0028, 0x0011, header.columns);
    text.add_number(0x0028, 0x0100, bits);
    text.add_number(0x0028, 0x0101, header.bits_stored);
    text.add_number(0x0028, 0x0102, header.high_bit);
    text.add_number(0x0028, 0x0103, is_signed(header.stored) ? 1 : 0);
    FileBytes file(header.path);
    text.begin_items();
    for (const DicomItem& item : items) text.add_item(file.text(item.place, item.bytes));
    text.end_items();
    return text.bytes();
}

// JPEG baseline, extended, lossless; JPEG-LS; JPEG 2000.
bool is_known(std::string_view syntax) {
    constexpr std::array<std::string_view, 8> known{"50", "51", "57", "70", "80", "81", "90", "91"};
    constexpr std::string_view jpeg = "1.2.840.10008.1.2.4.";
    return syntax.starts_with(jpeg) && std::ranges::count(known, syntax.substr(jpeg.size())) > 0;
}

// Memory limit: several copies of the file and its voxels.
std::int64_t max_memory_for(const PackedFrames& packed, std::size_t file_bytes) {
    constexpr std::int64_t some = 512 << 20, copies = 4;  // includes the stacks of threads
    return some + copies * (static_cast<std::int64_t>(file_bytes) + packed.header().bytes());
}

}  // namespace

struct DicomCodec::Parts {
    // Reuses the process unless the frames need more memory than its limit.
    void open(const OpenOrder& order) {
        if (process && process->can_continue() && order.max_bytes <= max_bytes) return process->open_again(order);
        max_bytes = order.max_bytes;
        process = std::make_unique<ReaderProcess>(order, file);
    }

    Descriptor file = file_in_memory();
    std::int64_t max_bytes = 0;
    std::unique_ptr<ReaderProcess> process;
};

DicomCodec::DicomCodec() : parts_(std::make_unique<Parts>()) {}
DicomCodec::~DicomCodec() = default;

std::vector<std::byte> DicomCodec::unpack(const DicomHeader& header, const std::vector<DicomItem>& items) {
    const std::string where = header.path.string();
    if (!is_known(header.transfer_syntax)) {
        throw Error(ErrorCode::bad_file, "uses an unsupported compression: " + header.transfer_syntax, where,
                    "unpack it with another program first");
    }
    const std::string file = with_voxels_alone(header, items);
    const PackedFrames packed{header.columns, header.rows, bytes_of(header.stored), std::ssize(header.frames),
                              header.transfer_syntax};
    const std::int64_t bytes = packed.header().bytes();
    constexpr std::int64_t timeout_s = 20;
    const double longest_s = timeout_s + static_cast<double>(std::ssize(file) + bytes) / slowest_reading;
    put(parts_->file, file);
    parts_->open({.kind = "dicom",
                  .path = where,
                  .part = packed.transfer_syntax,
                  .numbers = packed.numbers(),
                  .max_bytes = max_memory_for(packed, file.size()),
                  .longest_s = static_cast<std::int64_t>(longest_s) + 1});
    ReaderProcess& process = *parts_->process;
    process.answer(Response::header, longest_s);
    process.memory(bytes);
    process.ask(ReadOrder{.box = {.columns = {}, .rows = {}, .slices = {0, packed.frames}}, .bytes = bytes}.frame());
    process.answer(Response::done, longest_s);
    const std::byte* begin = process.memory(bytes).data();
    return {begin, begin + bytes};
}

// ---- in the reader process ------------------------------------------------------------------------------------------

namespace {

std::string whole(int descriptor) {
    struct stat status {};
    if (fstat(descriptor, &status) != 0) return {};
    std::string bytes(index(status.st_size), '\0');
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t got = pread(descriptor, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
        if (got <= 0) return {};
        at += index(got);
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
        std::vector<std::byte> voxels(index(header_.bytes()));
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
