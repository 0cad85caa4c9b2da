// Arrows and streaks along vessels: arrows have the given positions and directions; streaks follow the given course,
// move as far as the blood, and follow its pulse.
#include <cmath>
#include <glm/geometric.hpp>
#include <numbers>

#include "render/annotations/annotations.h"
#include "render/view/curve.h"
#include "rendering.h"

namespace echolux::test {
namespace {

Sheet arrows_of(const std::vector<double>& arrows) {
    View view = voxel_view(db_grid(64, 64, 64), 200, 200);
    view.flow_arrows = arrows;
    const VolumeGrid grid = db_grid(64, 64, 64);
    return annotations_of(view, grid, transfer_function(view, grid, {0, 40}));
}

TEST(FlowArrows, AreDrawnAtTheirPositions) {
    const Sheet away = arrows_of({10, 5, 0, 20, 45, 0});  // away from zero delay
    const shared::Shape& head = away.shapes().back();
    // One pixel per voxel; the centre of the first voxel is half a voxel inside.
    EXPECT_NEAR(head.at.x, 100 - 32 + 45.5, 1e-3);
    EXPECT_NEAR(head.at.y, 100 - 32 + 20.5, 1e-3);
    // The head opens backwards: its other corners are behind the tip.
    EXPECT_LT(head.at.z, head.at.x);
    EXPECT_EQ(arrows_of({10, 5, 0, 20, 45, 0, 20, 5, 0, 10, 45, 0}).shapes().size(),
              2 * arrows_of({10, 5, 0, 20, 45, 0}).shapes().size());
}

constexpr double um_of_mm = 1000;

// A helix around the axis of the B-scans with constant speed: an analytic field.
struct Helix {
    double radius_um = 40, pitch_um = 300, mm_s = 6;

