// Actions for the calibration of the open instrument, such as "calibrate.take_dark".
#include "ui/workspace/standard_actions.h"

#include <functional>
#include <string>
#include <utility>

#include "ui/workspace/calibrating.h"
#include "ui/workspace/workspace.h"

namespace echolux {
namespace {

// Action that records a spectrum. Running it again while lines are recorded stops the recording.
Action taking(Workspace& work, const char* id, std::string title, Spectrum which) {
    Calibrating& calibrating = work.calibrating();
    Action action{id, std::move(title), "Calibration", {}, {}, {}, {}};
    action.run = [&calibrating, which] {
        if (calibrating.taking() == which) return calibrating.stop_taking();
        calibrating.take(which);
    };
    action.is_possible = [&work, &calibrating] { return calibrating.can_take(work); };
    action.is_on = [&calibrating, which] { return calibrating.taking() == which; };
    return action;
}

Action job(const char* id, std::string title, std::function<void()> run, std::function<bool()> is_possible) {
    return {id, std::move(title), "Calibration", {}, std::move(run), std::move(is_possible), {}};
}

}  // namespace

void add_calibration_actions(Workspace& work) {
    Calibrating& calibrating = work.calibrating();
    Actions& actions = work.actions();
    actions.add(taking(work, "calibrate.take_dark", "Take dark (no light)", Spectrum::dark));
    actions.add(taking(work, "calibrate.take_background", "Take background (no sample)", Spectrum::background));
    actions.add(taking(work, "calibrate.mirror_1", "Record mirror 1", Spectrum::mirror_1));
    actions.add(taking(work, "calibrate.mirror_2", "Record mirror 2", Spectrum::mirror_2));
    actions.add(job(
        "calibrate.apply", "Apply k map and dispersion of the mirrors",
        [&work, &calibrating] {
            try {
                calibrating.apply(work);
            } catch (const Error& error) {
                work.notices().trouble("calibration", error);
            }
        },
        [&work, &calibrating] { return calibrating.can_compute(work); }));
    actions.add(job(
        "calibrate.dispersion", "Search the dispersion of the B-scan shown",
        [&work, &calibrating] { calibrating.search_dispersion(work); },
        [&work, &calibrating] { return calibrating.can_search(work); }));
}

}  // namespace echolux
