// Images through ITK: see itk_image.h. Its readers trust headers and some take a truncated file for a whole one, so
// what a header claims is compared with the file first; not all of its writers notice a full disk, so what was written
// is looked at again.
#include "engine/io/itk_image.h"

#include <fmt/format.h>
#include <itkMetaDataObject.h>
#include <itkMetaImageIO.h>
#include <itkNrrdImageIO.h>
#include <itkTIFFImageIO.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <new>
#include <optional>

#include "compute/error.h"
#include "engine/io/tiff_pages.h"

namespace echolux {
namespace {

using Component = itk::IOComponentEnum;

itk::ImageIOBase::Pointer image_io(ItkFormat format) {
    itk::Object::SetGlobalWarningDisplay(false);  // errors come as exceptions
    switch (format) {
        case ItkFormat::nrrd: return itk::NrrdImageIO::New().GetPointer();
        case ItkFormat::tiff: return itk::TIFFImageIO::New().GetPointer();
        case ItkFormat::meta: return itk::MetaImageIO::New().GetPointer();
    }
    return nullptr;
}

// ITK's first line without its "ITK ERROR: NrrdImageIO(0x55d0): ".
std::string reason(const itk::ExceptionObject& exception) {
    std::string text = exception.GetDescription();
    const std::size_t name_end = text.find("): ");
    if (name_end != std::string::npos) text.erase(0, name_end + 3);
    text.erase(0, text.find_first_not_of(" \n\r\t"));
    return text.substr(0, text.find_first_of("\r\n"));
}

// ---- reading --------------------------------------------------------------------------------------------------------

StoredType stored_type(const itk::ImageIOBase& io, const std::string& where) {
    const unsigned components = io.GetNumberOfComponents();
    const Component component = io.GetComponentType();
    if (components == 2 && component == Component::FLOAT) return StoredType::complex64;
    if (components == 1) {
        switch (component) {
            case Component::UCHAR: return StoredType::u8;
            case Component::CHAR: return StoredType::i8;
            case Component::USHORT: return StoredType::u16;
            case Component::SHORT: return StoredType::i16;
            case Component::UINT: return StoredType::u32;
            case Component::INT: return StoredType::i32;
            case Component::ULONG:
            case Component::ULONGLONG: return StoredType::u64;
            case Component::LONG:
            case Component::LONGLONG: return StoredType::i64;
            case Component::FLOAT: return StoredType::f32;
            case Component::DOUBLE: return StoredType::f64;
            default: break;
        }
    }
    throw Error(ErrorCode::bad_file,
                fmt::format("has {} values of type {} a voxel", components, io.GetComponentTypeAsString(component)),
                where, "only gray and complex (two float32) volumes can be read; convert colours to gray");
}

ImageHeader read_header(const itk::ImageIOBase& io, ItkFormat format, const std::string& where) {
    ImageHeader header;
    for (unsigned i = 0; i < io.GetNumberOfDimensions(); ++i) {
        const auto size = static_cast<std::int64_t>(io.GetDimensions(i));
        if (size < 1) throw Error(ErrorCode::bad_file, fmt::format("has no voxels along dimension {}", i + 1), where);
        if (i > 2 && size > 1) {
            throw Error(ErrorCode::bad_file, "has more than three dimensions", where,
                        "series are read from NIfTI only");
        }
        if (i > 2) continue;
        header.size[i] = size;
        const double spacing = std::abs(io.GetSpacing(i));
        if (std::isfinite(spacing) && spacing > 0) header.spacing_mm[i] = spacing;
        if (std::isfinite(io.GetOrigin(i))) header.origin_mm[i] = io.GetOrigin(i);
    }
    // Neither format has a unit; where none is meant, spacings are 1.
    header.has_unit = std::ranges::any_of(header.spacing_mm, [](double spacing) { return spacing != 1; });
    const itk::MetaDataDictionary& dictionary = io.GetMetaDataDictionary();
    for (const std::string& key : dictionary.GetKeys()) {
        std::string text;
        if (format != ItkFormat::tiff && itk::ExposeMetaData<std::string>(dictionary, key, text)) {
            header.texts[key] = text;
        }
    }
    return header;
}

std::string start_of(const std::filesystem::path& path) {
    constexpr std::streamsize most = 1 << 20;  // of a header with much provenance
    std::string start(most, '\0');
    std::ifstream stream(path, std::ios::binary);
    stream.read(start.data(), most);
    start.resize(static_cast<std::size_t>(stream.gcount()));
    return start;
}

// The text after "KEY =" or "KEY:" at the beginning of a line.
std::optional<std::string> header_line(const std::string& header, std::string_view key) {
    for (std::size_t start = 0; start < header.size();) {
        const std::size_t end = std::min(header.find('\n', start), header.size());
        const std::string line = header.substr(start, end - start);
        start = end + 1;
        if (!line.starts_with(key)) continue;
        const std::size_t value = line.find_first_not_of(" =:\t", key.size());
        if (value == std::string::npos) return "";
        return line.substr(value, line.find_last_not_of(" \r\t") + 1 - value);
    }
    return std::nullopt;
}

struct VoxelPart {  // of a file
    std::int64_t bytes = 0;
    bool compressed = false;
};

// MetaImage headers end with the line ElementDataFile. MetaIO takes what it finds of the voxels without a word.
VoxelPart meta_voxels(const std::filesystem::path& path, std::int64_t file_bytes) {
    const std::string start = start_of(path);
    const std::optional<std::string> place = header_line(start, "ElementDataFile");
    if (!place || !header_line(start, "NDims") || !header_line(start, "DimSize") ||
        !header_line(start, "ElementType")) {
        throw Error(ErrorCode::bad_file, "is no MetaImage, or ends within its header", path.string());
    }
    std::size_t header_end = start.find('\n', start.find("ElementDataFile"));
    header_end = header_end == std::string::npos ? start.size() : header_end + 1;
    VoxelPart part{file_bytes - static_cast<std::int64_t>(header_end),
                   header_line(start, "CompressedData") == std::optional<std::string>("True")};
    if (*place != "LOCAL") {
        std::error_code problem;
        const std::filesystem::path voxels = path.parent_path() / *place;
        part.bytes = static_cast<std::int64_t>(std::filesystem::file_size(voxels, problem));
        if (problem) {
            throw Error(ErrorCode::bad_file, voxels.string() + " cannot be read", path.string() + ", ElementDataFile",
                        "voxels must lie in one file beside the header");
        }
    }
    const std::string size = header_line(start, "CompressedDataSize").value_or("0");
    if (part.compressed && std::strtoll(size.c_str(), nullptr, 10) > part.bytes) part.bytes = 0;
    return part;
}

// NRRD headers end with an empty line, except where the voxels lie in another file.
VoxelPart nrrd_voxels(const std::filesystem::path& path, std::int64_t file_bytes) {
    const std::string start = start_of(path);
    const std::size_t end = std::min(start.find("\n\n"), start.find("\r\n\r\n"));
    const std::optional<std::string> encoding = header_line(start.substr(0, end), "encoding");
    if (end == std::string::npos || !encoding) {
        throw Error(ErrorCode::bad_file, "is no NRRD file, or ends within its header", path.string(),
                    "voxels must follow the header");
    }
    const std::size_t line_end = start[end] == '\r' ? 4 : 2;
    return {file_bytes - static_cast<std::int64_t>(end + line_end), *encoding != "raw"};
}

VoxelPart voxels_in(const std::filesystem::path& path, ItkFormat format) {
    const auto file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    if (format == ItkFormat::meta) return meta_voxels(path, file_bytes);
    if (format == ItkFormat::nrrd) return nrrd_voxels(path, file_bytes);
    check_tiff_pages(path);
    return {file_bytes, true};  // any page may be compressed
}

ImageHeader read(itk::ImageIOBase& io, const std::filesystem::path& path, ItkFormat format,
                 std::vector<std::byte>& voxels) {
    const VoxelPart part = voxels_in(path, format);
    if (!io.CanReadFile(path.c_str())) {
        throw Error(ErrorCode::bad_file, "is not what its name says, or is damaged at its beginning", path.string());
    }
    io.SetFileName(path.string());
    io.ReadImageInformation();
    const StoredType type = stored_type(io, path.string());
    ImageHeader header = read_header(io, format, path.string());
    header.type = voxel_type(type);
    check_claim(header, type, part.bytes, part.compressed, path);
    itk::ImageIORegion region(io.GetNumberOfDimensions());
    for (unsigned i = 0; i < io.GetNumberOfDimensions(); ++i) region.SetSize(i, io.GetDimensions(i));
    io.SetIORegion(region);
    voxels.assign(static_cast<std::size_t>(header.voxels() * bytes_of(type)), std::byte{0});
    io.Read(voxels.data());
    voxels = converted(type, std::move(voxels));
    return header;
}

// ---- writing --------------------------------------------------------------------------------------------------------

Component component_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return Component::UCHAR;
        case VoxelType::u16: return Component::USHORT;
        case VoxelType::i16: return Component::SHORT;
        case VoxelType::f32:
        case VoxelType::complex64: return Component::FLOAT;
        case VoxelType::f16:
        case VoxelType::phasor8: break;
    }
    return Component::UNKNOWNCOMPONENTTYPE;
}

