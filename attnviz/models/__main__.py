"""python -m attnviz.models prepare: convert the bundled weights at set-up.
python -m attnviz.models record: make the stored capture that Home shows, again.
"""

from __future__ import annotations

import sys

from attnviz.errors import AttnvizError
from attnviz.models import catalog

RECORDED = "smollm2-135m"


def prepare() -> None:
    """Convert every installed GGUF model that is not converted yet."""
    from attnviz.models.convert import converted

    for entry in catalog.bundled():
        if not entry.installed:
            print(f"{entry.title}: not installed", flush=True)
            continue
        folder = converted(entry, _say) if entry.is_gguf else entry.source()
        print(f"{entry.title}: ready in {folder}", flush=True)


def record() -> None:
    """Capture the recorded sentence and write it to assets/captures."""
    from attnviz.models import capture, load_model, recorded

    model = load_model(RECORDED, device="cpu", progress=_say)
    path = recorded.save(RECORDED, capture(model, recorded.SENTENCE), model.title)
    print(f"{path}: {path.stat().st_size:,} bytes", flush=True)


def _say(fraction: float, text: str) -> None:
    print(f"{fraction:4.0%}  {text}", flush=True)


COMMANDS = {"prepare": prepare, "record": record}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in COMMANDS:
        print(f"usage: python -m attnviz.models {{{','.join(COMMANDS)}}}", file=sys.stderr)
        return 2
    try:
        COMMANDS[arguments[0]]()
    except AttnvizError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
