// Figures of five papers and of a system that interpolates volumes, and their comparison with ours:
//   Shafer             B. A. Shafer et al., "Adaptive-optics OCT processing using a GPU", 2014
//   Rasakanthan 2011   J. Rasakanthan et al., JBO 16(2), 2011
//   Wang 2012          L. Wang et al., JBO 17(7), 2012: dispersion-encoded full range
//   Sylwestrzak 2012   M. Sylwestrzak et al., JBO 17(10), 2012: live structure and flow
//   Xu 2014            D. Xu, Y. Huang, J. U. Kang, Opt. Express 22, 14871, 2014: compressive sensing
//   VolRec 2025        J. Supercomput. 2025, s11227-025-06969-6
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/report.h"

namespace echolux {

// ---- Published figures in the words and units of the papers' tables: assets/published/rates.txt, tissue.txt.

// Columns of tables 1 and 2 of Wang 2012.
inline constexpr std::array<int, 5> published_iterations{0, 5, 10, 15, 20};

// A-scans per batch in Rasakanthan 2011 and Wang 2012, as far as given, and values between.
inline constexpr std::array<std::int64_t, 7> published_frames{200, 240, 1000, 1836, 4000, 10000, 20000};
inline constexpr std::array<std::int64_t, 6> published_batches{512, 1024, 2048, 3584, 4096, 6656};

struct PublishedFigure {
    std::string paper, what, hardware;
    std::string unit;  // "s" for `lines` A-scans (or voxels), "A-scans/s", "B"
    double value = 0;
    std::int64_t lines = 0;
    std::string figure;  // our figure: a rate, except for bytes
};

const std::vector<PublishedFigure>& published_figures();

// Figures of registration and segmentation.
const std::vector<PublishedFigure>& published_tissue_figures();

// ---- Comparison.

// Pairs published figures with ours from `report`. If `on_gpu` is set, plain keys are GPU figures, and those of the CPU
// start with "cpu.".
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu);
std::vector<BenchComparison> beside_the_papers(const BenchReport& report, bool on_gpu,
                                               const std::vector<PublishedFigure>& figures);

}  // namespace echolux
