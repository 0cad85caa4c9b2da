// OME-Zarr 0.4 (Zarr 2) and 0.5 (Zarr 3; ngff.openmicroscopy.org): a folder with a picture at several resolutions, in
// chunks, so that parts of volumes larger than memory can be read. Axes are t z y x. Our texts are stored with the
// metadata under the key "echolux" (docs/formats.md).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "compute/error.h"
#include "compute/indexing.h"
#include "compute/parallel_for.h"
#include "compute/types.h"
#include "engine/io/atomic_file.h"
#include "engine/io/file_name.h"
#include "engine/io/formats.h"
#include "engine/io/image_stream.h"
#include "engine/io/regular_file.h"
#include "engine/io/zarr/zarr_array.h"

namespace echolux {

// ---- reading --------------------------------------------------------------------------------------------------------
// A plain Zarr array is a picture of one level without units.

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
            refuse("has invalid metadata", "copy the folder again");
        }
    }

    const ImageHeader& header() const override { return headers_.front(); }
    std::vector<ImageHeader> levels() const override { return headers_; }
    bool reads_boxes() const override { return true; }

    std::int64_t slices_together() const override {
        return axes_.place[2] < 0 ? 1 : arrays_.front().chunk()[index(axes_.place[2])];
    }

    std::vector<std::byte> read(std::int64_t time_point, Interval slices) override {
        return read_box(time_point, 0, {{0, header().size[0]}, {0, header().size[1]}, slices});
    }

    std::vector<std::byte> read_box(std::int64_t time_point, std::size_t level, const ImageBox& box) override {
        const std::array<Interval, 4> parts{box.columns, box.rows, box.slices, Interval{time_point, time_point + 1}};
        std::vector<Interval> ranges(axes_.count, {0, 1});
        for (std::size_t i = 0; i < 4; ++i) {
            if (axes_.place[i] >= 0) ranges[index(axes_.place[i])] = parts[i];
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
            refuse("contains no image with levels (multiscales)",
                   "name the folder of one image, for example " + (path_ / "0").string());
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
            if (ours < 3) header.size[index(ours)] = size;
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
                const json& entry = (*numbers)[index(axes_.place[i])];
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
        if (times != nullptr && std::ssize(*times) == header.time_points) {
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

// ---- writing --------------------------------------------------------------------------------------------------------
// All levels are written at the same time: each level combines pairs of its slices and passes them to the next coarser
// level. The chunks of a layer are compressed in parallel.

namespace {

using zarr::Codecs;

template <class Number>
Number rounded(double mean) {
    if constexpr (std::is_floating_point_v<Number>) {
        return static_cast<Number>(mean);
    } else {
        return static_cast<Number>(std::floor(mean + 0.5));
    }
}

// Computes one coarse slice from two fine ones; `second` may be empty. Voxels consist of `parts` numbers.
template <class Number>
std::vector<std::byte> halved(std::span<const std::byte> first, std::span<const std::byte> second,
                              const std::array<std::int64_t, 3>& fine, const std::array<std::int64_t, 3>& coarse,
                              std::int64_t parts) {
    std::vector<std::byte> out(index(coarse[0] * coarse[1] * parts) * sizeof(Number));
    std::byte* to = out.data();
    const auto number_at = [](std::span<const std::byte> slice, std::int64_t place) {
        Number number;
        std::memcpy(&number, slice.data() + index(place) * sizeof(Number), sizeof(Number));
        return static_cast<double>(number);
    };
    for (std::int64_t y = 0; y < coarse[1]; ++y) {
        const std::int64_t last_row = std::min(2 * y + 1, fine[1] - 1);
        for (std::int64_t x = 0; x < coarse[0]; ++x) {
            const std::int64_t last_column = std::min(2 * x + 1, fine[0] - 1);
            for (std::int64_t part = 0; part < parts; ++part) {
                double sum = 0;
                int count = 0;
                for (std::int64_t row = 2 * y; row <= last_row; ++row) {
                    for (std::int64_t column = 2 * x; column <= last_column; ++column) {
                        const std::int64_t place = (row * fine[0] + column) * parts + part;
                        sum += number_at(first, place);
                        if (!second.empty()) sum += number_at(second, place);
                        count += second.empty() ? 1 : 2;
                    }
                }
                const auto mean = rounded<Number>(sum / count);
                std::memcpy(to, &mean, sizeof(mean));
                to += sizeof(mean);
            }
        }
    }
    return out;
}

// Halves the resolution of a volume, slice by slice. Each voxel is the mean of 2 x 2 x 2 voxels, fewer at the edges.
// value = code * scale + offset is linear, so the mean of the codes is the code of the mean. Integers are rounded,
// halves upwards.
class Coarser {
  public:
    // `size`: columns, rows, slices.
    Coarser(std::array<std::int64_t, 3> size, VoxelType type);

    const std::array<std::int64_t, 3>& size() const { return coarse_; }  // half of the size, rounded up

    // Adds the next slice. Returns a coarse slice after every second one, and after the last one of each volume.
    std::optional<std::vector<std::byte>> add(std::span<const std::byte> slice);

  private:
    std::array<std::int64_t, 3> size_, coarse_;
    VoxelType type_;
    std::int64_t next_ = 0;  // next slice of the volume
    std::vector<std::byte> before_;
};

Coarser::Coarser(std::array<std::int64_t, 3> size, VoxelType type) : size_(size), coarse_(size), type_(type) {
    for (std::int64_t& side : coarse_) side = (side + 1) / 2;
}

std::optional<std::vector<std::byte>> Coarser::add(std::span<const std::byte> slice) {
    const bool is_first = next_ % 2 == 0, is_last = next_ + 1 == size_[2];
    next_ = is_last ? 0 : next_ + 1;
    if (is_first && !is_last) {
        before_.assign(slice.begin(), slice.end());
        return std::nullopt;
    }
    const std::span<const std::byte> first = is_first ? slice : std::span<const std::byte>(before_);
    const std::span<const std::byte> second = is_first ? std::span<const std::byte>() : slice;
    switch (type_) {
        case VoxelType::u8: return halved<std::uint8_t>(first, second, size_, coarse_, 1);
        case VoxelType::u16: return halved<std::uint16_t>(first, second, size_, coarse_, 1);
        case VoxelType::i16: return halved<std::int16_t>(first, second, size_, coarse_, 1);
        case VoxelType::complex64: return halved<float>(first, second, size_, coarse_, 2);
        default: return halved<float>(first, second, size_, coarse_, 1);
    }
}

constexpr std::int64_t chunk_side = 64;

// Properties shared by all levels.
struct Store {
    std::filesystem::path path;
    std::string where;
    int zarr_format = 2;
    Codecs codecs;
    bool series = false;

    void make_folder(const std::filesystem::path& folder) const {
        std::error_code problem;
        std::filesystem::create_directories(folder, problem);
        if (problem) {
            throw Error(ErrorCode::output, "cannot be written: " + problem.message(), where,
                        "check folder, permissions and free space");
        }
    }

    void write(const std::filesystem::path& file, const json& value) const {
        ResultFile out(file, where);
        out.write(value.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
        out.finish();
    }

    // Returns a list in the order [t] z y x.
    template <class T>
    json by_axis(T time, const std::array<T, 3>& columns_rows_slices) const {
        json list = json::array();
        if (series) list.push_back(time);
        for (std::size_t i = 3; i-- > 0;) list.push_back(columns_rows_slices[i]);
        return list;
    }
};

const char* type_name(VoxelType type, int zarr_format) {
    const bool zarr3 = zarr_format == 3;
    switch (type) {
        case VoxelType::u8: return zarr3 ? "uint8" : "|u1";
        case VoxelType::u16: return zarr3 ? "uint16" : "<u2";
        case VoxelType::i16: return zarr3 ? "int16" : "<i2";
        case VoxelType::complex64: return zarr3 ? "complex64" : "<c8";
        default: return zarr3 ? "float32" : "<f4";
    }
}

// One level: an array in the folder named by its number. Owns the next coarser level.
class Level : public SlabWriter {
  public:
    Level(const Store& store, const ImageHeader& header, int number)
        : SlabWriter(header, chunk_side, store.where), store_(store), folder_(store.path / std::to_string(number)) {
        for (std::size_t i = 0; i < 3; ++i) chunk_[i] = std::min(chunk_side, header.size[i]);
        store.make_folder(folder_);
        describe();
        if (*std::ranges::max_element(header.size) <= chunk_side) return;
        halved_.emplace(header.size, header.type);
        ImageHeader coarse = header;
        coarse.size = halved_->size();
        coarser_ = std::make_unique<Level>(store, coarse, number + 1);
    }

    const std::array<std::int64_t, 3>& size() const { return header_.size; }
    const Level* coarser() const { return coarser_.get(); }

    void finish() override {}

  protected:
    void put_slab(std::int64_t time_point, Interval slices, std::span<const std::byte> voxels) override {
        const std::int64_t down = (header_.size[1] + chunk_[1] - 1) / chunk_[1];
        const std::int64_t across = (header_.size[0] + chunk_[0] - 1) / chunk_[0];
        const std::int64_t layer = slices.begin / chunk_[2];
        for (std::int64_t row = 0; row < down; ++row) store_.make_folder(folder_of(time_point, layer, row));
        parallel_for(0, down * across, [&](std::int64_t i) {
            const std::int64_t row = i / across, column = i % across;
            const std::vector<std::byte> chunk = cut(voxels, slices.end - slices.begin, row, column);
            const auto number = index(bytes_of(header_.type));
            ResultFile file(folder_of(time_point, layer, row) / std::to_string(column), store_.where);
            file.write(zarr::packed(store_.codecs, chunk, header_.type == VoxelType::complex64 ? 4 : number));
            file.finish();
        });
        if (!coarser_) return;
        const auto slice = index(header_.slice_bytes());
        for (; !voxels.empty(); voxels = voxels.subspan(slice)) {
            if (const auto coarse = halved_->add(voxels.first(slice))) coarser_->write(*coarse);
        }
    }

  private:
    std::filesystem::path folder_of(std::int64_t time_point, std::int64_t layer, std::int64_t row) const {
        std::filesystem::path folder = store_.zarr_format == 3 ? folder_ / "c" : folder_;
        if (store_.series) folder /= std::to_string(time_point);
        return folder / std::to_string(layer) / std::to_string(row);
    }

    // Chunks always have full size; voxels outside the picture are zero.
    std::vector<std::byte> cut(std::span<const std::byte> slab, std::int64_t slices, std::int64_t row,
                               std::int64_t column) const {
        const std::int64_t voxel = bytes_of(header_.type);
        std::vector<std::byte> chunk(index(chunk_[0] * chunk_[1] * chunk_[2] * voxel));
        const std::int64_t top = row * chunk_[1], left = column * chunk_[0];
        const std::int64_t rows = std::min(chunk_[1], header_.size[1] - top);
        const auto run = index(std::min(chunk_[0], header_.size[0] - left) * voxel);
        for (std::int64_t z = 0; z < slices; ++z) {
            for (std::int64_t y = 0; y < rows; ++y) {
                const std::int64_t from = ((z * header_.size[1] + top + y) * header_.size[0] + left) * voxel;
                const std::int64_t to = (z * chunk_[1] + y) * chunk_[0] * voxel;
                std::memcpy(chunk.data() + to, slab.data() + from, run);
            }
        }
        return chunk;
    }

    void describe() const {
        const json shape = store_.by_axis(header_.time_points, header_.size);
        const json chunk = store_.by_axis(std::int64_t{1}, chunk_);
        json fill = 0;
        if (header_.type == VoxelType::complex64) fill = {0.0, 0.0};
        if (header_.type == VoxelType::f32) fill = 0.0;
        json array{{"zarr_format", store_.zarr_format}, {"shape", shape}, {"fill_value", fill}};
        if (store_.zarr_format == 2) {
            array["chunks"] = chunk;
            array["dtype"] = type_name(header_.type, 2);
            array["order"] = "C";
            array["dimension_separator"] = "/";
            describe_zarr2(store_.codecs, array);
            return store_.write(folder_ / ".zarray", array);
        }
        array["node_type"] = "array";
        array["data_type"] = type_name(header_.type, 3);
        array["chunk_grid"] = {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk}}}};
        array["chunk_key_encoding"] = {{"name", "default"}, {"configuration", {{"separator", "/"}}}};
        array["dimension_names"] = store_.by_axis<std::string>("t", {"x", "y", "z"});
        array["attributes"] = json::object();
        const bool complex = header_.type == VoxelType::complex64;
        describe_zarr3(store_.codecs, index(complex ? 4 : bytes_of(header_.type)), array);
        store_.write(folder_ / "zarr.json", array);
    }

    const Store& store_;
    std::filesystem::path folder_;
    std::array<std::int64_t, 3> chunk_{};
    std::optional<Coarser> halved_;
    std::unique_ptr<Level> coarser_;
};

class OmeZarrWriter : public ImageWriter {
  public:
    OmeZarrWriter(const Store& store, const ImageHeader& header, const std::string& version)
        : store_(store), header_(header), version_(version), finest_(store_, header, 0) {}

    void write(std::span<const std::byte> slices) override { finest_.write(slices); }

    // The group's metadata is written last; without it, the folder is not a picture.
    void finish() override {
        const json ours = our_texts();
        if (store_.zarr_format == 2) {
            store_.write(store_.path / ".zgroup", {{"zarr_format", 2}});
            store_.write(store_.path / ".zattrs", {{"multiscales", {picture()}}, {"echolux", ours}});
            return;
        }
        const json ome{{"version", version_}, {"multiscales", {picture()}}};
        store_.write(store_.path / "zarr.json",
                     {{"zarr_format", 3}, {"node_type", "group"}, {"attributes", {{"ome", ome}, {"echolux", ours}}}});
    }

  private:
    json picture() const {
        json axes = json::array();
        if (store_.series) {
            axes.push_back({{"name", "t"}, {"type", "time"}});
            if (header_.time_step_s > 0) axes.back()["unit"] = "second";
        }
        for (const auto& [name, axis] : {std::pair{"z", 2}, std::pair{"y", 1}, std::pair{"x", 0}}) {
            axes.push_back({{"name", name}, {"type", "space"}});
            if (header_.spacing_mm[index(axis)] > 0) axes.back()["unit"] = "micrometer";
        }
        json datasets = json::array();
        std::array<double, 3> factor{1, 1, 1};
        for (const Level* level = &finest_; level != nullptr; level = level->coarser()) {
            datasets.push_back(
                {{"path", std::to_string(datasets.size())}, {"coordinateTransformations", transformations(factor)}});
            for (std::size_t i = 0; i < 3; ++i) factor[i] *= level->size()[i] > 1 ? 2 : 1;
        }
        json picture{{"axes", axes}, {"datasets", datasets}, {"type", "mean"}};
        const auto name = header_.texts.find("description");
        if (name != header_.texts.end()) picture["name"] = name->second;
        if (store_.zarr_format == 2) picture["version"] = version_;  // in 0.5 it is next to "multiscales"
        return picture;
    }

    // A coarse voxel is at the centre of the voxels that it was computed from.
    json transformations(const std::array<double, 3>& factor) const {
        std::array<double, 3> scale{}, origin{};
        for (std::size_t i = 0; i < 3; ++i) {
            const double spacing = header_.spacing_mm[i] > 0 ? header_.spacing_mm[i] * 1000 : 1;
            scale[i] = spacing * factor[i];
            origin[i] = header_.origin_mm[i] * 1000 + (factor[i] - 1) / 2 * spacing;
        }
        const double step = header_.time_step_s > 0 ? header_.time_step_s : 1;
        return {{{"type", "scale"}, {"scale", store_.by_axis(step, scale)}},
                {{"type", "translation"}, {"translation", store_.by_axis(0.0, origin)}}};
    }

    json our_texts() const {
        json ours{{"texts", json::object()}};
        for (const auto& [key, text] : header_.texts) ours["texts"][key] = text;
        if (!header_.times_s.empty()) ours["times_s"] = header_.times_s;
        return ours;
    }

    const Store store_;
    const ImageHeader header_;
    const std::string version_;
    Level finest_;
};

}  // namespace

std::unique_ptr<ImageWriter> create_ome_zarr(const std::filesystem::path& path, const ImageHeader& header,
                                             const ImageStorage& storage, const std::string& where) {
    const std::string version = storage.ome_version.empty() ? "0.4" : storage.ome_version;
    if (version != "0.4" && version != "0.5") {
        throw Error(ErrorCode::bad_setting, "OME-Zarr " + version + " cannot be written", where, "choose 0.4 or 0.5");
    }
    const int zarr_format = version == "0.5" ? 3 : 2;
    const Store store{path, where, zarr_format, zarr::chosen_codecs(storage.compression, zarr_format),
                      header.time_points > 1};
    return std::make_unique<OmeZarrWriter>(store, header, version);
}

}  // namespace echolux
