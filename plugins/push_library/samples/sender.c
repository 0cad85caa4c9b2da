/* Sends the spectra of a slowly moving, simulated mirror through the library (docs/windows.md).
   usage: sender HOST:PORT [SECONDS]     where the viewer runs: echolux view --source tcp://0.0.0.0:PORT */
#include "../echolux_sender.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 512, A_SCANS = 64, LINES_PER_S = 64000 };

static uint16_t spectra[A_SCANS * SAMPLES];

/* Stands for the digitizer: simulates a B-scan of a mirror at `depth`, given in fringes per spectrum. */
static void acquire(double depth) {
    int i;
    for (i = 0; i < A_SCANS * SAMPLES; ++i) {
        const double k = (double)(i % SAMPLES) / SAMPLES;
        const double x = 4 * (k - 0.5);
        spectra[i] = (uint16_t)(20000 * exp(-x * x) * (1 + 0.5 * cos(6.283185307179586 * depth * k)));
    }
}

int main(int count, char** arguments) {
    const double seconds = count > 2 ? atof(arguments[2]) : 60;
    const long b_scans = (long)(seconds * LINES_PER_S / A_SCANS);
    char problem[200];
    int64_t pushed, sent, dropped;
    int32_t sender;
    long i;
    if (count < 2) return 2;
    sender = echolux_sender_open(arguments[1], "samples=512 a_scans=64 b_scans=16 line_rate_hz=64000 name=sample",
                                 problem, sizeof problem);
    if (sender < 0) {
        fprintf(stderr, "%s\n", problem);
        return 1;
    }
    printf("waiting for the viewer\n");
    while (echolux_sender_wait(sender, 1000) == 0) {
    }
    for (i = 0; i < b_scans; ++i) {
        acquire(60 + 30 * sin(0.01 * (double)i));
        if (echolux_sender_push(sender, spectra, sizeof spectra) != 0) break;
    }
    echolux_sender_end(sender);
    echolux_sender_counts(sender, &pushed, &sent, &dropped);
    printf("%lld pushed, %lld sent, %lld dropped\n", (long long)pushed, (long long)sent, (long long)dropped);
    echolux_sender_close(sender, 5000);
    return 0;
}
