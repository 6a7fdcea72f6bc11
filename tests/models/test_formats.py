"""Where weights may come from and go: a GGUF file, a revision, quantised, over several GPUs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import attnviz as av
from attnviz.errors import ModelError
from attnviz.models import hub, load_model, loading, memory
from tests.models.tiny import TEXT, llama


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "model"
    model = llama()
    model.model.save_pretrained(path)
    model.tokenizer.save_pretrained(path)
    return path


def write_gguf(path: Path) -> Any:
    """A llama of one layer as llama.cpp writes it; returns its query projection, HF's rows."""
    import gguf

    rng = np.random.default_rng(0)
    draw = lambda *shape: rng.normal(0, 0.3, shape).astype(np.float32)  # noqa: E731
    words = ["<unk>", "<s>", "</s>", *"abcdefghijklmnopqrstuvwxyzĠ", "th", "the", "at", "cat"]
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_block_count(1)
    writer.add_feed_forward_length(48)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(words))
    writer.add_tokenizer_model("gpt2")
    writer.add_token_list(words)
    writer.add_token_types([3, 3, 3, *[1] * (len(words) - 3)])
    writer.add_token_merges(["t h", "th e", "a t", "c at"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    query = draw(32, 32)
    heads = query.reshape(4, 2, 4, 32).swapaxes(1, 2).reshape(32, 32)  # its order of a head's rows
    tensors = {
        "token_embd": draw(len(words), 32),
        "output_norm": np.ones(32, np.float32),
        "output": draw(len(words), 32),
        "blk.0.attn_norm": np.ones(32, np.float32),
        "blk.0.ffn_norm": np.ones(32, np.float32),
        "blk.0.attn_q": heads,
        "blk.0.attn_k": draw(16, 32),
        "blk.0.attn_v": draw(16, 32),
        "blk.0.attn_output": draw(32, 32),
        "blk.0.ffn_gate": draw(48, 32),
        "blk.0.ffn_up": draw(48, 32),
        "blk.0.ffn_down": draw(32, 48),
    }
    for name, tensor in tensors.items():
        writer.add_tensor(f"{name}.weight", tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return query


def test_a_gguf_file_loads_and_says_what_it_is(tmp_path: Path) -> None:
    query = write_gguf(tmp_path / "tiny.gguf")
    model = load_model(str(tmp_path / "tiny.gguf"), device="cpu")
    assert (model.n_layers, model.n_heads, model.n_kv_heads) == (1, 4, 2)
    assert any("GGUF" in note for note in model.notes)
    read = model.model.model.layers[0].self_attn.q_proj.weight
    np.testing.assert_allclose(read.detach(), query, atol=1e-6)
    capture = av.capture(model, "the cat")
    assert capture.check.passed
    assert capture.weights(0, 3).shape == (capture.n_tokens, capture.n_tokens)


def test_a_folder_is_held_once_a_format(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "_STORE", loading.Store(lambda: 3))
    plain = loading.get_model(str(folder), device="cpu")
    half = loading.get_model(str(folder), dtype="bfloat16", device="cpu")
    assert (plain.dtype, half.dtype) == (torch.float32, torch.bfloat16)
    assert loading.get_model(str(folder), dtype="bfloat16", device="cpu") is half
    assert av.capture(half, TEXT).dtype == "bfloat16"
    with pytest.raises(ModelError, match="one of float32, bfloat16, float16"):
        loading.get_model(str(folder), dtype="int3")
    with pytest.raises(ValueError, match="no device"):
        loading.get_model(str(folder), device="cuda:99")


def test_a_model_too_large_for_one_gpu_is_spread_over_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What transformers is asked for, on a machine that would have two GPUs of 100 kB free."""
    asked: dict[str, Any] = {}

    def loads(*_: Any, **options: Any) -> Any:
        asked.update(options)
        raise RuntimeError("seen")

    two = (torch.device("cuda", 0), torch.device("cuda", 1))
    size = (folder / "model.safetensors").stat().st_size
    monkeypatch.setattr(memory, "gpus", lambda: two)
    monkeypatch.setattr(loading, "chosen_device", lambda _: two[0])
    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", loads)
    monkeypatch.setattr(memory, "available", lambda place=None: int(0.8 * size))
    with pytest.raises(ModelError, match="seen"):
        load_model(str(folder), dtype=torch.float32)
    assert asked["device_map"] == "auto"
    monkeypatch.setattr(memory, "available", lambda place=None: 10 * size)
    asked.clear()
    with pytest.raises(ModelError, match="seen"):
        load_model(str(folder), dtype=torch.float32)
    assert "device_map" not in asked  # it fits on one
    monkeypatch.setattr(memory, "available", lambda place=None: int(0.4 * size))
    with pytest.raises(ModelError, match="choose a smaller model"):
        load_model(str(folder), dtype=torch.float32)


def test_quantised_weights_are_weighed_as_they_are_and_refused_in_words(
    folder: Path, tmp_path: Path
) -> None:
    """Without the library that reads them (bitsandbytes) it is a sentence, not a traceback."""
    from attnviz.models.checkpoint import inspect

    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    config = json.loads((tmp_path / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    (tmp_path / "config.json").write_text(json.dumps(config))
    found = inspect(tmp_path)
    assert found.quantised == "bitsandbytes"
    assert found.bytes_as(torch.bfloat16) == found.stored_bytes == found.parameters * 4
    assert inspect(folder).bytes_as(torch.bfloat16) == found.parameters * 2
    with pytest.raises(ModelError, match=r"could not be loaded \(.*bitsandbytes"):
        load_model(str(tmp_path), device="cpu")


def test_a_revision_follows_an_at_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RevisionNotFoundError

    asked = []
    response = httpx2.Response(404, request=httpx2.Request("GET", "https://hub"))

    def refuse(_: HfApi, name: str, *, revision: str | None, **__: Any) -> None:
        asked.append((name, revision))
        raise RevisionNotFoundError("no", response=response)

    monkeypatch.setattr(HfApi, "model_info", refuse)
    with pytest.raises(ModelError, match=r"has no revision 'v2\.0'"):
        load_model("someone/model@v2.0")
    with pytest.raises(ModelError, match="someone/model"):
        load_model("someone/model")
    assert asked == [("someone/model", "v2.0"), ("someone/model", None)]
    assert not hub.looks_like_id("someone/model@../x")
