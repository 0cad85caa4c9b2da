"""Runs the fuzz targets, one per core at a time.

usage: run_fuzz.py PROGRAM each|together SECONDS [TARGET ...]

SECONDS is the time of each target, or of all together. Corpora are stored next to PROGRAM, findings in its folder
findings/. Prints one line per target; exit status 1 if a target found something.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
# HDF5 allocates what files claim, and HDF5 and GDCM leak memory on damaged files. The program runs both in a separate
# process. The HDF5 target runs each input in a copy of the process first.
LIBRARY = "hdf5", "matlab", "dicom"
MEBIBYTES_AT_ONCE = 400  # no 64 KiB input justifies more: readers have a budget of 200 MiB (ECHOLUX_MEMORY_MIB)


def run(program, target, seconds):
    corpus, findings = program.parent / "corpus" / target, program.parent / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    command = [program, corpus, HERE / "seeds" / target, f"-dict={HERE / 'words.dict'}", f"-max_total_time={seconds}",
               "-max_len=65536", "-timeout=10", "-rss_limit_mb=2048", f"-malloc_limit_mb={MEBIBYTES_AT_ONCE}",
               *(["-malloc_limit_mb=0"] if target in LIBRARY else []), f"-artifact_prefix={findings}/{target}-", "-print_final_stats=1", "-verbosity=1"]
    symbolizer = next(filter(None, map(shutil.which, ("llvm-symbolizer-16", "llvm-symbolizer", "llvm-symbolizer-14"))), "")
    environment = {**os.environ, "ASAN_SYMBOLIZER_PATH": symbolizer, "ECHOLUX_FUZZ_TARGET": target, "ECHOLUX_MEMORY_MIB": "200",
                   "ASAN_OPTIONS": f"detect_leaks={int(target not in LIBRARY)}:allocator_may_return_null={int(target in LIBRARY)}", "UBSAN_OPTIONS": "print_stacktrace=1"}
    result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return result.returncode, result.stdout.decode(errors="replace")


def number(log, pattern):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0


def main():
    program, seconds = Path(sys.argv[1]).resolve(), int(sys.argv[3])
    targets = sys.argv[4:] or sorted(folder.name for folder in (HERE / "seeds").iterdir())
    if sys.argv[2] == "together":
        seconds = max(1, seconds * os.cpu_count() // len(targets))
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, (status, log) in zip(targets, pool.map(lambda name: run(program, name, seconds), targets)):
            inputs, edges = number(log, r"stat::number_of_executed_units: +(\d+)"), number(log, r"cov: (\d+)")
            print(f"fuzz {target:18} {inputs:9} inputs, {edges:6} edges{'' if status == 0 else '  FOUND SOMETHING'}", flush=True)
            if status == 0:
                continue
            failed.append(target)
            (program.parent / "findings" / f"{target}.log").write_text(log)
            print(*[line for line in log.splitlines() if "ERROR" in line or "SUMMARY" in line or "Test unit" in line][:4], sep="\n")
    print(f"{len(targets)} targets, {len(failed)} found something{': ' + ' '.join(failed) if failed else ''}")
    return 1 if failed else 0


sys.exit(main())
