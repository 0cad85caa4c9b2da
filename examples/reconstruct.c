/* Reconstructs the volume of a scan file and writes it.
 * Usage: reconstruct scan.toml volume.nrrd [recipe.window=hann ...] */
#include <stdio.h>

#include <echolux/echolux.h>

static int failed(const echolux_error* error) {
    fprintf(stderr, "%s: %s (%s)\n", error->where, error->what, error->remedy);
    return 1;
}

/* Progress callback. It runs on the thread that called the library. */
static int tell(void* user, const char* task, int64_t done, int64_t total, const char* unit) {
    (void)user;
    fprintf(stderr, "\r%s: %lld of %lld %s ", task, (long long)done, (long long)total, unit);
    return 0; /* continue; any other value would stop the work */
}

int main(int argc, char** argv) {
    echolux_error error;
    echolux_scan* scan = NULL;
    echolux_volume* volume = NULL;
    echolux_grid grid;
    echolux_part part;
    int result = 1;

    if (argc < 3) {
        fprintf(stderr, "usage: reconstruct scan.toml volume.nrrd [KEY=VALUE ...]\n");
        return 2;
    }
    ECHOLUX_INIT(error);
    ECHOLUX_INIT(grid);
    ECHOLUX_INIT(part); /* all zeros: the whole first volume */
    part.progress = tell;
    if (echolux_scan_open(argv[1], (const char* const*)(argv + 3), (size_t)(argc - 3), &scan, &error) != ECHOLUX_OK ||
        echolux_reconstruct(scan, NULL, &part, &volume, NULL, &error) != ECHOLUX_OK ||
        echolux_volume_grid(volume, &grid, &error) != ECHOLUX_OK ||
        echolux_volume_write(volume, argv[2], 0, NULL, NULL, &error) != ECHOLUX_OK) {
        failed(&error);
    } else {
        printf("%lld x %lld x %lld voxels in %s\n", (long long)grid.depth, (long long)grid.a_scans,
               (long long)grid.b_scans, grid.unit);
        result = 0;
    }
    echolux_volume_free(volume);
    echolux_scan_free(scan);
    return result;
}
