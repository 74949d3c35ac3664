# SPDX-License-Identifier: Apache-2.0
"""Trainings on several ranks of which one fails: killed, without room for its file, with an error of its own, stopped for ever. Each ends soon with one message, and the last good file stays."""
import os
import shutil
import signal

from ranks import PRIOR, end_of, rank_processes, start, wait_for_epoch, written
from support import PROGRAM, Folder, check, finish


def has_ended(name, process, most_seconds, words, whole_lines=1):
    code, said, seconds = end_of(process, most_seconds + 30)
    errors = [line for line in said.splitlines() if "error: " in line]
    check(code not in (0, None), f"{name}: the run ends with an error (code {code})")
    check(seconds < most_seconds, f"{name}: after {seconds:.1f} s, less than {most_seconds:g}")
    check(len(errors) == whole_lines, f"{name}: {whole_lines} message of ours, got {errors}")
    for word in words:
        check(word in said, f"{name}: says \"{word}\"")
    if code in (0, None) or len(errors) != whole_lines or any(word not in said for word in words):
        print(said[-3000:])


def goes_on(folder, name, whole):
    """Resumes from the file that was left."""
    code, said, _ = end_of(start(folder / "prior.toml", "-o", folder / name, "--resume", ranks=2), 100)
    check(code == 0, f"{name}: the file that was left can be resumed (code {code})\n{said[-1500:] if code != 0 else ''}")
    check(code == 0 and written(folder / name) == whole, f"{name}: the bytes of an undisturbed training")


def running(folder, name, *arguments, ranks):
    process = start(folder / "prior.toml", "-o", folder / name, *arguments, ranks=ranks)
    check(wait_for_epoch(folder / name, 1), f"{name}: the first epoch is over")
    return process


with Folder() as folder:
    folder.write("prior.toml", PRIOR.format(epochs=40))
    code, said, _ = end_of(start(folder / "prior.toml", "-o", folder / "whole", ranks=1), 100)
    check(code == 0, f"the undisturbed training ends (code {code})")
    whole = written(folder / "whole")

    process = running(folder, "killed", ranks=3)
    os.kill(rank_processes(process)[1], signal.SIGKILL)
    has_ended("killed", process, 5.0, ["process rank 1", "signal 9 (Killed)"], whole_lines=0)  # mpirun says it
    goes_on(folder, "killed", whole)

    process = running(folder, "hangs", "--rank-timeout", "1", ranks=3)
    os.kill(rank_processes(process)[1], signal.SIGSTOP)
    has_ended("hangs", process, 1.0 + 7.0, ["rank 1 did not answer in 2 s", "waits for rank", "no end of an exchange in 1 s"])
    goes_on(folder, "hangs", whole)

    # No room for the next file of rank 0: the limit holds from the resume on.
    process = running(folder, "full", ranks=2)
    process.send_signal(signal.SIGUSR1)
    check(end_of(process, 60)[0] == 11, "full: a training that was stopped")
    before = open(folder / "full/checkpoint.safetensors", "rb").read()
    limited = ["bash", "-c", 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then trap "" XFSZ; ulimit -f 8; fi; exec "$0" "$@"', PROGRAM]
    process = start(folder / "prior.toml", "-o", folder / "full", "--resume", ranks=2, program=limited)
    has_ended("full", process, 15.0, ["rank 0 of 2: ", "checkpoint.safetensors"])
    check(open(folder / "full/checkpoint.safetensors", "rb").read() == before, "full: the last good file stays")
    goes_on(folder, "full", whole)

    # Rank 1 resumes from a file that is not there, which it finds when the others train.
    shutil.copytree(folder / "full", folder / "throws")
    other = ["bash", "-c", 'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then set -- train "$2" -o "$4/none" --resume; fi; exec "$0" "$@"', PROGRAM]
    process = start(folder / "prior.toml", "-o", folder / "throws", "--resume", ranks=3, program=other)
    has_ended("throws", process, 15.0, ["rank 1 of 3: ", "none/checkpoint.safetensors"])

    # A rank with another configuration.
    folder.write("other.toml", PRIOR.format(epochs=40).replace("[training]", "[loss]\nsimilarity = 0.07\n[training]"))
    other = ["bash", "-c", f'if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then set -- train "{folder / "other.toml"}" -o "$4"; fi; exec "$0" "$@"', PROGRAM]
    process = start(folder / "prior.toml", "-o", folder / "differs", ranks=2, program=other)
    has_ended("differs", process, 15.0, ["rank 1 has", "constant", "train_vae.cpp"])
finish()