void set_header(itk::ImageIOBase& io, ItkFormat format, const ImageHeader& header) {
    const bool complex = header.type == VoxelType::complex64;
    io.SetComponentType(component_of(header.type));
    io.SetPixelType(complex ? itk::IOPixelEnum::COMPLEX : itk::IOPixelEnum::SCALAR);
    io.SetNumberOfComponents(complex ? 2 : 1);
    io.SetNumberOfDimensions(3);
    itk::ImageIORegion region(3);
    for (unsigned i = 0; i < 3; ++i) {
        std::vector<double> direction(3, 0.0);
        direction[i] = 1;
        const bool no_resolution = format == ItkFormat::tiff && !header.has_unit;
        io.SetDimensions(i, static_cast<itk::SizeValueType>(header.size[i]));
        io.SetSpacing(i, no_resolution ? 0 : header.spacing_mm[i]);
        io.SetOrigin(i, header.origin_mm[i]);
        io.SetDirection(i, direction);
        region.SetSize(i, static_cast<itk::SizeValueType>(header.size[i]));
    }
    io.SetIORegion(region);
    for (const auto& [key, text] : header.texts) {
        if (format != ItkFormat::tiff) itk::EncapsulateMetaData<std::string>(io.GetMetaDataDictionary(), key, text);
    }
}

