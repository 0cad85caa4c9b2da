#include "app/open/patient_view.h"

#include <cmath>
#include <glm/geometric.hpp>
#include <glm/trigonometric.hpp>

#include "compute/indexing.h"
#include "engine/io/image_header.h"
#include "render/camera.h"

namespace echolux {

std::optional<glm::dvec3> towards_side(char side, const std::string& orientation) {
    for (int axis = 0; axis < 3; ++axis) {
        const char letter = orientation[index(axis)];
        const bool is_there = letter == side, is_opposite = opposite_side(letter) == std::string(1, side);
        if (!is_there && !is_opposite) continue;
        glm::dvec3 unit(0);
        unit[axis] = is_there ? 1 : -1;
        return unit;
    }
    return {};
}

static Pose with_look(Look look) {
    Pose pose;
    pose.look = look;
    return pose;
}

std::optional<Angles> patient_angles(Look look, const std::string& orientation) {
    if (look == Look::free || orientation.size() != 3) return {};
    const auto front = towards_side('A', orientation), left = towards_side('L', orientation),
               head = towards_side('S', orientation);
    if (!front || !left || !head) return {};
    glm::dvec3 towards = *front, up = *head;
    switch (look) {
        case Look::free:
        case Look::front: break;
        case Look::back: towards = -*front; break;
        case Look::left: towards = *left; break;
        case Look::right: towards = -*left; break;
        case Look::top: towards = *head; break;
        case Look::bottom: towards = -*head; break;
        case Look::oblique: {  // as far to the side and above as for other volumes
            const Angles oblique = angles_of(with_look(look));
            const double azimuth = glm::radians(oblique.azimuth_deg), elevation = glm::radians(oblique.elevation_deg);
            const glm::dvec3 level = std::cos(azimuth) * *front + std::sin(azimuth) * *left;
            towards = std::cos(elevation) * level + std::sin(elevation) * *head;
            up = std::cos(elevation) * *head - std::sin(elevation) * level;
            break;
        }
    }
    if (look == Look::top || look == Look::bottom) up = *front;
    return angles_of(Orientation{glm::cross(towards, up), up, towards}, 0);
}

void face_patient(View& view, const Volume& volume) {
    const auto orientation = volume.provenance.find("orientation");
    if (orientation == volume.provenance.end()) return;
    const std::optional<Angles> angles = patient_angles(view.look, orientation->second);
    if (!angles) return;
    view.look = Look::free;
    view.azimuth_deg = angles->azimuth_deg;
    view.elevation_deg = angles->elevation_deg;
    view.roll_deg = angles->roll_deg;
}

}  // namespace echolux
