// Reads OME-Zarr. A plain Zarr array is a picture of one level without units.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compute/error.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/regular_file.h"
#include "engine/io/zarr/zarr_array.h"

namespace echolux {
namespace {

using nlohmann::json;
using zarr::ZarrArray;

// Position of our axes among those of the array; -1 if absent.
struct Axes {
    std::array<int, 4> place{-1, -1, -1, -1};  // columns, rows, slices, time points
    std::array<double, 4> unit{};              // in millimetres and seconds; 0: unknown
    std::size_t count = 0;
};

const json* member(const json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found == object.end() ? nullptr : &*found;
}

class OmeZarrReader : public ImageReader {
  public:
    explicit OmeZarrReader(const std::filesystem::path& path) : path_(path) {
        try {
            open();
        } catch (const json::exception&) {
            refuse("has metadata that cannot be understood", "copy the folder again");
        }
    }

    const ImageHeader& header() const override { return headers_.front(); }
    std::vector<ImageHeader> levels() const override { return headers_; }
    bool reads_boxes() const override { return true; }

    std::int64_t slices_together() const override {
        return axes_.place[2] < 0 ? 1 : arrays_.front().chunk()[static_cast<std::size_t>(axes_.place[2])];
    }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        return read_box(time_point, 0, {{0, header().size[0]}, {0, header().size[1]}, slices});
    }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box) override {
        const std::array<Interval, 4> parts{box.columns, box.rows, box.slices, Interval{time_point, time_point + 1}};
        std::vector<Interval> ranges(axes_.count, {0, 1});
        for (std::size_t i = 0; i < 4; ++i) {
            if (axes_.place[i] >= 0) ranges[static_cast<std::size_t>(axes_.place[i])] = parts[i];
        }
        const ZarrArray& array = arrays_.at(level);
        return converted(array.stored(), array.read(ranges));
    }

  private:
    void open() {
        for (const char* name : {".zattrs", "zarr.json"}) require_within(path_, path_ / name);
        if (zarr::read_json(path_ / ".zarray") || is_array_of_zarr3()) return open_array();
        const json attributes = read_attributes();
        const json* ome = member(attributes, "ome");
        const json* multiscales = member(ome != nullptr ? *ome : attributes, "multiscales");
        if (multiscales == nullptr || !multiscales->is_array() || multiscales->empty()) {
            refuse("holds no picture with levels (multiscales)",
                   "name the folder of one picture, for example " + (path_ / "0").string());
        }
        const json& picture = multiscales->front();
        read_axes(picture);
        const json& datasets = picture.at("datasets");
        constexpr std::size_t max_levels = 32;
        if (!datasets.is_array() || datasets.empty() || datasets.size() > max_levels) refuse("lists no levels");
        for (const json& dataset : datasets) {
            open_level(dataset.at("path").get<std::string>());
            set_geometry(member(picture, "coordinateTransformations"), headers_.back());
            set_geometry(member(dataset, "coordinateTransformations"), headers_.back());
        }
        if (const json* ours = member(attributes, "echolux")) read_ours(*ours);
    }

    bool is_array_of_zarr3() const {
        const auto node = zarr::read_json(path_ / "zarr.json");
        return node && node->value("node_type", "") == "array";
    }

    // A plain array has no axis names; the last axes are taken as time points, slices, rows, columns.
    void open_array() {
        const ZarrArray array(path_, path_);
        axes_.count = array.sizes().size();
        for (std::size_t i = 0; i < std::min<std::size_t>(4, axes_.count); ++i) {
            axes_.place[i] = static_cast<int>(axes_.count - 1 - i);
        }
        open_level("");
        headers_.front().has_unit = false;
    }

    json read_attributes() const {
        if (const auto zarr3 = zarr::read_json(path_ / "zarr.json")) return zarr3->value("attributes", json::object());
        if (const auto zarr2 = zarr::read_json(path_ / ".zattrs")) return *zarr2;
        refuse("is not an OME-Zarr folder");
    }

