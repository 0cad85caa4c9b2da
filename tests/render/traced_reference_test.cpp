// Single scattering through hard edges and haze, compared with brute-force quadrature: steps of an eighth of a voxel
// along the ray, and from each of them towards the lamp. Spheres and cubes are compared with an independent Monte Carlo
// code.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "compute/indexing.h"
#include "tests/support/set_fields.h"
#include "traced.h"

namespace echolux::test {
namespace {

using Position = std::array<double, 3>;  // voxels along depth, A-scans, B-scans; centres of texels are at .5

class TracedReference : public Traced {
  protected:
    static constexpr std::int64_t edge = 12;  // voxels
    static constexpr double step = 0.125;

    // Seen from above, in pictures much smaller than voxels; lit from the right and above.
    void SetUp() override {
        Traced::SetUp();
        set(view_,
            "zoom=100 width=24 height=24 paths=16 sky=0 bounces=1 scattering=1 lamp=free lamp_azimuth_deg=50 "
            "lamp_elevation_deg=30 lamp_size_deg=0");
        view_.lamp_brightness = 1 / std::numbers::pi;  // irradiance 1
        view_.exposure_ev = 2;                         // the light is weak
    }

    void fill(const std::vector<TransferNode>& nodes, const ValueAt& value) {
        set_curve(nodes, edge);
        set_volume(db_grid(edge, edge, edge), value);
        nodes_ = nodes;
        values_.clear();
        for (std::int64_t b = 0; b < edge; ++b)
            for (std::int64_t a = 0; a < edge; ++a)
                for (std::int64_t z = 0; z < edge; ++z) values_.push_back(value(z, a, b));
    }

    double value_at(const Position& place) const {
        double sum = 0;
        std::array<std::int64_t, 3> below{};
        Position part{};
        for (std::size_t i = 0; i < 3; ++i) {
            const double at = std::clamp(place[i] - 0.5, 0., edge - 1.);
            below[i] = std::min(static_cast<std::int64_t>(at), edge - 2);
            part[i] = at - static_cast<double>(below[i]);
        }
        for (int corner = 0; corner < 8; ++corner) {
            double weight = 1;
            std::array<std::int64_t, 3> voxel{};
            for (std::size_t i = 0; i < 3; ++i) {
                const int beside = corner >> i & 1;
                weight *= beside != 0 ? part[i] : 1 - part[i];
                voxel[i] = below[i] + beside;
            }
            sum += weight * values_[index((voxel[2] * edge + voxel[1]) * edge + voxel[0])];
        }
        return sum;
    }

    // Extinction per voxel. Uses the nearest of 1024 entries, like the lookup in the table.
    double extinction_at(const Position& place) const {
        const double entry = std::round(1023 * std::clamp(value_at(place) / 40, 0., 1.)) / 1023;
        const auto above = std::ranges::find_if(nodes_, [&](const TransferNode& node) { return node.value >= entry; });
        if (above == nodes_.begin()) return above->extinction / edge;
        const auto before = above - 1;
        const double part = (entry - before->value) / (above->value - before->value);
        return ((1 - part) * before->extinction + part * above->extinction) / edge;
    }

    bool is_inside(const Position& place) const {
        return std::ranges::all_of(place, [](double at) { return at > 0 && at < edge; });
    }

    double depth_towards_lamp(Position place) const {
        const double azimuth = view_.lamp_azimuth_deg * std::numbers::pi / 180;
        const double elevation = view_.lamp_elevation_deg * std::numbers::pi / 180;
        const Position way{-std::cos(elevation) * std::cos(azimuth), std::cos(elevation) * std::sin(azimuth),
                           std::sin(elevation)};
        double depth = 0;
        for (double along = 0.5 * step;; along += step) {
            const Position at{place[0] + along * way[0], place[1] + along * way[1], place[2] + along * way[2]};
            if (!is_inside(at)) return depth;
            depth += step * extinction_at(at);
        }
    }

