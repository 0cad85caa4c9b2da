/* A sample acquisition program that pushes its spectra (docs/push.md). It simulates a slowly moving mirror.
   usage: push NAME [B-SCANS]     then: echolux view --source shm:NAME */
#include "echolux_push.h"

#include <math.h>
#include <stdlib.h>

enum { SAMPLES = 512, A_SCANS = 64, B_SCANS = 16 };

/* Simulates a B-scan of a mirror at `depth`, given in fringes per spectrum. */
static void acquire(uint16_t* spectra, double depth) {
    int line, k;
    for (line = 0; line < A_SCANS; ++line) {
        for (k = 0; k < SAMPLES; ++k) {
            const double x = (k - SAMPLES / 2) / (SAMPLES / 4.0);
            const double fringe = 1 + 0.5 * cos(6.283185307179586 * depth * k / SAMPLES);
            spectra[line * SAMPLES + k] = (uint16_t)(20000 * exp(-x * x) * fringe);
        }
    }
}

int main(int count, char** arguments) {
    const struct timespec pause = {0, 6400000};              /* duration of 64 lines at 10 kHz */
    const long b_scans = count > 2 ? atol(arguments[2]) : 0; /* 0 for an endless stream */
    long done;
    echolux_push_stream stream;
    echolux_push push;
    if (count < 2) return 2;
    memset(&stream, 0, sizeof stream);
    stream.sample_format = ECHOLUX_PUSH_U16;
    stream.samples = SAMPLES;
    stream.a_scans = A_SCANS;
    stream.b_scans = B_SCANS;
    stream.line_rate_hz = 10000;
    strcpy(stream.name, "sample");
    if (echolux_push_create(&push, arguments[1], &stream) != 0) {
        fprintf(stderr, "%s\n", push.problem);
        return 1;
    }
    for (done = 0; b_scans == 0 || done < b_scans; ++done) {
        acquire((uint16_t*)echolux_push_begin(&push), 60 + 30 * sin(0.01 * (double)done));
        if (echolux_push_publish(&push, NULL) != 0) break;
        nanosleep(&pause, NULL);
    }
    echolux_push_end(&push);
    echolux_push_close(&push);
    return 0;
}
