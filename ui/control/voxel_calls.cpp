// Methods that return pictures and voxels. The data is read back only on request, packed by a job and sent after the
// response.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/stage/pane_view.h"
#include "engine/io/png_bytes.h"
#include "ui/control/control_parts.h"
#include "ui/control/message.h"

namespace echolux {
namespace {

using Json = nlohmann::ordered_json;
using Data = std::vector<std::byte>;

const char* name_of(VoxelType type) {
    switch (type) {
        case VoxelType::u8: return "u8";
        case VoxelType::u16: return "u16";
        case VoxelType::i16: return "i16";
        case VoxelType::f16: return "f16";
        case VoxelType::f32: return "f32";
        case VoxelType::complex64: return "complex64";
        case VoxelType::phasor8: return "phasor8";
    }
    return "";
}

bool wants_base64(const nlohmann::json& params) {
    return params.value("encoding", "binary") == "base64";
}

// Throws Error{bad_setting} if the index is out of range.
std::int64_t index_of(const nlohmann::json& params, const char* name, std::int64_t otherwise, std::int64_t count) {
    const std::int64_t index = params.contains(name) ? params.at(name).get<std::int64_t>() : otherwise;
    if (index >= 0 && index < count) return index;
    throw Error(ErrorCode::bad_setting, fmt::format("expected a number from 0 to {}, got {}", count - 1, index), name);
}

Data bytes_between(const Volume& volume, std::int64_t from, std::int64_t count) {
    const auto begin = volume.voxels.begin() + from;
    return {begin, begin + count};
}

// Number of the volume in its source, if known.
std::optional<std::int64_t> number_of(const Volume& volume) {
    const auto found = volume.provenance.find("volume");
    if (found == volume.provenance.end()) return {};
    return std::atoll(found->second.c_str());
}

}  // namespace

// Order of axes in JSON: B-scans, A-scans, depth, as in the memory layout.
Json grid_object(const VolumeGrid& grid) {
    return {{"type", name_of(grid.type)},
            {"shape", {grid.b_scans, grid.a_scans, grid.depth}},
            {"spacing_um", {grid.spacing_um[2], grid.spacing_um[1], grid.spacing_um[0]}},
            {"first_depth_um", grid.first_depth_um},
            {"scale", grid.scale},
            {"offset", grid.offset},
            {"unit", grid.unit},
            {"quantity", grid.quantity},
            {"byte_order", "little"}};
}

// ---- pictures

// The view is drawn at full quality; the window is returned as currently displayed. A job encodes the PNG.
void Control::Parts::snapshot(Call& call) {
    const auto image = std::make_shared<Image>();
    const auto packed = std::make_shared<Result>();
    const bool as_text = wants_base64(call.params);
    const auto pack = [this, packed, as_text](Image drawn) {
        Json json{{"type", "image/png"}, {"width", drawn.width}, {"height", drawn.height}};
        work.jobs().start(
            "sending a picture",
            [packed, as_text, json, picture = std::make_shared<const Image>(std::move(drawn))](Progress& progress) {
                // Compression level: small files, still fast.
                constexpr int small = 6;
                progress.begin("write", 0, "");
                Result result{json, std::make_shared<Data>(png_bytes(picture->pixels, picture->width, picture->height,
                                                                     Alpha::kept, small))};
                if (as_text) result.json["data"] = base64_of(*std::exchange(result.data, nullptr));
                return [packed, result] { *packed = result; };
            },
            [](const Error&) {});
    };
    const auto result = [packed]() -> Result { return *packed; };
    if (call.params.value("of", "view") == "window") {
        Image drawn = options.window_picture ? options.window_picture() : Image{};
        if (drawn.pixels.empty())
            throw Error(ErrorCode::device, "there is no window to see", "snapshot, of", "ask for the view");
        return operate(
            call, [&] { pack(std::move(drawn)); }, result);
    }
    View view = work.view();
    for (const auto& [name, size] : {std::pair{"width", &view.width}, std::pair{"height", &view.height}}) {
        if (!call.params.contains(name)) continue;
        const std::string key = std::string("view.") + name;
        *size = std::get<std::int64_t>(settings.checked_value(key, call.params[name], nullptr));
    }
    operate(
        call, [&] { work.draw_picture(view, pack); }, result);
}

// x and y are pixels of a picture of view.width by view.height.
void Control::Parts::probe(Call& call) {
    const std::optional<Probe> met = shown().probe(work.view(), call.params["x"], call.params["y"]);
    Json json{{"hit", met.has_value()}};
    if (met) {
        json.update({{"value", met->value}, {"unit", met->unit}, {"voxel", met->voxel}});
        if (met->has_spacing) json["place_um"] = met->place_um;
    }
    call.reply.result(std::move(json));
}

// ---- voxels

void Control::Parts::volume(Call& call) {
    read_voxels(call, [](const Volume& volume) -> Result {
        return {grid_object(volume.grid), std::make_shared<Data>(volume.voxels)};
    });
}

void Control::Parts::b_scan(Call& call) {
    const std::array<double, 3> cross = work.cross_um();
    read_voxels(call, [params = call.params, cross](const Volume& volume) -> Result {
        const VolumeGrid& grid = volume.grid;
        const std::int64_t b = index_of(params, "b_scan", voxel_index(cross[2], grid, 2), grid.b_scans);
        Json json = grid_object(grid);
        json["shape"] = {grid.a_scans, grid.depth};
        json["spacing_um"] = {grid.spacing_um[1], grid.spacing_um[0]};
        json["b_scan"] = b;
        return {json, std::make_shared<Data>(bytes_between(volume, b * grid.b_scan_bytes(), grid.b_scan_bytes()))};
    });
}

void Control::Parts::a_scan(Call& call) {
    const std::array<double, 3> cross = work.cross_um();
    read_voxels(call, [params = call.params, cross](const Volume& volume) -> Result {
        const VolumeGrid& grid = volume.grid;
        const std::int64_t a = index_of(params, "a_scan", voxel_index(cross[1], grid, 1), grid.a_scans);
        const std::int64_t b = index_of(params, "b_scan", voxel_index(cross[2], grid, 2), grid.b_scans);
        Json json = grid_object(grid);
        json["shape"] = {grid.depth};
        json["spacing_um"] = {grid.spacing_um[0]};
        json["a_scan"] = a;
        json["b_scan"] = b;
        const std::int64_t from = b * grid.b_scan_bytes() + a * grid.a_scan_bytes();
        return {json, std::make_shared<Data>(bytes_between(volume, from, grid.a_scan_bytes()))};
    });
}

// Reading starts once a volume is available. A job then waits for the device and packs the requested part.
void Control::Parts::read_voxels(Call& call, std::function<Result(const Volume&)> part) {
    shown();
    const auto packed = std::make_shared<Result>();
    if (wants_base64(call.params)) {
        part = [bytes = std::move(part)](const Volume& volume) {
            Result result = bytes(volume);
            result.json["data"] = base64_of(*std::exchange(result.data, nullptr));
            return result;
        };
    }
    deferred.push_back({call.reply, new_operation(), [packed]() -> Result { return std::move(*packed); },
                        [this, part = std::move(part), packed] { return begin_reading(part, packed); }, true});
}

// Returns false if there is no volume yet.
bool Control::Parts::begin_reading(const std::function<Result(const Volume&)>& part,
                                   const std::shared_ptr<Result>& result) {
    Exhibit& exhibit = shown();
    const VolumeToCome coming = exhibit.begin_reading();
    if (!coming) return false;
    work.jobs().start(
        "sending voxels",
        [coming, part, result, stamp = exhibit.stamp()](Progress& progress) {
            progress.begin("read", 0, "");
            const std::shared_ptr<const Volume> volume = coming();
            Result packed = part(*volume);
            const std::optional<std::int64_t> number = number_of(*volume);
            if (number) packed.json["volume"] = *number;
            if (stamp && stamp->volume == number.value_or(stamp->volume)) {
                packed.json["volume"] = stamp->volume;
                packed.json["time_s"] = stamp->time_s;
            }
            return [done = std::make_shared<Result>(std::move(packed)), result] { *result = std::move(*done); };
        },
        [](const Error&) {});
    return true;
}

}  // namespace echolux
