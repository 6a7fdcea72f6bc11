"""What cannot or may not be loaded is refused in a sentence that says what to change."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import attnviz as av
from attnviz.errors import AttnvizError, ModelError, TooLargeError
from attnviz.models import check_visitor_model, load_model, loading
from attnviz.models.loading import embedding_table, load_tokenizer
from tests.models.tiny import TEXT, llama


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete little model folder."""
    model = llama()
    model.model.save_pretrained(tmp_path / "model")
    model.tokenizer.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_local_folder_loads_as_it_was_saved(folder: Path) -> None:
    seen: list[float] = []
    model = load_model(str(folder), device="cpu", progress=lambda done, text: seen.append(done))
    assert (model.kind, model.n_layers, model.n_heads, model.n_kv_heads) == ("decoder", 3, 4, 2)
    assert (model.max_tokens, model.dtype, str(model.device)) == (64, torch.float32, "cpu")
    assert not model.model.training
    assert seen == sorted(seen)
    original = llama().model.state_dict()
    for name, tensor in model.model.state_dict().items():
        torch.testing.assert_close(tensor, original[name])
    assert av.capture(model, TEXT).check.passed


def test_a_checkpoint_in_half_precision_is_widened_on_a_cpu(tmp_path: Path) -> None:
    model = llama()
    model.model.to(torch.bfloat16).save_pretrained(tmp_path)
    model.tokenizer.save_pretrained(tmp_path)
    assert load_model(str(tmp_path), device="cpu").dtype is torch.float32
    assert load_model(str(tmp_path), device="cpu", dtype=torch.bfloat16).dtype is torch.bfloat16


