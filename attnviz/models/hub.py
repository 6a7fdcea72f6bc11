"""A model from the Hugging Face Hub: only when asked for, only as safetensors."""

from __future__ import annotations

import re
from pathlib import Path

import torch

from attnviz.errors import ModelError
from attnviz.models.progress import Progress
from attnviz.models.reading import require_memory
from attnviz.settings import settings

ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?(@[\w./-]+)?")
FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]


def looks_like_id(name: str) -> bool:
    """Could this be a Hub id (organisation/model, or the old short form gpt2)?

    A branch, tag or commit may follow after an @.
    """
    return len(name) <= 96 and ".." not in name and ID.fullmatch(name) is not None


def download(name: str, place: torch.device, report: Progress) -> Path:
    """The local folder of a Hub model at its revision, fetched if it is not there yet.

    Raises ModelError when the deployment forbids it, the model does not exist, is gated, has no
    safetensors, or the Hub cannot be reached; TooLargeError before a download that would not
    fit in memory.
    """
    if not settings().hub:
        raise ModelError(
            f"{name!r} is not a bundled model, and models from the Hub are switched off here; "
            "choose a bundled one (or set ATTNVIZ_HUB=1)."
        )
    import httpx2
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    report(0.0, f"Asking the Hub for {name}")
    model, _, revision = name.partition("@")
    try:
        info = HfApi().model_info(model, revision=revision or None, files_metadata=True, timeout=10)
        weights = [f for f in info.siblings or [] if f.rfilename.endswith(".safetensors")]
        if not weights:
            raise ModelError(
                f"{name} has no safetensors weights on the Hub, and pickle files are never "
                "opened; choose another model."
            )
        require_memory(name, sum(file.size or 0 for file in weights), place)
        report(0.1, f"Downloading {name}")
        return Path(snapshot_download(model, revision=info.sha, allow_patterns=FILES))
    except GatedRepoError as problem:
        raise ModelError(
            f"{name} is gated on the Hub; accept its terms there and log in, or choose another "
            "model."
        ) from problem
    except RevisionNotFoundError as problem:
        raise ModelError(
            f"{model} has no revision {revision!r} on the Hub; name a branch, tag or commit."
        ) from problem
    except (RepositoryNotFoundError, HFValidationError) as problem:
        raise ModelError(
            f"There is no model {name!r} on the Hub; check the spelling (organisation/model)."
        ) from problem
    except (
        OfflineModeIsEnabled,
        LocalEntryNotFoundError,
        HfHubHTTPError,
        httpx2.HTTPError,
        OSError,
    ) as problem:
        raise ModelError(
            f"{name!r} is neither bundled nor a local folder, and the Hub could not be reached; "
            "choose a bundled model or try again later."
        ) from problem
