// Parses Header.xml of Thorlabs archives. Sizes are checked by the code that uses them.
#include "engine/io/foreign/thorlabs/thorlabs_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <pugixml.hpp>
#include <string_view>

#include "compute/error.h"

namespace echolux {
namespace {

std::int64_t whole(const char* text, std::int64_t otherwise) {
    const std::string_view digits(text);
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc() ? value : otherwise;
}

double real(const char* text) {  // 0 if it is not a number
    double value = 0;
    const std::string_view digits(text);
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return problem == std::errc() && std::isfinite(value) ? value : 0;
}

double positive(const char* text, double otherwise) {
    const double value = real(text);
    return value > 0 ? value : otherwise;
}

std::string on_one_line(std::string text) {
    constexpr std::size_t longest = 1000;
    text.resize(std::min(text.size(), longest));
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return text;
}

ThorlabsFile file_of(const pugi::xml_node& node) {
    const auto number = [&](const char* name, std::int64_t otherwise) {
        return whole(node.attribute(name).value(), otherwise);
    };
    const auto range = [&](const char* name) { return positive(node.attribute(name).value(), 0); };
    ThorlabsFile file;
    file.name = node.child_value();
    std::ranges::replace(file.name, '\\', '/');
    file.depth = number("SizeZ", 1);
    file.lines = number("SizeX", 1);
    file.b_scans = number("SizeY", 1);
    file.bytes_per_value = number("BytesPerPixel", 0);
    file.range_depth_mm = range("RangeZ");
    file.range_a_mm = range("RangeX");
    file.range_b_mm = range("RangeY");
    file.reference_begin = number("ApoRegionStart0", 0);
    file.reference_end = number("ApoRegionEnd0", 0);
    file.scan_begin = number("ScanRegionStart0", file.reference_end);
    file.scan_end = number("ScanRegionEnd0", 0);
    return file;
}

// Returns the first text with this name at any level, because its position depends on the software version.
const char* text_named(const pugi::xml_document& document, std::string_view name) {
    return document.find_node([name](const pugi::xml_node& node) { return node.name() == name; }).child_value();
}

}  // namespace

const ThorlabsFile* ThorlabsHeader::file(const std::string& name) const {
    const auto found = files.find(name);
    return found == files.end() ? nullptr : &found->second;
}

ThorlabsHeader read_thorlabs_header(const ZipArchive& archive, const std::string& where) {
    constexpr std::int64_t max_bytes = 16 << 20;
    const std::vector<std::byte> xml = archive.read("Header.xml", max_bytes);
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), pugi::parse_default);
    const pugi::xml_node root = document.child("Ocity");
    if (!parsed || !root) {
        throw Error(ErrorCode::bad_file, "its Header.xml is damaged or not from Thorlabs software", where,
                    "copy or save the file again");
    }
    ThorlabsHeader header;
    for (const pugi::xml_node& node : root.child("DataFiles").children("DataFile")) {
        ThorlabsFile file = file_of(node);
        header.files.try_emplace(file.name, file);
    }
    const pugi::xml_node image = root.child("Image");
    header.a_scans = whole(image.child("SizePixel").child_value("SizeX"), 0);
    header.b_scans = whole(image.child("SizePixel").child_value("SizeY"), 0);
    header.range_depth_mm = positive(image.child("SizeReal").child_value("SizeZ"), 0);
    header.range_a_mm = positive(image.child("SizeReal").child_value("SizeX"), 0);
    header.range_b_mm = positive(image.child("SizeReal").child_value("SizeY"), 0);
    header.raw_is_signed = std::string_view(text_named(document, "RawDataIsSigned")) == "True";
    header.electrons_per_count = positive(text_named(document, "BinaryToElectronCountScaling"), 1);
    header.centre_wavelength_nm = positive(text_named(document, "CentralWavelength"), 0);
    header.refractive_index = positive(text_named(document, "RefractiveIndex"), 1);
    for (const char* key : {"Model", "Serial", "Study", "Comment", "Timestamp", "AcquisitionMode"}) {
        header.texts[key] = on_one_line(text_named(document, key));
    }
    std::erase_if(header.texts, [](const auto& text) { return text.second.empty(); });
    return header;
}

}  // namespace echolux
