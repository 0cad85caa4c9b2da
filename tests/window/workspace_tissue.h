// A workspace that shows layered tissue: filtered, stabilised, with surfaces.
#pragma once

#include <cmath>

#include "app/movie/movie_plan.h"
#include "app/settings/session_text.h"
#include "compute/indexing.h"
#include "engine/io/png_file.h"
#include "engine/layers/layers.h"
#include "layered_volume.h"
#include "run_operation.h"
#include "ui/workspace/filtering.h"
#include "ui/workspace/layering.h"
#include "workspace_fixture.h"

namespace echolux::test {

using testing::HasSubstr;
using testing::Not;

// Standard deviation divided by mean, between the surfaces.
inline double contrast_of(const Volume& volume) {
    const auto* values = reinterpret_cast<const float*>(volume.voxels.data());
    double sum = 0, squares = 0, count = 0;
    for (std::int64_t line = 0; line < volume.grid.a_scans * volume.grid.b_scans; ++line) {
        for (std::int64_t z = 35; z < 55; ++z) {
            const double value = static_cast<double>(values[line * volume.grid.depth + z]);
            sum += value;
            squares += value * value;
            ++count;
        }
    }
    const double mean = sum / count;
    return std::sqrt(squares / count - mean * mean) / mean;
}

class WorkspaceTissue : public WorkspaceTest {
  protected:
    std::filesystem::path write(const Volume& volume, const std::string& name = "tissue.nrrd") {
        std::filesystem::create_directories((folder() / name).parent_path());
        write_volume(folder() / name, volume);
        return folder() / name;
    }
    void open_tissue(const Volume& volume = layered_volume()) { open_tissue_file(write(volume)); }
    void open_tissue_file(const std::filesystem::path& path) {
        work().open(path);
        ASSERT_TRUE(until([this] { return work().viewer().is_open() && work().viewer().view_source()->grid(); }))
            << troubles();
        settle();
    }
    void open_two_time_points() {
        write(layered_volume(1), "series/v_0.nrrd");
        write(layered_volume(2), "series/v_1.nrrd");
        open_tissue_file(folder() / "series");
        ASSERT_NE(work().viewer().view_source()->timeline(), nullptr);
        go_to(0);
    }
    void go_to(std::int64_t step) {
        work().viewer().view_source()->timeline()->pause();
        work().viewer().view_source()->timeline()->go_to(step);
        ASSERT_TRUE(until([&] { return work().viewer().view_source()->stamp()->volume == step; }));
        settle();
    }
    static std::string text_in_png(const std::filesystem::path& path) { return read_png(path).text.at(text_session); }
    ViewSource& shown() { return *work().viewer().view_source(); }
    std::shared_ptr<const Volume> volume() { return work().viewer().view_source()->volume(); }

    void show_filtered() {
        work().change("filter.method", std::string("median"));
        work().change("filter.shown", true);
        ASSERT_TRUE(until([this] { return work().filtering().is_filtered(work()) || !troubles().empty(); }));
        ASSERT_EQ(troubles(), "");
    }
    void find_layers() {
        work().change_together(
            "layers", {{"layers.names", std::string("front back")}, {"layers.polarity", std::vector<double>{1, -1}}});
        work().layering().find(work());
        ASSERT_TRUE(until([this] { return work().layering().surfaces() != nullptr || !standing("layers").empty(); }));
        ASSERT_EQ(standing("layers"), "");
    }
    float row(std::size_t surface, std::int64_t a, std::int64_t b) {
        return work().layering().surfaces()->all[surface].rows[index(b * layered_a_scans + a)];
    }
};

}  // namespace echolux::test
