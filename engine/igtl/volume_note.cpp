#include "engine/igtl/volume_note.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

namespace echolux::igtl {

double UnixTimes::of(double time_s, double now_s) {
    constexpr double longest_halt_s = 1;
    const double begin_s = now_s - time_s;
    const bool goes_on = begin_s_ && time_s >= last_s_ && begin_s - *begin_s_ < longest_halt_s;
    begin_s_ = goes_on ? std::min(*begin_s_, begin_s) : begin_s;
    last_s_ = time_s;
    return *begin_s_ + time_s;
}

double unix_now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string note_of(const VolumeGrid& grid, std::optional<std::int64_t> volume, std::optional<double> time_s) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    if (volume) json["volume"] = *volume;
    if (time_s) json["time_s"] = *time_s;
    json["quantity"] = grid.quantity;
    json["unit"] = grid.unit;
    json["scale"] = grid.scale;
    json["offset"] = grid.offset;
    json["spacing_um"] = {grid.spacing_um[2], grid.spacing_um[1], grid.spacing_um[0]};
    return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace echolux::igtl
