# SPDX-License-Identifier: Apache-2.0
"""A training on several ranks: the same bytes of network, checkpoint and table on 1 to 8, also after a stop by a signal and a resume on others; ranks and shards that do not fit."""
import os
import signal

from ranks import PRIOR, end_of, launcher, rank_processes, start, wait_for_epoch, written
from support import Folder, check, expect, expect_error, finish


def train(folder, name, ranks, *arguments):
    code, said, _ = end_of(start(folder / "prior.toml", "-o", folder / name, *arguments, ranks=ranks), 100)
    check(code == 0, f"{name}: a training on {ranks} ranks ends (code {code})\n{said[-1500:] if code != 0 else ''}")
    return written(folder / name) if code == 0 else None


def stop_and_resume(folder, name, stop, whole):
    """Stops a training on two ranks after its first epoch, and goes on with three."""
    first = start(folder / "long.toml", "-o", folder / name, ranks=2)
    check(wait_for_epoch(folder / name, 1), f"{name}: the first epoch is over")
    stop(first)
    code, said, seconds = end_of(first, 60)
    check(code == 11, f"{name}: the training stops cleanly (code {code})\n{said[-1500:] if code != 11 else ''}")
    check(seconds < 5.0, f"{name}: within 5 s of the signal ({seconds:.1f} s)")
    check(not os.path.exists(folder / name + "/vae.h5"), f"{name}: no network yet")
    code, said, _ = end_of(start(folder / "long.toml", "-o", folder / name, "--resume", ranks=3), 100)
    check(code == 0, f"{name}: it goes on with three ranks (code {code})\n{said[-1500:] if code != 0 else ''}")
    check(code == 0 and written(folder / name) == whole, f"{name}: the bytes of an uninterrupted training")


with Folder() as folder:
    folder.write("prior.toml", PRIOR.format(epochs=2))
    folder.write("long.toml", PRIOR.format(epochs=40))
    alone = train(folder, "on_1", 1)
    for ranks in (2, 3, 4, 8):
        of_ranks = train(folder, f"on_{ranks}", ranks)
        check(of_ranks == alone, f"{ranks} ranks write the bytes of one")

    code, said, _ = end_of(start(folder / "long.toml", "-o", folder / "whole", ranks=1), 100)
    check(code == 0, f"the uninterrupted training ends (code {code})")
    whole = written(folder / "whole")
    stop_and_resume(folder, "by_sigterm", lambda run: os.kill(rank_processes(run)[1], signal.SIGTERM), whole)
    stop_and_resume(folder, "by_sigusr1", lambda run: run.send_signal(signal.SIGUSR1), whole)

    expect_error(2, "too_many_ranks", ["training.shards, 1, got 2", "--shards 2"], "train", folder / "prior.toml", "--shards", "1", "-o", folder / "none", launcher=launcher(2))
    expect_error(2, "more_shards_than_draws", ["26", "27"], "train", folder / "prior.toml", "--shards", "27", "-o", folder / "none")
    expect_error(2, "other_training", ["training.shards = 8", "training.shards = 4"], "train", folder / "long.toml", "--shards", "4", "--resume", "-o", folder / "by_sigterm")
    expect(2, ["--rank-timeout expects a positive number of seconds, got -1"], "train", folder / "prior.toml", "--rank-timeout=-1", "-o", folder / "none")
    check(not os.path.exists(folder / "none"), "a training that is refused leaves no folder")
finish()
