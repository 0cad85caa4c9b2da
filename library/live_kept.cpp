// Recent volumes of a session, and the handles for delivered volumes.
#include "library/call.h"
#include "library/live_handle.h"

using namespace echolux;
using namespace echolux::library;

namespace {

std::unique_ptr<echolux_volume> handle_of(const FinishedVolume& made, const std::shared_ptr<const Volume>& volume) {
    if (!volume) return nullptr;
    auto one = std::make_unique<echolux_volume>(volume);
    one->time_s = made.time_s;
    one->number = made.number;
    one->geometry = made.spec->geometry;
    return one;
}

}  // namespace

void echolux::library::give_handles(const FinishedVolume& made, echolux_volume** structure, echolux_volume** flow) {
    auto of_structure = handle_of(made, made.structure), of_flow = handle_of(made, made.flow);
    *structure = of_structure.release();
    if (flow != nullptr) *flow = of_flow.release();
}

echolux_status echolux_live_kept(echolux_live* live, int64_t* time_points, echolux_error* error) {
    return guarded(error, [&] { required(time_points, "time_points") = live_handle(live, "live").kept.count(); });
}

echolux_status echolux_live_go_to(echolux_live* live, int64_t time_point, echolux_volume** structure,
                                  echolux_volume** flow, echolux_error* error) {
    return guarded(error, [&] {
        required(structure, "structure") = nullptr;
        if (flow != nullptr) *flow = nullptr;
        give_handles(live_handle(live, "live").kept.go_to(time_point), structure, flow);
    });
}

echolux_status echolux_live_play(echolux_live* live, echolux_error* error) {
    return guarded(error, [&] { live_handle(live, "live").kept.play(); });
}

echolux_status echolux_live_save_kept(echolux_live* live, const char* path, double seconds, int64_t* volumes,
                                      echolux_error* error) {
    return guarded(error, [&] {
        if (!(seconds >= 0)) throw BadArgument("cannot be negative", "seconds");
        const std::int64_t saved = live_handle(live, "live").kept.save(text_argument(path, "path"), seconds);
        if (volumes != nullptr) *volumes = saved;
    });
}
