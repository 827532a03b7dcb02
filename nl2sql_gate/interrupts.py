"""A job that is cancelled stops as one that is interrupted."""

from __future__ import annotations

import signal
from types import FrameType


def as_interrupt(_number: int, _frame: FrameType | None) -> None:
    """Make of SIGTERM, by which runners cancel a job, what Ctrl-C is: a handler.

    A shell's background job is started with Ctrl-C ignored; it must be possible to cancel that too.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.raise_signal(signal.SIGINT)
