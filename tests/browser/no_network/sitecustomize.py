"""Python reads this at start-up where PYTHONPATH names its folder: the machine has no network.

A connection or a name look-up that would leave the machine is written down and refused.
"""

import os
import sys

_LOCAL = {"127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "", None}
_LOG = os.environ["NO_NETWORK_LOG"]


def _refuse(event: str, args: tuple[object, ...]) -> None:
    if event == "socket.connect" and isinstance(args[1], tuple):
        host = args[1][0]
    elif event == "socket.getaddrinfo":
        host = args[0]
    else:
        return
    host = host.decode() if isinstance(host, bytes) else host
    if host not in _LOCAL:
        with open(_LOG, "a") as log:
            log.write(f"{event} {host}\n")
        raise OSError(101, "Network is unreachable")


sys.addaudithook(_refuse)
