# SPDX-License-Identifier: Apache-2.0
"""One attack: a command under limits of time and memory, judged by how it ends; and the tally of all of them."""
import resource
import subprocess
import threading

HANG_S = 20.0
MEMORY_BYTES = 6 << 30
REFUSALS = (2, 3, 4, 5)  # configuration, file, format, numbers: a message and nothing half-written
FINISHED = (0, 10)       # at the target, or all iterations used
STOPPED = 11             # by a signal or a time limit, to be resumed


class Ended:
    """How a command ended: its code (None: it hung) and what it said."""

    def __init__(self, code, said):
        self.code, self.said = code, said

    @property
    def is_refusal(self):
        return self.code in REFUSALS

    @property
    def error(self):
        """What it said at last: the error, without the log before; all of it where no line begins an error (`info`)."""
        return self.said[max(0, self.said.rfind("error: ")):]

    @property
    def is_finished(self):
        return self.code in FINISHED


def _limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(command, seconds=HANG_S, **options):
    """Runs a command; it hangs when it needs more than `seconds`."""
    try:
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, preexec_fn=_limit, **options)
    except subprocess.TimeoutExpired:
        return Ended(None, "")
    return Ended(ended.returncode, ended.stdout.decode("utf-8", "replace"))


class Tally:
    """Counts of attacks and of what must not happen; safe for several threads."""
    FAULTS = ("crashed", "hung", "silent", "unnamed", "unexpected")

    def __init__(self, verbose):
        self.tried = dict()
        self.faults = {name: [] for name in self.FAULTS}
        self.verbose = verbose
        self._lock = threading.Lock()

    def fault(self, name, what, said=""):
        with self._lock:
            self.faults[name].append(what)
            print(f"{name.upper()}: {what}\n    " + "\n    ".join(said.strip().splitlines()[-6:]), flush=True)

    def count(self, kind):
        with self._lock:
            self.tried[kind] = self.tried.get(kind, 0) + 1

    def judge(self, kind, what, ended, names=()):
        """Counts one attack. The error of a refusal must contain one of `names`: the file or the key that is to blame, not a site or a value. True when the command ended in an orderly way."""
        self.count(kind)
        if self.verbose:
            print(f"{kind}: {what}: {ended.code}", flush=True)
        if ended.code is None:
            self.fault("hung", what)
        elif ended.code < 0 or ended.code > 128 or "Segmentation" in ended.said or "terminate called" in ended.said:
            self.fault("crashed", f"{what} (code {ended.code})", ended.said)
        elif ended.code == 1 or "bad_alloc" in ended.said:
            self.fault("unexpected", what, ended.said)
        elif ended.is_refusal and names and not any(name in ended.error for name in names):
            self.fault("unnamed", f"{what} (code {ended.code}, expected one of {list(names)})", ended.said)
        else:
            return True
        return False

    def summary(self):
        by_kind = ", ".join(f"{kind} {n}" for kind, n in self.tried.items())
        counts = ", ".join(f"{name} {len(found)}" for name, found in self.faults.items())
        return f"{by_kind}\ntried {sum(self.tried.values())}: {counts}"

    @property
    def is_clean(self):
        return not any(self.faults.values())
