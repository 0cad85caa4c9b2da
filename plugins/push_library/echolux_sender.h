/* Pushes raw spectra into Echolux from LabVIEW, MATLAB, C#, Python or any program that calls functions of a shared
   library: echolux_push.dll on Windows, libecholux_push.so on Linux. docs/windows.md is the guide. C and C++ programs
   may include plugins/echolux_push_tcp.h instead and need no library.

     char problem[200];
     int32_t sender = echolux_sender_open("192.168.1.20:5210", "samples=2048 a_scans=512 b_scans=400", problem, 200);
     if (sender < 0) fail(problem);
     while (acquiring) echolux_sender_push(sender, spectra, bytes);
     echolux_sender_close(sender, 1000);

   The arguments are numbers, texts (UTF-8, zero-terminated) and pointers to memory of the caller, which is not used
   after the call. Functions return -1 in case of an error, and echolux_sender_problem() then returns its message.
   Any thread may call them. None waits for a viewer, except echolux_sender_wait() and _close() for the stated time. */
#ifndef ECHOLUX_SENDER_H
#define ECHOLUX_SENDER_H

#include <stdint.h>

#if !defined(ECHOLUX_SENDER_BUILD)
#define ECHOLUX_SENDER_API
#elif defined(_WIN32)
#define ECHOLUX_SENDER_API __declspec(dllexport)
#else
#define ECHOLUX_SENDER_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Version of these functions. It changes when callers must be adapted. */
ECHOLUX_SENDER_API int32_t echolux_sender_version(void);

/* Opens a sender and returns its number, or -1 with a message in `problem`, which has `problem_bytes` bytes.
   `address`: "HOST:PORT" of the viewer, which may start later. On Linux also "shm:NAME".
   `settings`: "key=value", separated by spaces, commas or line ends. The keys are those of section [scan] of a scan
   file: samples, a_scans, b_scans (required), sample_format (u8, u16, u32, i16, f32 or packed12; default u16),
   line_rate_hz, a_repeats, b_repeats, channels, channel_layout (interleaved or planar), big_endian (0 or 1), shift,
   bits, line_bytes, frame_offset_bytes, flyback_lines, flyback_frames; also block_b_scans (B-scans per block),
   slots (blocks kept for the network) and name (of the instrument, without spaces). */
ECHOLUX_SENDER_API int32_t echolux_sender_open(const char* address, const char* settings, char* problem,
                                               int32_t problem_bytes);

/* Returns the size of a block of block_b_scans B-scan positions. */
ECHOLUX_SENDER_API int64_t echolux_sender_block_bytes(int32_t sender);

/* Copies one block, which follows the previous one: 1 to block_b_scans whole B-scan positions. */
ECHOLUX_SENDER_API int32_t echolux_sender_push(int32_t sender, const void* spectra, int64_t bytes);

/* The same with a position. volume, first_b_scan: -1 if it follows the previous block. lost: blocks lost by the device
   since the previous one. time_s: of the first line on the device's clock; -1: now. volume_starts: 1 for the first
   block of a volume, regardless of counting. */
ECHOLUX_SENDER_API int32_t echolux_sender_push_at(int32_t sender, const void* spectra, int64_t bytes, int64_t volume,
                                                  int64_t first_b_scan, int64_t lost, double time_s,
                                                  int32_t volume_starts);

/* Waits until a viewer is connected. Returns 1, or 0 if there is none after `milliseconds`. */
ECHOLUX_SENDER_API int32_t echolux_sender_wait(int32_t sender, int32_t milliseconds);

/* Counts blocks: pushed, sent to a viewer, and dropped because the network was too slow. */
ECHOLUX_SENDER_API int32_t echolux_sender_counts(int32_t sender, int64_t* pushed, int64_t* sent, int64_t* dropped);

/* Copies the message of the last error. */
ECHOLUX_SENDER_API int32_t echolux_sender_problem(int32_t sender, char* problem, int32_t problem_bytes);

/* Ends the stream: viewers finish as at the end of a file. Without this call they wait for the next sender. */
ECHOLUX_SENDER_API int32_t echolux_sender_end(int32_t sender);

/* Closes the sender. Waits up to `milliseconds` until a connected viewer has received the remaining blocks. */
ECHOLUX_SENDER_API int32_t echolux_sender_close(int32_t sender, int32_t milliseconds);

#ifdef __cplusplus
}
#endif

#endif
