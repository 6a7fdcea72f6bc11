"""Designs side by side."""

import json

from attnviz import kv_cache as kv


def test_rows_say_what_size_says():
    specs = (kv.preset("mistral-7b-v0.1"), kv.preset("deepseek-v3"))
    table = kv.compare(specs, length=8192, batch=2, memory_bytes=kv.gib(80), weights_bytes=100)
    for row, spec in zip(table.to_dict("records"), specs, strict=True):
        z = kv.size(spec, 8192, 2)
        assert row["total_bytes"] == z.total_bytes
        assert row["total_gib"] == z.total_bytes / 2**30
        assert row["bytes_per_token"] == z.bytes_per_token
        room = kv.most_sequences(spec, kv.gib(80), length=8192, weights_bytes=100)
        assert row["sequences"] == room.count
    assert table["relative"][0] == 1
    assert table["longest_context"].isna().tolist() == [True, False]


def test_json_holds_the_settings_and_exact_integers():
    table = kv.compare([kv.preset("kimi-k3")], length=2**20)
    read = json.loads(kv.to_json(table, context=2**20, dtype="bfloat16", accounting="theory"))
    assert read["settings"]["accounting"] == "theory"
    assert read["rows"][0]["total_bytes"] == 29_440_401_408


def test_files_are_exact_beyond_64_bits():
    specs = [kv.latent_attention(32, 32, 128, 10**12 - 1, 10**12 - 1), kv.preset("llama-3-8b")]
    table = kv.compare(specs, length=10**12 - 1, batch=65_536, memory_bytes=kv.gib(1))
    total = kv.size(specs[0], 10**12 - 1, 65_536).total_bytes
    assert total > 2**64
    row = json.loads(kv.to_json(table))["rows"][0]
    assert row["total_bytes"] == total
    assert row["sequences"] == 0
    assert str(total) in table.to_csv(index=False)


def test_json_has_null_where_there_is_no_limit():
    table = kv.compare([kv.preset("mistral-7b-v0.1")], length=8192, memory_bytes=kv.gib(80))
    assert json.loads(kv.to_json(table))["rows"][0]["longest_context"] is None


def test_a_model_without_cache_compares_with_nothing():
    table = kv.compare([kv.preset("all-minilm-l6-v2")], length=8, memory_bytes=0)
    assert table["relative"].isna().all()
