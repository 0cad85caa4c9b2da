// Writes OME-Zarr. All levels are written at the same time: each level combines pairs of its slices and passes them to
// the next coarser level. The chunks of a layer are compressed in parallel.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "compute/error.h"
#include "compute/parallel_for.h"
#include "engine/io/atomic_file.h"
#include "engine/io/formats.h"
#include "engine/io/image_stream.h"
#include "engine/io/zarr/coarser.h"
#include "engine/io/zarr/zarr_array.h"

namespace echolux {
namespace {

using nlohmann::json;
using zarr::Coarser;
using zarr::Codecs;

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
            const auto number = static_cast<std::size_t>(bytes_of(header_.type));
            ResultFile file(folder_of(time_point, layer, row) / std::to_string(column), store_.where);
            file.write(zarr::packed(store_.codecs, chunk, header_.type == VoxelType::complex64 ? 4 : number));
            file.finish();
        });
        if (!coarser_) return;
        const auto slice = static_cast<std::size_t>(header_.slice_bytes());
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
        std::vector<std::byte> chunk(static_cast<std::size_t>(chunk_[0] * chunk_[1] * chunk_[2] * voxel));
        const std::int64_t top = row * chunk_[1], left = column * chunk_[0];
        const std::int64_t rows = std::min(chunk_[1], header_.size[1] - top);
        const auto run = static_cast<std::size_t>(std::min(chunk_[0], header_.size[0] - left) * voxel);
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
        describe_zarr3(store_.codecs, static_cast<std::size_t>(complex ? 4 : bytes_of(header_.type)), array);
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
            if (header_.spacing_mm[static_cast<std::size_t>(axis)] > 0) axes.back()["unit"] = "micrometer";
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