def pickle_only(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")


def truncated(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def beheaded(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\x00" * 5)


def not_safetensors(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"version https://git-lfs.github.com/spec/v1" * 3)


def missing_shard(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")
    index = {
        "weight_map": {
            "a": "model-00001-of-00002.safetensors",
            "b": "model-00002-of-00002.safetensors",
        }
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def index_outside(folder: Path) -> None:
    index = {"weight_map": {"a": "../../../etc/passwd"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def incomplete(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    weights = load_file(path)
    del weights["model.layers.1.self_attn.q_proj.weight"]
    save_file(weights, path, metadata={"format": "pt"})


def without(name: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).unlink()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (pickle_only, "pickle files, which can run code"),
        (truncated, "damaged or incomplete"),
        (beheaded, "damaged or incomplete"),
        (not_safetensors, "damaged or incomplete"),
        (missing_shard, "lacks 1 of its 2 weight files"),
        (index_outside, "outside"),
        (incomplete, "random numbers"),
        (without("config.json"), "not a model folder"),
        (without("model.safetensors"), "has no weights"),
        (lambda f: (f / "config.json").write_text("{]"), "cannot be read as JSON"),
        (lambda f: (f / "config.json").write_text("[1]"), "names no model_type"),
        (lambda f: edit(f, model_type="own", auto_map={"AutoModel": "m.M"}), "code of its own"),
        (lambda f: edit(f, model_type="nobody_knows_this"), "not known here"),
        (lambda f: edit(f, hidden_size=48), "random numbers|could not be loaded"),
        (lambda f: edit(f, num_attention_heads="four"), "could not be loaded"),
    ],
)
def test_a_bad_folder_is_refused_in_words(folder: Path, harm: Any, words: str) -> None:
    harm(folder)
    with pytest.raises(ModelError, match=words) as caught:
        load_model(str(folder))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)


def test_code_that_comes_with_a_known_model_is_not_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (folder / "evil.py").write_text(f"open({str(ran)!r}, 'w').close()")
    edit(folder, auto_map={"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"})
    model = load_model(str(folder))
    assert not ran.exists()
    assert type(model.model).__module__.startswith("transformers.")
    assert any("was not run" in note for note in model.notes)


def test_pickles_are_never_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pickle_only(folder)
    monkeypatch.setattr(torch, "load", lambda *a, **k: pytest.fail("opened a pickle"))
    with pytest.raises(ModelError, match="safetensors"):
        load_model(str(folder))


@pytest.mark.parametrize(
    "name",
    [
        "no/such/folder/here",
        "../up",
        "",
        "what is this?",
        "x" * 5000,
        "nul\0byte",
        "<script>alert(1)</script>",
        "https://huggingface.co/gpt2",
    ],
)
def test_a_name_that_is_nothing_is_refused_in_words(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_model(name)
    assert len(str(caught.value)) < 400


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x")
    with pytest.raises(ModelError, match="is a file"):
        load_model(str(tmp_path / "model.bin"))
    (tmp_path / "model.gguf").write_bytes(b"GGUF but not really")
    with pytest.raises(ModelError, match="could not be loaded"):
        load_model(str(tmp_path / "model.gguf"))


def test_the_hub_out_of_reach_is_told(environment: Callable[..., None]) -> None:
    environment(HUB="1")  # and the tests run with HF_HUB_OFFLINE
    with pytest.raises(ModelError, match="could not be reached"):
        load_model("someone/some-model")


def test_a_hub_model_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    response = httpx2.Response(404, request=httpx2.Request("GET", "https://hub"))
    for error, words in ((RepositoryNotFoundError, "no model"), (GatedRepoError, "gated")):

        def refuse(*_: Any, error: type[Exception] = error, **__: Any) -> None:
            raise error("no", response=response)

        monkeypatch.setattr(HfApi, "model_info", refuse)
        with pytest.raises(ModelError, match=words):
            load_model("someone/misspelt")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"pytorch_model.bin": 10}, "no safetensors"),
        ({"model.safetensors": 2**60}, "GiB"),
    ],
)
def test_a_hub_model_is_weighed_before_it_is_fetched(
    files: dict[str, int], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub
    from huggingface_hub.hf_api import ModelInfo

    listing = [{"rfilename": name, "size": size} for name, size in files.items()]
    info = ModelInfo(id="a/b", sha="0", siblings=listing)
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", lambda *a, **k: info)
    fetched = []
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda *a, **k: fetched.append(a))
    with pytest.raises(ModelError, match=words):
        load_model("someone/model")
    assert not fetched


def test_too_large_for_memory_is_told_before_loading(
    folder: Path, environment: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    environment(MEMORY_GIB="0.00001")
    monkeypatch.setattr(
        transformers.AutoModelForCausalLM, "from_pretrained", lambda *a, **k: pytest.fail("loaded")
    )
    with pytest.raises(ModelError, match="GiB of memory") as caught:
        load_model(str(folder))
    assert isinstance(caught.value, TooLargeError)


def test_visitors_load_only_what_the_deployment_lets_them(
    folder: Path, environment: Callable[..., None]
) -> None:
    environment(HUB="0", MODEL_DIRS="")
    check_visitor_model("smollm2-135m")
    for name in (str(folder), "someone/model", "gpt2", "", "  ", "/etc/passwd", "../model", "a\0b"):
        with pytest.raises(ModelError):
            check_visitor_model(name)
    environment(HUB="1", MODEL_DIRS=str(folder.parent))
    check_visitor_model("someone/model")
    check_visitor_model(str(folder))
    for name in (f"{folder}/../../elsewhere", "/etc", "~", str(folder.parent.parent)):
        with pytest.raises(ModelError, match="ATTNVIZ_MODEL_DIRS"):
            check_visitor_model(name)


def test_a_link_does_not_lead_a_visitor_out(
    folder: Path, tmp_path: Path, environment: Callable[..., None]
) -> None:
    allowed = tmp_path / "allowed"
    allowed.mkdir()
    (allowed / "link").symlink_to(folder)
    environment(MODEL_DIRS=str(allowed))
    with pytest.raises(ModelError):
        check_visitor_model(str(allowed / "link"))


def test_a_folder_of_the_server_is_not_taken_for_a_hub_id(
    folder: Path, environment: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(HUB="1", MODEL_DIRS="")
    monkeypatch.chdir(folder.parent)
    with pytest.raises(ModelError):
        check_visitor_model(folder.name)


@pytest.mark.models
def test_bundled_models_never_touch_the_network() -> None:
    """In a process of its own where every connection fails, with the Hub switched on."""
    code = """
import os, socket
os.environ.pop("HF_HUB_OFFLINE", None)
def refuse(*a, **k):
    raise AssertionError("touched the network")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
import attnviz as av
for name in ("smollm2-135m", "minilm-l6"):
    assert av.capture(av.load_model(name, device="cpu"), "Hello there").check.passed
print("ok")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip().endswith("ok"), done.stderr[-2000:]


@pytest.mark.models
def test_bundled_models_say_what_they_are(smollm2: Any, minilm: Any) -> None:
    assert (smollm2.kind, smollm2.n_layers, smollm2.n_heads, smollm2.n_kv_heads) == (
        "decoder",
        30,
        9,
        3,
    )
    assert (minilm.kind, minilm.n_layers, minilm.n_heads, minilm.n_kv_heads) == (
        "encoder",
        6,
        12,
        12,
    )
    assert (smollm2.max_tokens, minilm.max_tokens) == (8192, 512)
    assert smollm2.dtype is minilm.dtype is torch.float32
    assert any("4-bit" in note for note in smollm2.notes)


@pytest.mark.models
def test_a_tokenizer_and_a_table_without_the_model(smollm2: Any) -> None:
    assert (
        load_tokenizer("smollm2-135m")("the cat")["input_ids"]
        == smollm2.tokenizer("the cat")["input_ids"]
    )
    torch.testing.assert_close(
        embedding_table("smollm2-135m"), smollm2.model.get_input_embeddings().weight.detach()
    )
    with pytest.raises(AttnvizError, match="not a bundled model"):
        load_tokenizer("someone/model")


def test_get_model_gives_everyone_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    original = loading.load_model
    monkeypatch.setattr(loading, "load_model", lambda *a, **k: loads.append(a) or original(*a, **k))
    assert loading.get_model(str(folder)) is loading.get_model(str(folder))
    assert len(loads) == 1