    // Light and opacity of a ray along depth at a position of the field.
    Pixel ray(double a, double b, bool is_lit) const {
        Pixel found;
        double passed = 1;
        for (double z = 0.5 * step; z < edge; z += step) {
            const double depth = step * extinction_at({z, a, b});
            if (depth == 0) continue;
            const double met = passed * (1 - std::exp(-depth));
            if (is_lit) found.light += met / (4 * std::numbers::pi) * std::exp(-depth_towards_lamp({z, a, b}));
            passed -= met;
        }
        found.opacity = 1 - passed;
        return found;
    }

    // Mean of `rays` x `rays` rays over a picture centred on this one.
    Pixel mean_of_rays(double a, double b, int rays, bool are_lit) const {
        const double width = std::sqrt(3.) * edge / view_.zoom;
        const int all = rays * rays;
        Pixel sum;
        for (int i = 0; i < all; ++i) {
            const double aside = (i % rays + .5) / rays - .5, up = (i / rays + .5) / rays - .5;
            const Pixel one = ray(a + width * aside, b + width * up, are_lit);
            sum.light += one.light / all;
            sum.opacity += one.opacity / all;
        }
        return sum;
    }
    Pixel reference(double a, double b) const {
        return {mean_of_rays(a, b, 3, true).light, mean_of_rays(a, b, 16, false).opacity};
    }

    // Rays at random positions. Each fills a picture, whose pixels give the error of its mean. The squared errors, and
    // those of their sum, must be those of normal numbers.
    void expect_reference() {
        constexpr int rays = 40;
        double of_light = 0, of_opacity = 0, light = 0, expected = 0, variances = 0;
        int count = 0;
        for (int i = 0; i < rays; ++i) {
            const double a = 1 + (edge - 2) * noise(i, 1, 0), b = 1 + (edge - 2) * noise(i, 2, 0);
            const Pixel wanted = reference(a, b);
            if (wanted.opacity < 0.01 || wanted.opacity > 0.99) continue;
            view_.target_um = {0, a - 0.5 * edge, b - 0.5 * edge};
            view_.seed = i;
            const Mean found = mean();
            const double hidden = wanted.opacity * (1 - wanted.opacity) / static_cast<double>(paths_of_picture());
            ++count;
            of_light += std::pow((found.light - wanted.light) / found.sigma, 2);
            of_opacity += std::pow(found.opacity - wanted.opacity, 2) / hidden;
            light += found.light;
            expected += wanted.light;
            variances += found.sigma * found.sigma;
        }
        const double spread = 3.3 * std::sqrt(2. / count);
        EXPECT_GE(count, 10);
        EXPECT_NEAR(of_light / count, 1, spread);
        EXPECT_NEAR(of_opacity / count, 1, spread);
        EXPECT_NEAR(light, expected, 4 * std::sqrt(variances));
        EXPECT_LT(std::sqrt(variances), 0.01 * expected);
    }
    std::int64_t paths_of_picture() const { return view_.width * view_.height * view_.paths; }

  private:
    std::vector<TransferNode> nodes_;
    std::vector<double> values_;
};

// The densest values are between those of the box and its surroundings, so they only occur at its edges.
TEST_F(TracedReference, HardEdgedBoxMatchesBruteForce) {
    fill({{0, 1, 1, 1, 0}, {.2, 1, 1, 1, 0}, {.5, 1, 1, 1, 5}, {.8, 1, 1, 1, 2}, {1, 1, 1, 1, 3}},
         [](std::int64_t z, std::int64_t a, std::int64_t b) {
             return z >= 2 && z < 9 && a >= 4 && a < 11 && b >= 2 && b < 9 ? 40 : 0;
         });
    expect_reference();
}

// Extinction is always more than half of the majorant of its brick, so that a part of the path needs no lookup.
TEST_F(TracedReference, HazeMatchesBruteForce) {
    fill({{0, 1, 1, 1, 1.4}, {1, 1, 1, 1, 2.2}},
         [](std::int64_t z, std::int64_t a, std::int64_t b) { return 40 * noise(z / 2, a / 2, b / 2); });
    expect_reference();
}

class TracedShapes : public Traced {
  protected:
    // A step in a distance field. The disc touches the edges of the picture.
    void set_sphere() {
        constexpr std::int64_t edge = 64;
        set_volume(db_grid(edge, edge, edge), [](std::int64_t z, std::int64_t a, std::int64_t b) {
            const double middle = 0.5 * (edge - 1);
            const double distance = radius - std::hypot(double(z) - middle, double(a) - middle, double(b) - middle);
            return 20 + 20 * std::clamp(distance / 8, -1., 1.);
        });
        view_.zoom = std::sqrt(3.) * edge / (2 * radius);
    }
    void set_depth_of_sphere(double depth) {
        set_curve({{0, 1, 1, 1, 0}, {.4999, 1, 1, 1, 0}, {.5001, 1, 1, 1, depth}, {1, 1, 1, 1, depth}}, 2 * radius);
    }