bool is_whole(const std::filesystem::path& path, ItkFormat format, const ImageHeader& header) {
    if (voxels_in(path, format).bytes < header.bytes()) return false;
    const itk::ImageIOBase::Pointer io = image_io(format);
    if (!io->CanReadFile(path.c_str())) return false;
    io->SetFileName(path.string());
    io->ReadImageInformation();
    return read_header(*io, format, path.string()).size == header.size;
}

}  // namespace

ImageHeader read_itk(const std::filesystem::path& path, ItkFormat format, std::vector<std::byte>& voxels) {
    try {
        return read(*image_io(format), path, format, voxels);
    } catch (const itk::ExceptionObject& exception) {
        throw Error(ErrorCode::bad_file, "cannot be read: " + reason(exception), path.string());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorCode::out_of_memory, "does not fit into memory", path.string(), "crop or convert it first");
    }
}

void write_itk(const std::filesystem::path& path, ItkFormat format, const ImageHeader& header,
               const std::vector<std::byte>& voxels, const std::string& where) {
    constexpr const char* remedy = "check folder, permissions and free space";
    try {
        const itk::ImageIOBase::Pointer io = image_io(format);
        io->SetFileName(path.string());
        io->UseCompressionOff();
        set_header(*io, format, header);
        io->Write(voxels.data());
    } catch (const itk::ExceptionObject& exception) {
        throw Error(ErrorCode::output, "cannot be written: " + reason(exception), where, remedy);
    }
    bool whole = false;
    try {
        whole = is_whole(path, format, header);
    } catch (const std::exception&) {  // unreadable: not whole
    }
    if (!whole) throw Error(ErrorCode::output, "could not be written completely", where, remedy);
}

}  // namespace echolux
