// Positions in panes, compared with the orientation of files and pictures: depth down, A-scans to the right, B-scans up
// in the en face view.
#include "app/viewer/pane_view.h"
#include "app/open/patient_view.h"
#include "compute/indexing.h"
#include "compute/plan/describe.h"
#include "tests/support/set_fields.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <glm/geometric.hpp>
#include <string>

namespace echolux {
namespace {

VolumeGrid grid_of(double depth_um = 4, double a_um = 10, double b_um = 20) {
    VolumeGrid grid{.depth = 100, .a_scans = 60, .b_scans = 30, .spacing_um = {depth_um, a_um, b_um}};
    return grid;
}

View pane_of(PaneKind kind, const PaneLook& look = {}) {
    View view;
    view.azimuth_deg = 70;  // irrelevant for sections
    return pane_view(view, {kind, 400, 300, {12, -35, 48}, look, 10, 13});
}

constexpr std::array sections{PaneKind::b_scan, PaneKind::en_face, PaneKind::side};

TEST(PaneView, SectionsPassThroughCross) {
    EXPECT_EQ(pane_of(PaneKind::b_scan).plane_offset_um, 48);
    EXPECT_EQ(pane_of(PaneKind::en_face).plane_offset_um, 12);
    EXPECT_EQ(pane_of(PaneKind::side).plane_offset_um, -35);
}

TEST(PaneView, PlacesAndPixelsAreInverse) {
    for (const PaneKind kind : sections) {
        const View pane = pane_of(kind, {3, {20, 30, -40}});
        for (const glm::dvec2 pixel : {glm::dvec2(0, 0), glm::dvec2(123.5, 77), glm::dvec2(400, 300)}) {
            const glm::dvec2 back = pixel_of(pane, grid_of(), place_at(pane, grid_of(), pixel));
            EXPECT_NEAR(back.x, pixel.x, 1e-6);
            EXPECT_NEAR(back.y, pixel.y, 1e-6);
        }
    }
}

// Signs of the change per pixel to the right and down on each axis.
TEST(PaneView, DirectionsMatchFiles) {
    const auto step = [](PaneKind kind, double right, double down) {
        const View pane = pane_of(kind);
        return place_at(pane, grid_of(), {200 + right, 150 + down}) - place_at(pane, grid_of(), {200, 150});
    };
    EXPECT_GT(step(PaneKind::b_scan, 1, 0).y, 0);
    EXPECT_GT(step(PaneKind::b_scan, 0, 1).x, 0);
    EXPECT_GT(step(PaneKind::en_face, 1, 0).y, 0);
    EXPECT_LT(step(PaneKind::en_face, 0, 1).z, 0);
    EXPECT_GT(step(PaneKind::side, 1, 0).z, 0);
    EXPECT_GT(step(PaneKind::side, 0, 1).x, 0);
    EXPECT_NEAR(step(PaneKind::b_scan, 1, 0).z, 0, 1e-9);
}

// All 48 orientations that a file can have. Also compares positions, which the camera of the picture determines.
TEST(PaneView, MedicalSectionsFollowConvention) {
    std::array<std::array<char, 2>, 3> sides{{{'L', 'R'}, {'A', 'P'}, {'I', 'S'}}};
    std::ranges::sort(sides);
    int count = 0;
    do {
        for (const std::size_t signs : {0u, 1u, 2u, 3u, 4u, 5u, 6u, 7u}) {
            const std::string letters{sides[0][signs & 1], sides[1][signs >> 1 & 1], sides[2][signs >> 2]};
            SCOPED_TRACE(letters);
            for (const PaneKind kind : sections) {
                for (const auto convention : {SectionConvention::radiological, SectionConvention::neurological}) {
                    PaneRequest wanted{kind, 400, 300, {12, -35, 48}, {}, 10, 13};
                    wanted.orientation = letters;
                    wanted.convention = convention;
                    const View pane = pane_view(View{}, wanted);
                    const SideLetters shown = letters_of(pane, grid_of(), letters);
                    const std::string plane = medical_name(letters[index(axis_across(kind))]);
                    const std::string of_patient = convention == SectionConvention::radiological ? "R" : "L";
                    EXPECT_EQ(shown.left, plane == "Sagittal" ? "A" : of_patient) << plane;
                    EXPECT_EQ(shown.top, plane == "Axial" ? "A" : "S") << plane;
                    const glm::dvec2 pixel(123.5, 77);
                    const glm::dvec2 back = pixel_of(pane, grid_of(), place_at(pane, grid_of(), pixel));
                    EXPECT_NEAR(glm::distance(back, pixel), 0, 1e-6);
                    ++count;
                }
            }
        }
    } while (std::ranges::next_permutation(sides).found);
    EXPECT_EQ(count, 48 * 3 * 2);
}

// The letters of each standard view: left, right, top, bottom, as 3D Slicer shows them.
TEST(PaneView, StandardViewsFollowPatient) {
    const std::array<std::pair<Look, std::string>, 6> wanted{{{Look::front, "RLSI"},
                                                              {Look::back, "LRSI"},
                                                              {Look::left, "APSI"},
                                                              {Look::right, "PASI"},
                                                              {Look::top, "LRAP"},
                                                              {Look::bottom, "RLAP"}}};
    for (const std::string letters : {"PLS", "ILP", "IPR", "SLA", "PSR"}) {
        for (const auto& [look, sides] : wanted) {
            const std::optional<Angles> angles = patient_angles(look, letters);
            ASSERT_TRUE(angles) << letters;
            View view;
            view.width = view.height = 300;
            view.look = Look::free;
            view.azimuth_deg = angles->azimuth_deg;
            view.elevation_deg = angles->elevation_deg;
            view.roll_deg = angles->roll_deg;
            const SideLetters shown = letters_of(view, grid_of(10, 10, 10), letters);
            EXPECT_EQ(shown.left + shown.right + shown.top + shown.bottom, sides) << letters << " " << int(look);
        }
    }
    EXPECT_FALSE(patient_angles(Look::front, "")) << "volumes of OCT keep their own sides";
    EXPECT_FALSE(patient_angles(Look::free, "PLS"));
}

TEST(PaneView, PositionsNameSidesOfPatient) {
    // Depth to the back, A-scans to the left, B-scans to the head: 10 x 20 x 30 voxels of 1, 2 and 3 mm.
    const VolumeGrid grid{.depth = 10, .a_scans = 20, .b_scans = 30, .spacing_um = {1000, 2000, 3000}};
    EXPECT_EQ(patient_position({4500, 19000, 43500}, grid, "PLS"), "R 0.0 A 0.0 S 0.0 mm from centre");
    EXPECT_EQ(patient_position({6500, 23000, 46500}, grid, "PLS"), "R -4.0 A -2.0 S 3.0 mm from centre");
    EXPECT_EQ(patient_position({6500, 23000, 46500}, grid, "ILP"), "R -4.0 A -3.0 S -2.0 mm from centre");
    EXPECT_EQ(patient_position({6500, 23000, 46500}, grid, ""), "");
}

// 600 x 400 um in 400 x 300 pixels: fills the width of the picture except for a margin of 3 %.
TEST(PaneView, SectionsFillTheirPane) {
    const View pane = pane_of(PaneKind::b_scan);
    const glm::dvec2 left = pixel_of(pane, grid_of(), {0, -300, 48}), right = pixel_of(pane, grid_of(), {0, 300, 48});
    EXPECT_NEAR(right.x - left.x, 0.97 * 400, 1e-6);
    EXPECT_NEAR(0.5 * (left.x + right.x), 200, 1e-6);
}

TEST(PaneView, ZoomKeepsPointUnderPointer) {
    const VolumeGrid grid = grid_of();
    for (const PaneKind kind : sections) {
        PaneLook look;
        const glm::dvec2 at(250, 130);
        const glm::dvec3 before = place_at(pane_of(kind, look), grid, at);
        for (int notch = 0; notch < 6; ++notch) look = look_enlarged(look, pane_of(kind, look), grid, at, 1.2);
        const glm::dvec3 after = place_at(pane_of(kind, look), grid, at);
        for (int axis = 0; axis < 3; ++axis) EXPECT_NEAR(after[axis], before[axis], 1e-6) << axis;
        EXPECT_GT(look.zoom, 2.9);
    }
}

TEST(PaneView, DraggingMovesWithPointer) {
    const VolumeGrid grid = grid_of();
    const PaneLook look{4, {0, 0, 0}};
    const glm::dvec3 held = place_at(pane_of(PaneKind::en_face, look), grid, {200, 150});
    const PaneLook dragged = look_dragged(look, pane_of(PaneKind::en_face, look), grid, {15, -7});
    const glm::dvec2 now = pixel_of(pane_of(PaneKind::en_face, dragged), grid, held);
    EXPECT_NEAR(now.x, 215, 1e-6);
    EXPECT_NEAR(now.y, 143, 1e-6);
}

TEST(PaneView, IndicesCountVoxelsFromFirst) {
    const VolumeGrid grid = grid_of();
    EXPECT_EQ(voxel_index(-300 + 5, grid, 1), 0);
    EXPECT_EQ(voxel_index(300 - 5, grid, 1), 59);
    EXPECT_EQ(voxel_index(5, grid, 1), 30);
    EXPECT_EQ(voxel_index(1e9, grid, 1), 59);
    const auto inside = kept_inside({1e9, -1e9, 0}, grid);
    EXPECT_EQ(voxel_index(inside[0], grid, 0), 99);
    EXPECT_EQ(voxel_index(inside[1], grid, 1), 0);
    EXPECT_EQ(inside[2], 0);
}

TEST(PaneView, SectionsDropCutsAndKeepValues) {
    View view = with(View{}, "clip_low=0.5,0,0 clip_planes=1,0,0,0 low=3 high=7 mode=isosurface");
    const View pane = pane_view(view, {PaneKind::b_scan, 40, 30, {}, {}, 10, 13});
    EXPECT_EQ(pane.clip_low, (std::vector<double>{0, 0, 0}));
    EXPECT_TRUE(pane.clip_planes.empty());
    EXPECT_EQ(pane.low, 3);
    EXPECT_EQ(pane.high, 7);
    EXPECT_EQ(pane.mode, ViewMode::minip);  // one voxel deep: shows the voxel's value
    EXPECT_NO_THROW(check_view(pane));
}

// Stereo applies only to saved pictures, so a pane may have any width.
TEST(PaneView, IgnoresStereo) {
    View view = with(View{}, "stereo=side-by-side eyes_apart=0.3");
    for (const PaneKind kind : {PaneKind::volume, PaneKind::b_scan}) {
        const View pane = pane_view(view, {kind, 101, 30, {}, {}, 10, 13});
        EXPECT_NO_THROW(check_view(pane));
        EXPECT_TRUE(is_same(pane, pane_view(View{}, {kind, 101, 30, {}, {}, 10, 13})));
    }
}

// Sections show only the distances and angles that are in their plane. A section without a grid shows none.
TEST(PaneView, SectionsShowOwnMeasurements) {
    const VolumeGrid grid = grid_of();
    View view;
    const std::vector<double> in_b_scan{40, 100, 340, 80, 300, 340}, across{40, 100, 340, 80, 300, 200};
    view.distances = in_b_scan;
    view.distances.insert(view.distances.end(), across.begin(), across.end());
    view.angles = {0, 0, 340, 40, 100, 340, 80, 300, 340};
    PaneRequest wanted{PaneKind::b_scan, 400, 300, {0, 0, 340 + 10 - 300}, {}, 10, 13};
    EXPECT_TRUE(pane_view(view, wanted).distances.empty());
    wanted.grid = &grid;
    EXPECT_EQ(pane_view(view, wanted).distances, in_b_scan);
    EXPECT_EQ(pane_view(view, wanted).angles.size(), 9u);
    wanted.cross_um[2] += 20;  // the next B-scan
    EXPECT_TRUE(pane_view(view, wanted).distances.empty());
    EXPECT_TRUE(pane_view(view, wanted).angles.empty());
    wanted.kind = PaneKind::volume;
    EXPECT_EQ(pane_view(view, wanted).distances.size(), 12u);
}

TEST(PaneView, SectionsMayHaveSeparateLevels) {
    View view;
    view.low = 3;
    PaneRequest wanted{PaneKind::side, 400, 300, {}, {}, 10, 13};
    wanted.levels = ValueRange{5, 9};
    EXPECT_EQ(pane_view(view, wanted).low, 5);
    EXPECT_EQ(pane_view(view, wanted).high, 9);
    wanted.kind = PaneKind::volume;
    EXPECT_EQ(pane_view(view, wanted).low, 3);
}

// A bar that would be cut off is omitted.
TEST(PaneView, SmallSectionsHaveNoScaleBar) {
    const auto has_bar = [](std::int64_t width, std::int64_t height) {
        return pane_view(View{}, {PaneKind::side, width, height, {}, {}, 10, 13}).scale_bar;
    };
    EXPECT_TRUE(has_bar(200, 150));
    EXPECT_FALSE(has_bar(90, 150));
    EXPECT_FALSE(has_bar(200, 60));
}

TEST(PaneView, HeightsMakeEnFacePaneProjection) {
    View view = with(View{}, "top_um=100 bottom_um=200");
    const PaneRequest wanted{PaneKind::en_face, 40, 30, {}, {}, 10, 13};
    EXPECT_EQ(pane_view(view, wanted).show, ViewContent::en_face);
    EXPECT_EQ(pane_view(view, wanted).top_um, 100);
    EXPECT_EQ(pane_view(View{}, wanted).show, ViewContent::slice);
}

}  // namespace
}  // namespace echolux