    glm::dvec3 at(double turns) const {
        const double angle = 2 * std::numbers::pi * turns;
        return {100 + radius_um * std::cos(angle), 100 + radius_um * std::sin(angle), pitch_um * turns};
    }
    std::vector<double> points(double turns, int pieces) const {
        std::vector<double> numbers;
        for (int i = 0; i <= pieces; ++i) {
            const glm::dvec3 place = at(turns * i / pieces);
            numbers.insert(numbers.end(), {1, place.x, place.y, place.z, mm_s});
        }
        return numbers;
    }
    double length_um(double turns) const { return turns * std::hypot(2 * std::numbers::pi * radius_um, pitch_um); }
};

TEST(FlowStreaks, LieOnCourseOfVessel) {
    const Helix helix;
    Annotations view;
    view.flow_streaks = helix.points(2, 400);
    for (const double time_s : {0.0, 0.37, 1.9, -4.2}) {
        view.streak_time_s = time_s;
        const std::vector<StreakPiece> pieces = streak_pieces(view);
        ASSERT_GT(pieces.size(), 6U);
        for (const StreakPiece& piece : pieces) {
            for (const glm::dvec3& place : {piece.from, piece.to})
                EXPECT_NEAR(glm::distance(place, helix.at(place.z / helix.pitch_um)), 0, 0.05);
            EXPECT_GT(piece.to.z, piece.from.z) << "with the flow";
        }
    }
}

// A single streak: its head follows blood from the beginning of the vessel.
TEST(FlowStreaks, MoveWithBlood) {
    const Helix helix;
    Annotations view{.flow_streaks = helix.points(1, 500), .streak_pace = 1};
    const double whole_s = helix.length_um(1) / (um_of_mm * helix.mm_s);
    view.streak_s = whole_s / 2;  // a single streak
    const auto head = [&](double time_s) {
        view.streak_time_s = time_s;
        return streak_pieces(view).back().to;
    };
    const double begin = head(0).z / helix.pitch_um;
    for (const double part : {0.1, 0.25, 0.4}) {
        const double moved = head(part * whole_s).z / helix.pitch_um - begin;
        EXPECT_NEAR(moved - std::floor(moved), part, 1e-3);  // wraps around at the end
    }
    EXPECT_NEAR(head(whole_s).z / helix.pitch_um, begin, 1e-3) << "round and round";
    view.streak_pace = 0.5;
    EXPECT_NEAR(head(0.4 * whole_s).z / helix.pitch_um - begin, 0.2, 1e-3) << "slow motion";
}

TEST(FlowStreaks, HaveLengthOfTravel) {
    Annotations view{.flow_streaks = {1, 50, 0, 0, 4, 1, 50, 0, 1000, 4}, .streak_s = 0.01};
    const auto length = [&] {
        double most = 0;  // streaks at the beginning are cut off
        for (const StreakPiece& piece : streak_pieces(view)) most = std::max(most, glm::distance(piece.from, piece.to));
        return most;
    };
    EXPECT_NEAR(length(), 40, 1e-6);
    view.streak_pulse = {0, 0.5, 1, 0.5};
    EXPECT_NEAR(length(), 20, 1e-6) << "slower blood, shorter streaks";
}

TEST(FlowStreaks, FasterBloodLeavesSlowerBehind) {
    Annotations view{.flow_streaks = {1, 0, 0, 0, 2, 1, 0, 0, 500, 2, 2, 0, 100, 0, 8, 2, 0, 100, 500, 8},
                     .streak_pace = 1};
    view.streak_s = 0.125;  // half of the travel time through the first vessel: one streak in each
    const auto heads = [&](double time_s) {
        view.streak_time_s = time_s;
        double slow = 0, fast = 0;
        for (const StreakPiece& piece : streak_pieces(view)) (piece.to.y < 50 ? slow : fast) = piece.to.z;
        return std::array{slow, fast};
    };
    const auto before = heads(0), after = heads(0.01);
    EXPECT_NEAR(after[0] - before[0], 20, 1e-6);
    EXPECT_NEAR(after[1] - before[1], 80, 1e-6);
}

// The integral of 1 + a sin(2 pi t) over full and partial periods is known.
TEST(FlowStreaks, PulseWithHeart) {
    constexpr int steps = 400;
    constexpr double a = 0.6, turn = 2 * std::numbers::pi;
    std::vector<double> pulse;
    for (int i = 0; i < steps; ++i) {
        const double t = static_cast<double>(i) / steps;
        pulse.insert(pulse.end(), {t, 1 + a * std::sin(turn * t)});
    }
    for (const double t : {0.0, 0.25, 0.6, 1.0, 3.3, -0.4}) {
        EXPECT_NEAR(pulse_at(pulse, t), 1 + a * std::sin(turn * t), 1e-4) << t;
        EXPECT_NEAR(travelled_s(pulse, t), t + a * (1 - std::cos(turn * t)) / turn, 1e-4) << t;
    }
    EXPECT_EQ(pulse_at({}, 7), 1);
    EXPECT_EQ(travelled_s({}, 7), 7);
}

// Flow away from zero delay has the upper end of the overlay's colours, flow towards it the lower end.
TEST(FlowStreaks, HaveColoursOfOverlay) {
    const VolumeGrid grid = db_grid(64, 64, 64);
    const auto colour_of_flow = [&](double depth_from, double depth_to) {
        View view = voxel_view(grid, 200, 200);
        view.flow_streaks = {1, depth_from, 5, 0, 10, 1, depth_to, 45, 0, 10};
        const FlowScale scale{.range = 10, .unit = "mm/s"};
        const Sheet sheet = annotations_of(view, grid, transfer_function(view, grid, {0, 40}), scale);
        return glm::vec3(sheet.shapes().back().colour);
    };
    const double along = 30 / std::hypot(30, 40);  // component of the speed along the beam
    const ColourMap map = colour_map("flow");
    const auto expect_near = [](const glm::vec3& colour, const glm::dvec3& expected) {
        EXPECT_LT(glm::distance(glm::dvec3(colour), expected), 1e-3);
    };
    expect_near(colour_of_flow(10, 40), colour_at(map, 0.5 + 0.5 * along));
    expect_near(colour_of_flow(40, 10), colour_at(map, 0.5 - 0.5 * along));
}

}  // namespace
}  // namespace echolux::test
