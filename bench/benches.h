// The benchmarks of `echolux bench`. All throw Error{bad_setting, device, out_of_memory, cancelled}; the report then
// holds what was measured before. A figure that cannot be measured is reported with the reason.
#pragma once

#include "bench/report.h"
#include "bench/run.h"
#include "engine/progress.h"

namespace echolux {

// The main one: the ceilings of this machine and the product's rates compared with them. Covers the reconstructor alone
// and the path to the screen. Lengths are even, from 128 to 65536.
void run_throughput(const BenchJob& job, BenchReport& report, Progress& progress);

// Each method compared with the plain chain for 2048 samples, and the AO-OCT chain with 832. Voxels go to textures if
// there is a GPU and a renderer for it.
void run_methods(const BenchJob& job, BenchReport& report, Progress& progress);

// The scaling of some methods on 1, 2, 4 ... of job.gpus, with spectra and voxels in the memory of each. Throws
// Error{device} if fewer are usable.
void run_scaling(const BenchJob& job, BenchReport& report, Progress& progress);

// The figures of five papers, and the same work in their shapes.
void run_papers(const BenchJob& job, BenchReport& report, Progress& progress);

// Noise that recipe.precision = fast adds to a line, and the share of codes it changes, compared with exact on the same
// GPU: layered tissue, and mirrors 40 ... 70 dB above the noise, with 2048 samples. Throws Error{device} without a GPU.
void run_precision(const BenchJob& job, BenchReport& report, Progress& progress);

// Processing after reconstruction: speckle filters, segmentation, registration, dewarping, live steps. On the CPU:
// filters of 128 x 64 x 16 voxels, surfaces in 256 x 128 x 64, 256 x 256 x 256 voxels to dewarp. On a GPU: 512 x 512 x
// 512 and 512 x 512 x 256 voxels in its memory, and once with copies from and to the host.
void run_processing(const BenchJob& job, BenchReport& report, Progress& progress);

// ---- Only in builds with the renderer. They use job.device.

// Cost of pictures by the device's own clock, compared with the limit of its texture units: u8 volumes similar to OCT,
// layered tissue in speckle, half of it empty. A volume that does not fit is reported with the reason. job.volumes:
// their samples are counted in the default view.
void run_rendering(const BenchJob& job, BenchReport& report, Progress& progress);

// Path tracing of such volumes: cost of a path per pixel by the device's own clock, preparation after a change of the
// transfer curve or the volume, and the time until pictures are clean. job.volumes: their noise is measured.
void run_light(const BenchJob& job, BenchReport& report, Progress& progress);

// A turntable compared with only drawing and with only encoding its pictures. Reading back and encoding overlap with
// drawing, so the whole should take as long as the slower part. 300 pictures of 1920 x 1080 in H.264 on a GPU, fewer
// and smaller ones with software Vulkan; all are kept in memory between the steps. Also throws Error{output}.
void run_movie(const BenchJob& job, BenchReport& report, Progress& progress);

// A complete live system on this machine. Volumes arrive at a fixed rate in memory that the processor reads, are
// reconstructed with flow, and are drawn by a picture loop. Measured are shown and lost volumes and their latency. Then
// the scan protocols of M. Sylwestrzak et al., JBO 17(10), 2012, table 1, next to the published figures. With job.gpus:
// instead volumes of 1000 x 1000 x 1000 voxels on 1, 2, 4 ... of these GPUs, and the bandwidth of their links; throws
// Error{bad_setting} if job.only matches no run.
void run_live(const BenchJob& job, BenchReport& report, Progress& progress);

}  // namespace echolux