    void read_axes(const json& picture) {
        const json* axes = member(picture, "axes");
        if (axes == nullptr || !axes->is_array()) refuse("names no axes: OME-Zarr 0.4 and 0.5 can be read");
        axes_.count = axes->size();
        for (std::size_t i = 0; i < axes_.count; ++i) {
            const json& axis = (*axes)[i];
            const std::string name = axis.is_string() ? axis.get<std::string>() : axis.value("name", "");
            const std::string unit = axis.is_string() ? "" : axis.value("unit", "");
            const std::size_t ours = std::string("xyzt").find(name);
            if (name.size() != 1 || ours == std::string::npos) continue;  // for instance a channel
            axes_.place[ours] = static_cast<int>(i);
            axes_.unit[ours] = ours == 3 ? seconds_in(unit) : millimetres_in(unit);
        }
        if (axes_.place[0] < 0 || axes_.place[1] < 0) refuse("has no axes x and y");
    }

    // Opens the array of a level, which must have the same axes and type as the first.
    void open_level(const std::string& name) {
        const ZarrArray& array = arrays_.emplace_back(name.empty() ? path_ : path_ / name, path_);
        if (array.sizes().size() != axes_.count || array.stored() != arrays_.front().stored()) {
            refuse("has a level \"" + name.substr(0, 80) + "\" that does not fit the others");
        }
        ImageHeader& header = headers_.emplace_back();
        header.type = voxel_type(array.stored());
        header.spacing_mm = {};
        for (std::size_t i = 0; i < axes_.count; ++i) {
            const std::int64_t size = array.sizes()[i];
            const auto ours = std::ranges::find(axes_.place, static_cast<int>(i)) - axes_.place.begin();
            if (ours == 4 && size > 1) refuse("has several channels", "split them first");
            if (ours < 3) header.size[static_cast<std::size_t>(ours)] = size;
            if (ours == 3) header.time_points = size;
        }
        if (header.time_points != headers_.front().time_points)
            refuse("has levels of different numbers of time points");
    }

    // Applies scales and translations in order. Without a known unit, the spacing stays unknown (0).
    void set_geometry(const json* steps, ImageHeader& header) const {
        if (steps == nullptr || !steps->is_array()) return;
        for (const json& step : *steps) {
            const bool is_scale = step.value("type", "") == "scale";
            const json* numbers = member(step, is_scale ? "scale" : "translation");
            if (numbers == nullptr || !numbers->is_array() || numbers->size() != axes_.count) continue;
            for (std::size_t i = 0; i < 4; ++i) {
                if (axes_.place[i] < 0) continue;
                const json& entry = (*numbers)[static_cast<std::size_t>(axes_.place[i])];
                const double number = entry.is_number() ? entry.get<double>() : std::nan("");
                if (std::isfinite(number)) apply(is_scale, i, number, header);
            }
        }
    }

    void apply(bool is_scale, std::size_t axis, double number, ImageHeader& header) const {
        if (axis == 3) {
            double& step = header.time_step_s;
            if (is_scale && number > 0) step = (step > 0 ? step : axes_.unit[3]) * number;
        } else if (is_scale && number > 0) {
            double& spacing = header.spacing_mm[axis];
            spacing = (spacing > 0 ? spacing : axes_.unit[axis]) * number;
            header.origin_mm[axis] *= number;
        } else if (!is_scale) {
            header.origin_mm[axis] += number * axes_.unit[axis];
        }
    }

    void read_ours(const json& ours) {
        ImageHeader& header = headers_.front();
        if (const json* texts = member(ours, "texts")) {
            for (const auto& [key, text] : texts->items()) {
                if (text.is_string()) header.texts[key] = text.get<std::string>();
            }
        }
        const json* times = member(ours, "times_s");
        if (times != nullptr && static_cast<std::int64_t>(times->size()) == header.time_points) {
            header.times_s = times->get<std::vector<double>>();
        }
    }

    [[noreturn]] void refuse(const std::string& what, const std::string& remedy = {}) const {
        throw Error(ErrorCode::bad_file, what, path_.string(), remedy);
    }

    std::filesystem::path path_;
    Axes axes_;
    std::vector<ZarrArray> arrays_;
    std::vector<ImageHeader> headers_;
};

}  // namespace

bool is_zarr(const std::filesystem::path& folder) {
    std::error_code problem;
    return std::ranges::any_of(std::array{".zattrs", ".zgroup", ".zarray", "zarr.json"}, [&](const char* name) {
        return std::filesystem::is_regular_file(folder / name, problem);
    });
}

std::unique_ptr<ImageReader> open_ome_zarr(const std::filesystem::path& path) {
    return std::make_unique<OmeZarrReader>(path);
}

}  // namespace echolux
