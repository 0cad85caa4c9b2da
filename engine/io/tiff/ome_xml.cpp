// OME-XML through pugixml, which expands only the five predefined entities of XML, so that input cannot grow.
#include "engine/io/volume_file.h"

#include <cmath>
#include <pugixml.hpp>
#include <sstream>

#include "compute/error.h"
#include "engine/io/regular_file.h"

namespace echolux {
namespace {

const char* ome_type(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return "uint8";
        case VoxelType::u16: return "uint16";
        case VoxelType::i16: return "int16";
        default: return "float";
    }
}

constexpr std::array<const char*, 3> size_names{"SizeX", "SizeY", "SizeZ"};
constexpr std::array<const char*, 3> spacing_names{"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
constexpr std::array<const char*, 3> unit_names{"PhysicalSizeXUnit", "PhysicalSizeYUnit", "PhysicalSizeZUnit"};

// Adds one Plane with a time stamp per time point.
void add_planes(const ImageHeader& header, pugi::xml_node& pixels) {
    for (std::int64_t t = 0; t < header.time_points; ++t) {
        const bool given = !header.times_s.empty();
        const double time =
            given ? header.times_s[static_cast<std::size_t>(t)] : static_cast<double>(t) * header.time_step_s;
        pugi::xml_node plane = pixels.append_child("Plane");
        for (const char* name : {"TheZ", "TheC"}) plane.append_attribute(name) = 0;
        plane.append_attribute("TheT") = static_cast<long long>(t);
        plane.append_attribute("DeltaT") = time;
    }
}

void add_pixels(const ImageHeader& header, pugi::xml_node& image) {
    pugi::xml_node pixels = image.append_child("Pixels");
    pixels.append_attribute("ID") = "Pixels:0";
    pixels.append_attribute("DimensionOrder") = "XYZCT";
    pixels.append_attribute("Type") = ome_type(header.type);
    pixels.append_attribute("BigEndian") = false;
    for (std::size_t i = 0; i < 3; ++i) {
        pixels.append_attribute(size_names[i]) = static_cast<long long>(header.size[i]);
        // OME assumes micrometres without a unit.
        if (header.spacing_mm[i] > 0) pixels.append_attribute(spacing_names[i]) = header.spacing_mm[i] * 1000;
    }
    pixels.append_attribute("SizeC") = 1;
    pixels.append_attribute("SizeT") = static_cast<long long>(header.time_points);
    const bool timed = header.time_step_s > 0 || !header.times_s.empty();
    if (header.time_step_s > 0) pixels.append_attribute("TimeIncrement") = header.time_step_s;
    pugi::xml_node channel = pixels.append_child("Channel");
    channel.append_attribute("ID") = "Channel:0:0";
    channel.append_attribute("SamplesPerPixel") = 1;
    pixels.append_child("TiffData");
    if (timed && header.time_points > 1) add_planes(header, pixels);
}

void add_texts(const ImageHeader& header, pugi::xml_node& root) {
    pugi::xml_node annotation = root.append_child("StructuredAnnotations").append_child("MapAnnotation");
    annotation.append_attribute("ID") = "Annotation:0";
    annotation.append_attribute("Namespace") = "echolux";
    pugi::xml_node value = annotation.append_child("Value");
    for (const auto& [key, text] : header.texts) {
        pugi::xml_node entry = value.append_child("M");
        entry.append_attribute("K") = key.c_str();
        entry.text().set(text.c_str());
    }
}

void read_texts(const pugi::xml_node& root, ImageHeader& header) {
    for (const pugi::xml_node& annotation : root.child("StructuredAnnotations").children("MapAnnotation")) {
        for (const pugi::xml_node& entry : annotation.child("Value").children("M")) {
            header.texts[entry.attribute("K").value()] = entry.text().get();
        }
    }
}

void read_times(const pugi::xml_node& pixels, ImageHeader& header, std::int64_t time_points) {
    const std::string unit = pixels.attribute("TimeIncrementUnit").as_string("s");
    const double step = pixels.attribute("TimeIncrement").as_double() * seconds_in(unit);
    if (std::isfinite(step) && step > 0) header.time_step_s = step;
    std::map<std::int64_t, double> times;  // of the first plane per time point that has a time
    for (const pugi::xml_node& plane : pixels.children("Plane")) {
        const double factor = seconds_in(plane.attribute("DeltaTUnit").as_string("s"));
        const double time = plane.attribute("DeltaT").as_double(std::nan("")) * factor;
        if (std::isfinite(time)) times.emplace(plane.attribute("TheT").as_llong(), time);
    }
    bool even = true;
    // Evenly spaced times are already described by time_step_s.
    for (const auto& [t, time] : times) {
        even = even && std::abs(time - static_cast<double>(t) * header.time_step_s) <= 1e-9 * std::abs(time);
    }
    if (even || static_cast<std::int64_t>(times.size()) != time_points) return;
    for (const auto& [t, time] : times) header.times_s.push_back(time);
}

}  // namespace

std::string ome_xml(const ImageHeader& header) {
    pugi::xml_document document;
    pugi::xml_node root = document.append_child("OME");
    constexpr const char* schema = "http://www.openmicroscopy.org/Schemas/OME/2016-06";
    root.append_attribute("xmlns") = schema;
    root.append_attribute("xmlns:xsi") = "http://www.w3.org/2001/XMLSchema-instance";
    root.append_attribute("xsi:schemaLocation") = (std::string(schema) + " " + schema + "/ome.xsd").c_str();
    root.append_attribute("Creator") = "Echolux";
    pugi::xml_node image = root.append_child("Image");
    image.append_attribute("ID") = "Image:0";
    const auto description = header.texts.find("description");
    if (description != header.texts.end()) image.append_attribute("Name") = description->second.c_str();
    add_pixels(header, image);
    image.append_child("AnnotationRef").append_attribute("ID") = "Annotation:0";
    add_texts(header, root);
    std::ostringstream text;
    text.exceptions(std::ios::badbit);  // a stream does not report exhausted memory by default
    text << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    document.save(text, "", pugi::format_raw | pugi::format_no_declaration);
    return text.str();
}

std::optional<PageOrder> read_ome_xml(const std::string& text, ImageHeader& header, const std::string& where) {
    if (text.find("<OME") == std::string::npos) return std::nullopt;
    const auto refuse = [&](const char* what, const char* remedy) {
        throw Error(ErrorCode::bad_file, what, where, remedy);
    };
    pugi::xml_document document;
    if (!document.load_buffer(text.data(), text.size())) refuse("has a damaged OME-XML description", "copy it again");
    const pugi::xml_node root = document.child("OME");
    const pugi::xml_node pixels = root.child("Image").child("Pixels");
    if (!pixels) return std::nullopt;
    if (pixels.attribute("SizeC").as_llong(1) != 1) refuse("has several channels", "split them first");
    for (std::size_t i = 0; i < 3; ++i) {
        const double millimetres = millimetres_in(pixels.attribute(unit_names[i]).as_string("um"));
        const double spacing = pixels.attribute(spacing_names[i]).as_double() * millimetres;
        if (std::isfinite(spacing) && spacing > 0) header.spacing_mm[i] = spacing;
    }
    const std::string order = pixels.attribute("DimensionOrder").as_string("XYZCT");
    const PageOrder pages{pixels.attribute("SizeZ").as_llong(1), pixels.attribute("SizeT").as_llong(1),
                          order.find('T') < order.find('Z')};
    read_times(pixels, header, pages.time_points);
    read_texts(root, header);
    return pages;
}

}  // namespace echolux
