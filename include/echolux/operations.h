/* Operations: jobs that end, such as "filter" or "segment". All are used alike: create one by name, set its inputs,
 * arguments and outputs, run it, and read the results. docs/operations.md lists the operations with their names, as
 * does echolux_operations_json(). Arguments have the names and values of the options of `echolux NAME`. */
#ifndef ECHOLUX_OPERATIONS_H
#define ECHOLUX_OPERATIONS_H

#include "base.h"
#include "reconstruct.h"
#include "volume.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the descriptions of all operations, a JSON array of objects with
 * name, command ("calibrate k"), summary, details,
 * inputs:    {name, help, required, many, scans, file, positional}; file: it cannot be a volume in memory; positional:
 *            the command takes it without an option
 * arguments: {key, name, section, scan, unit, type, help, default, required}, for numbers also {min, max} and, if one
 *            value has a special meaning, {special: {value, meaning}}, for texts with a fixed set also {choices};
 *            section: "" for arguments of the operation itself; scan: a setting of the scan, checked when it is opened;
 *            type: bool, integer, number, text or numbers
 * outputs:   {name, kind, help, required, file}; kind: volume, table, figure, volume_or_figure, volume_or_table or
 *            file; file: it cannot be kept in memory
 * results:   {name, type, unit, help}; type: bool, integer, number, text, numbers, texts, counts, array or value (any)
 * backend:   the work that it does on a GPU; "": it has none. */
ECHOLUX_API echolux_status echolux_operations_json(char* buffer, size_t size, size_t* needed, echolux_error* error);

/* Creates an operation with default arguments. An unknown name is refused with the nearest one. */
ECHOLUX_API echolux_status echolux_operation_create(const char* name, echolux_operation** operation,
                                                    echolux_error* error);

/* Frees the operation. Volumes from echolux_operation_get_volume() stay valid. */
ECHOLUX_API echolux_status echolux_operation_free(echolux_operation* operation);

/* Sets an argument ("method" or "filter.method"), the file of an input or output ("input", "output"), or a setting for
 * the reconstruction of a scan ("recipe.window"), from text as in scan files. An input that takes several files is
 * extended. */
ECHOLUX_API echolux_status echolux_operation_set(echolux_operation* operation, const char* key, const char* text,
                                                 echolux_error* error);

/* Sets an input to a volume in memory, whose voxels are shared and not copied. An input that takes several volumes is
 * extended; it takes either files or volumes in memory. The volume may be freed afterwards. */
ECHOLUX_API echolux_status echolux_operation_add_input(echolux_operation* operation, const char* name,
                                                       const echolux_volume* volume, echolux_error* error);

/* Keeps an output in memory, for echolux_operation_get_volume() or _get_bytes(). It can be written to a file as well.
 */
ECHOLUX_API echolux_status echolux_operation_keep(echolux_operation* operation, const char* output,
                                                  echolux_error* error);

/* Checks inputs, arguments and outputs, then runs. An operation runs once. `device` may be NULL (automatic). Existing
 * files are refused unless `overwrites` is 1. `progress` may be NULL. */
ECHOLUX_API echolux_status echolux_operation_run(echolux_operation* operation, const echolux_device* device,
                                                 int32_t overwrites, echolux_progress progress, void* user,
                                                 echolux_error* error);

/* ---- results, after echolux_operation_run() succeeded ------------------------------------------------------------ */

/* Returns a result that is a number or bool (1 or 0). NaN: unknown, or there is none. */
ECHOLUX_API echolux_status echolux_operation_get_number(const echolux_operation* operation, const char* result,
                                                        double* value, echolux_error* error);

/* Writes a result: texts as they are, all others except arrays as JSON, such as 3, ["ILM", "RPE"] or null (none). */
ECHOLUX_API echolux_status echolux_operation_get_text(const echolux_operation* operation, const char* result,
                                                      char* buffer, size_t size, size_t* needed, echolux_error* error);

enum { ECHOLUX_ARRAY_F32, ECHOLUX_ARRAY_F64, ECHOLUX_ARRAY_I64, ECHOLUX_ARRAY_U8 };

/* View of an array, valid for the lifetime of its operation. The last index is fastest. */
typedef struct echolux_array {
    size_t size;
    const void* data;
    int64_t count; /* of all elements */
    int32_t type;  /* ECHOLUX_ARRAY_F32 ... */
    int32_t dims;  /* length of `shape` */
    int64_t shape[4];
    const char* const* words; /* words[code] is the meaning of a code, such as "ok"; NULL: the elements are not codes */
    int64_t word_count;
} echolux_array;

/* Returns a result that is an array or a list of numbers. */
ECHOLUX_API echolux_status echolux_operation_get_array(echolux_operation* operation, const char* result,
                                                       echolux_array* array, echolux_error* error);

/* Returns a kept output as a new volume, which shares its voxels with the operation. Its time, number and scan geometry
 * are those of the first volume in memory that was added; its warnings also contain those of the operation. */
ECHOLUX_API echolux_status echolux_operation_get_volume(const echolux_operation* operation, const char* output,
                                                        echolux_volume** volume, echolux_error* error);

/* Returns the bytes of a kept table, figure or other file, valid for the lifetime of the operation. */
ECHOLUX_API echolux_status echolux_operation_get_bytes(const echolux_operation* operation, const char* output,
                                                       const void** bytes, size_t* count, echolux_error* error);

/* Writes warnings, one per line. */
ECHOLUX_API echolux_status echolux_operation_warnings(const echolux_operation* operation, char* buffer, size_t size,
                                                      size_t* needed, echolux_error* error);

/* Writes files, all results except arrays, and warnings as the object that `echolux NAME --json` prints. */
ECHOLUX_API echolux_status echolux_operation_json(const echolux_operation* operation, char* buffer, size_t size,
                                                  size_t* needed, echolux_error* error);

#ifdef __cplusplus
}
#endif
#endif
