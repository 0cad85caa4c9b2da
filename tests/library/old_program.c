/* A program compiled with the header of interface version 1, which is stored next to it. It must get the same results
 * from the current library as from the old one. Its structs may be shorter, and end where its header ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "echolux_v1.h"

#define CHECK(holds)                                                                 \
    do {                                                                             \
        if (!(holds)) {                                                              \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, error.where, error.what); \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

enum { SAMPLES = 128, A_SCANS = 4, B_SCANS = 2 };

int main(void) {
    const char* const settings[] = {"recipe.background=none", "recipe.levels=fixed"};
    static uint16_t spectra[B_SCANS * A_SCANS * SAMPLES];
    static float voxels[B_SCANS * A_SCANS * SAMPLES / 2];
    echolux_error error;
    echolux_layout layout;
    echolux_device device;
    echolux_block block;
    echolux_place place;
    echolux_grid grid;
    echolux_scan* scan = NULL;
    echolux_reconstructor* work = NULL;
    uint64_t done = 0;
    size_t i;

    ECHOLUX_INIT(error);
    ECHOLUX_INIT(layout);
    ECHOLUX_INIT(device);
    ECHOLUX_INIT(block);
    ECHOLUX_INIT(place);
    ECHOLUX_INIT(grid);
    CHECK(echolux_interface_version() >= ECHOLUX_INTERFACE_VERSION);
    layout.samples = SAMPLES;
    layout.a_scans = A_SCANS;
    layout.b_scans = B_SCANS;
    CHECK(echolux_scan_create(&layout, settings, 2, &scan, &error) == ECHOLUX_OK);
    device.kind = ECHOLUX_DEVICE_CPU;
    device.size = offsetof(echolux_device, streams);
    CHECK(echolux_reconstructor_create(scan, &device, 0, &work, &error) == ECHOLUX_OK);
    CHECK(echolux_reconstructor_grid(work, &grid, NULL, &error) == ECHOLUX_OK);
    CHECK(grid.depth == SAMPLES / 2 && grid.voxel == ECHOLUX_F32 && grid.bytes == sizeof voxels);
    for (i = 0; i < sizeof spectra / sizeof *spectra; ++i) spectra[i] = i % 8 < 4 ? 3000 : 1000;
    block.data = spectra;
    block.bytes = sizeof spectra;
    block.b_scans = B_SCANS;
    block.size = offsetof(echolux_block, frame_offset_bytes);
    place.data = voxels;
    place.bytes = sizeof voxels;
    place.size = offsetof(echolux_place, a_scan_bytes);
    CHECK(echolux_reconstructor_submit(work, &block, &place, NULL, &done, &error) == ECHOLUX_OK);
    CHECK(echolux_reconstructor_wait(work, done, &error) == ECHOLUX_OK);
    for (i = 17; i < 32; ++i) CHECK(voxels[16] > voxels[i]); /* a period of 8 samples: bin 16 of 64 */
    block.data = NULL;
    CHECK(echolux_reconstructor_submit(work, &block, &place, NULL, &done, &error) == ECHOLUX_BAD_SETTING);
    CHECK(strlen(error.what) > 0);
    echolux_reconstructor_free(work);
    echolux_scan_free(scan);
    printf("interface %u of echolux %s\n", (unsigned)echolux_interface_version(), echolux_version());
    return 0;
}
