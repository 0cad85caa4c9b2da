/* Reconstructs a camera's buffers to volumes as they arrive, without files. The camera is a loop that computes
 * fringes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <echolux/echolux.h>

enum { SAMPLES = 512, A_SCANS = 64, B_SCANS = 8, VOLUMES = 3 };

/* Computes a B-scan of a mirror that gets deeper with each volume. */
static void expose(uint16_t* spectra, int volume) {
    int a, s;
    for (a = 0; a < A_SCANS; ++a) {
        for (s = 0; s < SAMPLES; ++s) {
            const double fringe = cos(6.283185307 * (40 + 20 * volume) * s / SAMPLES + 0.3 * a);
            spectra[a * SAMPLES + s] = (uint16_t)(2000 + 800 * fringe + rand() % 16);
        }
    }
}

/* Row of the brightest voxel in the first A-scan. Depth is the fastest dimension. */
static int deepest_bin(const echolux_volume* volume, const echolux_grid* grid) {
    const void* voxels = NULL;
    int z, best = 0;
    echolux_volume_data(volume, &voxels, NULL, NULL);
    for (z = 0; z < (int)grid->depth; ++z) {
        if (((const float*)voxels)[z] > ((const float*)voxels)[best]) best = z;
    }
    return best;
}

int main(void) {
    static uint16_t spectra[A_SCANS * SAMPLES];
    const char* const settings[] = {"recipe.background=none", "recipe.depth_begin=8"};
    echolux_error error;
    echolux_layout layout;
    echolux_live_options options;
    echolux_block block;
    echolux_grid grid;
    echolux_scan* scan = NULL;
    echolux_live* live = NULL;
    echolux_volume* volume = NULL;
    int v, b, result = 1;

    ECHOLUX_INIT(error);
    ECHOLUX_INIT(grid);
    ECHOLUX_INIT(layout);
    layout.samples = SAMPLES;
    layout.a_scans = A_SCANS;
    layout.b_scans = B_SCANS;
    ECHOLUX_INIT(options);
    options.delivery = ECHOLUX_EVERY;
    if (echolux_scan_create(&layout, settings, 2, &scan, &error) != ECHOLUX_OK) goto done;
    if (echolux_live_create(scan, 1, &options, &live, &error) != ECHOLUX_OK) goto done;
    if (echolux_live_start(live, 0, &error) != ECHOLUX_OK) goto done;
    for (v = 0; v < VOLUMES; ++v) {
        for (b = 0; b < B_SCANS; ++b) {
            expose(spectra, v);
            ECHOLUX_INIT(block);
            block.data = spectra;
            block.bytes = sizeof spectra;
            block.first_b_scan = b;
            block.b_scans = 1;
            /* A copy is queued, so `spectra` can be reused right away. */
            if (echolux_live_push(live, &block, 10000, &error) != ECHOLUX_OK) goto done;
        }
        /* The volume is ours and must be freed. */
        if (echolux_live_next(live, 10000, &volume, NULL, &error) != ECHOLUX_OK) goto done;
        if (echolux_volume_grid(volume, &grid, &error) != ECHOLUX_OK) goto done;
        printf("volume %d: the mirror is at row %d of %d\n", v, deepest_bin(volume, &grid), (int)grid.depth);
        echolux_volume_free(volume);
        volume = NULL;
    }
    result = 0;
done:
    if (result != 0) fprintf(stderr, "%s: %s (%s)\n", error.where, error.what, error.remedy);
    echolux_volume_free(volume);
    echolux_live_free(live);
    echolux_scan_free(scan);
    return result;
}