    static constexpr double radius = 28, disc = std::numbers::pi / 4;
};

// A sphere without absorption scatters the light of the sky for any optical depth. The mean number of scatterings is
// 2/3 of the depth, from the mean length of its chords.
TEST_F(TracedShapes, SlowSpheresOfAnyDepthConserveLight) {
    set_sphere();
    view_.scattering = 1;
    for (const auto& [depth, paths] : {std::pair{.1, 32}, std::pair{1., 16}, std::pair{10., 8}, std::pair{100., 2}}) {
        set_depth_of_sphere(depth);
        view_.paths = paths;
        for (const Pixel& pixel : pixels()) ASSERT_NEAR(pixel.light, pixel.opacity, 4e-4) << depth;
        double sum = 0, squares = 0;
        for (const PathCounts& counts : renderer().count_paths(view_)) {
            EXPECT_EQ(counts.given_up, 0);
            sum += counts.scatterings;
            squares += counts.scatterings * counts.scatterings;
        }
        const double count = static_cast<double>(view_.width * view_.height), mean = sum / count;
        const double sigma = std::sqrt((squares / count - mean * mean) / count) / disc;
        EXPECT_NEAR(mean / disc, 2 * depth / 3, 4 * sigma + 0.003 * depth) << depth;
        EXPECT_LT(sigma, 0.05 * depth) << depth;
    }
}

// Means over the disc, from Monte Carlo in NumPy.
TEST_F(TracedShapes, SlowSpheresOfAnyDepthMatchMonteCarlo) {
    struct Case {
        double depth;
        std::array<double, 3> light;  // for albedo .99, .9 and .5
    };
    set_sphere();
    view_.paths = 32;
    for (const auto& [depth, light] : {Case{.1, {.99933, .99336, .96729}}, Case{1, {.99336, .93602, .72417}},
                                       Case{10, {.93854, .62348, .20519}}, Case{100, {.81559, .49008, .15000}}}) {
        set_depth_of_sphere(depth);
        for (std::size_t i = 0; i < light.size(); ++i) {
            view_.scattering = std::array{.99, .9, .5}[i];
            const Mean found = mean();
            EXPECT_NEAR(1 - (found.opacity - found.light) / disc, light[i], 4 * found.sigma / disc + 0.003)
                << depth << ", " << view_.scattering;
        }
    }
}

// Seen face on; forward and isotropic scattering.
TEST_F(TracedShapes, CubesMatchMonteCarlo) {
    struct Case {
        double depth, g, albedo, light;
    };
    set_volume(db_grid(8, 8, 8), [](auto...) { return 20; });
    view_.zoom = std::sqrt(3.);
    for (const auto& [depth, g, albedo, light] :
         {Case{1, 0, .99, .99054}, Case{1, 0, .5, .62103}, Case{4, 0, .9, .73114}, Case{16, 0, .9, .52657},
          Case{1, .8, .9, .90798}, Case{4, .8, .99, .96462}, Case{16, .8, .5, .04911}}) {
        set_white(depth, 8);
        view_.anisotropy = g;
        view_.scattering = albedo;
        const Mean found = mean();
        EXPECT_NEAR(1 - (found.opacity - found.light), light, 4 * found.sigma + 4e-4) << depth << ", " << g;
    }
}

}  // namespace
}  // namespace echolux::test
